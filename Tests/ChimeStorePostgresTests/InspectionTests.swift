import ChimeCore
import Foundation
import Testing

@testable import ChimeStorePostgres

/// The facts that the doctor gets from servers in various states.
@Suite(
  .proof(.databases), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct InspectionTests {
  @Test func inspectionReportsTheStateOfTheServer() async throws {
    let server = try PostgresServer()
    let database = try server.makeDatabase()
    let place = try server.place(database)
    await (try PostgresStore.open(place)).close()
    let found = try PostgresStore.inspect(place, within: 60_000)
    #expect(found.version >= 150_000 && found.bytes > 1_000_000)
    #expect(found.standbys == 0 && found.synchronousStandbys == 0 && !found.waitsForStandby)
    // One machine, one clock.
    #expect(abs(found.clockAhead) <= found.roundTrip + 1)
    #expect(found.hasAutovacuum && found.maxConnections == 197 && (1...10).contains(found.connections))
    #expect(found.oldestTransaction == nil)

    let idler = try place.connect()
    try idler.script("SET application_name = 'idler'; BEGIN; SELECT 1")
    let held = try #require(try PostgresStore.inspect(place, within: 60_000).oldestTransaction)
    #expect(held.holder == "session \(idler.process) of chime, idler" && held.seconds >= 0)
    try idler.script("ROLLBACK")

    try server.sql("ALTER TABLE chime.due SET (autovacuum_enabled = false)", on: database)
    #expect(try !PostgresStore.inspect(place, within: 60_000).hasAutovacuum)
    try server.sql(
      """
      INSERT INTO chime.reminder_name (key, id) OVERRIDING SYSTEM VALUE VALUES (1, 'a');
      INSERT INTO chime.reminder VALUES (1, 1, 0, 0, 0, '', '', '', NULL, '{}');
      INSERT INTO chime.due (reminder, snooze_of, next_at) SELECT 1, n, 0 FROM generate_series(1, 1000) n;
      """, on: database)
    try server.sql("DELETE FROM chime.due WHERE snooze_of > 100", on: database)
    try await eventually { try PostgresStore.inspect(place, within: 60_000).deadRows == 900 }
    #expect(try PostgresStore.inspect(place, within: 60_000).liveRows == 100)
    try server.sql("ALTER TABLE chime.due RESET (autovacuum_enabled)", on: database)
    try server.sql("ALTER SYSTEM SET autovacuum = off", on: database)
    try server.sql("SELECT pg_reload_conf()", on: database)
    try await eventually { try !PostgresStore.inspect(place, within: 60_000).hasAutovacuum }
  }

  /// An ordinary role sees what it needs.
  @Test func ordinaryRoleSeesWhatItNeeds() async throws {
    let server = try PostgresServer()
    try server.sql("CREATE ROLE plain LOGIN", on: "postgres")
    let database = try server.makeDatabase(owner: "plain")
    let place = try PostgresConfiguration(connection: server.connection(database, user: "plain"))
    await (try PostgresStore.open(place)).close()
    let standby = try PostgresServer(following: server)
    try server.waitForStandby()
    let blind = try PostgresStore.inspect(place, within: 60_000)
    #expect(blind.standbys == 1 && blind.waitsForStandby && blind.synchronousStandbys == nil)
    try server.sql("GRANT pg_monitor TO plain", on: "postgres")
    #expect(try PostgresStore.inspect(place, within: 60_000).synchronousStandbys == 1)

    try standby.kill()
    try await eventually { try PostgresStore.inspect(place, within: 60_000).standbys == 0 }
    let alone = try PostgresStore.inspect(place, within: 60_000)
    #expect(alone.synchronousStandbys == 0 && alone.waitsForStandby)
    try server.sql("ALTER SYSTEM RESET synchronous_standby_names", on: "postgres")
    try server.sql("SELECT pg_reload_conf()", on: "postgres")
    try standby.start()
    try await eventually {
      let found = try PostgresStore.inspect(place, within: 60_000)
      return found.standbys == 1 && found.synchronousStandbys == 0 && !found.waitsForStandby
    }
  }

  /// Waits, because a server updates its statistics with a delay.
  private func eventually(_ condition: () throws -> Bool) async throws {
    for _ in 0..<1_200 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("it did not come about within a minute")
  }
}
