/// Any JSON value, for tools and for members of the types `object` and `any`.
///
///     let value: JSON = ["title": "Tea", "minutes": 25]
///
/// A whole number that 64 bits hold is an ``int(_:)`` however it was written; JSON does not tell 1 from 1.0.
public enum JSON: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number.
  case int(Int64)
  /// Any other number; not one that is infinite or not a number, which JSON cannot write.
  case double(Double)
  /// Text.
  case string(String)
  /// A list of values.
  case array([JSON])
  /// Values by name, in no order.
  case object([String: JSON])

  /// Reads JSON text.
  ///
  /// - Throws: ``JSONFault``.
  public init(parsing text: some StringProtocol) throws(JSONFault) {
    self = try JSONReader.read(from: Array(text.utf8))
  }

  /// The value as compact JSON text, members sorted by name; a number JSON cannot write becomes `null`.
  public var bytes: [UInt8] {
    // Only a number that is not finite can fail, and `write(to:)` writes it as null.
    (try? JSONWriter.bytes(of: self)) ?? Array("null".utf8)
  }

  /// The member of this name, if this is an object that has it.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A ``bool(_:)``.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An ``int(_:)``.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A whole number is an ``int(_:)``, as it is when decoded.
  public init(floatLiteral value: Double) { self = Int64(exactly: value).map(JSON.int) ?? .double(value) }
  /// A ``string(_:)``.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An ``array(_:)``.
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// An ``object(_:)``; the last of several members of one name is kept.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension JSON: CustomStringConvertible {
  /// The value as JSON text.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
