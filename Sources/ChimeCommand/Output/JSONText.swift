import ChimeControl

/// A JSON value for printing; objects keep the order of their members.
enum JSONText: Hashable, Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case number(Double)
  case string(String)
  case list([JSONText])
  case object([Member])

  struct Member: Hashable, Sendable {
    var name: String
    var value: JSONText
  }

  static func strings(_ texts: [String]) -> JSONText { .list(texts.map { .string($0) }) }
  static func optional(_ text: String?) -> JSONText { text.map { .string($0) } ?? .null }
  static func optional(_ number: Int?) -> JSONText { number.map { .int($0) } ?? .null }
  static func optional(_ number: Double?) -> JSONText { number.map { .number($0) } ?? .null }
  static func members(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
    .object(members.map { Member(name: $0.key, value: $0.value) })
  }

  /// Converts an interface value: all fields in order, missing ones as null, a time as its text.
  ///
  /// A text in several languages becomes the best one for the user. Every map of strings counts as such a text, except
  /// `fields` and `attributes`.
  init(_ value: Any?, _ preferredLanguages: PreferredLanguages, field: String = "") {
    switch value {
    case nil: self = .null
    case let value as JSONText: self = value
    case let value as String: self = .string(value)
    case let value as Bool: self = .bool(value)
    case let value as Int: self = .int(value)
    case let value as Double: self = .number(value)
    case let value as Wire.Time: self = .string(value.at)
    case let value as any WireValue:
      self = .object(
        zip(type(of: value).fieldNames, value.fieldValues).map {
          Member(name: $0, value: JSONText($1, preferredLanguages, field: $0))
        })
    // An empty dictionary would match any dictionary type, so compare the exact type.
    case let texts as [String: String]
    where value.map { type(of: $0) == [String: String].self } ?? false && !["fields", "attributes"].contains(field):
      self = .string(preferredLanguages.text(texts))
    case let values as [String: Any]:
      self = .object(
        values.sorted { $0.key < $1.key }.map {
          Member(name: $0.key, value: JSONText($0.value, preferredLanguages, field: "fields"))
        })
    case let values as [Any]: self = .list(values.map { JSONText($0, preferredLanguages, field: field) })
    case let value as any RawRepresentable: self = JSONText(value.rawValue, preferredLanguages)
    default: preconditionFailure("no value of the interfaces: \(String(describing: value))")
    }
  }

  /// Returns the value on one line, or indented by two spaces per level.
  func text(indented: Bool = false) -> String {
    var text = ""
    write(to: &text, level: indented ? 0 : nil)
    return text
  }

  private func write(to text: inout String, level: Int?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .int(let value): text += String(value)
    case .number(let value): text += Self.text(value)
    case .string(let value): Self.write(value, to: &text)
    case .list(let values):
      Self.write(values, "[", "]", to: &text, level: level) { $0.write(to: &$1, level: $2) }
    case .object(let members):
      Self.write(members, "{", "}", to: &text, level: level) { member, text, level in
        Self.write(member.name, to: &text)
        text += level == nil ? ":" : ": "
        member.value.write(to: &text, level: level)
      }
    }
  }

  /// Returns the shortest text that parses back to the same number: `2500`, `82.4`.
  static func text(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    return value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : "\(value)"
  }

  private static func write<Element>(
    _ elements: [Element], _ opening: String, _ closing: String, to text: inout String, level: Int?,
    element write: (Element, inout String, Int?) -> Void
  ) {
    let inner = level.map { $0 + 1 }
    text += opening
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + String(repeating: "  ", count: inner) }
      write(element, &text, inner)
    }
    if let level, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: level) }
    text += closing
  }

  private static func write(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // Escape control characters and those that change the writing direction of a terminal.
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{200E}"..."\u{200F}", "\u{2028}"..."\u{202E}",
        "\u{2066}"..."\u{2069}", "\u{61C}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
