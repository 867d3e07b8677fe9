import ChimeControl
import ChimeSchedule
import ChimeWords

// Checks of the configuration and the store.
extension HealthChecks {
  func configuration(_ found: inout CheckFindings) {
    guard let it = examined(\.configuration, &found) else { return }
    if let problem = it.problem {
      let check = "\(sudo)chimed\(facts.isSystem ? " --system" : "") --check"
      found.error(
        "the configuration is invalid: \(.serverMessage(problem))", .advice("correct that line, then: \(check)"))
    } else if it.isLoaded == false {
      found.warning("\(it.path) has changed and is not loaded yet", .run("\(facts.systemctl) reload chimed"))
    } else if it.files.isEmpty {
      found.ok("all defaults: \(it.path) does not exist")
    } else {
      found.ok("taken from \(it.files.joined(separator: ", "))")
    }
  }

  // MARK: The store

  func store(_ found: inout CheckFindings) {
    guard let it = facts.diagnostics?.store else {
      if let problem = facts.health?.storeProblem {
        found.error("\(.serverMessage(problem))", .run("\(facts.chime) status"))
      } else {
        _ = examined(\.store, &found)
      }
      return
    }
    if Self.isDatabase(it.path) { return database(it, &found) }
    if let problem = it.problem {
      if problem.contains("damaged") || problem.contains("missing") || problem.contains("empty") {
        found.error(
          "\(.serverMessage(problem))",
          facts.health == nil
            ? .advice("start chimed: it sets the damaged file aside and restores the newest snapshot") : restart)
      } else {
        found.error("\(.serverMessage(problem))")
      }
    } else if let problem = facts.health?.storeProblem {
      found.error("\(.serverMessage(problem))", .run("\(facts.chime) status"))
    }
    if let count = facts.health?.unrecorded, count > 0 {
      found.error(
        "times that were shown but are not recorded yet: \(count)",
        .advice("leave chimed running, and make the store writable"))
    }
    for path in it.quarantinedFiles.prefix(5) {
      found.warning(
        "chimed set a damaged file aside: \(path)",
        .advice("when you no longer need it: \("rm \(ShellText.quoted(path))")"))
    }
    guard found.isEmpty else { return }
    if it.bytes == 0 {
      found.ok("none yet: \(it.path)")
    } else if it.isComplete {
      found.ok("\(it.path), \(.bytes(it.bytes)), sound")
    } else {
      found.ok("\(it.path), \(.bytes(it.bytes)): too large to check within a second")
    }
  }

  /// Whether the store is on a server, which has disk and backups of its own.
  static func isDatabase(_ store: String) -> Bool { store.hasPrefix("postgres:") }

  private func database(_ it: DaemonInterface.StoreState, _ found: inout CheckFindings) {
    if let problem = it.problem ?? facts.health?.storeProblem { return found.error("\(.serverMessage(problem))") }
    if let server = it.database {
      replication(server, &found)
      clock(server, &found)
      tidiness(server, &found)
      months(server, &found)
      connections(server, &found)
    }
    if found.isEmpty { found.ok("\(it.path), \(.bytes(it.bytes)), intact") }
  }

  /// The free bytes below which the disk fills up within days, and within hours.
  private static let littleRoom = 256 << 20
  private static let noRoom = 32 << 20

  func diskSpace(_ found: inout CheckFindings) {
    guard let it = examined(\.store, &found) else { return }
    if Self.isDatabase(it.path) { return found.skipped("the database server uses its own disk") }
    let folder = Files.folder(of: it.path)
    guard let free = it.freeBytes else { return found.skipped("cannot check: \(folder) does not exist") }
    let remedy = Remedy.run("du -xh --max-depth=1 \(ShellText.quoted(folder)) | sort -h")
    let advice = Remedy.advice("free some space on the file system of \(folder)")
    if free < Self.noRoom {
      found.error("the disk is full: \(.bytes(free)) are free", advice, remedy)
    } else if free < Self.littleRoom || free < 2 * it.bytes {
      found.warning("little space is left: \(.bytes(free)) are free", advice, remedy)
    } else {
      found.ok("\(.bytes(free)) are free")
    }
  }

  func snapshots(_ found: inout CheckFindings) {
    guard let it = examined(\.store, &found) else { return }
    if Self.isDatabase(it.path) { return found.skipped("use the database's own backup, such as pg_dump") }
    guard it.maxSnapshots > 0 else {
      return found.warning(
        "snapshots are off: if the store is damaged, chimed cannot start",
        .write("snapshots = 3", into: configurationFile))
    }
    let take = Remedy.run("\(facts.chime) snapshot")
    let every = (try? DurationText.parse(it.snapshotEvery)) ?? .days(1)
    guard let latest = it.latestSnapshot, let taken = try? RFC3339.parse(latest.takenAt.at) else {
      // A store of the first day has no snapshot yet.
      let isYoung = facts.health.flatMap { try? RFC3339.parse($0.startedAt.at) }.map { facts.now - $0 < every + every }
      guard it.bytes > 0, isYoung == false else {
        return found.ok("none yet; the daemon takes one on each day with changes")
      }
      return found.warning("there is none", take)
    }
    let behind = it.changedAt.flatMap { try? RFC3339.parse($0.at) }.map { $0 - taken } ?? .zero
    if behind > .milliseconds(3 * every.rawValue) {
      found.warning("the newest is from \(.time(latest.takenAt)), and much has changed since", take)
    } else {
      found.ok("the newest is from \(.time(latest.takenAt))")
    }
  }

