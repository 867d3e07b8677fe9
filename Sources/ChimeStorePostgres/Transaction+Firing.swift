import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func due(now: Instant, limit: Int, after place: DueCursor?) throws -> DuePage {
    let limit = max(limit, 0)
    // One row more than requested shows whether there are more.
    let rows = try dueRows(now: now, limit: limit + 1, after: place) { row, due in
      (place: DueCursor(dueAt: row.instant(12), reminder: row.int64(10), again: row.int64(11)), due: due)
    }
    let next = try connection.first(
      """
      SELECT
        (SELECT min(f.next_at) FROM generate_series(0, 15) b
          CROSS JOIN LATERAL (
            SELECT d.next_at FROM due d WHERE d.bucket = b AND d.next_at > $1 ORDER BY d.next_at LIMIT 1) f),
        (SELECT min(next_at) FROM due WHERE wakes = 1 AND next_at > $1)
      """, now
    ) { (due: $0.optionalInstant(0), wake: $0.optionalInstant(1)) }
    return DuePage(
      due: rows.prefix(limit).compactMap { $0.due }, end: rows.prefix(limit).last?.place, isWhole: rows.count <= limit,
      next: next?.due, nextWake: next?.wake)
  }

  /// The columns of a reminder.
  static var definitionColumns: SQLText {
    """
    SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
    """
  }

  /// The columns of the occurrence that belongs to a due row.
  static var occurrenceColumns: SQLText {
    """
    a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
      o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
    """
  }

  /// Returns the results of `make` for the due rows after a cursor. For an unreadable reminder, `make` gets nil and
  /// `unreadable` has the reason.
  func dueRows<Made>(
    now: Instant, limit: Int, after place: DueCursor?, make: (Row, DueReminder?) throws -> Made
  ) throws -> [Made] {
    let (start, limit) = (place ?? DueCursor(dueAt: .earliest, reminder: -1, again: -1), max(limit, 0))
    unreadable = []
    var query = ComposedQuery(Self.definitionColumns)
    query.append(
      """
      d.reminder, d.snooze_of, d.next_at, d.scheduled_at,
      """)
    query.append(Self.occurrenceColumns)
    query.append(
      """
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
    return try connection.all(query) { row in
      let (dueAt, isRegular) = (row.instant(12), row.int64(11) == Self.regular)
      let due = try dueReminder(
        row, scheduledAt: isRegular ? row.optionalInstant(13) ?? dueAt : row.instant(11), dueAt: dueAt,
        isRegular: isRegular, occurrence: 14)
      return try make(row, due)
    }
  }

  /// Reads a row that begins with `definitionColumns`. Returns nil and adds to `unreadable` if the reminder is unreadable.
  ///
  /// - Parameter occurrence: the index of the first of `occurrenceColumns`.
  func dueReminder(
    _ row: Row, scheduledAt: Instant, dueAt: Instant, isRegular: Bool, occurrence: Int32
  ) throws -> DueReminder? {
    let reminder: Reminder
    do throws(UnreadableDefinition) {
      reminder = try row.reminder(0, reader)
    } catch {
      memory.unreadable.append(error.reminder)
      return nil
    }
    return DueReminder(
      reminder: reminder, scheduledAt: scheduledAt, dueAt: dueAt, isRegular: isRegular,
      occurrence: row.isNull(occurrence + 1) ? nil : try row.occurrence(occurrence))
  }

  func reevaluateHeld(now: Instant) throws {
    try requireWriting()
    turn.clear()
    try connection.run(
      "UPDATE due SET next_at = $1 WHERE snooze_of = -1 AND next_at > $1 AND scheduled_at <= $1", now)
  }

  func wakeups() throws -> NextWakeups {
    let (next, outbox) = (Found<Next>(), Found<(queue: DeliveryQueue, visibleAt: Instant?)>())
    try connection.send([
      try turn.goesOn ? nextAmongMany { next.all = [$0] } : self.next { next.all = [$0] },
      try outboxWakeups { outbox.all = $0 },
    ])
    if let earliest = next.all.first?.earliest {
      if let due = earliest.compactMap({ $0 }).min(), let time, due <= time.instant {
        turn.saw(earliest, at: PostgresConfiguration.clock())
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
    /// The earliest due time of each bucket, if requested.
    var earliest: [Instant?]?
  }

  private func next(heard: @escaping (Next) -> Void) throws(StoreFailure) -> Connection.Queued {
    // Each minimum is one descent of an index, regardless of the number of rows.
    try connection.queued(
      """
      SELECT
        (SELECT min(f.next_at) FROM unnest($1) WITH ORDINALITY b (floor, place)
          CROSS JOIN LATERAL (
            SELECT d.next_at FROM due d WHERE d.bucket = b.place - 1 AND d.next_at >= b.floor
            ORDER BY d.next_at LIMIT 1) f),
        (SELECT min(next_at) FROM due WHERE wakes = 1)
      """, Integers(turn.floorsByBucket.map(\.milliseconds))
    ) { heard(Next(due: $0[0].optionalInstant(0), wake: $0[0].optionalInstant(1))) }
  }

  /// Returns the same query for a series of full claims. It also returns where each bucket begins, so that fired rows
  /// are scanned once and not by every claim before it reaches their bucket.
  private func nextAmongMany(heard: @escaping (Next) -> Void) throws(StoreFailure) -> Connection.Queued {
    try connection.queued(
      """
      SELECT string_agg(coalesce(f.next_at::text, ''), ' ' ORDER BY b.place), (SELECT min(next_at) FROM due WHERE wakes = 1)
      FROM unnest($1) WITH ORDINALITY b (floor, place)
      LEFT JOIN LATERAL (
        SELECT d.next_at FROM due d WHERE d.bucket = b.place - 1 AND d.next_at >= b.floor
        ORDER BY d.next_at LIMIT 1) f ON true
      """, Integers(turn.floorsByBucket.map(\.milliseconds))
    ) { answer in
      let earliest = answer[0].text(0).split(separator: " ", omittingEmptySubsequences: false).map { word in
        Int64(word).map { Instant(milliseconds: $0) }
      }
      heard(Next(due: earliest.compactMap { $0 }.min(), wake: answer[0].optionalInstant(1), earliest: earliest))
    }
  }
}

/// Collects the results of a pipelined step.
final class Found<Element> {
  var all: [Element] = []
}
