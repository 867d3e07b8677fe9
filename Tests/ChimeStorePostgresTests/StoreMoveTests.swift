import ChimeCore
import ChimeRecords
import ChimeStoreSQLite
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeStorePostgres

/// Moving a store from a file to a database and back: its content, the continuation of its counters, and refusals.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct StoreMoveTests {
  /// A folder deleted at the end of the test.
  private final class Folder {
    let path: String

    init() throws {
      path = try RunFolder.makeFolder("move")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var store: String { path + "/chime.db" }
    var files: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }
  }

  private func move(_ source: any StoreSource, _ target: any StoreTarget) throws {
    try source.move(into: target) { _ in }
  }

  private func sentence(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "it was done"
    } catch StoreFailure.unavailable(let sentence) {
      return sentence
    } catch {
      return "\(error)"
    }
  }

  /// After a round trip the game continues identically in all three stores: assigned keys are not reused. Games other than
  /// seed 11 may leave no attempt besides the last of each delivery, which is in the delivery's row.
  @Test(arguments: 11...ProofTier.amount(quick: 11, proof: 20) as ClosedRange<UInt64>)
  func movedStoreContinuesIdentically(
    seed: UInt64
  ) async throws {
    let (server, folder, back) = (try PostgresServer.shared.get(), try Folder(), try Folder())
    let place = try server.place(try server.makeDatabase())
    let first = try SQLiteStore.open(path: folder.store)
    let beginning = StoreComparison(seed: seed, steps: 400)
    for step in 0..<400 { _ = try? await beginning.move(step, on: first) }
    await first.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.store))

    try move(try SQLiteSource(path: folder.store), try PostgresTarget(place))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == before, "the source is left as it is")
    #expect(
      try place.connect().script(
        """
        SELECT count(*) FILTER (WHERE t.scheduled_at <> d.scheduled_at) || ' of ' || (count(*) > 0)
          || ', months ' || (SELECT count(*) FROM chime.occurrence_2026_03 HAVING count(*) > 0)
        FROM chime.attempt t JOIN chime.delivery d ON d.key = t.delivery
        """)?.hasPrefix(seed == 11 ? "0 of true, months " : "0 of ") == true,
      "attempts are with their times, and times in their months")
    try move(try PostgresSource(place), try SQLiteTarget(path: back.store))
    #expect(back.files.subtracting(["chime.db", "chime.db.lock"]) == [], "\(back.files)")

    let stores: [any Store] = [
      try SQLiteStore.open(path: folder.store), try PostgresStore.open(place), try SQLiteStore.open(path: back.store),
    ]
    try await StoreComparison.compare(stores[0], stores[1])
    try await StoreComparison.compare(stores[0], stores[2])
    let next = StoreComparison(seed: seed + 1_000, steps: 150)
    for step in 0..<150 {
      var said: [String] = []
      for store in stores {
        do { said.append(try await next.move(step, on: store)) } catch { said.append("\(error)") }
      }
      #expect(Set(said).count == 1, "seed \(seed), step \(step): \(said)")
    }
    try await StoreComparison.compare(stores[0], stores[1])
    try await StoreComparison.compare(stores[0], stores[2])
    for store in stores { await store.close() }
  }

  /// Every table of both engines is moved, or listed as not moved.
  @Test func everyTableAndColumnIsMovedOrListed() async throws {
    let (server, folder) = (try PostgresServer.shared.get(), try Folder())
    let place = try server.place(try server.makeDatabase())
    await (try SQLiteStore.open(path: folder.store)).close()
    await (try PostgresStore.open(place)).close()
    let connection = try place.connect()
    let tables = try connection.all(
      """
      SELECT relname::text FROM pg_class
      WHERE relnamespace = 'chime'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      """, row: { $0.text(0) })
    #expect(Set(tables).subtracting(MovedTables.own) == Set(MovedTables.all))
    let (file, database) = (try SQLiteSource(path: folder.store), try PostgresSource(place))
    #expect(try file.counts().map(\.table) == MovedTables.all)
    for table in MovedTables.all {
      let (one, other) = (
        try #require(try file.tables.shape(of: table)), try #require(try database.tables.shape(of: table))
      )
      let known = { (column: TableShape.Column) in !MovedTables.passing.contains("\(table).\(column.name)") }
      #expect(Set(one.columns.filter(known)) == Set(other.columns.filter(known)), "\(table)")
    }
  }

  /// A store in use, on either side, is left alone.
  @Test func storeInUseIsRefused() async throws {
    let (server, folder) = (try PostgresServer.shared.get(), try Folder())
    var place = try server.place(try server.makeDatabase())
    place.lockTimeout = 200
    let database = try PostgresStore.open(place)
    let file = try SQLiteStore.open(path: folder.store)
    #expect(throws: StoreFailure.held(by: "pid \(getpid())")) { try SQLiteSource(path: folder.store) }
    #expect(throws: StoreFailure.held(by: "pid \(getpid())")) { try SQLiteTarget(path: folder.store) }
    #expect(sentence { _ = try PostgresTarget(place) }.contains("held(by: \"the chimed at "))
    #expect(sentence { _ = try PostgresSource(place) }.contains("held(by: \"the chimed at "))
    await file.close()
    await database.close()
    // Conversely, a daemon cannot open a store while it is moved.
    let source = try SQLiteSource(path: folder.store)
    #expect(throws: StoreFailure.held(by: "pid \(getpid())")) { try SQLiteStore.open(path: folder.store) }
    withExtendedLifetime(source) {}
  }

  /// A store that a daemon created but nobody used counts as empty; one with a reminder does not.
  @Test func nonEmptyTargetIsRefused() async throws {
    let (server, folder, other) = (try PostgresServer.shared.get(), try Folder(), try Folder())
    let database = try server.makeDatabase()
    let place = try server.place(database)
    let file = try SQLiteStore.open(path: folder.store)
    try await file.write { try $0.setNote("from", "file") }
    await file.close()
    let begun = try PostgresStore.open(place)
    try await begun.write { try $0.setNote("from", "database") }
    await begun.close()
    try move(try SQLiteSource(path: folder.store), try PostgresTarget(place))
    let moved = try PostgresStore.open(place)
    #expect(try await moved.read { try $0.note("from") } == "file")
    let game = StoreComparison(seed: 3, steps: 20)
    for step in 0..<20 { _ = try? await game.move(step, on: moved) }
    await moved.close()

    let full = sentence { _ = try PostgresTarget(place) }
    #expect(full.contains("is not empty") && full.contains("drop its schema"), "\(full)")
    #expect(try server.sql("SELECT value FROM chime.note WHERE name = 'from'", on: database) == "file")
    try move(try PostgresSource(place), try SQLiteTarget(path: other.store))
    let there = sentence { _ = try SQLiteTarget(path: other.store) }
    #expect(there.contains("is not empty") && there.contains("move it away"), "\(there)")
    #expect(sentence { _ = try SQLiteSource(path: other.path + "/none.db") }.contains("there is no store"))
    let empty = try server.place(try server.makeDatabase())
    #expect(sentence { _ = try PostgresSource(empty) }.contains("there is no store in the database"))
  }

  /// An aborted move leaves nothing: no table in an empty database, no file in an empty folder.
  @Test func abortedMoveLeavesNothing() async throws {
    struct Aborted: Error {}
    let (server, folder, other) = (try PostgresServer.shared.get(), try Folder(), try Folder())
    let database = try server.makeDatabase()
    let place = try server.place(database)
    let store = try SQLiteStore.open(path: folder.store)
    let game = StoreComparison(seed: 5, steps: 100)
    for step in 0..<100 { _ = try? await game.move(step, on: store) }
    await store.close()
    let source = try SQLiteSource(path: folder.store)
    for table in ["reminder_name", "occurrence", "experience"] {
      #expect(throws: Aborted.self) { try move(FailingSource(source, at: table, Aborted()), try PostgresTarget(place)) }
      #expect(try server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'chime'", on: database) == "0")
      #expect(throws: Aborted.self) {
        try move(FailingSource(source, at: table, Aborted()), try SQLiteTarget(path: other.store))
      }
      #expect(other.files == ["chime.db.lock"], "\(other.files)")
    }
    // A target that returns other content than was written is detected.
    let forgetful = LossyTarget(try PostgresTarget(place))
    #expect(sentence { try move(source, forgetful) }.contains("does not give back what was written to"))
  }

  /// A source that fails in the middle.
  private final class FailingSource: StoreSource, RawTables {
    private let (inner, table, error): (any StoreSource, String, any Error)
    var name: String { inner.name }
    var tables: any RawTables { self }

    init(_ inner: any StoreSource, at table: String, _ error: any Error) {
      (self.inner, self.table, self.error) = (inner, table, error)
    }

    func shape(of table: String) throws -> TableShape? { try inner.tables.shape(of: table) }
    func count(_ table: String) throws -> Int { try inner.tables.count(table) }
    func lastNumbers() throws -> [String: Int64] { try inner.tables.lastNumbers() }

    func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws {
      if shape.table == table { throw error }
      try inner.tables.read(shape, take)
    }
  }

  /// A target that loses one row.
  private final class LossyTarget: StoreTarget, RawTables {
    private let inner: any StoreTarget
    var name: String { inner.name }
    var tables: any RawTables { self }

    init(_ inner: any StoreTarget) { self.inner = inner }

    func shape(of table: String) throws -> TableShape? { try inner.tables.shape(of: table) }
    func count(_ table: String) throws -> Int { try inner.tables.count(table) }
    func lastNumbers() throws -> [String: Int64] { try inner.tables.lastNumbers() }
    func write(_ shape: TableShape, _ feed: (([RawCell]) throws -> Void) throws -> Void) throws {
      try inner.write(shape, feed)
    }

    func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws {
      var isFirst = true
      try inner.tables.read(shape) { row in
        if !isFirst { try take(row) }
        isFirst = false
      }
    }

    func setLastNumbers(_ numbers: [String: Int64]) throws { try inner.setLastNumbers(numbers) }
    func commit() throws { try inner.commit() }
  }
}
