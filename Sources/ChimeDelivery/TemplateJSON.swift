import FoundationEssentials

/// A JSON value, as templates are read and bodies written. The members of an object are in the order of their keys'
/// bytes, so that one value has one text.
enum TemplateJSON: Hashable, Sendable, Decodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case list([TemplateJSON])
  case object([Member])

  struct Member: Hashable, Sendable {
    var key: String
    var value: TemplateJSON
  }

  /// - Throws: `TemplateError` with the place, where the parser knows it.
  init(parsing text: String) throws(TemplateError) {
    do {
      self = try JSONDecoder().decode(TemplateJSON.self, from: Data(text.utf8))
    } catch DecodingError.dataCorrupted(let context) {
      let place = context.underlyingError.map { ": \(PlainText.sentence("\($0)"))" } ?? ""
      throw TemplateError("the template is not JSON\(place)")
    } catch {
      throw TemplateError("the template is not JSON")
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let values = try? container.decode([TemplateJSON].self) {
      self = .list(values)
    } else {
      let members = try container.decode([String: TemplateJSON].self).map { Member(key: $0.key, value: $0.value) }
      self = .object(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    }
  }

  /// Lists and objects within each other; 0 for a value that is neither.
  var depth: Int {
    switch self {
    case .list(let values): 1 + (values.map(\.depth).max() ?? 0)
    case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
    default: 0
    }
  }

  /// The value as text without white space between its parts (RFC 8259).
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += "\(value)".utf8
    case .number(let value): bytes += "\(value)".utf8
    case .string(let value): Self.write(value, to: &bytes)
    case .list(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
      case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
      case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
      case 0..<0x20, 0x7F: bytes += Array(#"\u00"#.utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
