public import ChimeSchedule

/// A store that several daemons have at once. Who fires something is settled by the transaction that fires it; the queues of
/// the outbox are shared out, each to one daemon at a time, and `claimDeliveries` and `wakeups` are about this one's alone.
///
/// The store sees to this daemon's part in it by itself, from its opening on. A queue goes to another daemon when nothing
/// of it is under way here any more; or, when this one has not been heard of for a while, without its doing. What comes
/// of attempts that were begun before is then refused (`StoreFailure.takenOver`): the other sends them again, under
/// the same ids.
public protocol SharedStore: Store {
  /// Tells, from any thread, what the loop has to do about the others. Called once, before the loop reads anything.
  func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void)
  /// Whether no other can have taken queues over since this daemon was last heard of. Asked before something is begun; it
  /// looks at the clock and nothing else.
  var holdsQueues: Bool { get }
  /// Whether no other daemon has the store, as of the last time that this one was heard of. Whoever comes is told of by
  /// `.look`.
  var isAlone: Bool { get }
  /// For how long the database has not answered a question that waits for nothing there; nil while it answers.
  var unansweredFor: Milliseconds? { get }
  /// Asks the database such a question soon, so that `unansweredFor` tells of now.
  func probe()
  /// Takes no queue from now on, and lets each go as soon as nothing of it is under way: for a daemon that is about to end.
  func retire()
  /// How many of each owner's queues each daemon has: of those that have an endpoint or owe something. An owner who has none
  /// is left out.
  func shares(of owners: [UInt32]) async throws -> [UInt32: DeliveryQueueShares]
  /// The daemons that have the store, those that have been gone for less than a day among them, in the order in which
  /// they came.
  func members() async throws -> [FleetMember]
  /// Whose each queue is, by the member's number, that of one which is lost among them; none for those that are nobody's.
  func queueOwners() async throws -> [DeliveryQueue: Int64]
  /// The queues that are this daemon's, but for those that it is handing over.
  func heldQueues() async throws -> Set<DeliveryQueue>
  /// Makes the parts ahead in which the store keeps what fires, and drops those whole of which `edge` takes all: what of
  /// them stays (`StoreTransaction.prune`) is kept elsewhere. Takes as long as it needs, and holds nobody up.
  ///
  /// - Parameter edge: nil where nothing is to go.
  func maintainPartitions(_ edge: HistoryEdge?) async throws -> KeptHistory
  /// In how many months what has fired is kept, and about how many times are in none of them.
  func partitionCounts() async throws -> (months: Int, timesOutside: Int)
}

/// What became of the history that a shared store keeps in months.
public struct KeptHistory: Hashable, Sendable {
  /// How many months were dropped.
  public var months = 0
  /// About how many times were in them.
  public var count = 0
  /// What is to be pruned time by time; nil: nothing, because another daemon is about it.
  public var rest: HistoryEdge?
  /// What could not be done, and will be tried again.
  public var problems: [StoreFailure] = []

  public init(months: Int = 0, count: Int = 0, rest: HistoryEdge?, problems: [StoreFailure] = []) {
    self.months = months
    self.count = count
    self.rest = rest
    self.problems = problems
  }
}

/// What a fleet brings about in one of its daemons.
public enum FleetEvent: Hashable, Sendable {
  /// These queues are another's now, or about to be: what is claimed of them and has not begun goes back.
  case leave(Set<DeliveryQueue>)
  /// There are more queues: claims that their former owners have left in them are to be released (`releaseFormerClaims`).
  case taken
  /// Others may have put something into the outbox, or taken something out of it.
  case look
  /// Others may have changed endpoints.
  case endpointsChanged
  /// The store has not heard of this daemon for so long, more than a lease: others may have ended its sessions, and have what
  /// it had.
  case lapsed(unheardFor: Milliseconds)
  /// This daemon has ended so many sessions of another that was not heard of, so that nothing it had locked stays so.
  case endedSessions(Int, ofProcess: Int64, on: String)
  /// It may not end them.
  case sessionsStay(StoreFailure)
}

/// A daemon that shares a store with others. Times are by the store's clock.
public struct FleetMember: Hashable, Sendable {
  /// A number that is given once.
  public var id: Int64
  /// The name of its machine.
  public var name: String
  public var process: Int64
  /// Of its program.
  public var version: String
  public var startedAt: Instant
  public var seenAt: Instant
  /// Whether it has been heard of within its lease.
  public var isLiving: Bool
  /// Whether it is about to end, and takes nothing more.
  public var isLeaving: Bool
  /// Whether it is the daemon that was asked.
  public var isAsked: Bool
  /// How many of the 256 parts of the outbox it has.
  public var shares: Int
  /// How many parts there are.
  public static let allShares = 256

  public init(
    id: Int64, name: String, process: Int64, version: String, startedAt: Instant, seenAt: Instant, isLiving: Bool,
    isLeaving: Bool, isAsked: Bool, shares: Int
  ) {
    self.id = id
    self.name = name
    self.process = process
    self.version = version
    self.startedAt = startedAt
    self.seenAt = seenAt
    self.isLiving = isLiving
    self.isLeaving = isLeaving
    self.isAsked = isAsked
    self.shares = shares
  }
}
