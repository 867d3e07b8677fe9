extension Interface: CustomStringConvertible {
  /// The canonical text, which parses to an equal value. Members are separated by empty lines. A structure that exceeds
  /// 80 columns takes one line per field.
  public var description: String {
    let head = Self.comment(documentation, indent: "") + "interface \(name)\n"
    return members.reduce(into: head) { text, member in
      text += "\n" + Self.comment(member.documentation, indent: "") + Self.declaration(member) + "\n"
    }
  }

  private static let width = 80

  private static func declaration(_ member: Member) -> String {
    switch member.kind {
    case .type(let type): "type \(member.name) " + text(type, column: 6 + member.name.count, indent: "")
    case .error(let fields):
      "error \(member.name) " + text(.structure(fields), column: 7 + member.name.count, indent: "")
    case .method(let input, let output): method(member.name, input: input, output: output)
    }
  }

  private static func method(_ name: String, input: [Field], output: [Field]) -> String {
    if let line = line(.structure(input)), let result = Self.line(.structure(output)),
      name.count + line.count + result.count + 11 <= width
    {
      return "method \(name)\(line) -> \(result)"
    }
    let head = "method \(name)" + text(.structure(input), column: 7 + name.count, indent: "") + " -> "
    let column = head.count - (head.lastIndex(of: "\n").map { head.distance(from: head.startIndex, to: $0) + 1 } ?? 0)
    return head + text(.structure(output), column: column, indent: "")
  }

  /// Returns the type's text, broken into lines if it would exceed the width from this column on.
  private static func text(_ type: ValueType, column: Int, indent: String) -> String {
    if let line = line(type), column + line.count <= width { return line }
    let inner = indent + "  "
    switch type {
    case .array(let element): return "[]" + text(element, column: column + 2, indent: indent)
    case .map(let element): return "[string]" + text(element, column: column + 8, indent: indent)
    case .nullable(let wrapped): return "?" + text(wrapped, column: column + 1, indent: indent)
    case .structure(let fields):
      let lines = fields.map { field in
        comment(field.documentation, indent: inner) + "\(inner)\(field.name): "
          + text(field.type, column: inner.count + field.name.count + 3, indent: inner)
      }
      return "(\n" + lines.joined(separator: ",\n") + "\n\(indent))"
    case .enumeration(let words):
      return "(\n" + words.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent))"
    case .bool, .int, .float, .string, .object, .any, .named: return line(type) ?? ""
    }
  }

  /// Returns the type on one line; `nil` if a field's comment needs its own line.
  private static func line(_ type: ValueType) -> String? {
    switch type {
    case .bool: return "bool"
    case .int: return "int"
    case .float: return "float"
    case .string: return "string"
    case .object: return "object"
    case .any: return "any"
    case .named(let name): return name
    case .array(let element): return line(element).map { "[]" + $0 }
    case .map(let element): return line(element).map { "[string]" + $0 }
    case .nullable(let wrapped): return line(wrapped).map { "?" + $0 }
    case .enumeration(let words): return "(" + words.joined(separator: ", ") + ")"
    case .structure(let fields):
      var parts: [String] = []
      for field in fields {
        guard field.documentation.isEmpty, let type = line(field.type) else { return nil }
        parts.append("\(field.name): \(type)")
      }
      return "(" + parts.joined(separator: ", ") + ")"
    }
  }

  private static func comment(_ documentation: String, indent: String) -> String {
    guard !documentation.isEmpty else { return "" }
    return documentation.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "\(indent)#\n" : "\(indent)# \($0)\n" }.joined()
  }
}
