package import ChimeSchedule
package import ChimeTracking

/// The database type of a parameter.
package enum SQLType: Sendable {
  case integer, text, bytes
  /// Arrays, for PostgreSQL only.
  case integers, texts, blobs

  /// The type of an array of such values.
  package var list: SQLType {
    switch self {
    case .integer, .integers: .integers
    case .text, .texts: .texts
    case .bytes, .blobs: .blobs
    }
  }
}

/// Receives the parameters of one execution, in order.
package protocol SQLParameters {
  mutating func add(_ integer: Int64)
  mutating func add(_ text: String)
  mutating func add(_ bytes: [UInt8])
  mutating func addNull()
}

/// A value for one parameter of a statement. Both engines store it in the same form.
package protocol SQLValue {
  static var sqlType: SQLType { get }
  func bind(to parameters: inout some SQLParameters)
}

/// A value that is stored as an integer.
package protocol SQLInteger: SQLValue {
  var sqlInteger: Int64 { get }
}

extension SQLInteger {
  package static var sqlType: SQLType { .integer }
  package func bind(to parameters: inout some SQLParameters) { parameters.add(sqlInteger) }
}

extension Int64: SQLInteger { package var sqlInteger: Int64 { self } }
extension Int: SQLInteger { package var sqlInteger: Int64 { Int64(self) } }
extension UInt32: SQLInteger { package var sqlInteger: Int64 { Int64(self) } }
extension Instant: SQLInteger { package var sqlInteger: Int64 { milliseconds } }
extension CivilDate: SQLInteger { package var sqlInteger: Int64 { Int64(dayNumber) } }
extension Quantity: SQLInteger { package var sqlInteger: Int64 { grains } }

extension String: SQLValue {
  package static var sqlType: SQLType { .text }
  package func bind(to parameters: inout some SQLParameters) { parameters.add(self) }
}

extension [UInt8]: SQLValue {
  package static var sqlType: SQLType { .bytes }
  package func bind(to parameters: inout some SQLParameters) { parameters.add(self) }
}

extension Optional: SQLValue where Wrapped: SQLValue {
  package static var sqlType: SQLType { Wrapped.sqlType }
  package func bind(to parameters: inout some SQLParameters) {
    if let self { self.bind(to: &parameters) } else { parameters.addNull() }
  }
}
