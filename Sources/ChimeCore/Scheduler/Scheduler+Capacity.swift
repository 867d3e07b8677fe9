public import ChimeSchedule

extension Scheduler {
  /// Queues that rest after failures in a row, each with when it is tried again.
  public func rests(at now: Instant) -> [DeliveryQueue: Instant] {
    queues.filter { policies[$0.key].rests }.compactMapValues { $0.breaker.restsUntil(at: now) }
  }

  /// A plain generator (SplitMix64): what it spreads has no need of secrecy.
  struct RandomSource: Sendable {
    var state: UInt64

    /// From 0 to below 1.
    mutating func next() -> Double {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Double(SplitMix64.mix(state) >> 11) / 9_007_199_254_740_992
    }
  }

  /// How many deliveries each queue may claim.
  public struct Capacity: Hashable, Sendable {
    public var policies: DeliveryQueuePolicies
    /// Of queues that are known; others may claim as many as their policy lets be under way.
    public var known: [DeliveryQueue: Int]

    public init(policies: DeliveryQueuePolicies, known: [DeliveryQueue: Int] = [:]) {
      self.policies = policies
      self.known = known
    }

    public func left(in queue: DeliveryQueue) -> Int {
      if let capacity = known[queue] { return capacity }
      if policies.owners[queue.owner] != nil { return 0 }
      var fresh = DeliveryQueueState()
      return fresh.capacity(policies[queue], prefetch: 0, at: .earliest)
    }
  }
}
