import CSQLite
import ChimeRecords

/// Binds the values of one execution to a statement, in order.
struct StatementParameters: SQLParameters {
  let handle: OpaquePointer
  /// The parameter indexes of `$1`, `$2`, … in the statement, 0 for an absent one; nil if they equal the numbers.
  let places: [Int32]?
  private var count = 0
  /// The first error code of SQLite.
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
    // SQLite copies the bytes before it returns, so the borrowed memory is sufficient.
    var text = text
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty string may have a null address, which SQLite takes as NULL.
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

  /// An arbitrary address that is not null.
  private static var somewhere: UnsafePointer<CChar>? {
    UnsafeRawPointer(bitPattern: 16)?.assumingMemoryBound(to: CChar.self)
  }
}

/// A Statement is a compiled statement; its connection owns it and uses it on its queue only.
///
/// While a statement is on a row, the getters read that row's columns, counted from 0 (sqlite.org/c3ref/stmt.html).
final class Statement: StoredRow {
  private let handle: OpaquePointer
  /// The parameter indexes as in `StatementParameters`.
  private let places: [Int32]?

  init(owning handle: OpaquePointer) {
    self.handle = handle
    // SQLite numbers `$2` by its first occurrence, whatever its name (sqlite.org/lang_expr.html, "Parameters").
    var places: [Int32] = []
    for place in 0..<sqlite3_bind_parameter_count(handle) {
      // Parameters written as `?` have no such names.
      guard let name = sqlite3_bind_parameter_name(handle, place + 1), name[0] == UInt8(ascii: "$"),
        let number = Int(String(cString: name + 1))
      else { continue }
      places += repeatElement(0, count: max(0, number - places.count))
      places[number - 1] = place + 1
    }
    self.places = places == Array(0..<Int32(places.count)).map { $0 + 1 } ? nil : places
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds the values of the statement's parameters, in order.
  var parameters: StatementParameters { StatementParameters(of: handle, places: places) }

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

  /// Binds a cell, whose memory must stay valid until the statement has run.
  func bind(_ cell: RawCell, at index: Int32) -> Int32 {
    switch cell {
    case .null: sqlite3_bind_null(handle, index)
    case .integer(let value): sqlite3_bind_int64(handle, index, value)
    // A null address would mean NULL, and an empty value may have a null address.
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
