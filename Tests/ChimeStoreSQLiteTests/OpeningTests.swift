import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStoreSQLite

@Suite struct OpeningTests {
  @Test func aNewStoreIsMadeAndOpenedAgain() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/chime.db"
    let store = try SQLiteStore.open(path: path)
    let reminder = Reminder(
      id: ReminderID(rawValue: "r7k2"), owner: 7, title: "Water",
      schedule: try Schedule(canonical: "every day at 9:00"),
      createdAt: Instant(seconds: 5))
    try await store.write { try $0.upsert(reminder, next: Instant(seconds: 100)) }
    let due = try await store.write { store in
      let due = try store.claimDue(now: Instant(seconds: 100), limit: 10)
      try store.record(
        due.map { due in
          let id = OccurrenceID(reminder: due.reminder.id, scheduledAt: due.scheduledAt)
          return Firing(
            due: due,
            occurrences: [
              Occurrence(id: id, title: "Water", owner: 7, state: .fired, firedAt: due.dueAt, rounds: 1)
            ],
            deliveries: [
              Delivery(
                id: DeliveryID(rawValue: "m1"), occurrence: id, lane: Lane(owner: 7, channel: .desktop), round: 1,
                createdAt: due.dueAt)
            ], next: Instant(seconds: 200), advances: true, skipNext: 0)
        })
      return due
    }
    #expect(due.count == 1)
    await store.close()
    let again = try SQLiteStore.open(path: path)
    let horizon = try await again.read { try $0.horizon() }
    #expect(horizon.nextDue == Instant(seconds: 200))
    #expect(horizon.outbox == [Lane(owner: 7, channel: .desktop): Instant(seconds: 100)])
    let records = try await again.read { try $0.reminders(ReminderFilter(text: "wAt"), page: Page()) }
    #expect(records.map(\.reminder) == [reminder])
    #expect(records.first?.open == 1)
    let claims = try await again.write {
      try $0.claimDeliveries(
        lane: Lane(owner: 7, channel: .desktop), now: Instant(seconds: 100), visibleAgain: Instant(seconds: 130),
        limit: 3)
    }
    #expect(claims.count == 1)
    await again.close()
  }
}
