import ChimeCore

// The raw form of a store: tables of columns, read and written whole. A store moves to another engine this way, because
// both engines have tables of the same names and columns.

/// A value of a column. Its memory is valid until the closure that received it returns.
package enum RawCell {
  case null
  case integer(Int64)
  /// A text in UTF-8.
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)
}

/// The stored columns of a table, without those that the engine generates.
package struct TableShape: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package enum Kind: Sendable { case integer, text, blob }

    package var name: String
    package var kind: Kind
  }

  package var table: String
  package var columns: [Column]

  /// - Parameter columns: with the engine's names of their types. Without any, the table does not exist.
  package init?(_ table: String, columns: [(name: String, type: String)]) {
    if columns.isEmpty { return nil }
    self.table = table
    self.columns = columns.map { name, type in
      switch type {
      case "INTEGER", "bigint", "integer", "smallint": Column(name: name, kind: .integer)
      case "BLOB", "bytea": Column(name: name, kind: .blob)
      default: Column(name: name, kind: .text)
      }
    }
  }

  /// The quoted names of the columns, for SQL.
  package var list: String { columns.map { "\"\($0.name)\"" }.joined(separator: ", ") }
}

/// The tables of a store in their raw form.
package protocol RawTables: AnyObject {
  /// Returns the columns of a table in `MovedTables`; nil if the table does not exist.
  func shape(of table: String) throws -> TableShape?
  func count(_ table: String) throws -> Int
  /// Passes each row to `take`, in any order, with a cell for each column of `shape`.
  func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws
  /// Returns the last number of each table in `MovedTables.numbered` that was assigned, even if its row is gone.
  func lastNumbers() throws -> [String: Int64]
}

/// A StoreSource reads a whole store as of one moment, while no other program may write to it.
///
/// It is not thread-safe, and its calls block.
package protocol StoreSource: AnyObject {
  /// The store's name in messages.
  var name: String { get }
  var tables: any RawTables { get }
}

/// A StoreTarget receives a moved store. Nothing lasts before `commit`, and without it nothing remains.
package protocol StoreTarget: StoreSource {
  /// Writes the rows that `feed` passes on.
  func write(_ shape: TableShape, _ feed: (_ take: ([RawCell]) throws -> Void) throws -> Void) throws
  func setLastNumbers(_ numbers: [String: Int64]) throws
  /// Verifies the written rows against the schema's constraints, makes them durable, and releases the store.
  func commit() throws
}

/// The tables that are moved from one store to another.
package enum MovedTables {
  /// The tables in order: each comes after those that it references.
  package static let all = [
    "reminder_name", "reminder", "reminder_history", "ping", "due", "occurrence", "delivery_queue", "delivery",
    "attempt", "endpoint",
    "token", "used_token", "note", "tenant", "tenant_count", "change",
    "tracker_name", "item_name", "pack_name", "tracker", "tracker_history", "entry", "entry_history", "item_day",
    "item_total", "day_total", "tracker_summary", "item", "item_history", "milestone", "milestone_history", "pack",
    "pack_history", "achievement", "experience", "staging_owner",
  ]

  /// Tables whose keys are never reused.
  package static let numbered = ["change", "entry", "milestone"]

  /// Tables that exist in one engine only or describe its own tables. They contain nothing that users entered.
  package static let own: Set<String> = ["layout", "number", "node", "shard_lease", "staying"]

  /// Columns that exist in one engine only and mean nothing after its daemon ends.
  package static let passing: Set<String> = ["delivery.epoch"]

  /// Tables that may have rows in a store that counts as empty: a daemon writes them at its first start.
  package static let incidental: Set<String> = own.union(["note", "tenant"])
}

/// A TableSum is the number of rows of a table and a checksum of their content, independent of their order.
///
/// Two different tables have the same sum with a probability of 2^-64. Sums are comparable within one process only,
/// because `Hasher` is seeded.
package struct TableSum: Hashable {
  package private(set) var rows = 0
  private var sum: UInt64 = 0

  package init() {}

  package mutating func add(_ row: [RawCell]) {
    var hasher = Hasher()
    for cell in row {
      switch cell {
      case .null: hasher.combine(0)
      case .integer(let value):
        hasher.combine(1)
        hasher.combine(value)
      case .text(let bytes):
        hasher.combine(2)
        hasher.combine(bytes.count)
        hasher.combine(bytes: bytes)
      case .blob(let bytes):
        hasher.combine(3)
        hasher.combine(bytes.count)
        hasher.combine(bytes: bytes)
      }
    }
    rows += 1
    sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

// A move copies one store into another.
extension StoreSource {
  /// Returns the number of rows of each table to move.
  package func counts() throws -> [(table: String, rows: Int)] {
    try MovedTables.all.map { ($0, try tables.count($0)) }
  }

  /// Copies everything into `target`, reads it back, compares the two, and commits.
  ///
  /// - Parameter progress: receives the number of rows written and read back so far; each row counts twice.
  /// - Throws: `StoreFailure`; the target is then unchanged.
  package func move(into target: any StoreTarget, progress: (_ done: Int) -> Void) throws {
    var done = 0
    func count() {
      done += 1
      if done & 0xFFF == 0 { progress(done) }
    }
    for table in MovedTables.all {
      let shape = try shape(of: table, in: target)
      var written = TableSum()
      try target.write(shape) { take in
        try tables.read(shape) { row in
          written.add(row)
          try take(row)
          count()
        }
      }
      var found = TableSum()
      try target.tables.read(shape) { row in
        found.add(row)
        count()
      }
      guard found == written else {
        throw StoreFailure.internalError(
          "\(target.name) does not give back what was written to \(table) (\(written.rows) rows, \(found.rows) came "
            + "back); nothing was moved")
      }
    }
    try target.setLastNumbers(try tables.lastNumbers())
    try target.commit()
  }

  /// Returns the columns that both stores have.
  private func shape(of table: String, in target: any StoreTarget) throws -> TableShape {
    guard var shape = try tables.shape(of: table), let other = try target.tables.shape(of: table) else {
      throw StoreFailure.internalError("there is no table \(table) in one of the stores; nothing was moved")
    }
    for column in shape.columns where !other.columns.contains(column) {
      guard MovedTables.passing.contains("\(table).\(column.name)") else {
        throw StoreFailure.internalError(
          "\(target.name) has no place for \(column.name) of \(table); nothing was moved")
      }
    }
    shape.columns.removeAll { !other.columns.contains($0) }
    return shape
  }
}
