public import ChimeSchedule

extension Scheduler {
  /// Returns the queues that rest after failures in a row, each with the time at which it is tried again.
  public func rests(at now: Instant) -> [DeliveryQueue: Instant] {
    queues.filter { policies[$0.key].rests }.compactMapValues { $0.breaker.restsUntil(at: now) }
  }

  /// A RandomSource is a SplitMix64 generator; its use, spreading rests, needs no secrecy.
  struct RandomSource: Sendable {
    var state: UInt64

    /// Returns a number from 0 up to, but not including, 1.
    mutating func next() -> Double {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Double(SplitMix64.mix(state) >> 11) / 9_007_199_254_740_992
    }
  }

  /// A Capacity says how many deliveries each queue may claim.
  public struct Capacity: Hashable, Sendable {
    public var policies: DeliveryQueuePolicies
    /// The capacity of queues that the scheduler knows; any other queue may claim up to its policy's concurrency.
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
