import ChimeControl

/// How a kind of thing is printed for programs: the fields of its JSON object, which are the columns of `--plain` too.
///
/// Every field is always there; what is not known is null, or empty in `--plain`.
struct Shape<Value>: Sendable {
  /// What a list of them is called, and one of them.
  var list: String
  var item: String
  var fields: [Field]

  struct Field: Sendable {
    var name: String
    var summary: String
    var value: @Sendable (Value) -> JSONText

    init(_ name: String, _ summary: String, _ value: @escaping @Sendable (Value) -> JSONText) {
      self.name = name
      self.summary = summary
      self.value = value
    }
  }

  func json(_ value: Value) -> JSONText {
    .object(fields.map { JSONText.Member(name: $0.name, value: $0.value(value)) })
  }

  var header: [String] { fields.map(\.name) }
  func row(_ value: Value) -> [String] { fields.map { Plain.text($0.value(value)) } }
}

/// Tab-separated lines.
enum Plain {
  /// A value as one field: lists are joined with commas, objects are `name=value` pairs.
  static func text(_ value: JSONText) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value): JSONText.text(value)
    case .string(let value): Harmless.field(value)
    case .list(let values): values.map { text($0) }.joined(separator: ",")
    // Names may be a person's own too: those of an item's attributes.
    case .object(let members): members.map { "\(Harmless.field($0.name))=\(text($0.value))" }.joined(separator: ",")
    }
  }

  static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") }
}

extension JSONText {
  /// A time of the wire: RFC 3339 with the offset of its zone.
  static func time(_ time: Wire.Time?) -> JSONText { optional(time?.at) }
}
