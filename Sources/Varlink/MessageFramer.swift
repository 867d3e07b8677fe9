import Glibc

/// Cuts a stream of bytes into messages: each is ended by one NUL byte.
///
/// Bytes may arrive in pieces of any size. Every byte is looked at a bounded number of times, however small the
/// pieces are, and an unfinished message never holds more than the limit.
///
///     var framer = MessageFramer(maxMessageBytes: 1 << 20)
///     framer.append(Array("{}\0{".utf8).span)
///     try framer.next()          // the bytes of "{}"
///     try framer.next()          // nil
///     framer.unfinishedMessage   // 1: the second message has begun
///
/// Source: Varlink, "Method Call": messages are terminated with a single NUL byte.
public struct MessageFramer: Sendable {
  /// A message was longer than the limit. Nothing can be read after it: the stream must be closed.
  public struct TooLarge: Error, Hashable {
    /// The limit that was passed, in bytes.
    public let maxMessageBytes: Int
  }

  /// An idle connection keeps a buffer of at most this many bytes.
  private static let keptCapacity = 16 << 10

  private let maxMessageBytes: Int
  private var buffer: [UInt8] = []
  /// Where the first message not yet taken begins.
  private var start = 0
  /// Where the last message, the one not yet ended, begins.
  private var unfinishedStart = 0
  private var terminators = 0
  private var isOversized = false

  /// A framer at the beginning of a stream.
  ///
  /// - Parameter maxMessageBytes: the longest message accepted, without its NUL.
  public init(maxMessageBytes: Int = VarlinkLimits().maxMessageBytes) {
    self.maxMessageBytes = maxMessageBytes
  }

  /// How many bytes are held: complete messages not yet taken, and the beginning of the next.
  public var bufferedBytes: Int { buffer.count - start }

  /// The ordinal, from 0, of the message of which some bytes but not its NUL have arrived; `nil` between messages.
  ///
  /// An owner that limits the time a message may take starts its clock when this becomes a new number.
  public var unfinishedMessage: Int? {
    isOversized || buffer.count > unfinishedStart ? terminators : nil
  }

  /// Takes in what has been read from the peer. After an oversized message, what follows is dropped.
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

  /// The next complete message, without its NUL, or `nil` when none has arrived whole.
  ///
  /// - Throws: ``TooLarge`` when the next message is over the limit; the messages before it are handed out first.
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
    // A connection that waits for its next message does not keep the room of its longest.
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
      (start, unfinishedStart) = (0, 0)
    }
    return message
  }

  /// Everything held, as it came; for a connection that stops speaking Varlink after an `upgrade`.
  mutating func takeRemaining() -> [UInt8] {
    defer {
      buffer = []
      (start, unfinishedStart) = (0, 0)
    }
    return Array(buffer[start...])
  }

  /// Drops what has been taken, once it is at least half of the buffer: each byte is moved at most once on average.
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
