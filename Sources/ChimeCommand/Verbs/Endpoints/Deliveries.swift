import ChimeControl
import ChimeWords

/// `chime deliveries [ID|TITLE]`
enum Deliveries {
  static let verb = Verb(
    name: "deliveries", group: .deliver, arguments: ["[ID|TITLE]"],
    summary: "List messages to channels and their state, newest first",
    options: [
      .value("to", nil, "CHANNEL", "Only those to a channel"),
      .value(
        "state", nil, "STATE",
        "Only those that are pending, waiting (for the next attempt), delivered, dead or cancelled",
        choices: DeliveriesInterface.Delivery.State.allCases.map(\.rawValue)),
      .value("id", nil, "DELIVERY", "One delivery, with every attempt"),
    ] + Pagination.since + [Pagination.limit("deliveries", usually: 50)],
    examples: ["chime deliveries --to team --state dead --since \"2 days\"", "chime deliveries Stand-up --json"],
    alsoTried: ["delivery", "messages", "outbox"],
    json: "`deliveries`, and `more`; with --id: `delivery`, and `attempts`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    if let id = line.value("id") { return try one(context, id) }
    let filter = DeliveriesInterface.Filter(
      reminder: context.optionalSubject(), channel: line.value("to"),
      state: line.value("state").flatMap { .init(rawValue: $0) }, since: try Pagination.moment(context, "since"),
      before: try Pagination.moment(context, "before"))
    let limit = try Pagination.limit(line, usually: 50)
    let daemon = try context.daemon()
    let (deliveries, isCut) = try Pagination.pages(limit: limit) { limit, cursor in
      let reply: DeliveriesInterface.List.Reply = try daemon.call(
        DeliveriesInterface.List(
          filter: filter == DeliveriesInterface.Filter() ? nil : filter, limit: limit, cursor: cursor))
      return (reply.deliveries, reply.cursor)
    }
    let empty = [localized("No message matches."), localized("`chime fire ID` fires a reminder now.")]
    context.print(deliveries, named: "deliveries", isCut: isCut, empty: empty) { table(context, deliveries) }
    return .success
  }

  static func table(_ context: Context, _ deliveries: [DeliveriesInterface.Delivery]) {
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: "WHEN"), .init(title: "TO", canShrink: true), .init(title: "STATE"),
      .init(title: "ATTEMPTS", alignRight: true, dropOrder: 1), .init(title: "RESULT", canShrink: true),
      .init(title: "REMINDER", canShrink: true), .init(title: "ID", dropOrder: 2),
    ])
    for delivery in deliveries {
      let result = [
        delivery.lastResult, delivery.nextAttempt.map { again(clock, $0) },
      ].compactMap { $0 }.joined(separator: "; ")
      table.rows.append([
        clock.cell(delivery.createdAt), .init(delivery.channel), state(delivery),
        .init(String(delivery.attempts)), .init(result.isEmpty ? "-" : result, .faint),
        .init("\(delivery.reminder)  \(titled(delivery))"), .init(delivery.id, .faint),
      ])
    }
    context.print(table: table)
  }

  private static func titled(_ delivery: DeliveriesInterface.Delivery) -> String {
    delivery.event.map { "\(delivery.title) (\(StateWords.event($0)))" } ?? delivery.title
  }

  /// Describes the next attempt; its time can be past while the circuit breaker is open or the endpoint is disabled.
  private static func again(_ clock: WallClock, _ next: Wire.Time) -> String {
    let isPast = WallClock.instant(next).map { $0 <= clock.now } ?? false
    return isPast ? localized("again as soon as possible") : localized("again %1", clock.relative(next))
  }

  private static func state(_ delivery: DeliveriesInterface.Delivery) -> Table.Cell {
    let tone: Style.Tone =
      switch delivery.state {
      case .delivered: .good
      case .dead: .bad
      case .waiting: .caution
      case .pending: .plain
      case .cancelled: .faint
      }
    return .init(StateWords.say(delivery.state.rawValue), tone)
  }

  private static func one(_ context: Context, _ id: String) throws -> ExitCode {
    try context.noWords()
    let reply: DeliveriesInterface.Get.Reply = try context.daemon().call(DeliveriesInterface.Get(id: id))
    let delivery = reply.delivery
    switch context.format {
    case .json: context.print(json: ["delivery": delivery, "attempts": reply.attempts])
    case .plain: context.plain(reply.attempts)
    case .human:
      let clock = context.clock()
      context.print(heading: delivery.id, titled(delivery))
      var line = localized(
        "  to %1, %2, of %3", delivery.channel, StateWords.say(delivery.state.rawValue), delivery.occurrence)
      if let next = delivery.nextAttempt { line += localized("; again %1, %2", clock.text(next), clock.relative(next)) }
      context.out(TerminalSanitizer.line(line))
      guard !reply.attempts.isEmpty else { return .success }
      context.out()
      var table = Table(columns: [
        .init(title: "ATTEMPT", alignRight: true), .init(title: "WHEN"),
        .init(title: "DURATION", alignRight: true, dropOrder: 1),
        .init(title: "OUTCOME"), .init(title: "STATUS", dropOrder: 2), .init(title: "RESPONSE", canShrink: true),
      ])
      for attempt in reply.attempts {
        let isGood = attempt.outcome == .delivered
        table.rows.append([
          .init(String(attempt.number)), .init(clock.text(attempt.startedAt)),
          .init(RelativeTime.lateness(milliseconds: attempt.durationMs)),
          .init(StateWords.say(attempt.outcome.rawValue), isGood ? .good : .bad),
          .init(attempt.status.map(String.init) ?? "-"),
          .init(Self.said(attempt), .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  /// Returns the error, and the receiver's own words.
  private static func said(_ attempt: DeliveriesInterface.Attempt) -> String {
    let words = [attempt.error.map { localizedServerMessage($0) }, attempt.response].compactMap { $0 }.filter {
      !$0.isEmpty
    }
    return words.isEmpty ? "-" : words.joined(separator: ": ")
  }
}
