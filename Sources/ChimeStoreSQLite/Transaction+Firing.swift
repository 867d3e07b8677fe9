import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDue(now: Instant, limit: Int) throws -> [DueReminder] {
    try claim(try dueRows(now: now, limit: limit, after: nil), now: now)
  }

  static var selectNextDue: StaticString {
    """
    SELECT (SELECT min(next_at) FROM due WHERE next_at > ?1),
      (SELECT min(next_at) FROM due WHERE wakes = 1 AND next_at > ?1)
    """
  }

  func dueRows(now: Instant, limit: Int, after place: DueCursor?) throws -> [DueRow] {
    memory.unreadable = []
    let start = place ?? DueCursor(dueAt: .earliest, reminder: -1, again: -1)
    return try connection.all(
      """
      SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
        d.reminder, d.snooze_of, d.next_at, d.scheduled_at,
        a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
        o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
      FROM due d
      CROSS JOIN reminder r ON r.key = d.reminder
      CROSS JOIN reminder_name a ON a.key = d.reminder
      LEFT JOIN occurrence o ON o.reminder = d.reminder
        AND o.scheduled_at = iif(d.snooze_of = -1, coalesce(d.scheduled_at, d.next_at), d.snooze_of)
      WHERE d.next_at <= ? AND (d.next_at, d.reminder, d.snooze_of) > (?, ?, ?)
      ORDER BY d.next_at, d.reminder, d.snooze_of
      LIMIT ?
      """, now, start.dueAt, start.reminder, start.again, max(limit, 0), row: dueRow)
  }

  func record(_ firings: [FiringResult]) throws {
    try requireWriting()
    for firing in firings { try record(firing) }
  }

  private func record(_ firing: FiringResult) throws {
    let due = firing.due
    // A removed reminder does not fire.
    guard let progress = try progress(of: due.reminder.id) else { return }
    var skipped: [OccurrenceID] = []
    if !firing.advances {
      try connection.run(
        "DELETE FROM due WHERE reminder = ? AND snooze_of = ? AND next_at = ?", progress.key, due.scheduledAt,
        due.dueAt)
    }
    for occurrence in firing.occurrences {
      // A repeat is written only if its row still matches its decision.
      let isOwn = !firing.advances && occurrence.id.scheduledAt == due.scheduledAt
      if try insert(occurrence, of: progress.key, comingAgain: isOwn ? due.occurrence?.recursAt : nil) {
        try follow(occurrence, of: progress, due.reminder)
      } else {
        skipped.append(occurrence.id)
      }
    }
    for delivery in firing.deliveries where !skipped.contains(delivery.occurrence) {
      try insert(delivery, of: progress.key)
    }
    if firing.advances { try advance(firing, progress) }
  }

  /// Makes a fired occurrence due again for its repeats, and ends the repeats of earlier ones.
  private func follow(_ occurrence: Occurrence, of progress: ReminderProgress, _ reminder: Reminder) throws {
    let key = progress.key
    // Without repeats there is nothing to end.
    if reminder.nag != nil, occurrence.state == .fired, occurrence.rounds == 1 {
      try connection.run(
        """
        DELETE FROM due WHERE reminder = ?1 AND snooze_of >= 0 AND snooze_of < ?2 AND EXISTS (
          SELECT 1 FROM occurrence x
          WHERE x.scheduled_at = due.snooze_of AND x.reminder = ?1 AND x.state < 2)
        """, key, occurrence.id.scheduledAt)
      // The condition repeats that of the index `occurrence_open`, so that the planner uses it.
      try connection.run(
        """
        UPDATE occurrence SET repeat_at = NULL
        WHERE state <= 2 AND state < 2 AND reminder = ?1 AND repeat_at IS NOT NULL AND scheduled_at < ?2
        """, key, occurrence.id.scheduledAt)
    }
    if let again = occurrence.recursAt {
      // The decision may be based on an older definition.
      let wakes =
        progress.generation == reminder.generation
        ? reminder.wakes(at: again) : try wakes(reminder: key, at: again)
      try setDue(reminder: key, snoozeOf: occurrence.id.scheduledAt.milliseconds, at: again, wakes: wakes)
    }
  }

  /// Advances the regular due time. If the reminder has changed since, the decision is outdated and the due time stays
  /// for a new one.
  private func advance(_ firing: FiringResult, _ progress: ReminderProgress) throws {
    let reminder = firing.due.reminder
    guard progress.generation == reminder.generation else { return }
    if let next = firing.next {
      let dueAt = firing.nextDueAt ?? next + reminder.jitterOffset
      var after = reminder
      after.skipNext = firing.skipNext
      try connection.run(
        """
        UPDATE due SET next_at = ?, scheduled_at = ?, wakes = ?
        WHERE reminder = ? AND snooze_of = -1 AND coalesce(scheduled_at, next_at) = ?
        """, dueAt, dueAt == next ? nil : next,
        after.wakes(at: dueAt, isRegular: true) ? 1 : 0, progress.key, firing.due.scheduledAt)
    } else {
      try connection.run(
        "DELETE FROM due WHERE reminder = ? AND snooze_of = -1 AND coalesce(scheduled_at, next_at) = ?", progress.key,
        firing.due.scheduledAt)
    }
    guard connection.changes > 0, firing.skipNext != progress.skipNext else { return }
    try connection.run("UPDATE reminder SET skip_next = ? WHERE key = ?", firing.skipNext, progress.key)
    memory.claimed[reminder.id]?.skipNext = firing.skipNext
  }

  /// Inserts an occurrence, or replaces one that was missed without firing or that repeats at that very time.
  ///
  /// - Returns: whether it was written.
  private func insert(_ occurrence: Occurrence, of reminder: Int64, comingAgain again: Instant?) throws -> Bool {
    try connection.run(
      """
      INSERT INTO occurrence (
        scheduled_at, reminder, owner, state, rounds, fired_at, delivered_at, ended_at, snoozed_until, reason, late,
        run_count, run_through, title, repeats, repeat_at, answered_by)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?18)
      ON CONFLICT (scheduled_at, reminder) DO UPDATE SET
        owner = ?3, state = ?4, rounds = ?5, fired_at = ?6, delivered_at = ?7, ended_at = ?8, snoozed_until = ?9,
        reason = ?10, late = ?11, run_count = ?12, run_through = ?13, title = ?14,
        repeats = ?15, repeat_at = ?16, answered_by = ?18
      WHERE (occurrence.state = 5 AND occurrence.fired_at IS NULL)
        OR (occurrence.state IN (2, 6) AND occurrence.snoozed_until = ?17)
        OR (occurrence.state < 2 AND occurrence.repeat_at = ?17)
      """,
      occurrence.id.scheduledAt, reminder, occurrence.owner, OccurrenceCode.of(occurrence.state), occurrence.rounds,
      occurrence.firedAt, occurrence.deliveredAt, occurrence.endedAt, occurrence.state.until,
      occurrence.state.missReason?.rawValue, occurrence.late?.rawValue, occurrence.missedRun?.count,
      occurrence.missedRun?.through, occurrence.title, occurrence.repeats, occurrence.repeatAt, again,
      occurrence.answeredBy)
    return connection.changes > 0
  }

  func owe(_ deliveries: [Delivery]) throws {
    try requireWriting()
    for delivery in deliveries {
      guard let key = try key(of: delivery.occurrence.reminder) else { continue }
      try insert(delivery, of: key)
    }
    outboxHasChanged()
  }

  private func insert(_ delivery: Delivery, of reminder: Int64) throws {
    let (code, at) = DeliveryCode.of(delivery.state)
    let queue = try findOrMakeQueue(delivery.queue)
    if delivery.round > 1, delivery.event == nil {
      // After an outage of a channel, pending earlier rounds are replaced, so that the occurrence is shown once.
      try connection.run(
        """
        UPDATE delivery SET state = 4, state_at = ?1
        WHERE scheduled_at = ?2 AND reminder = ?3 AND queue = ?4 AND state <= 1 AND round < ?5 AND event IS NULL
        """, delivery.createdAt, delivery.occurrence.scheduledAt, reminder, queue.key, delivery.round)
    }
    try connection.run(
      """
      INSERT INTO delivery (
        id, scheduled_at, reminder, queue, round, state, state_at, visible_at, attempts, created_at, in_order,
        attempts_before, event)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      delivery.id, delivery.occurrence.scheduledAt, reminder, queue.key, delivery.round,
      code, at, at ?? delivery.createdAt, delivery.attempts, delivery.createdAt, queue.isOrdered ? 1 : 0,
      delivery.attemptsBefore, delivery.event?.text)
  }

  func wakeups() throws -> NextWakeups {
    // Each minimum is one descent of an index, regardless of the number of rows.
    let next = try connection.first(
      "SELECT (SELECT min(next_at) FROM due), (SELECT min(next_at) FROM due WHERE wakes = 1)"
    ) { (due: $0.optionalInstant(0), wake: $0.optionalInstant(1)) }
    let queues = try connection.all(
      """
      SELECT l.owner, l.channel, iif(
        l.ordered = 1,
        (SELECT d.visible_at FROM delivery d WHERE d.queue = l.key AND d.state <= 1 AND d.in_order = 1
          ORDER BY d.key LIMIT 1),
        (SELECT min(d.visible_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1))
      FROM delivery_queue l
      """
    ) { ($0.queue(0), $0.optionalInstant(2)) }
    var wakeups = NextWakeups(nextDue: next?.due, nextWake: next?.wake)
    for case (let queue, let visibleAt?) in queues { wakeups.outbox[queue] = visibleAt }
    return wakeups
  }
}
