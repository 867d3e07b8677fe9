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
        try need(
          (1...Int64(Phrase.largestCount)).contains(word.value), .outOfRange, at: word.range,
          "\(lexer.quoted) is not a possible number of times", expected: "a number from 1 to \(Phrase.largestCount)")
        bounds.count = Int(word.value)
        count = word.range
        try lexer.advance()
        try lexer.advance()
      }
    }
    bounds.except = CivilDate.merged(bounds.except)
    bounds.exceptCalendars = Set(bounds.exceptCalendars).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return count
  }

  private func repeated(_ range: Range<Int>) -> Fault {
    Fault(range: range, problem: "\(lexer.quoted(range)) occurs twice", expected: "each bound once").concluding()
  }

  /// Parses `exception { ( "," | "and" ) exception }`.
  private mutating func readExceptions(into bounds: inout Phrase.Bounds) throws(Fault) {
    var isNamed = false
    var count = 0
    while true {
      let start = lexer.token.range
      count += 1
      try need(
        bounds.except.count + bounds.exceptCalendars.count < Phrase.mostExceptions && count <= Phrase.mostExceptions,
        .outOfRange, at: start, "there are more than \(Phrase.mostExceptions) exceptions",
        expected: "ranges of dates (2026-12-24..2026-12-26)")
      if try lexer.skip(.on) { isNamed = true }
      if isDate || lexer.token.kind == .number, !(isNamed && isLongName) {
        if isYearlyDate { try yearlyException(&bounds.exceptYearly) } else { try exception(&bounds.except) }
      } else if isNamed {
        bounds.exceptCalendars.append(try calendarName())
      } else {
        throw noException()
      }
      let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
      guard isComma || lexer.keyword == .and else { return }
      var ahead = lexer
      try ahead.advance()
      if isComma, ahead.keyword == .and { try ahead.advance() }
      if PhraseParser.isBound(ahead) { return }
      lexer = ahead
    }
  }

  /// Whether a name begins here whose first letters form a keyword: `friday-closings`.
  private var isLongName: Bool {
    var ahead = lexer
    guard let range = try? ahead.name() else { return false }
    return range.upperBound > lexer.token.range.upperBound
  }

  /// Parses `date [ ( ".." | "to" ) date ]`.
  private mutating func exception(_ ranges: inout [ClosedRange<CivilDate>]) throws(Fault) {
    let start = lexer.token.range
    let first = try date()
    var last = first
    if lexer.token.kind == .dots || lexer.keyword == .to {
      try lexer.advance()
      last = try date()
    }
    guard first <= last else {
      throw Fault(
        range: start.lowerBound..<lexer.previousEnd, problem: "the range of dates ends before it begins",
        expected: "the earlier date first", repair: .init(start.lowerBound..<lexer.previousEnd, "\(last)..\(first)")
      ).concluding()
    }
    ranges.append(first...last)
  }

  /// Parses a month and a day without a year, or a range of such days. The range may wrap around the end of the year.
  private mutating func yearlyException(_ days: inout YearDays) throws(Fault) {
    let first = try monthAndDay()
    var last = first
    if lexer.token.kind == .dots || lexer.keyword == .to {
      try lexer.advance()
      try need(
        isYearlyDate, at: lexer.token.range, "a range of days of each year ends with a day of each year",
        expected: "a date without a year, like dec 26, or a year in both")
      last = try monthAndDay()
    }
    days.insert(from: first, through: last)
  }

  /// Parses a name of letters, digits, `-` and `_` that is not a keyword.
  private mutating func calendarName() throws(Fault) -> String {
    let range = try lexer.name()
    let name = lexer.text(range)
    guard !range.isEmpty, range.count <= Phrase.longestName, Keyword(lexer.bytes[range]) == nil else {
      let shown = range.isEmpty ? lexer.quoted : lexer.quoted(range)
      throw Fault(
        range: range.isEmpty ? lexer.token.range : range,
        problem: shown == "the end" ? "the exceptions are missing" : "\(shown) is not a name of a calendar",
        expected: "a date, or a name of letters, digits, - and _")
    }
    if let context, context.scheduleContext.calendar(name) == nil {
      let lowered = name.lowercased()
      var fault = Fault(
        range: range, problem: "there is no calendar named \"\(name)\"",
        expected: "the name of a calendar in the configuration",
        repair: context.scheduleContext.calendar(lowered) == nil ? nil : .init(range, lowered))
      fault.isElsewhere = true
      throw fault
    }
    return name
  }

  private func noException() -> Fault {
    let fault = misspelt(
      "is not a date", expected: "a date like 2026-12-24, or \"on\" and the name of a calendar",
      among: ["today", "tomorrow"] + Keyword.weekdayNames.keys + Keyword.monthNames.keys)
    guard fault.repair == nil, lexer.token.kind == .word, lexer.keyword == nil else { return fault }
    var ahead = lexer
    guard let range = try? ahead.name(), !range.isEmpty,
      context?.scheduleContext.calendar(lexer.text(range)) != nil
    else { return fault }
    return Fault(
      range: fault.range, problem: "the name of a calendar must follow \"on\"", expected: fault.expected,
      repair: .init(range.lowerBound..<range.lowerBound, "on ", shown: "on \(lexer.text(range))"))
  }
}
