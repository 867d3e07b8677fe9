public import ChimeCore

/// Reads people's answers from a remote service over an outgoing connection.
public protocol AnswerReading: AnyObject, Sendable {
  /// Reads the answers after a message and all later ones.
  ///
  /// - Parameters:
  ///   - last: Id of the last processed message; nil for everything the service has kept.
  ///   - number: Identifies this stream.
  func open(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (ReplyReader.Event) -> Void)
  /// Confirms that a message is recorded, so that it need not be sent again.
  func settle(_ id: String, of number: UInt64)
  /// Tells the sender, if possible, that an answer had no effect.
  ///
  /// - Parameter isImpossible: Whether the answer was understood but cannot be carried out.
  func explain(_ reply: ReplyReader.Reply, of queue: DeliveryQueue, isImpossible: Bool)
  /// Closes a stream.
  ///
  /// - Parameter forgetting: Whether the service may delete its state, because the endpoint was removed.
  func close(_ number: UInt64, forgetting: Bool)
  func stop() async
}

extension AnswerReading {
  public func explain(_ reply: ReplyReader.Reply, of queue: DeliveryQueue, isImpossible: Bool) {}
}
