import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeStorePostgres

/// What happens to changes when the connection to the server is lost.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct ConnectionLossTests {
  /// Ends all sessions except psql's own.
  private static let ending =
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"

  @Test func sessionLostBetweenChangesIsReplacedSilently() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(try server.place(database))
    try await store.write { try $0.setNote("a", "1") }
    #expect(try server.sql(Self.ending, on: database) == "3")
    try await store.write { try $0.setNote("b", "2") }
    #expect(try await store.read { try $0.note("a") } == "1")
    await store.close()
    #expect(try server.sql("SELECT count(*) FROM chime.note", on: database) == "2")
  }

  @Test func sessionLostDuringAChangeUndoesIt() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(try server.place(database))
    await #expect {
      try await store.write { transaction in
        try transaction.setNote("a", "1")
        try server.sql(Self.ending, on: database)
        try transaction.setNote("b", "2")
      }
    } throws: { error in
      guard case StoreFailure.unavailable(let sentence) = error else { return false }
      return sentence.contains(server.folder)
    }
    #expect(try await store.read { try $0.note("a") } == nil)
    try await store.write { try $0.setNote("c", "3") }
    #expect(try await store.read { try $0.note("c") } == "3")
    await store.close()
  }

  /// The reply to COMMIT never came: the store looks up afterwards whether it succeeded.
  @Test func commitWithoutAReplyIsLookedUp() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let place = try server.place(database)
    let session = Session(label: "test", place: place, isReadOnly: false)
    try session.queue.sync {
      let connection = try session.ready().connection
      let done = try connection.begin("BEGIN; SELECT pg_current_xact_id()::text")
      try connection.script("COMMIT")
      #expect(session.hasCommitted(try #require(done)) == true)
      let other = try session.ready().connection
      let undone = try other.begin("BEGIN; SELECT pg_current_xact_id()::text")
      // Still open: the new session ends the old one first, which rolls it back.
      #expect(session.hasCommitted(try #require(undone)) == false)
      session.drop()
    }
  }

  /// One session learns from the other that the server is back, so that readers do not get outdated data.
  @Test(.proof(.databases)) func sessionLearnsOfTheServersReturnFromTheOther() async throws {
    let server = try PostgresServer()
    var place = try server.place(server.makeDatabase())
    place.rest = 600_000
    let store = try PostgresStore.open(place)
    try server.kill()
    await #expect(throws: StoreFailure.self) { try await store.read { try $0.note("a") } }
    try server.start(within: 60)
    await #expect(throws: StoreFailure.self, "it is left alone") { try await store.read { try $0.note("a") } }
    try await store.write { try $0.setNote("a", "1") }
    #expect(try await store.read { try $0.note("a") } == "1")
    await store.close()
  }

  /// After a server was killed and restarted, every acknowledged change is there.
  @Test func killedServerLosesNoAcknowledgedChange() async throws {
    let server = try PostgresServer()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(try server.place(database))
    for number in 0..<20 { try await store.write { try $0.setNote("\(number)", "kept") } }
    try server.kill()
    for _ in 0..<3 {
      await #expect {
        try await store.write { try $0.setNote("lost", "1") }
      } throws: { error in
        guard case StoreFailure.unavailable(let sentence) = error else { return false }
        return sentence.contains("PostgreSQL") && sentence.contains("check that")
      }
    }
    await #expect(throws: StoreFailure.self) { try await store.read { try $0.note("1") } }
    try server.start()
    // A caller just refused must wait for half a second of real time, and nothing signals its end.
    var isBack = false
    for _ in 0..<600 where !isBack {
      isBack = (try? await store.write { try $0.setNote("back", "1") }) != nil
      if !isBack { try await Task.sleep(for: .milliseconds(100)) }
    }
    #expect(isBack)
    #expect(
      try server.sql("SELECT count(*) FILTER (WHERE value = 'kept'), count(*) FROM chime.note", on: database)
        == "20|21")
    await store.close()
  }

  /// After a deadlock with another transaction the body runs again, unnoticed by the caller.
  @Test func deadlockIsRetried() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    // However busy the machine is, only the session that detects the deadlock is canceled.
    var place = try server.place(database)
    (place.statementTimeout, place.idleTimeout) = (600_000, 600_000)
    let store = try PostgresStore.open(place)
    try await store.write { transaction in
      try transaction.setNote("a", "0")
      try transaction.setNote("b", "0")
    }
    let other = Other(try place.connect())
    try other.connection.script("SET deadlock_timeout = '600s'")
    try other.connection.script("BEGIN; UPDATE note SET value = 'other' WHERE name = 'b'")
    try await store.write { transaction in
      other.runs += 1
      try transaction.setNote("a", "ours")
      if other.runs == 1 {
        // The other session has b and waits for a. The last one to wait detects the deadlock, and checks only once, so
        // the other must already wait for this lock; sessions wait for other locks too, such as NOTIFY's.
        other.run("UPDATE note SET value = 'other' WHERE name = 'a'; COMMIT")
        let waits = """
          SELECT count(*) FROM pg_stat_activity
          WHERE pid = \(other.process) AND wait_event_type = 'Lock' AND wait_event = 'transactionid'
          """
        while try server.sql(waits, on: database) == "0" {}
      }
      try transaction.setNote("b", "ours")
    }
    #expect(await other.ended() == nil)
    // Twice, or more often if the second run meets the other again before that has woken.
    #expect(other.runs >= 2)
    #expect(try await store.read { "\(try $0.note("a") ?? "")\(try $0.note("b") ?? "")" } == "oursours")
    await store.close()
  }

  /// Another session, which waits for a lock on its own thread.
  ///
  /// `@unchecked Sendable`: used before the change, within it on the store's queue, and after `run` has ended.
  private final class Other: @unchecked Sendable {
    let connection: Connection
    let process: Int
    var runs = 0
    private var failure: (any Error)?
    private let group = DispatchGroup()

    init(_ connection: Connection) {
      self.connection = connection
      process = connection.process
    }

    func run(_ sql: String) {
      DispatchQueue.global().async(group: group) {
        do { try self.connection.script(sql) } catch { self.failure = error }
      }
    }

    func ended() async -> String? {
      await withCheckedContinuation { caller in group.notify(queue: .global()) { caller.resume() } }
      return failure.map { "\($0)" }
    }
  }

  /// A value that PostgreSQL cannot store fails only its own change.
  @Test func unstorableValueFailsOnlyItsOwnChange() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let store = try PostgresStore.open(try server.place(database))
    func failure(_ body: @escaping @Sendable (any StoreTransaction) throws -> Void) -> Task<StoreFailure?, Never> {
      Task {
        do {
          try await store.write(body)
          return nil
        } catch { return error as? StoreFailure }
      }
    }
    let bad = failure { try $0.setNote("bad", "a\0b") }
    let good = failure { try $0.setNote("good", "1") }
    // A body that continues after the error must fail too.
    let careless = failure { transaction in
      try? transaction.setNote("careless", "a\0b")
      try? transaction.setNote("careless", "1")
    }
    #expect(await bad.value != nil)
    #expect(await good.value == nil)
    #expect(await careless.value != nil)
    #expect(
      try await store.read { [try $0.note("good"), try $0.note("bad"), try $0.note("careless")] } == ["1", nil, nil])
    await store.close()
  }
}
