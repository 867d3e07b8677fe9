package import ChimeCore
package import ChimeSchedule

/// An SQLTransaction implements the verbs of a store on an SQL engine, inside one body.
///
/// The verbs that both engines share are in `Verbs`. An engine adds claims of due times, recording of firings, leases,
/// and the statements below.
package protocol SQLTransaction: StoreTransaction, AnyObject {
  associatedtype Connection: SQLConnection

  var connection: Connection { get }
  var reader: DefinitionReader { get }
  var isReadOnly: Bool { get }
  /// Values that this body has looked up or begun.
  var memory: TransactionMemory { get set }

  /// Returns the row of a queue; nil if there is none yet.
  func standing(of queue: DeliveryQueue) throws -> DeliveryQueueRow?
  func findOrMakeQueue(_ queue: DeliveryQueue) throws -> DeliveryQueueRow
  /// Returns a page of the reminders with a due time, in the order of due times.
  func coming(_ filter: ReminderFilter, _ page: Page) throws -> [ReminderRecord]

  // Notifications about changes. An engine for a single daemon ignores them.

  /// Notes that deliveries were added to or removed from the outbox.
  func outboxHasChanged()
  func endpointsHaveChanged()
  /// Notes that a due time was set.
  func dueTimeHasChanged(of reminder: Int64, to next: Instant)
  /// Prepares to count a tenant's reminders; the body may write after that.
  func willCount(tenant: UInt32) throws

  // Statements that differ between the engines.

  /// Takes owner, time, kind, tracker and subject of a change. Returns its key.
  static var beginChange: StaticString { get }
  /// Takes tracker, at, day, minute, quantity, item, fields, photo, note, has_note and born. Returns the key.
  static var insertEntry: StaticString { get }
  /// Takes tracker, day, title, note, photo, value, created_at and born. Returns the key.
  static var insertMilestone: StaticString { get }
  /// Takes the name of a tenant, which another daemon may have created meanwhile. Returns its name and number.
  static var enrolTenant: StaticString { get }
  /// Takes the time and reminder of an occurrence, and deletes its attempts.
  static var deleteAttempts: StaticString { get }
  /// Takes the key of a delivery, and moves its attempt to the table of earlier attempts.
  static var moveAttempt: StaticString { get }
  /// Takes a delivery's id, and selects its attempts.
  static var selectAttempts: StaticString { get }
  /// The tags of reminder `r` as a table `t` with the column `value`.
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

  /// Requires a writing transaction. Every writing verb begins with it.
  package func requireWriting() throws(StoreFailure) {
    if isReadOnly { throw .readOnly }
  }

  /// Returns the key of a reminder that exists or existed.
  package func key(of id: ReminderID) throws -> Int64? {
    try connection.first("SELECT key FROM reminder_name WHERE id = $1", id.rawValue) { $0.int64(0) }
  }

  package func key(of queue: DeliveryQueue) throws -> Int64? {
    if let known = memory.queues[queue] { return known }
    let found = try connection.first(
      "SELECT key FROM delivery_queue WHERE owner = $1 AND channel = $2", queue.owner, queue.channel.rawValue
    ) { $0.int64(0) }
    memory.queues[queue] = found
    return found
  }
}

/// Values that a body has looked up or begun.
package struct TransactionMemory {
  /// The rows read by `claimDue`, so that `record` need not query them again.
  package var claimed: [ReminderID: ReminderProgress] = [:]
  /// The keys of queues; a batch of firings has thousands of deliveries in a few queues.
  fileprivate var queues: [DeliveryQueue: Int64] = [:]
  package var trackerKeys: [TrackerKey: Int64] = [:]
  /// The change that this body has begun, and its owner.
  package var change: (key: Int64, owner: UInt32)?
  package var unreadable: [UnreadableReminder] = []
  package var unreadableTracking: [UnreadableTracking] = []
  package var tenantsWithMore: Set<UInt32> = []

  package init() {}

  /// Begins a body. What an earlier body has read may have been undone.
  package mutating func forget() {
    claimed.removeAll(keepingCapacity: true)
    queues.removeAll(keepingCapacity: true)
    trackerKeys.removeAll(keepingCapacity: true)
    change = nil
    tenantsWithMore.removeAll()
  }
}

/// The fields of a reminder that the recording of a firing needs.
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

/// The row of a delivery queue.
package struct DeliveryQueueRow {
  package var key: Int64
  package var isOrdered: Bool
  /// The queue's part of the outbox, if several daemons share it.
  package var shard: Int64

  package init(key: Int64, isOrdered: Bool, shard: Int64 = 0) {
    self.key = key
    self.isOrdered = isOrdered
    self.shard = shard
  }
}
