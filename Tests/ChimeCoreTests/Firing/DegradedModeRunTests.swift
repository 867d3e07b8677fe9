import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Runs of missed times decided in degraded mode.
struct DegradedModeRunTests {
  /// The clock went back over two times that had fired, and the machine slept through them and another hour.
  @Test func missedRunLeavesOutTimesThatHaveFired() async throws {
    let now = DegradedModeTests.now
    var reminder = try DegradedModeTests.reminder("every 1m")
    reminder.catchUp = CatchUp(suspend: .skip, downtime: .skip)
    var screen = Screen(store: MemoryStore())
    try await screen.add(reminder, at: now)
    for minute in 0..<2 as Range<Int64> { try await screen.fireDegraded(now: now + .minutes(minute)) }
    try await screen.record()
    reminder.generation += 1
    try await screen.add(reminder, at: now)
    try await screen.fireDegraded(now: now + .minutes(61) + .seconds(30))
    try await screen.record()
    let found = try await screen.store.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
    let run = try #require(found.first { $0.missedRun != nil })
    #expect(run.id.scheduledAt == now + .minutes(2))
    #expect(run.missedRun == Occurrence.MissedRun(count: 59, through: now + .minutes(60)))
    // The others fired: the two before, and the last, which is on time.
    #expect(found.filter { $0.firedAt != nil }.map(\.id.scheduledAt) == [61, 1, 0].map { now + .minutes($0) })
  }
}
