/// The bounds that keep one peer from costing more than its share.
///
/// Everything a peer can make us hold is bounded by one of these numbers: the message it is sending, the depth
/// of that message, and the replies it does not read.
///
///     var limits = VarlinkLimits()
///     limits.maxMessageBytes = 64 << 10
public struct VarlinkLimits: Hashable, Sendable {
  /// The longest message accepted, in bytes, without its terminating NUL. 1 MiB unless changed.
  public var maxMessageBytes: Int

  /// How deep objects and arrays may nest in a message; the message's own object is the first level. 64 unless
  /// changed.
  public var maxNesting: Int

  /// How many bytes of replies may wait for a reader. A stream that would pass it is ended
  /// (``ServerConnection/CloseReason/slowReader``); a client that sends calls without reading the answers is not
  /// read from until it does. 1 MiB unless changed.
  public var maxQueuedBytes: Int

  /// The limits of this library, unless told otherwise.
  public init(maxMessageBytes: Int = 1 << 20, maxNesting: Int = 64, maxQueuedBytes: Int = 1 << 20) {
    self.maxMessageBytes = maxMessageBytes
    self.maxNesting = maxNesting
    self.maxQueuedBytes = maxQueuedBytes
  }
}
