import ChimeCore
import Testing

@testable import ChimeStorePostgres

/// The assignment of shards, as far as it is decided without a database.
@Suite struct FleetPlanTests {
  @Test(
    arguments: [
      // owners of eight shards ("-": none, "9": a lost daemon), living daemons, the caller, what it takes, what it releases
      ("--------", [1], 1, [0, 1, 2, 3, 4, 5, 6, 7], []),
      ("11111111", [1], 1, [], []),
      ("11111111", [1, 2], 1, [], [1, 3, 5, 7]),
      ("11111111", [1, 2], 2, [], []),
      ("1111----", [1, 2], 2, [4, 5, 6, 7], []),
      ("11119999", [1, 2], 2, [4, 5, 6, 7], []),
      // Two of three have three shards: those that have them already.
      ("11122233", [1, 2, 3], 1, [], []),
      ("11222333", [1, 2, 3], 1, [], []),
      ("11111122", [1, 2, 3], 2, [], []),
      ("11111122", [1, 2, 3], 1, [], [1, 3, 5]),
      // Daemons that take shards at the same time take different ones.
      ("111---22", [1, 2, 3], 3, [3, 5], []),
      ("111---22", [1, 2, 3], 2, [4], []),
      // A daemon about to end gets no shards, and is not counted.
      ("11112222", [2], 1, [], [0, 1, 2, 3]),
      ("11112222", [2], 2, [0, 1, 2, 3], []),
      ("----2222", [2], 1, [], []),
    ] as [(String, Set<Int64>, Int64, [Int], [Int])])
  func planTakesAndReleasesShards(owners: String, living: Set<Int64>, node: Int64, take: [Int], yield: [Int]) {
    let plan = FleetPlan(for: node, owners: owners.map { Int64(String($0)) }, living: living)
    #expect(plan.take == take)
    #expect(plan.yield == yield)
  }

  /// With more daemons than shards, some have none and nobody has two.
  @Test func noShardHasTwoOwnersWithMoreDaemonsThanShards() {
    var table = Table(seed: 5)
    for _ in 0..<300 { table.join() }
    table.pass(2 * LeaseRenewal.interval)
    #expect(table.unowned == 0)
    #expect(table.shares.values.allSatisfy { $0 == 1 } && table.shares.count == 256)
  }

  /// Queues are numbered in order: each daemon has some of the first few, however the daemons came and went.
  @Test(arguments: 1...ProofTier.amount(quick: 2, proof: 40) as ClosedRange<UInt64>)
  func fewQueuesAreSharedByAllDaemons(
    seed: UInt64
  ) {
    var table = Table(seed: seed)
    for count in 1...4 {
      table.join()
      table.pass(4 * LeaseRenewal.interval + Int64(seed) * 117)
      #expect(Set(table.owners[1...(4 * count)]).count == count, "\(table.owners[1...16])")
    }
    table.lose(Int64(seed % 4) + 1, lockedFor: 0)
    table.pass(LeaseRenewal.lease + 2 * LeaseRenewal.interval)
    #expect(Set(table.owners[1...16]).count == 3, "\(table.owners[1...16])")
  }

  /// After any changes: two heartbeats after the last one (and after the lease of a lost daemon), each shard has one
  /// owner and no two shares differ by more than one. Without notifications it may take two more heartbeats.
  @Test(arguments: 1...ProofTier.amount(quick: 2, proof: 40) as ClosedRange<UInt64>, [false, true])
  func sharesBecomeEven(
    seed: UInt64, isDeaf: Bool
  ) {
    var table = Table(seed: seed, isDeaf: isDeaf)
    table.join()
    for _ in 0..<40 {
      _ = table.change()
      // Changes may follow each other at once.
      if table.chance(3) { continue }
      table.settle()
      #expect(table.unowned == 0, "\(table.living.count) daemons")
      let shares = table.living.map { table.shares[$0, default: 0] }
      #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1, "\(shares)")
      #expect(Set(table.shares.keys).isSubset(of: table.living))
    }
  }

  /// Shards still locked when their lease ended, perhaps because others were taking some at that moment, are taken once
  /// they are unlocked, without waiting for another heartbeat.
  @Test(arguments: 1...15 as ClosedRange<UInt64>) func lockedShardIsTakenOnceUnlocked(seed: UInt64) {
    var table = Table(seed: seed)
    for _ in 0..<4 { table.join() }
    table.pass(4 * LeaseRenewal.interval + Int64(seed) * 117)
    table.lose(2, lockedFor: 100)
    table.pass(LeaseRenewal.lease + 400)
    #expect(table.shares.keys.sorted() == [1, 3, 4] && table.shares.values.sorted() == [85, 85, 86])
  }

  /// All daemons take their shares at the same moment: nothing is left until the next heartbeat, in any order.
  @Test(arguments: 1...15 as ClosedRange<UInt64>) func allShardsOfALostDaemonAreTakenAtOnce(seed: UInt64) {
    var table = Table(seed: seed)
    for _ in 0..<4 { table.join() }
    table.pass(4 * LeaseRenewal.interval + Int64(seed) * 117)
    table.lose(Int64(seed % 4) + 1, lockedFor: 0)
    table.pass(LeaseRenewal.lease + 400)
    #expect(table.shares.values.sorted() == [85, 85, 86])
  }

