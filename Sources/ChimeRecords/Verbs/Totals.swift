package import ChimeCore
package import ChimeSchedule
package import ChimeTracking

// Totals that are derived from entries.
extension SQLTransaction {
  package func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal? {
    guard let tracker = try nameKey(of: key) else { return nil }
    return try connection.first(
      """
      SELECT day, count, total, least, most, last, first_at, last_at, first_minute, last_minute, met, goal
      FROM day_total WHERE tracker = $1 AND day = $2
      """, tracker, day
    ) { $0.dayTotal(reader) }
  }

  package func dayTotals(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [DayTotal] {
    guard let tracker = try nameKey(of: key) else { return [] }
    return try connection.all(
      """
      SELECT day, count, total, least, most, last, first_at, last_at, first_minute, last_minute, met, goal
      FROM day_total WHERE tracker = $1 AND day BETWEEN $2 AND $3
      ORDER BY day
      """, tracker, days.lowerBound, days.upperBound
    ) { $0.dayTotal(reader) }
  }

  package func setDayTotal(_ total: DayTotal?, on day: CivilDate, of key: TrackerKey) throws {
    try requireWriting()
    guard let total else {
      guard let tracker = try nameKey(of: key) else { return }
      return try connection.run("DELETE FROM day_total WHERE tracker = $1 AND day = $2", tracker, day)
    }
    try connection.run(
      """
      INSERT INTO day_total (
        tracker, day, count, total, least, most, last, first_at, last_at, first_minute, last_minute, met, goal)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      ON CONFLICT (tracker, day) DO UPDATE SET
        count = excluded.count, total = excluded.total, least = excluded.least, most = excluded.most,
        last = excluded.last, first_at = excluded.first_at, last_at = excluded.last_at,
        first_minute = excluded.first_minute, last_minute = excluded.last_minute, met = excluded.met,
        goal = excluded.goal
      """, try present(key), day, total.count, total.total, total.least, total.most, total.last, total.firstAt,
      total.lastAt, total.firstMinute, total.lastMinute, total.isMet ? 1 : 0,
      try total.goal.map { try reader.text(GoalForm(of: $0)) })
  }

  package func summary(of key: TrackerKey) throws -> TrackerSummary? {
    guard let tracker = try nameKey(of: key) else { return nil }
    let text = try connection.first("SELECT content FROM tracker_summary WHERE tracker = $1", tracker) { $0.text(0) }
    // A summary of another version is recomputed, as if it did not exist.
    return text.flatMap { try? reader.summary($0) }
  }

  package func setSummary(_ summary: TrackerSummary?, of key: TrackerKey) throws {
    try requireWriting()
    guard let summary else {
      guard let tracker = try nameKey(of: key) else { return }
      return try connection.run("DELETE FROM tracker_summary WHERE tracker = $1", tracker)
    }
    try connection.run(
      """
      INSERT INTO tracker_summary (tracker, content) VALUES ($1, $2)
      ON CONFLICT (tracker) DO UPDATE SET content = excluded.content
      """, try present(key), try reader.text(summary))
  }

  package func itemCounts(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [ItemCount] {
    guard let tracker = try nameKey(of: key) else { return [] }
    func count(_ row: Connection.Row) -> ItemCount {
      ItemCount(item: ItemID(rawValue: row.text(0)), count: row.int(1), lastDay: row.day(2))
    }
    guard let days else {
      return try connection.all(
        """
        SELECT n.id, t.count, (SELECT max(d.day) FROM item_day d WHERE d.tracker = t.tracker AND d.item = t.item)
        FROM item_total t JOIN item_name n ON n.key = t.item
        WHERE t.tracker = $1
        ORDER BY t.count DESC, n.id
        """, tracker, row: count)
    }
    return try connection.all(
      """
      SELECT n.id, d.times, d.last
      FROM (
        SELECT item, CAST(sum(count) AS BIGINT) AS times, max(day) AS last FROM item_day INDEXED BY item_day_day
        WHERE tracker = $1 AND day BETWEEN $2 AND $3
        GROUP BY item) d
      JOIN item_name n ON n.key = d.item
      ORDER BY d.times DESC, n.id
      """, tracker, days.lowerBound, days.upperBound, row: count)
  }

  package func itemCount(of item: ItemID, key: TrackerKey) throws -> Int {
    guard let tracker = try nameKey(of: key), let item = try nameKey(of: item, tracker: tracker) else { return 0 }
    return try connection.first("SELECT count FROM item_total WHERE tracker = $1 AND item = $2", tracker, item) {
      $0.int(0)
    } ?? 0
  }

  package func itemDays(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [ItemDay] {
    guard let tracker = try nameKey(of: key) else { return [] }
    return try connection.all(
      """
      SELECT d.day, n.id, d.count FROM item_day d INDEXED BY item_day_day
      JOIN item_name n ON n.key = d.item
      WHERE d.tracker = $1 AND d.day BETWEEN $2 AND $3
      ORDER BY d.day, d.count DESC, n.id
      """, tracker, days.lowerBound, days.upperBound
    ) { ItemDay(day: $0.day(0), item: ItemID(rawValue: $0.text(1)), count: $0.int(2)) }
  }
}
