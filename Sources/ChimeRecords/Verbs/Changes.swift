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
  func change(of owner: UInt32) -> Int64? { memory.change.flatMap { $0.owner == owner ? $0.key : nil } }

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
    for table in VersionedTable.all where !isExchange { try table.takeBack(change, on: connection) }
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
    for tracker in missing { try dropContents(of: tracker) }
  }

  // MARK: Forgetting changes

  package func forgetChanges(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    var left = limit
    // Changes are forgotten in order, because a change may have replaced what an earlier one created.
    while let change = try oldestChange(before: before) {
      for table in VersionedTable.all { try table.purge(change, &left, on: connection) }
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

// Staging owners (table `staging_owner`): data that will replace an owner's data, and data that was replaced.
extension SQLTransaction {
  package func makeStagingOwner(for owner: UInt32, now: Instant) throws -> UInt32 {
    try requireWriting()
    let free = try connection.first(
      """
      SELECT n FROM (SELECT $1 AS n UNION ALL SELECT number + 1 FROM staging_owner) f
      WHERE NOT EXISTS (SELECT 1 FROM staging_owner s WHERE s.number = f.n) ORDER BY n LIMIT 1
      """, StagingOwners.first
    ) { $0.int64(0) }
    guard let stagingOwner = free.flatMap({ UInt32(exactly: $0) }), stagingOwner < UInt32.max else {
      throw StoreFailure.internalError("there is no room for another restore")
    }
    try connection.run("INSERT INTO staging_owner (number, owner, at) VALUES ($1, $2, $3)", stagingOwner, owner, now)
    return stagingOwner
  }

  package func touchStagingOwner(_ stagingOwner: UInt32, now: Instant) throws -> Bool {
    try requireWriting()
    try connection.run(
      "UPDATE staging_owner SET at = $1 WHERE number = $2 AND change IS NULL AND at > 0", now, stagingOwner)
    return connection.changes > 0
  }

  package func exchange(_ change: TrackingChange, with stagingOwner: UInt32) throws -> Int64 {
    let key = try begin(change)
    memory.change = nil
    try connection.run(
      "UPDATE staging_owner SET change = $1 WHERE number = $2 AND owner = $3 AND change IS NULL AND at > 0", key,
      stagingOwner, change.owner)
    guard connection.changes > 0 else {
      throw StoreFailure.internalError("there is no staging owner \(stagingOwner) to exchange")
    }
    try swapNames(change.owner, stagingOwner)
    return key
  }

  package func abandonStagingOwner(_ stagingOwner: UInt32) throws {
    try requireWriting()
    try connection.run("UPDATE staging_owner SET at = 0 WHERE number = $1 AND change IS NULL", stagingOwner)
  }

  /// Releases the data that a change replaced, when the change is forgotten.
  private func abandonStagingOwner(of change: Int64) throws {
    try connection.run("UPDATE staging_owner SET change = NULL, at = 0 WHERE change = $1", change)
  }

  /// Undoes an exchange, and returns whether the change was one.
  private func takeExchangeBack(_ change: Int64, of owner: UInt32) throws -> Bool {
    guard
      let stagingOwner = try connection.first(
        "SELECT number FROM staging_owner WHERE change = $1", change, row: { $0.uint32(0) })
    else { return false }
    try swapNames(owner, stagingOwner)
    try abandonStagingOwner(of: change)
    return true
  }

  /// Exchanges the owners of all names. All data refers to names, so the cost depends on the number of names only.
  private func swapNames(_ owner: UInt32, _ stagingOwner: UInt32) throws {
    // Names are unique for an owner, so one half moves to temporary owners first.
    for table in ["tracker_name", "pack_name"] as [SQLText] {
      try connection.run(
        ComposedQuery("UPDATE \(table) SET owner = -1 - $2 WHERE owner = $1", owner, stagingOwner))
      try connection.run(ComposedQuery("UPDATE \(table) SET owner = $1 WHERE owner = $2", owner, stagingOwner))
      try connection.run(ComposedQuery("UPDATE \(table) SET owner = $1 WHERE owner = -1 - $1", stagingOwner))
    }
    memory.trackerKeys.removeAll(keepingCapacity: true)
  }

  package func clearStagingOwners(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    // What is removed in part must not be filled again.
    try connection.run("UPDATE staging_owner SET at = 0 WHERE change IS NULL AND at > 0 AND at < $1", before)
    var left = limit
    while let stagingOwner = try connection.first(
      "SELECT number FROM staging_owner WHERE change IS NULL AND at = 0 ORDER BY number LIMIT 1",
      row: { $0.uint32(0) })
    {
      for step in Self.clearSteps {
        guard left > 0 else { return true }
        try connection.run(ComposedQuery(step, stagingOwner, left))
        left -= connection.changes
      }
      guard left > 0 else { return true }
      try connection.run("DELETE FROM staging_owner WHERE number = $1", stagingOwner)
      left -= 1
    }
    return false
  }

  /// Statements that clear a staging owner. Each takes the number and the maximum number of rows. Names stay and are
  /// reused by the next data there.
  private static var clearSteps: [SQLText] {
    func step(
      _ table: SQLText, key: SQLText = "key", of names: SQLText = "FROM tracker_name n", on condition: SQLText
    ) -> SQLText {
      """
      DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM (
        SELECT x.* \(names) CROSS JOIN \(table) x ON \(condition) WHERE n.owner = $1 LIMIT $2) d)
      """
    }
    return [
      step("entry", on: "x.tracker = n.key AND x.deleted_by IS NULL"),
      step("milestone", on: "x.tracker = n.key AND x.deleted_by IS NULL"),
      step("item", of: "FROM tracker_name n CROSS JOIN item_name i ON i.tracker = n.key", on: "x.key = i.key"),
      step("day_total", key: "tracker, day", on: "x.tracker = n.key"),
      step("tracker_summary", key: "tracker", on: "x.tracker = n.key"),
      step("tracker", on: "x.key = n.key"),
      step("pack", of: "FROM pack_name n", on: "x.key = n.key"),
      step("achievement", key: "pack, id", of: "FROM pack_name n", on: "x.pack = n.key"),
      step("experience", key: "pack", of: "FROM pack_name n", on: "x.pack = n.key"),
    ]
  }
}
