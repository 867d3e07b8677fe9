package import ChimeCore
package import ChimeSchedule

extension SQLTransaction {
  package func timeOfOccurrence(after count: Int) throws -> Instant? {
    try connection.first(
      "SELECT scheduled_at FROM occurrence ORDER BY scheduled_at DESC, reminder DESC LIMIT 1 OFFSET $1", max(count, 0)
    ) { $0.instant(0) }
  }

  package func prune(_ edge: HistoryEdge, past: OccurrenceID?, limit: Int) throws -> Pruned {
    try requireWriting()
    guard let end = edge.end else { return Pruned(count: 0, past: past, isOver: true) }
    // The start without `past` lies before every row: the smallest possible key.
    let start = try past.flatMap { past in try key(of: past.reminder).map { (past.scheduledAt, $0) } }
    let looked = try connection.all(
      """
      SELECT a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at,
        o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by,
        o.reminder,
        EXISTS (SELECT 1 FROM delivery d
          WHERE d.scheduled_at = o.scheduled_at AND d.reminder = o.reminder AND d.state <= 1),
        EXISTS (SELECT 1 FROM due x WHERE x.reminder = o.reminder AND x.snooze_of = o.scheduled_at)
      FROM occurrence o
      JOIN reminder_name a ON a.key = o.reminder
      WHERE (o.scheduled_at, o.reminder) > ($1, $2) AND o.scheduled_at < $3
      ORDER BY o.scheduled_at, o.reminder
      LIMIT $4
      """, start?.0 ?? .earliest - .milliseconds(1), start?.1 ?? 0, end, max(limit, 0)
    ) { row in
      (
        occurrence: try row.occurrence(0), reminder: row.int64(17),
        isWanted: row.int64(18) != 0 || row.int64(19) != 0
      )
    }
    var result = Pruned(count: 0, past: past, isOver: looked.count < limit)
    for one in looked {
      if edge.takes(one.occurrence), !one.isWanted {
        try forget(one.occurrence.id.scheduledAt, one.reminder)
        result.count += 1
      } else {
        result.past = one.occurrence.id
      }
    }
    return result
  }

  package func eraseHistory(ofRemoved owner: UInt32, limit: Int) throws -> Bool {
    try requireWriting()
    let found = try connection.all(
      """
      SELECT o.scheduled_at, o.reminder FROM occurrence o
      WHERE o.owner = $1 AND NOT EXISTS (SELECT 1 FROM reminder r WHERE r.key = o.reminder)
      LIMIT $2
      """, owner, max(limit, 0)
    ) { ($0.instant(0), $0.int64(1)) }
    for (scheduledAt, reminder) in found { try forget(scheduledAt, reminder) }
    return found.count == limit
  }

  private func forget(_ scheduledAt: Instant, _ reminder: Int64) throws {
    try connection.run(Self.deleteAttempts, scheduledAt, reminder)
    try connection.run("DELETE FROM delivery WHERE scheduled_at = $1 AND reminder = $2", scheduledAt, reminder)
    try connection.run("DELETE FROM occurrence WHERE scheduled_at = $1 AND reminder = $2", scheduledAt, reminder)
    try connection.run(
      """
      DELETE FROM reminder_name
      WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM reminder WHERE key = $1)
        AND NOT EXISTS (SELECT 1 FROM occurrence WHERE state <= 2 AND reminder = $1)
        AND NOT EXISTS (SELECT 1 FROM occurrence WHERE state > 2 AND reminder = $1)
      """, reminder)
  }
}
