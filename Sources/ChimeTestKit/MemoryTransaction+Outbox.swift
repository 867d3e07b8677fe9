import ChimeCore
import ChimeSchedule

// The outbox.
extension MemoryTransaction {
  func claimDeliveries(lane: Lane, now: Instant, visibleAgain: Instant, limit: Int) throws -> [OutboundMessage] {
    try requireWriting()
    let places = triable(in: lane).filter { contents.outbox[$0].visibleAt <= now }
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

  /// What the lane owes; of an ordered lane only the oldest.
  func triable(in lane: Lane) -> [Int] {
    let owed = contents.outbox.indices.filter {
      contents.outbox[$0].delivery.lane == lane && contents.outbox[$0].delivery.isOwed
    }
    return contents.endpoints[lane]?.settings.inOrder == true ? Array(owed.prefix(1)) : owed
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
    let key = contents.outbox[place].delivery.occurrence
    if case .delivered(let at) = state, let occurrence = contents.occurrences[key], occurrence.isOpen {
      contents.occurrences[key] = occurrence.delivered(at: at)
    }
  }

  func release(_ ids: [DeliveryID]) throws {
    try requireWriting()
    for place in ids.compactMap({ contents.places[$0] }) where contents.outbox[place].delivery.isOwed {
      contents.outbox[place].visibleAt = contents.outbox[place].delivery.ownTime
    }
  }

  func replay(_ id: DeliveryID, now: Instant) throws -> Bool {
    try requireWriting()
    guard let place = contents.places[id] else { return false }
    var entry = contents.outbox[place]
    guard !entry.delivery.isOwed || entry.visibleAt == entry.delivery.ownTime else { return false }
    entry.delivery.state = .waiting(until: now)
    entry.delivery.attemptsBefore = entry.delivery.attempts
    entry.visibleAt = now
    contents.outbox[place] = entry
    return true
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
      if let from = filter.from, delivery.createdAt < from { return false }
      if let before = filter.before, delivery.createdAt >= before { return false }
      return filter.state.map { $0 == delivery.state.kind } ?? true
    }.on(page)
  }

  func attempts(of id: DeliveryID) throws -> [Attempt] { contents.attempts[id] ?? [] }
}

// History.
extension MemoryTransaction {
  func timeOfOccurrence(after count: Int) throws -> Instant? {
    contents.occurrences.keys.map(\.scheduledAt).sorted(by: >).dropFirst(max(count, 0)).first
  }

  func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned {
    try requireWriting()
    guard let end = edge.end else { return Pruned(count: 0, past: past, isOver: true) }
    func rank(_ id: OccurrenceID) -> (Instant, Int) { (id.scheduledAt, order(id)) }
    let start = past.map(rank)
    let all = contents.occurrences.keys.filter { id in
      id.scheduledAt < end && start.map { rank(id) > $0 } ?? true
    }.sorted { rank($0) < rank($1) }
    var result = Pruned(count: 0, past: past, isOver: all.count < limit)
    for id in all.prefix(max(limit, 0)) {
      guard let occurrence = contents.occurrences[id] else { continue }
      let isOwed = contents.outbox.contains { $0.delivery.occurrence == id && $0.delivery.isOwed }
      if edge.takes(occurrence), !isOwed, contents.again[id] == nil {
        forget(id)
        result.count += 1
      } else {
        result.past = id
      }
    }
    return result
  }

  private func forget(_ id: OccurrenceID) {
    contents.occurrences[id] = nil
    for entry in contents.outbox where entry.delivery.occurrence == id { contents.attempts[entry.delivery.id] = nil }
    contents.outbox.removeAll { $0.delivery.occurrence == id }
    contents.places = [:]
    for (place, entry) in contents.outbox.enumerated() { contents.places[entry.delivery.id] = place }
    if contents.reminders[id.reminder] == nil,
      !contents.occurrences.keys.contains(where: { $0.reminder == id.reminder })
    {
      contents.order[id.reminder] = nil
    }
  }
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
