package import ChimeCore
import ChimeSchedule
import ChimeTracking

// Listings of reminders. However many there are, a page of those that come first costs no more than a page.
extension SQLTransaction {
  package func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord] {
    unreadable = []
    guard try listsByDueTime(filter) else { return try sorted(filter, page) }
    var found = try coming(filter, page)
    var taken = found.count + unreadable.count
    // Those without any time to come stand last.
    guard taken < page.limit, filter.dueFrom == nil, filter.dueBefore == nil else { return found }
    // Where the first of them stands is how many have a time: a page that begins behind those has to count them.
    let first = taken > 0 || page.offset == 0 ? page.offset + taken : try comingCount(filter)
    taken = page.limit - taken
    found += try withoutTime(filter, Page(limit: taken, offset: max(0, page.offset - first)))
    return found
  }

  package func reminderIDs(_ selection: ReminderSelection, after last: ReminderID?, limit: Int) throws -> [ReminderID] {
    // The name of a removed reminder stays known.
    let place = try last.flatMap { try key(of: $0) } ?? 0
    var query = ComposedQuery("SELECT a.id FROM reminder r CROSS JOIN alias a ON a.key = r.key")
    query.require("r.key > ?", place)
    switch selection {
    case .all: break
    case .zone(let zone): query.require("r.zone = ?", zone.text)
    // The index of these is named by the very words of its condition.
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

  /// The columns of `record`, for the reminders that the condition between the two names by `p.key` and `p.coming`.
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

  /// Whether reminder `r`, which counts from another, may still get a time from there: that one, or the one that it counts
  /// from itself, has a time to come or an open occurrence.
  package static var awaitsOther: SQLText {
    """
    EXISTS (
      WITH RECURSIVE before (id) AS (
        SELECT r.follows
        UNION SELECT x.follows FROM before b JOIN alias n ON n.id = b.id
          JOIN reminder x ON x.key = n.key AND x.owner = r.owner WHERE x.follows IS NOT NULL)
      SELECT 1 FROM before b JOIN alias n ON n.id = b.id JOIN reminder x ON x.key = n.key AND x.owner = r.owner
      WHERE EXISTS (SELECT 1 FROM due w WHERE w.reminder = x.key)
        OR EXISTS (SELECT 1 FROM occurrence w WHERE w.state <= 2 AND w.reminder = x.key))
    """
  }

  package static var recordJoins: SQLText {
    """
    ) p
    JOIN reminder r ON r.key = p.key
    JOIN alias a ON a.key = r.key
    LEFT JOIN due d ON d.reminder = r.key AND d.snooze_of = -1
    LEFT JOIN occurrence o ON o.reminder = r.key
      AND o.scheduled_at = (SELECT max(x.latest) FROM (
        SELECT max(scheduled_at) AS latest FROM occurrence WHERE state <= 2 AND reminder = r.key
        UNION ALL SELECT max(scheduled_at) FROM occurrence WHERE state > 2 AND reminder = r.key) x)
    ORDER BY p.coming IS NULL, p.coming, a.id
    """
  }

  /// The most reminders of an owner that are sorted for a page; for more, due times are gone through in their order.
  private static var sortedAtMost: Int { 10_000 }

  /// Whether nearly all reminders fit, so that the first of them are found soonest in the order of their due times.
  private func listsByDueTime(_ filter: ReminderFilter) throws -> Bool {
    guard filter.tag == nil, filter.text == nil, filter.title == nil, filter.idPrefix == nil, !filter.expectationsOnly
    else { return false }
    guard let owner = filter.owner else { return true }
    return try connection.first(
      "SELECT 1 FROM reminder WHERE owner = $1 LIMIT 1 OFFSET $2", owner, Self.sortedAtMost, row: { _ in true })
      ?? false
  }

  // MARK: In the order of due times

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
      CROSS JOIN alias a ON a.key = d.reminder
      """)
    // Each reminder once, by the first of its due times.
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
    query.append("SELECT r.key, CAST(NULL AS BIGINT) AS coming FROM reminder r JOIN alias a ON a.key = r.key")
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

  // MARK: Sorted

  private func sorted(_ filter: ReminderFilter, _ page: Page) throws -> [ReminderRecord] {
    // Only what is on the page is read in full.
    var query = ComposedQuery(Self.recordColumns)
    query.append(
      """
      SELECT r.key, r.coming FROM (
        SELECT r.key, a.id, r.owner, r.follows, (SELECT min(x.next_at) FROM due x WHERE x.reminder = r.key) AS coming
        FROM reminder r
        JOIN alias a ON a.key = r.key
      """)
    if let title = filter.title { query.require("r.title = ?", title) }
    // Of one title there are few, and of expectations too: without the sign SQLite may go through all that the owner has.
    if let owner = filter.owner {
      if filter.title != nil || filter.expectationsOnly {
        query.require("+r.owner = ?", owner)
      } else {
        query.require("r.owner = ?", owner)
      }
    }
    // The index of these is named by the very words of its condition.
    if filter.expectationsOnly { query.require("instr(r.definition, '\"within\":') > 0") }
    if let prefix = filter.idPrefix {
      query.require("a.id >= ?", prefix)
      // The ids that begin with it end before the prefix followed by the last character there is.
      query.require("a.id < ?", prefix + "\u{10FFFF}")
    }
    if let tag = filter.tag {
      query.require("EXISTS (SELECT 1 FROM \(Self.tags) WHERE t.value = ?)", tag)
    }
    if let text = filter.text.map(Self.lowered) {
      // instr, not LIKE: the text is no pattern, so it has nothing to escape and may have any length.
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

  /// As `lower` of both engines does it: the letters of ASCII alone.
  package static func lowered(_ text: String) -> String {
    String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
