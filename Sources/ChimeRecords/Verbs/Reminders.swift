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
    let key =
      try known
      ?? connection.makeKey("INSERT INTO reminder_name (id) VALUES ($1) RETURNING key", reminder.id.rawValue)
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
      if Tenant.isTenant(reminder.owner),
        try known == nil
          || !connection.exists("SELECT 1 FROM due WHERE reminder = $1 AND snooze_of = -1", key)
      {
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
      UPDATE occurrence SET state = 4, ended_at = $1, snoozed_until = NULL, repeat_at = NULL
      WHERE state > 2 AND reminder = $2 AND state = 6
      """, now, key)
    return true
  }

  package func reminder(_ id: ReminderID) throws -> ReminderRecord? {
    memory.unreadable = []
    var query = ComposedQuery(Self.recordColumns)
    query.append("SELECT key, CAST(NULL AS BIGINT) AS coming FROM reminder_name WHERE id = ?", id.rawValue)
    query.append(Self.recordJoins)
    let found = try connection.all(query, row: record).first
    if let failure = unreadable.first { throw StoreFailure.internalError(failure.reason) }
    return found ?? nil
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

  /// Reads a reminder from the first columns. Returns nil for an unreadable one, and adds it to `unreadable`.
  private func reminder(_ row: Connection.Row) -> Reminder? {
    do {
      return try row.reminder(0, reader)
    } catch {
      memory.unreadable.append(error)
      return nil
    }
  }

  /// Returns nil for an unreadable reminder, and adds it to `unreadable`.
  package func record(_ row: Connection.Row) throws -> ReminderRecord? {
    memory.listedThrough = ReminderPlace(coming: row.optionalInstant(35), id: ReminderID(rawValue: row.text(0)))
    guard let reminder = reminder(row) else { return nil }
    return ReminderRecord(
      reminder: reminder, next: row.optionalInstant(10), nextDueAt: row.optionalInstant(11),
      last: row.isNull(17) ? nil : try row.occurrence(16), open: row.int(12), snoozedUntil: row.optionalInstant(13),
      repeatAt: row.optionalInstant(14), pingDeadline: row.optionalInstant(15), downSince: row.optionalInstant(34),
      awaitsOther: row.int(33) != 0)
  }

  /// Reads the columns of a reminder, then `due.reminder, snooze_of, next_at, scheduled_at`, then those of its occurrence.
  /// An unreadable reminder is added to `unreadable`.
  package func dueRow(_ row: Connection.Row) throws -> DueRow {
    let place = DueCursor(dueAt: row.instant(12), reminder: row.int64(10), again: row.int64(11))
    guard let reminder = reminder(row) else { return (place, nil) }
    let isRegular = place.again == Self.regular
    let due = DueReminder(
      reminder: reminder, scheduledAt: isRegular ? row.optionalInstant(13) ?? place.dueAt : row.instant(11),
      dueAt: place.dueAt, isRegular: isRegular, occurrence: row.isNull(15) ? nil : try row.occurrence(14))
    return (place, due)
  }

  package func due(now: Instant, limit: Int, after place: DueCursor?) throws -> DuePage {
    let limit = max(limit, 0)
    // One row more than requested shows whether there are more.
    let rows = try dueRows(now: now, limit: limit + 1, after: place)
    let next = try connection.first(Self.selectNextDue, now) {
      (due: $0.optionalInstant(0), wake: $0.optionalInstant(1))
    }
    return DuePage(
      due: rows.prefix(limit).compactMap { $0.due }, end: rows.prefix(limit).last?.place, isWhole: rows.count <= limit,
      next: next?.due, nextWake: next?.wake)
  }

  /// Returns the readable ones of claimed rows, and notes them for `record`. It puts the others off, so that they block none.
  package func claim(_ rows: [DueRow], now: Instant) throws -> [DueReminder] {
    try rows.compactMap { place, due in
      if let due {
        memory.claimed[due.reminder.id] = ReminderProgress(
          key: place.reminder, generation: due.reminder.generation, skipNext: due.reminder.skipNext)
      } else {
        // Keep the scheduled time of a regular due row once its due time differs.
        try connection.run(
          """
          UPDATE due SET scheduled_at = CASE WHEN snooze_of = -1 THEN coalesce(scheduled_at, next_at) END, next_at = $1,
            wakes = 0
          WHERE reminder = $2 AND next_at <= $3
          """, now + .hours(1), place.reminder, now)
      }
      return due
    }
  }

  package func reevaluateHeld(now: Instant) throws {
    try requireWriting()
    dueTimesHaveChanged()
    try connection.run(
      "UPDATE due SET next_at = $1 WHERE snooze_of = -1 AND next_at > $1 AND scheduled_at <= $1", now)
  }

  /// Returns the progress of a reminder; nil if it was removed.
  package func progress(of id: ReminderID) throws -> ReminderProgress? {
    if let known = memory.claimed[id] { return known }
    return try connection.first(
      """
      SELECT r.key, r.generation, r.skip_next FROM reminder_name a JOIN reminder r ON r.key = a.key WHERE a.id = $1
      """, id.rawValue
    ) { ReminderProgress(key: $0.int64(0), generation: $0.int64(1), skipNext: $0.int(2)) }
  }
}

// Versions of definitions. A replaced definition is kept with the span of its times, so that the history can be compared
// with the times that should have occurred.
extension SQLTransaction {
  /// Keeps a definition that is about to be replaced, if its times differ.
  ///
  /// - Parameters:
  ///   - next: the first time of the new definition.
  ///   - since: the moment after which its times begin.
  /// - Returns: the time from which the definition now in force counts.
  private func keepVersion(
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
    guard
      try connection.exists("SELECT 1 FROM reminder_history WHERE reminder = $1 AND until > $2 LIMIT 1", key, begin)
    else { return }
    try connection.run(
      """
      DELETE FROM reminder_history WHERE reminder = $1 AND until >= $2 AND counts_from IS DISTINCT FROM (
        SELECT max(counts_from) FROM reminder_history WHERE reminder = $1 AND until >= $2 AND counts_from < $2)
      """, key, begin)
    try connection.run("UPDATE reminder_history SET until = $2 WHERE reminder = $1 AND until > $2", key, begin)
  }

  private func keepVersion(ofRemoved key: Int64, now: Instant) throws {
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
    return try connection.all(
      """
      SELECT a.id, v.owner, v.title, NULL, v.schedule, v.zone, 0, v.created_at, 0, v.definition, v.counts_from,
        v.until, CAST(NULL AS BIGINT), 0
      FROM reminder_history v JOIN reminder_name a ON a.key = v.reminder WHERE v.reminder = $1
      UNION ALL
      SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
        r.counts_from, coalesce(d.scheduled_at, d.next_at), d.next_at, 1
      FROM reminder r JOIN reminder_name a ON a.key = r.key
      LEFT JOIN due d ON d.reminder = r.key AND d.snooze_of = -1 WHERE r.key = $1 AND r.counts_from IS NOT NULL
      ORDER BY 14, 12
      """, key
    ) { row in
      (try? row.reminder(0, reader)).map {
        ReminderVersion(
          reminder: $0, from: row.instant(10), until: row.optionalInstant(11), dueAt: row.optionalInstant(12),
          isInForce: row.int(13) != 0)
      }
    }.compactMap { $0 }
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

// Listings of reminders. The first page costs the same, however many reminders there are.
extension SQLTransaction {
  package func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord] {
    memory.unreadable = []
    memory.listedThrough = nil
    guard try listsByDueTime(filter) else { return try sorted(filter, page) }
    // Reminders without a due time come last.
    let isBehind = filter.after.map { $0.coming == nil } ?? false
    let found = isBehind ? [] : try coming(filter, limit: page.limit)
    let left = page.limit - found.count - unreadable.count
    guard left > 0, filter.dueFrom == nil, filter.dueBefore == nil else { return found }
    return try found + withoutTime(filter, limit: left)
  }

  package func reminderIDs(_ selection: ReminderSelection, after last: ReminderID?, limit: Int) throws -> [ReminderID] {
    // The name of a removed reminder remains known.
    let place = try last.flatMap { try key(of: $0) } ?? 0
    var query = ComposedQuery("SELECT a.id FROM reminder r CROSS JOIN reminder_name a ON a.key = r.key")
    query.require("r.key > ?", place)
    switch selection {
    case .all: break
    case .zone(let zone): query.require("r.zone = ?", zone.text)
    // The condition repeats that of the index, so that the planner uses it.
    case .withExceptions: query.require("instr(r.schedule, 'except') > 0")
    case .linked(let key):
      query.require("r.owner = ?", key.owner)
      query.require("r.tracker = ?", key.id.rawValue)
    case .chained(let owner):
      query.require("r.follows IS NOT NULL")
      if let owner { query.require("+r.owner = ?", owner) }
    case .following(let id, let owner):
      query.require("r.follows = ?", id.rawValue)
      query.require("+r.owner = ?", owner)
    case .conditional: query.require("r.needs IS NOT NULL")
    case .needing(let id, let owner):
      query.require("r.needs = ?", id.rawValue)
      query.require("+r.owner = ?", owner)
    }
    query.append("ORDER BY r.key LIMIT ?", max(limit, 0))
    return try connection.all(query) { ReminderID(rawValue: $0.text(0)) }
  }

  /// The columns of `record`. The query between `recordColumns` and `recordJoins` selects the reminders as `p.key` and
  /// `p.coming`.
  package static var recordColumns: SQLText {
    """
    SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,
      coalesce(d.scheduled_at, d.next_at), d.next_at,
      (SELECT count(*) FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key),
      (SELECT min(s.next_at) FROM due s
        CROSS JOIN occurrence x ON x.scheduled_at = s.snooze_of AND x.reminder = s.reminder AND x.state = 2
        WHERE s.reminder = r.key AND s.snooze_of >= 0),
      (SELECT min(s.next_at) FROM due s
        CROSS JOIN occurrence x ON x.scheduled_at = s.snooze_of AND x.reminder = s.reminder AND x.state < 2
        WHERE s.reminder = r.key AND s.snooze_of >= 0),
      (SELECT min(s.next_at) FROM due s
        CROSS JOIN occurrence x ON x.scheduled_at = s.snooze_of AND x.reminder = s.reminder AND x.state = 6
        WHERE s.reminder = r.key AND s.snooze_of >= 0),
      \(occurrenceColumns),
      CASE WHEN r.follows IS NULL THEN 0 WHEN \(awaitsOther) THEN 1 ELSE 0 END,
      r.down_since, p.coming
    FROM (
    """
  }

  /// Whether reminder `r`, which counts from another one, may still get a time: a reminder in its chain has a due time or
  /// an open occurrence.
  static var awaitsOther: SQLText {
    """
    EXISTS (
      WITH RECURSIVE before (id) AS (
        SELECT r.follows
        UNION SELECT x.follows FROM before b JOIN reminder_name n ON n.id = b.id
          JOIN reminder x ON x.key = n.key AND x.owner = r.owner WHERE x.follows IS NOT NULL)
      SELECT 1 FROM before b JOIN reminder_name n ON n.id = b.id JOIN reminder x ON x.key = n.key AND x.owner = r.owner
      WHERE EXISTS (SELECT 1 FROM due w WHERE w.reminder = x.key)
        OR EXISTS (SELECT 1 FROM occurrence w WHERE w.state <= 2 AND w.reminder = x.key))
    """
  }

  package static var recordJoins: SQLText {
    """
    ) p
    JOIN reminder r ON r.key = p.key
    JOIN reminder_name a ON a.key = r.key
    LEFT JOIN due d ON d.reminder = r.key AND d.snooze_of = -1
    LEFT JOIN occurrence o ON o.reminder = r.key
      AND o.scheduled_at = (SELECT max(x.latest) FROM (
        SELECT max(scheduled_at) AS latest FROM occurrence WHERE state <= 2 AND reminder = r.key
        UNION ALL SELECT max(scheduled_at) FROM occurrence WHERE state > 2 AND reminder = r.key) x)
    ORDER BY p.coming IS NULL, p.coming, a.id
    """
  }

  /// The maximum number of an owner's reminders that are sorted for a page. With more, the due times are scanned in order.
  private static var sortedAtMost: Int { 10_000 }

  /// Returns whether nearly all reminders match, so that a scan in the order of due times finds a page fastest.
  private func listsByDueTime(_ filter: ReminderFilter) throws -> Bool {
    guard filter.tag == nil, filter.text == nil, filter.titles == nil, filter.idPrefix == nil, !filter.expectationsOnly
    else { return false }
    guard let owner = filter.owner else { return true }
    return try connection.exists("SELECT 1 FROM reminder WHERE owner = $1 LIMIT 1 OFFSET $2", owner, Self.sortedAtMost)
  }

  // MARK: Listing by due time

  package func requireComing(_ filter: ReminderFilter, in query: inout ComposedQuery) {
    query.append(
      """
      FROM due d
      CROSS JOIN reminder r ON r.key = d.reminder
      CROSS JOIN reminder_name a ON a.key = d.reminder
      """)
    // Each reminder appears once, with the first of its due times.
    query.require(
      """
      NOT EXISTS (
        SELECT 1 FROM due x
        WHERE x.reminder = d.reminder AND (x.next_at, x.snooze_of) < (d.next_at, d.snooze_of))
      """)
    if let owner = filter.owner { query.require("r.owner = ?", owner) }
    if let from = filter.dueFrom { query.require("d.next_at >= ?", from) }
    if let before = filter.dueBefore { query.require("d.next_at < ?", before) }
    if let coming = filter.after?.coming, let id = filter.after?.id {
      // The first condition is for the index.
      query.require(
        """
        d.next_at >= ? AND (d.next_at, a.id) > (?, ?)
        """, coming, coming, id.rawValue)
    }
  }

  private func withoutTime(_ filter: ReminderFilter, limit: Int) throws -> [ReminderRecord] {
    var query = ComposedQuery(Self.recordColumns)
    query.append("SELECT r.key, CAST(NULL AS BIGINT) AS coming FROM reminder r JOIN reminder_name a ON a.key = r.key")
    query.require("NOT EXISTS (SELECT 1 FROM due x WHERE x.reminder = r.key)")
    if let owner = filter.owner { query.require("r.owner = ?", owner) }
    if let place = filter.after, place.coming == nil { query.require("a.id > ?", place.id.rawValue) }
    if !filter.includesFinished {
      query.require(
        """
        (r.key IN (SELECT x.reminder FROM occurrence x WHERE x.state <= 2)
          OR r.follows IS NOT NULL AND \(Self.awaitsOther))
        """)
    }
    query.append("ORDER BY a.id LIMIT ?", limit)
    query.append(Self.recordJoins)
    return try connection.all(query, row: record).compactMap { $0 }
  }

  // MARK: Listing by sorting

  private func sorted(_ filter: ReminderFilter, _ page: Page) throws -> [ReminderRecord] {
    // Only the reminders of the page are read completely.
    var query = ComposedQuery(Self.recordColumns)
    query.append(
      """
      SELECT r.key, r.coming FROM (
        SELECT r.key, a.id, r.owner, r.follows, (SELECT min(x.next_at) FROM due x WHERE x.reminder = r.key) AS coming
        FROM reminder r
        JOIN reminder_name a ON a.key = r.key
      """)
    if let titles = filter.titles { query.require("r.title", among: titles) }
    // Titles and expectations match few rows. The unary plus keeps SQLite from scanning all reminders of the owner.
    if let owner = filter.owner {
      if filter.titles != nil || filter.expectationsOnly {
        query.require("+r.owner = ?", owner)
      } else {
        query.require("r.owner = ?", owner)
      }
    }
    // The condition repeats that of the index, so that the planner uses it.
    if filter.expectationsOnly { query.require("instr(r.definition, '\"within\":') > 0") }
    if let prefix = filter.idPrefix {
      query.require("a.id >= ?", prefix)
      // Ids with the prefix sort before the prefix followed by the last code point.
      query.require("a.id < ?", prefix + "\u{10FFFF}")
    }
    if let tag = filter.tag {
      query.require("EXISTS (SELECT 1 FROM \(Self.tags) WHERE t.value = ?)", tag)
    }
    if let text = filter.text.map(Self.lowered) {
      // instr, unlike LIKE, needs no escaping and has no limit on the length.
      query.require(
        """
        (instr(lower(r.title), ?) > 0 OR instr(lower(a.id), ?) > 0 OR EXISTS (
          SELECT 1 FROM \(Self.tags) WHERE instr(lower(t.value), ?) > 0))
        """, text, text, text)
    }
    query.append(") r")
    query.beginConditions()
    if let from = filter.dueFrom { query.require("r.coming >= ?", from) }
    if let before = filter.dueBefore { query.require("r.coming < ?", before) }
    if let coming = filter.after?.coming, let id = filter.after?.id {
      query.require(
        """
        (r.coming IS NULL OR (r.coming, r.id) > (?, ?))
        """, coming, id.rawValue)
    } else if let place = filter.after {
      query.require("r.coming IS NULL")
      query.require("r.id > ?", place.id.rawValue)
    }
    if !filter.includesFinished {
      query.require(
        """
        (r.coming IS NOT NULL OR EXISTS (
          SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key)
          OR r.follows IS NOT NULL AND \(Self.awaitsOther))
        """)
    }
    query.append("ORDER BY r.coming IS NULL, r.coming, r.id LIMIT ?", page.limit)
    query.append(Self.recordJoins)
    return try connection.all(query, row: record).compactMap { $0 }
  }

  /// Lowercases ASCII letters only, like `lower` of both engines.
  static func lowered(_ text: String) -> String {
    String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
