import ChimeControl
import ChimeTracking

/// A PackReader reads a pack's TOML and collects faults. It drops faulty values, so that one fault does not cause others.
struct PackReader {
  let file: String
  private(set) var faults: [PackFault] = []
  /// Whether further faults were dropped.
  private(set) var hasMore = false

  /// The languages in which each text must exist: those of the pack's title.
  var languages: Set<String> = ["en"]
  /// The declared trackers, including faulty ones, for references.
  var trackers: [TrackerID: Tracker] = [:]
  /// The trackers' ids in the order of the file.
  var trackerNames: [TrackerID] = []

  init(file: String) { self.file = file }

  // MARK: Faults

  /// Adds a fault. `atKey` locates it at the key instead of the value.
  mutating func fault(_ node: TOMLNode, _ key: String, _ message: String, atKey: Bool = false) {
    guard faults.count < PackFaults.most else {
      hasMore = true
      return
    }
    faults.append(
      PackFault(
        file: file, line: atKey ? node.entry.keyLine : node.entry.line,
        column: atKey ? node.entry.keyColumn : node.entry.column, key: TOMLText.harmless(String(key.prefix(160))),
        message: TOMLText.harmless(message)))
  }

  /// Adds the fault of a text that is not TOML.
  mutating func wholeFile(_ error: ConfigurationError) {
    faults.append(
      PackFault(file: file, line: error.line ?? 0, column: error.column ?? 0, key: "", message: error.message))
  }

  mutating func expected(_ what: String, at node: TOMLNode, _ key: String) {
    fault(node, key, "must be \(what); found \(Self.shown(node))")
  }

  static func shown(_ node: TOMLNode) -> String {
    switch node.value {
    case .string(let text): TOMLText.quoted(String(text.prefix(60)))
    case .integer(let number): String(number)
    case .float(let number): "\(number)"
    case .boolean(let flag): String(flag)
    default: node.value.kind
    }
  }

  /// Whether the limit of faults is exceeded, so that further reading is useless.
  var isFull: Bool { hasMore }

