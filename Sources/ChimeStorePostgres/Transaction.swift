import ChimeCore
import ChimeRecords
import ChimeSchedule

/// A Transaction implements the store's verbs for PostgreSQL. It is used on the queue of its connection only.
final class Transaction: SQLTransaction {
  let connection: Connection
  let reader: DefinitionReader
  let isReadOnly: Bool
  var memory = TransactionMemory()
  /// The database's time when the transaction began.
  private(set) var time: StoreTime?
  /// The cursor of claims, which outlives sessions.
  let turn: ClaimCursor
  /// The idle limit for a transaction with claimed due times, in milliseconds.
  let claimTimeout: Int64
  /// Receives the database's time at the beginning of each transaction.
  private let onTime: @Sendable (StoreTime) -> Void
  /// Whether the transaction adds or removes deliveries that may belong to other daemons.
  var concernsOthers = false
  /// Whether the transaction changes endpoints, which daemons cache.
  private var changesEndpoints = false
  /// The part of the outbox that belongs to this daemon.
  let leases: LeaseState
  /// The epochs of the shards that this body has locked.
  var epochs: [Int64: Int64] = [:]
  /// The tenant whose reminder count this transaction has locked.
  private var heldTenant: UInt32?
  /// Whether a body was aborted because it needs another tenant's lock.
  private var wantsAnotherTenant = false

  init(
    connection: Connection, reader: DefinitionReader, isReadOnly: Bool, leases: LeaseState = LeaseState(),
    turn: ClaimCursor = ClaimCursor(), claimTimeout: Int64 = 5_000,
    onTime: @escaping @Sendable (StoreTime) -> Void = { _ in }
  ) {
    self.leases = leases
    self.connection = connection
    self.reader = reader
    self.isReadOnly = isReadOnly
    self.turn = turn
    self.claimTimeout = claimTimeout
    self.onTime = onTime
  }

  /// Begins a body. What an earlier body has read may have been undone.
  private func forget() {
    memory = TransactionMemory()
    turn.forget()
    epochs.removeAll(keepingCapacity: true)
  }

  func outboxHasChanged() { concernsOthers = true }

  func endpointsHaveChanged() { changesEndpoints = true }

  func dueTimeHasChanged(of reminder: Int64, to next: Instant) { turn.lower(reminder, to: next) }

  func dueTimesHaveChanged() { turn.clear() }

  func lockTrackers() throws {
    try requireWriting()
    try connection.run("SELECT last FROM number WHERE name = 'change' FOR UPDATE")
  }

  func coming(_ filter: ReminderFilter, limit: Int) throws -> [ReminderRecord] {
    var query = ComposedQuery(Self.recordColumns)
    // The first rows of each bucket are merged; the first of those are the page.
    query.append(
      """
      SELECT f.key, f.coming FROM generate_series(0, 15) b
      CROSS JOIN LATERAL (
        SELECT d.reminder AS key, d.next_at AS coming, a.id
      """)
    requireComing(filter, in: &query)
    query.require("d.bucket = b")
    query.append(
      """
        ORDER BY d.next_at, a.id LIMIT ?) f
      ORDER BY f.coming, f.id LIMIT ?
      """, limit, limit)
    query.append(Self.recordJoins)
    return try connection.all(query, row: record).compactMap { $0 }
  }

  func answered(among ids: [OccurrenceID]) throws -> Set<OccurrenceID> {
    if ids.isEmpty { return [] }
    let waiting = try connection.all(
      """
      SELECT u.reminder, u.scheduled_at FROM unnest($1, $2) u (reminder, scheduled_at)
      JOIN reminder_name a ON a.id = u.reminder
      JOIN occurrence o ON o.reminder = a.key AND o.scheduled_at = u.scheduled_at
      WHERE o.state < $3
      """, List(ids.map(\.reminder.rawValue)), List(ids.map(\.scheduledAt)), OccurrenceCode.snoozed.rawValue
    ) { OccurrenceID(reminder: ReminderID(rawValue: $0.text(0)), scheduledAt: $0.instant(1)) }
    return Set(ids).subtracting(waiting)
  }

  /// The row in `number` stays locked until the commit, so that numbers follow the order of transactions.
  static var beginChange: StaticString {
    """
    WITH made AS (UPDATE number SET last = last + 1 WHERE name = 'change' RETURNING last)
    INSERT INTO change (key, owner, at, kind, tracker, subject, after_entry)
    SELECT made.last, $1, $2, $3, $4, $5, (SELECT last FROM number WHERE name = 'entry') FROM made
    RETURNING key
    """
  }

  static var enrolTenant: StaticString {
    """
    INSERT INTO tenant (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name
    RETURNING name, number
    """
  }

  static var tags: SQLText {
    """
    (SELECT x.value COLLATE "C" AS value FROM json_array_elements_text(r.definition::json -> 'tags') x (value)) t
    """
  }

  /// Locks the tenant's reminder count until the commit. A transaction locks at most one tenant: two daemons that lock
  /// several in different orders would deadlock.
  func willCount(tenant: UInt32) throws {
    if heldTenant == tenant { return }
    if heldTenant != nil {
      wantsAnotherTenant = true
      throw StoreFailure.unavailable("another tenant is being added: try again")
    }
    _ = try connection.first("SELECT number FROM tenant WHERE number = $1 FOR UPDATE", tenant) { $0.int64(0) }
    heldTenant = tenant
  }
}

