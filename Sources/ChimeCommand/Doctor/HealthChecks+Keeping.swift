import ChimeControl
import ChimeSchedule
import ChimeWords

// Checks of the configuration and the store.
extension HealthChecks {
  var configuration: [Finding] {
    guard let it = facts.examination?.configuration else { return unexamined(.configuration) }
    if let problem = it.problem {
      let sudo = facts.isSystem && facts.userID != 0 ? "sudo " : ""
      return [
        .bad(
          .configuration, Sentence(localizable("the configuration is invalid: %1"), told(problem)),
          .advice(
            Sentence(
              localizable("correct that line, then: %1"), "\(sudo)chimed\(facts.isSystem ? " --system" : "") --check"))
        )
      ]
    }
    if it.isInForce == false {
      return [
        .caution(
          .configuration, Sentence(localizable("%1 has changed and is not loaded yet"), it.path),
          .run("\(facts.systemctl) reload chimed"))
      ]
    }
    guard !it.files.isEmpty else {
      return [.good(.configuration, Sentence(localizable("all defaults: %1 does not exist"), it.path))]
    }
    return [.good(.configuration, Sentence(localizable("taken from %1"), it.files.joined(separator: ", ")))]
  }

  // MARK: The store

  var store: [Finding] {
    guard let it = facts.examination?.store else {
      guard let problem = facts.health?.storeProblem else { return unexamined(.store) }
      return [.bad(.store, Sentence("%1", told(problem)), .run("\(facts.chime) status"))]
    }
    if Self.isDatabase(it.path) { return database(it) }
    var found: [Finding] = []
    if let problem = it.problem {
      let isDamaged = problem.contains("damaged") || problem.contains("missing") || problem.contains("empty")
      if isDamaged {
        found.append(
          .bad(
            .store, Sentence("%1", told(problem)),
            facts.health == nil
              ? .advice(
                Sentence(localizable("start chimed: it sets the damaged file aside and restores the newest snapshot")))
              : restart))
      } else {
        found.append(.bad(.store, Sentence("%1", told(problem))))
      }
    } else if let problem = facts.health?.storeProblem {
      found.append(.bad(.store, Sentence("%1", told(problem)), .run("\(facts.chime) status")))
    }
    if let count = facts.health?.unrecorded, count > 0 {
      found.append(
        .bad(
          .store, Sentence(localizable("times that were shown but are not recorded yet: %1"), count),
          .advice(Sentence(localizable("leave chimed running, and make the store writable")))))
    }
    for path in it.leftovers.prefix(5) {
      found.append(
        .caution(
          .store, Sentence(localizable("chimed set a damaged file aside: %1"), path),
          .advice(Sentence(localizable("when you no longer need it: %1"), "rm \(ShellText.quoted(path))"))))
    }
    guard found.isEmpty else { return found }
    let size = bytes(it.bytes)
    if it.bytes == 0 { return [.good(.store, Sentence(localizable("none yet: %1"), it.path))] }
    guard it.isWhole else {
      return [
        .good(.store, Sentence(localizable("%1, %2: too large to check within a second"), it.path, size))
      ]
    }
    return [.good(.store, Sentence(localizable("%1, %2, sound"), it.path, size))]
  }

  /// Whether the store is on a server, which has disk and backups of its own.
  static func isDatabase(_ store: String) -> Bool { store.hasPrefix("postgres:") }

  private func database(_ it: DaemonInterface.StoreState) -> [Finding] {
    if let problem = it.problem ?? facts.health?.storeProblem { return [.bad(.store, Sentence("%1", told(problem)))] }
    let found = it.database.map(server) ?? []
    guard found.isEmpty else { return found }
    return [.good(.store, Sentence(localizable("%1, %2, intact"), it.path, bytes(it.bytes)))]
  }

  /// The free bytes below which the disk fills up within days, and within hours.
  private static let littleRoom = 256 << 20
  private static let noRoom = 32 << 20

