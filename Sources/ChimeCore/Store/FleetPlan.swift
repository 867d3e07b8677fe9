/// A FleetPlan decides which of the 256 shards of the outbox one daemon takes and which it yields.
///
/// Each daemon decides for itself from the same tables. No decision takes a shard from another daemon: a daemon takes
/// free shards and yields its surplus. Once all daemons see the same tables, each shard has one owner, the shares
/// differ by at most one, and no shard moves without need.
///
///     let plan = FleetPlan(for: 7, owners: [7, 7, nil, 8], living: [7, 8])   // of four shards: takes the third
public struct FleetPlan: Equatable, Sendable {
  /// The number of shards in a database.
  public static let shards = FleetMember.allShards

  /// The shards to take: free ones and those of lost daemons, if no other daemon is faster.
  public var take: [Int]
  /// The own shards to release as soon as no delivery of them is in flight.
  public var yield: [Int]
  /// Whether free shards are left for other daemons. A share depends on who took shards before, so all daemons may
  /// leave the same shard.
  public var leavesSome: Bool

  /// Plans for one daemon.
  ///
  /// - Parameters:
  ///   - node: the deciding daemon. If it is not living, it keeps nothing.
  ///   - owners: the owner of each shard; nil if free.
  ///   - living: the daemons with a valid lease that are not leaving.
  public init(for node: Int64, owners: [Int64?], living: Set<Int64>) {
    var shares: [Int64: Int] = [:]
    for case let owner? in owners where living.contains(owner) { shares[owner, default: 0] += 1 }
    // Daemons with many shards get the larger shares, so that no shard moves just for the remainder.
    let order = living.sorted { (-shares[$0, default: 0], $0) < (-shares[$1, default: 0], $1) }
    let mine = owners.indices.filter { owners[$0] == node }
    guard let place = order.firstIndex(of: node) else {
      (take, yield, leavesSome) = ([], mine, false)
      return
    }
    let (base, more) = owners.count.quotientAndRemainder(dividingBy: order.count)
    let share = place < more ? base + 1 : base
    yield = mine.count > share ? mine.sorted { Self.turn($0) < Self.turn($1) }.dropFirst(share).sorted() : []
    let free = owners.indices.filter { index in owners[index].map { !living.contains($0) } ?? true }
    // Daemons that take shards at the same time start at different ones and step over each other's.
    let turns = (0..<order.count).lazy.flatMap { step in
      stride(from: (place + step) % order.count, to: free.count, by: order.count).lazy.map { free[$0] }
    }
    take = turns.prefix(max(0, share - mine.count)).sorted()
    leavesSome = take.count < free.count
  }

  /// Returns the bit-reversed shard number, by which shards are kept: 0, 128, 64, 192, … Queues are numbered
  /// consecutively, so each daemon keeps some of a few neighbors.
  private static func turn(_ shard: Int) -> Int { (0..<8).reduce(0) { $0 << 1 | (shard >> $1) & 1 } }
}
