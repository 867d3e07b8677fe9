public import Varlink

/// A value of the interface files. What is generated from them conforms.
public protocol WireValue: JSONCodable, Equatable, Sendable {
  /// The names of its fields, in the order of the interface file.
  static var fieldNames: [String] { get }
  /// What the fields hold, in the same order.
  var fieldValues: [Any?] { get }
}
