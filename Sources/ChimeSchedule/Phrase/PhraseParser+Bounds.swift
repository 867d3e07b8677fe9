extension PhraseParser {
  var isBound: Bool { PhraseParser.isBound(lexer) }

  /// Whether `starting`, `until`, `except` or `N times` begins here.
  static func isBound(_ lexer: Lexer) -> Bool {
    switch lexer.keyword {
    case .starting, .until, .except: return true
    default: return lexer.token.kind == .number && lexer.peek()?.keyword == .times
    }
  }

  /// { [ "," ] bound }, in any order, each kind once; several `except` add up.
  mutating func readBounds(into bounds: inout Phrase.Bounds) throws(Fault) {
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
        try readExceptions(into: &bounds.except)
      default:
        guard bounds.count == nil else { throw repeated(word.range) }
        guard (1...Int64(Phrase.largestCount)).contains(word.value) else {
          throw Fault(
            code: .outOfRange, range: word.range, problem: "\(lexer.quoted) is no possible number of times",
            expected: "a number from 1 to \(Phrase.largestCount)")
        }
        bounds.count = Int(word.value)
        try lexer.advance()
        try lexer.advance()
      }
    }
    bounds.except = PhraseParser.merged(bounds.except)
  }

  private func repeated(_ range: Range<Int>) -> Fault {
    Fault(range: range, problem: "\(lexer.quoted(range)) stands twice", expected: "each bound once")
  }

  /// date-range { ( "," | "and" ) date-range }
  private mutating func readExceptions(into ranges: inout [ClosedRange<CivilDate>]) throws(Fault) {
    while true {
      if try lexer.skip(.on) {
        guard isDate || lexer.token.kind == .number else {
          throw Fault(
            range: lexer.token.range, problem: "exceptions by the name of a calendar are not understood yet",
            expected: "a date like 2026-12-24")
        }
      }
      let start = lexer.token.range
      let first = try date()
      var last = first
      let isRange = lexer.token.kind == .dots || lexer.keyword == .to
      if isRange {
        try lexer.advance()
        last = try date()
      }
      guard first <= last else {
        throw Fault(
          range: start.lowerBound..<lexer.previousEnd, problem: "the range of dates ends before it begins",
          expected: "the earlier date first", repair: .init(start.lowerBound..<lexer.previousEnd, "\(last)..\(first)"))
      }
      guard ranges.count < Phrase.mostExceptions else {
        throw Fault(
          code: .outOfRange, range: start, problem: "there are more than \(Phrase.mostExceptions) exceptions",
          expected: "ranges of dates (2026-12-24..2026-12-26)")
      }
      ranges.append(first...last)
      let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
      guard isComma || lexer.keyword == .and else { return }
      var ahead = lexer
      try ahead.advance()
      if isComma, ahead.keyword == .and { try ahead.advance() }
      if PhraseParser.isBound(ahead) { return }
      lexer = ahead
    }
  }

  /// The same days in the fewest ranges.
  static func merged(_ ranges: [ClosedRange<CivilDate>]) -> [ClosedRange<CivilDate>] {
    var merged: [ClosedRange<CivilDate>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound.dayNumber <= last.upperBound.dayNumber + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
