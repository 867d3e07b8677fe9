import ChimeCore
import ChimeRecords
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStorePostgres

/// Errors about unusable databases: each sentence states the problem and the remedy.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct OpeningTests {
  /// Returns the error with which a store is refused.
  private func refusal(_ connection: String, passwordFile: String? = nil, hurry: Bool = false) -> String {
    do throws(StoreFailure) {
      var place = try PostgresConfiguration(connection: connection, passwordFile: passwordFile)
      if hurry { (place.connectTimeout, place.lockTimeout) = (2_000, 200) }
      _ = try PostgresStore.open(place)
      return "it was opened"
    } catch {
      switch error {
      case .unavailable(let sentence): return sentence
      case .held(let by): return "held by \(by)"
      case .newerSchema(let found, let known): return "newer: \(found) over \(known)"
      default: return "\(error)"
      }
    }
  }

  @Test func missingDatabaseIsNamed() throws {
    let server = try PostgresServer.shared.get()
    let sentence = refusal(server.connection("nowhere"))
    #expect(sentence.contains("has no database nowhere") && sentence.contains("createdb"), "\(sentence)")
  }

  @Test func missingServerIsNamed() throws {
    let sentence = refusal("host=/nowhere dbname=chime")
    #expect(sentence.contains("/nowhere") && sentence.contains("check that it runs"), "\(sentence)")
  }

  /// 192.0.2.0/24 is for documentation (RFC 5737), and nothing listens there.
  @Test(.timeLimit(.minutes(1))) func silentHostTimesOutSoon() throws {
    let sentence = refusal("hostaddr=127.0.0.1,192.0.2.1 port=1 dbname=chime", hurry: true)
    #expect(sentence.contains("127.0.0.1"), "each host is named: \(sentence)")
  }

  @Test func secondHostIsUsedIfTheFirstIsMissing() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(
      try PostgresConfiguration(connection: "host=/nowhere,\(server.folder) dbname=\(database) user=chime"))
    try await store.write { try $0.setNote("a", "1") }
    await store.close()
  }

  // Passwords.

  @Test func passwordComesFromItsFileAndIsNeverPrinted() async throws {
    let server = try PostgresServer.shared.get()
    try server.sql("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'", on: "postgres")
    let database = try server.makeDatabase(owner: "guarded")
    let connection = server.connection(database, user: "guarded")
    #expect(refusal(connection).contains("needs the password of user guarded"))

    let file = server.folder + "-password"
    defer { try? FileManager.default.removeItem(atPath: file) }
    func keep(_ password: String, mode: Int = 0o600) throws {
      try? FileManager.default.removeItem(atPath: file)
      try #require(
        FileManager.default.createFile(
          atPath: file, contents: Data((password + "\n").utf8), attributes: [.posixPermissions: mode]))
    }
    #expect(refusal(connection, passwordFile: file).contains("cannot be read: \(file)"))
    try keep("close sesame")
    let wrong = refusal(connection, passwordFile: file)
    #expect(wrong.contains("rejects the password of user guarded") && wrong.contains(file), "\(wrong)")
    #expect(!wrong.contains("close sesame"))
    try keep("open sesame", mode: 0o644)
    #expect(refusal(connection, passwordFile: file).contains("chmod 600 \(file)"))
    try keep("open sesame")
    let place = try PostgresConfiguration(connection: connection, passwordFile: file)
    let store = try PostgresStore.open(place)
    #expect(!"\(place) \(place.summary)".contains("sesame"))
    try await store.write { try $0.setNote("a", "1") }
    await store.close()
  }

  @Test(arguments: ["dbname=chime password=sesame", "postgres://ann:sesame@db.example/chime"])
  func passwordInTheConnectionIsRefused(connection: String) throws {
    let sentence = refusal(connection)
    #expect(sentence.contains("passwordFile") && !sentence.contains("sesame"), "\(sentence)")
  }

  @Test func invalidConnectionStringIsExplained() {
    #expect(refusal("colour=blue").contains("connection of [store] cannot be read"))
  }

  // The layout.

  @Test func newerSchemaIsRefused() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    await (try PostgresStore.open(try server.place(database))).close()
    try server.sql("UPDATE chime.layout SET version = 99", on: database)
    #expect(refusal(server.connection(database)) == "newer: 99 over \(Schema.current)")
    #expect(try server.sql("SELECT version FROM chime.layout", on: database) == "99")
  }

  @Test func tablesAreMigrated() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let old = try PostgresStore.open(try server.place(database))
    try await old.write { try $0.setNote("old", "1") }
    await old.close()
    let invented = Migration(
      version: Schema.current + 1, script: "ALTER TABLE chime.note ADD COLUMN invented BIGINT NOT NULL DEFAULT 7")
    let failing = Migration(version: Schema.current + 2, script: "DROP TABLE chime.none_such")
    func upgraded(by steps: [Migration]) throws -> PostgresStore {
      var place = try server.place(database)
      place.migrations += steps
      return try PostgresStore.open(place)
    }
    #expect(throws: StoreFailure.self) { try upgraded(by: [invented, failing]) }
    #expect(try server.sql("SELECT version FROM chime.layout", on: database) == "\(Schema.current)")
    let store = try upgraded(by: [invented])
    #expect(try await store.read { try $0.note("old") } == "1")
    await store.close()
    #expect(try server.sql("SELECT invented FROM chime.note", on: database) == "7")
    #expect(refusal(server.connection(database)) == "newer: \(Schema.current + 1) over \(Schema.current)")
  }

  @Test func failedMigrationLeavesNothing() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    // A table of somebody else's is in the way.
    try server.sql("CREATE SCHEMA chime; CREATE TABLE chime.milestone (mine int)", on: database)
    #expect(refusal(server.connection(database)).contains("milestone"))
    #expect(
      try server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'chime'", on: database) == "1")
  }

  @Test func databaseOfAnotherOwnerNamesTheMissingRight() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    try server.sql("CREATE ROLE stranger LOGIN", on: "postgres")
    let sentence = refusal(server.connection(database, user: "stranger"))
    #expect(sentence.contains("OWNER TO"), "\(sentence)")
  }

  @Test func otherEncodingsAreRefused() throws {
    let server = try PostgresServer.shared.get()
    try server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0", on: "postgres")
    #expect(refusal(server.connection("latin")).contains("LATIN1"))
  }

  // Several daemons.

  @Test func severalDaemonsMayOpenTheDatabase() async throws {
    let server = try PostgresServer.shared.get()
    let place = try server.place(try server.makeDatabase())
    let first = try PostgresStore.open(place)
    let second = try PostgresStore.open(place)
    try await first.write { try $0.setNote("a", "1") }
    #expect(try await second.read { try $0.note("a") } == "1")
    await first.close()
    try await second.write { try $0.setNote("a", "2") }
    await second.close()
  }

  /// One of them creates the tables, and the others wait.
  @Test func concurrentStartsCreateTheTablesOnce() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let place = try server.place(database)
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 { group.addTask { await (try PostgresStore.open(place)).close() } }
      try await group.waitForAll()
    }
    #expect(try server.sql("SELECT version FROM chime.layout", on: database) == "\(Schema.current)")
  }

  @Test func tablesInUseAreNotMigrated() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let first = try PostgresStore.open(try server.place(database))
    // The layout before a migration that only the second program knows.
    try server.sql("UPDATE chime.layout SET version = \(Schema.current - 1)", on: database)
    let sentence = refusal(server.connection(database), hurry: true)
    #expect(
      sentence.hasPrefix("held by the chimed at") && sentence.contains("has to change the tables"), "\(sentence)")
    try await first.write { try $0.setNote("a", "1") }
    await first.close()
  }

  /// Earlier programs used the database alone, and would not notice other daemons' changes.
  @Test func exclusiveUserOfTheDatabaseIsAwaited() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let other = try server.place(database).connect()
    try other.script("SELECT pg_advisory_lock(\(Schema.daemonLock))")
    #expect(refusal(server.connection(database), hurry: true).hasPrefix("held by the chimed at"))
  }

  /// If the layout was upgraded while disconnected, an older program leaves the tables alone.
  @Test func runningDaemonRefusesAnUpgradedSchema() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(try server.place(database))
    try server.sql(
      """
      UPDATE chime.layout SET version = 99;
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """, on: database)
    await #expect(throws: StoreFailure.newerSchema(found: 99, known: Schema.current)) {
      try await store.write { try $0.setNote("a", "1") }
    }
    await #expect(throws: StoreFailure.newerSchema(found: 99, known: Schema.current)) {
      try await store.read { try $0.note("a") }
    }
    await store.close()
  }

  /// Commits are durable, whatever the database's default is.
  @Test func commitsAreDurable() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    try server.sql("ALTER DATABASE \(database) SET synchronous_commit = off", on: "postgres")
    let connection = try server.place(database).connect()
    #expect(try connection.script("SHOW synchronous_commit") == "on")
  }
}
