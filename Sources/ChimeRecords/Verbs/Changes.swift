package import ChimeCore
package import ChimeSchedule
import ChimeTracking

extension SQLTransaction {
  package func begin(_ change: TrackingChange) throws -> Int64 {
    try requireWriting()
    let key = try connection.makeKey(
      Self.beginChange, change.owner, change.at, change.kind.rawValue, change.tracker?.rawValue, change.subject)
    memory.change = (key, change.owner)
    return key
  }

  package func setDetail(_ detail: String, of change: Int64) throws {
    try requireWriting()
    try connection.run("UPDATE change SET detail = $1 WHERE key = $2", detail, change)
  }

  package func detail(of change: Int64) throws -> String? {
    try connection.first("SELECT detail FROM change WHERE key = $1", change) { $0.optionalText(0) } ?? nil
  }

  /// Returns the change to which writes for this owner belong.
  package func change(of owner: UInt32) -> Int64? { memory.change.flatMap { $0.owner == owner ? $0.key : nil } }

  package func lastChange(owner: UInt32, since: Instant) throws -> TrackingChange? {
    try changes(owner: owner, since: since, limit: 1).first
  }

  package func changes(owner: UInt32, since: Instant, limit: Int) throws -> [TrackingChange] {
    let latest = try connection.all(
      "SELECT key, owner, at, kind, tracker, subject FROM change WHERE owner = $1 ORDER BY key DESC LIMIT $2", owner,
      limit
    ) { row in
      TrackingChange(
        // A kind of a later version is shown as an edit.
        id: row.int64(0), owner: row.uint32(1), at: row.instant(2), kind: .init(rawValue: row.text(3)) ?? .edited,
        tracker: row.optionalText(4).map { TrackerID(rawValue: $0) }, subject: row.text(5))
    }
    // A change can only be undone after all later ones.
    return Array(latest.prefix { $0.at >= since })
  }

  package func takeBack(_ change: Int64) throws -> [TrackerKey: Set<CivilDate>] {
    try requireWriting()
    let owner = try connection.first("SELECT owner FROM change WHERE key = $1", change) { $0.uint32(0) }
    guard let owner else { throw StoreFailure.internalError("there is no change \(change) to undo") }
    let last = try connection.first("SELECT max(key) FROM change WHERE owner = $1", owner) { $0.int64(0) }
    guard last == change else {
      throw StoreFailure.internalError("change \(change) is not the latest: undo the later ones first")
    }
    let isExchange = try takeExchangeBack(change, of: owner)
    let touched = try isExchange ? [:] : trackers(touchedBy: change)
    for table in VersionedTable.all where !isExchange {
      for step in [table.deleteCreated, table.revive, table.clear, table.restore, table.drop] {
        try connection.run(ComposedQuery(step, change))
      }
    }
    try dropStrays(of: owner)
    try connection.run("DELETE FROM change WHERE key = $1", change)
    if memory.change?.key == change { memory.change = nil }
    return touched
  }

  /// Returns the trackers whose definition or entries a change touched, with the days of those entries before and after
  /// it. Rows that the change both created and removed are ignored. If it moved an entry before it removed it, the row
  /// has the new place, which is ignored, and `entry_history` has the old one.
  private func trackers(touchedBy change: Int64) throws -> [TrackerKey: Set<CivilDate>] {
    let rows = try connection.all(
      """
      SELECT n.owner, n.id, t.day
      FROM (
        SELECT tracker, day FROM entry
        WHERE key > (SELECT after_entry FROM change WHERE key = $1) AND created_by = $1 AND deleted_by IS NULL
        UNION SELECT e.tracker, e.day FROM entry e WHERE e.deleted_by = $1 AND e.created_by IS DISTINCT FROM $1
          AND NOT EXISTS (SELECT 1 FROM entry_history b WHERE b.change = $1 AND b.key = e.key)
        UNION SELECT tracker, day FROM entry_history WHERE change = $1
        UNION SELECT e.tracker, e.day FROM entry_history b CROSS JOIN entry e ON e.key = b.key
          WHERE b.change = $1 AND e.deleted_by IS NULL
        UNION SELECT key, NULL FROM tracker WHERE created_by = $1 AND deleted_by IS NULL
        UNION SELECT key, NULL FROM tracker WHERE deleted_by = $1 AND created_by IS DISTINCT FROM $1
        UNION SELECT key, NULL FROM tracker_history WHERE change = $1) t
      JOIN tracker_name n ON n.key = t.tracker
      """, change
    ) { (key: TrackerKey(owner: $0.uint32(0), id: TrackerID(rawValue: $0.text(1))), day: $0.optionalDay(2)) }
    return rows.reduce(into: [:]) { touched, row in
      touched[row.key, default: []].formUnion(row.day.map { [$0] } ?? [])
    }
  }

  /// Deletes what belongs to trackers that no longer exist.
  private func dropStrays(of owner: UInt32) throws {
    let missing = try connection.all(
      """
      SELECT n.key FROM tracker_name n
      WHERE n.owner = $1 AND NOT EXISTS (SELECT 1 FROM tracker t WHERE t.key = n.key AND t.deleted_by IS NULL)
      """, owner
    ) { $0.int64(0) }
    for tracker in missing {
      try connection.run("DELETE FROM entry WHERE tracker = $1 AND deleted_by IS NULL", tracker)
      try connection.run(
        "DELETE FROM item WHERE deleted_by IS NULL AND key IN (SELECT key FROM item_name WHERE tracker = $1)", tracker)
      try connection.run("DELETE FROM milestone WHERE tracker = $1 AND deleted_by IS NULL", tracker)
      try dropTotals(of: tracker)
    }
  }

  package func dropTotals(of tracker: Int64) throws {
    try connection.run("DELETE FROM day_total WHERE tracker = $1", tracker)
    try connection.run("DELETE FROM tracker_summary WHERE tracker = $1", tracker)
  }

  // MARK: Forgetting changes

  package func forgetChanges(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    var left = limit
    // Changes are forgotten in order, because a change may have replaced what an earlier one created.
    while let change = try oldestChange(before: before) {
      for table in VersionedTable.all {
        for step in [table.purgeDeleted, table.forgetReplaced] {
          guard left > 0 else { return true }
          try connection.run(ComposedQuery(step, change, left))
          left -= connection.changes
        }
      }
      guard left > 0 else { return true }
      try abandonStagingOwner(of: change)
      try connection.run("DELETE FROM change WHERE key = $1", change)
      left -= 1
    }
    return false
  }

  /// Returns an expired change that is the oldest of its owner.
  private func oldestChange(before: Instant) throws -> Int64? {
    try connection.first(
      """
      SELECT c.key FROM change c
      WHERE c.at < $1 AND NOT EXISTS (SELECT 1 FROM change e WHERE e.owner = c.owner AND e.key < c.key)
      LIMIT 1
      """, before
    ) { $0.int64(0) }
  }
}
