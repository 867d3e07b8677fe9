import ChimeControl
import ChimeCore

/// A DeliveriesHandler answers the methods about messages: lists them, sends dead ones again, cancels pending ones.
struct DeliveriesHandler: DeliveriesInterface.Handler, RequestPart {
  let requestContext: RequestContext

  /// The messages that one transaction changes. More would delay firing.
  private static let batch = 500
  /// The most messages that an answer describes.
  private static let described = 100

  func handle(_ request: DeliveriesInterface.List) async throws -> DeliveriesInterface.List.Reply {
    let filter = request.filter
    let page = try page(limit: request.limit)
    let (from, before) = (try instant(filter?.since, "since"), try instant(filter?.before, "before"))
    return try await store.read { [self] transaction in
      let reminder = try filter?.reminder.map {
        try reminders(in: transaction).reminder($0).reminder.id
      }
      var query = DeliveryFilter(
        owner: caller.sees, channel: filter?.channel.map(ChannelName.init(rawValue:)), reminder: reminder,
        state: filter?.state.flatMap { DeliveryFilter.State(rawValue: $0.rawValue) }, from: from, before: before)
      var listed: [DeliveriesInterface.Delivery] = []
      let cursor = try inParts(page, after: place(request.cursor)) { part, place in
        query.after = place
        let deliveries = try transaction.deliveries(query, page: part)
        let found = try deliveries.map { try described($0, transaction) }
        listed += found
        let bytes = found.reduce(0) { $0 + 600 + $1.title.utf8.count + ($1.lastResult?.utf8.count ?? 0) }
        return (found.count, bytes, deliveries.last?.id)
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

  private func visible(_ id: String, _ transaction: any StoreTransaction) throws -> Delivery {
    guard let delivery = try transaction.delivery(DeliveryID(rawValue: id)),
      caller.sees == nil || delivery.queue.owner == caller.sees
    else { throw ControlFailure.notFound(what: "delivery", id: String(id.prefix(200)), similar: []) }
    return delivery
  }

  private func described(
    _ delivery: Delivery, _ transaction: any StoreTransaction
  ) throws -> DeliveriesInterface.Delivery {
    wire.delivery(
      delivery, title: try transaction.occurrence(delivery.occurrence)?.title ?? "",
      lastAttempt: try transaction.attempts(of: delivery.id).last)
  }

  // MARK: Redelivery

  func handle(
    _ request: DeliveriesInterface.Redeliver
  ) async throws -> DeliveriesInterface.Redeliver.Reply {
    if let limit = request.limit, limit < 1 {
      throw ControlFailure.invalidValue(field: "limit", "give a number from 1 on, or none for all")
    }
    let isDry = request.dryRun ?? false
    if let id = request.which.id {
      try refuseMore(request.which)
      return try await redeliverOne(id, isDry: isDry)
    }
    let selection = try await select(request.which)
    let (found, skipped) = try await store.read { [self] transaction -> ([DeliveryID], Int) in
      var (ids, skipped) = ([DeliveryID](), 0)
      try forEach(.dead, selection, transaction) { delivery in
        // An answered occurrence is not announced again; an event still is.
        let isOpen = try delivery.event != nil || transaction.occurrence(delivery.occurrence)?.isOpen ?? false
        if isOpen { ids.append(delivery.id) } else { skipped += 1 }
      }
      return (ids, skipped)
    }
    let ids = Array(found.reversed().prefix(request.limit ?? .max))
    var count = ids.count
    if !isDry {
      count = 0
      for start in stride(from: 0, to: ids.count, by: Self.batch) {
        let part = ids[start..<min(start + Self.batch, ids.count)]
        count += try await commit { [self] transaction in
          try note(.redelivered, String(ids.count), in: transaction)
          let replayed = try part.filter { try Self.isStillDead($0, transaction) && transaction.replay($0, now: now) }
          let queues = Set(try replayed.compactMap { try transaction.delivery($0)?.queue })
          return (replayed.count, queues.map { .opened($0) })
        }
      }
    }
    let listed = try await describe(ids)
    return DeliveriesInterface.Redeliver.Reply(
      count: count, skipped: skipped, deliveries: listed, notes: try await notes(about: listed))
  }

  private static func isStillDead(_ id: DeliveryID, _ transaction: any StoreTransaction) throws -> Bool {
    if case .dead = try transaction.delivery(id)?.state { true } else { false }
  }

  private func redeliverOne(_ id: String, isDry: Bool) async throws -> DeliveriesInterface.Redeliver.Reply {
    let (delivery, closed) = try await commit { [self] transaction in
      let delivery = try visible(id, transaction)
      if !isDry, try !transaction.replay(delivery.id, now: now) {
        throw ControlFailure.conflict("the message \(id) is being sent now: see chime deliveries --id \(id)")
      }
      let occurrence = try transaction.occurrence(delivery.occurrence)
      if !isDry { try note(.redelivered, occurrence?.title ?? "", in: transaction) }
      let closed = occurrence.flatMap {
        $0.isOpen || delivery.event != nil ? nil : "\"\($0.title)\" has been closed since"
      }
      return (
        (try described(transaction.delivery(delivery.id) ?? delivery, transaction), closed),
        isDry ? [] : [.opened(delivery.queue)]
      )
    }
    let notes = try await notes(about: [delivery])
    return DeliveriesInterface.Redeliver.Reply(
      count: 1, skipped: 0, deliveries: [delivery],
      notes: (closed.map { [$0 + "; its message is sent anyway"] } ?? []) + notes)
  }

  func handle(
    _ request: DeliveriesInterface.Cancel
  ) async throws -> DeliveriesInterface.Cancel.Reply {
    let ids: [DeliveryID]
    if let id = request.which.id {
      try refuseMore(request.which)
      let delivery = try await store.read { [self] in try visible(id, $0) }
      try need(delivery.isPending, conflict: "the message \(id) is no longer pending: see chime deliveries --id \(id)")
      ids = [delivery.id]
    } else {
      let selection = try await select(request.which)
      ids = try await store.read { [self] transaction in
        var ids: [DeliveryID] = []
        for state in [DeliveryFilter.State.pending, .waiting] {
          try forEach(state, selection, transaction) { ids.append($0.id) }
        }
        return ids
      }
    }
    var count = ids.count
    if request.dryRun != true {
      count = 0
      for start in stride(from: 0, to: ids.count, by: Self.batch) {
        let part = ids[start..<min(start + Self.batch, ids.count)]
        count += try await commit { [self] transaction in
          try note(.cancelled, String(ids.count), in: transaction)
          let pending = try part.filter { try transaction.delivery($0)?.isPending ?? false }
          for id in pending { try transaction.acknowledge(id, attempt: nil, state: .cancelled(at: now)) }
          return (pending.count, [.cancelled(Set(pending))])
        }
      }
    }
    return DeliveriesInterface.Cancel.Reply(count: count, deliveries: try await describe(ids))
  }

  private func refuseMore(_ which: DeliveriesInterface.Selection) throws {
    try need(
      which == DeliveriesInterface.Selection(id: which.id), "which", "an id cannot be used with other selections")
  }

  /// Returns the filter of a selection of several messages.
  private func select(_ which: DeliveriesInterface.Selection) async throws -> DeliveryFilter {
    // `all` adds nothing to a channel, a reminder or a time.
    try need(
      which.all == true || which != DeliveriesInterface.Selection(all: which.all), "which",
      "choose an id, a channel, a reminder, a time, or all")
    let (from, before) = (try instant(which.since, "since"), try instant(which.before, "before"))
    return try await store.read { [self] transaction in
      DeliveryFilter(
        owner: caller.sees, channel: which.channel.map(ChannelName.init(rawValue:)),
        reminder: try which.reminder.map {
          try reminders(in: transaction).reminder($0).reminder.id
        }, from: from, before: before)
    }
  }

  /// Visits the messages of a selection, the newest first.
  private func forEach(
    _ state: DeliveryFilter.State, _ selection: DeliveryFilter, _ transaction: any StoreTransaction,
    _ body: (Delivery) throws -> Void
  ) throws {
    var filter = selection
    filter.state = state
    let page = Page(limit: 10_000)
    while true {
      let found = try transaction.deliveries(filter, page: page)
      for delivery in found { try body(delivery) }
      if found.count < page.limit { return }
      filter.after = found.last?.id
    }
  }

  private func describe(_ ids: [DeliveryID]) async throws -> [DeliveriesInterface.Delivery] {
    try await store.read { [self] transaction in
      try ids.prefix(Self.described).compactMap { id in
        try transaction.delivery(id).map { try described($0, transaction) }
      }
    }
  }

  /// Returns sentences about disabled endpoints, which hold messages back.
  private func notes(about deliveries: [DeliveriesInterface.Delivery]) async throws -> [String] {
    let ids = Set(deliveries.map { DeliveryID(rawValue: $0.id) })
    return try await store.read { transaction in
      let queues = Set(try ids.compactMap { try transaction.delivery($0)?.queue })
      return try queues.sorted().filter { $0.channel != .desktop }.compactMap { queue in
        guard let disabled = try transaction.endpoint(queue)?.disabled else { return nil }
        return "endpoint \"\(queue.channel)\" is disabled (\(disabled.reason)): messages wait until "
          + "chime endpoint enable \(queue.channel)"
      }
    }
  }
}
