/// The words of a command line up to the cursor, with bash's quotes and backslashes taken off, and what readline will put in
/// the place of the last of them.
///
/// Source: bash(1), QUOTING and COMP_WORDBREAKS; readline's rl_find_completion_word.
struct BashLine {
  struct Word: Equatable {
    var value = ""
    /// How many characters of the value stand before what readline replaces.
    var kept = 0

    fileprivate mutating func keepSoFar() { kept = value.count }
  }

  private(set) var words: [Word] = []
  /// The quote that is open at the cursor.
  private(set) var quote: Character?

  /// - Parameter breaks: COMP_WORDBREAKS, the characters at which readline takes a word to begin.
  init(_ line: String, breaks: String) {
    var word: Word?
    var characters = line[...]
    while let character = characters.popFirst() {
      if let open = quote {
        if character == open {
          quote = nil
          // Whatever follows the quote is what is replaced.
          word?.keepSoFar()
        } else if open == "\"", character == "\\", let next = characters.first, "\"\\$`".contains(next) {
          word?.value.append(characters.removeFirst())
        } else {
          word?.value.append(character)
        }
        continue
      }
      switch character {
      case " ", "\t", "\n":
        if let done = word { words.append(done) }
        word = nil
      case "\"", "'":
        if word == nil { word = Word() }
        quote = character
        word?.keepSoFar()
      case "\\":
        if word == nil { word = Word() }
        if let next = characters.popFirst() { word?.value.append(next) }
      default:
        if word == nil { word = Word() }
        word?.value.append(character)
        if breaks.contains(character) { word?.keepSoFar() }
      }
    }
    words.append(word ?? Word())
  }

  /// What stands for a word in the place that readline replaces.
  func text(for value: String) -> String {
    let rest = value.dropFirst(words.last?.kept ?? 0)
    switch quote {
    case "'": return String(rest).replacing("'", with: "'\\''")
    case "\"": return rest.reduce(into: "") { $0 += "\"\\$`".contains($1) ? "\\\($1)" : String($1) }
    default: return rest.reduce(into: "") { $0 += Self.isPlain($1) ? String($1) : "\\\($1)" }
    }
  }

  private static func isPlain(_ character: Character) -> Bool {
    !character.isASCII || character.isLetter || character.isNumber || "_-./:=@%+,".contains(character)
  }
}
