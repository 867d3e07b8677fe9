/// A JSON value of any type, for tools and for members of the types `object` and `any`.
///
///     let value: JSON = ["title": "Tea", "minutes": 25]
///
/// An integer of 64 bits is always an ``int(_:)``, since JSON does not distinguish 1 from 1.0.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Any other finite number. JSON has no notation for infinity and NaN.
  case double(Double)
  case string(String)
  case array([JSON])
  /// Members by name, unordered.
  case object([String: JSON])

  /// Parses JSON text.
  ///
  /// - Throws: ``JSONFault``.
  public init(parsing text: some StringProtocol) throws(JSONFault) {
    self = try JSONReader.read(from: Array(text.utf8))
  }

  /// The value as compact JSON text with sorted members. Numbers that are not finite become `null`.
  public var bytes: [UInt8] {
    // Encoding fails only for numbers that are not finite, and `write(to:)` writes those as null.
    (try? JSONWriter.bytes(of: self)) ?? Array("null".utf8)
  }

  /// The member with this name; `nil` if there is none or the value is no object.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Creates an ``int(_:)`` for a whole number, as the parser does.
  public init(floatLiteral value: Double) { self = Int64(exactly: value).map(JSON.int) ?? .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// Creates an ``object(_:)``. The last of several members with one name is kept.
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension JSON: CustomStringConvertible {
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
