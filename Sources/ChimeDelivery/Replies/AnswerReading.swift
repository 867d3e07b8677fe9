public import ChimeCore

/// Brings what people answer elsewhere, by a connection that goes out.
public protocol AnswerReading: AnyObject, Sendable {
  /// Asks for what came after a message, and for all that comes from then on.
  ///
  /// - Parameters:
  ///   - last: by the id that it came with; nil: for all that is kept.
  ///   - number: tells it from all others.
  func open(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (ReplyReader.Event) -> Void)
  /// Nothing more is to be done for a message that came: it need not come again.
  func settle(_ id: String, of number: UInt64)
  /// Tells who has answered that nothing came of it, where there is a way to.
  ///
  /// - Parameter isImpossible: whether it was understood, and cannot be done.
  func explain(_ reply: ReplyReader.Reply, of queue: DeliveryQueue, isImpossible: Bool)
  /// Gives one up.
  ///
  /// - Parameter forgetting: whether the other side may forget all that it keeps for it: the endpoint is gone.
  func close(_ number: UInt64, forgetting: Bool)
  func stop() async
}

extension AnswerReading {
  public func explain(_ reply: ReplyReader.Reply, of queue: DeliveryQueue, isImpossible: Bool) {}
}
