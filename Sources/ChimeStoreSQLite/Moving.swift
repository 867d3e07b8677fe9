import CSQLite
import ChimeCore
package import ChimeRecords
import Glibc

// Moving a store: whole tables are read from and written to a file.

/// A SQLiteSource reads a store that is moved elsewhere. It changes nothing.
package final class SQLiteSource: StoreSource {
  package let name: String
  private let lock: FileLock
  private let connection: Connection
  package var tables: any RawTables { connection }

  /// Locks the store and checks it.
  ///
  /// - Throws: `.held` if a daemon uses it; `.corrupt`; `.newerSchema`; or `.unavailable` with advice.
  package init(path: String) throws {
    let files = SQLiteFiles(path: path)
    name = files.path
    guard files.bytes > 0 else { throw StoreFailure.unavailable("there is no store at \(files.path)") }
    lock = try files.lockForOwner()
    try files.examine(SnapshotFolder(beside: files.path))
    connection = try Connection(looking: files)
    try Opening.requireOurs(connection)
    let version = try Schema.version(of: connection)
    guard version == Schema.current else {
      throw StoreFailure.unavailable(
        "an older chimed wrote \(files.path): start this chimed once with it, and stop it again")
    }
    if let fault = try Opening.fault(of: connection, .quick) {
      throw StoreFailure.corrupt("\(files.path) is damaged (\(fault))", movedTo: nil)
    }
    try connection.run("BEGIN")
  }
}

/// A SQLiteTarget writes a moved store to a new file. The file has a temporary name until it is complete.
package final class SQLiteTarget: StoreTarget {
  package let name: String
  private let files: SQLiteFiles
  private let lock: FileLock
  private let connection: Connection
  package var tables: any RawTables { connection }
  private var isDone = false

  private var partial: String { files.path + ".moving" }

  /// Locks the store's path, and creates an empty store beside it. The folder must exist.
  ///
  /// - Throws: `.held` if a daemon uses it; `.unavailable` if there is a store already.
  package init(path: String) throws {
    files = SQLiteFiles(path: path)
    name = files.path
    lock = try files.lockForOwner()
    try Self.requireEmpty(files)
    for name in Self.files(of: files.path + ".moving") { unlink(name) }
    let beginning = SQLiteFiles(path: files.path + ".moving")
    try beginning.create()
    connection = try Connection(path: beginning.path, busyTimeout: 500)
    // The temporary file needs no durability; it is synced before it gets its name.
    try connection.script("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = OFF")
    try connection.script("PRAGMA cache_size = -65536")
    try Schema.migrate(connection)
    try connection.run("BEGIN IMMEDIATE")
    // The totals that the triggers maintain are moved as well.
    triggers = try connection.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name") {
      ($0.text(0), $0.text(1))
    }
    for (name, _) in triggers { try connection.script("DROP TRIGGER \"\(name)\"") }
  }

  private var triggers: [(name: String, text: String)] = []

  deinit {
    guard !isDone else { return }
    for name in Self.files(of: partial) { unlink(name) }
  }

  private static func files(of path: String) -> [String] { ["", "-journal", "-wal", "-shm"].map { path + $0 } }

  /// Requires that no store exists. A store that a daemon created and nobody used does not count.
  private static func requireEmpty(_ files: SQLiteFiles) throws {
    let folder = SnapshotFolder(beside: files.path)
    if let latest = folder.items.first {
      throw StoreFailure.unavailable(
        "there are snapshots of another store (\(latest.path)): move their folder away first")
    }
    try files.examine(folder)
    guard files.bytes > 0 else { return }
    let connection = try Connection(looking: files)
    try Opening.requireOurs(connection)
    for table in MovedTables.all where !MovedTables.incidental.contains(table) {
      guard try connection.shape(of: table) != nil, try connection.count(table) > 0 else { continue }
      throw StoreFailure.unavailable(
        "\(files.path) is not empty (it has rows in \(table)): move it away first, or name another path in [store]")
    }
  }

  package func write(_ shape: TableShape, _ feed: (([RawCell]) throws -> Void) throws -> Void) throws {
    let places = shape.columns.map { _ in "?" }.joined(separator: ", ")
    let insert = try connection.compile("INSERT INTO \"\(shape.table)\" (\(shape.list)) VALUES (\(places))")
    try feed { row in
      var parameters = insert.parameters
      row.forEach { parameters.add($0) }
      let code = parameters.failure ?? insert.step()
      insert.reset()
      guard code == SQLITE_DONE else { throw connection.failure(code) }
    }
  }

  package func setLastNumbers(_ numbers: [String: Int64]) throws {
    for (table, last) in numbers where MovedTables.numbered.contains(table) {
      try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", table)
      try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, last)
    }
  }

  package func commit() throws {
    for (_, text) in triggers { try connection.script(text) }
    let stray = try connection.first("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1") { $0.text(0) }
    if let stray { throw StoreFailure.internalError("rows of \(stray) refer to missing rows; nothing was moved") }
    try connection.run("COMMIT")
    if let fault = try Opening.fault(of: connection, .quick) {
      throw StoreFailure.internalError("the written data is damaged (\(fault)); nothing was moved")
    }
    try connection.script("PRAGMA journal_mode = DELETE")
    try synchronize()
    // SQLite would apply the log of the empty store to the new file.
    for companion in ["-wal", "-shm"] { unlink(files.path + companion) }
    guard rename(partial, files.path) == 0 else {
      throw StoreFailure.unavailable("\(files.path) cannot be put in place (\(errorText(errno)))")
    }
    isDone = true
    SQLiteFiles.synchronize(folder: SQLiteFiles.folder(of: files.path))
  }

  private func synchronize() throws {
    let file = Glibc.open(partial, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw StoreFailure.unavailable("\(partial) cannot be opened (\(errorText(errno)))") }
    defer { Glibc.close(file) }
    try SQLiteFiles.synchronize(file, partial)
    SQLiteFiles.giveToOwner(of: SQLiteFiles.folder(of: files.path), partial)
  }
}

extension SQLiteFiles {
  /// Takes the lock of the store. If root moves a service's store, the service must be able to take the lock later.
  fileprivate func lockForOwner() throws(StoreFailure) -> FileLock {
    let lock = try FileLock(path: lockPath)
    Self.giveToOwner(of: Self.folder(of: path), lockPath)
    return lock
  }

  /// Gives a file that root created to the owner of its folder.
  fileprivate static func giveToOwner(of folder: String, _ path: String) {
    guard geteuid() == 0, let status = status(folder) else { return }
    _ = lchown(path, status.st_uid, status.st_gid)
  }
}

extension Connection: RawTables {
  func shape(of table: String) throws -> TableShape? {
    TableShape(
      table,
      columns: try all("SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden = 0", table) {
        ($0.text(0), $0.text(1))
      })
  }

  func count(_ table: String) throws -> Int {
    let statement = try compile("SELECT count(*) FROM \"\(table)\"")
    let code = statement.step()
    guard code == SQLITE_ROW else { throw failure(code) }
    return statement.int(0)
  }

  func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws {
    let statement = try compile("SELECT \(shape.list) FROM \"\(shape.table)\"")
    var row: [RawCell] = []
    while true {
      let code = statement.step()
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      row.removeAll(keepingCapacity: true)
      for (index, column) in shape.columns.enumerated() { row.append(statement.cell(Int32(index), column.kind)) }
      try take(row)
    }
  }

  func lastNumbers() throws -> [String: Int64] {
    let found = try all("SELECT name, seq FROM sqlite_sequence") { ($0.text(0), $0.int64(1)) }
    return Dictionary(found) { max($0, $1) }
  }
}