// Group commit: changes that arrive together commit together.
//
// A commit costs the server one synchronous write, as much as hundreds of rows. Bodies that wait when a transaction
// starts run in it one after another, each in its own savepoint, so that a failing one is undone alone. No caller gets
// a result before the commit, not even an error: the error may depend on another body's change that did not last.
extension Transaction {
  /// The maximum number of bodies in one commit. A server caches up to 64 subtransactions of a transaction.
  static let groupLimit = 64

  /// The maximum number of runs of a group that conflicts with another transaction.
  private static let attempts = 5

  /// The result of a group.
  struct GroupEnd {
    /// The reason why nothing was committed; nil if all was. The callers are not informed yet.
    var failure: StoreFailure?
    /// Those of the finished jobs, counted from the first.
    var settlements: [CommitCompletion]
    /// The transaction's number if the connection was lost during the commit, so that the outcome is unknown.
    var unclear: String?
  }

  /// Runs jobs from the first on in one transaction. It takes at least one job, unless the transaction cannot begin.
  func commitTogether(_ jobs: [Job]) -> GroupEnd {
    var end = runTogether(jobs)
    var left = Self.attempts
    // Bodies may run again, because they only change the store. The last attempts run one job alone, which holds fewer locks.
    while end.failure != nil, end.unclear == nil, connection.hasConflict, !connection.isLost, left > 1 {
      left -= 1
      end = runTogether(left < 3 ? Array(jobs.prefix(1)) : jobs)
    }
    return end
  }

  /// Begins a transaction, and asks for the database's time and the expression `number` in the same round trip. Returns
  /// the value of `number`.
  private func begin(_ sql: String, number: String = "0") throws(StoreFailure) -> String? {
    let asked = PostgresConfiguration.unsetClock()
    let answer = try connection.begin(
      "\(sql); SELECT \(number) || ' ' || floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
    let parts = (answer ?? "").split(separator: " ")
    guard parts.count == 2, let microseconds = Int64(parts[1]) else {
      throw .internalError("\(connection.server) did not report its time")
    }
    let time = StoreTime(microseconds: microseconds, askedAt: asked, heardAt: PostgresConfiguration.unsetClock())
    self.time = time
    onTime(time)
    return String(parts[0])
  }

  /// Reads the database's time.
  func hearTime() throws(StoreFailure) {
    _ = try begin("BEGIN READ ONLY")
    connection.rollBack()
  }

  private func runTogether(_ jobs: [Job]) -> GroupEnd {
    var settlements: [CommitCompletion] = []
    var committing: String?
    (concernsOthers, changesEndpoints, heldTenant, wantsAnotherTenant) = (false, false, nil, false)
    do throws(StoreFailure) {
      // The transaction's number is needed if the result of its commit is lost.
      let number = try begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", number: "pg_current_xact_id()")
      let group = jobs.prefix(Self.groupLimit)
      for job in group {
        forget()
        if group.count > 1 { try connection.script("SAVEPOINT body") }
        var settlement = job.run(self)
        if connection.isLost || connection.hasConflict {
          settlements.append(settlement)
          throw settlement.error as? StoreFailure
            ?? .unavailable("a change on \(connection.server) was interrupted: try again")
        }
        // A body that needs another tenant's lock waits for the next group.
        if wantsAnotherTenant, !settlements.isEmpty {
          turn.undo(isLost: false)
          try connection.script("ROLLBACK TO body; RELEASE body")
          break
        }
        // The body ignored a failed statement, so its changes are incomplete.
        if settlement.error == nil, connection.isBroken {
          settlement = settlement.failing(with: .internalError("a change continued after a failed statement"))
        }
        settlements.append(settlement)
        if settlement.error != nil { turn.undo(isLost: false) }
        if group.count > 1 {
          try connection.script(settlement.error == nil ? "RELEASE body" : "ROLLBACK TO body; RELEASE body")
        } else if settlement.error != nil {
          try connection.script("ROLLBACK")
          return GroupEnd(settlements: settlements)
        }
      }
      // The row that all daemons share is written last, so that it is locked briefly.
      if changesEndpoints { try connection.run("UPDATE number SET last = last + 1 WHERE name = 'endpoints'") }
      committing = number
      try connection.script("COMMIT")
      if concernsOthers { leases.notifyOthers() }
      return GroupEnd(settlements: settlements)
    } catch {
      // The rollback may lose the connection too, after which nothing is unclear.
      let isLost = connection.isLost
      turn.undo(isLost: isLost)
      connection.rollBack()
      return GroupEnd(failure: error, settlements: settlements, unclear: isLost ? committing : nil)
    }
  }

  /// Runs one body on a consistent snapshot as of its first statement. The caller is not informed yet.
  func view(_ job: Job) throws(StoreFailure) -> CommitCompletion {
    forget()
    _ = try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let settlement = job.run(self)
    connection.rollBack()
    return settlement
  }
}
