/// A table of what a person has entered, with what it takes to have it again: `born`, `gone` and the table of the same name
/// with `_before`.
///
/// A row is in one of these states:
///
/// - it stands: `gone` is null;
/// - it is gone by a change: the row is as it was, and an index on `gone` finds all of a change's at once, so that removing
///   a hundred thousand is one statement and copies nothing;
/// - it was replaced: it stands, and what was there before is in the other table under the change that replaced it. Of
///   several replacements in one change the first counts.
package struct VersionedTable: Sendable {
  /// Takes a change: what it made.
  let deleteBorn: SQLText
  /// Takes a change: what it removed.
  let revive: SQLText
  /// Take a change: what it replaced.
  let clear: SQLText
  let restore: SQLText
  let drop: SQLText
  /// Take a change and the greatest number of rows.
  let forgetGone: SQLText
  let forgetReplaced: SQLText
  /// Takes a change and a row, which is about to be replaced.
  let keep: SQLText
  /// Take a row, whose name is wanted again though a change has removed it. Nil for numbers, which are given once.
  let layAside: SQLText?
  let removeGone: SQLText?
  /// Takes a change and a row.
  let remove: SQLText
  /// Takes a row.
  let delete: SQLText

  static let all = [tracker, entry, item, milestone, pack]

  static let tracker = VersionedTable("tracker", columns: "pack, created_at, definition", hasNames: true)
  static let entry = VersionedTable(
    "entry", columns: "tracker, at, day, minute, quantity, item, fields, photo, note, has_note", hasNames: false,
    // No index is needed: what the last change of its owner made came after what was there when it began.
    deleteBorn: "DELETE FROM entry WHERE key > (SELECT after_entry FROM change WHERE key = $1) AND born = $1")
  static let item = VersionedTable(
    "item", columns: "title, attributes, since, until, note, photo, created_at", hasNames: true)
  static let milestone = VersionedTable(
    "milestone", columns: "tracker, day, title, note, photo, value, created_at", hasNames: false)
  static let pack = VersionedTable(
    "pack", columns: "installed_at, reminders, print, definition", hasNames: true)

  /// - Parameters:
  ///   - columns: all but `key`, `born` and `gone`.
  ///   - hasNames: whether the key of a row that is gone may be wanted again.
  private init(_ table: StaticString, columns: StaticString, hasNames: Bool, deleteBorn: SQLText? = nil) {
    let row: SQLText = "key, \(columns), born"
    self.deleteBorn = deleteBorn ?? "DELETE FROM \(table) WHERE born = $1"
    revive = "UPDATE \(table) SET gone = NULL WHERE gone = $1"
    clear = "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table)_before WHERE change = $1)"
    restore = "INSERT INTO \(table) (\(row)) SELECT \(row) FROM \(table)_before WHERE change = $1"
    drop = "DELETE FROM \(table)_before WHERE change = $1"
    forgetGone = "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE gone = $1 LIMIT $2)"
    forgetReplaced = """
      DELETE FROM \(table)_before
      WHERE change = $1 AND key IN (SELECT key FROM \(table)_before WHERE change = $1 LIMIT $2)
      """
    keep = """
      INSERT INTO \(table)_before (change, \(row))
      SELECT $1, \(row) FROM \(table) WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """
    layAside =
      hasNames
      ? """
      INSERT INTO \(table)_before (change, \(row))
      SELECT gone, \(row) FROM \(table) WHERE key = $1 AND gone IS NOT NULL AND gone IS DISTINCT FROM born
      ON CONFLICT (change, key) DO NOTHING
      """ : nil
    removeGone = hasNames ? "DELETE FROM \(table) WHERE key = $1 AND gone IS NOT NULL" : nil
    remove = "UPDATE \(table) SET gone = $1 WHERE key = $2 AND gone IS NULL"
    delete = "DELETE FROM \(table) WHERE key = $1 AND gone IS NULL"
  }
}

extension SQLTransaction {
  /// Called before a row is written: what stands in it now can be had again.
  ///
  /// - Parameter change: nil: outside of any.
  func keep(_ key: Int64, in table: VersionedTable, for change: Int64?) throws {
    if let layAside = table.layAside { try connection.run(ComposedQuery(layAside, key)) }
    if let removeGone = table.removeGone { try connection.run(ComposedQuery(removeGone, key)) }
    if let change { try connection.run(ComposedQuery(table.keep, change, key)) }
  }

  /// - Returns: whether it stood.
  @discardableResult func remove(_ key: Int64, from table: VersionedTable, for change: Int64?) throws -> Bool {
    if let change {
      try connection.run(ComposedQuery(table.remove, change, key))
    } else {
      try connection.run(ComposedQuery(table.delete, key))
    }
    return connection.changes > 0
  }
}
