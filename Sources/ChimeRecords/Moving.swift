import ChimeCore

// A store as it is kept: tables of columns, read and written whole. That is how one moves from an engine to another, whose
// tables are the same by name, column for column.

/// A value of a column. What it points to is there until the closure that was given it returns.
package enum RawCell {
  case null
  case integer(Int64)
  /// UTF-8.
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)
}

/// The columns of a table that are kept; what the engine computes is left out.
package struct TableShape: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package enum Kind: Sendable { case integer, text, blob }

    package var name: String
    package var kind: Kind

    package init(name: String, kind: Kind) {
      self.name = name
      self.kind = kind
    }
  }

  package var table: String
  package var columns: [Column]

  package init(table: String, columns: [Column]) {
    self.table = table
    self.columns = columns
  }

  /// The names of the columns as SQL has them, quoted.
  package var list: String { columns.map { "\"\($0.name)\"" }.joined(separator: ", ") }
}

/// A store that is read whole, at one moment, while nobody else may write to it.
///
/// Not thread-safe, and its calls block.
package protocol StoreSource: AnyObject {
  /// How it is called in sentences.
  var name: String { get }
  /// The columns of a table of `MovedTables`; nil when it has no such table.
  func shape(of table: String) throws -> TableShape?
  func count(_ table: String) throws -> Int
  /// Hands each row to `take`, in no order, with a cell for each column of `shape`.
  func read(_ shape: TableShape, _ take: ([RawCell]) throws -> Void) throws
  /// The last number of each table in `MovedTables.numbered` that was given to a row, whether that is there still.
  func lastNumbers() throws -> [String: Int64]
}

/// A store that another one is moved into. Nothing of what is done lasts before `commit`, and nothing is left without it.
package protocol StoreTarget: StoreSource {
  /// Makes a table's rows of those that `feed` hands on.
  func write(_ shape: TableShape, _ feed: (_ take: ([RawCell]) throws -> Void) throws -> Void) throws
  func setLastNumbers(_ numbers: [String: Int64]) throws
  /// Holds what was written to the rules of the layout, makes it last, and lets the store go.
  func commit() throws
}

/// What is moved from one store to another.
package enum MovedTables {
  /// Each after those that it points to.
  package static let all = [
    "alias", "reminder", "reminder_before", "ping", "due", "occurrence", "lane", "delivery", "attempt", "endpoint",
    "token", "spent", "note", "tenant", "tenant_count", "change",
    "tracker_name", "item_name", "pack_name", "tracker", "tracker_before", "entry", "entry_before", "item_day",
    "item_total", "day_total", "tracker_summary", "item", "item_before", "milestone", "milestone_before", "pack",
    "pack_before", "achievement", "experience", "shelf",
  ]

  /// Tables whose keys are given once, even when the row has gone.
  package static let numbered = ["change", "entry", "milestone"]

  /// Tables that only one of the engines has, or that are about its own tables, and which say nothing of what its users
  /// have entered.
  package static let own: Set<String> = ["layout", "number", "node", "shard_lease", "revision", "staying"]

  /// Columns that only one of the engines has, and which say nothing that outlives its daemon.
  package static let passing: Set<String> = ["delivery.epoch", "attempt.scheduled_at"]

  /// Tables that may have rows in a store that counts as empty: a daemon writes them at its first start.
  package static let incidental: Set<String> = own.union(["note", "tenant"])
}

/// How many rows a table has, and a sum of all that is in them, by which two readings of it are held together. Rows count
/// whatever their order is.
///
/// Two tables that are not the same have the same sum once in 2^64 cases. It is of use within one run of the program.
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

/// Moves one store into another.
package struct StoreMove {
  private let source: any StoreSource

  package init(from source: any StoreSource) { self.source = source }

  /// What is there to move: rows of each table, none left out.
  package func counts() throws -> [(table: String, rows: Int)] {
    try MovedTables.all.map { ($0, try source.count($0)) }
  }

  /// Writes everything into `target`, reads it back, holds both against each other, and commits.
  ///
  /// - Parameter progress: told now and then how many rows have been written and read back, two for each that there is.
  /// - Throws: `StoreFailure`; nothing is left in the target then.
  package func run(into target: any StoreTarget, progress: (_ done: Int) -> Void) throws {
    var done = 0
    func count() {
      done += 1
      if done & 0xFFF == 0 { progress(done) }
    }
    for table in MovedTables.all {
      let shape = try shape(of: table, in: target)
      var written = TableSum()
      try target.write(shape) { take in
        try source.read(shape) { row in
          written.add(row)
          try take(row)
          count()
        }
      }
      var found = TableSum()
      try target.read(shape) { row in
        found.add(row)
        count()
      }
      guard found == written else {
        throw StoreFailure.internalError(
          "\(target.name) does not give back what was written to \(table) (\(written.rows) rows, \(found.rows) came "
            + "back); nothing was moved")
      }
    }
    try target.setLastNumbers(try source.lastNumbers())
    try target.commit()
  }

  /// The columns that both have.
  private func shape(of table: String, in target: any StoreTarget) throws -> TableShape {
    guard var shape = try source.shape(of: table), let other = try target.shape(of: table) else {
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
