import ChimeControl
import ChimeCore

extension Desk {
  func deliveries(_ request: DeliveriesInterface.List.Parameters) async throws -> DeliveriesInterface.List.Reply {
    let filter = request.filter
    let page = try page(limit: request.limit, cursor: request.cursor)
    let (from, before) = (try instant(filter?.since, "since"), try instant(filter?.before, "before"))
    return try await store.read { [self] transaction in
      let reminder = try filter?.reminder.map {
        try Lookup(transaction: transaction, owner: caller.sees).reminder($0).reminder.id
      }
      let found = try transaction.deliveries(
        DeliveryFilter(
          owner: caller.sees, channel: filter?.channel.map(ChannelName.init(rawValue:)), reminder: reminder,
          state: filter?.state.flatMap { DeliveryFilter.State(rawValue: $0.rawValue) }, from: from, before: before),
        page: page)
      let listed = try found.map { try described($0, transaction) }
      return DeliveriesInterface.List.Reply(deliveries: listed, cursor: cursor(after: page, count: found.count))
    }
  }

  func delivery(_ request: DeliveriesInterface.Get.Parameters) async throws -> DeliveriesInterface.Get.Reply {
    try await store.read { [self] transaction in
      let delivery = try visible(request.id, transaction)
      return DeliveriesInterface.Get.Reply(
        delivery: try described(delivery, transaction),
        attempts: try transaction.attempts(of: delivery.id).map(wire.attempt))
    }
  }

  func visible(_ id: String, _ transaction: any StoreTransaction) throws -> Delivery {
    guard let delivery = try transaction.delivery(DeliveryID(rawValue: id)),
      caller.sees == nil || delivery.lane.owner == caller.sees
    else { throw ControlFailure.notFound(what: "delivery", id: String(id.prefix(200)), near: []) }
    return delivery
  }

  func described(
    _ delivery: Delivery, _ transaction: any StoreTransaction
  ) throws -> DeliveriesInterface.Delivery {
    wire.delivery(
      delivery, title: try transaction.occurrence(delivery.occurrence)?.title ?? "",
      lastAttempt: try transaction.attempts(of: delivery.id).last)
  }
}
