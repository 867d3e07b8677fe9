import ChimeSchedule

// Queues that share a rate: what all of an owner's may begin together (`DeliveryQueuePolicies.owners`).
extension Scheduler {
  /// Begins what queues hold and may begin. Of those that share a rate, who has waited longest comes first.
  mutating func advanceAll(_ order: [DeliveryQueue], now: Instant, _ effects: inout [Effect]) {
    let isShared = !policies.owners.isEmpty
    let turns =
      isShared
      ? byTurn(order) : order
    for queue in turns {
      guard let count = queues[queue]?.heldCount, count > 0 else { continue }
      var most = Int.max
      if let rate = policies.owners[queue.owner] {
        most = shared[queue.owner, default: RateWindow()].capacity(rate, at: now)
      }
      guard let (begin, release) = queues[queue]?.advance(policies[queue], most: most, at: now) else { continue }
      if policies.owners[queue.owner] != nil { for _ in begin { shared[queue.owner]?.begin(at: now) } }
      effects += begin.map(Effect.send) + release.map(Effect.release)
    }
  }

  /// How many more each queue may claim of a rate that it shares: what is left of it in equal parts, for those who want
  /// some.
  mutating func sharedParts(_ order: [DeliveryQueue], now: Instant) -> [DeliveryQueue: Int] {
    guard !policies.owners.isEmpty else { return [:] }
    for (owner, window) in shared where window.isEmpty || policies.owners[owner] == nil { shared[owner] = nil }
    var parts: [DeliveryQueue: Int] = [:]
    for (owner, queues) in Dictionary(grouping: order.filter { policies.owners[$0.owner] != nil }, by: \.owner) {
      guard let rate = policies.owners[owner] else { continue }
      // What is on its way has its part already.
      let held = queues.compactMap { self.queues[$0] }.reduce(0) { $0 + $1.heldCount + ($1.isClaiming ? $1.asked : 0) }
      var left = max(0, shared[owner, default: RateWindow()].capacity(rate, at: now) - held)
      let wanting = byTurn(queues.filter { wants($0, now: now) })
      for (index, queue) in wanting.enumerated() {
        let rest = wanting.count - index
        let part = (left + rest - 1) / rest
        parts[queue] = part
        left -= part
      }
      for queue in queues where parts[queue] == nil { parts[queue] = 0 }
    }
    return parts
  }

  /// Who has waited longest comes first.
  private func byTurn(_ order: [DeliveryQueue]) -> [DeliveryQueue] {
    let fresh = DeliveryQueueState().turn
    return order.map { (queues[$0]?.turn ?? fresh, $0) }.sorted { $0 < $1 }.map(\.1)
  }

  /// Whether a queue could claim something now, if only the rate that it shares let it.
  private func wants(_ queue: DeliveryQueue, now: Instant) -> Bool {
    guard let state = queues[queue], let earliest = state.earliest, earliest <= now, !state.isClaiming else {
      return false
    }
    let policy = policies[queue]
    return !policy.isClosed && state.restsUntil(policy, at: now) == nil && state.taken < policy.concurrency
  }

  /// When the rate that a queue shares lets the next one begin; nil when one may now.
  mutating func sharedLets(_ queue: DeliveryQueue, now: Instant) -> Instant? {
    guard let rate = policies.owners[queue.owner] else { return nil }
    var window = shared[queue.owner] ?? RateWindow()
    defer { shared[queue.owner] = window }
    return window.capacity(rate, at: now) > 0 ? nil : window.next(rate)
  }
}
