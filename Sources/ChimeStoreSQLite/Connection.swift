import CSQLite
import ChimeCore
import ChimeRecords

/// One connection to the database file, with its compiled statements. Not thread-safe: it has one owner, which uses
/// it on one queue.
///
/// SQL is passed as `StaticString`, so text that came from outside cannot become part of a statement; values are
/// always bound.
///
///     try connection.run("UPDATE note SET value = ? WHERE name = ?", value, name)
final class Connection: SQLConnection {
  /// For what is done to a database as a whole (`SnapshotCopy`).
  let handle: OpaquePointer
  /// The file, for sentences about it.
  let path: String
  private var compiled: [UnsafePointer<UInt8>: Statement] = [:]
  private var composed: [String: Statement] = [:]

  /// Opens an existing file.
  ///
  /// - Parameters:
  ///   - busyTimeout: how long to wait for another program's lock, in milliseconds.
  ///   - fileLayer: the name of what SQLite reads and writes through (sqlite.org/vfs.html); nil: the system's files.
  /// - Throws: `.unavailable` when the file cannot be opened.
  convenience init(path: String, busyTimeout: Int32, fileLayer: String? = nil) throws(StoreFailure) {
    try self.init(
      opening: path, SQLITE_OPEN_READWRITE, path: path, busyTimeout: busyTimeout, fileLayer: fileLayer)
  }

  /// Opens an existing file to read it, by a URI (sqlite.org/uri.html).
  convenience init(reading uri: String, path: String) throws(StoreFailure) {
    try self.init(
      opening: uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path: path, busyTimeout: 500, fileLayer: nil)
  }

  private init(
    opening name: String, _ access: Int32, path: String, busyTimeout: Int32, fileLayer: String?
  ) throws(StoreFailure) {
    _ = Self.library
    var opened: OpaquePointer?
    // The owner's queue already lets in one thread at a time (sqlite.org/threadsafe.html, "Multi-thread").
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(name, &opened, flags, fileLayer)
    guard code == SQLITE_OK, let opened else {
      defer { sqlite3_close_v2(opened) }
      throw Self.failure(
        code: code, message: opened.map { String(cString: sqlite3_errmsg($0)) } ?? "", path: path,
        system: opened.map { sqlite3_system_errno($0) } ?? 0)
    }
    handle = opened
    self.path = path
    sqlite3_busy_timeout(handle, busyTimeout)
    _ = chime_sqlite_defensive(handle)
  }

  /// What is set once for the process. The statistics may be there to stay, after somebody else's use of SQLite, and nothing
  /// depends on it.
  private static let library: Void = {
    _ = chime_sqlite_without_statistics()
    let code = chime_sqlite_tell_disk_from_damage()
    precondition(code == SQLITE_OK, "SQLite's files cannot be read by our own functions: \(code)")
  }()

  deinit {
    compiled.removeAll()
    composed.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Whether closing the last connection may fold the log into the database.
  func setCheckpointOnClose(_ on: Bool) { _ = chime_sqlite_checkpoint_on_close(handle, on ? 1 : 0) }

  /// Whether no transaction is open. Some failures end it by themselves (sqlite.org/lang_transaction.html, "Response
  /// To Errors Within A Transaction").
  var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// The rows that the latest INSERT, UPDATE or DELETE changed.
  var changes: Int { Int(sqlite3_changes64(handle)) }

  /// The sentence of the latest call that failed.
  var lastMessage: String { String(cString: sqlite3_errmsg(handle)) }

  /// errno of the latest call on a file that failed.
  var lastSystemError: Int32 { sqlite3_system_errno(handle) }

  var lastInsertedKey: Int64 { sqlite3_last_insert_rowid(handle) }

  // Running.

  /// Runs a statement to its end, passing over its rows.
  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure) {
    let statement = try statement(sql)
    defer { statement.reset() }
    var parameters = statement.parameters
    for value in repeat each values { value.bind(to: &parameters) }
    try check(parameters)
    while try advance(statement) {}
  }

  /// What `row` makes of each row, in order. `row` must not use the same SQL again.
  func all<Row, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Statement) throws -> Row
  ) throws -> [Row] {
    let statement = try statement(sql)
    defer { statement.reset() }
    var parameters = statement.parameters
    for value in repeat each values { value.bind(to: &parameters) }
    try check(parameters)
    var rows: [Row] = []
    while try advance(statement) { rows.append(try row(statement)) }
    return rows
  }

  /// What `row` makes of the first row, if there is one. `row` must not use the same SQL again.
  func first<Row, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Statement) throws -> Row
  ) throws -> Row? {
    let statement = try statement(sql)
    defer { statement.reset() }
    var parameters = statement.parameters
    for value in repeat each values { value.bind(to: &parameters) }
    try check(parameters)
    return try advance(statement) ? try row(statement) : nil
  }

  /// As `run`, for a statement put together from constant pieces.
  func run(_ query: ComposedQuery) throws(StoreFailure) {
    let statement = try statement(query)
    defer { statement.reset() }
    try bind(query.values, to: statement)
    while try advance(statement) {}
  }

  /// As `all`, for a query put together from constant pieces.
  func all<Row>(_ query: ComposedQuery, row: (Statement) throws -> Row) throws -> [Row] {
    let statement = try statement(query)
    defer { statement.reset() }
    try bind(query.values, to: statement)
    var rows: [Row] = []
    while try advance(statement) { rows.append(try row(statement)) }
    return rows
  }

  /// Runs several statements that take no parameters and are not kept: pragmas and migrations.
  func script(_ sql: String) throws(StoreFailure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  // Compiling.

  private func statement(_ sql: StaticString) throws(StoreFailure) -> Statement {
    // A static string never moves, so its address is its name.
    if let known = compiled[sql.utf8Start] { return known }
    let statement = try compile(sql.description)
    compiled[sql.utf8Start] = statement
    return statement
  }

  private func statement(_ query: ComposedQuery) throws(StoreFailure) -> Statement {
    if let known = composed[query.sql] { return known }
    let statement = try compile(query.sql)
    composed[query.sql] = statement
    return statement
  }

  private func compile(_ sql: String) throws(StoreFailure) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw failure(code) }
    return Statement(owning: prepared)
  }

  private func bind(_ values: [any SQLValue], to statement: Statement) throws(StoreFailure) {
    var parameters = statement.parameters
    for value in values { value.bind(to: &parameters) }
    try check(parameters)
  }

  private func check(_ parameters: StatementParameters) throws(StoreFailure) {
    if let code = parameters.failure { throw failure(code) }
  }

  /// Moves to the next row; false at the end.
  private func advance(_ statement: Statement) throws(StoreFailure) -> Bool {
    switch statement.step() {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }
}
