import ChimeControl
import ChimeWords

/// `chime done [ID|TITLE]`
enum Done {
  static let verb = Verb(
    name: "done", group: .answer, arguments: ["[ID|TITLE]"], summary: "Say that it is done",
    details: [Answering.which],
    examples: [.init(command: "chime done"), .init(command: "chime done Drink water")],
    alsoTried: ["did", "complete", "finish", "ok", "ack", "check"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let reply: OccurrencesInterface.Done.Reply = try context.daemon().call(
      OccurrencesInterface.Done(id: context.optionalSubject()))
    Answering.answer(context, reply.occurrence, "done")
    return .success
  }
}

/// `chime dismiss [ID|TITLE]`
enum Dismiss {
  static let verb = Verb(
    name: "dismiss", group: .answer, arguments: ["[ID|TITLE]"], summary: "Let it pass without doing it",
    details: [Answering.which], examples: [.init(command: "chime dismiss"), .init(command: "chime dismiss r7k2")],
    alsoTried: ["ignore", "drop", "close"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let reply: OccurrencesInterface.Dismiss.Reply = try context.daemon().call(
      OccurrencesInterface.Dismiss(id: context.optionalSubject()))
    Answering.answer(context, reply.occurrence, "dismissed")
    return .success
  }
}

/// What the answers to an occurrence have in common.
enum Answering {
  static let which = Words.say("Without ID or TITLE: the one that fired last and waits for an answer.")

  static func answer(_ context: Context, _ occurrence: OccurrencesInterface.Occurrence, _ what: String) {
    context.print(occurrence, as: Shapes.occurrence) {
      let id = context.style(Harmless.line(occurrence.reminder), .strong)
      context.out("\(id)  \(Harmless.line(occurrence.title))")
      let due = context.clock().text(occurrence.scheduledAt)
      context.out(Words.say("  %1; it was due %2", Harmless.line(StateWords.say(what)), Harmless.line(due)))
    }
  }
}
