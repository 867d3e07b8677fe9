import CSQLite
package import ChimeCore
import ChimeRecords
import ChimeSchedule
import Dispatch
import Glibc

extension SQLiteStore {
  /// Opens the store, or creates it if there never was one. The folder must exist.
  ///
  /// A damaged file is moved aside and replaced by the newest good snapshot; `watch` reports that.
  ///
  /// - Parameters:
  ///   - keepingSnapshots: the number of snapshots to keep. Unless it is 0, one is taken before a migration.
  ///   - progress: receives messages about steps that take longer than usual.
  /// - Throws: `.held` if another daemon uses it; `.newerSchema` if a newer program wrote it; `.corrupt` if it is damaged
  ///   or missing and there is no good snapshot: it was moved aside, and no empty store takes its place until a person
  ///   has repaired it; `.unavailable` if it cannot be opened or belongs to another program.
  package static func open(
    path: String, keepingSnapshots: Int = 3, progress: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreFailure) -> SQLiteStore {
    try open(Opening(path: path, keepingSnapshots: keepingSnapshots, progress: progress))
  }

  static func open(_ opening: Opening) throws(StoreFailure) -> SQLiteStore {
    let lock = try FileLock(path: opening.files.lockPath)
    let snapshot = opening.folder.items.first?.takenAt
    let changed = opening.files.changedAt.map(Instant.init(seconds:))
    if let place = try opening.files.setAsideForeignLog(lock.formerNote) {
      opening.progress("the log beside \(opening.files.path) belonged to another database; it was moved to \(place)")
    }
    let (connections, restoration) = try opening.open()
    lock.write(note: opening.files.logNote)
    return SQLiteStore(
      opening, connections, restoration, wasChanged: changed.map { $0 > snapshot ?? .earliest } ?? false, lock: lock)
  }
}

/// The two connections of a store.
struct Connections {
  var writer: Connection
  var reader: Connection
}

/// An Opening turns a store's files into connections, at the start and after damage.
struct Opening: Sendable {
  let files: SQLiteFiles
  let folder: SnapshotFolder
  var keepingSnapshots: Int
  var progress: @Sendable (String) -> Void
  /// The migrations to the current schema version; tests add more.
  var migrations = Schema.migrations
  private var newest: Int { migrations.last?.version ?? 0 }
  /// The VFS for `Connection`; tests use one that simulates power failures.
  var fileLayer: String?
  /// Runs on the writer's connection before it is used; tests set limits.
  var adjust: @Sendable (Connection) throws -> Void = { _ in }
  /// Runs after each step of a restoration: the choice, the copy, each renamed file, and all of them. Tests stop it.
  var restoreStep: @Sendable () throws -> Void = {}
  /// The pause after damage before the file is read again, in microseconds. The error may have been transient.
  var pause: UInt32 = 200_000
  /// The interval between attempts to open an unreadable file.
  var retry: DispatchTimeInterval = .seconds(5)
  /// The delay from a commit to the check of the log.
  var logCheck: DispatchTimeInterval = .seconds(1)

  init(
    path: String, keepingSnapshots: Int = 3, progress: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    files = SQLiteFiles(path: path)
    folder = SnapshotFolder(beside: files.path)
    self.keepingSnapshots = keepingSnapshots
    self.progress = progress
  }

  /// The maximum size in bytes of a file that is checked at each start; that takes about 50 ms. Damage in a larger file
  /// is found when it is met, or by the next snapshot, which is checked completely.
  static let checkedSize: Int64 = 32 << 20

  /// Opens the store or its restoration. The caller holds the lock.
  func open() throws(StoreFailure) -> (Connections, Restoration?) {
    folder.sweep()
    do {
      do {
        return (try connections(), nil)
      } catch StoreFailure.corrupt(let sentence, _) {
        return try reopen(after: sentence)
      }
    } catch {
      throw error as? StoreFailure ?? .internalError("\(error)")
    }
  }

