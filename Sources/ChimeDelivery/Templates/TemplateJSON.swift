import FoundationEssentials

/// A TemplateJSON is a JSON value of a template or body. Object members are sorted by the bytes of their keys, so that
/// each value has exactly one text.
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

  /// - Throws: `DeliveryError`, with the position if the parser reports it, or if an object has two members with one name.
  init(parsing text: String) throws(DeliveryError) {
    do {
      self = try JSONDecoder().decode(TemplateJSON.self, from: Data(text.utf8))
    } catch DecodingError.dataCorrupted(let context) {
      let place = context.underlyingError.map { ": \(PlainText.sentence("\($0)"))" } ?? ""
      throw DeliveryError("the template is not JSON\(place)")
    } catch {
      throw DeliveryError("the template is not JSON")
    }
    if let name = JSONMembers.twin(in: Array(text.utf8)) {
      throw DeliveryError("the key \"\(PlainText.sentence(name))\" occurs twice in one object of the template")
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

  /// Nesting depth of lists and objects; 0 for a scalar.
  var depth: Int {
    switch self {
    case .list(let values): 1 + (values.map(\.depth).max() ?? 0)
    case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
    default: 0
    }
  }

  /// The value as JSON text without white space (RFC 8259).
  var bytes: [UInt8] {
    var json = JSONText()
    write(to: &json)
    return json.bytes
  }

  private func write(to json: inout JSONText) {
    switch self {
    case .null: json.write(nil)
    case .bool(let value): json.write(literal: value ? "true" : "false")
    case .integer(let value): json.write(literal: "\(value)")
    case .number(let value): json.write(literal: "\(value)")
    case .string(let value): json.write(value)
    case .list(let values): json.list { json in for value in values { json.element { value.write(to: &$0) } } }
    case .object(let members):
      json.object { json in for member in members { json.member(key: member.key) { member.value.write(to: &$0) } } }
    }
  }
}
