import ChimeControl
import Testing

@testable import ChimeCommand

/// The doctor's findings about a store on a server.
@Suite struct DoctorDatabaseTests {
  /// Returns the change that gives a healthy store on a server, modified by `change`.
  static func server(
    _ change: @escaping @Sendable (inout DaemonInterface.DatabaseState) -> Void
  ) -> @Sendable (inout DoctorFacts) -> Void {
    { facts in
      var database = DaemonInterface.DatabaseState(
        version: 150_003, standbys: 1, synchronousStandbys: 1, waitsForStandby: true, clockSkewMs: -900,
        roundTripMs: 4, oldestTransactionSeconds: 2, oldestTransactionOwner: "session 812 of chime, chimed",
        hasAutovacuum: true,
        deadRows: 90_000, liveRows: 10, connections: 12, maxConnections: 97)
      change(&database)
      facts.diagnostics?.store.path = "postgres: host=db1,db2 dbname=chime"
      facts.diagnostics?.store.database = database
    }
  }

  static let breaks: [DoctorTests.Break] = [
    DoctorTests.Break(.store, .ok, "postgres: host=db1,db2 dbname=chime", "", server { _ in }),
    DoctorTests.Break(
      .store, .error, "none is connected", "start the standby, and see its log",
      server { ($0.standbys, $0.synchronousStandbys) = (0, 0) }),
    DoctorTests.Break(
      .store, .error, "none is connected", "start the standby, and see its log",
      server { $0.synchronousStandbys = 0 }),
    // Without the permission to see the standbys' roles, the doctor does not guess.
    DoctorTests.Break(.store, .ok, "intact", "", server { $0.synchronousStandbys = nil }),
    DoctorTests.Break(
      .store, .warning, "no standby server follows the database",
      "set up a standby (docs/fleet.md), or back the database up often (pg_dump)",
      server { ($0.standbys, $0.synchronousStandbys, $0.waitsForStandby) = (0, 0, false) }),
    DoctorTests.Break(
      .store, .warning, "follows asynchronously",
      "to prevent that, in psql: ALTER SYSTEM SET "
        + "synchronous_standby_names = '*'; SELECT pg_reload_conf()",
      server { ($0.synchronousStandbys, $0.waitsForStandby) = (0, false) }),
    DoctorTests.Break(
      .store, .warning, "clock is ahead of this machine's by 2.4 s",
      "synchronize both clocks: systemd-timesyncd, or chrony",
      server { ($0.clockSkewMs, $0.roundTripMs) = (2_500, 200) }),
    DoctorTests.Break(
      .store, .warning, "clock is behind this machine's by 3.0 s",
      "synchronize both clocks: systemd-timesyncd, or chrony", server { $0.clockSkewMs = -3_010 }),
    // A slow answer says little about a clock.
    DoctorTests.Break(.store, .ok, "intact", "", server { ($0.clockSkewMs, $0.roundTripMs) = (1_500, 1_400) }),
    DoctorTests.Break(
      .store, .warning, "a transaction has been open for 61 minutes",
      "end that program, or in psql: SELECT pg_terminate_backend(812)", server { $0.oldestTransactionSeconds = 3_660 }),
    DoctorTests.Break(
      .store, .warning, "autovacuum is off",
      "in psql: ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf(); ALTER TABLE chime.due RESET "
        + "(autovacuum_enabled)", server { $0.hasAutovacuum = false }),
    DoctorTests.Break(
      .store, .warning, "the table of due times has 300000 dead rows and 100000 live ones",
      "in psql: VACUUM (VERBOSE) chime.due",
      server { ($0.deadRows, $0.liveRows) = (300_000, 100_000) }),
    DoctorTests.Break(.store, .ok, "intact", "", server { ($0.deadRows, $0.liveRows) = (300_000, 1_000_000) }),
    DoctorTests.Break(
      .store, .warning, "for this month or the next is missing: 7 times are in no partition",
      "find the cause in the journal; chimed's user has to own the tables, in psql: \\d chime.*",
      server { ($0.missingPartitions, $0.unpartitionedRows) = (1, 7) }),
    DoctorTests.Break(
      .store, .warning, "1000001 times of the history are in no monthly partition",
      "if you do not need times that old, shorten retention; then in psql: VACUUM (VERBOSE) chime.occurrence_rest, "
        + "chime.attempt_rest", server { ($0.missingPartitions, $0.unpartitionedRows) = (0, 1_000_001) }),
    DoctorTests.Break(
      .store, .ok, "intact", "", server { ($0.missingPartitions, $0.unpartitionedRows) = (0, 1_000_000) }),
    DoctorTests.Break(
      .store, .warning, "almost no free connections: 90 of 97 are in use",
      "end other programs, or in psql: ALTER SYSTEM SET max_connections = 194, and restart PostgreSQL",
      server { $0.connections = 90 }),
  ]

  @Test(arguments: breaks.indices) func eachFaultOfTheServerIsFoundWithItsRemedy(_ index: Int) throws {
    let broken = Self.breaks[index]
    var facts = DoctorTests.healthy()
    broken.change(&facts)
    let findings = HealthChecks(facts).findings(of: .store)
    #expect(findings.count == 1, "\(findings.map(\.message.english))")
    let found = try #require(findings.first)
    #expect(found.state == broken.state && found.message.english.contains(broken.says), "\(found.message.english)")
    let texts = found.remedies.map { DoctorTests.text($0) }
    #expect(texts.first ?? "" == broken.helps, "\(texts)")
  }

  /// Several findings are all reported.
  @Test func allFindingsAreReported() {
    var facts = DoctorTests.healthy()
    Self.server {
      ($0.hasAutovacuum, $0.connections, $0.clockSkewMs) = (false, 97, 60_000)
    }(&facts)
    #expect(HealthChecks(facts).findings(of: .store).count == 3)
  }
}
