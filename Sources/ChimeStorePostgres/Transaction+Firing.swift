import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func due(now: Instant, limit: Int, after place: DuePlace?) throws -> DuePage {
    let limit = max(limit, 0)
    // One more than is asked for tells whether there are more.
    let rows = try dueRows(now: now, limit: limit + 1, after: place) { row, due in
      (place: DuePlace(dueAt: row.instant(12), reminder: row.int64(10), again: row.int64(11)), due: due)
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

  /// What a due time is told by. Where it stands itself (`d`) follows.
  static var dueColumns: StaticString {
    """
    SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
      d.reminder, d.snooze_of, d.next_at, d.scheduled_at,
      a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
      o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at
    """
  }

  private static var dueJoins: StaticString {
    """
    JOIN reminder r ON r.key = d.reminder
    JOIN alias a ON a.key = d.reminder
    LEFT JOIN occurrence o ON o.reminder = d.reminder
      AND o.scheduled_at = CASE WHEN d.snooze_of = -1 THEN coalesce(d.scheduled_at, d.next_at) ELSE d.snooze_of END
    ORDER BY d.next_at, d.reminder, d.snooze_of
    """
  }

  /// What `make` makes of each row of what is due behind a place. Where the reminder cannot be read, `unreadable` has it
  /// and `make` is given nil.
  func dueRows<Made>(
    now: Instant, limit: Int, after place: DuePlace?, make: (Row, DueReminder?) throws -> Made
  ) throws -> [Made] {
    let (start, limit) = (place ?? DuePlace(dueAt: .earliest, reminder: -1, again: -1), max(limit, 0))
    var query = ComposedQuery(Self.dueColumns)
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
      """, now, start.dueAt, start.dueAt, start.reminder, start.again, limit, limit)
    return try dueRows(query, make: make)
  }

  /// - Parameter query: `dueColumns`, and of what `d` they are.
  func dueRows<Made>(_ query: ComposedQuery, make: (Row, DueReminder?) throws -> Made) throws -> [Made] {
    unreadable = []
    var query = query
    query.append(Self.dueJoins)
    return try connection.all(query) { row in
      let reminder: Reminder
      do throws(UnreadableDefinition) {
        reminder = try row.reminder(0, reader)
      } catch {
        unreadable.append(error.reminder)
        return try make(row, nil)
      }
      let (dueAt, isRegular) = (row.instant(12), row.int64(11) == Self.regular)
      let due = DueReminder(
        reminder: reminder, scheduledAt: isRegular ? row.optionalInstant(13) ?? dueAt : row.instant(11), dueAt: dueAt,
        isRegular: isRegular, occurrence: row.isNull(15) ? nil : try row.occurrence(14))
      return try make(row, due)
    }
  }

  func lookAgain(now: Instant) throws {
    try requireWriting()
    turn.clear()
    try connection.run(
      "UPDATE due SET next_at = $1 WHERE snooze_of = -1 AND next_at > $1 AND scheduled_at <= $1", now)
  }

  func horizon() throws -> Horizon {
    // Each minimum is one step down an index, however much is due or owed.
    let next = try connection.first(
      """
      SELECT
        (SELECT min(f.next_at) FROM unnest($1) WITH ORDINALITY b (floor, place)
          CROSS JOIN LATERAL (
            SELECT d.next_at FROM due d WHERE d.bucket = b.place - 1 AND d.next_at >= b.floor
            ORDER BY d.next_at LIMIT 1) f),
        (SELECT min(next_at) FROM due WHERE wakes = 1)
      """, Integers(turn.floorsByBucket.map(\.milliseconds))
    ) { (due: $0.optionalInstant(0), wake: $0.optionalInstant(1)) }
    var horizon = Horizon(nextDue: next?.due, nextWake: next?.wake)
    for case (let lane, let visibleAt?) in try outboxHorizon() { horizon.outbox[lane] = visibleAt }
    return horizon
  }
}
