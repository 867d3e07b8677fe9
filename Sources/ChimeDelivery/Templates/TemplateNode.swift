/// A TemplateNode is a parsed value of a template's body.
indirect enum TemplateNode: Hashable, Sendable {
  case literal(TemplateJSON)
  case text(TemplateText)
  /// A string that is a single placeholder. It takes the placeholder's value as it is, such as a list or a number.
  case value(Placeholder)
  /// An object whose only key is a placeholder: it selects a node by value, `*` for other values, `""` for none.
  case choice(Placeholder, [String: TemplateNode])
  case list([TemplateNode])
  case object([Member])

  struct Member: Hashable, Sendable {
    var key: String
    var value: TemplateNode
  }

  init(_ json: TemplateJSON) throws(DeliveryError) {
    switch json {
    case .null, .bool, .integer, .number: self = .literal(json)
    case .string(let string):
      let text = try TemplateText(string)
      if let placeholder = text.whole {
        self = .value(placeholder)
      } else {
        self = text.isLiteral ? .literal(json) : .text(text)
      }
    case .list(let values):
      var nodes: [TemplateNode] = []
      for value in values { nodes.append(try TemplateNode(value)) }
      self = .list(nodes)
    case .object(let members):
      if members.count == 1, let placeholder = try TemplateText(members[0].key).whole {
        self = .choice(placeholder, try Self.cases(members[0].value, of: placeholder))
        return
      }
      var nodes: [Member] = []
      for member in members {
        try need(
          // By character: placeholders are found this way too, so a key without `{{` here is a plain one.
          !member.key.contains("{{"),
          "\"\(PlainText.sentence(member.key))\": a key can be a placeholder only if it is the only key of its "
            + "object")
        nodes.append(Member(key: member.key, value: try TemplateNode(member.value)))
      }
      self = .object(nodes)
    }
  }

  private static func cases(
    _ json: TemplateJSON, of placeholder: Placeholder
  ) throws(DeliveryError) -> [String: TemplateNode] {
    guard case .object(let members) = json, !members.isEmpty else {
      throw DeliveryError(
        "{{\(placeholder)}} as a key is a choice: it needs an object of its values, such as {\"low\": 1, \"*\": 3}")
    }
    var cases: [String: TemplateNode] = [:]
    for member in members { cases[member.key] = try TemplateNode(member.value) }
    return cases
  }

  /// Renders the value; nil if it is missing, so that its key or element is omitted.
  func render(_ values: TemplateValues) -> TemplateJSON? {
    switch self {
    case .literal(let json): json
    case .text(let text): .string(text.render(values))
    case .value(let placeholder): values[placeholder].json
    case .choice(let placeholder, let cases):
      switch Self.chosen(values[placeholder], cases) {
      case nil, .literal(.null): nil
      case let node?: node.render(values)
      }
    case .list(let nodes): .list(nodes.compactMap { $0.render(values) })
    case .object(let members):
      .object(
        members.compactMap { member in
          member.value.render(values).map { TemplateJSON.Member(key: member.key, value: $0) }
        })
    }
  }

  private static func chosen(_ value: TemplateValue, _ cases: [String: TemplateNode]) -> TemplateNode? {
    let text = value.text
    return cases[text] ?? (text.isEmpty ? nil : cases["*"])
  }

  /// Returns an upper bound of the rendered strings in bytes.
  ///
  /// - Parameter first: See `text`.
  func bound(_ values: TemplateValues, first: TemplateFilter? = nil) -> Int {
    switch self {
    case .literal: 0
    case .text(let text): text.bound(values, first: first)
    case .value(let placeholder): first?.bound(values[placeholder].bound) ?? values[placeholder].bound
    case .choice(let placeholder, let cases): Self.chosen(values[placeholder], cases)?.bound(values, first: first) ?? 0
    case .list(let nodes): nodes.reduce(0) { $0 + $1.bound(values, first: first) }
    case .object(let members): members.reduce(0) { $0 + $1.value.bound(values, first: first) }
    }
  }

  /// Renders the value as text; empty if it is missing.
  ///
  /// - Parameter first: A filter applied to every placeholder before its own filters, unless it is among them.
  func text(_ values: TemplateValues, first: TemplateFilter? = nil) -> String {
    switch self {
    case .literal(.string(let text)): return text
    case .text(let text): return text.render(values, first: first)
    case .value(let placeholder):
      var atoms = values[placeholder].text.map { String($0) }
      first?.apply(to: &atoms)
      return atoms.joined()
    case .choice(let placeholder, let cases):
      return Self.chosen(values[placeholder], cases)?.text(values, first: first) ?? ""
    case .literal, .list, .object: return ""
    }
  }

  /// Whether the node is a string or a choice among strings.
  var isText: Bool {
    switch self {
    case .literal(.string), .text, .value: true
    case .choice(_, let cases): cases.values.allSatisfy { $0.isText || $0 == .literal(.null) }
    case .literal, .list, .object: false
    }
  }

  var placeholders: [Placeholder] {
    switch self {
    case .literal: []
    case .text(let text): text.placeholders
    case .value(let placeholder): [placeholder]
    case .choice(let placeholder, let cases): [placeholder] + cases.values.flatMap(\.placeholders)
    case .list(let nodes): nodes.flatMap(\.placeholders)
    case .object(let members): members.flatMap(\.value.placeholders)
    }
  }
}
