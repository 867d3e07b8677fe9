extension Interface {
  /// Parses an interface definition.
  ///
  /// Beyond the grammar it requires unique names of members, fields and enumeration values, and declarations of all
  /// named types.
  ///
  /// - Throws: ``InterfaceError`` with the position of the first error.
  public init(parsing text: String) throws(InterfaceError) {
    var parser = try InterfaceParser(text)
    self = try parser.interface()
  }
}

/// A recursive-descent parser of the grammar in Varlink, "Interface Definition", Grammar.
private struct InterfaceParser {
  /// Maximum nesting of types, which limits the recursion of the parser. Real definitions stay far below it.
  private static let maxNesting = 64

  private var lexer: InterfaceLexer
  private var references: [(name: String, fault: InterfaceError)] = []
  private var depth = 0

  init(_ text: String) throws(InterfaceError) { lexer = try InterfaceLexer(text) }

  mutating func interface() throws(InterfaceError) -> Interface {
    let documentation = lexer.documentation
    guard lexer.token == .word("interface") else { throw lexer.expected("'interface'") }
    try lexer.advance()
    guard case .word(let name) = lexer.token, Self.isInterfaceName(name) else {
      throw lexer.expected("an interface name such as 'org.example.ping'")
    }
    try lexer.advance()
    var members: [Interface.Member] = []
    var names: Set<String> = []
    while lexer.token != .end {
      if !lexer.beginsLine { throw lexer.expected("a new line") }
      members.append(try member(&names))
    }
    let types = Set(members.compactMap { if case .type = $0.kind { $0.name } else { nil } })
    if let unknown = references.first(where: { !types.contains($0.name) }) { throw unknown.fault }
    return Interface(documentation: documentation, name: name, members: members)
  }

  private mutating func member(_ names: inout Set<String>) throws(InterfaceError) -> Interface.Member {
    let documentation = lexer.documentation
    let keyword = lexer.token
    guard [.word("type"), .word("method"), .word("error")].contains(keyword) else {
      throw lexer.expected("'type', 'method' or 'error'")
    }
    try lexer.advance()
    guard case .word(let name) = lexer.token, Self.isMemberName(name) else {
      throw lexer.expected("a name that begins with a capital letter")
    }
    guard names.insert(name).inserted else { throw lexer.fault("'\(name)' is declared twice") }
    try lexer.advance()
    let kind: Interface.Member.Kind
    switch keyword {
    case .word("type"): kind = .type(try structureOrEnumeration())
    case .word("error"): kind = .error(try fields())
    default:
      let input = try fields()
      guard lexer.token == .sign("->") else { throw lexer.expected("'->'") }
      try lexer.advance()
      kind = .method(input: input, output: try fields())
    }
    return Interface.Member(documentation: documentation, name: name, kind: kind)
  }

  private mutating func fields() throws(InterfaceError) -> [Interface.Field] {
    let place = lexer.expected("a structure")
    guard case .structure(let fields) = try structureOrEnumeration() else { throw place }
    return fields
  }

  private mutating func type(afterMaybe: Bool = false) throws(InterfaceError) -> Interface.ValueType {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maxNesting else { throw lexer.fault("types nest deeper than \(Self.maxNesting)") }
    switch lexer.token {
    case .sign("?"):
      if afterMaybe { throw lexer.fault("a type can be nullable only once") }
      try lexer.advance()
      return .nullable(try type(afterMaybe: true))
    case .sign("[]"):
      try lexer.advance()
      return .array(try type())
    case .sign("[string]"):
      try lexer.advance()
      return .map(try type())
    case .sign("("):
      return try structureOrEnumeration()
    case .word(let word):
      let found = try namedType(word)
      try lexer.advance()
      return found
    default:
      throw lexer.expected("a type")
    }
  }

  private mutating func namedType(_ word: String) throws(InterfaceError) -> Interface.ValueType {
    switch word {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    case "any": return .any
    default:
      guard Self.isMemberName(word) else { throw lexer.expected("a type") }
      references.append((word, lexer.fault("the type '\(word)' is not declared in this interface")))
      return .named(word)
    }
  }

  /// Parses a structure or an enumeration. A colon after the first name makes it a structure; `()` is an empty one.
  private mutating func structureOrEnumeration() throws(InterfaceError) -> Interface.ValueType {
    guard lexer.token == .sign("(") else { throw lexer.expected("'('") }
    try lexer.advance()
    var fields: [Interface.Field] = []
    var words: [String] = []
    var names: Set<String> = []
    while lexer.token != .sign(")") {
      let documentation = lexer.documentation
      guard case .word(let name) = lexer.token, Self.isFieldName(name) else { throw lexer.expected("a field name") }
      guard names.insert(name).inserted else { throw lexer.fault("'\(name)' occurs twice") }
      try lexer.advance()
      if lexer.token == .sign(":"), words.isEmpty {
        try lexer.advance()
        fields.append(Interface.Field(documentation: documentation, name: name, type: try type()))
      } else if fields.isEmpty {
        words.append(name)
      } else {
        throw lexer.expected("':'")
      }
      guard lexer.token == .sign(",") else { break }
      try lexer.advance()
      if lexer.token == .sign(")") { throw lexer.expected("a field name") }
    }
    guard lexer.token == .sign(")") else { throw lexer.expected("',' or ')'") }
    try lexer.advance()
    return words.isEmpty ? .structure(fields) : .enumeration(words)
  }

  /// Matches `[A-Za-z]([-]*[A-Za-z0-9])*(\.[A-Za-z0-9]([-]*[A-Za-z0-9])*)+`. Other implementations allow capitals too.
  private static func isInterfaceName(_ name: String) -> Bool {
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && name.first?.isLetter == true
      && labels.allSatisfy { label in
        !label.isEmpty && label.first != "-" && label.last != "-" && !label.contains("_")
      }
  }

  /// Matches `[A-Z][A-Za-z0-9]*`. The lexer passes only ASCII.
  private static func isMemberName(_ name: String) -> Bool {
    name.first?.isUppercase == true && name.allSatisfy { $0.isLetter || $0.isNumber }
  }

  /// Matches `[A-Za-z](_?[A-Za-z0-9])*`.
  private static func isFieldName(_ name: String) -> Bool {
    name.first?.isLetter == true && name.last != "_" && !name.contains("__")
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }
}
