/// Why an address, a setting, a library or an answer cannot be used, as a sentence that says what
/// to write or to do instead.
public struct DeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Refuses an address, a setting or an answer unless it follows a rule.
func need(_ rule: Bool, _ message: @autoclosure () -> String) throws(DeliveryError) {
  guard rule else { throw DeliveryError(message()) }
}
