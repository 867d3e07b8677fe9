import ChimeCore
import ChimeSchedule

// The outbox.
extension MemoryTransaction {
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  {
    try requireWriting()
    if fleet?.lets(queue) == false { return [] }
    let claimed = triable(in: queue).filter { $0.visibleAt <= now }
      .sorted { ($0.visibleAt, $0.place) < ($1.visibleAt, $1.place) }.prefix(max(limit, 0))
    return claimed.compactMap { pending in
      guard var entry = contents.outbox[pending.id] else { return nil }
      entry.visibleAt = visibleAgain
      contents.claimEpochs[pending.id] = fleet?.epoch(of: queue)
      put(entry)
      let delivery = entry.delivery
      return contents.occurrences[delivery.occurrence].map {
        OutboundMessage(delivery: delivery, occurrence: $0, reminder: contents.reminders[$0.id.reminder])
      }
    }
  }

  /// Returns the deliveries that may be tried, oldest first; for an ordered queue, only the oldest.
  func triable(in queue: DeliveryQueue) -> ArraySlice<MemoryContents.PendingDelivery> {
    let pending = contents.pending[queue] ?? []
    return contents.endpoints[queue]?.settings.inOrder == true ? pending.prefix(1) : pending[...]
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    guard var entry = contents.outbox[id] else {
      throw StoreFailure.internalError("there is no delivery \(id) to acknowledge")
    }
    guard holds(entry) else { throw StoreFailure.takenOver }
    if var attempt {
      if isRecorded(attempt, of: entry.delivery) { return }
      entry.delivery.attempts += 1
      attempt.number = entry.delivery.attempts
      contents.attempts[id, default: []].append(attempt)
    }
    let isPending = entry.delivery.isPending
    if isPending {
      entry.delivery.state = state
      entry.visibleAt = entry.delivery.ownTime
    }
    put(entry)
    guard isPending, entry.delivery.event == nil, case .delivered(let at) = state else { return }
    if let occurrence = contents.occurrences[entry.delivery.occurrence], occurrence.isOpen {
      put(occurrence.delivered(at: at))
    }
  }

  func release(_ ids: [DeliveryID], now: Instant) throws {
    try requireWriting()
    for id in ids {
      guard var entry = contents.outbox[id], entry.delivery.isPending, holds(entry) else { continue }
      if entry.delivery.ownTime > now { entry.delivery.state = .waiting(until: now) }
      entry.visibleAt = entry.delivery.ownTime
      put(entry)
    }
  }

  func replay(_ id: DeliveryID, now: Instant) throws -> Bool {
    try requireWriting()
    guard var entry = contents.outbox[id] else { return false }
    guard !entry.delivery.isPending || entry.visibleAt == entry.delivery.ownTime else { return false }
    entry.delivery.state = .waiting(until: now)
    entry.delivery.attemptsBefore = entry.delivery.attempts
    entry.visibleAt = now
    put(entry)
    return true
  }

  func releaseClaims() throws {
    try requireWriting()
    releaseClaims { _ in true }
  }

  func releaseFormerClaims() throws {
    try requireWriting()
    if fleet != nil { releaseClaims { !holds($0) } }
  }

  private func releaseClaims(where isMeant: (MemoryContents.Entry) -> Bool) {
    for id in contents.pending.values.joined().map(\.id) {
      guard var entry = contents.outbox[id], entry.delivery.ownTime < entry.visibleAt, isMeant(entry),
        fleet == nil || fleet?.epoch(of: entry.delivery.queue) != nil
      else { continue }
      entry.visibleAt = entry.delivery.ownTime
      put(entry)
    }
  }

  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID> {
    Set(ids.filter { contents.outbox[$0].map { !$0.delivery.isPending } ?? true })
  }

  func wake(queue: DeliveryQueue, now: Instant) throws {
    try requireWriting()
    for id in (contents.pending[queue] ?? []).map(\.id) {
      guard var entry = contents.outbox[id], entry.visibleAt > now, entry.visibleAt == entry.delivery.ownTime else {
        continue
      }
      // Set the state too, so that a claim and a release do not restore the former time.
      entry.delivery.state = .waiting(until: now)
      entry.visibleAt = now
      put(entry)
    }
  }

  func delivery(_ id: DeliveryID) throws -> Delivery? {
    contents.outbox[id]?.delivery
  }

  func deliveries(_ filter: DeliveryFilter, page: Page) throws -> [Delivery] {
    var place = Int.max
    if let last = filter.after { place = contents.outbox[last]?.place ?? Int.min }
    let earlier = contents.outbox.values.filter { $0.place < place }.sorted { $0.place > $1.place }
    let found = earlier.map(\.delivery).filter { delivery in
      if let owner = filter.owner, delivery.queue.owner != owner { return false }
      if let channel = filter.channel, delivery.queue.channel != channel { return false }
      if let reminder = filter.reminder, delivery.occurrence.reminder != reminder { return false }
      if let occurrence = filter.occurrence, delivery.occurrence != occurrence { return false }
      if let from = filter.from, delivery.createdAt < from { return false }
      if let before = filter.before, delivery.createdAt >= before { return false }
      return filter.state.map { $0 == delivery.state.kind } ?? true
    }
    return Array(found.prefix(page.limit))
  }

  func receipt(of id: DeliveryID) throws -> String? {
    contents.attempts[id]?.last { $0.receipt != nil }?.receipt
  }

  func attempts(of id: DeliveryID) throws -> [Attempt] {
    (contents.attempts[id] ?? []).map { attempt in
      var attempt = attempt
      attempt.receipt = nil
      return attempt
    }
  }
}

