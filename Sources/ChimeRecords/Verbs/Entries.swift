package import ChimeCore
package import ChimeSchedule
package import ChimeTracking

extension SQLTransaction {
  package func insert(_ entry: Entry) throws -> Entry {
    try requireWriting()
    var made = entry
    made.id = EntryID(
      rawValue: try VersionedTable.entry.create(columns(of: entry), for: change(of: entry.owner), on: connection))
    return made
  }

  package func update(_ entry: Entry) throws {
    try requireWriting()
    guard try self.entry(entry.id, owner: entry.owner) != nil else {
      throw StoreFailure.internalError("there is no entry \(entry.id) to update")
    }
    try VersionedTable.entry.put(
      entry.id.rawValue, columns(of: entry), for: change(of: entry.owner), on: connection)
  }

  private func columns(of entry: Entry) throws -> [any SQLValue] {
    let tracker = try present(entry.key)
    let item = try entry.item.map { try nameKeyMaking($0, tracker: tracker) }
    let fields = entry.fields.isEmpty ? nil : try reader.text(entry.fields)
    return [
      tracker, entry.at, entry.day, entry.minute, entry.quantity, item, fields, entry.photo, entry.note,
      entry.note == nil ? 0 : 1,
    ]
  }

  package func removeEntry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    try requireWriting()
    guard let found = try entry(id, owner: owner) else { return nil }
    try VersionedTable.entry.remove(id.rawValue, for: change(of: owner), on: connection)
    return found
  }

  package func removeEntries(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> Int {
    try requireWriting()
    guard let tracker = try nameKey(of: key) else { return 0 }
    return try VersionedTable.entry.remove(
      where: "tracker = ? AND day BETWEEN ? AND ?", tracker, days?.lowerBound ?? .earliest,
      days?.upperBound ?? .latest, for: change(of: key.owner), on: connection)
  }

  package func entry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    try connection.first(
      """
      SELECT e.key, n.owner, n.id, e.at, e.day, e.minute, e.quantity, i.id, e.fields, e.photo, e.note
      FROM entry e
      JOIN tracker_name n ON n.key = e.tracker
      LEFT JOIN item_name i ON i.key = e.item
      WHERE e.key = $1 AND n.owner = $2 AND e.deleted_by IS NULL
      """, id.rawValue, owner
    ) { $0.entry(reader) }
  }

  package func entries(of key: TrackerKey, on day: CivilDate) throws -> [Entry] {
    guard let tracker = try nameKey(of: key) else { return [] }
    return try connection.all(
      """
      SELECT e.key, n.owner, n.id, e.at, e.day, e.minute, e.quantity, i.id, e.fields, e.photo, e.note
      FROM entry e INDEXED BY entry_day
      JOIN tracker_name n ON n.key = e.tracker
      LEFT JOIN item_name i ON i.key = e.item
      WHERE e.tracker = $1 AND e.day = $2 AND e.deleted_by IS NULL
      ORDER BY e.at, e.key
      """, tracker, day
    ) { $0.entry(reader) }
  }

  // Listings: an index that suits the filter finds each tracker's entries, and only the page is read completely.

  package func entries(_ filter: EntryFilter, page: Page, offset: Int) throws -> [Entry] {
    let trackers = try trackers(of: filter)
    let isOne = trackers.count == 1
    var found: [(at: Int64, key: Int64)] = []
    for tracker in trackers {
      guard var query = try selection("SELECT e.at, e.key", filter, tracker: tracker) else { continue }
      // With several trackers, each may fill the whole page.
      query.append(
        "ORDER BY e.at DESC, e.key DESC LIMIT ? OFFSET ?", isOne ? page.limit : page.limit + offset, isOne ? offset : 0)
      found += try connection.all(query) { ($0.int64(0), $0.int64(1)) }
    }
    if !isOne {
      found.sort { $0 > $1 }
      found = Array(found.dropFirst(offset).prefix(page.limit))
    }
    return try found.compactMap { try entry(EntryID(rawValue: $0.key), owner: filter.owner) }
  }

  package func entryCount(_ filter: EntryFilter) throws -> Int {
    try trackers(of: filter).reduce(0) { sum, tracker in
      guard let query = try selection("SELECT count(*)", filter, tracker: tracker) else { return sum }
      return sum + (try connection.all(query) { $0.int(0) }.first ?? 0)
    }
  }

  package func entryDays(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [CivilDate] {
    guard let tracker = try nameKey(of: key) else { return [] }
    // The recursion steps from day to day in the index: one step per day, regardless of the number of entries.
    return try connection.all(
      """
      WITH RECURSIVE found (day) AS (
        SELECT min(day) FROM entry INDEXED BY entry_day WHERE tracker = $1 AND deleted_by IS NULL AND day >= $2
        UNION ALL
        SELECT (
          SELECT min(e.day) FROM entry e INDEXED BY entry_day
          WHERE e.tracker = $1 AND e.deleted_by IS NULL AND e.day > found.day)
        FROM found WHERE found.day IS NOT NULL)
      SELECT day FROM found WHERE day <= $3
      """, tracker, days?.lowerBound ?? .earliest, days?.upperBound ?? .latest
    ) { $0.day(0) }
  }

  private func trackers(of filter: EntryFilter) throws -> [Int64] {
    if let tracker = filter.tracker {
      return try nameKey(of: TrackerKey(owner: filter.owner, id: tracker)).map { [$0] } ?? []
    }
    return try connection.all("SELECT key FROM tracker_name WHERE owner = $1", filter.owner) { $0.int64(0) }
  }

  /// Returns the query for a tracker's entries; nil if none can match.
  private func selection(
    _ columns: SQLText, _ filter: EntryFilter, tracker: Int64
  ) throws -> ComposedQuery? {
    var query = ComposedQuery(columns)
    var item: Int64?
    if let wanted = filter.item {
      item = try nameKey(of: wanted, tracker: tracker)
      if item == nil { return nil }
    }
    let isNoted = filter.hasNote || filter.text != nil
    if filter.hasMilestone {
      query.append(
        """
        FROM (SELECT DISTINCT day FROM milestone WHERE tracker = ? AND deleted_by IS NULL) m
        CROSS JOIN entry e INDEXED BY entry_day ON e.tracker = ? AND e.day = m.day
        """, tracker, tracker)
    } else if item != nil {
      query.append("FROM entry e INDEXED BY entry_item")
    } else if isNoted {
      query.append("FROM entry e INDEXED BY entry_note")
    } else if filter.days != nil {
      query.append("FROM entry e INDEXED BY entry_day")
    } else {
      query.append("FROM entry e INDEXED BY entry_at")
    }
    query.require("e.deleted_by IS NULL")
    // An item belongs to one tracker, and the index on items has no tracker column.
    if let item { query.require("e.item = ?", item) } else { query.require("e.tracker = ?", tracker) }
    if isNoted { query.require("e.has_note = 1") }
    if let days = filter.days { query.require("e.day BETWEEN ? AND ?", days.lowerBound, days.upperBound) }
    // Bit 0 is Monday, and day 0 was a Thursday.
    if let weekdays = filter.weekdays {
      query.require("(? >> CAST((e.day + 3) % 7 AS INTEGER)) & 1 = 1", Int(weekdays.rawValue))
    }
    if let text = filter.text { query.require("instr(lower(e.note), ?) > 0", Self.lowered(text)) }
    return query
  }
}

// Totals that are derived from entries.
extension SQLTransaction {
  package func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal? {
    try dayTotals(of: key, in: day...day).first
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
    try connection.put(
      "day_total", key: "tracker, day",
      "count, total, least, most, last, first_at, last_at, first_minute, last_minute, met, goal",
      try present(key), day, total.count, total.total, total.least, total.most, total.last, total.firstAt,
      total.lastAt, total.firstMinute, total.lastMinute, total.isMet ? 1 : 0,
      try total.goal.map { try reader.text($0) })
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
    try connection.put("tracker_summary", key: "tracker", "content", try present(key), try reader.text(summary))
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