  var room: [Finding] {
    guard let it = facts.examination?.store else { return unexamined(.room) }
    if Self.isDatabase(it.path) {
      return [.skipped(.room, Sentence(localizable("the database server uses its own disk")))]
    }
    guard let free = it.freeBytes else {
      return [.skipped(.room, Sentence(localizable("cannot check: %1 does not exist"), Files.folder(of: it.path)))]
    }
    let remedy = Remedy.run("du -xh --max-depth=1 \(ShellText.quoted(Files.folder(of: it.path))) | sort -h")
    let advice = Remedy.advice(
      Sentence(localizable("free some space on the file system of %1"), Files.folder(of: it.path)))
    if free < Self.noRoom {
      return [.bad(.room, Sentence(localizable("the disk is full: %1 are free"), bytes(free)), advice, remedy)]
    }
    if free < Self.littleRoom || free < 2 * it.bytes {
      return [
        .caution(.room, Sentence(localizable("little space is left: %1 are free"), bytes(free)), advice, remedy)
      ]
    }
    return [.good(.room, Sentence(localizable("%1 are free"), bytes(free)))]
  }

  var snapshots: [Finding] {
    guard let it = facts.examination?.store else { return unexamined(.snapshots) }
    if Self.isDatabase(it.path) {
      return [.skipped(.snapshots, Sentence(localizable("use the database's own backup, such as pg_dump")))]
    }
    let take = Remedy.run("\(facts.chime) snapshot")
    guard it.keptSnapshots > 0 else {
      return [
        .caution(
          .snapshots, Sentence(localizable("snapshots are off: if the store is damaged, chimed cannot start")),
          .write("snapshots = 3", into: facts.examination?.configuration.path ?? "chimed.toml"))
      ]
    }
    let every = (try? DurationText.parse(it.snapshotEvery)) ?? .days(1)
    guard let latest = it.latestSnapshot, let taken = try? RFC3339.parse(latest.takenAt.at) else {
      // A store of the first day has no snapshot yet.
      let isYoung = facts.health.flatMap { try? RFC3339.parse($0.startedAt.at) }.map { facts.now - $0 < every + every }
      guard it.bytes > 0, isYoung == false else {
        return [.good(.snapshots, Sentence(localizable("none yet; the daemon takes one on each day with changes")))]
      }
      return [.caution(.snapshots, Sentence(localizable("there is none")), take)]
    }
    let behind = it.changedAt.flatMap { try? RFC3339.parse($0.at) }.map { $0 - taken } ?? .zero
    if behind > .milliseconds(3 * every.rawValue) {
      return [
        .caution(
          .snapshots,
          Sentence(localizable("the newest is from %1, and much has changed since"), time(latest.takenAt)),
          take)
      ]
    }
    return [
      .good(.snapshots, Sentence(localizable("the newest is from %1"), time(latest.takenAt)))
    ]
  }

  var secrets: [Finding] {
    guard let it = facts.examination else { return unexamined(.secrets) }
    guard !it.openFiles.isEmpty else {
      return [.good(.secrets, Sentence(localizable("only you can read it")))]
    }
    let sudo = facts.isSystem && facts.userID != 0 ? "sudo " : ""
    return it.openFiles.prefix(10).map { file in
      .bad(.secrets, Sentence(localizable("%1: %2"), file.path, told(file.problem)), .run(sudo + file.remedy))
    }
  }
}

// Checks of a store on a database server.
extension HealthChecks {
  /// The age in seconds from which an open transaction counts as long, because it delays vacuum.
  private static let longTransaction = 300
  /// The clock difference in milliseconds from which a clock counts as wrong; synchronized clocks differ by a few.
  private static let wrongClock = 1_000
  /// The dead rows in the table of due reminders from which vacuum counts as late; a busy hour can leave as many briefly.
  private static let manyDeadRows = 100_000
  /// The occurrences outside monthly partitions that count as too many; dropped partitions leave fewer behind.
  private static let manyOutside = 1_000_000

  /// Checks of the server beyond that it answers.
  private func server(_ it: DaemonInterface.DatabaseState) -> [Finding] {
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
