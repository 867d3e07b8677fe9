import ChimeControl
import ChimeCore

/// An EndpointLookup finds the endpoint that a client named.
enum EndpointLookup {
  static func queue(_ name: String, of owner: UInt32) throws -> DeliveryQueue {
    let channel = ChannelName(rawValue: name)
    try need(
      channel.isValidForEndpoint, "name",
      "'\(TrackerFields.shown(name))' is not a name for an endpoint: use 1 to 64 letters, digits, . _ or -, and not desktop"
    )
    return DeliveryQueue(owner: owner, channel: channel)
  }

  static func endpoint(_ queue: DeliveryQueue, in transaction: any StoreTransaction) throws -> Endpoint {
    guard let endpoint = try transaction.endpoint(queue) else { throw try missing(queue, in: transaction) }
    return endpoint
  }

  static func missing(_ queue: DeliveryQueue, in transaction: any StoreTransaction) throws -> ControlFailure {
    let names = try transaction.endpoints(owner: queue.owner).map(\.queue.channel.rawValue)
    return .notFound(
      what: "endpoint", id: queue.channel.rawValue,
      similar: SpellingSuggestions.to(queue.channel.rawValue, among: names))
  }
}

/// The numbers of pending and dead messages of one endpoint.
struct EndpointCounts: Sendable {
  var pending: Int
  var dead: Int

  init(of queue: DeliveryQueue, in transaction: any StoreTransaction) throws {
    func count(_ state: DeliveryFilter.State) throws -> Int {
      try transaction.deliveries(
        DeliveryFilter(owner: queue.owner, channel: queue.channel, state: state), page: Page(limit: 10_000)
      ).count
    }
    pending = try count(.pending) + count(.waiting)
    dead = try count(.dead)
  }
}
