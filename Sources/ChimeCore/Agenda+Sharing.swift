import ChimeSchedule

// Lanes that share a rate: what all of an owner's may begin together (`LanePolicies.owners`).
extension Agenda {
  /// Begins what lanes hold and may begin. Of those that share a rate, who has waited longest comes first.
  mutating func advanceAll(_ order: [Lane], now: Instant, _ effects: inout [Effect]) {
    let isShared = !policies.owners.isEmpty
    let turns =
      isShared
      ? byTurn(order) : order
    for lane in turns {
      guard let count = lanes[lane]?.heldCount, count > 0 else { continue }
      var most = Int.max
      if let rate = policies.owners[lane.owner] { most = shared[lane.owner, default: RateWindow()].room(rate, at: now) }
      guard let (begin, release) = lanes[lane]?.advance(policies[lane], most: most, at: now) else { continue }
      if policies.owners[lane.owner] != nil { for _ in begin { shared[lane.owner]?.begin(at: now) } }
      effects += begin.map(Effect.send) + release.map(Effect.release)
    }
  }

  /// How many more each lane may claim of a rate that it shares: what is left of it in equal parts, for those who want
  /// some.
  mutating func sharedParts(_ order: [Lane], now: Instant) -> [Lane: Int] {
    guard !policies.owners.isEmpty else { return [:] }
    for (owner, window) in shared where window.isEmpty || policies.owners[owner] == nil { shared[owner] = nil }
    var parts: [Lane: Int] = [:]
    for (owner, lanes) in Dictionary(grouping: order.filter { policies.owners[$0.owner] != nil }, by: \.owner) {
      guard let rate = policies.owners[owner] else { continue }
      // What is on its way has its part already.
      let held = lanes.compactMap { self.lanes[$0] }.reduce(0) { $0 + $1.heldCount + ($1.isClaiming ? $1.asked : 0) }
      var left = max(0, shared[owner, default: RateWindow()].room(rate, at: now) - held)
      let wanting = byTurn(lanes.filter { wants($0, now: now) })
      for (index, lane) in wanting.enumerated() {
        let rest = wanting.count - index
        let part = (left + rest - 1) / rest
        parts[lane] = part
        left -= part
      }
      for lane in lanes where parts[lane] == nil { parts[lane] = 0 }
    }
    return parts
  }

  /// Who has waited longest comes first.
  private func byTurn(_ order: [Lane]) -> [Lane] {
    let fresh = LaneState().turn
    return order.map { (lanes[$0]?.turn ?? fresh, $0) }.sorted { $0 < $1 }.map(\.1)
  }

  /// Whether a lane could claim something now, if only the rate that it shares let it.
  private func wants(_ lane: Lane, now: Instant) -> Bool {
    guard let state = lanes[lane], let earliest = state.earliest, earliest <= now, !state.isClaiming else {
      return false
    }
    let policy = policies[lane]
    return !policy.isClosed && state.restsUntil(policy, at: now) == nil && state.taken < policy.concurrency
  }

  /// When the rate that a lane shares lets the next one begin; nil when one may now.
  mutating func sharedLets(_ lane: Lane, now: Instant) -> Instant? {
    guard let rate = policies.owners[lane.owner] else { return nil }
    var window = shared[lane.owner] ?? RateWindow()
    defer { shared[lane.owner] = window }
    return window.room(rate, at: now) > 0 ? nil : window.next(rate)
  }
}
