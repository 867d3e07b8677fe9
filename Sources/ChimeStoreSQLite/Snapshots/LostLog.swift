import CSQLite
import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc
import Synchronization

/// A log that somebody else has shortened, overwritten or taken away while the store was open, and with it changes that were
/// acknowledged. The connection that writes may have all of them in memory still.
struct LostLog: Sendable {
  let opening: Opening
  /// What has become of the log, as a sentence.
  let fault: String
  /// When the first of the changes in the log was made, or earlier.
  let since: Instant
  /// Where the files go that are not used any more.
  let place: String?
  /// Whether a whole copy of the store lies beside it.
  private(set) var isRescued = false

  /// - Parameter keepsLog: whether the log is as it was, under another name or none.
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

  /// Keeps what is in the log now, and empties it: a page that only the log has is then not to be had, instead of being
  /// another.
  private func clearLog() throws {
    let log = opening.files.path + "-wal"
    if let place, SQLiteFiles.size(log) ?? 0 > 0 { try SQLiteFiles.copy(log, to: place + "-wal") }
    guard truncate(log, 0) == 0 || errno == ENOENT else {
      throw StoreFailure.unavailable("\(log) cannot be emptied (\(errorText(errno)))")
    }
  }

  /// Copies the database as the connection sees it, and reads all of the copy.
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
      guard fsync(file) == 0 else {
        throw StoreFailure.unavailable("\(path) cannot be made durable (\(errorText(errno)))")
      }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Opens what there is: the copy, else what the database holds without the log, or a snapshot that is newer than that. May
  /// be tried again when it fails.
  func reopen() throws -> (Connections, Restoration?) {
    let files = opening.files
    let now = Instant(seconds: Timestamp.now)
    if isRescued {
      let restoration = Restoration(
        at: now, snapshotTakenAt: now, snapshotPath: "", damagedPath: place, reason: fault)
      if SQLiteFiles.size(files.restoringPath) != nil {
        Restoring(files: files, folder: opening.folder).remember(restoration)
        if SQLiteFiles.size(files.path + "-wal") == 0 { unlink(files.path + "-wal") }
        try files.moveAside(to: place)
        guard rename(files.restoringPath, files.path) == 0 else {
          throw StoreFailure.unavailable(
            "\(files.restoringPath) cannot become the store (\(errorText(errno))): rename it to \(files.path)")
        }
        SQLiteFiles.synchronize(folder: SQLiteFiles.folder(of: files.path))
      }
      return (try opening.connections(isRestored: true), restoration)
    }
    if let snapshot = opening.folder.items.first?.snapshot.takenAt, snapshot > since {
      return try opening.restored(after: fault)
    }
    // Without the log a database is what was folded into it last.
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

// The log is compared with its index before each commit, and once a second for as long as there are commits: an idle store
// wakes nobody.
extension SQLiteStore {
  /// What is wrong with the log; nil when nothing is, or it cannot be told.
  private func logFault(_ connection: Connection) -> (sentence: String, keepsLog: Bool)? {
    let log = opening.files.path + "-wal"
    var salt: UInt64 = 0
    var found = chime_sqlite_log_state(connection.handle, &salt)
    if found == Int32(chime_log_short) || found == Int32(chime_log_other) {
      // Another program that folds the log, as sqlite3 does, changes it and its index one after the other.
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
        // The first that is met may have been begun before; another one was, since it was looked at last.
        if state.log.salt != salt, state.log.salt != 0 { state.log.since = state.log.seen }
        (state.log.salt, state.log.seen) = (salt, Instant(seconds: Timestamp.now))
        return state.log.identity?.isGone(from: log) ?? false
      }
      return isGone ? ("\(log) was moved or removed while chimed uses it", true) : nil
    default: return nil
    }
  }

  /// Finds out whether the log has been lost, and what of it is in memory. Nobody holds the connection afterwards.
  private func lostLog() -> LostLog? {
    guard let connection = writer.open?.connection else { return nil }
    let (identity, since, snapshot) = state.withLock { ($0.identity, $0.log.since, $0.snapshot) }
    // Whoever has taken all of it away has done so with the log.
    guard let (fault, keepsLog) = logFault(connection), identity?.isGone(from: opening.files.path) != true else {
      return nil
    }
    snapshot?.callOff()
    return LostLog(opening, fault, since: since, keepsLog: keepsLog, writer: connection)
  }

  /// Sees to a log that was lost. Runs on the writer's queue, while nobody holds the connection.
  ///
  /// - Returns: what those are told whose changes may be lost; nil: all are there.
  @discardableResult func seeToLog() -> StoreFailure? {
    guard let lost = lostLog() else { return nil }
    closeConnections(foldingLog: false)
    let failure = reopen(after: lost.fault) { try lost.reopen() }
    return lost.isRescued && writer.open != nil ? nil : failure
  }

  /// Looks at the log in a second, and each second while there are commits.
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

/// What is known of the log of the open file.
struct LogState {
  /// When the first change that is in it was made, or earlier.
  var since: Instant
  /// When it was looked at last.
  var seen: Instant
  var salt: UInt64 = 0
  var identity: FileIdentity?
  /// Whether it will be looked at, and whether there were commits since that was arranged.
  var isWatched = false
  var isInUse = false

  /// Another file is open.
  mutating func renew(_ files: SQLiteFiles) {
    let other = LogState(files)
    (since, seen, salt, identity) = (other.since, other.seen, 0, other.identity)
  }

  init(_ files: SQLiteFiles) {
    seen = Instant(seconds: Timestamp.now)
    since = min(files.foldedAt.map(Instant.init(seconds:)) ?? seen, seen)
    identity = try? FileIdentity.of(files.path + "-wal").get()
  }
}
