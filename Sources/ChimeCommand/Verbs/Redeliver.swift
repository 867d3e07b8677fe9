import ChimeControl
import ChimeWords

/// `chime redeliver [DELIVERY …]`
enum Redeliver {
  static let verb = Verb(
    name: "redeliver", group: .deliver, arguments: ["DELIVERY…", "--to CHANNEL [--since TIME]", "--all"],
    summary: "Send messages again that were given up",
    details: [
      "Each keeps its id, by which a receiver tells a repeat, and is tried as often as a new one. Named by its id, a "
        + "message may also be one that was delivered or cancelled, and one that waits is tried at once. Otherwise those "
        + "are meant that were given up (`chime deliveries --state dead`), without those whose reminder has been answered "
        + "since. On a terminal it asks before it sends more than ten."
    ],
    options: Selecting.options + [
      .value("limit", "n", "N", "Only the N oldest"), .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
    ],
    examples: [
      .init(command: "chime redeliver msg_01kahm5c2hq8z6t4n9s7x3v0wd"),
      .init(command: "chime redeliver --to team --since \"2 days\" --dry-run"), .init(command: "chime redeliver --all"),
    ],
    alsoTried: ["retry", "replay", "resend"],
    json: "`count`, `skipped`, `dryRun`, `deliveries` (the first 100) and `notes`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let selections = try Selecting.selections(context)
    let limit = try context.line.count("limit", maximum: 1_000_000_000)
    let daemon = try context.daemon()
    func ask(isDry: Bool) throws -> DeliveriesInterface.Redeliver.Reply {
      var sum = DeliveriesInterface.Redeliver.Reply(count: 0, skipped: 0, deliveries: [], notes: [])
      for which in selections {
        let reply: DeliveriesInterface.Redeliver.Reply = try daemon.call(
          DeliveriesInterface.Redeliver(which: which, limit: limit, dryRun: isDry ? true : nil))
        sum.count += reply.count
        sum.skipped += reply.skipped
        sum.deliveries += reply.deliveries
        sum.notes += reply.notes.filter { !sum.notes.contains($0) }
      }
      return sum
    }
    let isDry = context.line.has("dry-run")
    if !isDry,
      try !Selecting.isAgreed(
        context, { Words.say(count: $0, "Send %n message again?", "Send %n messages again?") },
        count: { try ask(isDry: true).count })
    {
      context.note(Words.say("Nothing was sent again."))
      return .failed
    }
    let reply = try ask(isDry: isDry)
    Selecting.print(
      context, reply.count, reply.deliveries, isDry: isDry,
      sentence: isDry
        ? Words.say(count: reply.count, "%n message would be sent again", "%n messages would be sent again")
        : Words.say(count: reply.count, "%n message is sent again", "%n messages are sent again"),
      more: [.init(name: "skipped", value: .int(reply.skipped)), .init(name: "notes", value: .strings(reply.notes))],
      empty: Words.say("Nothing that was given up fits; `chime deliveries` lists all messages."))
    if context.format == .human {
      if reply.skipped > 0 {
        context.note(
          Words.say(
            count: reply.skipped, "%n message left out: its reminder has been answered since.",
            "%n messages left out: their reminders have been answered since."))
      }
      for note in reply.notes { context.note(Words.say("note: %1", note), .caution) }
    }
    return .success
  }
}

