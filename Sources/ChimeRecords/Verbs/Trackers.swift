package import ChimeCore
package import ChimeTracking

extension SQLTransaction {
  // MARK: Names

  /// Returns the key of a tracker's name, whether or not the tracker exists.
  func nameKey(of tracker: TrackerKey) throws -> Int64? {
    if let known = memory.trackerKeys[tracker] { return known }
    let found = try connection.first(
      "SELECT key FROM tracker_name WHERE owner = $1 AND id = $2", tracker.owner, tracker.id.rawValue
    ) { $0.int64(0) }
    memory.trackerKeys[tracker] = found
    return found
  }

  /// Returns the key of an existing tracker.
  func present(_ tracker: TrackerKey) throws -> Int64 {
    if let key = try nameKey(of: tracker),
      try connection.exists("SELECT 1 FROM tracker WHERE key = $1 AND deleted_by IS NULL", key)
    {
      return key
    }
    throw StoreFailure.internalError("there is no tracker \(tracker.id)")
  }

  // MARK: Trackers

  package func put(_ tracker: Tracker) throws {
    try requireWriting()
    let key =
      try nameKey(of: tracker.key)
      ?? connection.makeKey(
        "INSERT INTO tracker_name (owner, id) VALUES ($1, $2) RETURNING key", tracker.owner, tracker.id.rawValue)
    memory.trackerKeys[tracker.key] = key
    try VersionedTable.tracker.put(
      key, [tracker.pack?.rawValue, tracker.createdAt, try reader.text(tracker)], for: change(of: tracker.owner),
      on: connection)
  }

  package func tracker(_ key: TrackerKey) throws -> Tracker? {
    try connection.first(
      """
      SELECT n.owner, n.id, t.pack, t.created_at, t.definition FROM tracker_name n
      JOIN tracker t ON t.key = n.key
      WHERE n.owner = $1 AND n.id = $2 AND t.deleted_by IS NULL
      """, key.owner, key.id.rawValue, row: readTracker)?.get()
  }

  package func trackers(owner: UInt32?) throws -> [Tracker] {
    try connection.all(
      """
      SELECT n.owner, n.id, t.pack, t.created_at, t.definition FROM tracker_name n
      JOIN tracker t ON t.key = n.key
      WHERE t.deleted_by IS NULL AND (n.owner = $1 OR $1 IS NULL AND n.owner < $2)
      ORDER BY t.pack NULLS FIRST, t.created_at, n.key
      """, owner, StagingOwners.first, row: readTracker
    ).compactMap { try? $0.get() }
  }

  private func readTracker(_ row: Connection.Row) -> Result<Tracker, StoreFailure> {
    let id = TrackerID(rawValue: row.text(1))
    return reading("tracker \(id)") {
      var tracker = try reader.tracker(row.text(4))
      (tracker.id, tracker.owner, tracker.createdAt) = (id, row.uint32(0), row.instant(3))
      tracker.pack = row.optionalText(2).map { PackID(rawValue: $0) }
      return tracker
    }
  }

  private func reading<Value>(_ name: String, _ read: () throws -> Value) -> Result<Value, StoreFailure> {
    Result(catching: read).mapError {
      .internalError("the definition of \(name) cannot be read; you can remove it (\($0))")
    }
  }

  package func removeTracker(_ key: TrackerKey) throws -> Bool {
    try requireWriting()
    guard let name = try nameKey(of: key) else { return false }
    let change = change(of: key.owner)
    guard try VersionedTable.tracker.remove(name, for: change, on: connection) else { return false }
    try dropContents(of: name, for: change)
    return true
  }

  /// Removes what belongs to a tracker.
  func dropContents(of tracker: Int64, for change: Int64? = nil) throws {
    try VersionedTable.entry.remove(where: "tracker = ?", tracker, for: change, on: connection)
    try VersionedTable.item.remove(
      where: "key IN (SELECT key FROM item_name WHERE tracker = ?)", tracker, for: change, on: connection)
    try VersionedTable.milestone.remove(where: "tracker = ?", tracker, for: change, on: connection)
    try connection.run("DELETE FROM day_total WHERE tracker = $1", tracker)
    try connection.run("DELETE FROM tracker_summary WHERE tracker = $1", tracker)
  }

  // MARK: Items

  /// Returns the key of an item's name in a tracker, whether or not the item exists.
  func nameKey(of item: ItemID, tracker: Int64) throws -> Int64? {
    try connection.first("SELECT key FROM item_name WHERE tracker = $1 AND id = $2", tracker, item.rawValue) {
      $0.int64(0)
    }
  }

