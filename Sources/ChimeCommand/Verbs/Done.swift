import ChimeControl
import ChimeWords

/// `chime done [ID|TITLE]`
enum Done {
  static let verb = Verb(
    name: "done", group: .answer, arguments: ["[ID|TITLE]"], summary: "Mark a reminder as done",
    details: [
      Answering.which, "For a collection it also needs an item: it asks for the item unless --item names it.",
      "On a terminal it asks for a measured value, such as a weight; elsewhere `chime log` records it.",
    ],
    options: [.value("item", nil, "ITEM", "The item of the collection, by its id or title")],
    examples: [
      "chime done", "chime done Drink water",
      .init(command: "chime done --item Speedmaster", remark: "what is on the wrist today"),
    ],
    alsoTried: ["did", "complete", "finish", "ok", "ack", "check"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let item = try context.line.value("item").map { try found($0, context) }
    var parameters = OccurrencesInterface.Done(id: context.optionalSubject(), item: item)
    let reply: OccurrencesInterface.Done.Reply
    do {
      reply = try context.daemon().call(parameters)
    } catch let failure as Failure where failure.said.hasPrefix("choose one of ") {
      parameters.item = try ask(failure, context)
      reply = try context.daemon().call(parameters)
    }
    Answering.answer(context, reply.occurrence, "done")
    if context.format == .human { try logMeasured(reply.occurrence.reminder, context) }
    return .success
  }

  /// Asks for the value of a measure, or prints how to log it; *done* alone does not contain one.
  ///
  /// It does nothing if an entry exists already.
  private static func logMeasured(_ reminder: String, _ context: Context) throws {
    typealias T = TrackersInterface
    let daemon = try context.daemon()
    guard let link = try? daemon.call(RemindersInterface.Get(id: reminder)).reminder.tracker,
      link.logs != false, link.amount == nil,
      let progress = try? daemon.call(T.Day()).view.progress.first(where: { $0.tracker.id == link.tracker }),
      progress.entries == 0
    else { return }
    let tracker = progress.tracker
    guard tracker.kind == .measure || tracker.kind == .amount && tracker.usual == nil else { return }
    let hint = localized(
      "%1 was done, but nothing was logged: `%2` logs it", tracker.id, context.trackerWords.logging(tracker))
    guard context.process.isInteractive else { return context.note(hint) }
    context.process.output.flush()
    let likely = Log.knownValue(tracker) == nil ? tracker.unit ?? "" : Log.example(tracker)
    context.process.errors.write("\(localized("how much?")) (\(TerminalSanitizer.line(likely))) ")
    context.process.errors.flush()
    let answer = context.process.input.line(limit: 100).map { trimmed(String(decoding: $0.bytes, as: UTF8.self)) } ?? ""
    var words = answer.split(separator: " ").map(String.init)
    guard !words.isEmpty else { return context.note(hint) }
    guard let amount = try Log.takeAmount(&words, tracker), words.isEmpty else {
      throw Failure.usage(localized("\"%1\" is not an amount", answer), hint: hint)
    }
    let change = try Log.record(T.Log(tracker: tracker.id, amount: amount.value, unit: amount.unit), context).change
    ChangeReport(change: change, tracker: tracker, item: nil).print(context, at: false)
  }

  /// Returns the id of the item that the user names.
  private static func found(_ text: String, _ context: Context) throws -> String {
    let items = try context.daemon().call(TrackersInterface.Items()).items
    guard let item = try TrackerArgument.item(text, among: items) else {
      throw Failure.failed(
        localized("there is no %1 \"%2\"", StateWords.kind("item"), text),
        hint: localized("`chime %1 list TRACKER` shows them", "item"))
    }
    return item.id
  }

  /// Asks for the item, if a person can be asked.
  private static func ask(_ refused: Failure, _ context: Context) throws -> String {
    let items = refused.said.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? ""
    var failure = Failure(
      status: .usage, message: localized("which one?"),
      detail: items.split(separator: ",").map { "  " + TerminalSanitizer.line(trimmed(String($0))) },
      hints: ["chime done --item \(items.prefix { $0 != "," })"])
    failure.said = refused.said
    guard context.process.isInteractive else { throw failure }
    context.process.output.flush()
    context.process.errors.write("\(localized("which one?")) (\(TerminalSanitizer.line(items))) ")
    context.process.errors.flush()
    let answer = context.process.input.line(limit: 200).map { trimmed(String(decoding: $0.bytes, as: UTF8.self)) } ?? ""
    guard !answer.isEmpty else { throw failure }
    return try found(answer, context)
  }
}

/// `chime dismiss [ID|TITLE]`
enum Dismiss {
  static let verb = Verb(
    name: "dismiss", group: .answer, arguments: ["[ID|TITLE]"], summary: "Dismiss a reminder without doing it",
    details: [Answering.which], examples: ["chime dismiss", "chime dismiss r7k2"],
    alsoTried: ["ignore", "drop", "close"], json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let reply: OccurrencesInterface.Dismiss.Reply = try context.daemon().call(
      OccurrencesInterface.Dismiss(id: context.optionalSubject()))
    Answering.answer(context, reply.occurrence, "dismissed")
    return .success
  }
}

/// The common part of the answers to an occurrence.
enum Answering {
  static let which = localized("Without ID or TITLE it is the reminder that fired last and waits for an answer.")

  static func answer(_ context: Context, _ occurrence: OccurrencesInterface.Occurrence, _ what: String) {
    context.print(occurrence, named: "occurrence") {
      let id = context.style(TerminalSanitizer.line(occurrence.reminder), .strong)
      context.out("\(id)  \(TerminalSanitizer.line(occurrence.title))")
      let due = context.clock().text(occurrence.scheduledAt)
      context.out(
        localized("  %1; it was due %2", TerminalSanitizer.line(StateWords.say(what)), TerminalSanitizer.line(due)))
    }
  }
}
