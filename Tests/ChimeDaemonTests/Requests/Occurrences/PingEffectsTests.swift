import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

@testable import ChimeDaemon

/// What the loop does after a ping.
struct PingEffectsTests {
  private let now = Instant(seconds: 1_795_000_000)

  /// Degraded mode may have shown that the ping is missing, a moment before the store took it.
  @Test func popupForAMissingPingIsClosedThoughTheStoreOnlyAwaitsIt() async throws {
    let store = MemoryStore()
    let reminder = Reminder(
      id: ReminderID(rawValue: "r1"), owner: 1_000, title: "Backup",
      schedule: try Schedule(canonical: "daily at 02:00"), within: .minutes(5), createdAt: now - .days(2))
    let due = now - .seconds(10)
    let now = now
    let effects = try await store.write { transaction in
      try transaction.upsert(reminder, next: due)
      let record = try #require(try transaction.readableReminder(reminder.id))
      return try Pinging.give(
        Ping(at: now, kind: .succeeded, uid: 1_000), to: record, in: transaction, ReminderContext(zones: ZoneCatalog()),
        Uptime(runningSince: now - .days(1))
      ).effects
    }
    let withdrawn = effects.compactMap { effect in
      if case .withdraw(let id, _) = effect { id } else { nil }
    }
    #expect(withdrawn == [OccurrenceID(reminder: reminder.id, scheduledAt: due)])
    let told = effects.compactMap { effect in
      if case .event(let event) = effect { event.kind } else { nil }
    }
    #expect(told == [.pinged], "it was never reported as missing, so nothing is reported as done")
  }
}
