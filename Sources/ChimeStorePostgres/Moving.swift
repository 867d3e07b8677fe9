import CPostgres
import ChimeCore
package import ChimeRecords
import Glibc

// Moving a store: whole tables are read and written by COPY in binary format (postgresql.org/docs/15/sql-copy.html,
// "Binary Format").

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
      try connection.script("SELECT pg_advisory_xact_lock(\(Schema.migrationLock))")
      try Schema.change(connection)
      try requireEmpty()
      // TRUNCATE in the same transaction allows FREEZE, so that the rows are written only once.
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
  private static let dropEmptyPartitions = """
    DO $body$
    DECLARE part TEXT; used BOOLEAN;
    BEGIN
      FOR part IN
        SELECT to_char(m.month, '_YYYY_MM') FROM chime.months() m
        WHERE m.month < date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')
      LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM chime.%I)', 'occurrence' || part) INTO used;
        IF NOT used THEN EXECUTE format('DROP TABLE chime.%I, chime.%I', 'attempt' || part, 'occurrence' || part); END IF;
      END LOOP;
    END $body$
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
    guard let columns = try connection.columns(of: shape.table) else { return }
    let widths = shape.columns.map { columns.widths[$0.name] ?? 8 }
    if shape.table == "attempt", !shape.columns.contains(where: { $0.name == "scheduled_at" }) {
      return try writeAttempts(shape, widths, feed)
    }
    // FREEZE does not work for rows that are routed to partitions.
    let isDivided = ["occurrence", "attempt"].contains(shape.table)
    try connection.write(shape, widths, isFrozen: !isDivided, feed)
  }

  /// Writes attempts from a source that does not know their partition: SQLite's table has no `scheduled_at`.
  private func writeAttempts(
    _ shape: TableShape, _ widths: [Int], _ feed: (([RawCell]) throws -> Void) throws -> Void
  ) throws {
    try connection.script(
      """
      CREATE TABLE chime.attempt_moved (LIKE chime.attempt); ALTER TABLE chime.attempt_moved DROP COLUMN scheduled_at
      """)
    var moved = shape
    moved.table = "attempt_moved"
    try connection.write(moved, widths, isFrozen: true, feed)
    let columns = shape.columns.map { "t.\"\($0.name)\"" }.joined(separator: ", ")
    try connection.script(
      """
      INSERT INTO chime.attempt (\(shape.list), scheduled_at)
        SELECT \(columns), coalesce(d.scheduled_at, t.started_at)
        FROM chime.attempt_moved t LEFT JOIN chime.delivery d ON d.key = t.delivery;
      DROP TABLE chime.attempt_moved
      """)
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
    try connection.script(Self.dropEmptyPartitions)
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
    do {
      // A session that has just ended may hold the lock for a moment longer.
      try connection.script("SET lock_timeout = \(lockTimeout); SELECT pg_advisory_lock(\(Schema.daemonLock))::text")
      try connection.script("SET lock_timeout = 0")
    } catch {
      guard !connection.isLost, let holder = try connection.script(Self.holder) else { throw error }
      throw StoreFailure.held(by: holder)
    }
    return connection
  }

  private static let holder = """
    SELECT 'session ' || l.pid || ' of ' || a.usename || ' at '
      || coalesce(host(a.client_addr), 'the database''s own machine')
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
      AND (l.classid::bigint, l.objid::bigint) = (\(Schema.daemonLock))
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
}

/// A table's columns with the widths of its integers.
private struct Columns {
  var shape: TableShape
  /// The width in bytes by column.
  var widths: [String: Int]
}

extension Connection: RawTables {
  /// Rolls back and releases the locks.
  fileprivate func letGo() {
    rollBack()
    if !isLost { _ = try? script("SELECT pg_advisory_unlock_all()::text") }
  }

  func shape(of table: String) throws -> TableShape? { try columns(of: table)?.shape }

  fileprivate func columns(of table: String) throws -> Columns? {
    let found = try all(
      """
      SELECT column_name::text, data_type::text FROM information_schema.columns
      WHERE table_schema = 'chime' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position
      """, table, row: { ($0.text(0), $0.text(1)) })
    if found.isEmpty { return nil }
    let widths = ["bigint": 8, "integer": 4, "smallint": 2, "boolean": 1]
    return Columns(
      shape: TableShape(
        table: table,
        columns: found.map { name, type in
          TableShape.Column(name: name, kind: widths[type] != nil ? .integer : type == "bytea" ? .blob : .text)
        }), widths: Dictionary(uniqueKeysWithValues: found.map { ($0, widths[$1] ?? 0) }))
  }

  func count(_ table: String) throws -> Int {
    try script("SELECT count(*)::text FROM chime.\"\(table)\"").flatMap { Int($0) } ?? 0
  }

