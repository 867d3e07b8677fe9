import ChimeCore
import ChimeRecords
import ChimeSchedule
import Testing

@testable import ChimeStoreSQLite

/// Finding the reminders that depend on another costs as much as there are, and nothing if there are none.
@Suite struct ChainLookupTests {
  @Test func remindersWithoutFollowersCostNothing() async throws {
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    @Sendable func reminder(_ index: Int, _ when: String) throws -> Reminder {
      Reminder(
        id: ReminderID(rawValue: "r\(10_000 + index)"), owner: 1_000, title: "title \(index)",
        schedule: try Schedule(canonical: when), createdAt: .earliest)
    }
    try await store.write { transaction in
      for index in 0..<5_000 {
        try transaction.upsert(reminder(index, "daily at 09:00"), next: Instant(seconds: 4_000_000_000))
      }
      for index in 5_000..<5_100 { try transaction.upsert(reminder(index, "after done of r10007"), next: nil) }
    }
    let (found, steps, plans) = try await store.read { transaction in
      let transaction = try #require(transaction as? Transaction)
      var found = 0
      let steps = try TitleLookupTests.steps(transaction) {
        for index in 0..<50 where index != 7 {
          let id = ReminderID(rawValue: "r\(10_000 + index)")
          found += try transaction.reminderIDs(.following(id, owner: 1_000), after: nil, limit: 10).count
        }
      }
      let plans = try transaction.connection.all(
        """
        EXPLAIN QUERY PLAN SELECT a.id FROM reminder r CROSS JOIN reminder_name a ON a.key = r.key
        WHERE r.key > 0 AND r.follows = 'r10007' AND +r.owner = 1000 ORDER BY r.key LIMIT 10
        """
      ) { $0.text(3) }
      return (found, steps, plans)
    }
    #expect(found == 0)
    #expect(steps < 50, "about a hundred steps of SQLite's for each, at most")
    #expect(plans.contains { $0.contains("INDEX reminder_follows") }, "\(plans)")
    await store.close()
  }
}
