import Glibc

/// A MessageFramer splits a byte stream into messages, each terminated by a NUL byte.
///
/// Bytes may arrive in pieces of any size. Each byte is examined a bounded number of times even for tiny pieces, and an
/// unfinished message never exceeds the limit.
///
///     var framer = MessageFramer(maxMessageBytes: 1 << 20)
///     framer.append(Array("{}\0{".utf8).span)
///     try framer.next()          // the bytes of "{}"
///     try framer.next()          // nil
///     framer.unfinishedMessage   // 1: the second message has begun
///
/// Source: Varlink, "Method Call": messages are terminated with a single NUL byte.
public struct MessageFramer: Sendable {
  /// A message exceeded the limit. The stream cannot be read further and must be closed.
  public struct TooLarge: Error, Hashable {
    /// The limit in bytes.
    public let maxMessageBytes: Int
  }

  /// Maximum buffer capacity kept by an idle connection, in bytes.
  private static let keptCapacity = 16 << 10

  private let maxMessageBytes: Int
  private var buffer: [UInt8] = []
  /// Start of the first message not yet taken.
  private var start = 0
  /// Start of the last message, whose NUL has not arrived.
  private var unfinishedStart = 0
  private var terminators = 0
  private var isOversized = false

  /// Creates a framer at the start of a stream.
  ///
  /// - Parameter maxMessageBytes: Maximum length of a message in bytes, without its NUL.
  public init(maxMessageBytes: Int = VarlinkLimits().maxMessageBytes) {
    self.maxMessageBytes = maxMessageBytes
  }

  /// Bytes held: complete messages not yet taken, and the start of the next.
  public var bufferedBytes: Int { buffer.count - start }

  /// The ordinal, from 0, of a message that has begun but not ended; `nil` between messages.
  ///
  /// An owner that limits the duration of a message restarts its timer when this changes.
  public var unfinishedMessage: Int? {
    isOversized || buffer.count > unfinishedStart ? terminators : nil
  }

  /// Appends bytes read from the peer. After an oversized message, all input is dropped.
  public mutating func append(_ bytes: Span<UInt8>) {
    guard !isOversized else { return }
    makeRoom()
    let scanned = buffer.count
    bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
    findTerminators(from: scanned)
    if buffer.count - unfinishedStart > maxMessageBytes {
      isOversized = true
      buffer.removeSubrange(unfinishedStart...)
    }
  }

  /// Returns the next complete message without its NUL; `nil` if there is none.
  ///
  /// - Throws: ``TooLarge`` if the next message exceeds the limit. The messages before it are returned first.
  public mutating func next() throws(TooLarge) -> [UInt8]? {
    guard start < unfinishedStart else {
      if isOversized { throw TooLarge(maxMessageBytes: maxMessageBytes) }
      return nil
    }
    let end = terminator(from: start) ?? unfinishedStart
    guard end - start <= maxMessageBytes else {
      isOversized = true
      buffer.removeAll()
      (start, unfinishedStart) = (0, 0)
      throw TooLarge(maxMessageBytes: maxMessageBytes)
    }
    let message = Array(buffer[start..<end])
    start = end + 1
    // A connection that waits for its next message releases an oversized buffer.
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
      (start, unfinishedStart) = (0, 0)
    }
    return message
  }

  /// Removes and returns all bytes held, for a connection that leaves Varlink by `upgrade`.
  mutating func takeRemaining() -> [UInt8] {
    defer {
      buffer = []
      (start, unfinishedStart) = (0, 0)
    }
    return Array(buffer[start...])
  }

  /// Drops the bytes taken once they are half of the buffer, so that each byte moves at most once on average.
  private mutating func makeRoom() {
    guard start > 0, start >= buffer.count - start else { return }
    buffer.removeSubrange(..<start)
    unfinishedStart -= start
    start = 0
  }

  private mutating func findTerminators(from scanned: Int) {
    var from = scanned
    while let end = terminator(from: from) {
      terminators += 1
      unfinishedStart = end + 1
      from = end + 1
    }
  }

  private func terminator(from index: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, index < bytes.count,
        let found = memchr(base + index, 0, bytes.count - index)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
