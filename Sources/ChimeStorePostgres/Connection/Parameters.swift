import CPostgres
import ChimeRecords

/// The parameters of one execution, in one contiguous buffer.
struct Parameters: SQLParameters {
  // The buffer is never empty, so that an empty text has a non-null address; a null address means NULL.
  private var bytes: [UInt8] = [0]
  private var offsets: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  mutating func add(_ integer: Int64) {
    open()
    withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    lengths.append(8)
  }

  mutating func add(_ text: String) { append(text.utf8) }

  mutating func add(_ content: [UInt8]) { append(content) }

  private mutating func append(_ content: some Collection<UInt8>) {
    open()
    let start = bytes.count
    bytes.append(contentsOf: content)
    lengths.append(Int32(bytes.count - start))
  }

  mutating func addNull() {
    offsets.append(-1)
    lengths.append(0)
    formats.append(1)
  }

  private mutating func open() {
    offsets.append(bytes.count)
    formats.append(1)
  }

  /// Calls `body` with the count, pointers, lengths and formats that libpq expects.
  func withPointers<Result>(
    _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { memory in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: offsets.count) { pointers in
        for (index, offset) in offsets.enumerated() {
          pointers.initializeElement(
            at: index,
            to: offset < 0 ? nil : memory.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
        }
        return body(Int32(offsets.count), UnsafePointer(pointers.baseAddress), lengths, formats)
      }
    }
  }
}

extension Rows {
  /// The types of the columns as parameters.
  var types: [Oid] { columns.map(\.type.list.oid) }

  var parameters: Parameters {
    var parameters = Parameters()
    for column in columns { parameters.add(column.bytes) }
    return parameters
  }
}

extension SQLType {
  /// The type's OID, sent explicitly so that the server need not infer it.
  var oid: Oid {
    switch self {
    case .integer: Oid(CHIME_PQ_INT8)
    case .text: Oid(CHIME_PQ_TEXT)
    case .bytes: Oid(CHIME_PQ_BYTEA)
    case .integers: Oid(CHIME_PQ_INT8_ARRAY)
    case .texts: Oid(CHIME_PQ_TEXT_ARRAY)
    case .blobs: Oid(CHIME_PQ_BYTEA_ARRAY)
    }
  }
}
