import CSQLite
public import ChimeCore

extension SQLiteStore {
  /// Opens the store, or makes a new one where there is no file. The folder must exist.
  ///
  /// - Throws: `.held` when another daemon has it; `.newerSchema` when a newer program wrote it; `.corrupt` when it is
  ///   damaged, after it has been moved aside (the caller decides whether to call again and so begin anew);
  ///   `.unavailable` when it cannot be opened or belongs to another program.
  public static func open(path: String) throws(StoreFailure) -> SQLiteStore {
    try open(path: path, upTo: Schema.current) { _ in }
  }

  /// - Parameters:
  ///   - version: the layout to migrate to; tests make older ones.
  ///   - fileLayer: as `Connection` takes it; tests bring one whose power can fail.
  ///   - adjust: runs on the writer's connection before it is used; tests set limits.
  static func open(
    path: String, upTo version: Int, fileLayer: String? = nil, adjust: (Connection) throws -> Void
  ) throws(StoreFailure) -> SQLiteStore {
    let files = SQLiteFiles(path: path)
    let lock = try FileLock(path: files.lockPath)
    do {
      if files.hasStrayLog {
        throw StoreFailure.corrupt("\(files.path) is empty although its log is not", movedTo: nil)
      }
      try files.create()
      let writer = try connect(files.path, fileLayer)
      // Until the file is known to be sound, nothing is written to it, not even on closing.
      writer.setCheckpointOnClose(false)
      try examine(writer)
      writer.setCheckpointOnClose(true)
      try prepare(writer, upTo: version)
      try adjust(writer)
      let reader = try connect(files.path, fileLayer)
      try reader.script("PRAGMA query_only = ON; PRAGMA cache_size = -2000")
      return SQLiteStore(
        path: files.path,
        writer: desk("chime.store.write", writer, isReadOnly: false),
        reader: desk("chime.store.read", reader, isReadOnly: true), lock: lock)
    } catch let failure as StoreFailure {
      throw failure.damage.map(files.moveAside) ?? failure
    } catch {
      throw .internalError("\(error)")
    }
  }

  /// The largest file that is checked whole at each start, in bytes: about 50 ms. Damage in a larger one is found when
  /// it is met, or by `chime doctor`.
  static let checkedSize: Int64 = 32 << 20

  private static func connect(_ path: String, _ fileLayer: String?) throws(StoreFailure) -> Connection {
    let connection = try Connection(path: path, busyTimeout: 2_000, fileLayer: fileLayer)
    try connection.script("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
    return connection
  }

  private static func desk(_ label: String, _ connection: Connection, isReadOnly: Bool) -> Desk {
    Desk(
      label: label,
      transaction: Transaction(connection: connection, reader: DefinitionReader(), isReadOnly: isReadOnly))
  }

  /// Refuses what is not a sound store of ours, without changing it.
  private static func examine(_ connection: Connection) throws {
    let application = try connection.first("PRAGMA application_id") { $0.int(0) } ?? 0
    let version = try Schema.version(of: connection)
    let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.int(0) } ?? 0
    if application == 0, version == 0, tables == 0 { return }
    guard application == Schema.applicationID else {
      throw StoreFailure.unavailable("\(connection.path) is a database of another program: choose another path")
    }
    guard version <= Schema.current else { throw StoreFailure.newerSchema(found: version, known: Schema.current) }
    guard (SQLiteFiles.size(connection.path) ?? 0) <= checkedSize else { return }
    let verdict = try connection.first("PRAGMA quick_check(1)") { $0.text(0) } ?? "no verdict"
    guard verdict == "ok" else {
      if tellsOfDisk(verdict) {
        throw StoreFailure.unavailable("\(connection.path) cannot be read: see the state of its disk (\(verdict))")
      }
      throw StoreFailure.corrupt("\(connection.path) is damaged (\(verdict))", movedTo: nil)
    }
  }

  /// Whether the check has met a page that could not be read, which is no word on what the page holds: a disk that fails
  /// for a moment is no reason to move a sound file aside. SQLite tells of both in one kind of sentence
  /// (`checkTreePage` and `checkList` of its btree.c).
  static func tellsOfDisk(_ verdict: String) -> Bool {
    if let found = verdict.firstMatch(of: /unable to get the page\. error code=([0-9]+)/), let code = Int32(found.1) {
      return code & 0xFF != SQLITE_CORRUPT
    }
    return verdict.contains("failed to get page")
  }

  /// Sets what is in force for the writer, and brings the layout up to date.
  private static func prepare(_ connection: Connection, upTo version: Int) throws {
    let mode = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw StoreFailure.unavailable(
        "\(connection.path) cannot have a write-ahead log: keep it on a local disk (its mode is \(mode ?? "unknown"))")
    }
    // The log is folded in every 16 MiB, which is once in about 50,000 firings, and is no longer than that at rest.
    try connection.script(
      """
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA cache_size = -4000;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 16777216;
      """)
    try Schema.migrate(connection, to: version)
  }
}
