import CSQLite
import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeTracking

/// A value that fills one parameter of a statement.
protocol Bindable {
  /// Binds itself; returns SQLite's result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_int64(statement, index, self) }
}

extension Int: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { Int64(self).bind(to: statement, at: index) }
}

extension UInt32: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { Int64(self).bind(to: statement, at: index) }
}

extension Instant: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { milliseconds.bind(to: statement, at: index) }
}

extension String: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    // SQLite copies before it returns, so the borrowed bytes need not outlive the call.
    var text = self
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty string may have no address, and SQLite takes a null address for NULL.
        sqlite3_bind_text64(
          statement, index, characters.baseAddress ?? Self.somewhere, UInt64(characters.count),
          chime_sqlite_transient(), UInt8(SQLITE_UTF8))
      }
    }
  }

  /// Any address that is not null.
  private static var somewhere: UnsafePointer<CChar>? {
    UnsafeRawPointer(bitPattern: 16)?.assumingMemoryBound(to: CChar.self)
  }
}

extension [UInt8]: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    isEmpty
      ? sqlite3_bind_zeroblob(statement, index, 0)
      : sqlite3_bind_blob64(statement, index, self, UInt64(count), chime_sqlite_transient())
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .some(let value): value.bind(to: statement, at: index)
    case .none: sqlite3_bind_null(statement, index)
    }
  }
}

/// A compiled statement; owned by the connection that compiled it and used on its queue only.
///
/// While a statement stands on a row, the getters read that row's columns, counted from 0.
/// (sqlite.org/c3ref/stmt.html)
final class Statement: StoredRow {
  private let handle: OpaquePointer

  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Whether the statement leaves the database as it is.
  var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// Binds one parameter, counted from 1.
  func bind(_ value: some Bindable, at index: Int32) -> Int32 { value.bind(to: handle, at: index) }

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

extension CivilDate: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    Int64(dayNumber).bind(to: statement, at: index)
  }
}

extension Quantity: Bindable {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { grains.bind(to: statement, at: index) }
}
