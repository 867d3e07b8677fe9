import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing

/// A user's days with trackers, with a clock that stands still until it is moved.
final class TrackingScenario {
  static let owner: UInt32 = 1_000
  static let water = TrackerID(rawValue: "water")

  let store = MemoryStore()
  var context: ReminderContext
  var now: Instant
  var random = SeededGenerator(seed: 11)
  /// The messages shown, in order, with their times.
  var shown: [(at: Instant, message: OutboundMessage)] = []
  /// The occurrences recorded as missed.
  var missed: [(at: Instant, reason: MissReason)] = []

  /// - Parameter start: local time in `zone`.
  init(_ start: String, zone: String = "Europe/Prague") throws {
    context = ReminderContext(zones: Files(local: try Files.zone(zone)))
    now = .earliest
    now = at(start)
  }

  var zone: Zone { context.zones.local }

  /// Returns the instant of `2026-06-01 08:00`, or of `08:00` on the current day.
  func at(_ text: String) -> Instant {
    let parts = text.split(separator: " ").map(String.init)
    let day = parts.count == 2 ? parts[0] : "\(zone.civil(at: now).date)"
    let schedule = try? Schedule(canonical: "at \(day) \(parts.last ?? "")")
    return schedule?.timetable(in: zone).next(after: .earliest) ?? .earliest
  }

  /// Formats `2026-06-01 08:00`.
  func clock(_ instant: Instant) -> String {
    let civil = zone.civil(at: instant)
    return "\(civil.date) \("\(civil.time)".prefix(5))"
  }

  /// Returns the times of day at which a reminder with that title was shown since the last call.
  func shownTimes(_ title: String = "Drink") -> [String] {
    defer { shown.removeAll { $0.message.occurrence.title == title } }
    return shown.filter { $0.message.occurrence.title == title }.map { String(clock($0.at).suffix(5)) }
  }

  static func ml(_ value: Double) throws -> Quantity { try #require(Unit("ml").flatMap { Quantity(value, $0) }) }

  static func waterTracker(goal: Double = 2_500, dayStartsAt: Int = 0) throws -> Tracker {
    Tracker(
      id: water, owner: owner, title: LocalizedText(["en": "Water", "cs": "Voda"]), kind: .amount, unit: Unit("ml"),
      goal: Goal(.total(try ml(goal))), usual: try ml(250), dayStartsAt: dayStartsAt,
      startedOn: try #require(CivilDate("2026-01-01")), createdAt: Instant(seconds: 1_767_225_600))
  }

  // MARK: Actions of the user

  @discardableResult
  func change(
    _ body: @escaping @Sendable (TrackingOperations, inout SeededGenerator) throws -> TrackingOutcome
  ) async throws -> TrackingOutcome {
    let (context, now, random) = (context, now, random)
    let (outcome, after) = try await store.write { transaction in
      var random = random
      let work = TrackingOperations(in: transaction, owner: Self.owner, context, now: now)
      return (try body(work, &random), random)
    }
    self.random = after
    return outcome
  }

  func put(_ tracker: Tracker) async throws { try await change { try $0.put(tracker, using: &$1) } }

  @discardableResult
  func log(
    _ amount: Double? = nil, at: Instant? = nil, _ tracker: TrackerID = water
  ) async throws -> TrackingOutcome {
    let quantity = try amount.map { try Self.ml($0) }
    return try await change { try $0.log(EntryDraft(tracker: tracker, at: at, quantity: quantity), using: &$1) }
  }

  func add(_ id: String, title: String = "Drink", when: String, link: TrackerLink?) async throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: id), owner: Self.owner, title: title,
      schedule: try Schedule.parse(when, now: now, zone: zone), createdAt: now)
    reminder.tracker = link
    let (context, now) = (context, now)
    try await store.write { [reminder] transaction in
      try transaction.upsert(reminder, next: try reminder.next(after: now, in: transaction, context))
    }
    return reminder
  }

  func next(_ reminder: Reminder) async throws -> String? {
    let record = try await store.read { try $0.reminder(reminder.id) }
    return record?.next.map { String(clock($0).suffix(5)) }
  }

  @discardableResult
  func answer(_ answer: Occurrence.Answer, _ id: OccurrenceID) async throws -> AnswerTransaction {
    let (context, now, random) = (context, now, random)
    let (work, after) = try await store.write { transaction in
      var random = random
      let occurrence = try #require(try transaction.occurrence(id))
      let reminder = try transaction.reminder(id.reminder)?.reminder
      let work = try AnswerTransaction.run(
        answer, to: occurrence, reminder: reminder, in: transaction, context, now: now, using: &random)
      return (work, random)
    }
    self.random = after
    return work
  }

  // MARK: The daemon

  /// Fires due reminders, and shows them.
  func fire() async throws {
    let (context, now, random) = (context, now, random)
    let (work, after) = try await store.write { transaction in
      var random = random
      let capacity = Scheduler.Capacity(policies: DeliveryQueuePolicies())
      let fired = try FireTransaction.run(
        in: transaction, limit: 100, capacity: capacity, context: context,
        uptime: Uptime(runningSince: .earliest), now: now, using: &random)
      let pending = try ClaimedMessage.claim(
        DeliveryQueue(owner: Self.owner, channel: .desktop), limit: 64, in: transaction, DeliveryQueuePolicies(),
        context, now: now)
      for claimed in fired.claims + pending {
        try transaction.acknowledge(claimed.claim.id, attempt: nil, state: .delivered(at: now))
      }
      return ((fired.firings, fired.claims + pending), random)
    }
    self.random = after
    for claimed in work.1 { shown.append((now, claimed.message)) }
    for occurrence in work.0.flatMap(\.occurrences) {
      if case .missed(let reason) = occurrence.state { missed.append((occurrence.id.scheduledAt, reason)) }
    }
  }

  /// Advances the clock, firing what becomes due.
  func run(until text: String) async throws { try await run(until: at(text)) }

  func run(until end: Instant) async throws {
    while true {
      let due = try await store.read { try $0.dueWakeups() }
      let queue = due.outbox.values.min()
      guard let next = [due.nextDue, queue].compactMap({ $0 }).min(), next <= end else { break }
      now = max(now, next)
      try await fire()
    }
    now = end
  }
}

/// The rules of /usr/share/zoneinfo on this machine.
private struct Files: ZoneSource {
  var local: Zone

  static func zone(_ identifier: String) throws -> Zone {
    let data = try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(identifier)"))
    return try Zone(identifier: identifier, tzif: Array(data))
  }

  func zone(_ name: String) -> Zone? { try? Self.zone(name) }
}