  /// Only what must move is moved: a newcomer's share, or a leaving daemon's shards.
  @Test(arguments: 1...ProofTier.amount(quick: 2, proof: 40) as ClosedRange<UInt64>) func shardsMoveOnlyIfNeeded(
    seed: UInt64
  ) {
    var table = Table(seed: seed)
    table.join()
    table.pass(2 * LeaseRenewal.interval)
    for _ in 0..<30 {
      let (before, owners) = (table.shares, table.owners)
      let change = table.change()
      table.settle()
      let moved = zip(owners, table.owners).count { $0 != $1 }
      switch change {
      case .joined(let node): #expect(moved == table.shares[node, default: 0])
      case .left, .lost: #expect(moved == before.filter { !table.living.contains($0.key) }.values.reduce(0, +))
      case .woken(let node): #expect(moved == table.shares[node, default: 0])
      case .nothing: #expect(moved == 0)
      }
    }
  }

  /// The database and its daemons, each with its own heartbeat phase; a shard is released at once.
  private struct Table {
    enum Change: Equatable { case joined(Int64), left, lost, woken(Int64), nothing }

    private(set) var owners = [Int64?](repeating: nil, count: FleetPlan.shards)
    private var expiry: [Int64: Int64] = [:]
    private var heartbeats: [Int64: LeaseRenewal] = [:]
    private var frozen: Set<Int64> = []
    private var now: Int64 = 0
    private var last: Int64 = 0
    private var random: UInt64
    /// When the lease of the last lost daemon ends.
    private var lostUntil: Int64 = 0

    /// Shards that nobody can take before a time.
    private var locked: (shards: Set<Int>, until: Int64) = ([], 0)

    /// Whether notifications do not arrive.
    private let isDeaf: Bool

    /// Determines the order of heartbeats at the same moment.
    private let order: UInt64

    init(seed: UInt64, isDeaf: Bool = false) { (random, order, self.isDeaf) = (seed, seed | 1, isDeaf) }

    private func turn(_ node: Int64) -> UInt64 { UInt64(bitPattern: node) &* order &* 0x9E37_79B9_7F4A_7C15 }

    /// The running daemons.
    var living: Set<Int64> { Set(heartbeats.keys).subtracting(frozen) }
    var shares: [Int64: Int] { Dictionary(owners.compactMap { $0 }.map { ($0, 1) }, uniquingKeysWith: +) }
    var unowned: Int { owners.count { $0 == nil } }

    /// Returns true once in `count` times on average.
    mutating func chance(_ count: Int) -> Bool { next(count) == 0 }

    private mutating func next(_ count: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((random >> 33) % UInt64(max(count, 1)))
    }

    mutating func join() {
      last += 1
      heartbeats[last] = LeaseRenewal(now: now)
      beat(last)
      call(last)
    }

    /// Kills a daemon, whose shards stay locked for `span` after its lease.
    mutating func lose(_ node: Int64, lockedFor span: Int64) {
      heartbeats[node] = nil
      locked = (Set(owners.indices.filter { owners[$0] == node }), expiry[node, default: now] + span)
    }

    mutating func change() -> Change {
      pass(Int64(next(Int(LeaseRenewal.interval))))
      let some = living.sorted()
      switch next(5) {
      case 0, 1:
        guard some.count < 9 else { return .nothing }
        join()
        return .joined(last)
      case 2 where some.count > 1:
        let node = some[next(some.count)]
        owners = owners.map { $0 == node ? nil : $0 }
        (heartbeats[node], expiry[node]) = (nil, nil)
        call(node)
        return .left
      case 3 where some.count > 1:
        let node = some[next(some.count)]
        // Killed, or frozen for a while.
        lostUntil = now + LeaseRenewal.lease
        if chance(2) { heartbeats[node] = nil } else { frozen.insert(node) }
        return .lost
      case 4:
        guard let node = frozen.sorted().first else { return .nothing }
        frozen.remove(node)
        return .woken(node)
      default: return .nothing
      }
    }

    /// Advances to the end of a lost lease, plus two heartbeats.
    mutating func settle() { pass(max(0, lostUntil - now) + (isDeaf ? 4 : 2) * LeaseRenewal.interval) }

    /// Notifies the other daemons of `node`'s change.
    private mutating func call(_ node: Int64) {
      if isDeaf { return }
      for other in heartbeats.keys where other != node && !frozen.contains(other) {
        heartbeats[other]?.called(at: now)
      }
    }

    mutating func pass(_ span: Int64) {
      let end = now + span
      while let (node, heartbeat) = heartbeats.filter({ !frozen.contains($0.key) })
        .min(by: { ($0.value.next, turn($0.key)) < ($1.value.next, turn($1.key)) }), heartbeat.next <= end
      {
        now = max(now, heartbeat.next)
        beat(node)
      }
      now = end
    }

