package import ChimeCore
package import ChimeSchedule
import ChimeTracking

extension SQLTransaction {
  package func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?, since: Instant?) throws {
    try requireWriting()
    memory.claimed[reminder.id] = nil
    let known = try key(of: reminder.id)
    // A new reminder cannot take a name that is in use or in the history.
    if reminder.generation == 0, known != nil { throw StoreFailure.idTaken(reminder.id) }
    let key: Int64
    if let known {
      key = known
    } else {
      key = try connection.makeKey("INSERT INTO reminder_name (id) VALUES ($1) RETURNING key", reminder.id.rawValue)
    }
    let definition = try reader.text(Definition(of: reminder))
    let countsFrom =
      known == nil
      ? ReminderVersion.begin(next: next, since: since)
      : try keepVersion(of: key, replacedBy: reminder, definition, next: next, since: since)
    try connection.run(
      """
      INSERT INTO reminder (
        key, owner, generation, created_at, skip_next, zone, schedule, title, body, definition, tracker, follows,
        needs, counts_from)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      ON CONFLICT (key) DO UPDATE SET
        owner = excluded.owner, generation = excluded.generation, created_at = excluded.created_at,
        skip_next = excluded.skip_next, zone = excluded.zone, schedule = excluded.schedule, title = excluded.title,
        body = excluded.body, definition = excluded.definition, tracker = excluded.tracker, follows = excluded.follows,
        needs = excluded.needs, counts_from = excluded.counts_from,
        down_since = CASE WHEN $15 = 1 THEN reminder.down_since END
      """,
      key, reminder.owner, reminder.generation, reminder.createdAt, reminder.skipNext, reminder.timezone.text,
      reminder.schedule.canonical, reminder.title, reminder.body, definition, reminder.tracker?.tracker.rawValue,
      reminder.follows?.rawValue, reminder.onlyIfDone?.rawValue, countsFrom,
      reminder.isExpectation ? 1 : 0)
    if let next {
      if Tenant.isTenant(reminder.owner), try known == nil || !hasTime(key) {
        memory.tenantsWithMore.insert(reminder.owner)
      }
      let dueAt = nextDueAt ?? next + reminder.jitterOffset
      try setDue(
        reminder: key, snoozeOf: Self.regular, at: dueAt, scheduledAt: next,
        wakes: reminder.wakes(at: dueAt, isRegular: true))
    } else if known != nil {
      try connection.run("DELETE FROM due WHERE reminder = $1 AND snooze_of = -1", key)
    }
    if known != nil {
      let quietUntil: Instant =
        switch reminder.pause {
        case .none: .earliest
        case .until(let end): end
        case .indefinitely: .latest
        }
      try connection.run(
        """
        UPDATE due SET wakes = CASE WHEN $1 = 1 AND next_at >= $2 THEN 1 ELSE 0 END
        WHERE reminder = $3 AND snooze_of >= 0
        """, reminder.wake ? 1 : 0, quietUntil, key)
    }
  }

  package func remove(_ id: ReminderID, now: Instant) throws -> Bool {
    try requireWriting()
    memory.claimed[id] = nil
    guard let key = try key(of: id) else { return false }
    try keepVersion(ofRemoved: key, now: now)
    try connection.run("DELETE FROM reminder WHERE key = $1", key)
    guard connection.changes > 0 else { return false }
    try connection.run(
      """
      UPDATE delivery SET state = 4, state_at = $1
      WHERE key IN (
        SELECT d.key FROM (
          SELECT scheduled_at, reminder FROM occurrence WHERE state <= 2 AND reminder = $2
          UNION ALL SELECT scheduled_at, reminder FROM occurrence WHERE state > 2 AND reminder = $2) o
        JOIN delivery d ON d.scheduled_at = o.scheduled_at AND d.reminder = o.reminder
        WHERE d.state <= 1 AND d.event IS NULL)
      """, now, key)
    if connection.changes > 0 { outboxHasChanged() }
    try connection.run(
      """
      UPDATE occurrence SET state = 4, ended_at = $1, snoozed_until = NULL, repeat_at = NULL
      WHERE state <= 2 AND reminder = $2
      """, now, key)
    try connection.run(
      """
      UPDATE occurrence SET state = 4, ended_at = $1, snoozed_until = NULL
      WHERE state > 2 AND reminder = $2 AND state = 6
      """, now, key)
    return true
  }

  package func reminder(_ id: ReminderID) throws -> ReminderRecord? {
    unreadable = []
    var query = ComposedQuery(Self.recordColumns)
    query.append("SELECT key, CAST(NULL AS BIGINT) AS coming FROM reminder_name WHERE id = ?", id.rawValue)
    query.append(Self.recordJoins)
    let found = try connection.all(query, row: record).first
    if let failure = unreadable.first { throw StoreFailure.internalError(failure.reason) }
    return found ?? nil
  }

  /// Returns whether the reminder has a regular due time.
  private func hasTime(_ key: Int64) throws -> Bool {
    try connection.first("SELECT 1 FROM due WHERE reminder = $1 AND snooze_of = -1", key) { _ in true } ?? false
  }

  /// The value of `snooze_of` for a regular due time.
  package static var regular: Int64 { -1 }

  /// Sets a due time. `scheduledAt` is the scheduled time of a regular one if it differs from `next`.
  package func setDue(
    reminder: Int64, snoozeOf: Int64, at next: Instant, scheduledAt: Instant? = nil, wakes: Bool
  ) throws {
    dueTimeHasChanged(of: reminder, to: next)
    try connection.run(
      """
      INSERT INTO due (reminder, snooze_of, next_at, scheduled_at, wakes) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (reminder, snooze_of) DO UPDATE SET
        next_at = excluded.next_at, scheduled_at = excluded.scheduled_at, wakes = excluded.wakes
      """, reminder, snoozeOf, next, scheduledAt == next ? nil : scheduledAt, wakes ? 1 : 0)
  }

  /// Returns whether the machine is woken for a repeat of a reminder at this time; false if the reminder is unreadable.
  package func wakes(reminder: Int64, at instant: Instant) throws -> Bool {
    let text = try connection.first("SELECT definition FROM reminder WHERE key = $1", reminder) { $0.text(0) }
    guard let definition = text.flatMap({ try? reader.definition($0) }) else { return false }
    return definition.wake == true && !(definition.pause ?? .none).holds(at: instant)
  }

  /// Returns nil for an unreadable reminder, and adds it to `unreadable`.
  package func record(_ row: Connection.Row) throws -> ReminderRecord? {
    let reminder: Reminder
    do {
      reminder = try row.reminder(0, reader)
    } catch {
      memory.unreadable.append(error.reminder)
      return nil
    }
    return ReminderRecord(
      reminder: reminder, next: row.optionalInstant(10), nextDueAt: row.optionalInstant(11),
      last: row.isNull(17) ? nil : try row.occurrence(16), open: row.int(12), snoozedUntil: row.optionalInstant(13),
      repeatAt: row.optionalInstant(14), awaitedUntil: row.optionalInstant(15), downSince: row.optionalInstant(34),
      awaitsOther: row.int(33) != 0)
  }
}