  /// Reopens a store after damage. Its connections are closed.
  ///
  /// A file counts as damaged only if it is still wrong when it is read again from the disk, after a pause and without an
  /// I/O error. If it proves sound, because the damage was in memory or the disk failed once, nothing is restored.
  ///
  /// - Throws: `.unavailable` if the file cannot be read or cannot be replaced; then it is unchanged.
  func reopen(after damage: String) throws -> (Connections, Restoration?) {
    if SQLiteFiles.size(files.path) ?? 0 > 0 {
      progress("the store seems to be damaged; reading all of it")
      usleep(pause)
      files.forgetCached()
      if try isSound(files.path) { return (try connections(), nil) }
    } else if let aside = files.asideNewer(than: folder.items.first?.takenAt), try isSound(asIs: aside) {
      progress("\(aside) is sound and becomes the store again")
      try files.putBack(aside)
      return (try connections(), nil)
    }
    return try restored(after: damage)
  }

  /// Returns whether a file is sound, and removes the log and index that SQLite creates for the check.
  private func isSound(asIs path: String) throws -> Bool {
    let files = SQLiteFiles(path: path)
    let before = files.companions
    defer { files.companions.subtracting(before).forEach { unlink($0) } }
    return try isSound(path)
  }

  /// Returns whether a file with its log is a complete store of Chime without a fault.
  func isSound(_ path: String) throws -> Bool {
    do {
      let connection = try Self.connect(path, fileLayer)
      // The identity of the file was checked when it was opened.
      guard try connection.first("PRAGMA application_id", row: { $0.int(0) }) == Schema.applicationID else {
        return false
      }
      try Self.requireOurs(connection)
      return try Self.fault(of: connection, .thorough) == nil
    } catch StoreFailure.corrupt {
      return false
    }
  }

  /// The consequence of a restart after the file was removed, as the end of a sentence.
  var afterRestart: String {
    if (SQLiteFiles.size(files.path) ?? 0) > 0 {
      return "or restart chimed to continue with the present file, without the content of \(files.path)-wal"
    }
    if let latest = folder.items.first {
      return "or restart chimed to continue with the snapshot of \(Self.time(latest.takenAt))"
    }
    // This is what `SQLiteFiles.examine` will find.
    if files.hasStrayLog || files.latestAside != nil {
      return "or a copy of it: there is no snapshot, and without the file chimed cannot start"
    }
    return "or restart chimed with an empty store: there is no snapshot of it"
  }

  func restored(after damage: String) throws -> (Connections, Restoration?) {
    let restoration = try restore(after: damage)
    return (try connections(isRestored: true), restoration)
  }

  func connections(isRestored: Bool = false) throws -> Connections {
    try files.examine(folder)
    // An empty file with a snapshot or a log would be damage. This one may remain from a first start or from a store.
    if SQLiteFiles.size(files.path) == 0 {
      progress("\(files.path) is empty, without a snapshot: it becomes a new store")
    }
    try files.create()
    let writer = try Self.connect(files.path, fileLayer)
    try examine(writer)
    let found = try Schema.version(of: writer)
    if found > 0, found < newest, keepingSnapshots > 0, !isRestored {
      progress("copying the store before this version changes it")
      _ = try SnapshotCopy(opening: self).make(
        keeping: keepingSnapshots, beforeUpgradeFrom: found, isPatient: false)
    }
    writer.setCheckpointOnClose(true)
    try prepare(writer)
    try adjust(writer)
    try Self.readAheadOfFiring(writer)
    return Connections(writer: writer, reader: try reader())
  }

  /// Reads the pages that the next firing writes into the writer's cache: the newest of each tree. Reminders then fire
  /// even if the disk refuses every read from now on. The check has read these pages too, but a file larger than the
  /// cache has evicted them.
  private static func readAheadOfFiring(_ writer: Connection) throws {
    try writer.script(
      """
      SELECT min(next_at) FROM due;
      SELECT max(next_at) FROM due;
      SELECT max(reminder) FROM due;
      SELECT min(next_at) FROM due WHERE wakes = 1;
      SELECT max(reminder) FROM due INDEXED BY due_snoozed WHERE snooze_of >= 0;
      SELECT max(scheduled_at) FROM due WHERE scheduled_at IS NOT NULL;
      SELECT max(key) FROM reminder_name;
      SELECT max(key) FROM reminder;
      SELECT max(scheduled_at) FROM occurrence;
      SELECT max(reminder) FROM occurrence INDEXED BY occurrence_closed WHERE state > 2;
      SELECT max(reminder) FROM occurrence INDEXED BY occurrence_done WHERE state = 3 OR reason = 'doneAlready';
      SELECT max(reminder) FROM occurrence INDEXED BY occurrence_open WHERE state <= 2;
      SELECT count(*) FROM delivery_queue;
      SELECT max(channel) FROM delivery_queue WHERE owner = 0;
      SELECT max(key) FROM delivery;
      SELECT max(id) FROM delivery;
      SELECT max(scheduled_at) FROM delivery INDEXED BY delivery_occurrence;
      SELECT max(queue) FROM delivery INDEXED BY delivery_pending WHERE state <= 1;
      SELECT max(queue) FROM delivery INDEXED BY delivery_in_order WHERE state <= 1 AND in_order = 1;
      """)
  }

