import ChimeCore
import ChimeRecords
import ChimeSchedule
import Testing

@testable import ChimeStoreSQLite

/// Reading a reminder's latest occurrences costs as much as they do, not as all earlier ones.
@Suite struct HistoryPageTests {
  @Test func pageOfALongHistoryReadsNoOtherRows() async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await SQLiteStore.open(path: path).close()
    try Raw.run(
      path,
      """
      INSERT INTO reminder_name VALUES (1, 'long');
      WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
      INSERT INTO occurrence (scheduled_at, reminder, owner, state, rounds, title)
        SELECT n, 1, 1000, 1 + 2 * (n % 2), 1, 'Title' FROM n;
      """)
    let store = try SQLiteStore.open(path: path)
    let steps = try await store.read { transaction in
      let transaction = try #require(transaction as? Transaction)
      return try TitleLookupTests.steps(transaction) {
        let page = try transaction.occurrences(
          OccurrenceFilter(reminder: ReminderID(rawValue: "long")), page: Page(limit: 10))
        #expect(page.map(\.id.scheduledAt.milliseconds) == Array((4_991...5_000).reversed()))
      }
    }
    // Ten rows of each index are sorted; reading all would take a thousand steps.
    print("ten of 5,000 times: \(steps) hundred steps")
    #expect(steps < 40)
    await store.close()
  }
}
