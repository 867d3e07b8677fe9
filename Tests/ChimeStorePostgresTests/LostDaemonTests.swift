import ChimeCore
import ChimeSchedule
import Foundation
import Synchronization
import Testing

@testable import ChimeStorePostgres

/// What happens to the sessions of a lost daemon.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct LostDaemonTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
  }

  /// Adds a daemon whose lease ended `unheardFor` milliseconds ago.
  private func lostNode(unheardFor: Int = 0) throws -> Int64 {
    let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    let id = try server.sql(
      """
      INSERT INTO chime.node (name, process, version, started_at, seen_at, expires_at)
      VALUES ('elsewhere', 4711, '1', 0, \(now) - \(unheardFor + 6_000), \(now) - \(unheardFor)) RETURNING id
      """, on: database)
    return try #require(Int64(id))
  }

  /// Opens a session of that daemon, as the store does.
  private func session(_ node: Int64) throws -> Session {
    let leases = LeaseState()
    leases.change { $0.node = node }
    // During this test only the other daemon may end it.
    var place = try server.place(database)
    (place.statementTimeout, place.idleTimeout, place.claimTimeout) = (600_000, 600_000, 600_000)
    return Session(label: "lost", place: place, isReadOnly: false, leases: leases)
  }

  /// Returns the number of its sessions on the server.
  private func sessions(_ node: Int64) throws -> String {
    try server.sql(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'chimed \(node), process %'
      """, on: database)
  }

  private func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try await !holds() {
      guard ContinuousClock.now < end else {
        Issue.record("not within two minutes: \(what)")
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits until a daemon has checked the others that many more times.
  private func beats(_ count: Int, of store: PostgresStore) async throws {
    let node = try #require(store.membership.leases.current.node)
    for _ in 0..<count {
      let seen = try server.sql("SELECT seen_at FROM chime.node WHERE id = \(node)", on: database)
      try await eventually("a beat") {
        try server.sql("SELECT seen_at FROM chime.node WHERE id = \(node)", on: database) != seen
      }
    }
  }

  private func events(of store: PostgresStore) -> @Sendable () -> [FleetEvent] {
    let heard = EventRecorder()
    store.listen { event in heard.add(event) }
    return { heard.events.withLock { $0 } }
  }

  private final class EventRecorder: Sendable {
    let events = Mutex<[FleetEvent]>([])
    func add(_ event: FleetEvent) { events.withLock { $0.append(event) } }
  }

  @Test func sessionsAreNamedAfterTheirDaemon() async throws {
    let store = try PostgresStore.open(try server.place(database))
    let node = try #require(store.membership.leases.current.node)
    try await store.write { try $0.setNote("a", "1") }
    _ = try await store.read { try $0.note("a") }
    // The writing, the reading and the heartbeat session.
    #expect(try sessions(node) == "3")
    await store.close()
  }

  /// The server sends more than the socket holds to a stopped daemon. The server's process waits for it while holding locks,
  /// and no timeout of the server applies: a statement is not canceled while sending, and the transaction is not idle.
  @Test(.timeLimit(.minutes(5))) func blockedSessionOfALostDaemonIsEnded() async throws {
    let store = try PostgresStore.open(try server.place(database))
    let events = events(of: store)
    try await store.write { try $0.setNote("wanted", "0") }
    let lost = try lostNode(unheardFor: -3_600_000)
    let session = try session(lost)
    let continues = DispatchSemaphore(value: 0)
    async let isLost = withCheckedContinuation { caller in
      session.queue.async {
        guard let connection = try? session.ready().connection else { return caller.resume(returning: false) }
        do {
          _ = try connection.begin("BEGIN; SELECT value FROM note WHERE name = 'wanted' FOR UPDATE")
          let rows = try connection.queued("SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
          try connection.send([rows]) { continues.wait() }
        } catch {}
        caller.resume(returning: connection.isLost)
      }
    }
    try await eventually("the server waits for the daemon") {
      try server.sql(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
          AND application_name LIKE 'chimed \(lost),%' AND wait_event = 'ClientWrite'
        """, on: database) == "1"
    }
    // A daemon with heartbeats may be as slow as it likes.
    try await beats(1, of: store)
    #expect(try sessions(lost) == "1")
    // Its lease ends.
    try server.sql(
      "UPDATE chime.node SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = \(lost)",
      on: database)
    try await store.write { try $0.setNote("wanted", "1") }
    try await eventually("it is reported") {
      events().contains(.endedSessions(1, ofProcess: 4_711, on: "elsewhere"))
    }
    // Resumed, the daemon finds its transaction rolled back, and reconnects.
    continues.signal()
    #expect(await isLost)
    try session.queue.sync {
      let connection = try session.ready().connection
      #expect(try connection.script("SELECT value FROM note WHERE name = 'wanted'") == "1")
      session.drop()
    }
    await store.close()
  }

  /// A daemon that is renewing its lease is left alone.
  @Test func returningDaemonKeepsItsSessions() async throws {
    await (try PostgresStore.open(try server.place(database))).close()
    let node = try lostNode(unheardFor: -3_600_000)
    let session = try session(node)
    try session.queue.sync { _ = try session.ready() }
    try server.sql(
      "UPDATE chime.node SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = \(node)",
      on: database)
    // Its heartbeat is in flight while another daemon checks.
    let (word, other) = (try server.place(database).connect(), try server.place(database).connect())
    try word.script("BEGIN; UPDATE node SET expires_at = expires_at + 3600000 WHERE id = \(node)")
    #expect(try OrphanSessionReaper.end(other).isEmpty)
    try word.script("COMMIT")
    #expect(try OrphanSessionReaper.end(other).isEmpty)
    #expect(try sessions(node) == "1")
    session.queue.sync { session.drop() }
  }

  /// Sessions opened after the daemon was lost are kept for the time of a lease: its heartbeat may be about to arrive.
  @Test func newSessionsAreKeptForALease() async throws {
    await (try PostgresStore.open(try server.place(database))).close()
    let node = try lostNode(unheardFor: 1)
    let session = try session(node)
    try session.queue.sync { _ = try session.ready() }
    let other = try server.place(database).connect()
    #expect(try OrphanSessionReaper.end(other).isEmpty)
    #expect(try OrphanSessionReaper.end(other, after: 3_600_000, lease: 0).isEmpty)
    #expect(
      try OrphanSessionReaper.end(other, lease: 0) == [.endedSessions(1, ofProcess: 4_711, on: "elsewhere")])
    try await eventually("it is over") { try sessions(node) == "0" }
    #expect(try OrphanSessionReaper.end(other, lease: 0).isEmpty)
    session.queue.sync { session.drop() }
  }

  /// If the role may not end the session, that is reported once, and the daemon gets its shards nevertheless.
  @Test func sessionThatMayNotBeEndedStays() async throws {
    try server.sql(
      "CREATE ROLE \(database); GRANT ALL ON DATABASE \(database) TO \(database); GRANT pg_monitor TO \(database)",
      on: database)
    // It connected as a superuser, and has changed its role since.
    let store = try PostgresStore.open(
      try PostgresConfiguration(connection: server.connection(database) + " options='-c role=\(database)'"))
    let events = events(of: store)
    let lost = try lostNode()
    let session = try session(lost)
    try session.queue.sync { _ = try session.ready() }
    try server.sql(
      "UPDATE chime.node SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = \(lost)",
      on: database)
    try await eventually("it is reported") {
      events().contains { if case .sessionsStay = $0 { true } else { false } }
    }
    try await beats(2, of: store)
    #expect(events().count { if case .sessionsStay = $0 { true } else { false } } == 1, "once")
    #expect(try sessions(lost) == "1")
    #expect(store.holdsQueues)
    session.queue.sync { session.drop() }
    await store.close()
  }

  /// Sessions that belong to no daemon of this database are left alone.
  @Test func foreignSessionsAreLeftAlone() async throws {
    let store = try PostgresStore.open(try server.place(database))
    let lost = try lostNode()
    let other = try server.makeDatabase()
    try server.sql("CREATE ROLE stranger\(database) LOGIN SUPERUSER", on: database)
    let connections = [
      try PostgresConfiguration(connection: server.connection(database)).connect(),
      try PostgresConfiguration(connection: server.connection(other)).connect(),
      try PostgresConfiguration(connection: server.connection(database, user: "stranger\(database)")).connect(),
    ]
    let names = ["mychimed \(lost), process 1", "chimed \(lost), process 1 on a", "chimed \(lost), process 1 on a"]
    for (connection, name) in zip(connections, names) {
      try connection.script("SET application_name = '\(name)'")
    }
    // All of them are older than the loss of the daemon.
    try server.sql(
      "UPDATE chime.node SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE id = \(lost)",
      on: database)
    try await beats(2, of: store)
    for connection in connections { #expect(try connection.script("SELECT 1") == "1") }
    await store.close()
  }
}
