import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime snooze [ID|TITLE] [LENGTH|until TIME]`
enum Snooze {
  static let verb = Verb(
    name: "snooze", group: .answer, arguments: ["[ID|TITLE] [LENGTH]", "[ID|TITLE] until TIME"],
    summary: "Snooze a reminder",
    details: [
      Answering.which,
      "The last words that form a length of time are the length; the default is the reminder's own.",
      "Words after `until` are the time at which it fires again. Without an ID or TITLE a time alone is enough "
        + "(`tonight`), unless a reminder has that name. A day without a time means its morning, 09:00.",
    ],
    options: [
      .value("for", nil, "LENGTH", "The length, if words of a title look like one"),
      .value("until", nil, "TIME", "The time, if words of a title look like one"),
    ],
    examples: [
      "chime snooze 20m", "chime snooze r7k2 1h 30m", "chime snooze Drink water", "chime snooze until monday 9",
      "chime snooze Drink water until after lunch", "chime snooze tonight",
    ],
    alsoTried: ["later", "postpone", "delay", "sleep"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let wish = try wish(context)
    let id = trimmed(wish.id.joined(separator: " "))
    let reply: OccurrencesInterface.Snooze.Reply = try context.daemon().call(
      OccurrencesInterface.Snooze(id: id.isEmpty ? nil : id, length: wish.length, until: wish.until))
    let clock = context.clock()
    let until = reply.occurrence.snoozedUntil
    Answering.answer(
      context, reply.occurrence,
      until == nil ? "snoozed" : localized("snoozed until %1, %2", clock.text(until), clock.relative(until)))
    if wish.length == nil, wish.until == nil, context.format == .human, !context.isQuiet {
      offer(context, reply.occurrence.reminder)
    }
    return .success
  }

  /// The request: the words of the id, and a length (ISO 8601) or an end (RFC 3339).
  private struct Wish {
    var id: [String]
    var length: String?
    var until: String?
  }

  private static func wish(_ context: Context) throws -> Wish {
    let (line, zone) = (context.line, try context.localZone())
    func until(_ text: String) -> String? {
      ComingBack.read(text, now: context.now, in: context.scheduleContext(in: zone, at: nil)).map {
        RFC3339.format($0, in: zone)
      }
    }
    switch (line.value("for"), line.value("until")) {
    case (_?, _?): throw Failure.usage(localized("--for and --until cannot be used together"))
    case (let text?, nil): return Wish(id: line.words, length: try LengthText.iso(text, option: "for"))
    case (nil, let text?):
      guard let time = until(text) else { throw unknown(text) }
      return Wish(id: line.words, until: time)
    case (nil, nil): break
    }
    let words = parted(line.words)
    if let place = words.lastIndex(where: { context.isUntil($0) }) {
      let text = words[(place + 1)...].joined(separator: " ")
      if let time = until(text) { return Wish(id: Array(words[..<place]), until: time) }
      // A title may contain the word too, but not an empty one.
      if place == 0 { throw unknown(text) }
    }
    let (id, length) = split(words)
    guard length == nil, !id.isEmpty, let time = until(id.joined(separator: " ")) else {
      return Wish(id: id, length: length)
    }
    let known: RemindersInterface.Get.Reply? = try? context.daemon().call(
      RemindersInterface.Get(id: id.joined(separator: " ")))
    return known == nil ? Wish(id: [], until: time) : Wish(id: id)
  }

  private static func unknown(_ text: String) -> Failure {
    Failure.usage(
      localized("until when? \"%1\" is not a future time", text), hint: "chime snooze until \"tomorrow at 9\"")
  }

  /// Prints the reminder's other snooze lengths.
  private static func offer(_ context: Context, _ id: String) {
    let reply: RemindersInterface.Get.Reply? = try? context.daemon().call(RemindersInterface.Get(id: id))
    let others = (reply?.reminder.snooze ?? []).dropFirst().map { LengthText.human($0) }
    guard !others.isEmpty else { return }
    context.note(
      localized("Or for %1: chime snooze %2 %3", others.joined(separator: localized(" or ")), id, others[0]), .faint)
  }

  /// Splits the words into the id and a length in ISO 8601.
  static func split(_ words: [String]) -> (id: [String], length: String?) {
    let words = parted(words)
    for count in stride(from: min(words.count, 8), to: 0, by: -1) {
      let tail = words.suffix(count)
      for text in [tail.joined(separator: " "), tail.joined()] {
        guard let length = try? DurationText.parse(text) else { continue }
        return (Array(words.dropLast(count)), DurationText.formatISO8601(length))
      }
    }
    return (words, nil)
  }

  /// Splits words that were quoted together.
  private static func parted(_ words: [String]) -> [String] {
    words.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
  }
}
