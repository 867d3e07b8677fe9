import ChimeCore
import ChimeSchedule
import ChimeTracking

// Times in the samples are seconds since an arbitrary Monday in 2026.

func at(_ seconds: Int64) -> Instant { Instant(seconds: 1_774_828_800 + seconds) }

let desktop = DeliveryQueue(owner: 1_000, channel: .desktop)
let team = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))

/// Returns a minimal reminder.
func sample(_ id: String, title: String? = nil, owner: UInt32 = 1_000, generation: Int64 = 0) throws -> Reminder {
  Reminder(
    id: ReminderID(rawValue: id), owner: owner, title: title ?? "Title of \(id)",
    schedule: try Schedule(canonical: "weekdays at 08:30"), createdAt: at(0), generation: generation)
}

/// Returns a reminder in which no field has its default.
func fullSample(_ id: String) throws -> Reminder {
  Reminder(
    id: ReminderID(rawValue: id), owner: 4_294_967_294, title: "Wasser \u{1F4A7} \u{5DE}\u{5D9}\u{5DD} \"'%_\\",
    body: "two\nlines", schedule: try Schedule(canonical: "at 2026-12-01 09:00"), timezone: .named("Europe/Prague"),
    gap: .skip, fold: .both, place: Place(latitude: -33.8688, longitude: 151.2093), channels: [.desktop, team.channel],
    tags: ["a b", "\"'%_", ""], urgency: .critical,
    icon: "cup", sound: "bell", url: "https://example.org/?a=1&b=/", location: "Kitchen", category: "x-chime.water",
    catchUp: CatchUp(suspend: .all, downtime: .skip), grace: .seconds(5), jitter: .minutes(3),
    nag: Nag(every: .minutes(5), max: 3, escalation: [.init(from: 2, channels: [team.channel])]),
    quiet: QuietRule(hours: try QuietHours(["mon-fri 22:00-07:00", "sat,sun 23:00-09:00"]), handling: .drop),
    wake: true, stay: true, within: .hours(2), snoozeLengths: [.minutes(3)], pause: .until(at(77)), skipNext: 3,
    tracker: TrackerLink(
      tracker: TrackerID(rawValue: "water"), logsWhenDone: false, amount: Quantity(grains: 16), unit: Unit("ml"),
      quietWhenDone: true,
      followsEntries: true, pace: true), onlyIfDone: ReminderID(rawValue: "figures"), lastDone: at(70),
    chainedTimes: [at(80), at(90)], set: "home",
    createdAt: at(5), generation: 9)
}

/// Returns the decision to fire `due` now through `queues`.
func fire(
  _ due: DueReminder, next: Instant? = nil, queues: [DeliveryQueue] = [desktop], now: Instant? = nil,
  repeatAt: Instant? = nil,
  tag: String = ""
) -> FiringResult {
  let now = now ?? due.dueAt
  let id = OccurrenceID(reminder: due.reminder.id, scheduledAt: due.scheduledAt)
  let rounds = (due.occurrence?.rounds ?? 0) + 1
  let occurrence = Occurrence(
    id: id, title: due.reminder.title, owner: due.reminder.owner, state: .fired,
    firedAt: due.occurrence?.firedAt ?? now, rounds: rounds, repeats: due.isRegular ? 0 : rounds - 1,
    repeatAt: repeatAt)
  return FiringResult(
    due: due, occurrences: [occurrence],
    deliveries: queues.map { queue in
      Delivery(
        id: DeliveryID(rawValue: "msg_\(id)_\(queue.owner)_\(queue.channel)_\(rounds)\(tag)"), occurrence: id,
        queue: queue,
        round: rounds, createdAt: now)
    }, next: next, advances: due.isRegular, skipNext: due.reminder.skipNext)
}

extension StoreTransaction {
  /// Fires all due reminders.
  @discardableResult
  func fireDue(
    at now: Instant, next: Instant? = nil, queues: [DeliveryQueue] = [desktop], repeatAt: Instant? = nil
  ) throws -> [FiringResult] {
    let firings = try claimDue(now: now, limit: 10_000).map {
      fire($0, next: next, queues: queues, now: now, repeatAt: repeatAt)
    }
    try record(firings)
    return firings
  }

  /// Adds a reminder and fires it at `at(10)`; returns the occurrence's id.
  @discardableResult
  func addFired(_ id: String, owner: UInt32 = 1_000, next: Instant? = nil, queues: [DeliveryQueue] = [desktop]) throws
    -> OccurrenceID
  {
    try upsert(sample(id, owner: owner), next: at(10))
    try fireDue(at: at(10), next: next, queues: queues)
    return OccurrenceID(reminder: ReminderID(rawValue: id), scheduledAt: at(10))
  }

  /// Returns the ids of a listing, in order.
  func ids(_ filter: ReminderFilter, _ page: Page = Page()) throws -> [String] {
    try reminders(filter, page: page).map(\.reminder.id.rawValue)
  }

  /// Returns an occurrence that must exist.
  func theOccurrence(_ id: OccurrenceID) throws -> Occurrence {
    guard let occurrence = try occurrence(id) else {
      throw ConformanceFailure(description: "the occurrence \(id) is missing")
    }
    return occurrence
  }

  /// Returns all deliveries, newest first.
  func allDeliveries() throws -> [Delivery] { try deliveries(DeliveryFilter(), page: Page(limit: 10_000)) }
}
