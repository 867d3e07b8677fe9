import ChimeCore
import ChimeSchedule

// The outbox.
extension MemoryTransaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    let places = contents.outbox.indices.filter {
      let entry = contents.outbox[$0]
      return entry.delivery.lane == lane && entry.delivery.isOwed && entry.visibleAt <= now
    }
    let claimed = places.sorted {
      (contents.outbox[$0].visibleAt, $0) < (contents.outbox[$1].visibleAt, $1)
    }.prefix(max(limit, 0))
    return claimed.compactMap { place in
      contents.outbox[place].visibleAt = visibleAgain
      let delivery = contents.outbox[place].delivery
      return contents.occurrences[delivery.occurrence].map {
        OutboundMessage(delivery: delivery, occurrence: $0, reminder: contents.reminders[$0.id.reminder])
      }
    }
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    guard let place = contents.places[id] else {
      throw StoreFailure.internalError("there is no delivery \(id) to acknowledge")
    }
    if let attempt {
      contents.attempts[id, default: []].append(attempt)
      contents.outbox[place].delivery.attempts += 1
    }
    guard contents.outbox[place].delivery.isOwed else { return }
    contents.outbox[place].delivery.state = state
    contents.outbox[place].visibleAt = contents.outbox[place].delivery.ownTime
  }

  func releaseClaims() throws {
    try requireWriting()
    for place in contents.outbox.indices {
      contents.outbox[place].visibleAt = min(contents.outbox[place].visibleAt, contents.outbox[place].delivery.ownTime)
    }
  }

  func wake(lane: Lane, now: Instant) throws {
    try requireWriting()
    for place in contents.outbox.indices {
      let (delivery, visibleAt) = (contents.outbox[place].delivery, contents.outbox[place].visibleAt)
      guard delivery.lane == lane, delivery.isOwed, visibleAt > now, visibleAt == delivery.ownTime else { continue }
      if case .waiting = delivery.state { contents.outbox[place].delivery.state = .waiting(until: now) }
      contents.outbox[place].visibleAt = now
    }
  }

  func delivery(_ id: DeliveryID) throws -> Delivery? {
    contents.places[id].map { contents.outbox[$0].delivery }
  }

  func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery] {
    contents.outbox.reversed().map(\.delivery).filter { delivery in
      if let owner = filter.owner, delivery.lane.owner != owner { return false }
      if let channel = filter.channel, delivery.lane.channel != channel { return false }
      if let reminder = filter.reminder, delivery.occurrence.reminder != reminder { return false }
      if let occurrence = filter.occurrence, delivery.occurrence != occurrence { return false }
      return filter.state.map { $0 == delivery.state.kind } ?? true
    }.on(page)
  }

  func attempts(of id: DeliveryID) throws -> [Attempt] { contents.attempts[id] ?? [] }
}

// Endpoints, tokens, notes and counts.
extension MemoryTransaction {
  func put(_ endpoint: Endpoint) throws {
    try requireWriting()
    contents.endpoints[endpoint.lane] = endpoint
  }

  func removeEndpoint(_ lane: Lane, now: Instant) throws -> Bool {
    try requireWriting()
    guard contents.endpoints.removeValue(forKey: lane) != nil else { return false }
    cancel(at: now) { $0.lane == lane }
    return true
  }

  func endpoints(owner: UInt32?) throws -> [Endpoint] {
    contents.endpoints.values.filter { owner == nil || $0.lane.owner == owner }
      .sorted { ($0.lane.channel, $0.lane.owner) < ($1.lane.channel, $1.lane.owner) }
  }

  func endpoint(_ lane: Lane) throws -> Endpoint? { contents.endpoints[lane] }

  func answer(owner: UInt32, token: String) throws -> [UInt8]? {
    contents.answers[.init(owner: owner, token: token)]?.bytes
  }

  func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws {
    try requireWriting()
    let oldest = now - .days(1)
    contents.answers = contents.answers.filter { $0.value.keptAt >= oldest }
    contents.answers[.init(owner: owner, token: token)] = .init(bytes: answer, keptAt: now)
  }

  func note(_ name: String) throws -> String? { contents.notes[name] }

  func setNote(_ name: String, _ value: String?) throws {
    try requireWriting()
    contents.notes[name] = value
  }

  func dueCount(before end: Instant) throws -> Int {
    try reminders(ReminderFilter(dueBefore: end), page: Page(limit: 10_000)).count
  }

  func counts(owner: UInt32?) throws -> StoreCounts {
    let all = Page(limit: 10_000)
    let deliveries = try deliveries(DeliveryFilter(owner: owner), page: all)
    return StoreCounts(
      reminders: try reminders(ReminderFilter(owner: owner, includesFinished: false), page: all).count,
      openOccurrences: try occurrences(OccurrenceFilter(owner: owner, openOnly: true), page: all).count,
      owedDeliveries: deliveries.count { $0.isOwed }, deadDeliveries: deliveries.count { $0.state.kind == .dead })
  }
}

extension Delivery.State {
  var kind: DeliveryFilter.State {
    switch self {
    case .pending: .pending
    case .waiting: .waiting
    case .delivered: .delivered
    case .dead: .dead
    case .cancelled: .cancelled
    }
  }
}
