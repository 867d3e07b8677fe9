import CPostgres
import ChimeRecords

// Columns of many rows, sent as one array parameter each for `unnest`. One statement then replaces hundreds.

/// An array of values as one parameter.
struct List<Element: SQLValue>: SQLValue {
  static var sqlType: SQLType { Element.sqlType.list }
  private var values = ListBytes(of: Element.sqlType)

  init(_ elements: some Sequence<Element>) { for element in elements { element.bind(to: &values) } }

  func bind(to parameters: inout some SQLParameters) { parameters.add(values.bytes) }
}

/// The rows of a statement, as one array for each column.
struct Rows {
  private(set) var count = 0
  private(set) var columns: [ListBytes]

  /// Columns whose types follow from the first row.
  init() { columns = [] }

  init(_ shape: TableShape) {
    columns = shape.columns.map { column in
      switch column.kind {
      case .integer: ListBytes(of: .integer)
      case .text: ListBytes(of: .text)
      case .blob: ListBytes(of: .bytes)
      }
    }
  }

  mutating func append<each Value: SQLValue>(_ values: repeat each Value) {
    if columns.isEmpty {
      for type in repeat (each Value).self { columns.append(ListBytes(of: type.sqlType)) }
    }
    var column = 0
    for value in repeat each values {
      value.bind(to: &columns[column])
      column += 1
    }
    count += 1
  }

  mutating func append(_ row: [RawCell]) {
    for (column, cell) in row.enumerated() { columns[column].add(cell) }
    count += 1
  }
}

/// The binary format of an array: a header, then each value after its length (array_recv in
/// src/backend/utils/adt/arrayfuncs.c).
struct ListBytes: SQLParameters {
  let type: SQLType
  /// The header has the number of dimensions, a flag for nulls, the element type, and the dimension's length and lower bound.
  private(set) var bytes: [UInt8] = []

  init(of type: SQLType) {
    self.type = type
    for number in [1, 0, Int32(bitPattern: type.oid), 0, 1] { write(number) }
  }

  mutating func add(_ number: Int64) {
    write(Int32(8))
    write(number)
    count()
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ content: [UInt8]) { content.withUnsafeBytes { add($0) } }

  mutating func addNull() {
    write(Int32(-1))
    bytes[7] = 1
    count()
  }

  mutating func add(_ cell: RawCell) {
    switch cell {
    case .null: addNull()
    case .integer(let number): add(number)
    case .text(let content), .blob(let content): add(content)
    }
  }

  private mutating func add(_ content: UnsafeRawBufferPointer) {
    write(Int32(content.count))
    bytes.append(contentsOf: content)
    count()
  }

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
