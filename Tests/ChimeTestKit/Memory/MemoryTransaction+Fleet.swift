import ChimeCore
import ChimeSchedule

/// A FleetFence limits a transaction to what its daemon may do on a store that several daemons use.
struct FleetFence {
  static let shards = 16

  struct Lease: Hashable {
    var node: Int64?
    /// Counts the owners of the shard.
    var epoch: Int64 = 0
  }

  /// The daemon of the transaction.
  var node: Int64?
  var time: Instant
  /// The shards that it is handing over.
  var yielding: Set<Int> = []
  var leases = [Lease](repeating: Lease(), count: FleetFence.shards)
  /// The reminders whose due times other transactions have locked.
  var locked: Set<ReminderID> = []

  static func shard(of queue: DeliveryQueue) -> Int {
    queue.channel.rawValue.utf8.reduce(0) { $0 + Int($1) } % shards
  }

  /// Returns the epoch under which the daemon holds a queue; nil if another one does.
  func epoch(of queue: DeliveryQueue) -> Int64? {
    let lease = leases[Self.shard(of: queue)]
    return lease.node == node ? lease.epoch : nil
  }

  /// Returns whether the daemon may claim from a queue.
  func lets(_ queue: DeliveryQueue) -> Bool {
    epoch(of: queue) != nil && !yielding.contains(Self.shard(of: queue))
  }
}

// Several daemons on one store, as in a database.
extension MemoryTransaction {
  var time: StoreTime? {
    fleet.map { StoreTime(microseconds: $0.time.milliseconds * 1_000, askedAt: 0, heardAt: 0) }
  }

  /// Returns whether the daemon may change a claim: it holds the queue, and the claim is of the present epoch.
  func holds(_ entry: MemoryContents.Entry) -> Bool {
    guard let fleet else { return true }
    guard let epoch = fleet.epoch(of: entry.delivery.queue) else { return false }
    return contents.claimEpochs[entry.delivery.id] ?? epoch == epoch
  }

  /// Returns whether an earlier commit already recorded this attempt, whose confirmation was lost.
  func isRecorded(_ attempt: Attempt, of delivery: Delivery) -> Bool {
    guard fleet != nil, delivery.attempts >= attempt.number else { return false }
    return contents.attempts[delivery.id]?.contains {
      $0.number >= attempt.number && $0.startedAt == attempt.startedAt
    } ?? false
  }
}
