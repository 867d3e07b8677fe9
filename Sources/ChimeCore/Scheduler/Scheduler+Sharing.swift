import ChimeSchedule

// Queues that share a rate: the number of attempts that all queues of an owner may begin together
// (`DeliveryQueuePolicies.owners`).
extension Scheduler {
  /// Begins held claims; among queues that share a rate, the one that has waited longest comes first.
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

  /// Returns how many more deliveries each queue may claim of the rate that it shares: equal parts of the remainder,
  /// for the queues that want some.
  mutating func sharedParts(_ order: [DeliveryQueue], now: Instant) -> [DeliveryQueue: Int] {
    guard !policies.owners.isEmpty else { return [:] }
    for (owner, window) in shared where window.isEmpty || policies.owners[owner] == nil { shared[owner] = nil }
    var parts: [DeliveryQueue: Int] = [:]
    for (owner, queues) in Dictionary(grouping: order.filter { policies.owners[$0.owner] != nil }, by: \.owner) {
      guard let rate = policies.owners[owner] else { continue }
      // Claims in flight already count against the rate.
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

  /// Orders queues so that the one that has waited longest comes first.
  private func byTurn(_ order: [DeliveryQueue]) -> [DeliveryQueue] {
    let fresh = DeliveryQueueState().turn
    return order.map { (queues[$0]?.turn ?? fresh, $0) }.sorted { $0 < $1 }.map(\.1)
  }

  /// Returns whether a queue could claim something now if its shared rate permitted it.
  private func wants(_ queue: DeliveryQueue, now: Instant) -> Bool {
    guard let state = queues[queue], let earliest = state.earliest, earliest <= now, !state.isClaiming else {
      return false
    }
    let policy = policies[queue]
    return !policy.isClosed && state.restsUntil(policy, at: now) == nil && state.taken < policy.concurrency
  }

  /// Returns when the rate that a queue shares permits the next attempt; nil if it permits one now.
  mutating func sharedLets(_ queue: DeliveryQueue, now: Instant) -> Instant? {
    guard let rate = policies.owners[queue.owner] else { return nil }
    var window = shared[queue.owner] ?? RateWindow()
    defer { shared[queue.owner] = window }
    return window.capacity(rate, at: now) > 0 ? nil : window.next(rate)
  }
}
