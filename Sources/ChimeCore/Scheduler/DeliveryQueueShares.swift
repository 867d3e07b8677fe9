import ChimeSchedule

/// How an owner's queues lie with the daemons that share a store, and what follows from that for a rate that all of them keep
/// together.
///
///     let shares = DeliveryQueueShares(counts: [3, 1], own: 1)
///     shares.rate(of: 15)   // 4 a second here, 11 with the other
public struct DeliveryQueueShares: Hashable, Sendable {
  /// How many each daemon has, in an order that is the same for whoever asks; queues that are nobody's count as one more's.
  public var counts: [Int]
  /// Which of them is that of who asks; nil: it has none.
  public var own: Int?

  public init(counts: [Int], own: Int?) {
    self.counts = counts
    self.own = own
  }

  /// What is begun here at most, of `limit` a second for all together.
  ///
  /// Whole numbers, whose sum is the limit: what each begins within a second is then no more than that, wherever their
  /// seconds begin. Who has some has one at least; of a limit that is less than the daemons each begins one in several
  /// seconds.
  public func rate(of limit: Int) -> EndpointSettings.Rate {
    // Nothing of it is here as far as is known: a first one goes, the next waits until it is known better.
    guard let own, counts.indices.contains(own), counts[own] > 0 else { return .init(count: 1, span: .hours(1)) }
    if let parts = parts(of: limit) { return .init(count: parts[own], span: .seconds(1)) }
    let perSecond = Double(max(1, limit)) * Double(counts[own]) / Double(counts.reduce(0, +))
    return .init(count: 1, span: Milliseconds(rawValue: Int64((1_000 / perSecond).rounded(.up))))
  }

  /// A whole number for each that has some, as near to its part as can be; nil when there are not enough.
  private func parts(of limit: Int) -> [Int]? {
    let total = counts.reduce(0, +)
    let sharing = counts.indices.filter { counts[$0] > 0 }
    guard limit >= sharing.count, total > 0 else { return nil }
    var parts = counts.map { count in
      count == 0 ? 0 : max(1, Int((Double(limit) * Double(count) / Double(total)).rounded(.down)))
    }
    func each(_ index: Int, with part: Double) -> Double { Double(counts[index]) / part }
    // What is left over goes to those who are furthest below their part, and what is too much for the sake of the smallest
    // comes from those who are furthest above it: of equals the first, for all see the same.
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
