/// A table of what a person has entered, with what it takes to have it again: `born`, `gone` and the table of the same name
/// with `_before` (schema version 5).
///
/// A row is in one of these states:
///
/// - it stands: `gone` is null;
/// - it is gone by a change: the row is as it was, and an index on `gone` finds all of a change's at once, so that removing
///   a hundred thousand is one statement and copies nothing;
/// - it was replaced: it stands, and what was there before is in the other table under the change that replaced it. Of
///   several replacements in one change the first counts.
struct Sheet: Sendable {
  /// Takes a change: what it made.
  let deleteBorn: StaticString
  /// Takes a change: what it removed.
  let revive: StaticString
  /// Take a change: what it replaced.
  let clear: StaticString
  let restore: StaticString
  let drop: StaticString
  /// Take a change and the greatest number of rows.
  let forgetGone: StaticString
  let forgetReplaced: StaticString
  /// Takes a change and a row, which is about to be replaced.
  let keep: StaticString
  /// Take a row, whose name is wanted again though a change has removed it. Nil for numbers, which are given once.
  let layAside: StaticString?
  let removeGone: StaticString?
  /// Takes a change and a row.
  let remove: StaticString
  /// Takes a row.
  let delete: StaticString

  static let all = [tracker, entry, item, milestone, pack]

  static let tracker = Sheet(
    deleteBorn: "DELETE FROM tracker WHERE born = $1",
    revive: "UPDATE tracker SET gone = NULL WHERE gone = $1",
    clear: "DELETE FROM tracker WHERE key IN (SELECT key FROM tracker_before WHERE change = $1)",
    restore: """
      INSERT INTO tracker (key, pack, created_at, definition, born)
      SELECT key, pack, created_at, definition, born FROM tracker_before WHERE change = $1
      """,
    drop: "DELETE FROM tracker_before WHERE change = $1",
    forgetGone: "DELETE FROM tracker WHERE key IN (SELECT key FROM tracker WHERE gone = $1 LIMIT $2)",
    forgetReplaced: """
      DELETE FROM tracker_before
      WHERE change = $1 AND key IN (SELECT key FROM tracker_before WHERE change = $1 LIMIT $2)
      """,
    keep: """
      INSERT INTO tracker_before (change, key, pack, created_at, definition, born)
      SELECT $1, key, pack, created_at, definition, born FROM tracker WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """,
    layAside: """
      INSERT INTO tracker_before (change, key, pack, created_at, definition, born)
      SELECT gone, key, pack, created_at, definition, born FROM tracker
      WHERE key = $1 AND gone IS NOT NULL AND gone IS DISTINCT FROM born
      ON CONFLICT (change, key) DO NOTHING
      """,
    removeGone: "DELETE FROM tracker WHERE key = $1 AND gone IS NOT NULL",
    remove: "UPDATE tracker SET gone = $1 WHERE key = $2 AND gone IS NULL",
    delete: "DELETE FROM tracker WHERE key = $1 AND gone IS NULL")

  static let entry = Sheet(
    // No index is needed: what the last change of its owner made came after what was there when it began.
    deleteBorn: "DELETE FROM entry WHERE key > (SELECT after_entry FROM change WHERE key = $1) AND born = $1",
    revive: "UPDATE entry SET gone = NULL WHERE gone = $1",
    clear: "DELETE FROM entry WHERE key IN (SELECT key FROM entry_before WHERE change = $1)",
    restore: """
      INSERT INTO entry (key, tracker, at, day, minute, quantity, item, fields, photo, note, has_note, born)
      SELECT key, tracker, at, day, minute, quantity, item, fields, photo, note, has_note, born FROM entry_before
      WHERE change = $1
      """,
    drop: "DELETE FROM entry_before WHERE change = $1",
    forgetGone: "DELETE FROM entry WHERE key IN (SELECT key FROM entry WHERE gone = $1 LIMIT $2)",
    forgetReplaced: """
      DELETE FROM entry_before
      WHERE change = $1 AND key IN (SELECT key FROM entry_before WHERE change = $1 LIMIT $2)
      """,
    keep: """
      INSERT INTO entry_before (
        change, key, tracker, at, day, minute, quantity, item, fields, photo, note, has_note, born)
      SELECT $1, key, tracker, at, day, minute, quantity, item, fields, photo, note, has_note, born FROM entry
      WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """,
    layAside: nil, removeGone: nil,
    remove: "UPDATE entry SET gone = $1 WHERE key = $2 AND gone IS NULL",
    delete: "DELETE FROM entry WHERE key = $1 AND gone IS NULL")

