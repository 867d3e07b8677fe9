/// VarlinkLimits bound the memory that one peer can occupy: the message that it sends, the nesting of that message, and
/// the replies that it does not read.
///
///     var limits = VarlinkLimits()
///     limits.maxMessageBytes = 64 << 10
public struct VarlinkLimits: Hashable, Sendable {
  /// Maximum length of a message in bytes, without its NUL. Default: 1 MiB.
  public var maxMessageBytes: Int

  /// Maximum nesting of objects and arrays in a message; the message's own object is the first level. Default: 64.
  public var maxNesting: Int

  /// Maximum bytes of queued replies. A stream that would exceed it ends (``ServerConnection/CloseReason/slowReader``).
  /// A client that sends calls without reading replies is not read from until it does. Default: 1 MiB.
  public var maxQueuedBytes: Int

  public init(maxMessageBytes: Int = 1 << 20, maxNesting: Int = 64, maxQueuedBytes: Int = 1 << 20) {
    self.maxMessageBytes = maxMessageBytes
    self.maxNesting = maxNesting
    self.maxQueuedBytes = maxQueuedBytes
  }
}
