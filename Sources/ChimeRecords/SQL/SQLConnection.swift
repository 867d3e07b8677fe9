package import ChimeCore

/// One session with a database. Not thread-safe: it has one owner, which uses it on one queue.
///
/// SQL is passed as constants (`StaticString`, `SQLText`), so text that came from outside cannot become part of a statement;
/// values are always parameters, `$1` and so on.
package protocol SQLConnection: AnyObject {
  associatedtype Row: StoredRow

  /// The rows that the latest `run` changed.
  var changes: Int { get }

  /// Runs a statement to its end, passing over its rows.
  func run<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws(StoreFailure)

  /// What `row` makes of each row, in order. `row` must not use the same SQL again.
  func all<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> [Made]

  /// What `row` makes of the first row, if there is one. `row` must not use the same SQL again.
  func first<Made, each Value: SQLValue>(
    _ sql: StaticString, _ values: repeat each Value, row: (Row) throws -> Made
  ) throws -> Made?

  /// As `run`, for a statement put together from constant pieces.
  func run(_ query: ComposedQuery) throws(StoreFailure)

  /// As `all`, for a query put together from constant pieces.
  func all<Made>(_ query: ComposedQuery, row: (Row) throws -> Made) throws -> [Made]
}

extension SQLConnection {
  /// Runs an INSERT with `RETURNING key`.
  package func makeKey<each Value: SQLValue>(_ sql: StaticString, _ values: repeat each Value) throws -> Int64 {
    guard let key = try first(sql, repeat each values, row: { $0.int64(0) }) else {
      throw StoreFailure.internalError("the database gave no key for a new row")
    }
    return key
  }
}
