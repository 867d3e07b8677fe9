import ChimeCore

/// What one daemon does about its share of the outbox, of which there are 256 parts (shards).
///
/// Each daemon decides for itself, from the same table of the database, and what it decides takes nothing from anybody
/// else: it takes what nobody has, and lets go what it has too much of. When all see the same, each shard has one owner
/// and no two shares differ by more than one; what need not move stays where it is.
///
///     let plan = FleetPlan(for: 7, owners: [7, 7, nil, 8], living: [7, 8])   // of four shards: takes the third
struct FleetPlan: Equatable, Sendable {
  /// How many parts the outbox of a database has.
  static let shards = FleetMember.allShares

  /// Nobody's, or those of one that is gone: to be made ours, if nobody else is quicker.
  var take: [Int]
  /// Ours, to be another's as soon as nothing of them is under way.
  var yield: [Int]
  /// Whether some are left that others are to take. What each counts as its share depends on who has taken before, so
  /// that one may be left by all.
  var leavesSome: Bool

  /// - Parameters:
  ///   - node: who decides. One that is not among the living keeps nothing.
  ///   - owners: of each shard; nil: nobody.
  ///   - living: who has been seen within the last lease and means to stay.
  init(for node: Int64, owners: [Int64?], living: Set<Int64>) {
    var shares: [Int64: Int] = [:]
    for case let owner? in owners where living.contains(owner) { shares[owner, default: 0] += 1 }
    // The larger shares are for those who have much already: then nothing moves from one to the other for their sake.
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
    // Those that take at the same time take every second, or third, each others.
    let turns = (0..<order.count).lazy.flatMap { step in
      stride(from: (place + step) % order.count, to: free.count, by: order.count).lazy.map { free[$0] }
    }
    take = turns.prefix(max(0, share - mine.count)).sorted()
    leavesSome = take.count < free.count
  }

  /// Which part is kept longest: 0, 128, 64, 192 and so on (its bits from behind). Queues are numbered as they come, so of
  /// a few one after another each daemon is to have some.
  private static func turn(_ shard: Int) -> Int { (0..<8).reduce(0) { $0 << 1 | (shard >> $1) & 1 } }
}
