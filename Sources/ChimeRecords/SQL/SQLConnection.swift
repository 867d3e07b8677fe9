package import ChimeCore

/// An SQLConnection is one session with a database. It is not thread-safe: one owner uses it on one queue.
///
/// SQL is passed as constants (`StaticString`, `SQLText`), so external text cannot become part of a statement. Values are
/// always parameters (`$1`, …).
package protocol SQLConnection: AnyObject {
  associatedtype Row: StoredRow

  /// Whether the engine gives each row of a numbered table its key. Otherwise the table `number` has the last one.
  static var assignsNumbers: Bool { get }

  /// The number of rows that the latest `run` changed.
  var changes: Int { get }

  /// Runs a statement to its end and ignores its rows.
  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure)

  /// Returns the results of `row` for all rows, in order. `row` must not use the same SQL.
  func all<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> [Made]

  /// Returns the result of `row` for the first row; nil if there is none. `row` must not use the same SQL.
  func first<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> Made?

  /// Runs a composed statement.
  func run(_ query: ComposedQuery) throws(StoreFailure)

  /// Returns the results of `row` for all rows of a composed query.
  func all<Made>(_ query: ComposedQuery, row: (Row) throws -> Made) throws -> [Made]
}

extension SQLConnection {
  /// Inserts a row, or replaces the one with the same key, by the values of the columns in order.
  func put(_ table: SQLText, key: SQLText, _ columns: SQLText, _ values: any SQLValue...) throws(StoreFailure) {
    try run(ComposedQuery(.upsert(table, key: key, columns), all: values))
  }

  /// Returns whether a query has rows.
  package func exists<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws -> Bool {
    try first(sql, repeat each values) { _ in true } ?? false
  }

  /// Runs an INSERT with `RETURNING key` and returns the key.
  package func makeKey<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws -> Int64 {
    try newKey(try first(sql, repeat each values) { $0.int64(0) })
  }

  func newKey(_ key: Int64?) throws(StoreFailure) -> Int64 {
    guard let key else { throw .internalError("the database gave no key for a new row") }
    return key
  }
}
