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

  /// Returns the due rows after a cursor.
  func dueRows(now: Instant, limit: Int, after place: DueCursor?) throws -> [DueRow]
  /// Returns the first reminders with a due time, in the order of due times.
  func coming(_ filter: ReminderFilter, limit: Int) throws -> [ReminderRecord]

  // Notifications about changes. An engine for a single daemon ignores them.

  /// Notes that deliveries were added to or removed from the outbox.
  func outboxHasChanged()
  func endpointsHaveChanged()
  /// Notes that a due time was set.
  func dueTimeHasChanged(of reminder: Int64, to next: Instant)
  /// Notes that many due times were brought forward.
  func dueTimesHaveChanged()
  /// Prepares to count a tenant's reminders; the body may write after that.
  func willCount(tenant: UInt32) throws

  // Statements that differ between the engines.

  /// Takes owner, time, kind, tracker and subject of a change. Returns its key.
  static var beginChange: StaticString { get }
  /// Takes the name of a tenant, which another daemon may have created meanwhile. Returns its name and number.
  static var enrolTenant: StaticString { get }
  /// Takes a time. Selects the next due time after it, and the next for which the machine is woken.
  static var selectNextDue: StaticString { get }
  /// The tags of reminder `r` as a table `t` with the column `value`.
  static var tags: SQLText { get }
}

extension SQLTransaction {
  package func outboxHasChanged() {}
  package func endpointsHaveChanged() {}
  package func dueTimeHasChanged(of reminder: Int64, to next: Instant) {}
  package func dueTimesHaveChanged() {}
  package func willCount(tenant: UInt32) {}

  package var unreadable: [UnreadableReminder] { memory.unreadable }
  package var listedThrough: ReminderPlace? { memory.listedThrough }
  package var tenantsWithMore: Set<UInt32> { memory.tenantsWithMore }

  /// Requires a writing transaction. Every writing verb begins with it.
  package func requireWriting() throws(StoreFailure) {
    if isReadOnly { throw .readOnly }
  }

  /// Returns the key of a reminder that exists or existed.
  package func key(of id: ReminderID) throws -> Int64? {
    try connection.first("SELECT key FROM reminder_name WHERE id = $1", id.rawValue) { $0.int64(0) }
  }
}

/// Values that a body has looked up or begun. Each body begins with none: what an earlier one has read may have been undone.
package struct TransactionMemory {
  /// The rows read by `claimDue`, so that `record` need not query them again.
  package var claimed: [ReminderID: ReminderProgress] = [:]
  var trackerKeys: [TrackerKey: Int64] = [:]
  /// The change that this body has begun, and its owner.
  var change: (key: Int64, owner: UInt32)?
  package var unreadable: [UnreadableReminder] = []
  var listedThrough: ReminderPlace?
  package var tenantsWithMore: Set<UInt32> = []

  package init() {}
}

/// A due row, and what is due. That is nil for an unreadable reminder, and `unreadable` has the reason.
package typealias DueRow = (place: DueCursor, due: DueReminder?)

/// The fields of a reminder that the recording of a firing needs.
package struct ReminderProgress {
  package var key: Int64
  package var generation: Int64
  package var skipNext: Int
}

/// The row of a delivery queue.
package struct DeliveryQueueRow {
  package var key: Int64
  package var isOrdered: Bool

  /// The queue's part of the outbox, if several daemons share it.
  package var shard: Int64 { key % 256 }
}

// Idempotency tokens of requests.
extension SQLTransaction {
  package func answer(owner: UInt32, token: String) throws -> [UInt8]? {
    try connection.first("SELECT answer FROM token WHERE owner = $1 AND token = $2", owner, token) { $0.bytes(0) }
  }

  package func keepAnswer(_ answer: [UInt8], owner: UInt32, token: String, now: Instant) throws {
    try requireWriting()
    try connection.run("DELETE FROM token WHERE kept_at < $1", now - Milliseconds.days(1))
    try connection.put("token", key: "owner, token", "kept_at, answer", owner, token, now, answer)
  }
}

// Action tokens.
extension SQLTransaction {
  package func spend(_ token: String, until expiry: Instant, now: Instant) throws -> Bool {
    try requireWriting()
    try connection.run("DELETE FROM used_token WHERE expires_at < $1", now)
    try connection.run(
      "INSERT INTO used_token (token, expires_at) VALUES ($1, $2) ON CONFLICT (token) DO NOTHING", token, expiry)
    return connection.changes > 0
  }
}

// The daemon's notes, and counts.
extension SQLTransaction {
  package func note(_ name: String) throws -> String? {
    try connection.first("SELECT value FROM note WHERE name = $1", name) { $0.text(0) }
  }

  package func notes(named prefix: String) throws -> [(name: String, value: String)] {
    try connection.all("SELECT name, value FROM note WHERE substr(name, 1, length($1)) = $1 ORDER BY name", prefix) {
      ($0.text(0), $0.text(1))
    }
  }

  package func setNote(_ name: String, _ value: String?) throws {
    try requireWriting()
    if let value {
      try connection.put("note", key: "name", "value", name, value)
    } else {
      try connection.run("DELETE FROM note WHERE name = $1", name)
    }
  }

  package func dueCount(before end: Instant) throws -> Int {
    // Each reminder has at most one regular due time. Snoozes are few, and count only for reminders without a regular
    // time in the span.
    try connection.first(
      """
      SELECT (SELECT count(*) FROM due WHERE next_at < $1 AND snooze_of = -1) + (
        SELECT count(DISTINCT s.reminder) FROM due s
        WHERE s.snooze_of >= 0 AND +s.next_at < $1
          AND NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = s.reminder AND d.snooze_of = -1 AND d.next_at < $1))
      """, end
    ) { $0.int(0) } ?? 0
  }

