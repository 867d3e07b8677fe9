import ChimeCore
import ChimeRecords

/// The schema of the database and its migrations.
enum Schema {
  /// Marks the file as Chime's ("Chme"; sqlite.org/fileformat2.html, "Application ID").
  static let applicationID = 0x4368_6D65

  static let migrations = [Migration(version: 1, script: SharedTables.script(.sqlite))]

  /// The newest version that this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// Migrates the database in one transaction: all steps or none.
  ///
  /// - Throws: `.newerSchema` if a newer program wrote it; `.corrupt` if the version number is damaged.
  static func migrate(_ connection: Connection, by migrations: [Migration] = migrations) throws {
    let (found, target) = (try version(of: connection), migrations.last?.version ?? 0)
    guard found <= target else { throw StoreFailure.newerSchema(found: found, known: target) }
    guard found < target else { return }
    try connection.run("BEGIN IMMEDIATE")
    do {
      try connection.script("PRAGMA application_id = 0x43686D65")
      for migration in migrations where migration.version > found { try connection.script(migration.script()) }
      try connection.script(
        """
        CREATE TABLE IF NOT EXISTS layout (version INTEGER NOT NULL) STRICT;
        DELETE FROM layout;
        INSERT INTO layout VALUES (\(target));
        PRAGMA user_version = \(target);
        """)
      try connection.run("COMMIT")
    } catch {
      if !connection.isAutocommit { try? connection.run("ROLLBACK") }
      throw error
    }
  }

  /// Returns the schema version; 0 for a new file.
  ///
  /// The version is in the file's header (`PRAGMA user_version`) and in the table `layout`, because SQLite has no
  /// checksum of the header. With a damaged number that is too low, steps would run again over existing tables. With one
  /// that is too high, the daemon would demand a newer version, which does not exist. Every program writes both numbers
  /// in one transaction. If they differ, the file is damaged; if they agree on an unknown number, the schema is newer.
  ///
  /// - Throws: `.corrupt` if the two numbers differ.
  static func version(of connection: Connection) throws -> Int {
    // Each statement compares the header and the table at one moment, because a daemon may be migrating.
    let found = try connection.first(
      """
      SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'layout')
      FROM pragma_user_version
      """
    ) { (header: $0.int(0), hasTable: $0.int(1) != 0) }
    guard let found else { return 0 }
    if found.header == 0, !found.hasTable { return 0 }
    let isSame =
      try found.hasTable
      && connection.first("SELECT max(version) IS (SELECT user_version FROM pragma_user_version) FROM layout") {
        $0.int(0) != 0
      } == true
    guard isSame else {
      throw StoreFailure.corrupt(
        "\(connection.path) is damaged (the number of its schema is wrong)", movedTo: nil)
    }
    return found.header
  }
}
