package import ChimeCore
package import ChimeSchedule

// Versions of definitions. A replaced definition is kept with the span of its times, so that the history can be compared
// with the times that should have occurred.
extension SQLTransaction {
  /// Keeps a definition that is about to be replaced, if its times differ.
  ///
  /// - Parameters:
  ///   - next: the first time of the new definition.
  ///   - since: the moment after which its times begin.
  /// - Returns: the time from which the definition now in force counts.
  func keepVersion(
    of key: Int64, replacedBy reminder: Reminder, _ definition: String, next: Instant?, since: Instant?
  ) throws -> Instant? {
    let former = try connection.first(
      """
      SELECT $2, r.owner, r.title, NULL, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
        r.counts_from, coalesce(d.scheduled_at, d.next_at)
      FROM reminder r LEFT JOIN due d ON d.reminder = r.key AND d.snooze_of = -1 WHERE r.key = $1
      """, key, reminder.id.rawValue
    ) { row in
      let isSameText =
        row.text(4) == reminder.schedule.canonical && row.text(5) == reminder.timezone.text && row.text(9) == definition
      return (
        countsFrom: row.optionalInstant(10), next: row.optionalInstant(11),
        isSame: isSameText || (try? row.reminder(0, reader))?.hasSameTimes(as: reminder) == true
      )
    }
    let begin = ReminderVersion.begin(next: next, since: since)
    guard let former else {
      if let begin { try cutVersions(of: key, at: begin) }
      return begin
    }
    if former.isSame, former.next == next {
      if let since { try cutVersions(of: key, at: since + .milliseconds(1)) }
      return former.countsFrom
    }
    try keepVersion(of: key, until: ReminderVersion.end(next: former.next, before: next, since: since))
    if let begin { try cutVersions(of: key, at: begin) }
    return begin
  }

  /// Ends the kept versions at `begin`, so that no two versions cover the same time. They would overlap after a step back
  /// of the clock, or if a removed reminder exists again.
  private func cutVersions(of key: Int64, at begin: Instant) throws {
    let isAhead = try connection.first(
      "SELECT 1 FROM reminder_history WHERE reminder = $1 AND until > $2 LIMIT 1", key, begin
    ) { _ in true }
    guard isAhead == true else { return }
    try connection.run(
      """
      DELETE FROM reminder_history WHERE reminder = $1 AND until >= $2 AND counts_from IS DISTINCT FROM (
        SELECT max(counts_from) FROM reminder_history WHERE reminder = $1 AND until >= $2 AND counts_from < $2)
      """, key, begin)
    try connection.run("UPDATE reminder_history SET until = $2 WHERE reminder = $1 AND until > $2", key, begin)
  }

  func keepVersion(ofRemoved key: Int64, now: Instant) throws {
    let next = try connection.first(
      "SELECT coalesce(scheduled_at, next_at) FROM due WHERE reminder = $1 AND snooze_of = -1", key
    ) { $0.instant(0) }
    try keepVersion(of: key, until: min(next ?? now, now))
    try cutVersions(of: key, at: now)
  }

  private func keepVersion(of key: Int64, until: Instant) throws {
    try connection.run(
      """
      INSERT INTO reminder_history (reminder, until, counts_from, owner, created_at, zone, schedule, title, definition)
      SELECT key, $2, counts_from, owner, created_at, zone, schedule, title, definition
      FROM reminder WHERE key = $1 AND counts_from < $2
      ON CONFLICT (reminder, until) DO UPDATE SET
        counts_from = excluded.counts_from, owner = excluded.owner, created_at = excluded.created_at, zone = excluded.zone,
        schedule = excluded.schedule, title = excluded.title, definition = excluded.definition
      """, key, until)
  }

  package func versions(of id: ReminderID) throws -> [ReminderVersion] {
    guard let key = try key(of: id) else { return [] }
    var versions = try connection.all(
      """
      SELECT a.id, v.owner, v.title, NULL, v.schedule, v.zone, 0, v.created_at, 0, v.definition, v.counts_from,
        v.until
      FROM reminder_history v JOIN reminder_name a ON a.key = v.reminder WHERE v.reminder = $1 ORDER BY v.until
      """, key
    ) { row in
      (try? row.reminder(0, reader)).map {
        ReminderVersion(reminder: $0, from: row.instant(10), until: row.instant(11), isInForce: false)
      }
    }.compactMap { $0 }
    let present = try connection.first(
      """
      SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
        r.counts_from, coalesce(d.scheduled_at, d.next_at), d.next_at
      FROM reminder r JOIN reminder_name a ON a.key = r.key
      LEFT JOIN due d ON d.reminder = r.key AND d.snooze_of = -1 WHERE r.key = $1 AND r.counts_from IS NOT NULL
      """, key
    ) { row in
      (try? row.reminder(0, reader)).map {
        ReminderVersion(
          reminder: $0, from: row.instant(10), until: row.optionalInstant(11), dueAt: row.optionalInstant(12),
          isInForce: true)
      }
    }
    if let version = present.flatMap({ $0 }) { versions.append(version) }
    return versions
  }

  package func versionedIDs(owner: UInt32?, after last: ReminderID?, limit: Int) throws -> [ReminderID] {
    let place = try last.flatMap { try key(of: $0) } ?? 0
    // All owners: by the table of names. One owner: by the indexes on owners.
    guard let owner else {
      return try connection.all(
        """
        SELECT id FROM reminder_name a
        WHERE key > $1 AND (EXISTS (SELECT 1 FROM reminder r WHERE r.key = a.key)
          OR EXISTS (SELECT 1 FROM reminder_history v WHERE v.reminder = a.key))
        ORDER BY key LIMIT $2
        """, place, max(limit, 0)
      ) { ReminderID(rawValue: $0.text(0)) }
    }
    return try connection.all(
      """
      SELECT a.id FROM (
        SELECT key FROM (SELECT key FROM reminder WHERE owner = $1 AND key > $2 ORDER BY key LIMIT $3) r
        UNION
        SELECT key FROM (
          SELECT DISTINCT reminder AS key FROM reminder_history WHERE owner = $1 AND reminder > $2
          ORDER BY reminder LIMIT $3) b) v
      JOIN reminder_name a ON a.key = v.key ORDER BY a.key LIMIT $3
      """, owner, place, max(limit, 0)
    ) { ReminderID(rawValue: $0.text(0)) }
  }

  package func forgetVersions(before end: Instant) throws {
    try requireWriting()
    try connection.run("DELETE FROM reminder_history WHERE until <= $1", end)
  }
}
