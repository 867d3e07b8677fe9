import ChimeCore
package import ChimeRecords

// Moving a store: whole tables are read and written, a thousand rows at a time.

/// A PostgresSource reads a store that is moved elsewhere. It changes nothing.
package final class PostgresSource: StoreSource {
  package let name: String
  private let connection: Connection
  package var tables: any RawTables { connection }

  /// Locks the database for exclusive use.
  ///
  /// - Throws: `.held` if a daemon uses it; `.newerSchema`; or `.unavailable` with advice.
  package init(_ place: PostgresConfiguration) throws {
    connection = try place.connectToMove()
    name = connection.server
    let version = try Schema.version(of: connection)
    guard version > 0 else { throw StoreFailure.unavailable("there is no store in the database on \(name)") }
    guard version <= Schema.current else {
      throw StoreFailure.newerSchema(found: version, known: Schema.current)
    }
    guard version == Schema.current else {
      throw StoreFailure.unavailable(
        "an older chimed wrote the store on \(name): start this chimed once with it, and stop it again")
    }
    _ = try connection.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  }

  deinit { connection.letGo() }
}

/// A PostgresTarget writes a moved store in one transaction.
package final class PostgresTarget: StoreTarget {
  package let name: String
  private let connection: Connection
  package var tables: any RawTables { connection }

  /// Locks the database for exclusive use, creates missing tables, and locks them.
  ///
  /// - Throws: `.held` if a daemon uses it; `.unavailable` if it has rows, or cannot be reached or written.
  package init(_ place: PostgresConfiguration) throws {
    connection = try place.connectToMove()
    name = connection.server
    do {
      _ = try connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
      try Schema.change(connection)
      try requireEmpty()
      // Rows of a daemon's first start give way to the moved ones.
      try connection.script("TRUNCATE \(MovedTables.all.map { "chime.\($0)" }.joined(separator: ", "))")
      try connection.script(Self.makePartitions)
      // The totals that the triggers maintain are moved as well.
      for table in Self.counting { try connection.script("ALTER TABLE chime.\(table) DISABLE TRIGGER USER") }
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Creates partitions for the last two years; the empty ones are dropped at the end.
  private static let makePartitions = """
    SELECT chime.make_month((date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - n * interval '1 month')::date)
    FROM generate_series(0, 24) n
    """

  /// The tables whose triggers maintain totals in other tables.
  private static let counting = ["entry", "due", "reminder"]

  // Waits for the rollback, so that the next user finds the database unchanged.
  deinit { connection.letGo() }

  /// Requires an empty database. Rows that a daemon writes at its first start do not count.
  private func requireEmpty() throws {
    let tables = try connection.all(
      "SELECT tablename::text FROM pg_tables WHERE schemaname = 'chime' ORDER BY 1", row: { $0.text(0) })
    try connection.script(
      "SET LOCAL lock_timeout = 5000; "
        + "LOCK TABLE \(tables.map { "chime.\"\($0)\"" }.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
    for table in tables where !MovedTables.incidental.contains(table) {
      guard try connection.script("SELECT 'found' FROM chime.\"\(table)\" LIMIT 1") != nil else { continue }
      throw StoreFailure.unavailable(
        "the database on \(name) is not empty (there are rows in chime.\(table)): name another one in connection of "
          + "[store], or drop its schema chime")
    }
  }

  package func write(_ shape: TableShape, _ feed: (([RawCell]) throws -> Void) throws -> Void) throws {
    let columns = shape.columns.indices.map { "unnest($\($0 + 1))" }.joined(separator: ", ")
    let statement = "INSERT INTO chime.\"\(shape.table)\" (\(shape.list)) OVERRIDING SYSTEM VALUE SELECT \(columns)"
    let empty = Rows(shape)
    var rows = empty
    try feed { row in
      rows.append(row)
      guard rows.count == Connection.part else { return }
      try connection.run(naming: statement, rows)
      rows = empty
    }
    if rows.count > 0 { try connection.run(naming: statement, rows) }
  }

  package func setLastNumbers(_ numbers: [String: Int64]) throws {
    for (table, last) in numbers where MovedTables.numbered.contains(table) {
      try connection.run("UPDATE number SET last = $2 WHERE name = $1", table, last)
    }
  }

  package func commit() throws {
    // Continue identity columns after the moved rows.
    let identities = try connection.all(
      """
      SELECT table_name::text, column_name::text FROM information_schema.columns
      WHERE table_schema = 'chime' AND is_identity = 'YES'
      """, row: { ($0.text(0), $0.text(1)) })
    for (table, column) in identities {
      try connection.script(
        """
        SELECT setval(pg_get_serial_sequence('chime.\(table)', '\(column)'), max("\(column)"))
        FROM chime."\(table)" HAVING max("\(column)") IS NOT NULL
        """)
    }
    for table in Self.counting { try connection.script("ALTER TABLE chime.\(table) ENABLE TRIGGER USER") }
    let past = try connection.all(
      """
      SELECT to_char(month, '_YYYY_MM') FROM months()
      WHERE month < date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')
      """, row: { $0.text(0) })
    for part in past where try connection.script("SELECT 'found' FROM chime.occurrence\(part) LIMIT 1") == nil {
      try connection.script("DROP TABLE chime.attempt\(part), chime.occurrence\(part)")
    }
    // Planner statistics must fit the new size from the first day on.
    for table in MovedTables.all { try connection.script("ANALYZE chime.\(table)") }
    try connection.script("COMMIT")
  }
}

extension PostgresConfiguration {
  /// Opens a session that holds the store exclusively and has no time limits.
  fileprivate func connectToMove() throws -> Connection {
    let connection = try connect()
    try connection.script("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
    try connection.lock(isShared: false, within: lockTimeout)
    return connection
  }
}

extension Connection: RawTables {
  /// Rolls back and releases the locks.
  fileprivate func letGo() {
    rollBack()
    if !isLost { _ = try? script("SELECT pg_advisory_unlock_all()::text") }
  }

  func shape(of table: String) throws -> TableShape? {
    let columns = try all(
      """
      SELECT column_name::text, data_type::text FROM information_schema.columns
      WHERE table_schema = 'chime' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position
      """, table
    ) { ($0.text(0), $0.text(1)) }
    return TableShape(table, columns: columns)
  }

  func count(_ table: String) throws -> Int {
    try script("SELECT count(*)::text FROM chime.\"\(table)\"").flatMap { Int($0) } ?? 0
  }

  func lastNumbers() throws -> [String: Int64] {
    let found = try all("SELECT name, last FROM number", row: { ($0.text(0), $0.int64(1)) })
    return Dictionary(uniqueKeysWithValues: found)
  }

  /// The number of rows that are read or written at once.
  fileprivate static var part: Int { 1_000 }

  func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws {
    let place = "moved_\(shape.table)"
    try script("DECLARE \(place) NO SCROLL CURSOR FOR SELECT \(shape.list) FROM chime.\"\(shape.table)\"")
    var row: [RawCell] = []
    while true {
      let answer = try run(naming: "FETCH \(Self.part) FROM \(place)")
      if answer.count == 0 { break }
      for each in 0..<answer.count {
        row.removeAll(keepingCapacity: true)
        for (index, column) in shape.columns.enumerated() { row.append(answer[each].cell(Int32(index), column.kind)) }
        try withExtendedLifetime(answer) { try take(row) }
      }
    }
    try script("CLOSE \(place)")
  }
}
