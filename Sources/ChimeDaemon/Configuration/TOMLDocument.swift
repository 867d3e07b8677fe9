import CTOML

/// A value of a TOML file with its location.
struct TOMLEntry: Hashable, Sendable {
  enum Value: Hashable, Sendable {
    case table
    case array
    case string(String)
    case integer(Int64)
    case float(Double)
    case boolean(Bool)
    case dateTime

    var kind: String {
      switch self {
      case .table: "a table"
      case .array: "an array"
      case .string: "a string"
      case .integer: "a whole number"
      case .float: "a decimal number"
      case .boolean: "true or false"
      case .dateTime: "a date"
      }
    }
  }

  /// The dotted path; elements of arrays are `[n]`.
  let path: String
  let value: Value
  /// The location of the value; for a table, of its header.
  let line: Int
  let column: Int
  /// The location of the key.
  let keyLine: Int
  let keyColumn: Int
  /// The path of the outermost enclosing array; nil if there is none. Keys may contain brackets, so the path alone does
  /// not show it.
  let array: String?
  /// The number of enclosing tables and arrays. The root has 0 and comes first.
  let depth: Int
  /// The last part of the path; empty for the root and for elements of arrays.
  let name: String
}

/// A location in a configuration file and the fault there.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  package let file: String
  package let line: Int?
  package let column: Int?
  package let message: String

  package var description: String {
    guard let line, let column else { return "\(file): \(message)" }
    return "\(file):\(line):\(column): \(message)"
  }
}

/// Reads TOML by toml++.
enum TOMLDocument {
  /// Returns all values in the order of the parser, parents before children.
  static func entries(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> [TOMLEntry] {
    // TOML allows no other control characters, so they are rejected before the parser sees them.
    if let place = bytes.firstIndex(where: { ($0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0)) || $0 == 0x7F }) {
      let line = bytes[..<place].count { $0 == 0x0A } + 1
      let column = place - (bytes[..<place].lastIndex(of: 0x0A) ?? -1)
      throw ConfigurationError(
        file: file, line: line, column: column, message: "invalid TOML: a control character stands here")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw ConfigurationError(file: file, line: nil, column: nil, message: "invalid TOML: it is not UTF-8")
    }
    // The parser recurses for each part of a key, and limits only other nesting.
    guard !hasEndlessKey(bytes) else {
      throw ConfigurationError(
        file: file, line: nil, column: nil, message: "invalid TOML: a key has more than \(mostKeyParts) parts")
    }
    let document = bytes.withUnsafeBytes { buffer in
      ctoml_parse(buffer.bindMemory(to: CChar.self).baseAddress, UInt(buffer.count))
    }
    defer { ctoml_free(document) }
    var line: UInt32 = 0
    var column: UInt32 = 0
    if let complaint = ctoml_error(document, &line, &column) {
      throw ConfigurationError(
        file: file, line: line == 0 ? nil : Int(line), column: line == 0 ? nil : Int(column),
        message: "invalid TOML: \(TOMLText.harmless(String(cString: complaint)))")
    }
    return (0..<ctoml_count(document)).map { index in
      let entry = ctoml_entry_at(document, index)
      return TOMLEntry(
        path: text(entry.path, entry.path_length), value: value(of: entry), line: Int(entry.line),
        column: Int(entry.column), keyLine: Int(entry.key_line), keyColumn: Int(entry.key_column),
        array: entry.array_length == 0 ? nil : text(entry.path, entry.array_length), depth: Int(entry.depth),
        name: text(entry.name, entry.name_length))
    }
  }

  private static let mostKeyParts = 256

  /// Returns whether a key may have too many parts: dots with only names between them.
  private static func hasEndlessKey(_ bytes: [UInt8]) -> Bool {
    var parts = 0
    var hasName = false
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "."):
        parts = hasName ? parts + 1 : 0
        hasName = false
        if parts >= mostKeyParts { return true }
      case UInt8(ascii: " "), UInt8(ascii: "\t"): break
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "\""),
        UInt8(ascii: "'"):
        hasName = true
      default: (parts, hasName) = (0, false)
      }
    }
    return false
  }

  private static func value(of entry: ctoml_entry) -> TOMLEntry.Value {
    switch entry.kind {
    case CTOML_TABLE: .table
    case CTOML_ARRAY: .array
    case CTOML_STRING: .string(text(entry.string, entry.string_length))
    case CTOML_INTEGER: .integer(entry.integer)
    case CTOML_FLOAT: .float(entry.floating)
    case CTOML_BOOLEAN: .boolean(entry.boolean != 0)
    default: .dateTime
    }
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ length: UInt) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
  }
}
