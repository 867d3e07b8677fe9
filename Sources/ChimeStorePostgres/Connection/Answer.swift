import CPostgres
import ChimeRecords

/// An Answer is the result of a statement: its rows, or the number of changed rows.
final class Answer {
  private let handle: OpaquePointer

  /// Takes ownership of a result; `deinit` frees it.
  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { chime_pq_clear(handle) }

  var count: Int32 { chime_pq_rows(handle) }

  /// The number of rows that an INSERT, UPDATE or DELETE changed.
  var changes: Int { chime_pq_changed(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

  subscript(row: Int32) -> Row { Row(answer: self, row: row) }

  /// Returns the results of `make` for all rows, in order.
  func map<Made>(_ make: (Row) throws -> Made) rethrows -> [Made] { try (0..<count).map { try make(self[$0]) } }

  /// Returns the value in binary format; nil if it is NULL.
  fileprivate func value(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
    guard chime_pq_is_null(handle, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: chime_pq_value(handle, row, column), count: Int(chime_pq_length(handle, row, column)))
  }
}

/// One row of an answer.
struct Row: StoredRow {
  fileprivate let answer: Answer
  fileprivate let row: Int32

  func isNull(_ column: Int32) -> Bool { answer.value(row, column) == nil }

  /// Returns an integer of any width, sent in big-endian order, or a boolean as 0 or 1.
  func int64(_ column: Int32) -> Int64 {
    guard let bytes = answer.value(row, column), bytes.count <= 8 else { return 0 }
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: return Int64(bytes[0])
    default: return 0
    }
  }

  func text(_ column: Int32) -> String { answer.value(row, column).map { String(decoding: $0, as: UTF8.self) } ?? "" }

  /// Returns the column in its stored form. It is valid for as long as the answer.
  func cell(_ column: Int32, _ kind: TableShape.Column.Kind) -> RawCell {
    guard let bytes = answer.value(row, column) else { return .null }
    return switch kind {
    case .integer: .integer(int64(column))
    case .text: .text(bytes)
    case .blob: .blob(bytes)
    }
  }

  func bytes(_ column: Int32) -> [UInt8] { answer.value(row, column).map { [UInt8]($0) } ?? [] }
}
