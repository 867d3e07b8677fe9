public import ChimeSchedule

/// A LeaseView tells what is known about a daemon's leases without asking the store.
public protocol LeaseView: Sendable {
  /// Whether this daemon's leases are certain to be valid. Check this before an attempt; it only reads the clock.
  var holdsQueues: Bool { get }
  /// How often this daemon's leases have expired and were renewed. Claims from before the last time are void.
  var lapses: Int { get }
  /// Whether no other daemon used the store at the last heartbeat. `.outboxChanged` reports any daemon that joins.
  var isAlone: Bool { get }
}

/// A SharedStore is a store that several daemons use at once.
///
/// The firing transaction settles which daemon fires a due time. Each queue of the outbox belongs to one daemon at a
/// time; `claimDeliveries` and `wakeups` cover this daemon's queues only. The store manages this daemon's leases by
/// itself, from its opening on. A queue moves to another daemon once nothing of it is in flight here, or without this
/// daemon's consent after its lease has expired. Results of attempts begun before are then refused
/// (`StoreFailure.takenOver`): the other daemon sends them again, under the same ids.
public protocol SharedStore: Store, LeaseView {
  /// Reports, from any thread, what the loop has to do about the fleet. Call this once, before the loop reads anything.
  func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void)
  /// The time for which the database has not answered a query that never waits for locks; nil while it answers.
  var unansweredFor: Milliseconds? { get }
  /// Sends such a query soon, so that `unansweredFor` is up to date.
  func probe()
  /// Stops taking queues and hands each over once nothing of it is in flight, for a daemon that is shutting down.
  func retire()
  /// Returns how many of each owner's queues each daemon has, counting queues with an endpoint or a pending delivery.
  /// Owners without any are left out.
  func shares(of owners: [UInt32]) async throws -> [UInt32: DeliveryQueueShares]
  /// Returns the daemons of the fleet in the order in which they joined, including those gone for less than a day.
  func members() async throws -> [FleetMember]
  /// Returns the member id of the daemon that has each queue, even if that daemon is lost. Queues without one are left out.
  func queueOwners() async throws -> [DeliveryQueue: Int64]
  /// Returns this daemon's queues, without those that it is handing over.
  func heldQueues() async throws -> Set<DeliveryQueue>
  /// Creates partitions ahead of time and drops those that `edge` covers whole, without blocking other work. Rows that
  /// must stay (`StoreTransaction.prune`) are moved out first.
  ///
  /// - Parameter edge: nil to drop nothing.
  func maintainPartitions(_ edge: HistoryEdge?) async throws -> PruneResult
  /// Returns the number of monthly partitions and the approximate number of occurrences outside of them.
  func partitionCounts() async throws -> (months: Int, unpartitionedRows: Int)
}

/// A PruneResult is the result of maintaining the monthly partitions of a shared store.
public struct PruneResult: Hashable, Sendable {
  /// The number of partitions dropped.
  public var months = 0
  /// The approximate number of occurrences in them.
  public var count = 0
  /// The history to prune row by row; nil if another daemon is doing that.
  public var rest: HistoryEdge?
  /// Steps that failed and will be retried.
  public var problems: [StoreFailure] = []

  public init(months: Int = 0, count: Int = 0, rest: HistoryEdge?, problems: [StoreFailure] = []) {
    self.months = months
    self.count = count
    self.rest = rest
    self.problems = problems
  }
}

/// A FleetEvent tells a daemon what changed in the fleet.
public enum FleetEvent: Hashable, Sendable {
  /// These queues belong to another daemon now, or soon will: release the claims that have not begun.
  case leave(Set<DeliveryQueue>)
  /// This daemon has more queues: release the claims that former owners left in them (`releaseFormerClaims`).
  case taken
  /// Other daemons may have changed the outbox.
  case outboxChanged
  /// Other daemons may have changed endpoints.
  case endpointsChanged
  /// This daemon's heartbeat failed for longer than a lease: others may have ended its sessions and taken its queues.
  case leaseExpired(after: Milliseconds)
  /// This daemon ended so many database sessions of a lost daemon, which releases their locks.
  case endedSessions(Int, ofProcess: Int64, on: String)
  /// This daemon may not end the sessions of a lost daemon.
  case sessionsStay(StoreFailure)
}

/// A FleetMember is a daemon that shares a store with others. Times are those of the store's clock.
public struct FleetMember: Hashable, Sendable {
  /// A number that is never reused.
  public var id: Int64
  /// The host name.
  public var name: String
  public var process: Int64
  /// The version of its program.
  public var version: String
  public var startedAt: Instant
  public var seenAt: Instant
  /// Whether its lease is valid.
  public var isLiving: Bool
  /// Whether it is shutting down and takes no more queues.
  public var isDraining: Bool
  /// Whether it is the daemon that answers this query.
  public var isSelf: Bool
  /// How many of the 256 shards of the outbox it has.
  public var shards: Int
  /// The number of shards of the outbox.
  public static let allShards = 256

  public init(
    id: Int64, name: String, process: Int64, version: String, startedAt: Instant, seenAt: Instant, isLiving: Bool,
    isDraining: Bool, isSelf: Bool, shards: Int
  ) {
    self.id = id
    self.name = name
    self.process = process
    self.version = version
    self.startedAt = startedAt
    self.seenAt = seenAt
    self.isLiving = isLiving
    self.isDraining = isDraining
    self.isSelf = isSelf
    self.shards = shards
  }
}
