/// An OwnedShards tracks the shards of one daemon from one heartbeat to the next.
///
///     let review = shards.review(for: node, owners: owners, epochs: epochs, living: living)
///     shards.took(take(review.take), of: review.take)
///     shards.gave(give(shards.yielding))
public struct OwnedShards: Sendable {
  /// The shards of this daemon at the last beat, with their epochs.
  private var owned: [Int: Int64] = [:]
  /// Shards that are being handed over. No delivery of them is claimed any more.
  public private(set) var yielding: Set<Int> = []
  /// Whether the last beat did not get all shards that it planned to take.
  public private(set) var isShort = false
  /// Whether the last beat left free shards to other daemons.
  private var leavesSome = false

  /// A Review is what a beat has to do.
  public struct Review: Sendable {
    /// The shards that other daemons have now, or soon will: their claims are to be released.
    public var gone: [Int]
    public var take: [Int]
    /// Whether shards stay that were being handed over.
    public var isStaying: Bool
  }

  public init() {}

  /// Whether shards are moving: own ones that wait for deliveries in flight, or free ones for others.
  public var isMoving: Bool { !yielding.isEmpty || leavesSome }

  /// Plans by the tables that a beat has found.
  public mutating func review(
    for node: Int64, owners: [Int64?], epochs: [Int64], living: Set<Int64>
  ) -> Review {
    var mine: [Int: Int64] = [:]
    for (shard, owner) in owners.enumerated() where owner == node { mine[shard] = epochs[shard] }
    let plan = FleetPlan(for: node, owners: owners, living: living)
    let yields = Set(plan.yield)
    let gone = owned.filter { mine[$0.key] != $0.value }.map(\.key) + yields.subtracting(yielding)
    let isStaying = !yielding.subtracting(yields).isDisjoint(with: mine.keys)
    (owned, yielding, leavesSome) = (mine, yields, plan.leavesSome)
    return Review(gone: gone, take: plan.take, isStaying: isStaying)
  }

  /// Notes the shards that it got, with their epochs.
  public mutating func took(_ taken: [(shard: Int, epoch: Int64)], of planned: [Int]) {
    for (shard, epoch) in taken { owned[shard] = epoch }
    isShort = taken.count < planned.count
  }

  /// Notes the shards that it has released.
  public mutating func gave(_ given: [Int]) {
    for shard in given { owned[shard] = nil }
    yielding.subtract(given)
  }
}
