import CSQLite
import ChimeCore
import ChimeRecords
import ChimeSchedule
import Glibc

/// A SnapshotCopy takes one snapshot: it copies the database page by page, checks the copy, and names it.
///
/// The copy contains what was committed when it began. Its connection holds one snapshot of the log, so writers neither
/// wait for it nor restart it; the log grows meanwhile (sqlite.org/backup.html, sqlite.org/wal.html). After any failure,
/// each file with a snapshot's name is complete.
struct SnapshotCopy: Sendable {
  let opening: Opening
  private var folder: SnapshotFolder { opening.folder }
  /// The run, which can be called off.
  var run = SnapshotRun()

  /// Runs between the steps; tests change the store there.
  var betweenSteps: @Sendable () -> Void = {}

  /// The pages of one step, 1 MiB. A commit waits for at most that much in the disk's queue.
  private static let step: Int32 = 256
  /// The space that a snapshot leaves free, in bytes: the size of the log at rest.
  var reserve: Int64 = 16 << 20
  /// The longest pause after a step, in nanoseconds.
  private static let longestPause: Int64 = 50_000_000

  /// Takes the snapshot.
  ///
  /// - Parameters:
  ///   - version: the schema version before a migration; nil for a plain snapshot.
  ///   - isPatient: whether to pause as long as each step took, so that commits have the disk half of the time.
  /// - Throws: `.corrupt` if the store itself is damaged; `.closed` if the run was called off.
  func make(keeping count: Int, beforeUpgradeFrom version: Int? = nil, isPatient: Bool) throws(StoreFailure)
    -> StoreSnapshot
  {
    run.enterStore()
    defer { run.leaveStore() }
    try run.requireWanted()
    try folder.make()
    folder.sweep()
    let seconds = Timestamp.now
    let name = folder.next(at: seconds, beforeUpgradeFrom: version)
    let unfinished = name + SnapshotFolder.unfinished
    try requireRoom()
    do {
      let file = Glibc.open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw StoreFailure.unavailable("\(unfinished) cannot be created (\(errorText(errno)))") }
      defer { Glibc.close(file) }
      try copy(to: unfinished, file, isPatient)
      // The check takes a while, and closing the store need not wait for it.
      run.leaveStore()
      try check(unfinished)
      try run.requireWanted()
      try SQLiteFiles.synchronize(file, unfinished)
      guard rename(unfinished, name) == 0 else {
        throw StoreFailure.unavailable("\(name) cannot be created (\(errorText(errno)))")
      }
      // The copy is not read again unless something fails, so its pages leave the page cache.
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    } catch {
      folder.sweep()
      throw error as? StoreFailure ?? .internalError("\(error)")
    }
    SQLiteFiles.synchronize(folder: folder.path)
    if version == nil { folder.prune(keeping: count) }
    return StoreSnapshot(
      takenAt: Instant(seconds: seconds), path: name, bytes: SQLiteFiles.size(name) ?? 0, beforeUpgradeFrom: version)
  }

  private func requireRoom() throws(StoreFailure) {
    let (needed, free) = (opening.files.bytes, SQLiteFiles.freeSpace(at: folder.path) ?? .max)
    guard free - needed < reserve else { return }
    throw .unavailable(
      "there is not enough space for a snapshot in \(folder.path): it needs \(Self.megabytes(needed)) and has to "
        + "leave \(Self.megabytes(reserve)) free, but only \(Self.megabytes(free)) are free")
  }

  private static func megabytes(_ bytes: Int64) -> String { "\((max(0, bytes) + (1 << 20) - 1) >> 20) MiB" }

  // MARK: Copying

  private func copy(to path: String, _ file: Int32, _ isPatient: Bool) throws {
    let source = try opening.reader()
    // Begin the transaction that holds one snapshot for all steps.
    try source.script("BEGIN; SELECT count(*) FROM sqlite_schema")
    let target = try Connection(path: path, busyTimeout: 0)
    // The copy is synced here, step by step and at the end.
    try target.script("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000")
    // SQLite uses both handles until the backup is finished, without owning them.
    defer { withExtendedLifetime((source, target)) {} }
    guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
      throw target.failure(sqlite3_extended_errcode(target.handle))
    }
    var code = SQLITE_OK
    while code == SQLITE_OK, !run.isCalledOff {
      let begin = nanoseconds(CLOCK_MONOTONIC)
      code = sqlite3_backup_step(backup, Self.step)
      // Otherwise a commit of the store would wait until all of this is written.
      fdatasync(file)
      guard code == SQLITE_OK else { continue }
      betweenSteps()
      guard isPatient else { continue }
      let pause = min(nanoseconds(CLOCK_MONOTONIC) - begin, Self.longestPause)
      usleep(UInt32(pause / 1_000))
    }
    let end = sqlite3_backup_finish(backup)
    try run.requireWanted()
    guard code == SQLITE_DONE, end == SQLITE_OK else { throw target.failure(code == SQLITE_DONE ? end : code) }
    try source.script("COMMIT")
  }

  // MARK: Checking

  /// Turns the copy into one file without a log, and checks it.
  private func check(_ path: String) throws {
    let copy = try Opening.connect(path)
    try copy.script("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF")
    guard let fault = try Opening.fault(of: copy, .quick) else { return }
    try run.requireWanted()
    // The copy's pages came from the store, so find out which of the two is damaged.
    if let own = try Opening.fault(of: try opening.reader(), .quick) {
      throw StoreFailure.corrupt("\(opening.files.path) is damaged (\(own))", movedTo: nil)
    }
    throw StoreFailure.unavailable(
      "a snapshot is damaged although the store is sound: check the disk of \(folder.path) (\(fault))")
  }
}