  package func gauges() throws -> StoreGauges {
    // As in `counts`, each number is the size of an index, or concerns a queue's pending and dead deliveries.
    let (all, scheduled) =
      try connection.first(
        """
        SELECT (SELECT count(*) FROM reminder),
          (SELECT count(*) FROM due) - (SELECT count(*) FROM due WHERE snooze_of >= 0)
        """
      ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    let queues = try connection.all(
      """
      SELECT l.owner, l.channel,
        (SELECT count(*) FROM delivery d WHERE d.queue = l.key AND d.state <= 1),
        (SELECT min(d.created_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1),
        (SELECT count(*) FROM delivery d WHERE d.queue = l.key AND d.state = 3)
      FROM delivery_queue l
      """
    ) { row in
      StoreGauges.DeliveryQueueGauge(
        queue: row.queue(0), pending: row.int(2), oldest: row.optionalInstant(3), dead: row.int(4))
    }
    return StoreGauges(reminders: all, scheduled: scheduled, queues: queues)
  }

  package func counts(owner: UInt32?) throws -> StoreCounts {
    let reminders =
      if let owner {
        try connection.first(
          """
          SELECT count(*) FROM reminder r WHERE r.owner = $1
            AND (EXISTS (SELECT 1 FROM due d WHERE d.reminder = r.key)
              OR EXISTS (SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key))
          """, owner
        ) { $0.int(0) }
      } else {
        // Without an owner, nearly every reminder counts by its regular due time, and the size of an index is fast to get.
        try connection.first(
          """
          SELECT (SELECT count(*) FROM due) - (SELECT count(*) FROM due WHERE snooze_of >= 0) + (
            SELECT count(*) FROM (
              SELECT reminder FROM occurrence WHERE state <= 2
              UNION SELECT reminder FROM due WHERE snooze_of >= 0) x
            WHERE NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = x.reminder AND d.snooze_of = -1)
              AND EXISTS (SELECT 1 FROM reminder r WHERE r.key = x.reminder))
          """
        ) { $0.int(0) }
      }
    let fired = try connection.first(
      """
      SELECT (SELECT count(*) FROM occurrence WHERE state <= 2 AND ($1 IS NULL OR owner = $1)),
        (SELECT count(*) FROM delivery_queue l CROSS JOIN delivery d ON d.queue = l.key
          WHERE d.state <= 1 AND ($1 IS NULL OR l.owner = $1)),
        (SELECT count(*) FROM delivery_queue l CROSS JOIN delivery d ON d.queue = l.key
          WHERE d.state = 3 AND ($1 IS NULL OR l.owner = $1))
      """, owner
    ) { (open: $0.int(0), pending: $0.int(1), dead: $0.int(2)) }
    // The condition repeats that of the index, so that the planner uses it.
    let expected = try connection.first(
      """
      SELECT count(*), count((SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key LIMIT 1))
      FROM reminder r WHERE instr(r.definition, '"within":') > 0 AND ($1 IS NULL OR +r.owner = $1)
      """, owner
    ) { (all: $0.int(0), down: $0.int(1)) }
    return StoreCounts(
      reminders: (reminders ?? 0) + (try awaitingCount(owner: owner)), openOccurrences: fired?.open ?? 0,
      pendingDeliveries: fired?.pending ?? 0, deadDeliveries: fired?.dead ?? 0,
      expectations: expected?.all ?? 0, expectationsDown: expected?.down ?? 0)
  }

  /// Returns the number of reminders with neither a due time nor an open occurrence that wait for another reminder.
  private func awaitingCount(owner: UInt32?) throws -> Int {
    var query = ComposedQuery("SELECT count(*) FROM reminder r")
    query.require("r.follows IS NOT NULL")
    if let owner { query.require("+r.owner = ?", owner) }
    query.require("NOT EXISTS (SELECT 1 FROM due d WHERE d.reminder = r.key)")
    query.require("NOT EXISTS (SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key)")
    query.require(Self.awaitsOther)
    return try connection.all(query) { $0.int(0) }.first ?? 0
  }

  // MARK: Tenants

  package func tenants() throws -> [Tenant] {
    try connection.all("SELECT name, number FROM tenant ORDER BY name") { row in
      Tenant(name: row.text(0), number: row.uint32(1))
    }
  }

  package func enrol(tenant name: String) throws -> Tenant {
    try requireWriting()
    let known = try connection.first("SELECT name, number FROM tenant WHERE name = $1", name) {
      Tenant(name: $0.text(0), number: $0.uint32(1))
    }
    if let known { return known }
    // Another daemon may have created it meanwhile, or be creating it.
    let made = try connection.first(Self.enrolTenant, name) { Tenant(name: $0.text(0), number: $0.uint32(1)) }
    guard let made else { throw StoreFailure.internalError("tenant \(name) was not created") }
    return made
  }

  package func reminderCount(of tenant: UInt32) throws -> Int {
    if !isReadOnly { try willCount(tenant: tenant) }
    let (rows, count) =
      try connection.first(
        "SELECT count(*), CAST(coalesce(sum(delta), 0) AS BIGINT) FROM tenant_count WHERE tenant = $1", tenant
      ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    if !isReadOnly, rows > Self.countedApart {
      try connection.run("DELETE FROM tenant_count WHERE tenant = $1", tenant)
      try connection.run("INSERT INTO tenant_count (tenant, delta) VALUES ($1, $2)", tenant, count)
    }
    return count
  }

  /// The number of a tenant's rows from which they are merged into one. Rows of concurrent transactions are invisible and stay.
  private static var countedApart: Int { 64 }
}
