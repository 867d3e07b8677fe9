public import ChimeSchedule

/// DesktopNotice records a message from Chime itself to a user, by default on the desktop.
///
/// It is a reminder that fires at once, recorded in the transaction that it reports on, so it is as durable and as
/// often retried as any other. It needs no answer and is done as soon as it fires.
public enum DesktopNotice {
  /// - Parameter start: the earliest time of delivery; nil for now.
  public static func record(
    _ title: String, _ body: String, to owner: UInt32, in transaction: any StoreTransaction, _ context: ReminderContext,
    urgency: Urgency = .normal, channels: [ChannelName] = [.desktop], tags: [String] = [], icon: String? = nil,
    notBefore start: Instant? = nil, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws -> Occurrence {
    // An absolute time, so that it does not come again when the machine changes zones.
    let moment = RFC3339.format(Instant(seconds: now.seconds), in: .utc)
    let reminder = try insert(
      title, body, at: moment, to: owner, in: transaction, urgency: urgency, channels: channels, tags: tags, icon: icon,
      now: now, using: &generator)
    var (occurrence, deliveries) = FiringDecision(now: now, uptime: Uptime(runningSince: now))
      .fireNow(reminder, using: &generator)
    (occurrence.state, occurrence.endedAt) = (.done, now)
    deliveries += Announcing.notice(occurrence, reminder, context, now: now, using: &generator)
    if let start, start > now {
      for index in deliveries.indices { deliveries[index].state = .waiting(until: start) }
    }
    try record(occurrence, deliveries, of: reminder, in: transaction, now: now)
    return occurrence
  }

  /// Adds deliveries of an event that belongs to no occurrence. In the history, a done occurrence of a removed reminder
  /// represents it.
  static func owe(
    _ event: DeliveryEvent, _ title: String, to queues: [DeliveryQueue], of owner: UInt32,
    in transaction: any StoreTransaction,
    now: Instant, using generator: inout some RandomNumberGenerator
  ) throws {
    let moment = RFC3339.format(Instant(seconds: now.seconds), in: .utc)
    let reminder = try insert(
      title, "", at: moment, to: owner, in: transaction, channels: [], now: now, using: &generator)
    var (occurrence, _) = FiringDecision(now: now, uptime: Uptime(runningSince: now))
      .fireNow(reminder, using: &generator)
    (occurrence.state, occurrence.endedAt, occurrence.answeredBy) = (.done, now, event.by)
    var deliveries: [Delivery] = []
    for queue in queues {
      deliveries.append(
        Delivery(
          id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id, queue: queue, round: occurrence.rounds,
          createdAt: now, event: event))
    }
    try record(occurrence, deliveries, of: reminder, in: transaction, now: now)
    _ = try transaction.remove(reminder.id, now: now)
  }

  private static func record(
    _ occurrence: Occurrence, _ deliveries: [Delivery], of reminder: Reminder, in transaction: any StoreTransaction,
    now: Instant
  ) throws {
    let due = DueReminder(reminder: reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: now)
    try transaction.record([
      FiringResult(due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false, skipNext: 0)
    ])
  }

  /// Creates the reminder of a notice.
  private static func insert(
    _ title: String, _ body: String, at moment: String, to owner: UInt32, in transaction: any StoreTransaction,
    urgency: Urgency = .normal, channels: [ChannelName], tags: [String] = [], icon: String? = nil, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: ""), owner: owner, title: title, body: body.isEmpty ? nil : body,
      schedule: try Schedule(canonical: "at \(moment)"), channels: channels, tags: ["chime"] + tags,
      urgency: urgency, icon: icon, createdAt: now)
    reminder.id = try transaction.insert(reminder, next: nil, using: &generator)
    return reminder
  }
}
