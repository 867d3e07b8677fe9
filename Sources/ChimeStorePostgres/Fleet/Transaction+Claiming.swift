import ChimeCore
import ChimeRecords
import ChimeSchedule

// Claiming of due times by several daemons at once.
//
// A claim locks due rows first and reads the reminders afterwards. It therefore sees every change that another daemon
// commits before the read. No change can follow, because a change of a reminder also writes its due row.
extension Transaction {
  /// The claim size up to which rows come in the order of all due times over all buckets. That locks rows that are not
  /// taken, so larger claims go bucket by bucket.
  static let orderedAtMost = 16
  /// The number of reminders that one statement reads.
  static let part = 125

  func claimDue(now: Instant, limit: Int) throws -> [DueReminder] {
    guard !isReadOnly else { return try dueRows(now: now, limit: limit, after: nil) { $1 }.compactMap { $0 } }
    let keys = try lockDue(now: now, limit: max(limit, 0))
    guard !keys.isEmpty else {
      unreadable = []
      return []
    }
    var deferred: [Int64] = []
    let found = try lockedRows(keys) { [self] key, due -> DueReminder? in
      guard let due else {
        deferred.append(key.reminder)
        return nil
      }
      memory.claimed[due.reminder.id] = ReminderProgress(
        key: key.reminder, generation: due.reminder.generation, skipNext: due.reminder.skipNext)
      return due
    }
    for key in deferred {
      // Keep the scheduled time of a regular due row once its due time differs.
      try connection.run(
        """
        UPDATE due SET scheduled_at = CASE WHEN snooze_of = -1 THEN coalesce(scheduled_at, next_at) END, next_at = $1,
          wakes = 0
        WHERE reminder = $2 AND next_at <= $3
        """, now + .hours(1), key, now)
    }
    return found.compactMap { $0 }
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
      """, Integers(turn.floorsInTurn.map(\.milliseconds)), turn.first, now, limit)
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

  /// Returns the results of `make` for locked rows, earliest first. For an unreadable reminder, `make` gets nil and
  /// `unreadable` has the reason.
  private func lockedRows<Made>(_ keys: [Key], make: @escaping (Key, DueReminder?) throws -> Made) throws -> [Made] {
    unreadable = []
    let keys = keys.sorted()
    let made = Found<Made>()
    var statements: [Connection.Queued] = []
    // The server works on the next part while this one is decoded.
    for start in stride(from: 0, to: keys.count, by: Self.part) {
      let part = keys[start..<min(start + Self.part, keys.count)]
      // Rows come in the order of the arrays. Each needs a few index lookups in the other tables.
      var query = ComposedQuery(Self.definitionColumns)
      query.append(Self.occurrenceColumns)
      query.append(
        """
        , k.place FROM unnest(?, ?) WITH ORDINALITY k (reminder, scheduled_at, place)
        JOIN reminder r ON r.key = k.reminder
        JOIN reminder_name a ON a.key = k.reminder
        LEFT JOIN occurrence o ON o.reminder = k.reminder AND o.scheduled_at = k.scheduled_at
        ORDER BY k.place
        """, Integers(part.map(\.reminder)), Integers(part.map(\.scheduledAt.milliseconds)))
      statements.append(
        try connection.queued(query) { [self] answer in
          made.all += try answer.map { row in
            let key = part[part.startIndex + row.int(27) - 1]
            return try make(
              key,
              try dueReminder(
                row, scheduledAt: key.scheduledAt, dueAt: key.dueAt, isRegular: key.again == Self.regular,
                occurrence: 10))
          }
        })
    }
    try connection.send(statements)
    return made.all
  }
}
