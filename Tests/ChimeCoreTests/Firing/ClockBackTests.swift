import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Times that come again because the clock went back.
struct ClockBackTests {
  private static let begin = Instant(seconds: 1_795_161_600)
  private static let hourly = ReminderID(rawValue: "r1")

  /// Fires due reminders at `now` until none is left.
  private func fire(_ store: MemoryStore, at now: Instant) async throws -> [FiringResult] {
    try await store.write { transaction in
      var random = SeededGenerator(seed: 7)
      return try FireTransaction.run(
        in: transaction, limit: 50, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()),
        context: ReminderContext(zones: InUTC()),
        uptime: Uptime(runningSince: Self.begin), now: now, using: &random
      ).firings
    }
  }

  private func reschedule(_ store: MemoryStore, at now: Instant) async throws {
    try await store.write { try Recompute.reschedule(Self.hourly, in: $0, ReminderContext(zones: InUTC()), now: now) }
  }

  /// The clock goes ahead by hours, back, and ahead again: what fired the first time is notified once.
  @Test(arguments: [CatchUpRule.latest, .all])
  func timesFiredWhileTheClockWasAheadAreNotNotifiedAgain(_ rule: CatchUpRule) async throws {
    let store = MemoryStore()
    var reminder = try DegradedModeTests.reminder("every 1h")
    reminder.catchUp = CatchUp(suspend: rule, downtime: rule)
    let first = Self.begin + .hours(1)
    try await store.write { [reminder] in try $0.upsert(reminder, next: first) }

    let ahead = try await fire(store, at: Self.begin + .hours(5) + .milliseconds(400))
    let told = ahead.flatMap(\.occurrences).filter { $0.firedAt != nil }.map(\.id)
    #expect(told.contains { $0.scheduledAt == Self.begin + .hours(5) })
    // Back to the start, where the missed times come again.
    try await reschedule(store, at: Self.begin)
    let again = try await fire(store, at: Self.begin + .hours(5) + .milliseconds(600))
    let occurrences = again.flatMap(\.occurrences)
    #expect(occurrences.filter { told.contains($0.id) }.isEmpty, "\(occurrences)")
    #expect(again.flatMap(\.deliveries).filter { told.contains($0.occurrence) }.isEmpty)
    // The missed times still have one record each.
    let known = try await store.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
    #expect(known.map(\.id.scheduledAt).sorted() == (1...5).map { Self.begin + .hours($0) })
    #expect(known.filter { $0.firedAt != nil }.map(\.id).sorted { $0.scheduledAt < $1.scheduledAt } == told)
  }

  /// The same in degraded mode: what fired while the clock was ahead is not shown again.
  @Test func timesFiredWhileTheClockWasAheadAreNotShownAgainInDegradedMode() async throws {
    let store = MemoryStore()
    var reminder = try DegradedModeTests.reminder("every 1h")
    reminder.catchUp = CatchUp(suspend: .all, downtime: .all)
    try await store.write { [reminder] in try $0.upsert(reminder, next: Self.begin + .hours(3)) }
    // Two of five fire ahead; back at the start, the first is due first.
    _ = try await fire(store, at: Self.begin + .hours(4))
    try await reschedule(store, at: Self.begin)
    var screen = Screen(store: store)
    let work = try await screen.fireDegraded(now: Self.begin + .hours(5))
    let shown = work.messages.map(\.message.occurrence.id.scheduledAt)
    #expect(shown == [1, 2, 5].map { Self.begin + .hours($0) })
    #expect(work.firings.flatMap(\.occurrences).map(\.id.scheduledAt) == shown)
  }

  /// A degraded-mode firing from when the clock was ahead is recorded with the next time of then; recomputation then
  /// corrects it.
  @Test func nextTimeFromAClockAheadIsRecomputed() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(try DegradedModeTests.reminder("every 1h"), at: Self.begin + .hours(1))
    let ahead = Self.begin + .days(9)
    try await screen.fireDegraded(now: ahead)
    let part = screen.degradedMode.part()
    #expect(screen.degradedMode.outdated(in: part, screen.context, now: Self.begin) == [Self.hourly])
    #expect(screen.degradedMode.outdated(in: part, screen.context, now: ahead).isEmpty)
  }
}
