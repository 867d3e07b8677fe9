import ChimeControl
import ChimeWords

/// A parsed command line: the verb, its words, and the values of its options.
struct ParsedLine {
  /// The verb and its nested verb; empty if the line names none.
  var path: [Verb] = []
  var words: [String] = []
  private(set) var given: [(option: Verb.Option, value: String)] = []

  var verb: Verb? { path.last }
  /// Such as `endpoint add`.
  var verbName: String { path.map(\.name).joined(separator: " ") }

  func has(_ name: String) -> Bool { given.contains { $0.option.name == name } }
  /// Returns the last value given.
  func value(_ name: String) -> String? { given.last { $0.option.name == name }?.value }
  func values(_ name: String) -> [String] { given.filter { $0.option.name == name }.map(\.value) }

  /// Returns the values of a list option, `--to a,b --to c`; `nil` if it is not given, empty for `--to ""`.
  func list(_ name: String) -> [String]? {
    guard has(name) else { return nil }
    return values(name).flatMap { $0.split(separator: ",") }.map { trimmed(String($0)) }.filter { !$0.isEmpty }
  }

  /// Returns an option's whole number from `minimum` to `maximum`.
  func count(_ name: String, minimum: Int = 1, maximum: Int) throws -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), (minimum...maximum).contains(number) else {
      throw Failure.usage(localized("--%1 needs a number from %2 to %3, not \"%4\"", name, minimum, maximum, text))
    }
    return number
  }

  /// Sets an option as if the user had typed it.
  mutating func set(_ option: Verb.Option, _ value: String) throws { try add(option, value) }

  /// Parses a command line. Options may stand anywhere before `--`, even before the verb.
  static func parse(_ arguments: [String], table: CommandTable = .standard) throws -> ParsedLine {
    var line = ParsedLine()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        while let word = rest.popFirst() { try line.take(word: word, table: table) }
      } else if argument.hasPrefix("--") {
        try line.take(long: argument.dropFirst(2), rest: &rest, table: table)
      } else if argument.hasPrefix("-"), argument != "-" {
        try line.take(shorts: argument.dropFirst(), rest: &rest, table: table)
      } else {
        try line.take(word: argument, table: table)
      }
    }
    try line.checkOptions(table)
    return line
  }

  private mutating func take(word: String, table: CommandTable) throws {
    let choices = path.isEmpty ? table.verbs : path.last?.subverbs ?? []
    // Words are matched against nested verbs only until the first other word.
    guard !choices.isEmpty, words.isEmpty else {
      words.append(word)
      return
    }
    if let verb = choices.first(where: { $0.name == word }) {
      path.append(verb)
    } else if let usual = choices.first(where: { $0.name == path.last?.usualSubverb }) {
      path.append(usual)
      words.append(word)
    } else {
      throw table.unknown(verb: word, within: path)
    }
  }

  private mutating func take(long: Substring, rest: inout ArraySlice<String>, table: CommandTable) throws {
    let parts = long.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first.map(String.init) ?? ""
    guard let option = find(table, where: { $0.name == name }) else {
      throw unknown(option: "--\(name)", name: name, table: table)
    }
    if option.value == nil {
      try need(parts.count == 1, localized("--%1 takes no value", name))
      given.append((option, ""))
    } else if parts.count == 2 {
      try add(option, String(parts[1]))
    } else {
      try add(option, value(for: option, from: &rest))
    }
  }

  private mutating func take(shorts: Substring, rest: inout ArraySlice<String>, table: CommandTable) throws {
    var letters = shorts
    while let letter = letters.popFirst() {
      guard let option = find(table, where: { $0.short == letter }) else {
        throw unknown(option: "-\(letter)", name: String(letter), table: table)
      }
      if option.value == nil {
        given.append((option, ""))
      } else if letters.isEmpty {
        try add(option, value(for: option, from: &rest))
      } else {
        try add(option, String(letters.first == "=" ? letters.dropFirst() : letters))
        letters = ""
      }
    }
  }

  private func value(for option: Verb.Option, from rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else {
      throw Failure.usage(localized("--%1 needs a value: --%2 %3", option.name, option.name, option.value ?? ""))
    }
    return value
  }

  private mutating func add(_ option: Verb.Option, _ value: String) throws {
    if !option.choices.isEmpty, !option.choices.contains(value), !(value.isEmpty && option.mayBeEmpty) {
      throw Failure.usage(
        localized("--%1 must be one of %2, not \"%3\"", option.name, option.choices.joined(separator: ", "), value),
        hint: SpellingSuggestions.question(value, among: option.choices))
    }
    given.append((option, value))
  }

  /// Finds an option of the verb, else of any verb; `checkOptions` rejects foreign options after the whole line is read.
  private func find(_ table: CommandTable, where matches: (Verb.Option) -> Bool) -> Verb.Option? {
    table.accepted(by: verb).first(where: matches) ?? table.allOptions.first(where: matches)
  }

  private func checkOptions(_ table: CommandTable) throws {
    let accepted = Set(table.accepted(by: verb).map(\.name))
    guard !has("help"), let stray = given.first(where: { !accepted.contains($0.option.name) })?.option else { return }
    throw unknown(option: "--\(stray.name)", name: stray.name, table: table)
  }

  private func unknown(option: String, name: String, table: CommandTable) -> Failure {
    let known = table.accepted(by: verb).map(\.name)
    let subject = path.isEmpty ? "chime" : "chime \(verbName)"
    if let near = SpellingSuggestions.question(name, among: known, prefix: "--") {
      return .usage(localized("%1 has no option %2", subject, option), hint: near)
    }
    if name.first?.isNumber == true {
      return .usage(
        localized("%1 has no option %2", subject, option), hint: localized("write words that begin with - after --"))
    }
    return .usage(
      localized("%1 has no option %2", subject, option), hint: localized("`%1 --help` lists its options", subject))
  }
}

/// Returns the text without surrounding white space.
func trimmed(_ text: String) -> String {
  var text = Substring(text)
  while let first = text.first, first.isWhitespace { text.removeFirst() }
  while let last = text.last, last.isWhitespace { text.removeLast() }
  return String(text)
}
