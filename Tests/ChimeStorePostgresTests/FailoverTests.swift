import ChimeCore
import Foundation
import Testing

@testable import ChimeStorePostgres

/// Two servers: the second follows the first and replaces it.
@Suite(.serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct FailoverTests {
  /// A list of hosts may begin with the standby: it is read-only, so the other one is used.
  @Test func writableHostOfSeveralIsUsed() async throws {
    let primary = try PostgresServer()
    let database = try primary.makeDatabase()
    let standby = try PostgresServer(following: primary)
    let hosts = "host=\(standby.folder),\(primary.folder) dbname=\(database) user=chime"
    let store = try PostgresStore.open(try PostgresConfiguration(connection: hosts))
    try await store.write { try $0.setNote("a", "1") }
    await store.close()
    #expect(try primary.sql("SELECT value FROM chime.note", on: database) == "1")

    // If only the standby is listed, the error says what it is.
    let place = try PostgresConfiguration(connection: standby.connection(database))
    do throws(StoreFailure) {
      _ = try PostgresStore.open(place)
      Issue.record("a standby was opened")
    } catch {
      guard case .unavailable(let sentence) = error else { throw error }
      #expect(sentence.contains("read-only") && sentence.contains("accepts changes"), "\(sentence)")
    }
  }

  /// The primary's machine is lost and its standby promoted: every acknowledged change is there, and the store
  /// continues without being reopened.
  @Test(.proof(.databases), .timeLimit(.minutes(5))) func lossOfThePrimaryLosesNoAcknowledgedChange() async throws {
    let primary = try PostgresServer()
    let database = try primary.makeDatabase()
    let standby = try PostgresServer(following: primary)
    try primary.waitForStandby()
    let store = try PostgresStore.open(
      try PostgresConfiguration(connection: "host=\(primary.folder),\(standby.folder) dbname=\(database) user=chime"))
    let writer = Task {
      var acknowledged: [Int] = []
      var number = 0
      while !Task.isCancelled {
        number += 1
        let note = "\(number)"
        if (try? await store.write { try $0.setNote(note, "kept") }) != nil {
          acknowledged.append(number)
        } else {
          // Without a server, a refused caller would ask a thousand times within the half second of backoff.
          try? await Task.sleep(for: .milliseconds(20))
        }
      }
      return acknowledged
    }
    while (try? primary.sql("SELECT count(*) >= 100 FROM chime.note", on: database)) != "t" {}
    try primary.lose()
    try standby.promote()
    let promoted = ContinuousClock.now
    while (try? await store.write { try $0.setNote("after", "kept") }) == nil {
      try await Task.sleep(for: .milliseconds(20))
    }
    print("a store took changes again \(ContinuousClock.now - promoted) after the promotion")
    writer.cancel()
    let acknowledged = await writer.value
    await store.close()
    let found = try standby.sql("SELECT name FROM chime.note", on: database).split(separator: "\n").map(String.init)
    let missing = Set(acknowledged.map { "\($0)" }).subtracting(found)
    #expect(missing == [], "acknowledged and gone: \(missing)")
    #expect(acknowledged.count >= 100)
  }

  // Timeouts.

  @Test func stalledStatementAndTransactionAreEnded() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    var place = try server.place(database)
    place.statementTimeout = 100
    let connection = try place.connect()
    #expect {
      try connection.script("SELECT pg_sleep(60)")
    } throws: {
      guard case StoreFailure.unavailable(let sentence) = $0 else { return false }
      return sentence.contains("cancelled a statement")
    }
    // Longer than a busy machine may pause between two statements that must succeed.
    (place.statementTimeout, place.idleTimeout) = (30_000, 3_000)
    let store = try PostgresStore.open(place)
    await #expect {
      try await store.write { transaction in
        try transaction.setNote("a", "1")
        // Wait until the server has ended it, as psql sees it.
        let ours = "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND state LIKE 'idle in%'"
        while try server.sql(ours, on: "postgres") != "0" {}
        try transaction.setNote("b", "2")
      }
    } throws: {
      guard case StoreFailure.unavailable = $0 else { return false }
      return true
    }
    try await store.write { try $0.setNote("c", "3") }
    await store.close()
    #expect(try server.sql("SELECT name FROM chime.note", on: database) == "c")
  }

  /// A host that accepts connections but never answers costs only its timeout, and the next one is tried.
  @Test func silentHostIsSkippedAfterItsTimeout() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let silent = try SilentHost()
    var place = try PostgresConfiguration(
      connection: "host=\(silent.folder),\(server.folder) dbname=\(database) user=chime")
    place.connectTimeout = 2_000
    let store = try PostgresStore.open(place)
    try await store.write { try $0.setNote("a", "1") }
    await store.close()
    #expect(silent.isListening)
  }

  /// Listens where PostgreSQL would, and does nothing else.
  private final class SilentHost {
    let folder: String
    private let descriptor: Int32
    var isListening: Bool { descriptor >= 0 }

    init() throws {
      folder = try RunFolder.makeFolder("silent")
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder)/.s.PGSQL.5432".utf8) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
      }
      guard isBound, listen(descriptor, 8) == 0 else { throw PostgresServer.Problem("listen: \(errno)") }
    }

    deinit {
      close(descriptor)
      try? FileManager.default.removeItem(atPath: folder)
    }
  }
}
