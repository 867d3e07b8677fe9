extension PhraseParser {
  /// Returns the fault for an unexpected word. The most similar expected word, if there is one, becomes the suggestion.
  func misspelt<Words: Sequence<String>>(
    _ problem: String, expected: String, among words: @autoclosure () -> Words
  ) -> Fault {
    guard !lexer.isQuiet else { return Fault(range: lexer.token.range, problem: problem) }
    guard lexer.token.kind != .end else {
      return Fault(range: lexer.token.range, problem: "the end of the schedule is missing", expected: expected)
    }
    let isShort = lexer.token.kind == .word && lexer.keyword == nil && lexer.token.range.count <= 20
    let nearest = isShort ? Spelling.nearest(to: lexer.text(lexer.token.range), among: words()) : nil
    return Fault(
      range: lexer.token.range, problem: "\(lexer.quoted) \(problem)", expected: expected,
      repair: nearest.map { .init(lexer.token.range, $0) })
  }

  /// Returns the fault for text that cannot begin a schedule.
  func unknownBeginning() -> Fault {
    let expected = "a schedule like \"weekdays at 8:30\", \"every 90m\" or \"in 25m\""
    switch lexer.keyword {
    case .noon, .midnight: return bare("at")
    default: break
    }
    guard lexer.token.kind != .end else {
      return Fault(range: lexer.token.range, problem: "the schedule is missing", expected: expected)
    }
    return misspelt(
      "cannot begin a schedule", expected: expected,
      among: PhraseParser.beginnings)
  }

  private static let beginnings =
    Array(Keyword.leading.keys) + Keyword.ordinals.keys + Keyword.weekdayNames.keys + Keyword.monthNames.keys
    + SolarWord.names

  /// Parses a number at the start: a date, or else a phrase without its first word.
  mutating func number() throws(Fault) -> Phrase.Pattern {
    if isDate { return try dated() }
    switch lexer.peek()?.keyword {
    case .unit: throw bare("in")
    // "15 of month"
    case .of: throw bare("day")
    default: throw bare("at")
    }
  }

  private func bare(_ word: String) -> Fault {
    let start = lexer.token.range.lowerBound
    return Fault(
      range: lexer.token.range, problem: "\(lexer.quoted) cannot begin a schedule", expected: "\"\(word)\" before it",
      repair: .init(
        start..<start, "\(word) ", shown: "\(word) \(excerpt(lexer.text(start..<lexer.bytes.count), limit: 24))"))
  }

  /// Returns the fault for text after a complete schedule.
  func trailing(_ phrase: Phrase) -> Fault {
    if lexer.keyword == .after {
      return Fault(
        range: lexer.token.range, problem: "only a number of days or weeks, or an interval, counts from completion",
        expected: "a schedule like \"every 3 days after done at 9\"")
    }
    guard !lexer.isQuiet else { return Fault(range: lexer.token.range, problem: "") }
    let expected =
      phrase.isOneOff ? "the end" : "\"starting\", \"until\", \"except\", a number of times, or the end"
    guard !phrase.isOneOff else {
      return Fault(range: lexer.token.range, problem: "\(lexer.quoted) is not allowed here", expected: expected)
    }
    var words = Array(Keyword.bounds.keys)
    if case .elapsed = phrase.pattern { words += ["from", "between", "on"] }
    if case .window = phrase.pattern { words += ["on"] }
    return misspelt("is not allowed here", expected: expected, among: words)
  }

  /// A repair that adds `every` before a single day or `daily` before a time, for a bound that needs a recurring schedule.
  var everyRepair: Fault.Repair? {
    guard !lexer.isQuiet, let first = firstLexer?.token else { return nil }
    switch first.keyword {
    case .weekday(let day, _):
      return .init(first.range.lowerBound..<first.range.lowerBound, "every ", shown: "every \(day.abbreviation)")
    case .at where !beginsWithDate:
      return .init(first.range.lowerBound..<first.range.lowerBound, "daily ", shown: "daily at")
    default: return nil
    }
  }

  /// A lexer at the first token of the text.
  private var firstLexer: Lexer? {
    var copy = Lexer(lexer.text(0..<lexer.bytes.count))
    do { try copy.start() } catch { return nil }
    return copy
  }

  /// Whether the text is `at` and a date.
  private var beginsWithDate: Bool {
    guard var ahead = firstLexer else { return false }
    do { try ahead.advance() } catch { return false }
    var parser = self
    parser.lexer = ahead
    return parser.isDate
  }

  /// The end of the run of non-space characters that contains the token.
  var endOfWord: Int {
    lexer.bytes[lexer.token.range.lowerBound...].firstIndex { $0 <= 0x20 } ?? lexer.bytes.count
  }

  /// The text from the token to the end of that run, shortened for messages.
  var wordHere: String { excerpt(lexer.text(lexer.token.range.lowerBound..<endOfWord), limit: 20) }

  /// Returns the fault for text that counts from now, without a current time.
  func needsNow(_ range: Range<Int>) -> Fault {
    Fault(
      range: range, problem: "this counts from the moment of writing, so its meaning depends on it",
      expected: "the canonical form, with its dates written out")
  }
}
