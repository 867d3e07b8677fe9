/// A Mismatch says where and how a value differs from its declared type.
public struct Mismatch: Error, Hashable, CustomStringConvertible {
  /// The path of the value, such as `reminder.tags[2]`; empty for the whole value.
  public let path: String
  /// What is wrong with the value.
  public let problem: String

  public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}

extension Interface {
  /// Checks a value against a type of this interface. Fields must be declared and of their type; only nullable ones may
  /// be missing.
  ///
  /// - Throws: ``Mismatch`` for the first difference.
  public func validate(_ value: JSON, as type: ValueType) throws(Mismatch) {
    try validate(value.bytes, range: nil, as: type, maxNesting: .max)
  }

  /// Checks JSON text without building values. Empty text counts as an empty object.
  func validate(_ bytes: [UInt8], range: Range<Int>?, as type: ValueType, maxNesting: Int) throws(Mismatch) {
    let isMissing = bytes.isEmpty || range?.isEmpty == true
    let scanner =
      isMissing
      ? JSONScanner(Array("{}".utf8), maxNesting: maxNesting)
      : JSONScanner(bytes, range: range, maxNesting: maxNesting)
    var validator = Validator(interface: self, scanner: scanner)
    do throws(Validator.Failure) {
      try validator.value(type, at: "")
    } catch {
      switch error {
      case .mismatch(let mismatch): throw mismatch
      case .syntax: throw Mismatch(path: "", problem: "is not JSON")
      }
    }
  }
}

/// Walks through JSON text along a type.
private struct Validator {
  enum Failure: Error {
    case mismatch(Mismatch)
    case syntax
  }

  let interface: Interface
  var scanner: JSONScanner

  mutating func value(_ type: Interface.ValueType, at path: String) throws(Failure) {
    let kind = try scan { scanner throws(JSONScanner.Fault) in try scanner.peek() }
    switch (type, kind) {
    case (.nullable, .null), (.bool, .bool), (.string, .string), (.float, .number), (.object, .object):
      try skip()
    case (.any, _) where kind != .null: try skip()
    case (.nullable(let wrapped), _): try value(wrapped, at: path)
    case (.int, .number): try wholeNumber(at: path)
    case (.named(let name), _):
      guard let type = interface.type(name) else { throw mismatch(path, "has the unknown type '\(name)'") }
      try value(type, at: path)
    case (.array(let element), .array): try elements(element, at: path)
    case (.map(let element), .object): try entries(element, at: path)
    case (.structure(let fields), .object): try members(fields, at: path)
    case (.enumeration(let words), .string):
      let word = try text()
      guard words.contains(word) else { throw mismatch(path, "is '\(word)', none of \(words.joined(separator: ", "))") }
    default: throw mismatch(path, "must be \(Self.article(type)), is \(Self.article(kind))")
    }
  }

  private mutating func members(_ fields: [Interface.Field], at path: String) throws(Failure) {
    var missing = fields
    try scan { scanner throws(JSONScanner.Fault) in try scanner.beginObject() }
    while let key = try nextKey() {
      let place = FieldPath.member(key, of: path)
      guard let index = missing.firstIndex(where: { $0.name == key }) else {
        let isKnown = fields.contains { $0.name == key }
        throw mismatch(place, isKnown ? "occurs twice" : "is not declared")
      }
      try value(missing.remove(at: index).type, at: place)
    }
    for field in missing {
      if case .nullable = field.type { continue }
      throw mismatch(FieldPath.member(field.name, of: path), "is missing")
    }
  }

  private mutating func entries(_ element: Interface.ValueType, at path: String) throws(Failure) {
    try scan { scanner throws(JSONScanner.Fault) in try scanner.beginObject() }
    while let key = try nextKey() { try value(element, at: FieldPath.member(key, of: path)) }
  }

  private mutating func elements(_ element: Interface.ValueType, at path: String) throws(Failure) {
    try scan { scanner throws(JSONScanner.Fault) in try scanner.beginArray() }
    var index = 0
    while try scan({ scanner throws(JSONScanner.Fault) in try scanner.nextElement() }) {
      try value(element, at: "\(path)[\(index)]")
      index += 1
    }
  }

  /// Accepts an integer of 64 bits in any notation: `3`, `3.0` and `3e0` are the same number in JSON.
  private mutating func wholeNumber(at path: String) throws(Failure) {
    let range = try scan { scanner throws(JSONScanner.Fault) in try scanner.number() }
    let text = String(decoding: scanner.bytes[range], as: UTF8.self)
    if Int64(text) != nil { return }
    let isPlain = text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }
    guard !isPlain, let number = Double(text), Int64(exactly: number) != nil else {
      throw mismatch(path, "must be a whole number of 64 bits")
    }
  }

  private mutating func nextKey() throws(Failure) -> String? {
    let key = try scan { scanner throws(JSONScanner.Fault) in try scanner.nextKey() }
    return key.map { scanner.text($0) }
  }

  private mutating func text() throws(Failure) -> String {
    scanner.text(try scan { scanner throws(JSONScanner.Fault) in try scanner.string() })
  }

  private mutating func skip() throws(Failure) {
    _ = try scan { scanner throws(JSONScanner.Fault) in try scanner.skipValue() }
  }

  private mutating func scan<Result>(
    _ step: (inout JSONScanner) throws(JSONScanner.Fault) -> Result
  ) throws(Failure) -> Result {
    do { return try step(&scanner) } catch { throw .syntax }
  }

  private func mismatch(_ path: String, _ problem: String) -> Failure {
    .mismatch(Mismatch(path: path, problem: problem))
  }

  private static func article(_ type: Interface.ValueType) -> String {
    switch type {
    case .bool: "a bool"
    case .int: "a whole number"
    case .float: "a number"
    case .string, .enumeration: "a string"
    case .array: "an array"
    case .object, .structure, .map: "an object"
    case .any: "a value"
    case .named(let name): name
    case .nullable(let wrapped): article(wrapped)
    }
  }

  private static func article(_ kind: JSONScanner.Kind) -> String {
    switch kind {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .number: "a number"
    case .bool: "a bool"
    case .null: "null"
    }
  }
}
