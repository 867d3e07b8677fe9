package import ChimeCore
package import ChimeSchedule

/// The verbs of a store whose engine understands SQL, inside one body: those that both engines have in common are in
/// `Verbs`. An engine adds what is its own: how due times are claimed and firings recorded, leases, and the statements below.
package protocol SQLTransaction: StoreTransaction, AnyObject {
  associatedtype Connection: SQLConnection

  var connection: Connection { get }
  var reader: DefinitionReader { get }
  var isReadOnly: Bool { get }
  /// What this body has looked up and begun.
  var memory: TransactionMemory { get set }

  /// What of a queue the store knows; nil where it has no row yet.
  func standing(of queue: DeliveryQueue) throws -> DeliveryQueueRow?
  func standingMaking(_ queue: DeliveryQueue) throws -> DeliveryQueueRow
  /// A page of the reminders that have a time to come, in the order of those times.
  func coming(_ filter: ReminderFilter, _ page: Page) throws -> [ReminderRecord]

  // What is told of as it happens. An engine that has one daemon alone has nobody to tell.

  /// Something has come into the outbox, or has left it.
  func outboxHasChanged()
  func endpointsHaveChanged()
  /// A due time has been set.
  func dueTimeHasChanged(of reminder: Int64, to next: Instant)
  /// The body is about to count a tenant's reminders, and may write after it.
  func willCount(tenant: UInt32) throws

  // Statements that the engines word differently.

  /// Takes owner, time, kind, tracker and subject of a change; returns its key.
  static var beginChange: StaticString { get }
  /// Takes tracker, at, day, minute, quantity, item, fields, photo, note, has_note and born; returns the key.
  static var insertEntry: StaticString { get }
  /// Takes tracker, day, title, note, photo, value, created_at and born; returns the key.
  static var insertMilestone: StaticString { get }
  /// Takes the name of a tenant, which another daemon may have made since; returns its name and number.
  static var enrolTenant: StaticString { get }
  /// Takes the time and the reminder of an occurrence, whose attempts are deleted.
  static var deleteAttempts: StaticString { get }
  /// Takes the key of a delivery, whose attempt is put with those that others followed.
  static var moveAttempt: StaticString { get }
  /// Takes a delivery's id, whose attempts are read.
  static var selectAttempts: StaticString { get }
  /// The tags of reminder `r`, as a table `t` with the column `value`.
  static var tags: SQLText { get }
}

extension SQLTransaction {
  package func outboxHasChanged() {}
  package func endpointsHaveChanged() {}
  package func dueTimeHasChanged(of reminder: Int64, to next: Instant) {}
  package func willCount(tenant: UInt32) {}

  package var unreadable: [UnreadableReminder] {
    get { memory.unreadable }
    set { memory.unreadable = newValue }
  }

  package var unreadableTracking: [UnreadableTracking] {
    get { memory.unreadableTracking }
    set { memory.unreadableTracking = newValue }
  }

  package var tenantsWithMore: Set<UInt32> {
    get { memory.tenantsWithMore }
    set { memory.tenantsWithMore = newValue }
  }

  /// Begins every verb that writes.
  package func requireWriting() throws(StoreFailure) {
    if isReadOnly { throw .readOnly }
  }

  /// The number of a reminder, present or past.
  package func key(of id: ReminderID) throws -> Int64? {
    try connection.first("SELECT key FROM alias WHERE id = $1", id.rawValue) { $0.int64(0) }
  }

  package func key(of queue: DeliveryQueue) throws -> Int64? {
    if let known = memory.queues[queue] { return known }
    let found = try connection.first(
      "SELECT key FROM lane WHERE owner = $1 AND channel = $2", queue.owner, queue.channel.rawValue
    ) { $0.int64(0) }
    memory.queues[queue] = found
    return found
  }
}

/// What a body has looked up and begun.
package struct TransactionMemory {
  /// What `claimDue` has seen, so that `record` need not look it up again.
  package var claimed: [ReminderID: ReminderProgress] = [:]
  /// A batch of firings has thousands of deliveries and a handful of queues.
  fileprivate var queues: [DeliveryQueue: Int64] = [:]
  package var trackerKeys: [TrackerKey: Int64] = [:]
  /// The change that this body has begun, and whose it is.
  package var change: (key: Int64, owner: UInt32)?
  package var unreadable: [UnreadableReminder] = []
  package var unreadableTracking: [UnreadableTracking] = []
  package var tenantsWithMore: Set<UInt32> = []

  package init() {}

  /// Begins a body: what the one before has seen may have been undone.
  package mutating func forget() {
    claimed.removeAll(keepingCapacity: true)
    queues.removeAll(keepingCapacity: true)
    trackerKeys.removeAll(keepingCapacity: true)
    change = nil
    tenantsWithMore.removeAll()
  }
}

/// What recording a firing needs of its reminder.
package struct ReminderProgress {
  package var key: Int64
  package var generation: Int64
  package var skipNext: Int

  package init(key: Int64, generation: Int64, skipNext: Int) {
    self.key = key
    self.generation = generation
    self.skipNext = skipNext
  }
}

/// What the store knows of a queue.
package struct DeliveryQueueRow {
  package var key: Int64
  package var isOrdered: Bool
  /// Which part of the outbox it is in, where several daemons share one.
  package var shard: Int64

  package init(key: Int64, isOrdered: Bool, shard: Int64 = 0) {
    self.key = key
    self.isOrdered = isOrdered
    self.shard = shard
  }
}
