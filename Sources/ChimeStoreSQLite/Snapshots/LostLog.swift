import CSQLite
import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc
import Synchronization

/// A LostLog recovers from a log that another program truncated, overwrote or removed while the store was open.
///
/// The log may hold acknowledged changes. The writing connection may still have all of them in memory.
struct LostLog: Sendable {
  let opening: Opening
  /// The description of what happened to the log.
  let fault: String
  /// The time of the first change in the log, or earlier.
  let since: Instant
  /// The path for the old files.
  let place: String?
  /// Whether a complete copy of the store exists beside it.
  private(set) var isRescued = false

  /// Copies the store from memory, if possible. `keepsLog`: the log is unchanged, but was moved or removed.
  init(_ opening: Opening, _ fault: String, since: Instant, keepsLog: Bool, writer: Connection) {
    self.opening = opening
    self.fault = fault
    self.since = since
    place = opening.files.asidePlace
    do {
      if !keepsLog { try clearLog() }
      try copy(from: writer)
      isRescued = true
    } catch {
      opening.progress("the content of the log could not be recovered from memory: \(error)")
    }
  }

  /// Saves the present content of the log and truncates it. A page that only the log had then fails to read instead of
  /// being wrong.
  private func clearLog() throws {
    let log = opening.files.path + "-wal"
    if let place, SQLiteFiles.size(log) ?? 0 > 0 { try SQLiteFiles.copy(log, to: place + "-wal") }
    guard truncate(log, 0) == 0 || errno == ENOENT else {
      throw StoreFailure.unavailable("\(log) cannot be emptied (\(errorText(errno)))")
    }
  }

