import ChimeCore
import ChimeRecords
import ChimeSchedule

/// The verbs, inside one body. Lives and ends on the queue of the connection it was given.
final class Transaction: StoreTransaction {
  let connection: Connection
  let reader: DefinitionReader
  let isReadOnly: Bool
  /// What `claimDue` has seen in this body, so that `record` need not look it up again.
  var claimed: [ReminderID: Standing] = [:]
  /// The lanes that this body has looked up: a batch of firings has thousands of deliveries and a handful of lanes.
  private var lanes: [Lane: Int64] = [:]
  var unreadable: [UnreadableReminder] = []
  var tenantsWithMore: Set<UInt32> = []
  /// The change that this body has begun, and whose it is.
  var change: (key: Int64, owner: UInt32)?
  var unreadableTracking: [UnreadableTracking] = []
  /// The numbers of trackers that this body has looked up.
  var trackerKeys: [TrackerKey: Int64] = [:]

  /// What recording a firing needs of its reminder.
  struct Standing {
    var key: Int64
    var generation: Int64
    var skipNext: Int
  }

  init(connection: Connection, reader: DefinitionReader, isReadOnly: Bool) {
    self.connection = connection
    self.reader = reader
    self.isReadOnly = isReadOnly
  }

  /// Begins every verb that writes.
  func requireWriting() throws(StoreFailure) {
    if isReadOnly { throw .readOnly }
  }

  /// The number of a reminder, present or past.
  func key(of id: ReminderID) throws -> Int64? {
    try connection.first("SELECT key FROM alias WHERE id = ?", id.rawValue) { $0.int64(0) }
  }

  func key(of lane: Lane) throws -> Int64? {
    if let known = lanes[lane] { return known }
    let found = try connection.first(
      "SELECT key FROM lane WHERE owner = ? AND channel = ?", lane.owner, lane.channel.rawValue
    ) { $0.int64(0) }
    lanes[lane] = found
    return found
  }

  /// Begins a body: what the one before has seen may have been undone.
  func forget() {
    claimed.removeAll(keepingCapacity: true)
    lanes.removeAll(keepingCapacity: true)
    trackerKeys.removeAll(keepingCapacity: true)
    change = nil
    tenantsWithMore.removeAll()
  }

  func standing(of lane: Lane) throws -> LaneStanding? {
    try connection.first(
      "SELECT key, ordered FROM lane WHERE owner = ? AND channel = ?", lane.owner, lane.channel.rawValue
    ) { LaneStanding(key: $0.int64(0), isOrdered: $0.int64(1) != 0) }
  }

  func standingMaking(_ lane: Lane) throws -> LaneStanding {
    if let known = try standing(of: lane) { return known }
    try connection.run("INSERT INTO lane (owner, channel) VALUES (?, ?)", lane.owner, lane.channel.rawValue)
    return LaneStanding(key: connection.lastInsertedKey, isOrdered: false)
  }

  /// What the store knows of a lane.
  struct LaneStanding {
    var key: Int64
    var isOrdered: Bool
  }
}

extension SQLiteStore {
  /// How long answers to tokens are kept at least.
  static let tokenLife = Milliseconds.days(1)
}