  func secrets(_ found: inout CheckFindings) {
    guard let files = examined(\.exposedFiles, &found) else { return }
    guard !files.isEmpty else { return found.ok("only you can read it") }
    for file in files.prefix(10) {
      found.error("\(file.path): \(.serverMessage(file.problem))", .run(sudo + file.remedy))
    }
  }
}

// Checks of a store on a database server, beyond that it answers.
extension HealthChecks {
  /// The age in seconds from which an open transaction counts as long, because it delays vacuum.
  private static let longTransaction = 300
  /// The clock difference in milliseconds from which a clock counts as wrong; synchronized clocks differ by a few.
  private static let wrongClock = 1_000
  /// The dead rows in the table of due reminders from which vacuum counts as late; a busy hour can leave as many briefly.
  private static let manyDeadRows = 100_000
  /// The occurrences outside monthly partitions that count as too many; dropped partitions leave fewer behind.
  private static let manyOutside = 1_000_000

  private func replication(_ it: DaemonInterface.DatabaseState, _ found: inout CheckFindings) {
    if it.waitsForStandby {
      guard it.standbys == 0 || it.synchronousStandbys == 0 else { return }
      found.error(
        "every change waits for a standby server, and none is connected",
        .advice("start the standby, and see its log"),
        .advice("to go on without one, in psql: \("ALTER SYSTEM RESET synchronous_standby_names")"))
    } else if it.standbys == 0 {
      found.warning(
        "no standby server follows the database: if its disk fails, the data is lost",
        .advice("set up a standby (docs/fleet.md), or back the database up often (pg_dump)"))
    } else {
      let waits = "ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()"
      found.warning(
        """
        a standby follows asynchronously: after a failover the last moments are lost, and reminders that fired \
        in them fire again
        """, .advice("to prevent that, in psql: \(waits)"))
    }
  }

  private func clock(_ it: DaemonInterface.DatabaseState, _ found: inout CheckFindings) {
    // The round trip of the query is not a clock difference.
    let apart = abs(it.clockSkewMs) - it.roundTripMs / 2
    guard apart > Self.wrongClock else { return }
    let size = "\(apart / 1_000).\(apart % 1_000 / 100) s"
    found.warning(
      it.clockSkewMs > 0
        ? "the database's clock is ahead of this machine's by \(size)"
        : "the database's clock is behind this machine's by \(size)",
      .advice("synchronize both clocks: systemd-timesyncd, or chrony"))
  }

  private func tidiness(_ it: DaemonInterface.DatabaseState, _ found: inout CheckFindings) {
    func inPSQL(_ statements: String) -> Remedy { .advice("in psql: \(statements)") }
    if let seconds = it.oldestTransactionSeconds, seconds > Self.longTransaction {
      let holder = it.oldestTransactionOwner ?? "?"
      let end = "SELECT pg_terminate_backend(\(Self.process(it.oldestTransactionOwner) ?? "PID"))"
      found.warning(
        "a transaction has been open for \(seconds / 60) minutes, and vacuum cannot clean up meanwhile (\(holder))",
        .advice("end that program, or in psql: \(end)"))
    }
    if !it.hasAutovacuum {
      found.warning(
        "autovacuum is off: the table of due times grows and becomes slow",
        inPSQL(
          "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf(); ALTER TABLE chime.due RESET (autovacuum_enabled)"
        ))
    }
    if it.deadRows > Self.manyDeadRows, it.deadRows > 2 * it.liveRows {
      found.warning(
        "autovacuum is far behind: the table of due times has \(it.deadRows) dead rows and \(it.liveRows) live ones",
        inPSQL("VACUUM (VERBOSE) chime.due"))
    }
  }

  private func months(_ it: DaemonInterface.DatabaseState, _ found: inout CheckFindings) {
    let outside = it.unpartitionedRows ?? 0
    if let missing = it.missingPartitions, missing > 0 {
      found.warning(
        """
        the partition of the history for this month or the next is missing: \(outside) times are in no partition, and \
        will have to be deleted one by one
        """,
        .advice("find the cause in the journal; chimed's user has to own the tables, in psql: \("\\d chime.*")"))
    } else if outside > Self.manyOutside {
      let vacuum = "VACUUM (VERBOSE) chime.occurrence_rest, chime.attempt_rest"
      found.warning(
        "\(outside) times of the history are in no monthly partition, and will have to be deleted one by one",
        .advice("if you do not need times that old, shorten \("retention"); then in psql: \(vacuum)"))
    }
  }

  /// Extracts the process id: `812` from `session 812 of ann, psql`.
  private static func process(_ holder: String?) -> String? {
    let words = holder?.split(separator: " ") ?? []
    return words.count > 1 && words[1].allSatisfy(\.isNumber) ? String(words[1]) : nil
  }

  private func connections(_ it: DaemonInterface.DatabaseState, _ found: inout CheckFindings) {
    guard it.maxConnections > 0, it.connections * 10 >= it.maxConnections * 9 else { return }
    let raise = "ALTER SYSTEM SET max_connections = \(max(100, it.maxConnections * 2))"
    found.warning(
      "the server has almost no free connections: \(it.connections) of \(it.maxConnections) are in use",
      .advice("end other programs, or in psql: \(raise), and restart PostgreSQL"))
  }
}
