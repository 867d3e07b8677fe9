import ChimeCore
import ChimeRecords
import ChimeSchedule

// Rows of one statement for a whole batch, column by column.
//
// Arrays that are unnested side by side in the SELECT list yield one row for each position, in order
// (postgresql.org/docs/15/xfunc-sql.html#XFUNC-SQL-FUNCTIONS-RETURNING-SET). In FROM, the server would materialize each
// array first, which costs twice as much.

/// Rows of decided occurrences, without duplicates.
struct OccurrenceRows {
  /// The index of each occurrence in the batch.
  private(set) var slots: [Int] = []
  private var keys: [Key] = []
  private var rows = Rows()

  /// The primary key of an occurrence.
  private struct Key: Hashable {
    var scheduledAt: Instant
    var reminder: Int64
  }

  /// - Parameter comingAgain: the time when it was to repeat, according to its decision.
  mutating func append(_ occurrence: Occurrence, of key: Int64, at slot: Int, comingAgain: Instant? = nil) {
    slots.append(slot)
    keys.append(Key(scheduledAt: occurrence.id.scheduledAt, reminder: key))
    rows.append(
      occurrence.id.scheduledAt, key, occurrence.owner, OccurrenceCode.of(occurrence.state), occurrence.rounds,
      occurrence.firedAt, occurrence.deliveredAt, occurrence.endedAt, occurrence.state.until,
      occurrence.state.missReason?.rawValue, occurrence.late?.rawValue, occurrence.missedRun?.count,
      occurrence.missedRun?.through, occurrence.title, occurrence.repeats, occurrence.repeatAt, occurrence.answeredBy,
      comingAgain)
  }

  /// Inserts the rows, or replaces missed ones that never fired. `completion` receives the slots of the written rows.
  func insertion(
    on connection: Connection, completion: @escaping ([Int]) -> Void
  ) throws -> [Connection.Queued] {
    try connection.queued(
      """
      INSERT INTO occurrence (
        scheduled_at, reminder, owner, state, rounds, fired_at, delivered_at, ended_at, snoozed_until, reason, late,
        run_count, run_through, title, repeats, repeat_at, answered_by)
      SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8),
        unnest($9), unnest($10), unnest($11), unnest($12), unnest($13), unnest($14), unnest($15), unnest($16), unnest($17)
      ON CONFLICT (scheduled_at, reminder) DO UPDATE SET
        owner = excluded.owner, state = excluded.state, rounds = excluded.rounds, fired_at = excluded.fired_at,
        delivered_at = excluded.delivered_at, ended_at = excluded.ended_at, snoozed_until = excluded.snoozed_until,
        reason = excluded.reason, late = excluded.late, run_count = excluded.run_count,
        run_through = excluded.run_through, title = excluded.title, repeats = excluded.repeats,
        repeat_at = excluded.repeat_at, answered_by = excluded.answered_by
      WHERE occurrence.state = 5 AND occurrence.fired_at IS NULL
      RETURNING scheduled_at, reminder
      """, rows
    ) { completion(written($0)) }
  }

  /// Replaces rows that repeat at that very time or were missed without firing, and inserts rows that do not exist.
  /// `completion` may receive a slot twice.
  func replacement(
    on connection: Connection, completion: @escaping ([Int]) -> Void
  ) throws -> [Connection.Queued] {
    try connection.queued(
      """
      UPDATE occurrence o SET
        owner = u.owner, state = u.state, rounds = u.rounds, fired_at = u.fired_at, delivered_at = u.delivered_at,
        ended_at = u.ended_at, snoozed_until = u.snoozed_until, reason = u.reason, late = u.late,
        run_count = u.run_count, run_through = u.run_through, title = u.title, repeats = u.repeats,
        repeat_at = u.repeat_at, answered_by = u.answered_by
      FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) u (
        scheduled_at, reminder, owner, state, rounds, fired_at, delivered_at, ended_at, snoozed_until, reason, late,
        run_count, run_through, title, repeats, repeat_at, answered_by, again)
      WHERE o.scheduled_at = u.scheduled_at AND o.reminder = u.reminder
        AND ((o.state = 5 AND o.fired_at IS NULL) OR (o.state IN (2, 6) AND o.snoozed_until = u.again)
          OR (o.state < 2 AND o.repeat_at = u.again))
      RETURNING o.scheduled_at, o.reminder
      """, rows
    ) { completion(written($0)) }
      + insertion(on: connection, completion: completion)
  }

  /// Returns the slots of the rows in an answer.
  private func written(_ answer: Answer) -> [Int] {
    if Int(answer.count) == slots.count { return slots }
    let named = Set(answer.map { Key(scheduledAt: $0.instant(0), reminder: $0.int64(1)) })
    return zip(slots, keys).filter { named.contains($1) }.map(\.0)
  }
}

