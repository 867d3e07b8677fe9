import ChimeSchedule
import ChimeWords

/// Tells where in the words of a command the time stands and where the title, and says why where it cannot be told.
enum TitleAndTime {
  /// What the help of each verb says that takes both.
  static let rule = Words.mark(
    """
    Words of time that are left over are never taken into the title: the line is refused, with the lines that it may \
    have meant. What is in quotes with a space in it is left alone.
    """)

  static func read(
    _ context: Context, _ words: [String], place: ScheduleLine.Place, verb: String, usage: String, now: Instant? = nil
  ) throws -> ScheduleLine {
    let now = now ?? context.now
    let zone = try context.zone(context.line.value("tz") ?? "local")
    let surroundings = context.surroundings(in: zone, at: try DraftOptions.place(context.line)).withEverything
    do {
      return try ScheduleLine(words, place: place, now: now, in: surroundings)
    } catch {
      switch error {
      case .noWords: throw Failure.usage(Words.say("a time and a title are missing"), hint: usage)
      case .noTitle: throw Failure.usage(Words.say("a title is missing after the time"), hint: usage)
      case .noTime(nil): throw Failure.usage(Words.say("when? a schedule is missing"), hint: usage)
      case .noTime(let refusal?):
        var failure = Failure(refusal)
        if failure.hints.isEmpty, failure.detail.isEmpty { failure.hints = [usage] }
        throw failure
      case .leftOver(let left): throw failure(context, left, surroundings, verb, now)
      }
    }
  }

  private static func failure(
    _ context: Context, _ left: ScheduleLine.LeftOver, _ surroundings: Surroundings, _ verb: String, _ now: Instant
  ) -> Failure {
    let next = left.schedule.timetable(in: surroundings).next(after: now)
    let moment = next.map { context.clock().text($0, in: surroundings.zone) } ?? left.schedule.canonical
    let message = Words.say(
      "\"%1\" was understood as %2, but \"%3\" beside it was not", Harmless.line(left.understood), moment,
      Harmless.line(left.words))
    let lines = left.choices.map { words in
      "chime \(verb) " + words.map { quoted(Harmless.line($0)) }.joined(separator: " ")
    }
    let hints =
      lines.isEmpty
      ? [Words.say("put the title in quotes, with its words of time: chime %1 \"the title\" tomorrow at 9", verb)]
      : lines.map { Words.say("did you mean %1?", $0) }
    guard let error = left.error else { return Failure(status: .usage, message: message, hints: hints) }
    var failure = Failure(error)
    if error.suggestion == nil, !lines.isEmpty { failure.hints = hints }
    return failure
  }

  /// A word as it is typed: in quotes where it has a space or a sign of the shell.
  private static func quoted(_ word: String) -> String {
    let signs = "0123456789:.,-_/@+".unicodeScalars
    let isPlain = word.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || signs.contains($0) }
    return isPlain ? word : "\"\(word)\""
  }
}