  func lastNumbers() throws -> [String: Int64] {
    let found = try all("SELECT name, last FROM number", row: { ($0.text(0), $0.int64(1)) })
    return Dictionary(uniqueKeysWithValues: found)
  }

  // MARK: Reading

  func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws {
    try startCopy("COPY (SELECT \(shape.list) FROM chime.\"\(shape.table)\") TO STDOUT (FORMAT binary)", PGRES_COPY_OUT)
    var isFirst = true
    var row: [RawCell] = []
    while true {
      var start: UnsafeMutablePointer<CChar>?
      let count = chime_pq_get_row(handle, &start)
      guard count >= 0, let start else { break }
      defer { chime_pq_free(start) }
      var bytes = CopiedRows(rest: UnsafeRawBufferPointer(start: start, count: Int(count)))
      if isFirst { bytes.skipHeader() }
      isFirst = false
      while bytes.next(shape, &row) {
        do {
          try take(row)
        } catch {
          // The server is still sending rows that nobody will read.
          abandon()
          throw error
        }
      }
    }
    try endCopy()
  }

  // MARK: Writing

  fileprivate func write(
    _ shape: TableShape, _ widths: [Int], isFrozen: Bool, _ feed: (([RawCell]) throws -> Void) throws -> Void
  ) throws {
    try startCopy(
      "COPY chime.\"\(shape.table)\" (\(shape.list)) FROM STDIN (FORMAT binary, FREEZE \(isFrozen))", PGRES_COPY_IN)
    var rows = RowsToCopy()
    do {
      try feed { row in
        try rows.add(row, widths, shape)
        if rows.isLong { try put(&rows) }
      }
      rows.end()
      try put(&rows)
    } catch {
      _ = chime_pq_end_rows(handle, "the move was cancelled")
      try? endCopy()
      throw error
    }
    guard chime_pq_end_rows(handle, nil) == 1 else { throw loss() }
    try endCopy()
  }

  private func put(_ rows: inout RowsToCopy) throws {
    let isTaken = rows.bytes.withUnsafeBytes { bytes in
      chime_pq_put_rows(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)) == 1
    }
    guard isTaken else { throw loss() }
    rows.bytes.removeAll(keepingCapacity: true)
  }
}

/// A buffer of rows in COPY format.
private struct RowsToCopy {
  // The signature "PGCOPY\n\377\r\n\0", the flags, and an empty header extension.
  var bytes: [UInt8] =
    [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

  var isLong: Bool { bytes.count > 1 << 16 }

  mutating func add(_ row: [RawCell], _ widths: [Int], _ shape: TableShape) throws {
    append(Int16(row.count))
    for (index, cell) in row.enumerated() {
      switch cell {
      case .null: append(Int32(-1))
      case .integer(let value): try append(value, widths[index], shape, index)
      case .text(let content), .blob(let content):
        append(Int32(content.count))
        bytes.append(contentsOf: content)
      }
    }
  }

  mutating func end() { append(Int16(-1)) }

  private mutating func append(_ value: Int64, _ width: Int, _ shape: TableShape, _ index: Int) throws {
    append(Int32(width))
    switch width {
    case 8: append(value)
    case 4 where Int32(exactly: value) != nil: append(Int32(value))
    case 2 where Int16(exactly: value) != nil: append(Int16(value))
    case 1 where value == 0 || value == 1: bytes.append(UInt8(value))
    default:
      throw StoreFailure.internalError(
        "\(shape.columns[index].name) of \(shape.table) is \(value), which cannot be stored; nothing was moved")
    }
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

/// A reader of rows in COPY format.
private struct CopiedRows {
  var rest: UnsafeRawBufferPointer

  mutating func skipHeader() {
    _ = part(15)
    let extra: Int32 = number() ?? 0
    _ = part(Int(extra))
  }

  /// Reads the next row. Returns false at the end.
  mutating func next(_ shape: TableShape, _ row: inout [RawCell]) -> Bool {
    guard let count: Int16 = number(), count == shape.columns.count else { return false }
    row.removeAll(keepingCapacity: true)
    for column in shape.columns {
      guard let length: Int32 = number(), length >= 0 else {
        row.append(.null)
        continue
      }
      let content = part(Int(length))
      switch column.kind {
      case .integer: row.append(.integer(Self.integer(content)))
      case .text: row.append(.text(content))
      case .blob: row.append(.blob(content))
      }
    }
    return true
  }

  /// Decodes an integer of any width, or a boolean.
  private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    let isNegative = bytes.count > 1 && bytes[0] >= 0x80
    return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
  }

  private mutating func part(_ count: Int) -> UnsafeRawBufferPointer {
    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    return part
  }

  private mutating func number<Value: FixedWidthInteger>() -> Value? {
    guard rest.count >= MemoryLayout<Value>.size else { return nil }
    return Value(bigEndian: part(MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
  }
}
