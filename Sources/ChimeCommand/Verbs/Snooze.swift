import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime snooze [ID|TITLE] [LENGTH]`
enum Snooze {
  static let verb = Verb(
    name: "snooze", group: .answer, arguments: ["[ID|TITLE] [LENGTH]"], summary: "Have it come again in a while",
    details: [
      Answering.which,
      "As many of the last words as make a length of time are the length; without one it is the reminder's own.",
    ],
    options: [.value("for", nil, "LENGTH", "The length, where the words of a title could be taken for one")],
    examples: [
      .init(command: "chime snooze 20m"), .init(command: "chime snooze r7k2 1h 30m"),
      .init(command: "chime snooze Drink water"),
    ],
    alsoTried: ["later", "postpone", "delay", "sleep"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    var (words, length) = split(context.line.words)
    if let text = context.line.value("for") {
      words = context.line.words
      length = try LengthText.iso(text, option: "for")
    }
    let id = trimmed(words.joined(separator: " "))
    let reply: OccurrencesInterface.Snooze.Reply = try context.daemon().call(
      OccurrencesInterface.Snooze.method,
      OccurrencesInterface.Snooze.Parameters(id: id.isEmpty ? nil : id, length: length))
    let clock = context.clock()
    let until = reply.occurrence.snoozedUntil
    Answering.answer(
      context, reply.occurrence,
      until == nil ? "snoozed" : Words.say("snoozed until %1, %2", clock.text(until), clock.relative(until)))
    if length == nil, context.format == .human, !context.isQuiet { offer(context, reply.occurrence.reminder) }
    return .success
  }

  /// The lengths that the reminder offers beside the one that was taken.
  private static func offer(_ context: Context, _ id: String) {
    let reply: RemindersInterface.Get.Reply? = try? context.daemon().call(
      RemindersInterface.Get.method, RemindersInterface.Get.Parameters(id: id))
    let others = (reply?.reminder.snooze ?? []).dropFirst().map { LengthText.human($0) }
    guard !others.isEmpty else { return }
    context.note(Words.say("Or for %1: chime snooze %2 %3", others.joined(separator: " or "), id, others[0]), .faint)
  }

  /// The words of the id, and the length in ISO 8601.
  static func split(_ words: [String]) -> (id: [String], length: String?) {
    let words = words.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    for count in stride(from: min(words.count, 8), to: 0, by: -1) {
      let tail = words.suffix(count)
      for text in [tail.joined(separator: " "), tail.joined()] {
        guard let length = try? DurationText.parse(text) else { continue }
        return (Array(words.dropLast(count)), DurationText.formatISO8601(length))
      }
    }
    return (words, nil)
  }
}
