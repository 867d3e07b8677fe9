import CPostgres
import ChimeRecords
import ChimeSchedule

// Columns of many rows that go to the server as one parameter, for `unnest`: a statement for hundreds of rows instead of
// hundreds of statements.

/// What lists are made of: each value behind its length, as it stands in an array's binary form
/// (src/backend/utils/adt/arrayfuncs.c, array_recv).
private struct ListBytes {
  /// Begins with room for what stands before the values.
  private var bytes = [UInt8](repeating: 0, count: 20)
  private var count = 0
  private var hasNull = false

  mutating func add(_ number: Int64) {
    write(Int32(8))
    write(number)
    count += 1
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 {
      write(Int32($0.count))
      bytes.append(contentsOf: $0)
    }
    count += 1
  }

  mutating func addNull() {
    write(Int32(-1))
    hasNull = true
    count += 1
  }

  mutating func reserve(_ room: Int) { bytes.reserveCapacity(room) }

  private mutating func write(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// The values behind what says how many dimensions there are, whether there are nulls, of what type the values are, and of
  /// the one dimension its length and where it begins.
  func array(of type: Int32) -> [UInt8] {
    var bytes = bytes
    for (place, number) in [1, hasNull ? 1 : 0, type, Int32(count), 1].enumerated() {
      withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(4 * place..<4 * place + 4, with: $0) }
    }
    return bytes
  }
}

/// Whole numbers.
struct Integers: SQLValue {
  static var sqlType: SQLType { .integers }
  private var list = ListBytes()

  init() {}

  init(_ values: some Collection<Int64>) {
    list.reserve(values.count * 12)
    for value in values { list.add(value) }
  }

  mutating func append(_ value: Int64) { list.add(value) }
  mutating func append(_ value: Int) { list.add(Int64(value)) }
  mutating func append(_ value: UInt32) { list.add(Int64(value)) }
  mutating func append(_ value: Instant) { list.add(value.milliseconds) }
  mutating func append(_ value: Int?) { if let value { append(value) } else { list.addNull() } }
  mutating func append(_ value: Instant?) { if let value { append(value) } else { list.addNull() } }

  func bind(to parameters: inout some SQLParameters) { parameters.add(list.array(of: Int32(CHIME_PQ_INT8))) }
}

/// Texts.
struct Texts: SQLValue {
  static var sqlType: SQLType { .texts }
  private var list = ListBytes()

  init() {}

  mutating func append(_ value: String) { list.add(value) }
  mutating func append(_ value: String?) { if let value { list.add(value) } else { list.addNull() } }

  func bind(to parameters: inout some SQLParameters) { parameters.add(list.array(of: Int32(CHIME_PQ_TEXT))) }
}