  static let item = Sheet(
    deleteBorn: "DELETE FROM item WHERE born = $1",
    revive: "UPDATE item SET gone = NULL WHERE gone = $1",
    clear: "DELETE FROM item WHERE key IN (SELECT key FROM item_before WHERE change = $1)",
    restore: """
      INSERT INTO item (key, title, attributes, since, until, note, photo, created_at, born)
      SELECT key, title, attributes, since, until, note, photo, created_at, born FROM item_before WHERE change = $1
      """,
    drop: "DELETE FROM item_before WHERE change = $1",
    forgetGone: "DELETE FROM item WHERE key IN (SELECT key FROM item WHERE gone = $1 LIMIT $2)",
    forgetReplaced: """
      DELETE FROM item_before WHERE change = $1 AND key IN (SELECT key FROM item_before WHERE change = $1 LIMIT $2)
      """,
    keep: """
      INSERT INTO item_before (change, key, title, attributes, since, until, note, photo, created_at, born)
      SELECT $1, key, title, attributes, since, until, note, photo, created_at, born FROM item
      WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """,
    layAside: """
      INSERT INTO item_before (change, key, title, attributes, since, until, note, photo, created_at, born)
      SELECT gone, key, title, attributes, since, until, note, photo, created_at, born FROM item
      WHERE key = $1 AND gone IS NOT NULL AND gone IS DISTINCT FROM born
      ON CONFLICT (change, key) DO NOTHING
      """,
    removeGone: "DELETE FROM item WHERE key = $1 AND gone IS NOT NULL",
    remove: "UPDATE item SET gone = $1 WHERE key = $2 AND gone IS NULL",
    delete: "DELETE FROM item WHERE key = $1 AND gone IS NULL")

  static let milestone = Sheet(
    deleteBorn: "DELETE FROM milestone WHERE born = $1",
    revive: "UPDATE milestone SET gone = NULL WHERE gone = $1",
    clear: "DELETE FROM milestone WHERE key IN (SELECT key FROM milestone_before WHERE change = $1)",
    restore: """
      INSERT INTO milestone (key, tracker, day, title, note, photo, value, created_at, born)
      SELECT key, tracker, day, title, note, photo, value, created_at, born FROM milestone_before WHERE change = $1
      """,
    drop: "DELETE FROM milestone_before WHERE change = $1",
    forgetGone: "DELETE FROM milestone WHERE key IN (SELECT key FROM milestone WHERE gone = $1 LIMIT $2)",
    forgetReplaced: """
      DELETE FROM milestone_before
      WHERE change = $1 AND key IN (SELECT key FROM milestone_before WHERE change = $1 LIMIT $2)
      """,
    keep: """
      INSERT INTO milestone_before (change, key, tracker, day, title, note, photo, value, created_at, born)
      SELECT $1, key, tracker, day, title, note, photo, value, created_at, born FROM milestone
      WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """,
    layAside: nil, removeGone: nil,
    remove: "UPDATE milestone SET gone = $1 WHERE key = $2 AND gone IS NULL",
    delete: "DELETE FROM milestone WHERE key = $1 AND gone IS NULL")

  static let pack = Sheet(
    deleteBorn: "DELETE FROM pack WHERE born = $1",
    revive: "UPDATE pack SET gone = NULL WHERE gone = $1",
    clear: "DELETE FROM pack WHERE key IN (SELECT key FROM pack_before WHERE change = $1)",
    restore: """
      INSERT INTO pack (key, installed_at, reminders, print, definition, born)
      SELECT key, installed_at, reminders, print, definition, born FROM pack_before WHERE change = $1
      """,
    drop: "DELETE FROM pack_before WHERE change = $1",
    forgetGone: "DELETE FROM pack WHERE key IN (SELECT key FROM pack WHERE gone = $1 LIMIT $2)",
    forgetReplaced: """
      DELETE FROM pack_before WHERE change = $1 AND key IN (SELECT key FROM pack_before WHERE change = $1 LIMIT $2)
      """,
    keep: """
      INSERT INTO pack_before (change, key, installed_at, reminders, print, definition, born)
      SELECT $1, key, installed_at, reminders, print, definition, born FROM pack
      WHERE key = $2 AND gone IS NULL AND born IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """,
    layAside: """
      INSERT INTO pack_before (change, key, installed_at, reminders, print, definition, born)
      SELECT gone, key, installed_at, reminders, print, definition, born FROM pack
      WHERE key = $1 AND gone IS NOT NULL AND gone IS DISTINCT FROM born
      ON CONFLICT (change, key) DO NOTHING
      """,
    removeGone: "DELETE FROM pack WHERE key = $1 AND gone IS NOT NULL",
    remove: "UPDATE pack SET gone = $1 WHERE key = $2 AND gone IS NULL",
    delete: "DELETE FROM pack WHERE key = $1 AND gone IS NULL")
}

extension Transaction {
  /// Called before a row is written: what stands in it now can be had again.
  ///
  /// - Parameter change: nil: outside of any.
  func keep(_ key: Int64, in sheet: Sheet, for change: Int64?) throws {
    if let layAside = sheet.layAside { try connection.run(layAside, key) }
    if let removeGone = sheet.removeGone { try connection.run(removeGone, key) }
    if let change { try connection.run(sheet.keep, change, key) }
  }

  /// - Returns: whether it stood.
  @discardableResult func remove(_ key: Int64, from sheet: Sheet, for change: Int64?) throws -> Bool {
    if let change {
      try connection.run(sheet.remove, change, key)
    } else {
      try connection.run(sheet.delete, key)
    }
    return connection.changes > 0
  }
}
