public import ChimeSchedule

extension Agenda {
  /// Lanes that rest after failures in a row, each with when it is tried again.
  public func rests(at now: Instant) -> [Lane: Instant] {
    lanes.filter { policies[$0.key].rests }.compactMapValues { $0.breaker.restsUntil(at: now) }
  }

  /// A plain generator (SplitMix64): what it spreads has no need of secrecy.
  struct Dice: Sendable {
    var state: UInt64

    /// From 0 to below 1.
    mutating func next() -> Double {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Double(SplitMix64.mix(state) >> 11) / 9_007_199_254_740_992
    }
  }

  /// How many deliveries each lane may claim.
  public struct Room: Hashable, Sendable {
    public var policies: LanePolicies
    /// Of lanes that are known; others may claim as many as their policy lets be under way.
    public var known: [Lane: Int]

    public init(policies: LanePolicies, known: [Lane: Int] = [:]) {
      self.policies = policies
      self.known = known
    }

    public func left(in lane: Lane) -> Int {
      if let room = known[lane] { return room }
      if policies.owners[lane.owner] != nil { return 0 }
      var fresh = LaneState()
      return fresh.room(policies[lane], spare: 0, at: .earliest)
    }
  }
}
