/// A type whose values can be written as JSON text.
public protocol JSONWritable {
  func write(to writer: inout JSONWriter)

  /// Whether the value is absent, so that its field is omitted.
  var isMissing: Bool { get }
}

extension JSONWritable {
  public var isMissing: Bool { false }
}

/// A type that can be both read from and written as JSON text.
public typealias JSONCodable = JSONReadable & JSONWritable

/// A JSONWriter writes values as compact JSON text (RFC 8259).
///
///     let bytes = try JSONWriter.bytes(of: ping)   // {"at":"2026-07-01T08:00:00Z","kind":"succeeded"}
public struct JSONWriter {
  private var bytes: [UInt8] = []
  /// Whether a value had no JSON form, such as a number that is not finite.
  private var isUnfit = false

  /// - Throws: ``VarlinkEncodingError/notEncodable(_:)`` if a value has no JSON form, such as a number that is not
  ///   finite.
  public static func bytes(of value: some JSONWritable) throws(VarlinkEncodingError) -> [UInt8] {
    var writer = JSONWriter()
    value.write(to: &writer)
    guard !writer.isUnfit else { throw .notEncodable("a number is not finite, or a value cannot be encoded") }
    return writer.bytes
  }

  private init() {}

  public mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

  public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

  /// Reopens the object that just ended, to add fields.
  public mutating func reopenObject() {
    if bytes.last == UInt8(ascii: "}") { bytes.removeLast() }
  }

  /// Writes a field of an object, unless its value is missing.
  ///
  /// - Parameter name: Letters and digits only; it is not escaped.
  public mutating func field(_ name: StaticString, _ value: some JSONWritable) {
    guard !value.isMissing else { return }
    separate(after: UInt8(ascii: "{"))
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    value.write(to: &self)
  }

  /// Appends JSON text; nil marks a value without a JSON form.
  mutating func append(_ text: [UInt8]?) {
    if let text { bytes += text } else { isUnfit = true }
  }

  private mutating func separate(after bracket: UInt8) {
    if bytes.last != bracket { bytes.append(UInt8(ascii: ",")) }
  }

  fileprivate mutating func map(_ members: [String: some JSONWritable]) {
    beginObject()
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where !value.isMissing {
      separate(after: UInt8(ascii: "{"))
      string(name)
      bytes.append(UInt8(ascii: ":"))
      value.write(to: &self)
    }
    endObject()
  }

  fileprivate mutating func list(_ elements: [some JSONWritable]) {
    bytes.append(UInt8(ascii: "["))
    for element in elements {
      separate(after: UInt8(ascii: "["))
      element.write(to: &self)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Appends a literal or a number.
  fileprivate mutating func word(_ text: String) { bytes.append(contentsOf: text.utf8) }

  fileprivate mutating func number(_ value: Double) {
    guard value.isFinite else {
      isUnfit = true
      return
    }
    let text = value.description
    word(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  fileprivate mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
      for byte in text.utf8 { escape(byte) }
    } else {
      bytes.append(contentsOf: text.utf8)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x08: word("\\b")
    case 0x09: word("\\t")
    case 0x0A: word("\\n")
    case 0x0C: word("\\f")
    case 0x0D: word("\\r")
    case 0..<0x20: word("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
    default: bytes.append(byte)
    }
  }
}

extension String: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Bool: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.word(self ? "true" : "false") }
}

extension Int: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.word(description) }
}

extension Int64: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.word(description) }
}

extension Double: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.number(self) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    if let self { self.write(to: &writer) } else { writer.word("null") }
  }

  public var isMissing: Bool { self == nil }
}

extension Array: JSONWritable where Element: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.list(self) }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.map(self) }
}

extension JSONWritable where Self: RawRepresentable, RawValue == String {
  public func write(to writer: inout JSONWriter) { writer.string(rawValue) }
}

extension JSON: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.word("null")
    case .bool(let value): value.write(to: &writer)
    case .int(let value): value.write(to: &writer)
    case .double(let value): if value.isFinite { value.write(to: &writer) } else { writer.word("null") }
    case .string(let value): value.write(to: &writer)
    case .array(let value): value.write(to: &writer)
    case .object(let value): value.write(to: &writer)
    }
  }
}
