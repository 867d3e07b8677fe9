/// The words of a bash command line up to the cursor, unquoted, and the text that readline inserts for a candidate.
///
/// Parsing goes by Unicode scalars, as bash does. A grapheme cluster could hide a shell metacharacter behind a
/// combining mark, and the metacharacter would then be inserted unquoted.
///
/// Source: bash(1), QUOTING and COMP_WORDBREAKS; readline's rl_find_completion_word.
struct BashLine {
  struct Word: Equatable {
    fileprivate(set) var scalars = String.UnicodeScalarView()
    /// The number of scalars of the value before the part that readline replaces.
    fileprivate(set) var kept = 0

    var value: String { String(scalars) }

    fileprivate mutating func keepSoFar() { kept = scalars.count }

    static func == (left: Word, right: Word) -> Bool {
      left.kept == right.kept && left.scalars.elementsEqual(right.scalars)
    }
  }

  private(set) var words: [Word] = []
  /// The quote that is still open at the cursor.
  private(set) var quote: Unicode.Scalar?

  /// - Parameter breaks: COMP_WORDBREAKS, the characters at which readline starts a new word.
  init(_ line: String, breaks: String) {
    var word: Word?
    var rest = line.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if let open = quote {
        if scalar == open {
          quote = nil
          // Readline replaces the part after the quote.
          word?.keepSoFar()
        } else if open == "\"", scalar == "\\", let next = rest.first, Self.isSpecialInQuotes(next) {
          word?.scalars.append(rest.removeFirst())
        } else {
          word?.scalars.append(scalar)
        }
        continue
      }
      switch scalar {
      case " ", "\t", "\n":
        if let done = word { words.append(done) }
        word = nil
      case "\"", "'":
        if word == nil { word = Word() }
        quote = scalar
        word?.keepSoFar()
      case "\\":
        if word == nil { word = Word() }
        if let next = rest.popFirst() { word?.scalars.append(next) }
      default:
        if word == nil { word = Word() }
        word?.scalars.append(scalar)
        if breaks.unicodeScalars.contains(scalar) { word?.keepSoFar() }
      }
    }
    words.append(word ?? Word())
  }

  /// Returns the quoted text that readline inserts for `value` in place of the last word.
  func text(for value: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in value.unicodeScalars.dropFirst(words.last?.kept ?? 0) {
      switch (quote, scalar) {
      case ("'", "'"): text.append(contentsOf: "'\\''".unicodeScalars)
      case ("'", _): text.append(scalar)
      // History expansion works in double quotes, and a backslash would stay: close the quotes around `!`.
      case ("\"", "!"): text.append(contentsOf: "\"'!'\"".unicodeScalars)
      case ("\"", _):
        if Self.isSpecialInQuotes(scalar) { text.append("\\") }
        text.append(scalar)
      default:
        if !Self.isPlain(scalar) { text.append("\\") }
        text.append(scalar)
      }
    }
    return String(text)
  }

  private static func isSpecialInQuotes(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\"" || scalar == "\\" || scalar == "$" || scalar == "`"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "=", "@", "%", "+", ",": true
    default: !scalar.isASCII
    }
  }
}
