/// A VersionedTable is a table of user data whose changes can be undone: it has the columns `created_by` and `deleted_by` and a
/// history table with the suffix `_history`.
///
/// A row is in one of these states:
///
/// - It exists: `deleted_by` is null.
/// - It was removed by a change: the row is unchanged but for `deleted_by`. An index on `deleted_by` finds all rows of a change, so
///   that the removal of a hundred thousand rows is one statement and copies nothing.
/// - It was replaced: the row exists, and its earlier version is in the history table under the change that replaced it.
///   Of several replacements in one change the first counts.
package struct VersionedTable: Sendable {
  /// Deletes the rows that a change created. Takes the change.
  let deleteCreated: SQLText
  /// Restores the rows that a change removed. Takes the change.
  let revive: SQLText
  /// Restores the rows that a change replaced, in three steps. Each takes the change.
  let clear: SQLText
  let restore: SQLText
  let drop: SQLText
  /// Deletes the undo data of a change. Each takes the change and the maximum number of rows.
  let purgeDeleted: SQLText
  let forgetReplaced: SQLText
  /// Copies a row that is about to be replaced to the history. Takes the change and the row.
  let keep: SQLText
  /// Move a removed row to the history because its name is needed again. Take the row. Nil for numbers.
  let layAside: SQLText?
  let removeDeleted: SQLText?
  /// Marks a row as removed. Takes the change and the row.
  let remove: SQLText
  /// Deletes a row. Takes the row.
  let delete: SQLText

  static let all = [tracker, entry, item, milestone, pack]

  static let tracker = VersionedTable("tracker", columns: "pack, created_at, definition", hasNames: true)
  static let entry = VersionedTable(
    "entry", columns: "tracker, at, day, minute, quantity, item, fields, photo, note, has_note", hasNames: false,
    // No index is needed: rows of the owner's last change have keys above those that existed when it began.
    deleteCreated: "DELETE FROM entry WHERE key > (SELECT after_entry FROM change WHERE key = $1) AND created_by = $1")
  static let item = VersionedTable(
    "item", columns: "title, attributes, since, until, note, photo, created_at", hasNames: true)
  static let milestone = VersionedTable(
    "milestone", columns: "tracker, day, title, note, photo, value, created_at", hasNames: false)
  static let pack = VersionedTable(
    "pack", columns: "installed_at, reminders, print, definition", hasNames: true)

  /// Composes the statements of a table.
  ///
  /// - Parameters:
  ///   - columns: all but `key`, `created_by` and `deleted_by`.
  ///   - hasNames: whether the key of a removed row may be needed again.
  private init(_ table: StaticString, columns: StaticString, hasNames: Bool, deleteCreated: SQLText? = nil) {
    let row: SQLText = "key, \(columns), created_by"
    self.deleteCreated = deleteCreated ?? "DELETE FROM \(table) WHERE created_by = $1"
    revive = "UPDATE \(table) SET deleted_by = NULL WHERE deleted_by = $1"
    clear = "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table)_history WHERE change = $1)"
    restore = "INSERT INTO \(table) (\(row)) SELECT \(row) FROM \(table)_history WHERE change = $1"
    drop = "DELETE FROM \(table)_history WHERE change = $1"
    purgeDeleted = "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE deleted_by = $1 LIMIT $2)"
    forgetReplaced = """
      DELETE FROM \(table)_history
      WHERE change = $1 AND key IN (SELECT key FROM \(table)_history WHERE change = $1 LIMIT $2)
      """
    keep = """
      INSERT INTO \(table)_history (change, \(row))
      SELECT $1, \(row) FROM \(table) WHERE key = $2 AND deleted_by IS NULL AND created_by IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """
    layAside =
      hasNames
      ? """
      INSERT INTO \(table)_history (change, \(row))
      SELECT deleted_by, \(row) FROM \(table) WHERE key = $1 AND deleted_by IS NOT NULL AND deleted_by IS DISTINCT FROM created_by
      ON CONFLICT (change, key) DO NOTHING
      """ : nil
    removeDeleted = hasNames ? "DELETE FROM \(table) WHERE key = $1 AND deleted_by IS NOT NULL" : nil
    remove = "UPDATE \(table) SET deleted_by = $1 WHERE key = $2 AND deleted_by IS NULL"
    delete = "DELETE FROM \(table) WHERE key = $1 AND deleted_by IS NULL"
  }
}

extension SQLTransaction {
  /// Saves a row before it is written, so that it can be restored. `change` is nil outside of any change.
  func keep(_ key: Int64, in table: VersionedTable, for change: Int64?) throws {
    if let layAside = table.layAside { try connection.run(ComposedQuery(layAside, key)) }
    if let removeDeleted = table.removeDeleted { try connection.run(ComposedQuery(removeDeleted, key)) }
    if let change { try connection.run(ComposedQuery(table.keep, change, key)) }
  }

  /// Removes a row, and returns whether it existed.
  @discardableResult func remove(_ key: Int64, from table: VersionedTable, for change: Int64?) throws -> Bool {
    if let change {
      try connection.run(ComposedQuery(table.remove, change, key))
    } else {
      try connection.run(ComposedQuery(table.delete, key))
    }
    return connection.changes > 0
  }
}
