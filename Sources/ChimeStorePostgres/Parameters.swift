import CPostgres
import ChimeSchedule
import ChimeTracking

/// A value that fills one parameter of a statement, in PostgreSQL's binary form.
protocol Bindable {
  /// The type that the server is told, so that it has nothing to guess.
  static var type: Oid { get }
  func bind(to parameters: inout Parameters)
}

/// The parameters of one execution, side by side in one piece of memory.
struct Parameters {
  // Never empty, so that an empty text has an address: a null one would be NULL.
  private var bytes: [UInt8] = [0]
  private var offsets: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  mutating func clear() {
    bytes.removeLast(bytes.count - 1)
    offsets.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    formats.removeAll(keepingCapacity: true)
  }

  mutating func add(_ integer: Int64) {
    open()
    withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    lengths.append(8)
  }

  mutating func add(_ content: some Collection<UInt8>) {
    open()
    let start = bytes.count
    bytes.append(contentsOf: content)
    lengths.append(Int32(bytes.count - start))
  }

  /// Adds content behind a few numbers.
  mutating func add(_ numbers: [Int32], before content: [UInt8]) {
    open()
    for number in numbers { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
    bytes.append(contentsOf: content)
    lengths.append(Int32(4 * numbers.count + content.count))
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

  /// As libpq takes them: how many, where, how long, and that they are binary.
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
        return lengths.withUnsafeBufferPointer { lengths in
          formats.withUnsafeBufferPointer { formats in
            body(Int32(offsets.count), UnsafePointer(pointers.baseAddress), lengths.baseAddress, formats.baseAddress)
          }
        }
      }
    }
  }
}

extension Int64: Bindable {
  static var type: Oid { Oid(CHIME_PQ_INT8) }
  func bind(to parameters: inout Parameters) { parameters.add(self) }
}

extension Int: Bindable {
  static var type: Oid { Int64.type }
  func bind(to parameters: inout Parameters) { parameters.add(Int64(self)) }
}

extension UInt32: Bindable {
  static var type: Oid { Int64.type }
  func bind(to parameters: inout Parameters) { parameters.add(Int64(self)) }
}

extension Instant: Bindable {
  static var type: Oid { Int64.type }
  func bind(to parameters: inout Parameters) { parameters.add(milliseconds) }
}

extension CivilDate: Bindable {
  static var type: Oid { Int64.type }
  func bind(to parameters: inout Parameters) { parameters.add(Int64(dayNumber)) }
}

extension Quantity: Bindable {
  static var type: Oid { Int64.type }
  func bind(to parameters: inout Parameters) { parameters.add(grains) }
}

extension String: Bindable {
  static var type: Oid { Oid(CHIME_PQ_TEXT) }
  func bind(to parameters: inout Parameters) { parameters.add(utf8) }
}

extension [UInt8]: Bindable {
  static var type: Oid { Oid(CHIME_PQ_BYTEA) }
  func bind(to parameters: inout Parameters) { parameters.add(self) }
}

extension Optional: Bindable where Wrapped: Bindable {
  static var type: Oid { Wrapped.type }
  func bind(to parameters: inout Parameters) {
    if let self { self.bind(to: &parameters) } else { parameters.addNull() }
  }
}
