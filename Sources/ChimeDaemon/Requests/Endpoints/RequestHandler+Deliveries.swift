import ChimeControl
import ChimeCore

extension RequestHandler {
  func handle(_ request: DeliveriesInterface.List) async throws -> DeliveriesInterface.List.Reply {
    let filter = request.filter
    let page = try page(limit: request.limit, cursor: request.cursor)
    let (from, before) = (try instant(filter?.since, "since"), try instant(filter?.before, "before"))
    return try await store.read { [self] transaction in
      let reminder = try filter?.reminder.map {
        try reminders(in: transaction).reminder($0).reminder.id
      }
      let query = DeliveryFilter(
        owner: caller.sees, channel: filter?.channel.map(ChannelName.init(rawValue:)), reminder: reminder,
        state: filter?.state.flatMap { DeliveryFilter.State(rawValue: $0.rawValue) }, from: from, before: before)
      var listed: [DeliveriesInterface.Delivery] = []
      let cursor = try inParts(page) { part in
        let found = try transaction.deliveries(query, page: part).map { try described($0, transaction) }
        listed += found
        return (found.count, found.reduce(0) { $0 + 600 + $1.title.utf8.count + ($1.lastResult?.utf8.count ?? 0) })
      }
      return DeliveriesInterface.List.Reply(deliveries: listed, cursor: cursor)
    }
  }

  func handle(_ request: DeliveriesInterface.Get) async throws -> DeliveriesInterface.Get.Reply {
    try await store.read { [self] transaction in
      let delivery = try visible(request.id, transaction)
      return DeliveriesInterface.Get.Reply(
        delivery: try described(delivery, transaction),
        attempts: try transaction.attempts(of: delivery.id).map(wire.attempt))
    }
  }

  func visible(_ id: String, _ transaction: any StoreTransaction) throws -> Delivery {
    guard let delivery = try transaction.delivery(DeliveryID(rawValue: id)),
      caller.sees == nil || delivery.queue.owner == caller.sees
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
