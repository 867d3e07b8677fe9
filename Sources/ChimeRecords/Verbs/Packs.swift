package import ChimeCore
import ChimeSchedule
package import ChimeTracking

// Packs and their achievements.
extension SQLTransaction {
  /// Returns the key of a pack's name, whether or not the pack is installed.
  private func nameKey(of pack: PackID, owner: UInt32) throws -> Int64? {
    try connection.first("SELECT key FROM pack_name WHERE owner = $1 AND id = $2", owner, pack.rawValue) { $0.int64(0) }
  }

  private func nameKeyMaking(_ pack: PackID, owner: UInt32) throws -> Int64 {
    if let known = try nameKey(of: pack, owner: owner) { return known }
    return try connection.makeKey(
      "INSERT INTO pack_name (owner, id) VALUES ($1, $2) RETURNING key", owner, pack.rawValue)
  }

  package func put(_ pack: InstalledPack) throws {
    try requireWriting()
    let (key, change) = (try nameKeyMaking(pack.pack.id, owner: pack.owner), change(of: pack.owner))
    let definition = try reader.text(PackDefinition(of: pack.pack))
    try keep(key, in: .pack, for: change)
    try connection.run(
      """
      INSERT INTO pack (key, installed_at, reminders, print, definition, created_by) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (key) DO UPDATE SET
        installed_at = excluded.installed_at, reminders = excluded.reminders, print = excluded.print,
        definition = excluded.definition
      """, key, pack.installedAt, try reader.text(PackReminders(of: pack)),
      PackDefinition.print(of: definition), definition, change)
  }

  package func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack? {
    unreadableTracking = []
    let found = try connection.first(
      """
      SELECT p.key, n.owner, n.id, p.installed_at, p.reminders, p.print FROM pack_name n
      JOIN pack p ON p.key = n.key
      WHERE n.owner = $1 AND n.id = $2 AND p.deleted_by IS NULL
      """, owner, id.rawValue, row: readPack)
    if let failure = unreadableTracking.first { throw StoreFailure.internalError(failure.reason) }
    return found ?? nil
  }

  package func packs(owner: UInt32?) throws -> [InstalledPack] {
    unreadableTracking = []
    return try connection.all(
      """
      SELECT p.key, n.owner, n.id, p.installed_at, p.reminders, p.print FROM pack_name n
      JOIN pack p ON p.key = n.key
      WHERE p.deleted_by IS NULL AND (n.owner = $1 OR $1 IS NULL AND n.owner < $2)
      ORDER BY p.installed_at, n.owner, n.id
      """, owner, StagingOwners.first, row: readPack
    ).compactMap { $0 }
  }

  /// Reads a pack. The definition has hundreds of texts and every entry needs it, so each version is decoded only once.
  private func readPack(_ row: Connection.Row) throws -> InstalledPack? {
    let (key, owner, id) = (row.int64(0), row.uint32(1), PackID(rawValue: row.text(2)))
    let print = PackFingerprint(key: key, print: row.int64(5))
    let text =
      reader.knows(print)
      ? "" : try connection.first("SELECT definition FROM pack WHERE key = $1", key) { $0.text(0) } ?? ""
    return reading("pack \(id)", of: owner) {
      let reminders = try reader.packReminders(row.text(4))
      return InstalledPack(
        pack: try reader.pack(id, print, text), owner: owner, installedAt: row.instant(3),
        reminders: reminders.made ?? [:], languages: reminders.languages ?? [],
        removed: try (reminders.removed ?? []).map { try $0.reminder() }, set: reminders.set)
    }
  }

  package func removePack(_ id: PackID, owner: UInt32) throws -> Bool {
    try requireWriting()
    guard let key = try nameKey(of: id, owner: owner) else { return false }
    return try remove(key, from: .pack, for: change(of: owner))
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
    try connection.run(
      """
      INSERT INTO achievement (pack, id, reached, unlocked_at, silent) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (pack, id) DO UPDATE SET
        reached = excluded.reached, unlocked_at = excluded.unlocked_at, silent = excluded.silent
      """, try nameKeyMaking(progress.pack, owner: owner), progress.achievement.rawValue, progress.reached,
      progress.unlockedAt, progress.wasSilent ? 1 : 0)
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
    try connection.run(
      """
      INSERT INTO experience (pack, points) VALUES ($1, $2)
      ON CONFLICT (pack) DO UPDATE SET points = excluded.points
      """, try nameKeyMaking(pack, owner: owner), experience)
  }
}
