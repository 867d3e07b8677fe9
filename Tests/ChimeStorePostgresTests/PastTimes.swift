import ChimeCore
import ChimeSchedule
import ChimeTestKit

/// A random history over the months before a given time, identical in each store. The seed determines everything.
struct PastTimes: Sendable {
  static let count = 60
  let now = Instant(seconds: 1_789_000_000)
  /// The starts of the history's months: April to September 2026.
  let months: [Instant] = [
    1_775_001_600, 1_777_593_600, 1_780_272_000, 1_782_864_000, 1_785_542_400, 1_788_220_800,
  ].map { Instant(seconds: $0) }
  private let seed: UInt64

  init(seed: UInt64) { self.seed = seed }

  /// The limits of a history that is pruned repeatedly.
  var edges: [HistoryEdge] {
    [
      HistoryEdge(oldest: months[1] + .days(3)), HistoryEdge(oldest: months[2], first: months[3]),
      HistoryEdge(oldest: months[1], first: months[4] + .hours(5)), HistoryEdge(oldest: months[5]),
    ]
  }

  /// Creates the months' partitions with SQL.
  func makePartitions(_ run: (String) throws -> Void) throws {
    for month in months { try run("SELECT chime.make_month(chime.month_of(\(month.milliseconds)))") }
  }

  static let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))

  private static func reminder(_ id: String) throws -> Reminder {
    Reminder(
      id: ReminderID(rawValue: id), owner: 1_000, title: id, schedule: try Schedule(canonical: "daily at 08:00"),
      createdAt: .earliest)
  }

  /// Fires one occurrence of a new reminder, with a message.
  @discardableResult
  func fire(_ store: any Store, _ id: String, at time: Instant) async throws -> Occurrence {
    try await store.write { transaction in
      let reminder = try Self.reminder(id)
      try transaction.upsert(reminder, next: time)
      let occurrence = Occurrence(
        id: OccurrenceID(reminder: reminder.id, scheduledAt: time), title: id, owner: 1_000, state: .fired,
        firedAt: time)
      let delivery = Delivery(
        id: DeliveryID(rawValue: "dlv_\(id)"), occurrence: occurrence.id, queue: Self.queue, round: 1, createdAt: time)
      let due = DueReminder(reminder: reminder, scheduledAt: time, dueAt: time, isRegular: true, occurrence: nil)
      _ = try transaction.record([
        FiringResult(
          due: due, occurrences: [occurrence], deliveries: [delivery], next: nil, advances: true, skipNext: 0)
      ])
      return occurrence
    }
  }

  /// Adds occurrences of many reminders, some of them removed: done early or late, dismissed, unanswered, missed,
  /// snoozed, pending and given up.
  func fill(_ store: any Store) async throws {
    var random = SeededGenerator(seed: seed)
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    for number in 0..<Self.count {
      let time = months[0] + .milliseconds(Int64(pick(0...(5 * 30 * 86_400))) * 1_000)
      var occurrence = try await fire(store, "r\(number)", at: time)
      let (kind, tries, late, isRemoved) = (pick(0...7), pick(0...2), pick(0...90), pick(0...3) == 0)
      let id = DeliveryID(rawValue: "dlv_r\(number)")
      let end: Delivery.State = kind == 7 ? .dead(at: time) : .delivered(at: time)
      let states: [Occurrence.State] = [
        .done, .done, .dismissed, .delivered, .missed(.downtime), .snoozed(until: now + .days(1)),
      ]
      let state = kind < states.count ? states[kind] : nil
      if let state {
        occurrence.state = state
        occurrence.endedAt = kind <= 2 ? time + .days(Int64(late)) : nil
      }
      try await store.write { [occurrence] transaction in
        for attempt in 0..<tries {
          try transaction.acknowledge(
            id, attempt: Attempt(number: attempt + 1, startedAt: time - .days(2), took: .zero, outcome: .failed),
            state: .waiting(until: time))
        }
        // The others stay pending.
        if kind != 6 { try transaction.acknowledge(id, attempt: nil, state: end) }
        if state != nil { try transaction.update(occurrence, now: time) }
        if isRemoved { try transaction.remove(occurrence.id.reminder, now: time) }
      }
    }
  }

  /// Prunes one occurrence after the other until nothing is left to prune.
  static func prune(_ store: any Store, _ edge: HistoryEdge) async throws {
    var past: OccurrenceID?
    while true {
      let from = past
      let part = try await store.write { try $0.prune(edge, past: from, limit: 7) }
      past = part.past
      if part.isOver { return }
    }
  }

  /// Answers everything that is left, resends messages, and reads attempts.
  func answerAll(_ store: any Store) async throws {
    try await store.write { transaction in
      for var occurrence in try transaction.occurrences(OccurrenceFilter(), page: Page(limit: 1_000)) {
        for delivery in try transaction.deliveries(DeliveryFilter(occurrence: occurrence.id), page: Page()) {
          _ = try transaction.replay(delivery.id, now: now)
          try transaction.acknowledge(
            delivery.id, attempt: Attempt(number: 9, startedAt: now, took: .zero, outcome: .delivered),
            state: .delivered(at: now))
        }
        occurrence.state = .done
        occurrence.endedAt = now
        try transaction.update(occurrence, now: now)
      }
    }
  }
}
