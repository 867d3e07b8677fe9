/// Understands phrases by recursive descent without going back. The grammar in `docs/schedules.md` has the same parts
/// in the same order.
struct PhraseParser {
  var lexer: Lexer
  let anchor: Anchor?

  init(_ bytes: [UInt8], anchor: Anchor?) {
    lexer = Lexer(bytes)
    self.anchor = anchor
  }

  /// `phrase = one-off | recurring` to the end of the text.
  mutating func phrase() throws(Fault) -> Phrase {
    var phrase = Phrase(pattern: try pattern())
    if phrase.isOneOff {
      if isBound {
        throw Fault(
          range: lexer.token.range, problem: "\(lexer.quoted) does not go with a single moment",
          expected: "the end, or a recurring schedule like \"every fri at 9\"", repair: everyRepair)
      }
    } else {
      try readBounds(into: &phrase.bounds)
    }
    guard lexer.token.kind == .end else { throw trailing(phrase) }
    try settle(&phrase)
    return phrase
  }

  private mutating func pattern() throws(Fault) -> Phrase.Pattern {
    switch lexer.keyword {
    case .in: return try delay()
    case .every: return try every()
    case .hourly:
      try lexer.advance()
      return try interval(0..<lexer.previousEnd, .hours(1))
    case .at: return try at()
    case .on:
      try lexer.advance()
      if isDays { return try recurringDays(isEvery: false) }
      return try dated()
    case .weekday, .weekdays, .weekends, .daily: return try recurringDays(isEvery: false)
    case .today, .tomorrow, .now, .month: return try dated()
    default: break
    }
    if lexer.token.kind == .number { return try number() }
    throw unknownBeginning()
  }

  /// `in` duration
  private mutating func delay() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    try lexer.advance()
    let first = lexer.token.range
    let duration = try lexer.duration(article: true)
    guard let anchor else { throw needsNow(start) }
    guard duration >= .seconds(1) else {
      throw Fault(
        code: .outOfRange, range: first.lowerBound..<lexer.previousEnd, problem: "this is less than a second",
        expected: "at least 1s")
    }
    let moment = anchor.now.milliseconds + duration.rawValue
    guard moment <= Instant.latest.milliseconds - 999 else {
      throw Fault(
        code: .outOfRange, range: first.lowerBound..<lexer.previousEnd, problem: "this lies after the year 9999",
        expected: "a shorter duration")
    }
    // Rounded up, so that it never comes early.
    return .once(.instant(Instant(milliseconds: (moment + 999) / 1_000 * 1_000)))
  }

  /// `every` days, or `every` duration
  private mutating func every() throws(Fault) -> Phrase.Pattern {
    try lexer.advance()
    switch lexer.keyword {
    case .weekday, .weekdays, .weekends: return try recurringDays(isEvery: true)
    case .unit(.day):
      try lexer.advance()
      guard lexer.keyword == .at else {
        throw missingAt()
      }
      return .times(.everyDay, try atTimes())
    case .unit(let unit):
      let word = lexer.token.range
      try lexer.advance()
      // "every second tuesday"
      if unit == .second, isDays { throw notYet(.rotas) }
      return try interval(word, .milliseconds(Int64(unit.milliseconds)))
    case .later(let kind): throw notYet(kind)
    case .month: throw notYet(.months)
    default: break
    }
    guard lexer.token.kind == .number else {
      throw misspelt(
        "is neither days nor a duration", expected: "a duration like 90m, or days like mon,wed",
        among: Array(Keyword.weekdayNames.keys) + ["day", "weekday", "weekend"])
    }
    if let next = lexer.peek(), next.keyword == .later(.months) { throw notYet(.months) }
    let start = lexer.token.range.lowerBound
    let duration = try lexer.duration(article: false)
    return try interval(start..<lexer.previousEnd, duration)
  }

  /// What may follow a duration: a window and days, in either order.
  private mutating func interval(_ text: Range<Int>, _ duration: Milliseconds) throws(Fault) -> Phrase.Pattern {
    if lexer.keyword == .after { throw notYet(.done) }
    if lexer.keyword == .at { throw notYet(.rotas) }
    guard duration.rawValue % 1_000 == 0, duration >= .seconds(1) else {
      throw Fault(
        code: .outOfRange, range: text, problem: "an interval has whole seconds, and at least one",
        expected: "an interval of 1s or more")
    }
    let seconds = duration.rawValue / 1_000
    var window: (from: CivilTime, to: CivilTime)?
    var days: WeekdaySet?
    while true {
      if window == nil, lexer.keyword == .from || lexer.keyword == .between {
        window = try self.window()
      } else if days == nil, lexer.keyword == .on {
        try lexer.advance()
        let first = lexer.token.range
        days = try self.days().set
        if lexer.keyword == .at { throw notYet(.rotas) }
        if window == nil, lexer.keyword != .from, lexer.keyword != .between, seconds > 86_400 {
          throw Fault(
            range: first, problem: "an interval of more than a day cannot keep to days of the week",
            expected: "an interval of at most 1d")
        }
      } else {
        break
      }
    }
    guard let window else { return .elapsed(seconds: seconds, days ?? .everyDay) }
    guard seconds <= 86_400 else {
      throw Fault(
        range: text, problem: "an interval of more than a day does not fit a daily window",
        expected: "an interval of at most 1d")
    }
    return .window(seconds: seconds, from: window.from, to: window.to, days ?? .everyDay)
  }

  /// `from` time `to` time, or `between` time `and` time
  private mutating func window() throws(Fault) -> (CivilTime, CivilTime) {
    let isBetween = lexer.keyword == .between
    try lexer.advance()
    let from = try time(allowing24: false)
    let isJoined = lexer.keyword == (isBetween ? .and : .to) || lexer.token.kind == .sign(UInt8(ascii: "-"))
    guard isJoined else {
      throw Fault(
        range: lexer.token.range, problem: "the window has no end",
        expected: isBetween ? "\"and\" and a time" : "\"to\" and a time",
        repair: lexer.keyword == .until ? .init(lexer.token.range, "to") : nil)
    }
    try lexer.advance()
    return (from, try time(allowing24: true))
  }

  /// Gives the value what it needs to mean the same whenever it is read.
  private mutating func settle(_ phrase: inout Phrase) throws(Fault) {
    guard phrase.bounds.starting == nil else { return }
    let whole = 0..<0
    switch phrase.pattern {
    case .elapsed(let seconds, _):
      // The first point is one interval from now, so that `3 times` counts what is still to come.
      guard let anchor else { throw needsNow(whole) }
      guard anchor.second + seconds <= Instant.latest.seconds else {
        throw Fault(
          code: .outOfRange, range: whole, problem: "its first occurrence lies after the year 9999",
          expected: "a shorter interval")
      }
      phrase.bounds.starting = .instant(Instant(seconds: anchor.second + seconds))
    case .times, .window:
      guard phrase.bounds.count != nil else { return }
      guard let anchor else { throw needsNow(whole) }
      phrase.bounds.starting = .instant(Instant(seconds: anchor.second + 1))
    case .once: break
    }
  }
}
