import ChimeControl
import ChimeWords

// Checks of a store on a database server.
extension HealthChecks {
  /// The age in seconds from which an open transaction counts as long, because it delays vacuum.
  static let longTransaction = 300
  /// The clock difference in milliseconds from which a clock counts as wrong; synchronized clocks differ by a few.
  static let wrongClock = 1_000
  /// The dead rows in the table of due reminders from which vacuum counts as late; a busy hour can leave as many briefly.
  static let manyDeadRows = 100_000
  /// The occurrences outside monthly partitions that count as too many; dropped partitions leave fewer behind.
  static let manyOutside = 1_000_000

  /// Checks of the server beyond that it answers.
  func server(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    replication(it) + clock(it) + tidiness(it) + months(it) + room(it)
  }

  private func replication(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    let waits = "ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()"
    if it.waitsForStandby {
      guard it.standbys == 0 || it.synchronousStandbys == 0 else { return [] }
      return [
        .bad(
          .store,
          Sentence(localizable("every change waits for a standby server, and none is connected")),
          .advice(Sentence(localizable("start the standby, and see its log"))),
          .advice(
            Sentence(localizable("to go on without one, in psql: %1"), "ALTER SYSTEM RESET synchronous_standby_names")))
      ]
    }
    guard it.standbys > 0 else {
      return [
        .caution(
          .store, Sentence(localizable("no standby server follows the database: if its disk fails, the data is lost")),
          .advice(Sentence(localizable("set up a standby (docs/fleet.md), or back the database up often (pg_dump)"))))
      ]
    }
    return [
      .caution(
        .store,
        Sentence(
          localizable(
            """
            a standby follows asynchronously: after a failover the last moments are lost, and reminders that fired \
            in them fire again
            """)), .advice(Sentence(localizable("to prevent that, in psql: %1"), waits)))
    ]
  }

  private func clock(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    // The round trip of the query is not a clock difference.
    let apart = abs(it.clockAheadMs) - it.roundTripMs / 2
    guard apart > Self.wrongClock else { return [] }
    let size = "\(apart / 1_000).\(apart % 1_000 / 100) s"
    let message =
      it.clockAheadMs > 0
      ? Sentence(localizable("the database's clock is ahead of this machine's by %1"), size)
      : Sentence(localizable("the database's clock is behind this machine's by %1"), size)
    return [
      .caution(.store, message, .advice(Sentence(localizable("synchronize both clocks: systemd-timesyncd, or chrony"))))
    ]
  }

  private func tidiness(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    var found: [Finding] = []
    if let seconds = it.oldestTransaction, seconds > Self.longTransaction {
      found.append(
        .caution(
          .store,
          Sentence(
            localizable("a transaction has been open for %1 minutes, and vacuum cannot clean up meanwhile (%2)"),
            seconds / 60, it.oldestHolder ?? "?"),
          .advice(
            Sentence(
              localizable("end that program, or in psql: %1"),
              "SELECT pg_terminate_backend(\(Self.process(it.oldestHolder) ?? "PID"))"))))
    }
    if !it.hasAutovacuum {
      found.append(
        .caution(
          .store, Sentence(localizable("autovacuum is off: the table of due times grows and becomes slow")),
          .advice(
            Sentence(
              localizable("in psql: %1"),
              "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf(); ALTER TABLE chime.due RESET (autovacuum_enabled)"
            ))))
    }
    if it.deadRows > Self.manyDeadRows, it.deadRows > 2 * it.liveRows {
      found.append(
        .caution(
          .store,
          Sentence(
            localizable("autovacuum is far behind: the table of due times has %1 dead rows and %2 live ones"),
            it.deadRows,
            it.liveRows), .advice(Sentence(localizable("in psql: %1"), "VACUUM (VERBOSE) chime.due"))))
    }
    return found
  }

  private func months(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    if let missing = it.missingMonths, missing > 0 {
      return [
        .caution(
          .store,
          Sentence(
            localizable(
              """
              the partition of the history for this month or the next is missing: %1 times are in no partition, and \
              will have to be deleted one by one
              """), it.timesOutside ?? 0),
          .advice(
            Sentence(
              localizable("find the cause in the journal; chimed's user has to own the tables, in psql: %1"),
              "\\d chime.*")))
      ]
    }
    guard let outside = it.timesOutside, outside > Self.manyOutside else { return [] }
    return [
      .caution(
        .store,
        Sentence(
          localizable(
            "%1 times of the history are in no monthly partition, and will have to be deleted one by one"), outside),
        .advice(
          Sentence(
            localizable("if you do not need times that old, shorten %1; then in psql: %2"), "keepFor",
            "VACUUM (VERBOSE) chime.occurrence_rest, chime.attempt_rest")))
    ]
  }

  /// Extracts the process id: `812` from `session 812 of ann, psql`.
  private static func process(_ holder: String?) -> String? {
    let words = holder?.split(separator: " ") ?? []
    return words.count > 1 && words[1].allSatisfy(\.isNumber) ? String(words[1]) : nil
  }

  private func room(_ it: DaemonInterface.DatabaseState) -> [Finding] {
    guard it.maxConnections > 0, it.connections * 10 >= it.maxConnections * 9 else { return [] }
    return [
      .caution(
        .store,
        Sentence(
          localizable("the server has almost no free connections: %1 of %2 are in use"), it.connections,
          it.maxConnections
        ),
        .advice(
          Sentence(
            localizable("end other programs, or in psql: %1, and restart PostgreSQL"),
            "ALTER SYSTEM SET max_connections = \(max(100, it.maxConnections * 2))")))
    ]
  }
}
