import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  static var selectNextDue: StaticString {
    """
    SELECT
      (SELECT min(f.next_at) FROM generate_series(0, 15) b
        CROSS JOIN LATERAL (
          SELECT d.next_at FROM due d WHERE d.bucket = b AND d.next_at > $1 ORDER BY d.next_at LIMIT 1) f),
      (SELECT min(next_at) FROM due WHERE wakes = 1 AND next_at > $1)
    """
  }

  /// The columns of `dueRow`.
  private static var dueColumns: SQLText {
    """
    SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
      d.reminder, d.snooze_of, d.next_at, d.scheduled_at, \(occurrenceColumns)
    """
  }

  func dueRows(now: Instant, limit: Int, after place: DueCursor?) throws -> [DueRow] {
    let (start, limit) = (place ?? DueCursor(dueAt: .earliest, reminder: -1, again: -1), max(limit, 0))
    memory.unreadable = []
    let query = ComposedQuery(
      """
      \(Self.dueColumns)
      FROM (
        SELECT f.* FROM generate_series(0, 15) b
        CROSS JOIN LATERAL (
          SELECT x.reminder, x.snooze_of, x.next_at, x.scheduled_at FROM due x
          WHERE x.bucket = b AND x.next_at <= ? AND x.next_at >= ?
            AND (x.next_at, x.reminder, x.snooze_of) > (?, ?, ?)
          ORDER BY x.next_at, x.reminder, x.snooze_of
          LIMIT ?) f
        ORDER BY f.next_at, f.reminder, f.snooze_of
        LIMIT ?) d
      JOIN reminder r ON r.key = d.reminder
      JOIN reminder_name a ON a.key = d.reminder
      LEFT JOIN occurrence o ON o.reminder = d.reminder
        AND o.scheduled_at = CASE WHEN d.snooze_of = -1 THEN coalesce(d.scheduled_at, d.next_at) ELSE d.snooze_of END
      ORDER BY d.next_at, d.reminder, d.snooze_of
      """, now, start.dueAt, start.dueAt, start.reminder, start.again, limit, limit)
    return try connection.all(query, row: dueRow)
  }

  func wakeups() throws -> NextWakeups {
    let (next, outbox) = (Found<Next>(), Found<(queue: DeliveryQueue, visibleAt: Instant?)>())
    try connection.send([try self.next { next.all = [$0] }, try outboxWakeups { outbox.all = $0 }])
    if turn.goesOn, let found = next.all.first {
      if let due = found.due, let time, due <= time.instant {
        turn.saw(found.earliest, at: PostgresConfiguration.clock())
      } else {
        // No due row is left. Rows that other daemons released or added may lie below the watermarks.
        turn.clear()
        try connection.send([try self.next { next.all = [$0] }])
      }
    }
    var wakeups = NextWakeups(nextDue: next.all.first?.due, nextWake: next.all.first?.wake)
    for case (let queue, let visibleAt?) in outbox.all { wakeups.outbox[queue] = visibleAt }
    return wakeups
  }

  /// The next due time and the next time to wake the machine.
  private struct Next {
    var due: Instant?
    var wake: Instant?
    /// The earliest due time of each bucket.
    var earliest: [Instant?]
  }

  /// Queries them from the watermarks on. In a series of full claims the starts of the buckets raise these, so that
  /// fired rows are scanned once and not by every claim before it reaches their bucket.
  private func next(completion: @escaping (Next) -> Void) throws(StoreFailure) -> Connection.Queued {
    // Each minimum is one descent of an index, regardless of the number of rows.
    try connection.queued(
      """
      SELECT string_agg(coalesce(f.next_at::text, ''), ' ' ORDER BY b.place), (SELECT min(next_at) FROM due WHERE wakes = 1)
      FROM unnest($1) WITH ORDINALITY b (floor, place)
      LEFT JOIN LATERAL (
        SELECT d.next_at FROM due d WHERE d.bucket = b.place - 1 AND d.next_at >= b.floor
        ORDER BY d.next_at LIMIT 1) f ON true
      """, List(turn.floorsByBucket.map(\.milliseconds))
    ) { answer in
      let earliest = answer[0].text(0).split(separator: " ", omittingEmptySubsequences: false).map { word in
        Int64(word).map { Instant(milliseconds: $0) }
      }
      completion(Next(due: earliest.compactMap { $0 }.min(), wake: answer[0].optionalInstant(1), earliest: earliest))
    }
  }
}

/// Collects the results of a pipelined step.
final class Found<Element> {
  var all: [Element] = []
}

// Claiming of due times by several daemons at once.
//
// A claim locks due rows first and reads the reminders afterwards. It therefore sees every change that another daemon
// commits before the read. No change can follow, because a change of a reminder also writes its due row.
extension Transaction {
  /// The claim size up to which rows come in the order of all due times over all buckets. That locks rows that are not
  /// taken, so larger claims go bucket by bucket.
  private static let orderedAtMost = 16
  /// The number of reminders that one statement reads.
  private static let part = 125