  /// Opens another read-only connection to the open file.
  func reader() throws(StoreFailure) -> Connection {
    let connection = try Self.connect(files.path, fileLayer)
    try connection.script("PRAGMA query_only = ON; PRAGMA cache_size = -2000")
    return connection
  }

  static func connect(_ path: String, _ fileLayer: String? = nil) throws(StoreFailure) -> Connection {
    let connection = try Connection(path: path, busyTimeout: 2_000, fileLayer: fileLayer)
    // Nothing is written before the file is known to be sound, not even on closing.
    connection.setCheckpointOnClose(false)
    try connection.script("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    return connection
  }

  /// Rejects files that are not a sound store of Chime, without changing them.
  private func examine(_ connection: Connection) throws {
    let application = try connection.first("PRAGMA application_id") { $0.int(0) } ?? 0
    let header = try connection.first("PRAGMA user_version") { $0.int(0) } ?? 0
    let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.int(0) } ?? 0
    if application == 0, header == 0, tables == 0 { return }
    try Self.requireOurs(connection, known: newest)
    guard (SQLiteFiles.size(connection.path) ?? 0) <= Self.checkedSize else { return }
    if let fault = try Self.fault(of: connection, .quick) {
      throw StoreFailure.corrupt("\(connection.path) is damaged (\(fault))", movedTo: nil)
    }
  }

  /// Rejects another program's file, a newer schema, and a damaged version number.
  static func requireOurs(_ connection: Connection, known: Int = Schema.current) throws {
    let application = try connection.first("PRAGMA application_id") { $0.int(0) } ?? 0
    guard application == Schema.applicationID else {
      throw StoreFailure.unavailable("\(connection.path) is a database of another program: choose another path")
    }
    let version = try Schema.version(of: connection)
    guard version <= known else { throw StoreFailure.newerSchema(found: version, known: known) }
  }

  enum Check { case quick, thorough }

  /// Returns the first fault of a check of the whole database; nil if it is sound.
  static func fault(of connection: Connection, _ check: Check) throws -> String? {
    let verdict =
      switch check {
      case .quick: try connection.first("PRAGMA quick_check(1)") { $0.text(0) }
      case .thorough: try connection.first("PRAGMA integrity_check(1)") { $0.text(0) }
      }
    if verdict == "ok" { return nil }
    if let verdict, tellsOfDisk(verdict) {
      throw StoreFailure.unavailable("\(connection.path) cannot be read: check its disk (\(verdict))")
    }
    // By character: no character joins a line feed. The text becomes one line, because it is part of a sentence.
    return verdict.map { $0.split(separator: "\n").joined(separator: " ") } ?? "no verdict"
  }

  /// Returns whether the check failed to read a page. That says nothing about the page's content, so a sound file must
  /// not be moved aside. SQLite reports both kinds of error in similar sentences (`checkTreePage` and `checkList` in btree.c).
  static func tellsOfDisk(_ verdict: String) -> Bool {
    if let found = verdict.firstMatch(of: /unable to get the page\. error code=([0-9]+)/), let code = Int32(found.1) {
      return code & 0xFF != SQLITE_CORRUPT
    }
    return verdict.contains("failed to get page")
  }

  /// Configures the writer's connection and migrates the schema.
  private func prepare(_ connection: Connection) throws {
    let mode = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw StoreFailure.unavailable(
        "\(connection.path) cannot have a write-ahead log: keep it on a local disk (its mode is \(mode ?? "unknown"))")
    }
    // The log is checkpointed every 16 MiB, about every 50,000 firings, and is no longer than that at rest.
    try connection.script(
      """
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA cache_size = -4000;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 16777216;
      """)
    try Schema.migrate(connection, by: migrations)
  }
}
