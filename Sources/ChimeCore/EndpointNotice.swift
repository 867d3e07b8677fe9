public import ChimeSchedule

/// Tells a user that one of their endpoints has been disabled: a reminder of theirs that fires at once on the desktop,
/// recorded in the transaction that disables the endpoint, and so as durable and as often tried as any other.
public enum EndpointNotice {
  public static func record(
    _ endpoint: Endpoint, in transaction: any StoreTransaction, _ bearings: Bearings, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> Occurrence {
    let zone = bearings.zones.local
    let civil = zone.civil(at: Instant(seconds: now.seconds))
    var reminder = Reminder(
      id: ReminderID(rawValue: ""), owner: endpoint.lane.owner, title: title(endpoint),
      body: body(endpoint, waiting: try waiting(for: endpoint.lane, transaction)),
      schedule: try Schedule(canonical: "at \(civil.date) \(civil.time)"), channels: [.desktop], tags: ["chime"],
      createdAt: now)
    reminder.id = try insert(reminder, into: transaction, using: &generator)
    let (occurrence, deliveries) = FiringDecision(now: now, absence: Absence(runningSince: now))
      .fireNow(reminder, using: &generator)
    let due = DueReminder(reminder: reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: now)
    try transaction.record([
      Firing(due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false, skipNext: 0)
    ])
    return occurrence
  }

  /// Such as `Webhook "team" is off: it has failed for 5 days`.
  public static func title(_ endpoint: Endpoint) -> String {
    let name = "\"\(endpoint.lane.channel)\""
    var reason = endpoint.disabled?.reason ?? "it was disabled"
    // Reasons that stand alone elsewhere name the endpoint themselves.
    if reason.hasPrefix("endpoint \(name) ") { reason = "it " + reason.dropFirst("endpoint \(name) ".count) }
    return "Webhook \(name) is off: \(reason)"
  }

  public static func body(_ endpoint: Endpoint, waiting: Int) -> String {
    let messages =
      switch waiting {
      case 0: "No message waits for it."
      case 1: "1 message waits for it."
      case ..<countLimit: "\(waiting) messages wait for it."
      default: "\(countLimit) messages or more wait for it."
      }
    return "\(messages) When it is mended: chime endpoint enable \(endpoint.lane.channel)"
  }

  private static let countLimit = 1_000

  private static func waiting(for lane: Lane, _ transaction: any StoreTransaction) throws -> Int {
    try [DeliveryFilter.State.pending, .waiting].reduce(0) { sum, state in
      let filter = DeliveryFilter(owner: lane.owner, channel: lane.channel, state: state)
      return sum + (try transaction.deliveries(filter, page: Page(limit: countLimit)).count)
    }
  }

  private static func insert(
    _ reminder: Reminder, into transaction: any StoreTransaction, using generator: inout some RandomNumberGenerator
  ) throws -> ReminderID {
    var reminder = reminder
    for attempt in 0..<16 {
      reminder.id = ReminderID(length: 4 + attempt / 2, using: &generator)
      do {
        try transaction.upsert(reminder, next: nil)
        return reminder.id
      } catch StoreFailure.idTaken { continue }
    }
    throw StoreFailure.internalError("no free id was found for a notice")
  }
}
