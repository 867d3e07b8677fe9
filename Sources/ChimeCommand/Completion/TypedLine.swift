/// A command line that is being typed: the words before the cursor, and the word at it.
///
///     TypedLine(["done"], at: "Dr").place     // .word(0): the first word of `chime done`
///     TypedLine(["add", "Tea"], at: "--to=te").place   // .value(--to), after `--to=`
///
/// Unlike ``ParsedLine``, it never fails. Nothing can follow a word that makes no sense (`.nowhere`).
struct TypedLine {
  enum Place {
    /// A verb or a nested verb.
    case verb
    case option
    case value(Verb.Option)
    /// A positional argument with its index, from 0.
    case word(Int)
    case nowhere
  }

  /// The verbs, words and options before the cursor.
  private(set) var line = ParsedLine()
  private(set) var place = Place.nowhere
  /// The text that is being typed, without `kept`.
  private(set) var current: String
  /// The part of the word at the cursor that completion keeps, such as `--to=`.
  private(set) var kept = ""
  let table: CommandTable

  private var optionsEnded = false
  private var isLost = false

  init(_ before: [String], at current: String, table: CommandTable = .standard) {
    self.table = table
    self.current = current
    var pending: Verb.Option?
    for word in before {
      if let option = pending {
        take(option, word)
        pending = nil
      } else if optionsEnded || !word.hasPrefix("-") || word == "-" {
        take(word)
      } else if word == "--" {
        optionsEnded = true
      } else if word.hasPrefix("--") {
        pending = take(long: word.dropFirst(2))
      } else {
        pending = take(shorts: word.dropFirst())
      }
    }
    place = isLost ? .nowhere : place(pending)
  }

  private mutating func place(_ pending: Verb.Option?) -> Place {
    if let pending { return .value(pending) }
    if !optionsEnded, current.hasPrefix("-"), current != "-" || !takesWords {
      guard current.hasPrefix("--"), let equals = current.firstIndex(of: "=") else { return .option }
      guard let option = find({ "--\($0.name)" == current[..<equals] }), option.value != nil else { return .nowhere }
      kept = String(current[...equals])
      current = String(current[current.index(after: equals)...])
      return .value(option)
    }
    guard let verb = line.verb else { return .verb }
    return verb.subverbs.isEmpty ? .word(line.words.count) : .verb
  }

  /// Whether positional arguments may stand here, so that `-` alone may be one.
  private var takesWords: Bool {
    line.verb?.subverbs.isEmpty == true && line.verb?.usages.first?.contains("-") == true
  }

  /// The options that may still be given, including the one that is being typed.
  var openOptions: [Verb.Option] {
    let given = Set(line.given.map(\.option.name))
    return table.accepted(by: line.verb).filter { option in
      if given.contains(option.name) { return option.repeats }
      switch option.name {
      case "json": return !given.contains("plain")
      case "plain": return !given.contains("json")
      case "socket": return !given.contains("system")
      case "system": return !given.contains("socket")
      default: return true
      }
    }
  }

  private mutating func take(_ word: String) {
    let choices = line.path.isEmpty ? table.verbs : line.verb?.subverbs ?? []
    guard !choices.isEmpty, line.words.isEmpty else { return line.words.append(word) }
    if let verb = choices.first(where: { $0.name == word }) {
      line.path.append(verb)
    } else if let usual = choices.first(where: { $0.name == line.verb?.usualSubverb }) {
      line.path.append(usual)
      line.words.append(word)
    } else {
      isLost = true
    }
  }

  private mutating func take(_ option: Verb.Option, _ value: String) {
    // Completion accepts invalid values; the parser reports them when the line runs.
    var free = option
    free.choices = []
    try? line.set(free, value)
  }

  private mutating func take(long: Substring) -> Verb.Option? {
    let parts = long.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = find({ $0.name == parts.first }) else { return nil }
    if option.value != nil, parts.count == 1 { return option }
    take(option, parts.count == 2 ? parts[1] : "")
    return nil
  }

  private mutating func take(shorts: Substring) -> Verb.Option? {
    var letters = shorts
    while let letter = letters.popFirst() {
      guard let option = find({ $0.short == letter }) else { return nil }
      if option.value == nil {
        take(option, "")
      } else if letters.isEmpty {
        return option
      } else {
        take(option, String(letters.first == "=" ? letters.dropFirst() : letters))
        return nil
      }
    }
    return nil
  }

  private func find(_ matches: (Verb.Option) -> Bool) -> Verb.Option? {
    table.accepted(by: line.verb).first(where: matches) ?? table.allOptions.first(where: matches)
  }
}
