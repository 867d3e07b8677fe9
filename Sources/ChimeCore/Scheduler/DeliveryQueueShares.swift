import ChimeSchedule

/// DeliveryQueueShares splits a rate among daemons that share a store, by how many of an owner's queues each daemon has.
///
///     let shares = DeliveryQueueShares(counts: [3, 1], own: 1)
///     shares.rate(of: 15)   // 4 a second here, 11 with the other
public struct DeliveryQueueShares: Hashable, Sendable {
  /// The number of queues per daemon, in the same order on every daemon; queues without a daemon count as one more daemon's.
  public var counts: [Int]
  /// The index of this daemon in `counts`; nil if it has no queues.
  public var own: Int?

  public init(counts: [Int], own: Int?) {
    self.counts = counts
    self.own = own
  }

  /// Returns this daemon's part of `limit` attempts per second.
  ///
  /// Parts are whole numbers whose sum is the limit, so the limit holds wherever each daemon's second begins. A daemon with
  /// queues gets at least one. If the limit is smaller than the number of daemons, each begins one attempt in several seconds.
  public func rate(of limit: Int) -> EndpointSettings.Rate {
    // This daemon has no queues as far as it knows: one attempt may go, the next waits until the shares are known better.
    guard let own, counts.indices.contains(own), counts[own] > 0 else { return .init(count: 1, span: .hours(1)) }
    if let parts = parts(of: limit) { return .init(count: parts[own], span: .seconds(1)) }
    let perSecond = Double(max(1, limit)) * Double(counts[own]) / Double(counts.reduce(0, +))
    return .init(count: 1, span: Milliseconds(rawValue: Int64((1_000 / perSecond).rounded(.up))))
  }

  /// Returns a whole number per daemon with queues, close to its exact part; nil if the limit is too small.
  private func parts(of limit: Int) -> [Int]? {
    let total = counts.reduce(0, +)
    let sharing = counts.indices.filter { counts[$0] > 0 }
    guard limit >= sharing.count, total > 0 else { return nil }
    var parts = counts.map { count in
      count == 0 ? 0 : max(1, Int((Double(limit) * Double(count) / Double(total)).rounded(.down)))
    }
    func each(_ index: Int, with part: Double) -> Double { Double(counts[index]) / part }
    // A remainder goes to the daemons furthest below their part; an excess, caused by the minimum of one, comes from
    // those furthest above it. Ties go to the first index, because all daemons see the same order.
    while parts.reduce(0, +) < limit {
      guard
        let least = sharing.max(by: {
          each($0, with: Double(parts[$0]) + 0.5) < each($1, with: Double(parts[$1]) + 0.5)
        })
      else { break }
      parts[least] += 1
    }
    while parts.reduce(0, +) > limit {
      let rich = sharing.filter { parts[$0] > 1 }
      guard
        let most = rich.min(by: { each($0, with: Double(parts[$0]) - 0.5) < each($1, with: Double(parts[$1]) - 0.5) })
      else { break }
      parts[most] -= 1
    }
    return parts
  }
}