  /// Copies the database as the connection sees it, and checks the copy.
  private func copy(from writer: Connection) throws {
    let path = opening.files.restoringPath
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw StoreFailure.unavailable("\(path) cannot be created (\(errorText(errno)))") }
    defer { Glibc.close(file) }
    do {
      let target = try Connection(path: path, busyTimeout: 0)
      try target.script("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
      guard let backup = sqlite3_backup_init(target.handle, "main", writer.handle, "main") else {
        throw target.failure(sqlite3_extended_errcode(target.handle))
      }
      let code = sqlite3_backup_step(backup, -1)
      let end = sqlite3_backup_finish(backup)
      guard code == SQLITE_DONE, end == SQLITE_OK else { throw target.failure(code == SQLITE_DONE ? end : code) }
      try target.script("PRAGMA journal_mode = DELETE")
      if let fault = try Opening.fault(of: target, .thorough) {
        throw StoreFailure.unavailable("the copy of the store is damaged (\(fault))")
      }
      try SQLiteFiles.synchronize(file, path)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Opens the best version: the copy, else the database without the log, or a newer snapshot. It may be repeated after a
  /// failure.
  func reopen() throws -> (Connections, Restoration?) {
    let files = opening.files
    let now = Instant(seconds: Timestamp.now)
    if isRescued {
      let restoration = Restoration(
        at: now, snapshotTakenAt: now, snapshotPath: "", damagedPath: place, reason: fault)
      if SQLiteFiles.size(files.restoringPath) != nil {
        opening.remember(restoration)
        if SQLiteFiles.size(files.path + "-wal") == 0 { unlink(files.path + "-wal") }
        try files.moveAside(to: place)
        try files.takeRestored()
      }
      return (try opening.connections(isRestored: true), restoration)
    }
    if let snapshot = opening.folder.items.first?.takenAt, snapshot > since {
      return try opening.restored(after: fault)
    }
    // Without the log, the database is as of the last checkpoint.
    unlink(files.path + "-wal")
    unlink(files.path + "-shm")
    guard try opening.isSound(files.path) else { return try opening.restored(after: fault) }
    let log = place.map { $0 + "-wal" }
    let restoration = Restoration(
      at: now, snapshotTakenAt: min(since, now - .seconds(1)), snapshotPath: "",
      damagedPath: log.flatMap { SQLiteFiles.size($0) == nil ? nil : $0 }, reason: fault)
    let connections = try opening.connections(isRestored: true)
    try connections.writer.run(
      "INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)", Restoration.note, restoration.text)
    return (connections, restoration)
  }
}

// The log is compared with its index before each commit, and once a second while there are commits. An idle store causes
// no wake-ups.
extension SQLiteStore {
  /// Returns the problem of the log; nil if there is none or it is unknown.
  private func logFault(_ connection: Connection) -> (sentence: String, keepsLog: Bool)? {
    let log = opening.files.path + "-wal"
    var salt: UInt64 = 0
    var found = chime_sqlite_log_state(connection.handle, &salt)
    if found == Int32(chime_log_short) || found == Int32(chime_log_other) {
      // Another program's checkpoint, such as by sqlite3, changes the log and its index one after the other.
      usleep(20_000)
      found = chime_sqlite_log_state(connection.handle, &salt)
    }
    switch found {
    case Int32(chime_log_short):
      return ("\(log) was shortened by another program while chimed uses it", false)
    case Int32(chime_log_other):
      return ("\(log) was overwritten by another program while chimed uses it", false)
    case Int32(chime_log_sound):
      let isGone = state.withLock { state in
        // The first salt may be older than this process. A new one was written after the previous check.
        if state.log.salt != salt, state.log.salt != 0 { state.log.since = state.log.seen }
        (state.log.salt, state.log.seen) = (salt, Instant(seconds: Timestamp.now))
        return state.log.identity?.isGone(from: log) ?? false
      }
      return isGone ? ("\(log) was moved or removed while chimed uses it", true) : nil
    default: return nil
    }
  }

  /// Checks whether the log was lost, and copies what is in memory. The connection may be used for nothing else.
  private func lostLog() -> LostLog? {
    guard let connection = writer.open?.connection else { return nil }
    let (identity, since, snapshot) = state.withLock { ($0.identity, $0.log.since, $0.snapshot) }
    // If the whole store was removed, the log was removed with it.
    guard let (fault, keepsLog) = logFault(connection), identity?.isGone(from: opening.files.path) != true else {
      return nil
    }
    snapshot?.callOff()
    return LostLog(opening, fault, since: since, keepsLog: keepsLog, writer: connection)
  }

  /// Recovers from a lost log. Runs on the writer's queue, while the connection is not in use.
  ///
  /// - Returns: the failure for callers whose changes may be lost; nil if nothing is lost.
  @discardableResult func seeToLog() -> StoreFailure? {
    guard let lost = lostLog() else { return nil }
    closeConnections(foldingLog: false)
    let failure = reopen(after: lost.fault) { try lost.reopen() }
    return lost.isRescued && writer.open != nil ? nil : failure
  }

  /// Schedules a check of the log in a second, and then every second while there are commits.
  func watchLog() {
    let isFirst = state.withLock { state in
      defer { (state.log.isWatched, state.log.isInUse) = (true, true) }
      return !state.log.isWatched
    }
    if isFirst { lookAtLogLater() }
  }

  private func lookAtLogLater() {
    writer.queue.asyncAfter(deadline: .now() + opening.logCheck) { [weak self] in
      guard let self else { return }
      seeToLog()
      let goesOn = state.withLock { state in
        defer { (state.log.isWatched, state.log.isInUse) = (state.log.isInUse, false) }
        return state.log.isInUse && state.end == nil
      }
      if goesOn { lookAtLogLater() }
    }
  }
}

/// The state of the open file's log.
struct LogState {
  /// The time of the first change in the log, or earlier.
  var since: Instant
  /// The time of the last check.
  var seen: Instant
  var salt: UInt64 = 0
  var identity: FileIdentity?
  /// Whether a check is scheduled, and whether there were commits since.
  var isWatched = false
  var isInUse = false

  /// Resets the state for another file.
  mutating func renew(_ files: SQLiteFiles) {
    let other = LogState(files)
    (since, seen, salt, identity) = (other.since, other.seen, 0, other.identity)
  }

  init(_ files: SQLiteFiles) {
    seen = Instant(seconds: Timestamp.now)
    since = min(files.foldedAt.map(Instant.init(seconds:)) ?? seen, seen)
    identity = FileIdentity(files.path + "-wal")
  }
}
