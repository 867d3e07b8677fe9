import ChimeControl
import ChimeCore
import ChimeSchedule

// Sending again what was given up, and giving up what is owed.
extension RequestHandler {
  /// How many are changed in one transaction, so that firing is not held up.
  private static let batch = 500
  /// How many an answer describes.
  private static let described = 100

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
        // What was answered since is not said again; what tells an event is.
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
          return (try part.count { try Self.isStillDead($0, transaction) && transaction.replay($0, now: now) }, [])
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
      guard delivery.isOwed else {
        throw ControlFailure.conflict("the message \(id) is no longer pending: see chime deliveries --id \(id)")
      }
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
          let owed = try part.filter { try transaction.delivery($0)?.isOwed ?? false }
          for id in owed { try transaction.acknowledge(id, attempt: nil, state: .cancelled(at: now)) }
          return (owed.count, [.cancelled(Set(owed))])
        }
      }
    }
    return DeliveriesInterface.Cancel.Reply(count: count, deliveries: try await describe(ids))
  }

  // MARK: Which

  private func refuseMore(_ which: DeliveriesInterface.Selection) throws {
    guard which == DeliveriesInterface.Selection(id: which.id) else {
      throw ControlFailure.invalidValue(field: "which", "an id cannot be used with other selections")
    }
  }

  /// The filter that a selection of several means.
  private func select(_ which: DeliveriesInterface.Selection) async throws -> DeliveryFilter {
    // Beside a channel, a reminder or a time, "all" says no more than they do.
    guard which.all == true || which != DeliveriesInterface.Selection(all: which.all) else {
      throw ControlFailure.invalidValue(
        field: "which", "choose an id, a channel, a reminder, a time, or all")
    }
    let (from, before) = (try instant(which.since, "since"), try instant(which.before, "before"))
    return try await store.read { [self] transaction in
      DeliveryFilter(
        owner: caller.sees, channel: which.channel.map(ChannelName.init(rawValue:)),
        reminder: try which.reminder.map {
          try reminders(in: transaction).reminder($0).reminder.id
        }, from: from, before: before)
    }
  }

  /// Newest first.
  private func forEach(
    _ state: DeliveryFilter.State, _ selection: DeliveryFilter, _ transaction: any StoreTransaction,
    _ body: (Delivery) throws -> Void
  ) throws {
    var filter = selection
    filter.state = state
    var page = Page(limit: 10_000)
    while true {
      let found = try transaction.deliveries(filter, page: page)
      for delivery in found { try body(delivery) }
      if found.count < page.limit { return }
      page = Page(limit: page.limit, offset: page.offset + found.count)
    }
  }

  // MARK: What is told

  private func describe(_ ids: [DeliveryID]) async throws -> [DeliveriesInterface.Delivery] {
    try await store.read { [self] transaction in
      try ids.prefix(Self.described).compactMap { id in
        try transaction.delivery(id).map { try described($0, transaction) }
      }
    }
  }

  /// What keeps them from being delivered.
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