  func claimDue(now: Instant, limit: Int) throws -> [DueReminder] {
    guard !isReadOnly else { return try dueRows(now: now, limit: limit, after: nil).compactMap(\.due) }
    return try claim(try lockedRows(try lockDue(now: now, limit: max(limit, 0))), now: now)
  }

  /// A due row that this transaction has locked.
  private struct Key: Comparable {
    var reminder: Int64
    var again: Int64
    var bucket: Int
    var dueAt: Instant
    /// The scheduled time of its occurrence.
    var scheduledAt: Instant

    init(_ row: Row) {
      (reminder, again, bucket, dueAt) = (row.int64(0), row.int64(1), row.int(2), row.instant(3))
      scheduledAt = again == Transaction.regular ? row.optionalInstant(4) ?? dueAt : row.instant(1)
    }

    static func < (left: Key, right: Key) -> Bool {
      (left.dueAt, left.reminder, left.again) < (right.dueAt, right.reminder, right.again)
    }
  }

  private func lockDue(now: Instant, limit: Int) throws -> [Key] {
    let clock = PostgresConfiguration.clock()
    let limit = turn.begin(limit, at: clock)
    if limit <= Self.orderedAtMost {
      return try locking(
        """
        SELECT d.reminder, d.snooze_of, d.bucket::bigint, d.next_at, d.scheduled_at
        FROM generate_series(0, 15) b
        CROSS JOIN LATERAL (
          SELECT x.reminder, x.snooze_of, x.bucket, x.next_at, x.scheduled_at FROM due x
          WHERE x.bucket = b AND x.next_at <= $1
          ORDER BY x.next_at, x.reminder, x.snooze_of
          LIMIT $2
          FOR UPDATE SKIP LOCKED) d
        ORDER BY d.next_at, d.reminder, d.snooze_of
        LIMIT $2
        """, now, limit)
    }
    let wasClear = turn.isClear
    var keys = try lockInTurn(now: now, limit: limit)
    if keys.isEmpty, !wasClear {
      turn.clear(at: clock)
      keys = try lockInTurn(now: now, limit: limit)
    }
    turn.end(keys.map { ($0.bucket, $0.dueAt) }, limit: limit, at: clock)
    return keys
  }

  /// Locks rows bucket by bucket until there are enough, so that no row is locked that is not taken.
  private func lockInTurn(now: Instant, limit: Int) throws -> [Key] {
    try locking(
      """
      SELECT d.reminder, d.snooze_of, d.bucket::bigint, d.next_at, d.scheduled_at
      FROM unnest($1) WITH ORDINALITY b (floor, place)
      CROSS JOIN LATERAL (
        SELECT x.reminder, x.snooze_of, x.bucket, x.next_at, x.scheduled_at FROM due x
        WHERE x.bucket = ($2 + b.place - 1) % 16 AND x.next_at <= $3 AND x.next_at >= b.floor
        ORDER BY x.next_at
        LIMIT $4
        FOR UPDATE SKIP LOCKED) d
      LIMIT $4
      """, List(turn.floorsInTurn.map(\.milliseconds)), turn.first, now, limit)
  }

  /// Locks due rows, with a short idle timeout so that the server releases them if this daemon freezes.
  ///
  /// The following statements read hundreds of rows by key. The server plans them without knowing the number of rows or
  /// the later size of the tables, so the planner is restricted to indexes.
  private func locking<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws -> [Key] {
    let keys = Found<Key>()
    try connection.send([
      try connection.queued(
        """
        SELECT set_config('idle_in_transaction_session_timeout', $1, true), set_config('enable_seqscan', 'off', true),
          set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
        """, String(claimTimeout)),
      try connection.queued(sql, repeat each values) { keys.all = $0.map(Key.init) },
    ])
    return keys.all
  }

  /// Reads locked rows, earliest first.
  private func lockedRows(_ keys: [Key]) throws -> [DueRow] {
    memory.unreadable = []
    let keys = keys.sorted()
    let rows = Found<DueRow>()
    var statements: [Connection.Queued] = []
    // The server works on the next part while this one is decoded.
    for start in stride(from: 0, to: keys.count, by: Self.part) {
      let part = keys[start..<min(start + Self.part, keys.count)]
      // Rows come in the order of the arrays. Each needs a few index lookups in the other tables.
      let query = ComposedQuery(
        """
        \(Self.dueColumns)
        FROM unnest(?, ?, ?, ?) WITH ORDINALITY d (reminder, snooze_of, next_at, scheduled_at, place)
        JOIN reminder r ON r.key = d.reminder
        JOIN reminder_name a ON a.key = d.reminder
        LEFT JOIN occurrence o ON o.reminder = d.reminder AND o.scheduled_at = d.scheduled_at
        ORDER BY d.place
        """, List(part.map(\.reminder)), List(part.map(\.again)), List(part.map(\.dueAt)),
        List(part.map(\.scheduledAt)))
      statements.append(try connection.queued(query) { [self] in rows.all += try $0.map(dueRow) })
    }
    try connection.send(statements)
    return rows.all
  }
}
