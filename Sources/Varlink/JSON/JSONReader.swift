/// A type whose values can be read from JSON text in one pass.
///
/// Types generated from interface files conform, as do strings, numbers, and lists and maps of conforming types.
public protocol JSONReadable {
  /// Reads the value at the reader's position and advances past it.
  init(reading reader: inout JSONReader) throws(JSONFault)
}

/// Why a value cannot be read.
public struct JSONFault: Error, Hashable {
  public enum Reason: Hashable, Sendable {
    /// The text is not JSON.
    case syntax
    /// A required field is missing.
    case missing
    /// The value has the wrong type or is out of range.
    case unfit
  }

  public let reason: Reason
  /// The path of the value, such as `reminder.tags[2]`; empty for the whole value.
  public private(set) var path = ""

  public init(_ reason: Reason) { self.reason = reason }

  /// The top-level field that contains the value; nil for the whole value.
  public var field: String? {
    path.isEmpty ? nil : String(path.prefix { $0 != "." && $0 != "[" })
  }

  @usableFromInline func within(_ name: String) -> JSONFault {
    var fault = self
    fault.path = path.isEmpty || path.hasPrefix("[") ? name + path : FieldPath.member(path, of: name)
    return fault
  }
}

/// A JSONReader reads typed values from JSON text (RFC 8259) without intermediate values.
///
///     let ping = try JSONReader.read(Ping.self, from: bytes)
///
/// Unknown fields are ignored. The last of several fields with one name counts.
public struct JSONReader {
  private var scanner: JSONScanner

  /// Maximum nesting; deeper values are refused.
  private static let maxNesting = 512

  /// Reads a text that contains one value. An empty text counts as an empty object.
  ///
  /// - Throws: ``JSONFault`` with the path of the wrong value.
  public static func read<Value: JSONReadable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8]
  ) throws(JSONFault) -> Value {
    guard (try? UTF8Span(validating: bytes.span)) != nil else { throw JSONFault(.syntax) }
    var reader = JSONReader(scanner: JSONScanner(bytes.isEmpty ? Array("{}".utf8) : bytes, maxNesting: maxNesting))
    let value = try Value(reading: &reader)
    try reader.scan { (scanner) throws(JSONScanner.Fault) in try scanner.expectEnd() }
    return value
  }

  private init(scanner: JSONScanner) { self.scanner = scanner }

  /// Enters an object.
  public mutating func beginObject() throws(JSONFault) {
    guard try kind() == .object else { throw JSONFault(.unfit) }
    try scan { (scanner) throws(JSONScanner.Fault) in try scanner.beginObject() }
  }

  /// Returns the name of the next field; nil at the end of the object. Read or skip its value before the next call.
  public mutating func nextName() throws(JSONFault) -> String? {
    try scan { (scanner) throws(JSONScanner.Fault) in try scanner.nextKey().map(scanner.text) }
  }

  /// Reads the value of a field. Errors contain the field's name in their path.
  public mutating func value<Value: JSONReadable>(of name: String) throws(JSONFault) -> Value {
    do { return try Value(reading: &self) } catch { throw error.within(name) }
  }

  /// Skips a value.
  public mutating func skip() throws(JSONFault) {
    _ = try scan { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
  }

  /// Returns the text of a value and advances past it.
  mutating func text() throws(JSONFault) -> ArraySlice<UInt8> {
    try scan { (scanner) throws(JSONScanner.Fault) in
      let range = try scanner.skipValue()
      return scanner.bytes[range]
    }
  }

  /// Returns the value of a required field; throws if it is nil.
  ///
  /// Inlinable: every required field calls it, and its type would be looked up each time.
  @inlinable public static func given<Value>(_ value: Value?, _ name: String) throws(JSONFault) -> Value {
    guard let value else { throw JSONFault(.missing).within(name) }
    return value
  }

  fileprivate mutating func kind() throws(JSONFault) -> JSONScanner.Kind {
    try scan { (scanner) throws(JSONScanner.Fault) in try scanner.peek() }
  }

  fileprivate mutating func string() throws(JSONFault) -> String {
    guard try kind() == .string else { throw JSONFault(.unfit) }
    return try scan { (scanner) throws(JSONScanner.Fault) in scanner.text(try scanner.string()) }
  }

  fileprivate mutating func bool() throws(JSONFault) -> Bool {
    guard try kind() == .bool else { throw JSONFault(.unfit) }
    return try scan { (scanner) throws(JSONScanner.Fault) in try scanner.bool() }
  }

  /// Advances past `null` and returns true, or returns false for any other value.
  fileprivate mutating func null() throws(JSONFault) -> Bool {
    guard try kind() == .null else { return false }
    try scan { (scanner) throws(JSONScanner.Fault) in try scanner.null() }
    return true
  }

  /// Reads a number as text.
  fileprivate mutating func number() throws(JSONFault) -> Substring {
    guard try kind() == .number else { throw JSONFault(.unfit) }
    return try scan { (scanner) throws(JSONScanner.Fault) in Substring(scanner.text(try scanner.number())) }
  }

  fileprivate mutating func elements(_ read: (inout JSONReader) throws(JSONFault) -> Void) throws(JSONFault) {
    guard try kind() == .array else { throw JSONFault(.unfit) }
    try scan { (scanner) throws(JSONScanner.Fault) in try scanner.beginArray() }
    var index = 0
    while try scan({ (scanner) throws(JSONScanner.Fault) in try scanner.nextElement() }) {
      do { try read(&self) } catch { throw error.within("[\(index)]") }
      index += 1
    }
  }

  private mutating func scan<Value>(
    _ body: (inout JSONScanner) throws(JSONScanner.Fault) -> Value
  ) throws(JSONFault) -> Value {
    do { return try body(&scanner) } catch { throw JSONFault(.syntax) }
  }
}

extension String: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) { self = try reader.string() }
}

extension Bool: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) { self = try reader.bool() }
}

extension Double: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    guard let value = Double(try reader.number()), value.isFinite else { throw JSONFault(.unfit) }
    self = value
  }
}

extension FixedWidthInteger {
  /// Reads an integer in any notation: 3, 3.0, 3e0.
  fileprivate init(whole reader: inout JSONReader) throws(JSONFault) {
    let text = try reader.number()
    guard let value = Self(text) ?? Double(text).flatMap({ Self(exactly: $0) }) else { throw JSONFault(.unfit) }
    self = value
  }
}

extension Int: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) { try self.init(whole: &reader) }
}

extension Int64: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) { try self.init(whole: &reader) }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    self = try reader.null() ? nil : Wrapped(reading: &reader)
  }
}

extension Array: JSONReadable where Element: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    self = []
    try reader.elements { (reader) throws(JSONFault) in append(try Element(reading: &reader)) }
  }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    self = [:]
    try reader.beginObject()
    while let name = try reader.nextName() { self[name] = try reader.value(of: name) as Value }
  }
}

extension JSONReadable where Self: RawRepresentable, RawValue == String {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    guard let value = Self(rawValue: try reader.string()) else { throw JSONFault(.unfit) }
    self = value
  }
}

extension JSON: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    switch try reader.kind() {
    case .null:
      _ = try reader.null()
      self = .null
    case .bool: self = .bool(try reader.bool())
    case .string: self = .string(try reader.string())
    case .array: self = .array(try [JSON](reading: &reader))
    case .object: self = .object(try [String: JSON](reading: &reader))
    case .number:
      let text = try reader.number()
      guard let value = Double(text), value.isFinite else { throw JSONFault(.unfit) }
      self = (Int64(text) ?? Int64(exactly: value)).map(JSON.int) ?? .double(value)
    }
  }
}
