package import ChimeCore
package import ChimeSchedule

extension SQLTransaction {
  /// Selects the occurrences of a reminder. It takes the id twice, because open and closed occurrences have separate indexes.
  static var times: SQLText {
    """
    SELECT scheduled_at, reminder FROM occurrence
      WHERE state <= 2 AND reminder = (SELECT key FROM reminder_name WHERE id = ?)
      UNION ALL
      SELECT scheduled_at, reminder FROM occurrence
      WHERE state > 2 AND reminder = (SELECT key FROM reminder_name WHERE id = ?)
    """
  }

  package func occurrence(_ id: OccurrenceID) throws -> Occurrence? {
    try connection.first(
      """
      SELECT a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at,
        o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
      FROM reminder_name a
      JOIN occurrence o ON o.reminder = a.key
      WHERE a.id = $1 AND o.scheduled_at = $2
      """, id.reminder.rawValue, id.scheduledAt
    ) { try $0.occurrence(0) }
  }

  package func occurrences(_ filter: OccurrenceFilter, page: Page) throws -> [Occurrence] {
    var query = ComposedQuery(
      """
      SELECT a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at,
        o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by
      """)
    if let reminder = filter.reminder {
      // Each index may contain the whole page.
      query.append("FROM (SELECT * FROM (")
      requireTimes("state <= 2", of: reminder, filter, page, in: &query)
      query.append(") x UNION ALL SELECT * FROM (")
      requireTimes("state > 2", of: reminder, filter, page, in: &query)
      query.append(
        """
        ) y) t
        CROSS JOIN occurrence o ON o.scheduled_at = t.scheduled_at AND o.reminder = t.reminder
        CROSS JOIN reminder_name a ON a.key = o.reminder
        """)
      query.beginConditions()
    } else {
      query.append("FROM occurrence o JOIN reminder_name a ON a.key = o.reminder")
    }
    if let owner = filter.owner { query.require("o.owner = ?", owner) }
    if filter.openOnly { query.require("o.state <= 2") }
    if let from = filter.from { query.require("o.scheduled_at >= ?", from) }
    if let before = filter.before { query.require("o.scheduled_at < ?", before) }
    query.append("ORDER BY o.scheduled_at DESC, o.reminder DESC LIMIT ? OFFSET ?", page.limit, page.offset)
    return try connection.all(query) { try $0.occurrence(0) }
  }

  /// Adds a query for the latest occurrences of a reminder in one of the two indexes.
  private func requireTimes(
    _ index: SQLText, of reminder: ReminderID, _ filter: OccurrenceFilter, _ page: Page, in query: inout ComposedQuery
  ) {
    query.append("SELECT scheduled_at, reminder FROM occurrence")
    query.beginConditions()
    query.require(index)
    query.require("reminder = (SELECT key FROM reminder_name WHERE id = ?)", reminder.rawValue)
    if let from = filter.from { query.require("scheduled_at >= ?", from) }
    if let before = filter.before { query.require("scheduled_at < ?", before) }
    query.append("ORDER BY scheduled_at DESC LIMIT ?", min(page.offset, .max - page.limit) + page.limit)
  }

  package func doneTimes(of id: ReminderID, from first: Instant) throws -> [Instant] {
    try connection.all(
      """
      SELECT ended_at FROM occurrence
      WHERE reminder = (SELECT key FROM reminder_name WHERE id = $1) AND (state = 3 OR reason = 'doneAlready') AND ended_at >= $2
      ORDER BY ended_at DESC LIMIT 10000
      """, id.rawValue, first
    ) { $0.instant(0) }
  }

  package func update(_ occurrence: Occurrence, now: Instant) throws {
    try requireWriting()
    let at = occurrence.id.scheduledAt
    guard let key = try key(of: occurrence.id.reminder) else { throw Self.unknown(occurrence.id) }
    try connection.run(
      """
      UPDATE occurrence SET
        owner = $1, state = $2, rounds = $3, fired_at = $4, delivered_at = $5, ended_at = $6, snoozed_until = $7, reason = $8,
        late = $9, run_count = $10, run_through = $11, title = $12, repeats = $13, repeat_at = $14, answered_by = $15
      WHERE scheduled_at = $16 AND reminder = $17
      """,
      occurrence.owner, OccurrenceCode.of(occurrence.state), occurrence.rounds, occurrence.firedAt,
      occurrence.deliveredAt, occurrence.endedAt, occurrence.state.until,
      occurrence.state.missReason?.rawValue, occurrence.late?.rawValue, occurrence.missedRun?.count,
      occurrence.missedRun?.through, occurrence.title, occurrence.repeats, occurrence.repeatAt, occurrence.answeredBy,
      at, key)
    guard connection.changes > 0 else { throw Self.unknown(occurrence.id) }

    if let again = occurrence.recursAt {
      // A removed reminder has history only, so its occurrence is not due again.
      if try isPresent(key) {
        try setDue(
          reminder: key, snoozeOf: at.milliseconds, at: again, wakes: try wakes(reminder: key, at: again))
      }
    } else {
      try connection.run("DELETE FROM due WHERE reminder = $1 AND snooze_of = $2", key, at)
    }
    if !occurrence.isOpen {
      try connection.run(
        """
        UPDATE delivery SET state = 4, state_at = $1
        WHERE scheduled_at = $2 AND reminder = $3 AND state <= 1 AND event IS NULL
        """, now, at, key)
      if connection.changes > 0 { outboxHasChanged() }
    }
  }

  private func isPresent(_ key: Int64) throws -> Bool {
    try connection.first("SELECT 1 FROM reminder WHERE key = $1", key) { _ in true } ?? false
  }

  private static func unknown(_ id: OccurrenceID) -> StoreFailure {
    .internalError("there is no occurrence \(id) to update")
  }
}
