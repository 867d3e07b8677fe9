import CSQLite
import ChimeCore
import ChimeRecords

/// A Connection is one connection to the database file with its compiled statements. It is not thread-safe: one owner
/// uses it on one queue.
///
/// SQL is passed as `StaticString`, so external text cannot become part of a statement. Values are always bound.
///
///     try connection.run("UPDATE note SET value = ? WHERE name = ?", value, name)
final class Connection: SQLConnection {
  static var assignsNumbers: Bool { true }
  /// The handle for operations on the whole database (`SnapshotCopy`).
  let handle: OpaquePointer
  /// The file's path in messages.
  let path: String
  private var compiled: [UnsafePointer<UInt8>: Statement] = [:]
  private var composed: [String: Statement] = [:]

  /// Opens an existing file.
  ///
  /// - Parameters:
  ///   - uri: opens the file by a URI instead, and for reading only (sqlite.org/uri.html).
  ///   - busyTimeout: the wait for another program's lock, in milliseconds.
  ///   - fileLayer: the name of the VFS (sqlite.org/vfs.html); nil for the system's default.
  /// - Throws: `.unavailable` if the file cannot be opened.
  init(path: String, reading uri: String? = nil, busyTimeout: Int32, fileLayer: String? = nil) throws(StoreFailure) {
    _ = Self.library
    let access = uri == nil ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    var opened: OpaquePointer?
    // The owner's queue already serializes access (sqlite.org/threadsafe.html, "Multi-thread").
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(uri ?? path, &opened, flags, fileLayer)
    // Without memory there is no handle.
    guard let opened else { throw Self.failure(code: code, message: "", path: path, system: 0) }
    (handle, self.path) = (opened, path)
    guard code == SQLITE_OK else { throw failure(code) }
    sqlite3_busy_timeout(handle, busyTimeout)
    _ = chime_sqlite_defensive(handle)
  }

  /// Configures the library once for the process. Switching off the statistics may fail after another use of SQLite;
  /// nothing depends on it.
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

  /// Sets whether closing the last connection may checkpoint the log into the database.
  func setCheckpointOnClose(_ on: Bool) { _ = chime_sqlite_checkpoint_on_close(handle, on ? 1 : 0) }

  /// Whether no transaction is open. Some failures end it implicitly (sqlite.org/lang_transaction.html, "Response To
  /// Errors Within A Transaction").
  var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// Writes changed pages to the log before the commit (sqlite.org/c3ref/db_cacheflush.html). Pages in use stay for it.
  func writeAhead() throws {
    let code = sqlite3_db_cacheflush(handle)
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw failure(code) }
  }

  var changes: Int { Int(sqlite3_changes64(handle)) }

  // MARK: Execution

  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure) {
    let statement = try bound(sql, repeat each values)
    defer { statement.reset() }
    while try advance(statement) {}
  }

  func all<Row, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Statement) throws -> Row
  ) throws -> [Row] {
    try rows(of: try bound(sql, repeat each values), row)
  }

  func first<Row, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Statement) throws -> Row
  ) throws -> Row? {
    let statement = try bound(sql, repeat each values)
    defer { statement.reset() }
    return try advance(statement) ? try row(statement) : nil
  }

  func run(_ query: ComposedQuery) throws(StoreFailure) {
    let statement = try bound(query)
    defer { statement.reset() }
    while try advance(statement) {}
  }

  func all<Row>(_ query: ComposedQuery, row: (Statement) throws -> Row) throws -> [Row] {
    try rows(of: try bound(query), row)
  }

  /// Runs several statements without parameters, such as pragmas and migrations. They are not cached.
  func script(_ sql: String) throws(StoreFailure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  // MARK: Compilation

  private func statement(_ sql: StaticString) throws(StoreFailure) -> Statement {
    // A static string never moves, so its address identifies it.
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

  /// Compiles a statement without caching it. The text contains at most names from the database's own schema.
  func compile(_ sql: String) throws(StoreFailure) -> Statement {
    // SQLite numbers `$2` by its first occurrence, but `?2` gets the index 2 (sqlite.org/lang_expr.html, "Parameters").
    var text = Array(sql.utf8CString)
    for place in text.indices where text[place] == 0x24 && (0x30...0x39).contains(text[place + 1]) {
      text[place] = 0x3F
    }
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw failure(code) }
    return Statement(owning: prepared)
  }

  /// Returns a statement with its parameters bound. Whoever uses it resets it.
  private func bound<each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value
  ) throws(StoreFailure) -> Statement {
    let statement = try statement(sql)
    var parameters = statement.parameters
    for value in repeat each values { value.bind(to: &parameters) }
    if let code = parameters.failure { throw failure(code) }
    return statement
  }

  private func bound(_ query: ComposedQuery) throws(StoreFailure) -> Statement {
    let statement = try statement(query)
    var parameters = statement.parameters
    for value in query.values { value.bind(to: &parameters) }
    if let code = parameters.failure { throw failure(code) }
    return statement
  }

  private func rows<Row>(of statement: Statement, _ row: (Statement) throws -> Row) throws -> [Row] {
    defer { statement.reset() }
    var rows: [Row] = []
    while try advance(statement) { rows.append(try row(statement)) }
    return rows
  }

  /// Advances to the next row. Returns false at the end.
  private func advance(_ statement: Statement) throws(StoreFailure) -> Bool {
    switch statement.step() {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }
}
