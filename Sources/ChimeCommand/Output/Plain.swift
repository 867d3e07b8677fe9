/// Tab-separated lines.
enum Plain {
  /// A value as one field: lists are joined with commas, objects are `name=value` pairs, or the id of what has one.
  static func text(_ value: JSONText) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value): JSONText.text(value)
    case .string(let value): TerminalSanitizer.field(value)
    case .list(let values): values.map { text($0) }.joined(separator: ",")
    case .object(let members) where members.first?.name == "id": text(members[0].value)
    // Names may be a person's own too: those of an item's attributes.
    case .object(let members):
      members.map { "\(TerminalSanitizer.field($0.name))=\(text($0.value))" }.joined(separator: ",")
    }
  }

  static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") }
}
