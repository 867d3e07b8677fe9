import CSQLite
import ChimeCore
import ChimeRecords
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStoreSQLite

/// Finding reminders by title costs as much as there are matches, not as the owner has reminders.
@Suite struct TitleLookupTests {
  /// The number of SQLite's instructions, in hundreds (sqlite.org/c3ref/progress_handler.html).
  private final class Steps {
    var count = 0
  }

  static func steps(_ transaction: Transaction, _ body: () throws -> Void) rethrows -> Int {
    let steps = Steps()
    let context = Unmanaged.passUnretained(steps).toOpaque()
    let count: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
      guard let context else { return 0 }
      Unmanaged<Steps>.fromOpaque(context).takeUnretainedValue().count += 1
      return 0
    }
    sqlite3_progress_handler(transaction.connection.handle, 100, count, context)
    defer { sqlite3_progress_handler(transaction.connection.handle, 0, nil, nil) }
    try body()
    return withExtendedLifetime(steps) { steps.count }
  }

  /// An import looks up all titles: with 100,000 reminders that took 52 seconds.
  @Test func titleIsFoundByItsIndex() async throws {
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await store.write { transaction in
      for index in 0..<5_000 {
        try transaction.upsert(
          Reminder(
            id: ReminderID(rawValue: "r\(10_000 + index)"), owner: 1_000, title: "title \(index)",
            schedule: try Schedule(canonical: "daily at 09:00"), createdAt: .earliest),
          next: Instant(seconds: 4_000_000_000))
      }
    }
    let (found, steps) = try await store.read { transaction in
      let transaction = try #require(transaction as? Transaction)
      var found = 0
      let steps = try Self.steps(transaction) {
        found = try transaction.reminders(
          ReminderFilter(owner: 1_000, titles: (0..<50).map { "title \($0)" }), page: Page(limit: 10_000)
        ).count
      }
      return (found, steps)
    }
    #expect(found == 50)
    // About two for each; a full scan would take thousands for each.
    print("fifty titles among 5,000: \(steps) hundred steps")
    #expect(steps < 50 * 20)
    await store.close()
  }
}
