extension PhraseParser {
  var isBound: Bool { PhraseParser.isBound(lexer) }

  /// Returns whether `starting`, `until`, `except` or `N times` begins here.
  static func isBound(_ lexer: Lexer) -> Bool {
    switch lexer.keyword {
    case .starting, .until, .except: return true
    default: return lexer.token.kind == .number && lexer.peek()?.keyword == .times
    }
  }

  /// Parses `{ [ "," ] bound }`, in any order, each kind once; several `except` add up.
  ///
  /// - Returns: The range of the number of times.
  @discardableResult
  mutating func readBounds(into bounds: inout Phrase.Bounds) throws(Fault) -> Range<Int>? {
    var count: Range<Int>?
    while true {
      if lexer.token.kind == .sign(UInt8(ascii: ",")), let next = lexer.peek(), next.kind != .end {
        try lexer.advance()
      }
      guard isBound else { break }
      let word = lexer.token
      switch word.keyword {
      case .starting:
        guard bounds.starting == nil else { throw repeated(word.range) }
        try lexer.advance()
        bounds.starting = try moment()
      case .until:
        guard bounds.until == nil else { throw repeated(word.range) }
        try lexer.advance()
        bounds.until = try moment()
      case .except:
        try lexer.advance()
        try readExceptions(into: &bounds)
      default:
        guard bounds.count == nil else { throw repeated(word.range) }
        guard (1...Int64(Phrase.largestCount)).contains(word.value) else {
          throw Fault(
            code: .outOfRange, range: word.range, problem: "\(lexer.quoted) is not a possible number of times",
            expected: "a number from 1 to \(Phrase.largestCount)")
        }
        bounds.count = Int(word.value)
        count = word.range
        try lexer.advance()
        try lexer.advance()
      }
    }
    bounds.except = PhraseParser.merged(bounds.except)
    bounds.exceptCalendars = Set(bounds.exceptCalendars).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return count
  }

  private func repeated(_ range: Range<Int>) -> Fault {
    Fault(range: range, problem: "\(lexer.quoted(range)) occurs twice", expected: "each bound once")
  }
}
