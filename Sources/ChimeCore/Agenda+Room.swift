import ChimeSchedule

extension Agenda {
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
      var fresh = LaneState()
      return fresh.room(policies[lane], spare: 0, at: .earliest)
    }
  }
}
