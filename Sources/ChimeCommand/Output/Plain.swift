/// Tab-separated output.
enum Plain {
  /// Returns a value as one field: lists joined by commas, objects as their id or as `name=value` pairs.
  static func text(_ value: JSONText) -> String {
    switch value {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .int(let value): String(value)
    case .number(let value): JSONText.text(value)
    case .string(let value): TerminalSanitizer.field(value)
    case .list(let values): values.map { text($0) }.joined(separator: ",")
    case .object(let members) where members.first?.name == "id": text(members[0].value)
    // Names may be user input too: those of an item's attributes.
    case .object(let members):
      members.map { "\(TerminalSanitizer.field($0.name))=\(text($0.value))" }.joined(separator: ",")
    }
  }

  static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") }
}
