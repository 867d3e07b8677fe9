public import ChimeSchedule

/// EndpointNotice tells a user that one of their endpoints was disabled.
///
/// The notice is recorded in the transaction that disables the endpoint, as a `DesktopNotice`.
public enum EndpointNotice {
  public static func record(
    _ endpoint: Endpoint, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> Occurrence {
    let wording = context.wording
    return try DesktopNotice.record(
      wording.notice(title(endpoint)),
      wording.notice(body(endpoint, waiting: try waiting(for: endpoint.queue, transaction))),
      to: endpoint.queue.owner, in: transaction, context, now: now, using: &generator)
  }

  /// Returns the title, such as `Webhook "team" is off: it has failed for 5 days`.
  public static func title(_ endpoint: Endpoint) -> String {
    let name = "\"\(endpoint.queue.channel)\""
    var reason = endpoint.disabled?.reason ?? "it was disabled"
    // Reasons that also stand alone name the endpoint, which the title has already.
    if reason.hasPrefix("endpoint \(name) ") { reason = "it " + reason.dropFirst("endpoint \(name) ".count) }
    switch endpoint.kind {
    case .webhook: return "Webhook \(name) is off: \(reason)"
    case .email: return "Email \(name) is off: \(reason)"
    case .mqtt: return "MQTT endpoint \(name) is off: \(reason)"
    case .matrix: return "Matrix room \(name) is off: \(reason)"
    }
  }

  public static func body(_ endpoint: Endpoint, waiting: Int) -> String {
    let messages =
      switch waiting {
      case 0: "No message waits for it."
      case 1: "1 message waits for it."
      case ..<countLimit: "\(waiting) messages wait for it."
      default: "\(countLimit) messages or more wait for it."
      }
    return "\(messages) When it works again: chime endpoint enable \(endpoint.queue.channel)"
  }

  private static let countLimit = 1_000

  private static func waiting(for queue: DeliveryQueue, _ transaction: any StoreTransaction) throws -> Int {
    try [DeliveryFilter.State.pending, .waiting].reduce(0) { sum, state in
      let filter = DeliveryFilter(owner: queue.owner, channel: queue.channel, state: state)
      return sum + (try transaction.deliveries(filter, page: Page(limit: countLimit)).count)
    }
  }
}
