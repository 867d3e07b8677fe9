import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeStorePostgres

/// The monthly partitions of the history: created ahead, and dropped when they are over.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"), .serialized)
struct PartitionTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  private func open(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresStore {
    var place = try server.place(database)
    change(&place)
    return try PostgresStore.open(place)
  }

  @discardableResult private func sql(_ statement: String) throws -> String { try server.sql(statement, on: database) }

  private var months: String {
    get throws { try sql("SELECT coalesce(string_agg(month::text, ' ' ORDER BY month), '') FROM chime.months()") }
  }

  /// Returns the partitions of a table that have rows, by the suffix of their names, with their row counts.
  private func parts(_ table: String) throws -> String {
    try sql(
      """
      SELECT string_agg(p || ':' || n, ' ' ORDER BY p)
      FROM (
        SELECT substr(c.relname, length('\(table)_') + 1) p, count(*) n
        FROM chime.\(table) t JOIN pg_class c ON c.oid = t.tableoid GROUP BY 1) x
      """)
  }

  // Creation.

  @Test func partitionsAreCreatedAheadOnce() async throws {
    let stores = try await withThrowingTaskGroup { group in
      for _ in 0..<3 { group.addTask { try open() } }
      return try await group.reduce(into: [PostgresStore]()) { $0.append($1) }
    }
    let wanted = try sql(
      """
      SELECT string_agg((date_trunc('month', now() AT TIME ZONE 'UTC') + n * interval '1 month')::date::text, ' ')
      FROM generate_series(0, 2) n
      """)
    #expect(try months == wanted)
    let kept = try await withThrowingTaskGroup { group in
      for store in stores { group.addTask { try await store.maintainPartitions(nil) } }
      return try await group.reduce(into: [PruneResult]()) { $0.append($1) }
    }
    #expect(kept.allSatisfy { $0 == PruneResult(rest: nil) }, "\(kept)")
    #expect(try months == wanted)
    for store in stores { await store.close() }
  }

  @Test func rowsOfTheDefaultPartitionMoveIntoTheirMonth() async throws {
    let store = try open()
    try sql(
      """
      DO $$ DECLARE m date := (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')::date; BEGIN
        EXECUTE format('DROP TABLE chime.occurrence_%1$s, chime.attempt_%1$s', to_char(m, 'YYYY_MM'));
        INSERT INTO chime.occurrence (scheduled_at, reminder, owner, state, rounds, repeats, title)
          SELECT chime.month_start(m) + n, 1, 1, 3, 1, 0, 'here' FROM generate_series(0, 4) n;
        INSERT INTO chime.occurrence (scheduled_at, reminder, owner, state, rounds, repeats, title)
          VALUES (0, 1, 1, 3, 1, 0, 'old');
        INSERT INTO chime.attempt (delivery, position, started_at, took_ms, outcome, scheduled_at)
          VALUES (1, 1, 0, 0, 1, chime.month_start(m)), (2, 1, 0, 0, 1, 0);
      END $$
      """)
    #expect(try parts("occurrence") == "rest:6" && parts("attempt") == "rest:2")
    #expect(try PostgresStore.inspect(try server.place(database), within: 60_000).missingPartitions == 1)
    #expect(try await store.partitionCounts().months == 2)
    #expect(try await store.maintainPartitions(nil) == PruneResult(rest: nil))
    let next = try sql("SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 month', 'YYYY_MM')")
    #expect(try parts("occurrence") == "\(next):5 rest:1")
    #expect(try parts("attempt") == "\(next):1 rest:1")
    #expect(try PostgresStore.inspect(try server.place(database), within: 60_000).missingPartitions == 0)
    #expect(try await store.partitionCounts().months == 3)
    await store.close()
  }

  /// A failure to create months does not stop anything else.
  @Test func failureToCreateAPartitionStopsNothing() async throws {
    await (try open()).close()
    let names = try sql("SELECT string_agg('chime.occurrence_' || to_char(month, 'YYYY_MM'), ', ') FROM chime.months()")
    let attempts = names.replacingOccurrences(of: "occurrence", with: "attempt")
    try sql(
      """
      DROP TABLE \(names), \(attempts);
      CREATE VIEW chime.\(attempts.split(separator: ",")[0].dropFirst("chime.".count)) AS SELECT 1
      """)
    let store = try open()
    let past = PastTimes(seed: 1)
    try await past.fill(store)
    let kept = try await store.maintainPartitions(nil)
    #expect(kept.problems.count == 1 && "\(kept.problems)".contains("already exists"), "\(kept)")
    #expect(try parts("occurrence") == "rest:\(PastTimes.count)")
    await store.close()
  }

  /// A role that owns no tables cannot create months: another daemon does, or nobody.
  @Test func roleWithoutTheRightToCreateTablesFires() async throws {
    await (try open()).close()
    let names = try sql("SELECT string_agg('chime.occurrence_' || to_char(month, 'YYYY_MM'), ', ') FROM chime.months()")
    try sql(
      """
      DROP TABLE \(names), \(names.replacingOccurrences(of: "occurrence", with: "attempt"));
      CREATE ROLE worker_\(database) LOGIN;
      GRANT USAGE ON SCHEMA chime TO worker_\(database);
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA chime TO worker_\(database);
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA chime TO worker_\(database)
      """)
    let store = try PostgresStore.open(
      try PostgresConfiguration(connection: server.connection(database, user: "worker_\(database)")))
    let past = PastTimes(seed: 1)
    try await past.fill(store)
    let kept = try await store.maintainPartitions(nil)
    #expect("\(kept.problems)".contains("permission denied"), "\(kept)")
    #expect(try parts("occurrence") == "rest:\(PastTimes.count)")
    await store.close()
    // The owner's daemon creates them later.
    let owner = try open()
    #expect(try await owner.maintainPartitions(nil) == PruneResult(rest: nil))
    #expect(try await owner.partitionCounts().months == 3)
    await owner.close()
  }

  /// The random game, with its half hour spread over eleven partitions. Seeds 22, 24, 26, 31 and 32 end with hardly any time.
  @Test(arguments: (ProofTier.isProof ? [21, 23, 25, 27, 28, 29, 30, 33] : [21]) as [UInt64])
  func storesAgreeAcrossPartitions(
    seed: UInt64
  ) async throws {
    let store = try open()
    for part in 0..<10 {
      for table in ["occurrence", "attempt"] {
        let start = 1_774_828_800_000 + part * 200_000
        try sql(
          """
          CREATE TABLE chime.\(table)_part\(part) PARTITION OF chime.\(table)
            FOR VALUES FROM (\(start)) TO (\(start + 200_000))
          """)
      }
    }
    try await StoreComparison(seed: seed, steps: 500).run(store, MemoryStore())
    #expect(try parts("occurrence").split(separator: " ").count > 1, "more than one is in use at the end")
    await store.close()
  }

  // Dropping.

  /// Dropping months and pruning the remainder equals pruning each occurrence.
  @Test(arguments: 1...ProofTier.amount(quick: 1, proof: 12) as ClosedRange<UInt64>)
  func droppingPartitionsEqualsPruning(
    seed: UInt64
  ) async throws {
    let (store, memory, past) = (try open(), MemoryStore(), PastTimes(seed: seed))
    try past.makePartitions { try sql($0) }
    for each in [store, memory] as [any Store] { try await past.fill(each) }
    try await StoreComparison.compare(store, memory)
    for edge in past.edges {
      let kept = try await store.maintainPartitions(edge)
      #expect(kept.problems == [])
      try await PastTimes.prune(store, try #require(kept.rest))
      try await PastTimes.prune(memory, edge)
      try await StoreComparison.compare(store, memory)
      let gone = past.months.filter { $0 < (edge.end ?? .earliest) }.dropLast()
      for month in gone {
        let name =
          "SELECT to_regclass('chime.occurrence_' || to_char(chime.month_of(\(month.milliseconds)), 'YYYY_MM'))"
        #expect(try sql(name) == "", "\(edge)")
      }
      // No rows are left of removed occurrences.
      #expect(
        try sql(
          """
          SELECT (SELECT count(*) FROM chime.attempt WHERE delivery NOT IN (SELECT key FROM chime.delivery))
            + (SELECT count(*) FROM chime.staying)
          """) == "0")
    }
    // The remaining occurrences can be answered.
    for each in [store, memory] as [any Store] { try await past.answerAll(each) }
    try await StoreComparison.compare(store, memory)
    await store.close()
  }

  /// If too much of each month must stay, no month is dropped, and occurrences are pruned one by one.
  @Test func partitionThatMostlyStaysIsPruned() async throws {
    let (store, memory, past) = (
      try open { ($0.mostStaying, $0.wholePartitions) = (0, 1) }, MemoryStore(), PastTimes(seed: 8)
    )
    try past.makePartitions { try sql($0) }
    for each in [store, memory] as [any Store] { try await past.fill(each) }
    try sql("ANALYZE chime.occurrence")
    let (edge, before) = (HistoryEdge(oldest: past.months[5]), try months)
    #expect(try await store.maintainPartitions(edge) == PruneResult(rest: edge))
    #expect(try months == before)
    try await StoreComparison.compare(store, memory)
    for each in [store, memory] as [any Store] { try await PastTimes.prune(each, edge) }
    try await StoreComparison.compare(store, memory)
    #expect(try sql("SELECT count(*) FROM chime.attempt WHERE delivery NOT IN (SELECT key FROM chime.delivery)") == "0")
    await store.close()
  }

  /// Changes made while a month is examined are respected when it is dropped.
  @Test func changesDuringAnExaminationAreRespected() async throws {
    let (store, past) = (try open { $0.dropTurns = 1 }, PastTimes(seed: 9))
    try past.makePartitions { try sql($0) }
    try await past.fill(store)
    let edge = HistoryEdge(oldest: past.months[1], first: past.months[1])
    // A long reading transaction, so that the month is examined but not dropped.
    let reader = try server.place(database).connect()
    try reader.script("BEGIN; SELECT count(*)::text FROM chime.occurrence")
    let first = try await store.maintainPartitions(edge)
    #expect(first.months == 0 && first.problems.count == 1 && first.rest == edge, "\(first)")
    #expect("\(first.problems)".contains("lock"))
    let before = try await store.read {
      try $0.occurrences(OccurrenceFilter(before: past.months[1]), page: Page(limit: 1_000))
    }
    let closed = before.filter { edge.takes($0) && $0.state == .done }
    // One occurrence is set to done now, another is written unchanged.
    let (changed, same) = (closed[0], closed[1])
    try await store.write { transaction in
      var occurrence = changed
      occurrence.endedAt = past.now
      occurrence.state = .snoozed(until: past.now + .days(1))
      try transaction.update(occurrence, now: past.now)
      try transaction.update(same, now: past.now)
    }
    try reader.script("ROLLBACK")
    try sql(
      """
      SELECT chime.drop_month(chime.month_of(\(past.months[0].milliseconds)), \(past.months[1].milliseconds),
        \(past.months[1].milliseconds))
      """)
    let (one, other, due) = try await store.read {
      (try $0.occurrence(changed.id), try $0.occurrence(same.id), try $0.wakeups().nextDue)
    }
    #expect(one?.state == .snoozed(until: past.now + .days(1)) && other == nil && due != nil)
    #expect(try sql("SELECT count(*) FROM chime.staying") == "0")
    #expect(
      try sql(
        """
        SELECT count(*) FROM chime.delivery d
        WHERE NOT EXISTS (SELECT 1 FROM chime.occurrence o WHERE o.scheduled_at = d.scheduled_at AND o.reminder = d.reminder)
        """) == "0")
    await store.close()
  }

  /// Two daemons drop months and two fire reminders; nobody sees a failure, and everything is there at the end.
  @Test func firingContinuesWhilePartitionsAreDropped() async throws {
    let past = PastTimes(seed: 5)
    let first = try open()
    try past.makePartitions { try sql($0) }
    try await past.fill(first)
    let stores = [first, try open()]
    let edge = HistoryEdge(oldest: past.months[3], first: past.months[3])
    try await withThrowingTaskGroup { group in
      for store in stores {
        group.addTask {
          _ = try await store.maintainPartitions(edge)
          _ = try await store.maintainPartitions(edge)
        }
        group.addTask {
          for number in 0..<40 {
            try await past.fire(store, "new\(number)-\(ObjectIdentifier(store).hashValue)", at: past.now)
          }
        }
      }
      try await group.waitForAll()
    }
    let kept = try await stores[0].maintainPartitions(edge)
    #expect(kept.problems == [])
    #expect(
      try sql("SELECT count(*) FROM chime.months() WHERE month < chime.month_of(\(past.months[3].milliseconds))") == "0"
    )
    #expect(try sql("SELECT count(*) FROM chime.occurrence WHERE scheduled_at = \(past.now.milliseconds)") == "80")
    for store in stores { await store.close() }
  }

  /// A maintenance that directly follows another is not mistaken for another daemon's.
  @Test func maintenanceMayFollowAnotherDirectly() async throws {
    let store = try open()
    let edge = HistoryEdge(oldest: PastTimes(seed: 3).months[1])
    for _ in 0..<20 { #expect(try await store.maintainPartitions(edge).rest == edge) }
    await store.close()
  }

  /// A large month is kept until all of it may go by age; a limit by number applies at once.
  @Test func largePartitionIsKeptUntilAllOfItMayGo() async throws {
    let (store, past) = (try open { $0.wholePartitions = 2 }, PastTimes(seed: 3))
    try past.makePartitions { try sql($0) }
    try await past.fill(store)
    try sql("ANALYZE chime.occurrence")
    let (start, inside) = (past.months[1], past.months[1] + .days(10))
    #expect(try await store.maintainPartitions(HistoryEdge(first: inside)).rest == HistoryEdge(first: inside))
    let both = HistoryEdge(oldest: inside, first: inside - .days(1))
    #expect(try await store.maintainPartitions(both).rest == both)
    let aged = HistoryEdge(oldest: inside, first: start - .days(1))
    #expect(try await store.maintainPartitions(aged).rest == HistoryEdge(oldest: start, first: aged.first))
    await store.close()
    let exact = try open()
    #expect(try await exact.maintainPartitions(aged).rest == aged)
    await exact.close()
  }
}
