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
struct VersionedTable: Sendable {
  /// Delete the rows that a change created, restore those that it removed, and restore those that it replaced, in three
  /// steps. Each takes the change.
  private let takingBack: [SQLText]
  /// Delete the undo data of a change. Each takes the change and the maximum number of rows.
  private let purging: [SQLText]
  /// Inserts a row with the next key. Takes its columns and the change.
  private let creating: SQLText
  /// The same where the table `number` has the last key. Its row stays locked until the commit, so that keys follow the
  /// order of transactions.
  private let numbering: SQLText
  /// Writes a row. Takes the row, its columns and the change.
  private let writing: SQLText
  /// Copies a row that is about to be replaced to the history. Takes the change and the row.
  private let keeping: SQLText
  /// Move a removed row to the history because its name is needed again. Each takes the row. None for numbers.
  private let layingAside: [SQLText]
  private let table: SQLText

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
  private init(_ table: SQLText, columns: SQLText, hasNames: Bool, deleteCreated: SQLText? = nil) {
    self.table = table
    let row: SQLText = "key, \(columns), created_by"
    takingBack = [
      deleteCreated ?? "DELETE FROM \(table) WHERE created_by = $1",
      "UPDATE \(table) SET deleted_by = NULL WHERE deleted_by = $1",
      "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table)_history WHERE change = $1)",
      "INSERT INTO \(table) (\(row)) SELECT \(row) FROM \(table)_history WHERE change = $1",
      "DELETE FROM \(table)_history WHERE change = $1",
    ]
    purging = [
      "DELETE FROM \(table) WHERE key IN (SELECT key FROM \(table) WHERE deleted_by = $1 LIMIT $2)",
      """
      DELETE FROM \(table)_history
      WHERE change = $1 AND key IN (SELECT key FROM \(table)_history WHERE change = $1 LIMIT $2)
      """,
    ]
    let places = SQLText.places(columns.text.split(separator: ", ").count + 1)
    creating = "INSERT INTO \(table) (\(columns), created_by) VALUES (\(places)) RETURNING key"
    numbering = """
      WITH made AS (UPDATE number SET last = last + 1 WHERE name = '\(table)' RETURNING last)
      INSERT INTO \(table) (\(row)) SELECT made.last, \(places) FROM made RETURNING key
      """
    writing = .upsert(table, key: "key", columns, once: "created_by")
    keeping = """
      INSERT INTO \(table)_history (change, \(row))
      SELECT $1, \(row) FROM \(table) WHERE key = $2 AND deleted_by IS NULL AND created_by IS DISTINCT FROM $1
      ON CONFLICT (change, key) DO NOTHING
      """
    layingAside =
      hasNames
      ? [
        """
        INSERT INTO \(table)_history (change, \(row))
        SELECT deleted_by, \(row) FROM \(table) WHERE key = $1 AND deleted_by IS NOT NULL AND deleted_by IS DISTINCT FROM created_by
        ON CONFLICT (change, key) DO NOTHING
        """,
        "DELETE FROM \(table) WHERE key = $1 AND deleted_by IS NOT NULL",
      ] : []
  }

  /// Inserts a row of a numbered table, and returns its key. `values` has the columns in order.
  func create<Connection: SQLConnection>(
    _ values: [any SQLValue], for change: Int64?, on connection: Connection
  ) throws -> Int64 {
    let query = ComposedQuery(Connection.assignsNumbers ? creating : numbering, all: values + [change])
    return try connection.newKey(try connection.all(query) { $0.int64(0) }.first)
  }

  /// Writes a row, and saves the one that it replaces, so that it can be restored. `values` has the columns in order, and
  /// `change` is nil outside of any change.
  func put(_ key: Int64, _ values: [any SQLValue], for change: Int64?, on connection: some SQLConnection) throws {
    for step in layingAside { try connection.run(ComposedQuery(step, key)) }
    if let change { try connection.run(ComposedQuery(keeping, change, key)) }
    try connection.run(ComposedQuery(writing, all: [key] + values + [change]))
  }

  /// Removes a row, and returns whether it existed.
  @discardableResult func remove(_ key: Int64, for change: Int64?, on connection: some SQLConnection) throws -> Bool {
    try remove(where: "key = ?", key, for: change, on: connection) > 0
  }

  /// Removes the rows that match a condition, and returns their number. Outside of any change they are deleted.
  @discardableResult func remove(
    where condition: SQLText, _ values: any SQLValue..., for change: Int64?, on connection: some SQLConnection
  ) throws -> Int {
    let removal: SQLText = change == nil ? "DELETE FROM \(table)" : "UPDATE \(table) SET deleted_by = ?"
    try connection.run(
      ComposedQuery(
        "\(removal) WHERE \(condition) AND deleted_by IS NULL", all: (change.map { [$0] } ?? []) + values))
    return connection.changes
  }

  /// Makes the table as it was before a change.
  func takeBack(_ change: Int64, on connection: some SQLConnection) throws {
    for step in takingBack { try connection.run(ComposedQuery(step, change)) }
  }

  /// Deletes the undo data of a change, and subtracts the number of its rows from `left`. Stops when that is 0.
  func purge(_ change: Int64, _ left: inout Int, on connection: some SQLConnection) throws {
    for step in purging where left > 0 {
      try connection.run(ComposedQuery(step, change, left))
      left -= connection.changes
    }
  }
}