// History.
extension MemoryTransaction {
  func timeOfOccurrence(after count: Int) throws -> Instant? {
    contents.occurrences.keys.map(\.scheduledAt).sorted(by: >).dropFirst(max(count, 0)).first
  }

  func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned {
    try requireWriting()
    guard let end = edge.end else { return Pruned(count: 0, past: past, isOver: true) }
    let next = contents.occurrenceIDs(after: past, before: end, limit: limit)
    var result = Pruned(count: 0, past: past, isOver: next.count < limit)
    for id in next {
      guard let occurrence = contents.occurrences[id] else { continue }
      let isPending = contents.deliveriesOf[id]?.contains { contents.outbox[$0]?.delivery.isPending == true } ?? false
      if edge.takes(occurrence), !isPending, contents.again[id] == nil {
        forget(id)
        result.count += 1
      } else {
        result.past = id
      }
    }
    return result
  }

  func eraseHistory(ofRemoved owner: UInt32, limit: Int) throws -> Bool {
    try requireWriting()
    let found = contents.occurrences.filter { id, occurrence in
      occurrence.owner == owner && contents.reminders[id.reminder] == nil
    }.prefix(max(limit, 0))
    for one in found { forget(one.key) }
    return found.count == limit
  }

  private func forget(_ id: OccurrenceID) {
    changed.occurrences.insert(id)
    changed.deliveries.formUnion(contents.deliveriesOf[id] ?? [])
    contents.forget(id)
    if contents.reminders[id.reminder] == nil, !contents.hasOccurrences(of: id.reminder) {
      contents.order[id.reminder] = nil
      contents.pings[id.reminder] = nil
      contents.replaced[id.reminder] = nil
    }
  }
}

// Endpoints, tokens, notes and counts.
extension MemoryTransaction {
  func put(_ endpoint: Endpoint) throws {
    try requireWriting()
    contents.endpoints[endpoint.queue] = endpoint
  }

  func removeEndpoint(_ queue: DeliveryQueue, now: Instant) throws -> Bool {
    try requireWriting()
    guard contents.endpoints.removeValue(forKey: queue) != nil else { return false }
    for id in (contents.pending[queue] ?? []).map(\.id) {
      guard var entry = contents.outbox[id] else { continue }
      entry.delivery.state = .cancelled(at: now)
      put(entry)
    }
    return true
  }

  func endpoints(owner: UInt32?) throws -> [Endpoint] {
    contents.endpoints.values.filter { owner == nil || $0.queue.owner == owner }
      .sorted { ($0.queue.channel, $0.queue.owner) < ($1.queue.channel, $1.queue.owner) }
  }

  func endpoint(_ queue: DeliveryQueue) throws -> Endpoint? { contents.endpoints[queue] }

  func answer(owner: UInt32, token: String) throws -> [UInt8]? {
    contents.answers[.init(owner: owner, token: token)]?.bytes
  }

  func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws {
    try requireWriting()
    let oldest = now - .days(1)
    contents.answers = contents.answers.filter { $0.value.keptAt >= oldest }
    contents.answers[.init(owner: owner, token: token)] = .init(bytes: answer, keptAt: now)
  }

  func spend(_ token: String, until expiry: Instant, now: Instant) throws -> Bool {
    try requireWriting()
    contents.spent = contents.spent.filter { $0.value >= now }
    guard contents.spent[token] == nil else { return false }
    contents.spent[token] = expiry
    return true
  }

  func tenants() throws -> [Tenant] { contents.tenants.sorted { $0.name < $1.name } }

  func enrol(tenant name: String) throws -> Tenant {
    try requireWriting()
    if let known = contents.tenants.first(where: { $0.name == name }) { return known }
    let made = Tenant(name: name, number: Tenant.firstNumber + UInt32(contents.tenants.count))
    contents.tenants.append(made)
    return made
  }

  func reminderCount(of tenant: UInt32) throws -> Int {
    contents.regular.keys.count { contents.reminders[$0]?.owner == tenant }
  }

  func note(_ name: String) throws -> String? { contents.notes[name] }

  func notes(named prefix: String) throws -> [(name: String, value: String)] {
    contents.notes.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func setNote(_ name: String, _ value: String?) throws {
    try requireWriting()
    contents.notes[name] = value
  }

  func dueCount(before end: Instant) throws -> Int {
    try reminders(ReminderFilter(dueBefore: end), page: Page(limit: 10_000)).count
  }

  func gauges() throws -> StoreGauges {
    let deliveries = contents.outbox.values.map(\.delivery)
    let queues = Dictionary(grouping: deliveries, by: \.queue).map { queue, all in
      StoreGauges.DeliveryQueueGauge(
        queue: queue, pending: all.count { $0.isPending }, oldest: all.filter(\.isPending).map(\.createdAt).min(),
        dead: all.count { $0.state.kind == .dead })
    }
    return StoreGauges(reminders: contents.reminders.count, scheduled: contents.regular.count, queues: queues)
  }

  func counts(owner: UInt32?) throws -> StoreCounts {
    let all = Page(limit: 10_000)
    let deliveries = try deliveries(DeliveryFilter(owner: owner), page: all)
    let expected = try reminders(ReminderFilter(owner: owner, expectationsOnly: true), page: all)
    return StoreCounts(
      reminders: try reminders(ReminderFilter(owner: owner, includesFinished: false), page: all).count,
      openOccurrences: try occurrences(OccurrenceFilter(owner: owner, openOnly: true), page: all).count,
      pendingDeliveries: deliveries.count { $0.isPending }, deadDeliveries: deliveries.count { $0.state.kind == .dead },
      expectations: expected.count, expectationsDown: expected.count { $0.open > 0 })
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
