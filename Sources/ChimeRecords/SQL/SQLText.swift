/// A statement, or a piece of one, made of constants alone: what a user gave is only ever a parameter.
///
/// The text is SQLite's. PostgreSQL understands it once the hints to the planner (`INDEXED BY`, `CROSS JOIN … ON`) are left
/// out and `instr` is called `strpos`, which its connection does when it prepares a statement.
package struct SQLText: ExpressibleByStringInterpolation, Sendable {
  package let text: String

  package init(stringLiteral value: StaticString) { text = value.description }

  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

    package mutating func appendInterpolation(_ constant: StaticString) { text += constant.description }

    package mutating func appendInterpolation(_ piece: SQLText) { text += piece.text }
  }
}

/// A query put together from pieces, one for each filter that is set. In the pieces each parameter is a `?`; a statement
/// in one piece may number them itself.
package struct ComposedQuery {
  package private(set) var sql = ""
  package private(set) var values: [any SQLValue] = []
  private var hasCondition = false

  package init(_ sql: SQLText, _ values: any SQLValue...) {
    add(sql)
    self.values = values
  }

  /// Adds a condition, with one value for each of its parameters.
  package mutating func require(_ condition: SQLText, _ values: any SQLValue...) {
    sql += hasCondition ? "\n  AND " : "\nWHERE "
    add(condition)
    hasCondition = true
    self.values += values
  }

  /// Adds what follows the conditions.
  package mutating func append(_ tail: SQLText, _ values: any SQLValue...) {
    sql += "\n"
    add(tail)
    self.values += values
  }

  /// What follows may have conditions of its own.
  package mutating func beginConditions() { hasCondition = false }

  private var count = 0

  private mutating func add(_ piece: SQLText) {
    // By bytes that lie side by side: to look at characters took a third of what a short change costs.
    var text = piece.text
    text.withUTF8 { bytes in
      var start = 0
      for index in bytes.indices where bytes[index] == UInt8(ascii: "?") {
        count += 1
        sql += String(decoding: bytes[start..<index], as: UTF8.self)
        sql += "$\(count)"
        start = index + 1
      }
      sql += start == 0 ? piece.text : String(decoding: bytes[start...], as: UTF8.self)
    }
  }
}
