import CPostgres
import ChimeRecords
import ChimeSchedule

// Columns of many rows, sent as one array parameter each for `unnest`. One statement then replaces hundreds.

/// The binary format of an array: a header, then each value after its length (array_recv in
/// src/backend/utils/adt/arrayfuncs.c).
private struct ListBytes {
  /// The header has the number of dimensions, a flag for nulls, the element type, and the dimension's length and lower bound.
  private(set) var bytes: [UInt8]

  init(of type: Int32) {
    bytes = []
    for number in [1, 0, type, 0, 1] { write(number) }
  }

  mutating func add(_ number: Int64) {
    write(Int32(8))
    write(number)
    count()
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 {
      write(Int32($0.count))
      bytes.append(contentsOf: $0)
    }
    count()
  }

  mutating func add(_ content: [UInt8]) {
    write(Int32(content.count))
    bytes.append(contentsOf: content)
    count()
  }

  mutating func addNull() {
    write(Int32(-1))
    bytes[7] = 1
    count()
  }

  mutating func reserve(_ room: Int) { bytes.reserveCapacity(room) }

  private mutating func write(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Increments the array's length in the header (bytes 12 to 15).
  private mutating func count() {
    for place in stride(from: 15, through: 12, by: -1) {
      bytes[place] &+= 1
      if bytes[place] != 0 { return }
    }
  }
}

/// An array of integers.
struct Integers: SQLValue {
  static var sqlType: SQLType { .integers }
  private var list = ListBytes(of: Int32(CHIME_PQ_INT8))

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

  func bind(to parameters: inout some SQLParameters) { parameters.add(list.bytes) }
}

/// An array of texts.
struct Texts: SQLValue {
  static var sqlType: SQLType { .texts }
  private var list = ListBytes(of: Int32(CHIME_PQ_TEXT))

  init() {}

  mutating func append(_ value: String) { list.add(value) }
  mutating func append(_ value: String?) { if let value { list.add(value) } else { list.addNull() } }

  func bind(to parameters: inout some SQLParameters) { parameters.add(list.bytes) }
}

/// An array of byte strings.
struct Blobs: SQLValue {
  static var sqlType: SQLType { .blobs }
  private var list = ListBytes(of: Int32(CHIME_PQ_BYTEA))

  init() {}

  mutating func append(_ value: [UInt8]) { list.add(value) }

  func bind(to parameters: inout some SQLParameters) { parameters.add(list.bytes) }
}
