/// Understands phrases by recursive descent without going back. The grammar in `docs/schedules.md` has the same parts
/// in the same order.
struct PhraseParser {
  var lexer: Lexer
  let anchor: Anchor?
  /// How many days of months have been read; see ``Phrase/mostDates``.
  var datesRead = 0

  init(_ bytes: [UInt8], anchor: Anchor?) {
    lexer = Lexer(bytes)
    self.anchor = anchor
  }

  /// `phrase = one-off | recurring` to the end of the text.
  mutating func phrase() throws(Fault) -> Phrase {
    var phrase = Phrase(pattern: try pattern())
    var count: Range<Int>?
    if phrase.isOneOff {
      if isBound {
        throw Fault(
          range: lexer.token.range, problem: "\(lexer.quoted) does not go with a single moment",
          expected: "the end, or a recurring schedule like \"every fri at 9\"", repair: everyRepair)
      }
    } else {
      count = try readBounds(into: &phrase.bounds)
    }
    guard lexer.token.kind == .end else { throw trailing(phrase) }
    try settle(&phrase, count: count)
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
      if isDates { return try at(.dates(dates())) }
      if isDays { return try weekdaysAt() }
      return try dated()
    case .weekday, .weekdays, .weekends, .daily: return try weekdaysAt()
    case .today, .tomorrow, .now: return try dated()
    default: break
    }
    if isPeriodic { return try at(periodicDays()) }
    if isDates { return try at(.dates(dates())) }
    if lexer.token.isMonth { return try dated() }
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
    if let days = try everyDays() { return try at(days) }
    if lexer.token.isUnit || lexer.keyword == .fortnight {
      let word = lexer.token.range
      var length: Milliseconds = .days(14)
      if case .unit(let unit) = lexer.keyword { length = .milliseconds(Int64(unit.milliseconds)) }
      let isDays = length >= .days(1)
      try lexer.advance()
      return lexer.keyword == .after
        ? try afterDone(word, length, isDays: isDays) : try interval(word, length)
    }
    guard lexer.token.kind == .number else { throw notEvery() }
    let start = lexer.token.range.lowerBound
    // "3 days", "2w": a number of them and nothing else.
    let unit = lexer.ahead(1)?.keyword
    let isDays = unit == .unit(.day) || unit == .unit(.week)
    let duration = try lexer.duration(article: false)
    let text = start..<lexer.previousEnd
    let isPlain = isDays && duration.rawValue % 86_400_000 == 0
    if lexer.keyword == .after { return try afterDone(text, duration, isDays: isPlain) }
    if lexer.keyword == .at { throw timeOfInterval(text, duration) }
    return try interval(text, duration)
  }

  func notEvery() -> Fault {
    misspelt(
      "is neither days nor a duration", expected: "a duration like 90m, or days like mon,wed",
      among: Array(Keyword.weekdayNames.keys) + Keyword.ordinals.keys + Keyword.counted.keys + Keyword.monthNames.keys
        + ["day", "weekday", "weekend", "last"])
  }

  /// A time of day after an interval; days take one, hours do not.
  private func timeOfInterval(_ text: Range<Int>, _ duration: Milliseconds) -> Fault {
    let days = duration.rawValue / 86_400_000
    let words = days == 1 ? "day" : "\(days) days"
    return Fault(
      range: lexer.token.range, problem: "an interval takes no time of day",
      expected: "a number of days, as in \"every 3 days at 9\"",
      repair: days > 0 && duration.rawValue % 86_400_000 == 0 ? .init(text, words) : nil)
  }

  /// `after done` [ `at` times ]
  private mutating func afterDone(
    _ text: Range<Int>, _ duration: Milliseconds, isDays: Bool
  ) throws(Fault) -> Phrase.Pattern {
    try lexer.advance()
    guard try lexer.skip(.done) else {
      throw misspelt("does not belong after \"after\"", expected: "\"done\"", among: ["done", "completion"])
    }
    guard lexer.keyword == .at else { return .elapsedAfterDone(seconds: try wholeSeconds(text, duration)) }
    let days = duration.rawValue / 86_400_000
    guard isDays else { throw timeOfInterval(text, duration) }
    guard (1...Int64(Phrase.mostSteps)).contains(days) else {
      throw Fault(
        code: .outOfRange, range: text, problem: "\(lexer.quoted(text)) is no possible number of steps",
        expected: "from 1 to \(Phrase.mostSteps) days")
    }
    return .daysAfterDone(Int(days), try atTimes())
  }

  private func wholeSeconds(_ text: Range<Int>, _ duration: Milliseconds) throws(Fault) -> Int64 {
    guard duration.rawValue % 1_000 == 0, duration >= .seconds(1) else {
      throw Fault(
        code: .outOfRange, range: text, problem: "an interval has whole seconds, and at least one",
        expected: "an interval of 1s or more")
    }
    return duration.rawValue / 1_000
  }

  /// What may follow a duration: a window and days, in either order.
  private mutating func interval(_ text: Range<Int>, _ duration: Milliseconds) throws(Fault) -> Phrase.Pattern {
    let seconds = try wholeSeconds(text, duration)
    var window: (from: CivilTime, to: CivilTime)?
    var days: Phrase.Days?
    while true {
      if window == nil, lexer.keyword == .from || lexer.keyword == .between {
        window = try self.window()
      } else if days == nil, lexer.keyword == .on {
        try lexer.advance()
        let first = lexer.token.range
        days = isDates ? .dates(try dates()) : .weekdays(try self.days().set)
        if window == nil, lexer.keyword != .from, lexer.keyword != .between, seconds > 86_400 {
          throw Fault(
            range: first, problem: "an interval of more than a day cannot keep to days of the week",
            expected: "an interval of at most 1d")
        }
      } else {
        break
      }
    }
    if lexer.keyword == .at { throw timeOfInterval(text, duration) }
    guard let window else { return .elapsed(seconds: seconds, days ?? .weekdays(.everyDay)) }
    guard seconds <= 86_400 else {
      throw Fault(
        range: text, problem: "an interval of more than a day does not fit a daily window",
        expected: "an interval of at most 1d")
    }
    return .window(seconds: seconds, from: window.from, to: window.to, days ?? .weekdays(.everyDay))
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
  private mutating func settle(_ phrase: inout Phrase, count: Range<Int>?) throws(Fault) {
    if phrase.countsFromDone, let count {
      throw Fault(
        range: count, problem: "what counts from completion has no number of times, because each answer moves it",
        expected: "\"until\" and a date")
    }
    guard phrase.bounds.starting == nil else { return }
    let whole = 0..<0
    switch phrase.pattern {
    case .once: return
    case .times(let days, _) where !days.isRota && phrase.bounds.count == nil: return
    case .window where phrase.bounds.count == nil: return
    default: break
    }
    guard let anchor else { throw needsNow(whole) }
    switch phrase.pattern {
    case .elapsed(let seconds, _), .elapsedAfterDone(let seconds):
      // The first point is one interval from now, so that `3 times` counts what is still to come.
      guard anchor.second + seconds <= Instant.latest.seconds else { throw tooLate(whole) }
      phrase.bounds.starting = .instant(Instant(seconds: anchor.second + seconds))
    case .daysAfterDone(let days, _):
      guard let date = anchor.civil.date.adding(days: days) else { throw tooLate(whole) }
      phrase.bounds.starting = .date(date)
    case .times(let days, _) where days.isRota:
      phrase.bounds.starting = rotaStart(anchor, isCounted: phrase.bounds.count != nil)
    case .times, .window: phrase.bounds.starting = .instant(Instant(seconds: anchor.second + 1))
    case .once: break
    }
  }

  private func tooLate(_ range: Range<Int>) -> Fault {
    Fault(
      code: .outOfRange, range: range, problem: "its first occurrence lies after the year 9999",
      expected: "a shorter interval")
  }

  /// A rota without a start counts from today. With a number of times it begins now, so that none that has passed is
  /// counted; on the clock where that is unambiguous, because an instant is another day elsewhere.
  private func rotaStart(_ anchor: Anchor, isCounted: Bool) -> Phrase.Moment {
    guard isCounted else { return .date(min(max(anchor.civil.date, .earliest), .latest)) }
    let second = anchor.second + 1
    let civil = CivilDateTime(wallSeconds: second + Int64(anchor.zone.offset(at: Instant(seconds: second))))
    guard CivilDate(dayNumber: Int(civil.date.dayNumber)) != nil,
      anchor.zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first) == second
    else { return .instant(Instant(seconds: second)) }
    return .civil(civil)
  }
}

extension Lexer.Token {
  var isUnit: Bool {
    if case .unit = keyword { true } else { false }
  }
}
