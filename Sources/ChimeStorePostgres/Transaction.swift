import ChimeCore
import ChimeRecords
import ChimeSchedule

/// The verbs, inside one body. Lives and ends on the queue of the connection it was given.
final class Transaction: StoreTransaction {
  let connection: Connection
  let reader: DefinitionReader
  let isReadOnly: Bool
  /// What time the database had when the transaction began.
  var time: StoreTime?
  /// Where claims go on; kept from session to session.
  let turn: ClaimTurn
  /// How long a transaction that has claimed due times may stand still, in milliseconds.
  let claimTimeout: Int64
  /// Is told what time the database has, at the beginning of each transaction.
  let heard: @Sendable (StoreTime) -> Void
  /// Whether what this transaction does may be for others: it puts something into the outbox, or takes something out.
  var concernsOthers = false
  /// Whether it changes what daemons keep of endpoints in memory.
  var changesEndpoints = false
  /// What of the outbox is this daemon's.
  let holdings: Holdings
  /// The leases that this body has looked up: nil where a shard is another daemon's.
  var epochs: [Int64: Int64?] = [:]
  /// What `claimDue` has seen in this body, so that `record` need not look it up again.
  var claimed: [ReminderID: Standing] = [:]
  /// The lanes that this body has looked up: a batch of firings has thousands of deliveries and a handful of lanes.
  private var lanes: [Lane: Int64] = [:]
  var unreadable: [UnreadableReminder] = []
  var tenantsWithMore: Set<UInt32> = []
  /// The change that this body has begun, and whose it is.
  var change: (key: Int64, owner: UInt32)?
  var unreadableTracking: [UnreadableTracking] = []
  /// The tenant whose reminders this transaction has counted, so that nobody else can until it has ended.
  var heldTenant: UInt32?
  /// Whether a body was broken off because it has to count another's.
  var wantsAnotherTenant = false
  /// The numbers of trackers that this body has looked up.
  var trackerKeys: [TrackerKey: Int64] = [:]

  /// What recording a firing needs of its reminder.
  struct Standing {
    var key: Int64
    var generation: Int64
    var skipNext: Int
  }

  init(
    connection: Connection, reader: DefinitionReader, isReadOnly: Bool, holdings: Holdings = Holdings(),
    turn: ClaimTurn = ClaimTurn(), claimTimeout: Int64 = 5_000,
    heard: @escaping @Sendable (StoreTime) -> Void = { _ in }
  ) {
    self.holdings = holdings
    self.connection = connection
    self.reader = reader
    self.isReadOnly = isReadOnly
    self.turn = turn
    self.claimTimeout = claimTimeout
    self.heard = heard
  }

  /// Begins every verb that writes.
  func requireWriting() throws(StoreFailure) {
    if isReadOnly { throw .readOnly }
  }

  /// The number of a reminder, present or past.
  func key(of id: ReminderID) throws -> Int64? {
    try connection.first("SELECT key FROM alias WHERE id = $1", id.rawValue) { $0.int64(0) }
  }

  func key(of lane: Lane) throws -> Int64? {
    if let known = lanes[lane] { return known }
    let found = try connection.first(
      "SELECT key FROM lane WHERE owner = $1 AND channel = $2", lane.owner, lane.channel.rawValue
    ) { $0.int64(0) }
    lanes[lane] = found
    return found
  }

  /// Begins a body: what the one before has seen may have been undone.
  func forget() {
    claimed.removeAll(keepingCapacity: true)
    turn.forget()
    lanes.removeAll(keepingCapacity: true)
    epochs.removeAll(keepingCapacity: true)
    trackerKeys.removeAll(keepingCapacity: true)
    change = nil
    tenantsWithMore.removeAll()
  }

  /// Ends the bodies of a transaction. What is one row for all comes last, so that nobody waits for it for long.
  func finish() throws(StoreFailure) {
    guard changesEndpoints else { return }
    try connection.run(
      """
      INSERT INTO revision (name, number) VALUES ('endpoints', 1)
      ON CONFLICT (name) DO UPDATE SET number = revision.number + 1
      """)
  }

  func standing(of lane: Lane) throws -> LaneStanding? {
    try connection.first(
      "SELECT key, ordered, shard FROM lane WHERE owner = $1 AND channel = $2", lane.owner, lane.channel.rawValue
    ) { LaneStanding(key: $0.int64(0), isOrdered: $0.int64(1) != 0, shard: $0.int64(2)) }
  }

  func standingMaking(_ lane: Lane) throws -> LaneStanding {
    if let known = try standing(of: lane) { return known }
    // Another daemon may have made it since, or be about to.
    let made = try connection.first(
      """
      INSERT INTO lane (owner, channel) VALUES ($1, $2)
      ON CONFLICT (owner, channel) DO UPDATE SET owner = excluded.owner
      RETURNING key, ordered, shard
      """, lane.owner, lane.channel.rawValue
    ) { LaneStanding(key: $0.int64(0), isOrdered: $0.int64(1) != 0, shard: $0.int64(2)) }
    guard let made else { throw StoreFailure.internalError("PostgreSQL made no lane for \(lane.channel)") }
    return made
  }

  /// What the store knows of a lane.
  struct LaneStanding {
    var key: Int64
    var isOrdered: Bool
    /// Which part of the outbox it is in.
    var shard: Int64
  }
}

extension PostgresStore {
  /// How long answers to tokens are kept at least.
  static let tokenLife = Milliseconds.days(1)
}
