import ChimeControl
import ChimeWords

/// `chime redeliver [DELIVERY …]`
enum Redeliver {
  static let verb = Verb(
    name: "redeliver", group: .deliver, arguments: ["DELIVERY…", "--to CHANNEL [--since TIME]", "--all"],
    summary: "Send given-up messages again",
    details: [
      "Each message keeps its id, so a receiver can recognize the repeat, and gets all attempts of a new one. An id "
        + "may also name a message that was delivered or cancelled; a waiting message is retried at once. Without "
        + "ids the command takes messages that were given up (`chime deliveries --state dead`) and whose reminder "
        + "has not been answered since. On a terminal it asks before it sends more than ten."
    ],
    options: Selecting.options + [
      .value("limit", "n", "N", "Only the N oldest"), .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
    ],
    examples: [
      "chime redeliver msg_01kahm5c2hq8z6t4n9s7x3v0wd", "chime redeliver --to team --since \"2 days\" --dry-run",
      "chime redeliver --all",
    ],
    alsoTried: ["retry", "replay", "resend"],
    json: "`count`, `skipped`, `dryRun`, `deliveries` (the first 100) and `notes`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let limit = try context.line.count("limit", maximum: 1_000_000_000)
    let reply = try Selecting.run(
      context, question: { localized(count: $0, "Send %n message again?", "Send %n messages again?") },
      nothing: localized("Nothing was sent again."),
      sentence: { count, isDry in
        isDry
          ? localized(count: count, "%n message would be sent again", "%n messages would be sent again")
          : localized(count: count, "%n message is sent again", "%n messages are sent again")
      }, empty: localized("No given-up message matches; `chime deliveries` lists all messages."),
      more: { [.init(name: "skipped", value: .int($0.skipped)), .init(name: "notes", value: .strings($0.notes))] },
      ask: { try $0.call(DeliveriesInterface.Redeliver(which: $1, limit: limit, dryRun: $2)) })
    guard let reply else { return .failed }
    if context.format == .human {
      if reply.skipped > 0 {
        context.note(
          localized(
            count: reply.skipped, "%n message left out: its reminder was answered in the meantime.",
            "%n messages left out: their reminders were answered in the meantime."))
      }
      for note in reply.notes { context.note(localized("note: %1", note), .caution) }
    }
    return .success
  }
}

/// `chime discard [DELIVERY …]`
enum Discard {
  static let verb = Verb(
    name: "discard", group: .deliver, arguments: ["DELIVERY…", "--to CHANNEL [--since TIME]", "--all"],
    summary: "Give up pending messages",
    details: [
      "They are not sent; `chime redeliver ID` sends one after all. On a terminal it asks before it gives up more "
        + "than ten."
    ],
    options: Selecting.options + [.flag("yes", "y", "Do not ask"), DraftOptions.dryRun],
    examples: ["chime discard --to team --before yesterday", "chime discard msg_01kahm5c2hq8z6t4n9s7x3v0wd"],
    alsoTried: ["cancel", "drop", "purge", "flush"], json: "`count`, `dryRun` and `deliveries` (the first 100)",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let reply = try Selecting.run(
      context, question: { localized(count: $0, "Give up %n message?", "Give up %n messages?") },
      nothing: localized("Nothing was given up."),
      sentence: { count, isDry in
        isDry
          ? localized(count: count, "%n message would be given up", "%n messages would be given up")
          : localized(count: count, "%n message is given up", "%n messages are given up")
      }, empty: localized("No pending message matches; `chime deliveries` lists all messages."),
      ask: {
        let reply = try $0.call(DeliveriesInterface.Cancel(which: $1, dryRun: $2))
        return .init(count: reply.count, skipped: 0, deliveries: reply.deliveries, notes: [])
      })
    return reply == nil ? .failed : .success
  }
}

/// The common part of both: the selection of messages, and the question before many.
enum Selecting {
  /// The number of messages beyond which the command asks on a terminal.
  static let unasked = 10

  static let options: [Verb.Option] =
    [
      .value("to", nil, "CHANNEL", "Those to a channel"), .value("of", nil, "ID|TITLE", "Those of a reminder"),
    ] + Pagination.since + [.flag("all", nil, "All of them")]

  static func selections(_ context: Context) throws -> [DeliveriesInterface.Selection] {
    let line = context.line
    let some = DeliveriesInterface.Selection(
      reminder: line.value("of"), channel: line.value("to"), since: try Pagination.moment(context, "since"),
      before: try Pagination.moment(context, "before"), all: line.has("all") ? true : nil)
    let isSome = some != DeliveriesInterface.Selection()
    try need(
      isSome != !line.words.isEmpty,
      isSome
        ? localized("ids of messages cannot be used with other selections")
        : localized("which messages? ids, --to, --of, --since, --before or --all is missing"),
      hint: localized("`chime deliveries` shows them with their ids"))
    return isSome ? [some] : line.words.map { DeliveriesInterface.Selection(id: $0) }
  }

  typealias Reply = DeliveriesInterface.Redeliver.Reply

  /// Asks if there are many, acts on all selected messages, and prints the result; returns nil if the user declines.
  static func run(
    _ context: Context, question: (Int) -> String, nothing: String, sentence: (Int, _ isDry: Bool) -> String,
    empty: String, more: (Reply) -> [JSONText.Member] = { _ in [] },
    ask: (Daemon, DeliveriesInterface.Selection, _ isDry: Bool?) throws -> Reply
  ) throws -> Reply? {
    let selections = try selections(context)
    let daemon = try context.daemon()
    func all(isDry: Bool) throws -> Reply {
      try selections.reduce(into: Reply(count: 0, skipped: 0, deliveries: [], notes: [])) { sum, which in
        let reply = try ask(daemon, which, isDry ? true : nil)
        sum.count += reply.count
        sum.skipped += reply.skipped
        sum.deliveries += reply.deliveries
        sum.notes += reply.notes.filter { !sum.notes.contains($0) }
      }
    }
    let isDry = context.line.has("dry-run")
    if !isDry, context.process.isInteractive, !context.line.has("yes"), selections.count <= 1 {
      let count = try all(isDry: true).count
      guard count <= unasked || Asking.confirm(context, question(count)) else {
        context.note(nothing)
        return nil
      }
    }
    let reply = try all(isDry: isDry)
    print(context, reply, isDry: isDry, sentence: sentence(reply.count, isDry), more: more(reply), empty: empty)
    return reply
  }

  private static func print(
    _ context: Context, _ reply: Reply, isDry: Bool, sentence: String, more: [JSONText.Member], empty: String
  ) {
    let (count, deliveries) = (reply.count, reply.deliveries)
    switch context.format {
    case .json: context.print(json: ["count": count, "dryRun": isDry, "deliveries": deliveries], after: more)
    case .plain: context.plain(deliveries)
    case .human:
      guard count > 0 else { return context.note(empty) }
      if context.isQuiet { return }
      context.out(sentence)
      Deliveries.table(context, deliveries)
      if deliveries.count < count { context.note(localized("These are the first %1.", deliveries.count), .faint) }
    }
  }
}
