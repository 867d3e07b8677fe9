import CSQLite
import ChimeRecords

/// Binds the values of one execution to a statement, in their order.
struct StatementParameters: SQLParameters {
  let handle: OpaquePointer
  /// Where `$1`, `$2` and so on stand in the statement, 0 for one that does not; nil where in this order.
  let places: [Int32]?
  private var count = 0
  /// SQLite's first result code that was not OK.
  private(set) var failure: Int32?

  init(of handle: OpaquePointer, places: [Int32]?) {
    self.handle = handle
    self.places = places
  }

  mutating func add(_ integer: Int64) {
    guard let place = next() else { return }
    hear(sqlite3_bind_int64(handle, place, integer))
  }

  mutating func add(_ text: String) {
    guard let place = next() else { return }
    // SQLite copies before it returns, so the borrowed bytes need not outlive the call.
    var text = text
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty string may have no address, and SQLite takes a null address for NULL.
        sqlite3_bind_text64(
          handle, place, characters.baseAddress ?? Self.somewhere, UInt64(characters.count),
          chime_sqlite_transient(), UInt8(SQLITE_UTF8))
      }
    }
    hear(code)
  }

  mutating func add(_ bytes: [UInt8]) {
    guard let place = next() else { return }
    hear(
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, place, 0)
        : sqlite3_bind_blob64(handle, place, bytes, UInt64(bytes.count), chime_sqlite_transient()))
  }

  mutating func addNull() {
    guard let place = next() else { return }
    hear(sqlite3_bind_null(handle, place))
  }

  private mutating func next() -> Int32? {
    defer { count += 1 }
    guard let places, count < places.count else { return Int32(count + 1) }
    return places[count] == 0 ? nil : places[count]
  }

  private mutating func hear(_ code: Int32) {
    if code != SQLITE_OK, failure == nil { failure = code }
  }

  /// Any address that is not null.
  private static var somewhere: UnsafePointer<CChar>? {
    UnsafeRawPointer(bitPattern: 16)?.assumingMemoryBound(to: CChar.self)
  }
}

/// A compiled statement; owned by the connection that compiled it and used on its queue only.
///
/// While a statement stands on a row, the getters read that row's columns, counted from 0.
/// (sqlite.org/c3ref/stmt.html)
final class Statement: StoredRow {
  private let handle: OpaquePointer
  /// As `StatementParameters` has them.
  private let places: [Int32]?

  init(owning handle: OpaquePointer) {
    self.handle = handle
    // SQLite numbers `$2` by where it stands first, whatever its name says (sqlite.org/lang_expr.html, "Parameters").
    var places: [Int32] = []
    for place in 0..<sqlite3_bind_parameter_count(handle) {
      // Those of `?` have no such names.
      guard let name = sqlite3_bind_parameter_name(handle, place + 1), name[0] == UInt8(ascii: "$"),
        let number = Int(String(cString: name + 1))
      else { continue }
      places += repeatElement(0, count: max(0, number - places.count))
      places[number - 1] = place + 1
    }
    self.places = places == Array(0..<Int32(places.count)).map { $0 + 1 } ? nil : places
  }

  deinit { sqlite3_finalize(handle) }

  /// Whether the statement leaves the database as it is.
  var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// Takes the values of its parameters, in their order.
  var parameters: StatementParameters { StatementParameters(of: handle, places: places) }

  /// Moves on; returns SQLITE_ROW, SQLITE_DONE or an error code.
  func step() -> Int32 { sqlite3_step(handle) }

  /// Back to the start. The parameters stay bound: each use binds them all anew.
  func reset() { sqlite3_reset(handle) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// The column as text; empty when it is NULL.
  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The column as it is kept. It is there until the next step.
  func cell(_ column: Int32, _ kind: TableShape.Column.Kind) -> RawCell {
    if isNull(column) { return .null }
    if kind == .integer { return .integer(int64(column)) }
    let start = sqlite3_column_blob(handle, column)
    let bytes = UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    return kind == .text ? .text(bytes) : .blob(bytes)
  }

  /// Binds a cell, which has to stay until the statement has been run.
  func bind(_ cell: RawCell, at index: Int32) -> Int32 {
    switch cell {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let value): sqlite3_bind_int64(handle, index, value)
    // A null address would be NULL, and an empty value may have no other.
    case .text(let bytes):
      sqlite3_bind_text64(
        handle, index, (bytes.baseAddress ?? Self.somewhere)?.assumingMemoryBound(to: CChar.self),
        UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    case .blob(let bytes):
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }
  }

  private static var somewhere: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: 16) }

  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
