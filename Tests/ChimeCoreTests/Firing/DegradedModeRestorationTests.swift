import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// An older copy of the store is restored while events are buffered.
struct DegradedModeRestorationTests {
  static let now = DegradedModeTests.now

  /// Returns two times of an hourly reminder that were shown in degraded mode.
  private func shown() async throws -> (Screen, Reminder) {
    let reminder = try DegradedModeTests.reminder("every 1h")
    var screen = Screen(store: MemoryStore())
    try await screen.add(reminder, at: Self.now)
    for hour in 0..<2 as Range<Int64> { try await screen.fireDegraded(now: Self.now + .hours(hour)) }
    #expect(screen.degradedMode.unrecorded == 2)
    return (screen, reminder)
  }

  private func record(_ screen: inout Screen, in store: MemoryStore) async throws -> DegradedModeCommit {
    let (part, context) = (screen.degradedMode.part(), screen.context)
    let commit = try await store.write { store in
      var random = SeededGenerator(seed: 1)
      return try DegradedModeCommit.run(
        part, in: store, DeliveryQueuePolicies(), seenFailing: [:], context, now: .latest, using: &random)
    }
    screen.degradedMode.recorded(part)
    return commit
  }

  @Test func eventsUnknownToTheOlderStoreAreDroppedAndReported() async throws {
    var (screen, _) = try await shown()
    let older = MemoryStore()
    let commit = try await record(&screen, in: older)
    #expect(screen.degradedMode.isEmpty && commit.firings == 0)
    #expect(commit.refused.count == 2 && commit.refused.allSatisfy { $0.contains("\"Tea\" fired") })
    #expect(commit.outcomes.map(\.refused.count) == [1, 1])
    #expect(try await older.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }.isEmpty)
  }

  @Test func timeDueAgainInTheOlderStoreIsNotifiedOnce() async throws {
    let (before, reminder) = try await shown()
    var screen = before
    let older = MemoryStore()
    try await older.write { try $0.upsert(reminder, next: Self.now - .hours(3)) }
    let commit = try await record(&screen, in: older)
    #expect(commit.firings == 2 && commit.refused.isEmpty && commit.outcomes.allSatisfy(\.refused.isEmpty))

    let (now, context) = (Self.now + .minutes(61), screen.context)
    let work = try await older.write { store in
      var random = SeededGenerator(seed: 2)
      return try FireTransaction.run(
        in: store, limit: 5, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
        uptime: Uptime(runningSince: Self.now - .days(1)), now: now, using: &random)
    }
    let heard = [Self.now, Self.now + .hours(1)]
    #expect(work.claims.allSatisfy { !heard.contains($0.message.occurrence.id.scheduledAt) })
    let (deliveries, next) = try await older.read {
      (try $0.deliveries(DeliveryFilter(reminder: reminder.id), page: Page()), try $0.wakeups().nextDue)
    }
    for time in heard { #expect(deliveries.count { $0.occurrence.scheduledAt == time } == 1) }
    #expect(next == Self.now + .hours(2))
  }

  /// An answer that the store recorded in a working moment counts, whatever was shown in degraded mode.
  @Test func answerInTheStoreEndsARepeatInMemory() async throws {
    var reminder = try DegradedModeTests.reminder("every 24h")
    reminder.nag = Nag(every: .minutes(1), max: 5)
    var screen = Screen(store: MemoryStore())
    try await screen.add(reminder, at: Self.now)
    for minute in 0..<2 as Range<Int64> { try await screen.fireDegraded(now: Self.now + .minutes(minute)) }
    _ = try await record(&screen, in: screen.store)
    #expect(screen.shown.count == 2)
    try await screen.fireDegraded(now: Self.now + .minutes(2))
    #expect(screen.shown.count == 3)

    let id = OccurrenceID(reminder: reminder.id, scheduledAt: Self.now)
    let now = Self.now + .seconds(150)
    try await screen.store.write { store in
      guard let occurrence = try store.occurrence(id) else { throw StoreFailure.internalError("it is gone") }
      try store.update(try occurrence.answered(.snooze(for: .hours(1)), at: now), now: now)
    }
    screen.degradedMode.forget(id)
    try await screen.fireDegraded(now: Self.now + .minutes(10))
    #expect(screen.shown.count == 3)
    try await screen.fireDegraded(now: now + .hours(1))
    #expect(screen.shown.count == 4)
  }

  /// Evaluations of the other store do not apply to this one.
  @Test func refusingOlderStoreIsEvaluatedAfresh() async throws {
    let (old, reminder) = try await shown()
    var other = reminder
    other.id = ReminderID(rawValue: "r2")
    var screen = Screen(store: MemoryStore())
    screen.degradedMode = old.degradedMode
    let now = Self.now + .minutes(61)
    try await screen.add(reminder, at: Self.now)
    try await screen.add(other, at: Self.now - .minutes(1))
    screen.degradedMode.storeIsAnother()
    let work = try await screen.fireDegraded(now: now)
    #expect(work.messages.map(\.message.occurrence.id.reminder) == [other.id])
    #expect(try await screen.fireDegraded(now: now).firings.isEmpty)
  }

  /// The machine falls asleep before a popup has started: only memory knows about it.
  @Test func popupReturnedBeforeSleepIsShownAgainUnlessAnswered() async throws {
    let reminder = try DegradedModeTests.reminder("every 1h")
    var screen = Screen(store: MemoryStore())
    try await screen.add(reminder, at: Self.now)
    var random = SeededGenerator(seed: 3)
    func evaluate(_ now: Instant) async throws -> DegradedMode.Work {
      let (store, look) = (screen.store, screen.degradedMode.query(now: now, limit: 5))
      let context = screen.context
      let seen = try await store.read { try look.run(in: $0, context) }
      return screen.degradedMode.fire(
        seen, DeliveryQueuePolicies(), context, Uptime(runningSince: Self.now), now: now, using: &random)
    }
    let first = try await evaluate(Self.now).messages
    #expect(first.count == 1)
    #expect(try await evaluate(Self.now).messages.isEmpty)
    let isTaken = screen.degradedMode.takeBack(first[0])
    #expect(isTaken)
    let later = Self.now + .minutes(30)
    let again = try await evaluate(later).messages
    #expect(again.map(\.claim.id) == first.map(\.claim.id) && again[0].claim.until > later)
    let isTakenAgain = screen.degradedMode.takeBack(again[0])
    #expect(isTakenAgain)
    let occurrence = first[0].message.occurrence
    let context = screen.context
    _ = try screen.degradedMode.answer(
      OutboxTransaction.Answer(answer: .done, occurrence: occurrence.id), occurrence, reminder, context, now: later)
    #expect(try await evaluate(later).messages.isEmpty)
    // The store's own message is released to it.
    try await screen.record()
    let isOurs = screen.degradedMode.takeBack(first[0])
    #expect(!isOurs)
  }
}
