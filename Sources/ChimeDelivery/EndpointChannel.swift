public import ChimeCore

/// A channel to endpoints of one kind or several.
public protocol EndpointChannel: Channel, AnyObject {
  /// Makes ready for a first message.
  func prepare()
  /// Sends one message now, and says all about it. Nothing is stored and nothing retried.
  func test(_ access: EndpointAccess) async -> WebhookTest
}
