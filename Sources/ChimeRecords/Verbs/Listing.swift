package import ChimeCore
import ChimeSchedule
import ChimeTracking

// Listings of reminders. The first page costs the same, however many reminders there are.
extension SQLTransaction {
  package func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord] {
    unreadable = []
    guard try listsByDueTime(filter) else { return try sorted(filter, page) }
    var found = try coming(filter, page)
    var taken = found.count + unreadable.count
    // Reminders without a due time come last.
    guard taken < page.limit, filter.dueFrom == nil, filter.dueBefore == nil else { return found }
    // The first of them comes after all reminders with a due time. A page that begins behind those has to count them.
    let first = taken > 0 || page.offset == 0 ? page.offset + taken : try comingCount(filter)
    taken = page.limit - taken
    found += try withoutTime(filter, Page(limit: taken, offset: max(0, page.offset - first)))
    return found
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
      a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at, o.delivered_at, o.ended_at, o.snoozed_until,
      o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats, o.repeat_at, o.answered_by,
      CASE WHEN r.follows IS NULL THEN 0 WHEN \(awaitsOther) THEN 1 ELSE 0 END,
      r.down_since
    FROM (
    """
  }

  /// Whether reminder `r`, which counts from another one, may still get a time: a reminder in its chain has a due time or
  /// an open occurrence.
  package static var awaitsOther: SQLText {
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
    guard filter.tag == nil, filter.text == nil, filter.title == nil, filter.idPrefix == nil, !filter.expectationsOnly
    else { return false }
    guard let owner = filter.owner else { return true }
    return try connection.first(
      "SELECT 1 FROM reminder WHERE owner = $1 LIMIT 1 OFFSET $2", owner, Self.sortedAtMost, row: { _ in true })
      ?? false
  }

  // MARK: Listing by due time

  private func comingCount(_ filter: ReminderFilter) throws -> Int {
    var query = ComposedQuery("SELECT count(*)")
    requireComing(filter, in: &query)
    return try connection.all(query) { $0.int(0) }.first ?? 0
  }

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
  }

  private func withoutTime(_ filter: ReminderFilter, _ page: Page) throws -> [ReminderRecord] {
    var query = ComposedQuery(Self.recordColumns)
    query.append("SELECT r.key, CAST(NULL AS BIGINT) AS coming FROM reminder r JOIN reminder_name a ON a.key = r.key")
    query.require("NOT EXISTS (SELECT 1 FROM due x WHERE x.reminder = r.key)")
    if let owner = filter.owner { query.require("r.owner = ?", owner) }
    if !filter.includesFinished {
      query.require(
        """
        (r.key IN (SELECT x.reminder FROM occurrence x WHERE x.state <= 2)
          OR r.follows IS NOT NULL AND \(Self.awaitsOther))
        """)
    }
    query.append("ORDER BY a.id LIMIT ? OFFSET ?", page.limit, page.offset)
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
    if let title = filter.title { query.require("r.title = ?", title) }
    // A title and expectations match few rows. The unary plus keeps SQLite from scanning all reminders of the owner.
    if let owner = filter.owner {
      if filter.title != nil || filter.expectationsOnly {
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
    if !filter.includesFinished {
      query.require(
        """
        (r.coming IS NOT NULL OR EXISTS (
          SELECT 1 FROM occurrence x WHERE x.state <= 2 AND x.reminder = r.key)
          OR r.follows IS NOT NULL AND \(Self.awaitsOther))
        """)
    }
    query.append("ORDER BY r.coming IS NULL, r.coming, r.id LIMIT ? OFFSET ?", page.limit, page.offset)
    query.append(Self.recordJoins)
    return try connection.all(query, row: record).compactMap { $0 }
  }

  /// Lowercases ASCII letters only, like `lower` of both engines.
  package static func lowered(_ text: String) -> String {
    String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