  func nameKeyMaking(_ item: ItemID, tracker: Int64) throws -> Int64 {
    try nameKey(of: item, tracker: tracker)
      ?? connection.makeKey(
        "INSERT INTO item_name (tracker, id) VALUES ($1, $2) RETURNING key", tracker, item.rawValue)
  }

  package func put(_ item: Item) throws {
    try requireWriting()
    let key = try nameKeyMaking(item.id, tracker: present(item.key))
    let attributes = item.attributes.isEmpty ? nil : try reader.text(item.attributes)
    try VersionedTable.item.put(
      key, [item.title, attributes, item.since, item.until, item.note, item.photo, item.createdAt],
      for: change(of: item.owner), on: connection)
  }

  package func item(_ id: ItemID, of key: TrackerKey) throws -> Item? {
    guard let tracker = try nameKey(of: key) else { return nil }
    return try connection.first(
      """
      SELECT n.id, i.title, i.attributes, i.since, i.until, i.note, i.photo, i.created_at FROM item_name n
      JOIN item i ON i.key = n.key
      WHERE n.tracker = $1 AND n.id = $2 AND i.deleted_by IS NULL
      """, tracker, id.rawValue
    ) { $0.item(of: key, reader) }
  }

  package func items(of key: TrackerKey) throws -> [Item] {
    guard let tracker = try nameKey(of: key) else { return [] }
    return try connection.all(
      """
      SELECT n.id, i.title, i.attributes, i.since, i.until, i.note, i.photo, i.created_at FROM item_name n
      JOIN item i ON i.key = n.key
      WHERE n.tracker = $1 AND i.deleted_by IS NULL
      ORDER BY lower(i.title), n.id
      """, tracker
    ) { $0.item(of: key, reader) }
  }

  package func removeItem(_ id: ItemID, of key: TrackerKey) throws -> Bool {
    try requireWriting()
    guard let tracker = try nameKey(of: key), let item = try nameKey(of: id, tracker: tracker) else { return false }
    return try VersionedTable.item.remove(item, for: change(of: key.owner), on: connection)
  }

  // MARK: Milestones

  package func put(_ milestone: Milestone) throws -> Milestone {
    try requireWriting()
    let change = change(of: milestone.owner)
    let columns: [any SQLValue] = [
      try present(milestone.key), milestone.day, milestone.title, milestone.note, milestone.photo, milestone.value,
      milestone.createdAt,
    ]
    if milestone.id == 0 {
      var made = milestone
      made.id = try VersionedTable.milestone.create(columns, for: change, on: connection)
      return made
    }
    guard try self.milestone(milestone.id, owner: milestone.owner) != nil else {
      throw StoreFailure.internalError("there is no milestone \(milestone.id) to replace")
    }
    try VersionedTable.milestone.put(milestone.id, columns, for: change, on: connection)
    return milestone
  }

  private func milestone(_ id: Int64, owner: UInt32) throws -> Milestone? {
    try connection.first(
      """
      SELECT m.key, n.owner, n.id, m.day, m.title, m.note, m.photo, m.value, m.created_at FROM milestone m
      JOIN tracker_name n ON n.key = m.tracker
      WHERE m.key = $1 AND n.owner = $2 AND m.deleted_by IS NULL
      """, id, owner
    ) { $0.milestone() }
  }

  package func milestones(owner: UInt32, tracker: TrackerID?) throws -> [Milestone] {
    try connection.all(
      """
      SELECT m.key, n.owner, n.id, m.day, m.title, m.note, m.photo, m.value, m.created_at FROM tracker_name n
      CROSS JOIN milestone m ON m.tracker = n.key
      WHERE n.owner = $1 AND ($2 IS NULL OR n.id = $2) AND m.deleted_by IS NULL
      ORDER BY m.day DESC, m.key DESC
      """, owner, tracker?.rawValue
    ) { $0.milestone() }
  }

  package func removeMilestone(_ id: Int64, owner: UInt32) throws -> Milestone? {
    try requireWriting()
    guard let found = try milestone(id, owner: owner) else { return nil }
    try VersionedTable.milestone.remove(id, for: change(of: owner), on: connection)
    return found
  }
}

// Packs and their achievements.
extension SQLTransaction {
  /// Returns the key of a pack's name, whether or not the pack is installed.
  private func nameKey(of pack: PackID, owner: UInt32) throws -> Int64? {
    try connection.first("SELECT key FROM pack_name WHERE owner = $1 AND id = $2", owner, pack.rawValue) { $0.int64(0) }
  }