    private mutating func beat(_ node: Int64) {
      expiry[node] = now + LeaseRenewal.lease
      let alive = expiry.filter { $0.value > now }
      let plan = FleetPlan(for: node, owners: owners, living: Set(alive.keys))
      let taken = plan.take.filter { now >= locked.until || !locked.shards.contains($0) }
      for shard in taken { owners[shard] = node }
      for shard in plan.yield { owners[shard] = nil }
      if !plan.yield.isEmpty { call(node) }
      let othersEnd = alive.filter { $0.key != node }.values.min()
      heartbeats[node]?.renewed(
        beganAt: now, othersEndIn: othersEnd.map { $0 - now }, isHandingOver: plan.leavesSome,
        isShort: taken.count < plan.take.count)
    }
  }
}

/// When a daemon's heartbeats are due, and until when its lease is valid.
@Suite struct LeaseRenewalTests {
  @Test func singleDaemonRenewsTwiceWithinALease() {
    var heartbeat = LeaseRenewal(now: 10_000)
    heartbeat.renewed(beganAt: 10_000, othersEndIn: nil, isHandingOver: false, isShort: false, isAlone: true)
    #expect(heartbeat.next == 12_500 && 10_000 + 2 * LeaseRenewal.aloneInterval < 10_000 + LeaseRenewal.lease)
  }

  @Test func heartbeatFollowsTwoSecondsAfterTheLast() {
    var heartbeat = LeaseRenewal(now: 10_000)
    #expect(heartbeat.next == 10_000)
    #expect(heartbeat.leaseEnd == nil)
    heartbeat.renewed(beganAt: 10_000, othersEndIn: nil, isHandingOver: false, isShort: false)
    #expect(heartbeat.next == 12_000)
    // From the moment at which it started to write, however long the database took.
    #expect(heartbeat.leaseEnd == 16_000)
  }

  @Test func heartbeatIsDueWhenAnotherLeaseEnds() {
    var heartbeat = LeaseRenewal(now: 0)
    heartbeat.renewed(beganAt: 0, othersEndIn: 700, isHandingOver: false, isShort: false)
    #expect(heartbeat.next == 720)
    heartbeat.renewed(beganAt: 720, othersEndIn: 5_900, isHandingOver: false, isShort: false)
    #expect(heartbeat.next == 2_720)
  }

  @Test func expiredLeaseIsDetectedByTheNextHeartbeat() {
    var heartbeat = LeaseRenewal(now: 0)
    #expect(heartbeat.lapse(at: 90_000) == nil, "it has had none")
    heartbeat.renewed(beganAt: 0, othersEndIn: nil, isHandingOver: false, isShort: false)
    heartbeat.failed(at: 2_000)
    #expect(heartbeat.lapse(at: 6_000) == nil)
    #expect(heartbeat.lapse(at: 9_000) == 9_000)
    heartbeat.renewed(beganAt: 9_000, othersEndIn: nil, isHandingOver: false, isShort: false)
    #expect(heartbeat.lapse(at: 11_000) == nil)
  }

  /// A restarted database may have lost the last heartbeats of others.
  @Test func nobodyWhoseLeaseHasJustExpiredCountsAsLostAfterAReconnection() {
    var heartbeat = LeaseRenewal(now: 0)
    #expect(heartbeat.patience(at: 0) == 0)
    heartbeat.reconnected(at: 10_000)
    #expect(heartbeat.patience(at: 10_000) == 3_000)
    #expect(heartbeat.patience(at: 15_999) == 3_000)
    #expect(heartbeat.patience(at: 16_000) == 0)
  }

  @Test func failedHeartbeatIsRetriedAndRenewsNothing() {
    var heartbeat = LeaseRenewal(now: 0)
    heartbeat.renewed(beganAt: 0, othersEndIn: nil, isHandingOver: false, isShort: false)
    heartbeat.failed(at: 5_000)
    #expect(heartbeat.next == 5_500)
    #expect(heartbeat.leaseEnd == 6_000)
  }

  /// Nine notifications at once cause one heartbeat, or two.
  @Test func manyNotificationsCauseAtMostTwoHeartbeats() {
    var heartbeat = LeaseRenewal(now: 0)
    heartbeat.renewed(beganAt: 0, othersEndIn: nil, isHandingOver: false, isShort: false)
    heartbeat.called(at: 1_000)
    #expect(heartbeat.next == 1_000)
    heartbeat.renewed(beganAt: 1_000, othersEndIn: nil, isHandingOver: false, isShort: false)
    for moment in 1_001...1_009 { heartbeat.called(at: Int64(moment)) }
    #expect(heartbeat.next == 1_050)
  }

  @Test func handoverShortensTheHeartbeatInterval() {
    var heartbeat = LeaseRenewal(now: 0)
    heartbeat.renewed(beganAt: 0, othersEndIn: nil, isHandingOver: true, isShort: false)
    #expect(heartbeat.next == 200)
    heartbeat.renewed(beganAt: 200, othersEndIn: nil, isHandingOver: false, isShort: true)
    #expect(heartbeat.next == 250)
  }
}