  /// The faults in the order of the file.
  var inOrder: [PackFault] {
    faults.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }.map(\.element)
  }

  // MARK: Tables

  /// A table with its name in faults, such as `tracker[water]`.
  struct Table {
    let node: TOMLNode
    let key: String

    subscript(name: String) -> TOMLNode? { node[name] }
    func key(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }
  }

  /// Reports each key that is not in `known`.
  mutating func allow(_ known: [String], in table: Table, called what: String) {
    for child in table.node.children where !known.contains(child.entry.name) {
      guard !isFull else { return }
      let name = child.entry.name
      let hint =
        SpellingSuggestions.to(name, among: known).first.map { "did you mean \($0)?" }
        ?? "it takes \(known.joined(separator: ", "))"
      fault(child, table.key(String(name.prefix(60))), "is not a key of \(what); \(hint)", atKey: true)
    }
  }

  /// Returns a nested table; nil if it is missing or not a table.
  mutating func table(_ name: String, in table: Table) -> Table? {
    guard let node = table[name] else { return nil }
    guard node.isTable else {
      expected("a table", at: node, table.key(name))
      return nil
    }
    return Table(node: node, key: table.key(name))
  }

  /// Returns the tables of an array such as `[[tracker]]`, each named by its `id` if it has one.
  mutating func tables(_ name: String, in root: Table, atMost most: Int) -> [Table] {
    guard let node = root[name] else { return [] }
    guard node.value == .array, node.children.allSatisfy(\.isTable) else {
      expected("tables, each headed [[\(name)]]", at: node, name)
      return []
    }
    guard node.children.count <= most else {
      fault(node, name, "has \(node.children.count) tables; at most \(most) are allowed")
      return []
    }
    return node.children.enumerated().map { index, child in
      var title = String(index + 1)
      if case .string(let id)? = child["id"]?.value, !id.isEmpty { title = String(id.prefix(64)) }
      return Table(node: child, key: "\(name)[\(title)]")
    }
  }

  // MARK: Values

  /// Validates a value by the rules for clients, and reports a fault.
  mutating func judge(_ key: String, in table: Table, _ body: () throws -> Void) {
    do {
      try body()
    } catch ControlFailure.invalidValue(_, let message) {
      fault(table[key] ?? table.node, table.key(key), "was rejected: \(message)")
    } catch {
      fault(table[key] ?? table.node, table.key(key), "was rejected")
    }
  }

  /// Returns a nonempty string; nil if it is missing or invalid.
  mutating func string(_ name: String, in table: Table, as what: String = "a string that is not empty") -> String? {
    guard let node = table[name] else { return nil }
    guard case .string(let text) = node.value, !text.isEmpty else {
      expected(what, at: node, table.key(name))
      return nil
    }
    return check(text, at: node, table.key(name), atMost: 200, takesLines: false) ? text : nil
  }

  /// Returns a string without further validation.
  mutating func plain(_ key: String, in table: Table, as what: String = "a string") -> String? {
    parsed(key, in: table, as: what) { $0 }
  }

  /// Returns the value of a string; nil if it is missing or `parse` does not understand it.
  mutating func parsed<Value>(
    _ name: String, in table: Table, as what: @autoclosure () -> String, _ parse: (String) -> Value?
  ) -> Value? {
    guard let node = table[name] else { return nil }
    return parsed(node, table.key(name), as: what(), parse)
  }

  mutating func parsed<Value>(
    _ node: TOMLNode, _ key: String, as what: @autoclosure () -> String, _ parse: (String) -> Value?
  ) -> Value? {
    if case .string(let text) = node.value, let value = parse(text) { return value }
    expected(what(), at: node, key)
    return nil
  }

  mutating func flag(_ name: String, in table: Table) -> Bool? {
    guard let node = table[name] else { return nil }
    guard case .boolean(let flag) = node.value else {
      expected("true or false", at: node, table.key(name))
      return nil
    }
    return flag
  }

  /// Returns an integer without a check of its range.
  mutating func number(_ name: String, in table: Table) -> Int? {
    guard let node = table[name] else { return nil }
    if case .integer(let number) = node.value { return Int(clamping: number) }
    expected("a whole number", at: node, table.key(name))
    return nil
  }

  mutating func number(_ name: String, in table: Table, _ range: ClosedRange<Int>) -> Int? {
    guard let node = table[name] else { return nil }
    return number(node, table.key(name), range)
  }

  mutating func number(_ node: TOMLNode, _ key: String, _ range: ClosedRange<Int>) -> Int? {
    guard case .integer(let number) = node.value, let number = Int(exactly: number), range.contains(number) else {
      expected("a whole number from \(range.lowerBound) to \(range.upperBound)", at: node, key)
      return nil
    }
    return number
  }

  /// Returns a raw value of an enumeration.
  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, in table: Table, _: Choice.Type
  ) -> Choice? where Choice.RawValue == String {
    parsed(
      name, in: table, as: "one of " + Choice.allCases.map { TOMLText.quoted($0.rawValue) }.joined(separator: ", "),
      Choice.init(rawValue:))
  }

  /// Returns an identifier; nil, after reporting a fault, if it is missing or invalid.
  mutating func name(_ key: String, in table: Table, takesUnderscores: Bool = false) -> String? {
    let letters = takesUnderscores ? "lower-case letters, digits, _ and -" : "lower-case letters, digits and -"
    let most = takesUnderscores ? 64 : 32
    let what = "a name of 1 to \(most) \(letters), a letter first"
    guard let node = table[key] else {
      fault(table.node, table.key(key), "is missing: \(what)")
      return nil
    }
    guard case .string(let text) = node.value, (1...most).contains(text.utf8.count), let first = text.utf8.first,
      (97...122).contains(first),
      text.utf8.allSatisfy({
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || (takesUnderscores && $0 == 95)
      })
    else {
      expected(what, at: node, table.key(key))
      return nil
    }
    return text
  }

  // MARK: Texts

  /// Returns a text in its languages: `title = "Water"` is English, `title.cs = "Voda"` Czech.
  mutating func text(
    _ name: String, in table: Table, isRequired: Bool = true, atMost most: Int, takesLines: Bool = false
  ) -> LocalizedText? {
    guard let node = table[name] else {
      if isRequired {
        fault(
          table.node, table.key(name), "is missing: a text, such as \(name).en = \"…\" and one for each other language")
      }
      return nil
    }
    return text(node, table.key(name), atMost: most, takesLines: takesLines)
  }

  mutating func text(
    _ node: TOMLNode, _ key: String, atMost most: Int, takesLines: Bool = false, in needed: Set<String>? = nil
  ) -> LocalizedText? {
    var texts: [String: String] = [:]
    switch node.value {
    case .string(let text):
      guard check(text, at: node, key, atMost: most, takesLines: takesLines) else { return nil }
      texts["en"] = text
    case .table:
      for child in node.children where !isFull {
        let tag = child.entry.name
        let place = "\(key).\(tag)"
        if let complaint = LanguageTag.fault(tag) {
          fault(child, place, complaint, atKey: true)
        } else if case .string(let text) = child.value {
          // An invalid text still counts as present in its language.
          _ = check(text, at: child, place, atMost: most, takesLines: takesLines)
          texts[tag] = text
        } else {
          expected("a string", at: child, place)
        }
      }
    default:
      expected(
        "a text, or a table of texts by language, such as \(key.split(separator: ".").last ?? "title").en", at: node,
        key)
      return nil
    }
    for tag in (needed ?? languages).sorted() where texts[tag] == nil {
      let why = tag == "en" ? "each text needs an English version" : "the pack's title has that language"
      fault(node, "\(key).\(tag)", "is missing: \(why)")
    }
    return LocalizedText(texts)
  }

  /// Returns whether a text is safe in a line, a popup and a terminal.
  private mutating func check(_ text: String, at node: TOMLNode, _ key: String, atMost most: Int, takesLines: Bool)
    -> Bool
  {
    if !text.contains(where: { !$0.isWhitespace }) {
      fault(node, key, "is empty; write the text, or leave the key out")
      return false
    }
    guard text.count <= most, text.utf8.count <= most * 8 else {
      fault(node, key, "has \(text.count) characters; at most \(most) are allowed")
      return false
    }
    for scalar in text.unicodeScalars {
      if scalar.properties.isBidiControl {
        fault(
          node, key,
          "has \(Self.code(of: scalar)), which changes the direction of text; remove it: text from right to left "
            + "needs no such character")
        return false
      }
      if scalar.properties.generalCategory == .control, !(takesLines && scalar == "\n") {
        fault(node, key, "has the control character \(Self.code(of: scalar)); remove it")
        return false
      }
    }
    return true
  }

  private static func code(of scalar: Unicode.Scalar) -> String {
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }
}
