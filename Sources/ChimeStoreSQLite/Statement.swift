import CSQLite
import ChimeRecords

/// Binds the values of one execution to a statement, in order.
struct StatementParameters: SQLParameters {
  let handle: OpaquePointer
  private var count: Int32 = 0
  /// The first error code of SQLite.
  private(set) var failure: Int32?

  init(of handle: OpaquePointer) { self.handle = handle }

  mutating func add(_ integer: Int64) { add(.integer(integer)) }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(.text(UnsafeRawBufferPointer($0))) }
  }

  mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add(.blob($0)) } }

  mutating func addNull() { add(.null) }

  /// Adds a cell. SQLite copies the bytes before it returns, so borrowed memory is sufficient.
  mutating func add(_ cell: RawCell) {
    count += 1
    let code =
      switch cell {
      case .null: sqlite3_bind_null(handle, count)
      case .integer(let value): sqlite3_bind_int64(handle, count, value)
      // An empty text may have a null address, which SQLite takes as NULL. Any other address will do.
      case .text(let bytes):
        sqlite3_bind_text64(
          handle, count, (bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 16))?.assumingMemoryBound(to: CChar.self),
          UInt64(bytes.count), chime_sqlite_transient(), UInt8(SQLITE_UTF8))
      case .blob(let bytes):
        bytes.isEmpty
          ? sqlite3_bind_zeroblob(handle, count, 0)
          : sqlite3_bind_blob64(handle, count, bytes.baseAddress, UInt64(bytes.count), chime_sqlite_transient())
      }
    if code != SQLITE_OK, failure == nil { failure = code }
  }
}

/// A Statement is a compiled statement; its connection owns it and uses it on its queue only.
///
/// While a statement is on a row, the getters read that row's columns, counted from 0 (sqlite.org/c3ref/stmt.html).
final class Statement: StoredRow {
  private let handle: OpaquePointer

  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Binds the values of the statement's parameters, in order.
  var parameters: StatementParameters { StatementParameters(of: handle) }

  /// Advances the statement. Returns SQLITE_ROW, SQLITE_DONE or an error code.
  func step() -> Int32 { sqlite3_step(handle) }

  /// Resets the statement. Bindings stay, because each use binds all parameters.
  func reset() { sqlite3_reset(handle) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Returns the column as text; empty if it is NULL.
  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Returns the column in its stored form. It is valid until the next step.
  func cell(_ column: Int32, _ kind: TableShape.Column.Kind) -> RawCell {
    if isNull(column) { return .null }
    if kind == .integer { return .integer(int64(column)) }
    let start = sqlite3_column_blob(handle, column)
    let bytes = UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    return kind == .text ? .text(bytes) : .blob(bytes)
  }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
