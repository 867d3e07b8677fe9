import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime move ID|TITLE +LENGTH|to TIME`
enum Move {
  static let verb = Verb(
    name: "move", group: .change, arguments: ["ID|TITLE +LENGTH", "ID|TITLE to TIME"],
    summary: "Move the next time of a reminder; later times stay",
    details: [
      "+LENGTH moves it later by that length. Words after `to` are the new time; a day without a time means its "
        + "morning, 09:00. You can move the same time again, also back.",
      "The history records the time as moved (`chime history`); `chime done` marks it as done early.",
    ],
    examples: ["chime move Stand-up +1h", "chime move Stand-up to tomorrow 10:00", "chime move r7k2 +1h 30m"],
    alsoTried: ["reschedule", "shift", "defer"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let wish = try wish(context)
    let reply: OccurrencesInterface.Move.Reply = try context.daemon().call(wish)
    let clock = context.clock()
    let until = reply.occurrence.snoozedUntil
    Answering.answer(
      context, reply.occurrence, localized("moved to %1, %2", clock.text(until), clock.relative(until)))
    return .success
  }

  private static func wish(_ context: Context) throws -> OccurrencesInterface.Move {
    let words = context.line.words.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    func id(_ end: Int) throws -> String {
      guard end > 0 else { throw Context.noSubject() }
      return words[..<end].joined(separator: " ")
    }
    if let place = words.lastIndex(where: { $0.hasPrefix("+") }) {
      let text = words[place...].joined(separator: " ").dropFirst()
      if let length = try? DurationText.parse(String(text)) {
        return .init(id: try id(place), by: DurationText.formatISO8601(length))
      }
    }
    let zone = try context.localZone()
    if let place = words.lastIndex(where: { isTo($0, context) }) {
      let text = words[(place + 1)...].joined(separator: " ")
      if let time = ComingBack.read(
        text, now: context.now, in: context.scheduleContext(in: zone, at: nil).withEverything)
      {
        return .init(id: try id(place), to: RFC3339.format(time, in: zone))
      }
      throw Failure.usage(
        localized("to when? \"%1\" is not a future time", text), hint: "chime move Stand-up to tomorrow 10:00")
    }
    throw Failure.usage(
      localized("to when? A length such as +1h or a time after \"to\" is missing"), hint: "chime move Stand-up +1h")
  }

  private static func isTo(_ word: String, _ context: Context) -> Bool {
    word.lowercased() == "to" || context.language == .czech && word.lowercased() == "na"
  }
}
