/// An OutputQueue holds bytes that wait to be written.
struct OutputQueue: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0
  /// Whether the last byte written is inside a message.
  private var isMidMessage = false

  /// Maximum buffer capacity kept by an idle connection, in bytes.
  private static let keptCapacity = 16 << 10

  var count: Int { bytes.count - start }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ more: [UInt8]) {
    if start > 0, start >= count {
      bytes.removeSubrange(..<start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    start = 0
    isMidMessage = false
  }

  /// Drops every message that has not started. The rest of a partly written message stays, because the reader needs its
  /// end.
  mutating func removeUnstarted() {
    guard isMidMessage, let end = bytes[start...].firstIndex(of: 0) else { return removeAll() }
    bytes.removeSubrange((end + 1)...)
  }

  /// Writes until the queue is empty or `write` accepts no more.
  mutating func drain(_ write: (UnsafeRawBufferPointer) -> Int) {
    while !isEmpty {
      let written = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
      guard written > 0 else { return }
      start += min(written, count)
      isMidMessage = bytes[start - 1] != 0
    }
    removeAll()
  }
}