/// Rows of deliveries, in the order in which they are to be sent.
struct DeliveryRows {
  private var rows = Rows()
  private var hasLaterRound = false

  mutating func append(_ delivery: Delivery, of key: Int64, _ queue: DeliveryQueueRow) {
    let (code, at) = DeliveryCode.of(delivery.state)
    rows.append(
      delivery.id, delivery.occurrence.scheduledAt, key, queue.key, delivery.round, code, at, at ?? delivery.createdAt,
      delivery.attempts, delivery.createdAt, queue.isOrdered ? 1 : 0, delivery.attemptsBefore, delivery.event?.text)
    if delivery.round > 1, delivery.event == nil { hasLaterRound = true }
  }

  func insertion(on connection: Connection) throws -> [Connection.Queued] {
    // After an outage of a channel, pending earlier rounds are replaced, so that the occurrence is shown once.
    let replacement =
      hasLaterRound
      ? try connection.queued(
        """
        UPDATE delivery d SET state = 4, state_at = u.created_at
        FROM unnest($2, $3, $4, $5, $10, $13) u (scheduled_at, reminder, queue, round, created_at, event)
        WHERE d.scheduled_at = u.scheduled_at AND d.reminder = u.reminder AND d.queue = u.queue AND d.state <= 1
          AND d.round < u.round AND d.event IS NULL AND u.event IS NULL
        """, rows) : []
    // Keys follow the order of the arrays, as ordered queues require.
    return try replacement
      + connection.queued(
        """
        INSERT INTO delivery (
          id, scheduled_at, reminder, queue, round, state, state_at, visible_at, attempts, created_at, in_order,
          attempts_before, event)
        SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8),
          unnest($9), unnest($10), unnest($11), unnest($12), unnest($13)
        """, rows)
  }
}

/// Rows of the side effects of occurrences; each reminder occurs once.
struct FollowingRows {
  /// Reminder, scheduled time: the repeats of its occurrences before that end.
  var silenced = Rows()
  /// Reminder, scheduled time, next due time, wakes: that occurrence becomes due again.
  var again = Rows()

  func statements(on connection: Connection) throws -> [Connection.Queued] {
    try connection.queued(
      """
      DELETE FROM due d USING unnest($1, $2) u (reminder, before)
      WHERE d.reminder = u.reminder AND d.snooze_of >= 0 AND d.snooze_of < u.before AND EXISTS (
        SELECT 1 FROM occurrence x
        WHERE x.scheduled_at = d.snooze_of AND x.reminder = d.reminder AND x.state < 2)
      """, silenced)
      // The condition repeats that of the index `occurrence_open`, so that the planner uses it.
      + connection.queued(
        """
        UPDATE occurrence o SET repeat_at = NULL FROM unnest($1, $2) u (reminder, before)
        WHERE o.state <= 2 AND o.state < 2 AND o.reminder = u.reminder AND o.repeat_at IS NOT NULL
          AND o.scheduled_at < u.before
        """, silenced)
      + connection.queued(
        """
        INSERT INTO due (reminder, snooze_of, next_at, wakes) SELECT * FROM unnest($1, $2, $3, $4)
        ON CONFLICT (reminder, snooze_of) DO UPDATE SET
          next_at = excluded.next_at, scheduled_at = NULL, wakes = excluded.wakes
        """, again)
  }
}

/// Rows of regular due times that advance or end.
struct AdvanceRows {
  /// Reminder, decided scheduled time, next due time, the scheduled time evaluated then unless it is the same, wakes.
  var moved = Rows()
  /// Reminder, decided scheduled time.
  var ended = Rows()

  /// Returns the statements. `completion` receives the reminders whose due time still was the decided one.
  func statements(
    on connection: Connection, completion: @escaping (Answer) -> Void
  ) throws -> [Connection.Queued] {
    try connection.queued(
      """
      UPDATE due d SET next_at = u.next_at, scheduled_at = u.scheduled_at, wakes = u.wakes
      FROM (
        SELECT unnest($1) reminder, unnest($2) was, unnest($3) next_at, unnest($4) scheduled_at, unnest($5) wakes
      ) u
      WHERE d.reminder = u.reminder AND d.snooze_of = -1 AND coalesce(d.scheduled_at, d.next_at) = u.was
      RETURNING d.reminder
      """, moved, completion: completion)
      + connection.queued(
        """
        DELETE FROM due d USING unnest($1, $2) u (reminder, was)
        WHERE d.reminder = u.reminder AND d.snooze_of = -1 AND coalesce(d.scheduled_at, d.next_at) = u.was
        RETURNING d.reminder
        """, ended, completion: completion)
  }
}