/// `chime discard [DELIVERY …]`
enum Discard {
  static let verb = Verb(
    name: "discard", group: .deliver, arguments: ["DELIVERY…", "--to CHANNEL [--since TIME]", "--all"],
    summary: "Give up messages that are still owed",
    details: [
      "They are not sent; `chime redeliver ID` would bring one back. On a terminal it asks before it gives up more than "
        + "ten."
    ],
    options: Selecting.options + [.flag("yes", "y", "Do not ask"), DraftOptions.dryRun],
    examples: [
      .init(command: "chime discard --to team --before yesterday"),
      .init(command: "chime discard msg_01kahm5c2hq8z6t4n9s7x3v0wd"),
    ],
    alsoTried: ["cancel", "drop", "purge", "flush"], json: "`count`, `dryRun` and `deliveries` (the first 100)",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let selections = try Selecting.selections(context)
    let daemon = try context.daemon()
    func ask(isDry: Bool) throws -> DeliveriesInterface.Cancel.Reply {
      var sum = DeliveriesInterface.Cancel.Reply(count: 0, deliveries: [])
      for which in selections {
        let reply: DeliveriesInterface.Cancel.Reply = try daemon.call(
          DeliveriesInterface.Cancel(which: which, dryRun: isDry ? true : nil))
        sum.count += reply.count
        sum.deliveries += reply.deliveries
      }
      return sum
    }
    let isDry = context.line.has("dry-run")
    if !isDry,
      try !Selecting.isAgreed(
        context, { Words.say(count: $0, "Give up %n message?", "Give up %n messages?") },
        count: { try ask(isDry: true).count })
    {
      context.note(Words.say("Nothing was given up."))
      return .failed
    }
    let reply = try ask(isDry: isDry)
    Selecting.print(
      context, reply.count, reply.deliveries, isDry: isDry,
      sentence: isDry
        ? Words.say(count: reply.count, "%n message would be given up", "%n messages would be given up")
        : Words.say(count: reply.count, "%n message is given up", "%n messages are given up"), more: [],
      empty: Words.say("Nothing that is owed fits; `chime deliveries` lists all messages."))
    return .success
  }
}

/// What the two have in common: which messages are meant, and how many may be without a question.
enum Selecting {
  /// More are asked about on a terminal.
  static let unasked = 10

  static let options: [Verb.Option] =
    [
      .value("to", nil, "CHANNEL", "Those to a channel"), .value("of", nil, "ID|TITLE", "Those of a reminder"),
    ] + Listings.since + [.flag("all", nil, "All of them")]

  static func selections(_ context: Context) throws -> [DeliveriesInterface.Selection] {
    let line = context.line
    let some = DeliveriesInterface.Selection(
      reminder: line.value("of"), channel: line.value("to"), since: try Listings.moment(context, "since"),
      before: try Listings.moment(context, "before"), all: line.has("all") ? true : nil)
    let isSome = some != DeliveriesInterface.Selection()
    guard isSome != !line.words.isEmpty else {
      throw Failure.usage(
        isSome
          ? Words.say("ids of messages stand alone")
          : Words.say("which messages? ids, --to, --of, --since, --before or --all is missing"),
        hint: Words.say("`chime deliveries` shows them with their ids"))
    }
    return isSome ? [some] : line.words.map { DeliveriesInterface.Selection(id: $0) }
  }

  static func isAgreed(
    _ context: Context, _ question: (Int) -> String, count: () throws -> Int
  ) throws -> Bool {
    guard context.world.isInteractive, !context.line.has("yes"), context.line.words.count <= 1 else { return true }
    let count = try count()
    if count <= unasked { return true }
    return Asking.confirm(context, question(count))
  }

  static func print(
    _ context: Context, _ count: Int, _ deliveries: [DeliveriesInterface.Delivery], isDry: Bool, sentence: String,
    more: [JSONText.Member], empty: String
  ) {
    switch context.format {
    case .json:
      let members: [JSONText.Member] = [
        .init(name: "count", value: .int(count)), .init(name: "dryRun", value: .bool(isDry)),
        .init(name: "deliveries", value: context.json(deliveries)),
      ]
      context.print(json: .object(members + more))
    case .plain:
      context.plain(deliveries)
    case .human:
      guard count > 0 else { return context.note(empty) }
      if context.isQuiet { return }
      context.out(sentence)
      Deliveries.table(context, deliveries)
      if deliveries.count < count { context.note(Words.say("These are the first %1.", deliveries.count), .faint) }
    }
  }
}