  private func nameKeyMaking(_ pack: PackID, owner: UInt32) throws -> Int64 {
    try nameKey(of: pack, owner: owner)
      ?? connection.makeKey("INSERT INTO pack_name (owner, id) VALUES ($1, $2) RETURNING key", owner, pack.rawValue)
  }

  package func put(_ pack: InstalledPack) throws {
    try requireWriting()
    let (reminders, definition) = (try reader.text(PackReminders(of: pack)), try reader.text(pack.pack))
    try VersionedTable.pack.put(
      try nameKeyMaking(pack.pack.id, owner: pack.owner),
      [pack.installedAt, reminders, PackFingerprint.print(of: definition), definition], for: change(of: pack.owner),
      on: connection)
  }

  package func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack? {
    try connection.first(
      """
      SELECT p.key, n.owner, n.id, p.installed_at, p.reminders, p.print FROM pack_name n
      JOIN pack p ON p.key = n.key
      WHERE n.owner = $1 AND n.id = $2 AND p.deleted_by IS NULL
      """, owner, id.rawValue, row: readPack)?.get()
  }

  package func packs(owner: UInt32?) throws -> [InstalledPack] {
    try connection.all(
      """
      SELECT p.key, n.owner, n.id, p.installed_at, p.reminders, p.print FROM pack_name n
      JOIN pack p ON p.key = n.key
      WHERE p.deleted_by IS NULL AND (n.owner = $1 OR $1 IS NULL AND n.owner < $2)
      ORDER BY p.installed_at, n.owner, n.id
      """, owner, StagingOwners.first, row: readPack
    ).compactMap { try? $0.get() }
  }

  /// Reads a pack. The definition has hundreds of texts and every entry needs it, so each version is decoded only once.
  private func readPack(_ row: Connection.Row) throws -> Result<InstalledPack, StoreFailure> {
    let (key, owner, id) = (row.int64(0), row.uint32(1), PackID(rawValue: row.text(2)))
    let print = PackFingerprint(key: key, print: row.int64(5))
    let text =
      reader.knows(print)
      ? "" : try connection.first("SELECT definition FROM pack WHERE key = $1", key) { $0.text(0) } ?? ""
    return reading("pack \(id)") {
      let reminders = try reader.packReminders(row.text(4))
      return InstalledPack(
        pack: try reader.pack(print, text), owner: owner, installedAt: row.instant(3), reminders: reminders.made,
        languages: reminders.languages, removed: reminders.removed, set: reminders.set)
    }
  }

  package func removePack(_ id: PackID, owner: UInt32) throws -> Bool {
    try requireWriting()
    guard let key = try nameKey(of: id, owner: owner) else { return false }
    return try VersionedTable.pack.remove(key, for: change(of: owner), on: connection)
  }

  // MARK: Achievements

  package func progress(of pack: PackID, owner: UInt32) throws -> [AchievementProgress] {
    guard let key = try nameKey(of: pack, owner: owner) else { return [] }
    return try connection.all(
      "SELECT id, reached, unlocked_at, silent FROM achievement WHERE pack = $1 ORDER BY id", key
    ) { row in
      AchievementProgress(
        pack: pack, achievement: AchievementID(rawValue: row.text(0)), reached: row.int(1),
        unlockedAt: row.optionalInstant(2), wasSilent: row.int(3) != 0)
    }
  }

  package func setProgress(_ progress: AchievementProgress, owner: UInt32) throws {
    try requireWriting()
    try connection.put(
      "achievement", key: "pack, id", "reached, unlocked_at, silent", try nameKeyMaking(progress.pack, owner: owner),
      progress.achievement.rawValue, progress.reached, progress.unlockedAt, progress.wasSilent ? 1 : 0)
  }

  package func packsInProgress(owner: UInt32) throws -> [PackID] {
    try connection.all(
      """
      SELECT id FROM pack_name n WHERE owner = $1 AND (
        EXISTS (SELECT 1 FROM achievement WHERE pack = n.key)
        OR EXISTS (SELECT 1 FROM experience WHERE pack = n.key))
      ORDER BY id
      """, owner
    ) { PackID(rawValue: $0.text(0)) }
  }

  package func experience(of pack: PackID, owner: UInt32) throws -> Int {
    guard let key = try nameKey(of: pack, owner: owner) else { return 0 }
    return try connection.first("SELECT points FROM experience WHERE pack = $1", key) { $0.int(0) } ?? 0
  }

  package func setExperience(_ experience: Int, of pack: PackID, owner: UInt32) throws {
    try requireWriting()
    try connection.put("experience", key: "pack", "points", try nameKeyMaking(pack, owner: owner), experience)
  }
}
