public import Varlink

/// A type that is generated from the interface files.
public protocol WireValue: JSONCodable, Equatable, Sendable {
  /// The names of the fields in the order of the interface file.
  static var fieldNames: [String] { get }
  /// The values of the fields in the same order.
  var fieldValues: [Any?] { get }
}
