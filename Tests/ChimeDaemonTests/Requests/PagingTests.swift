import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Listings in pages, while what they list changes.
@Suite struct PagingTests {
  /// Adds reminders `r0`, `r1` …, which come in this order, and of which the last two have no time.
  private static func fill(_ daemon: TestDaemon) async throws {
    try await daemon.store.write { transaction in
      for index in 0..<8 {
        let reminder = Reminder(
          id: ReminderID(rawValue: "r\(index)"), owner: getuid(), title: "\(index)",
          schedule: try Schedule(canonical: "daily at 09:00"), createdAt: .earliest)
        try transaction.upsert(reminder, next: index < 6 ? Instant(seconds: 4_000_000_000 + Int64(index / 2)) : nil)
      }
    }
  }

  /// What goes, comes earlier or comes later between two pages makes no other reminder be left out or come twice. A filter
  /// by text sorts all reminders instead of following their due times.
  @Test(arguments: [false, true], [nil, "r"])
  func noReminderIsLeftOutWhileOthersGo(inMemory: Bool, text: String?) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      try await Self.fill(daemon)
      var (seen, cursor): ([String], String?) = ([], nil)
      repeat {
        let page = try daemon.call(
          RemindersInterface.List(filter: .init(text: text, all: true), limit: 1, cursor: cursor))
        seen += page.reminders.map(\.id)
        cursor = page.cursor
        for id in page.reminders.map(\.id) where id != "r3" && id != "r7" {
          _ = try daemon.call(RemindersInterface.Remove(id: id))
        }
      } while cursor != nil && seen.count < 20
      #expect(seen == (0..<8).map { "r\($0)" })
      #expect(try Set(daemon.titles()) == ["3", "7"])
    }
  }

  @Test func historyAndMessagesFollowTheirCursors() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try await Self.fill(daemon)
      try await daemon.store.write { transaction in
        for index in 0..<6 {
          let id = OccurrenceID(
            reminder: ReminderID(rawValue: "r\(index)"), scheduledAt: Instant(seconds: 4_000_000_000 + Int64(index / 2))
          )
          guard let reminder = try transaction.reminder(id.reminder)?.reminder else { continue }
          let due = DueReminder(
            reminder: reminder, scheduledAt: id.scheduledAt, dueAt: id.scheduledAt, isRegular: true, occurrence: nil)
          let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "team"))
          let delivery = Delivery(
            id: DeliveryID(number: UInt128(index + 1)), occurrence: id, queue: queue, round: 1,
            state: .dead(at: due.dueAt),
            attempts: 0, createdAt: due.dueAt)
          try transaction.record([
            FiringResult(
              due: due,
              occurrences: [Occurrence(id: id, title: "t", owner: getuid(), state: .fired, firedAt: due.dueAt)],
              deliveries: [delivery], next: nil, advances: true, skipNext: 0)
          ])
        }
      }
      var (times, cursor): ([String], String?) = ([], nil)
      repeat {
        let page = try daemon.call(OccurrencesInterface.List(limit: 2, cursor: cursor))
        times += page.occurrences.map(\.id)
        cursor = page.cursor
      } while cursor != nil && times.count < 20
      #expect(times == [5, 4, 3, 2, 1, 0].map { "r\($0)@\(4_000_000_000 + $0 / 2)" })
      var messages: [String] = []
      repeat {
        let page = try daemon.call(DeliveriesInterface.List(limit: 4, cursor: cursor))
        messages += page.deliveries.map(\.id)
        cursor = page.cursor
      } while cursor != nil && messages.count < 20
      #expect(messages == (1...6).reversed().map { DeliveryID(number: UInt128($0)).rawValue })
    }
  }

  @Test(arguments: ["", "7", "zzz", "1 ", " r1", "x r1", "r1@", "msg_01"]) func foreignCursorIsRefused(
    _ cursor: String
  ) async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      func isRefused(_ call: () throws -> Void) -> Bool {
        do { try call() } catch { return "\(error)".contains("cursor of the previous answer") }
        return false
      }
      #expect(isRefused { _ = try daemon.call(RemindersInterface.List(cursor: cursor)) })
      #expect(isRefused { _ = try daemon.call(ExpectationsInterface.List(cursor: cursor)) })
      #expect(isRefused { _ = try daemon.call(OccurrencesInterface.List(cursor: cursor)) })
      #expect(isRefused { _ = try daemon.call(DeliveriesInterface.List(cursor: cursor)) })
    }
  }
}
