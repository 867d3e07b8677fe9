package import ChimeCore
package import ChimeSchedule
import ChimeTracking

// Staging owners (table `shelf`): data that will replace an owner's data, and data that was replaced.
extension SQLTransaction {
  package func makeStagingOwner(for owner: UInt32, now: Instant) throws -> UInt32 {
    try requireWriting()
    let free = try connection.first(
      """
      SELECT n FROM (SELECT $1 AS n UNION ALL SELECT number + 1 FROM staging_owner) f
      WHERE NOT EXISTS (SELECT 1 FROM staging_owner s WHERE s.number = f.n) ORDER BY n LIMIT 1
      """, StagingOwners.first
    ) { $0.int64(0) }
    guard let shelf = free.flatMap({ UInt32(exactly: $0) }), shelf < UInt32.max else {
      throw StoreFailure.internalError("there is no room for another restore")
    }
    try connection.run("INSERT INTO staging_owner (number, owner, at) VALUES ($1, $2, $3)", shelf, owner, now)
    return shelf
  }

  package func touchStagingOwner(_ shelf: UInt32, now: Instant) throws {
    try requireWriting()
    try connection.run("UPDATE staging_owner SET at = $1 WHERE number = $2 AND change IS NULL", now, shelf)
    guard connection.changes > 0 else { throw StoreFailure.internalError("there is no shelf \(shelf) to fill") }
  }

  package func exchange(_ change: TrackingChange, with shelf: UInt32) throws -> Int64 {
    let key = try begin(change)
    memory.change = nil
    try connection.run(
      "UPDATE staging_owner SET change = $1 WHERE number = $2 AND owner = $3 AND change IS NULL", key, shelf,
      change.owner)
    guard connection.changes > 0 else {
      throw StoreFailure.internalError("there is no shelf \(shelf) to exchange")
    }
    try swapNames(change.owner, shelf)
    return key
  }

  package func abandonStagingOwner(_ shelf: UInt32) throws {
    try requireWriting()
    try connection.run("UPDATE staging_owner SET at = 0 WHERE number = $1 AND change IS NULL", shelf)
  }

  /// Releases the data that a change replaced, when the change is forgotten.
  package func abandonStagingOwner(of change: Int64) throws {
    try connection.run("UPDATE staging_owner SET change = NULL, at = 0 WHERE change = $1", change)
  }

  /// Undoes an exchange, and returns whether the change was one.
  package func takeExchangeBack(_ change: Int64, of owner: UInt32) throws -> Bool {
    guard
      let shelf = try connection.first(
        "SELECT number FROM staging_owner WHERE change = $1", change, row: { $0.uint32(0) })
    else { return false }
    try swapNames(owner, shelf)
    try abandonStagingOwner(of: change)
    return true
  }

  /// Exchanges the owners of all names. All data refers to names, so the cost depends on the number of names only.
  private func swapNames(_ owner: UInt32, _ shelf: UInt32) throws {
    // Names are unique for an owner, so one half moves to temporary owners first.
    for step in Self.swapSteps {
      try connection.run(step, owner, shelf)
    }
    memory.trackerKeys.removeAll(keepingCapacity: true)
  }

  private static var swapSteps: [StaticString] {
    [
      "UPDATE tracker_name SET owner = -1 - $2 WHERE owner = $1",
      "UPDATE tracker_name SET owner = $1 WHERE owner = $2",
      "UPDATE tracker_name SET owner = $2 WHERE owner = -1 - $2",
      "UPDATE pack_name SET owner = -1 - $2 WHERE owner = $1",
      "UPDATE pack_name SET owner = $1 WHERE owner = $2",
      "UPDATE pack_name SET owner = $2 WHERE owner = -1 - $2",
    ]
  }

  package func clearShelves(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    var left = limit
    while let shelf = try connection.first(
      "SELECT number FROM staging_owner WHERE change IS NULL AND at < $1 ORDER BY number LIMIT 1", before,
      row: { $0.uint32(0) })
    {
      for step in Self.clearSteps {
        guard left > 0 else { return true }
        try connection.run(step, shelf, left)
        left -= connection.changes
      }
      guard left > 0 else { return true }
      try connection.run("DELETE FROM staging_owner WHERE number = $1", shelf)
      left -= 1
    }
    return false
  }

  /// Statements that clear a staging owner. Each takes the number and the maximum number of rows. Names stay and are
  /// reused by the next data there.
  private static var clearSteps: [StaticString] {
    [
      """
      DELETE FROM entry WHERE key IN (
        SELECT x.key FROM tracker_name n CROSS JOIN entry x ON x.tracker = n.key AND x.deleted_by IS NULL WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM milestone WHERE key IN (
        SELECT x.key FROM tracker_name n CROSS JOIN milestone x ON x.tracker = n.key AND x.deleted_by IS NULL WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM item WHERE key IN (
        SELECT x.key FROM tracker_name n CROSS JOIN item_name i ON i.tracker = n.key CROSS JOIN item x ON x.key = i.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM day_total WHERE (tracker, day) IN (
        SELECT x.tracker, x.day FROM tracker_name n CROSS JOIN day_total x ON x.tracker = n.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM tracker_summary WHERE tracker IN (
        SELECT x.tracker FROM tracker_name n CROSS JOIN tracker_summary x ON x.tracker = n.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM tracker WHERE key IN (
        SELECT x.key FROM tracker_name n CROSS JOIN tracker x ON x.key = n.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM pack WHERE key IN (
        SELECT x.key FROM pack_name n CROSS JOIN pack x ON x.key = n.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM achievement WHERE (pack, id) IN (
        SELECT x.pack, x.id FROM pack_name n CROSS JOIN achievement x ON x.pack = n.key WHERE n.owner = $1 LIMIT $2)
      """,
      """
      DELETE FROM experience WHERE pack IN (
        SELECT x.pack FROM pack_name n CROSS JOIN experience x ON x.pack = n.key WHERE n.owner = $1 LIMIT $2)
      """,
    ]
  }
}
