/// A PhraseParser parses phrases by recursive descent without backtracking. The grammar in `docs/schedules.md` has the
/// same parts in the same order.
struct PhraseParser {
  var lexer: Lexer
  let context: ParseContext?
  /// The number of month days parsed so far; see ``Phrase/mostDates``.
  var datesRead = 0
  /// Whether the text has no time so far, so that the default time of a day applies.
  private var isTimeless = false

  init(_ bytes: [UInt8], context: ParseContext?) {
    lexer = Lexer(bytes)
    lexer.isQuiet = context?.isQuiet == true
    self.context = context
  }

  /// Parses `phrase = one-off | recurring` to the end of the text.
  mutating func phrase() throws(Fault) -> Phrase {
    var phrase = Phrase(pattern: try pattern())
    var count: Range<Int>?
    if phrase.isOneOff {
      if lexer.token.kind == .sign(UInt8(ascii: ",")), let after = lexer.ahead(1), PhraseParser.isBound(after) {
        lexer = after
      }
      if isBound {
        throw Fault(
          range: lexer.token.range, problem: "\(lexer.quoted) cannot be used with a single moment",
          expected: "the end, or a recurring schedule like \"every fri at 9\"", repair: everyRepair
        ).concluding()
      }
    } else {
      count = try readBounds(into: &phrase.bounds)
      // "every 2 days starting tomorrow at 8" gives the time with the day.
      if isTimeless, case .times(let days, _) = phrase.pattern, case .civil(let civil) = phrase.bounds.starting {
        phrase.pattern = .times(days, [civil.time])
        phrase.bounds.starting = .date(civil.date)
      }
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
      if isDates { return try datesAt() }
      if isDays { return try weekdaysAt() }
      return try dated()
    case .weekday, .weekdays, .weekends, .daily: return try weekdaysAt()
    case .today, .tomorrow, .now: return try dated()
    default: break
    }
    if isPeriodic { return try at(periodicDays()) }
    if isDates { return try datesAt() }
    if lexer.token.isMonth { return try dated() }
    if lexer.token.kind == .number { return try number() }
    throw unknownBeginning()
  }

  /// Parses `in` duration.
  private mutating func delay() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    try lexer.advance()
    let first = lexer.token.range
    let duration = try lexer.duration(article: true)
    guard let context else { throw needsNow(start) }
    try need(
      duration >= .seconds(1), .outOfRange, at: first.lowerBound..<lexer.previousEnd, "this is less than a second",
      expected: "at least 1s")
    if lexer.countsDays, let date = context.civil.date.adding(days: Int(duration.rawValue / 86_400_000)) {
      // Days keep the time of day, also across a change of offset.
      return .once(.civil(CivilDateTime(date: date, time: context.civil.time)))
    }
    let moment = context.now.milliseconds + duration.rawValue
    try need(
      moment <= Instant.latest.milliseconds - 999, .outOfRange, at: first.lowerBound..<lexer.previousEnd,
      "this is after the year 9999", expected: "a shorter duration")
    // Rounded up so that it never comes early.
    return .once(.instant(Instant(milliseconds: (moment + 999) / 1_000 * 1_000)))
  }

  /// Parses `every` days, or `every` duration.
  private mutating func every() throws(Fault) -> Phrase.Pattern {
    try lexer.advance()
    if let days = try everyDays() { return try at(days) }
    if lexer.token.isUnit || lexer.keyword == .fortnight {
      let word = lexer.token.range
      var length: Milliseconds = .days(14)
      if case .unit(let unit) = lexer.keyword { length = .milliseconds(Int64(unit.milliseconds)) }
      let isDays = length >= .days(1)
      try lexer.advance()
      if lexer.keyword == .after { return try afterDone(word, length, isDays: isDays) }
      if isDays { return try turns(length, inWeeks: true, word) }
      return try interval(word, length)
    }
    guard lexer.token.kind == .number else { throw notEvery() }
    let start = lexer.token.range.lowerBound
    let duration = try lexer.duration(article: false)
    let text = start..<lexer.previousEnd
    let countsDays = lexer.countsDays
    if lexer.keyword == .after { return try afterDone(text, duration, isDays: countsDays) }
    if lexer.keyword == .at { throw timeOfInterval() }
    // Calendar days have a time of day, unless an interval within each day follows.
    let isWithin = lexer.keyword == .from || lexer.keyword == .between || lexer.keyword == .on
    if countsDays, !isWithin { return try turns(duration, inWeeks: lexer.countsWeeks, text) }
    return try interval(text, duration)
  }

  /// Returns a rota for a number of days or weeks without a time. It keeps the time of day; weeks keep the weekday of
  /// the start.
  private mutating func turns(_ length: Milliseconds, inWeeks: Bool, _ text: Range<Int>) throws(Fault) -> Phrase.Pattern
  {
    let count = length.rawValue / (inWeeks ? 604_800_000 : 86_400_000)
    try need(
      (1...Int64(Phrase.mostSteps)).contains(count), .outOfRange, at: text,
      "\(lexer.quoted(text)) is not a possible number of steps", expected: "from 1 to \(Phrase.mostSteps) days")
    let times = [(context?.words() ?? .usual).day]
    isTimeless = true
    guard count > 1 else { return .times(.weekdays(inWeeks ? [] : .everyDay), times) }
    // The weekday follows when all bounds are known.
    return .times(inWeeks ? .weeks(every: Int(count), []) : .days(every: Int(count)), times)
  }

  /// Gives weeks without a weekday the weekday of their start.
  private func fillWeekday(of phrase: inout Phrase) throws(Fault) {
    guard case .times(let days, let times) = phrase.pattern else { return }
    var first: CivilDate? = context?.civil.date
    switch phrase.bounds.starting {
    case .date(let date): first = date
    case .civil(let civil): first = civil.date
    case .instant(let instant): first = context?.zone.civil(at: instant).date
    case nil: break
    }
    switch days {
    case .weekdays([]), .weeks(_, []):
      guard let first else { throw needsNow(0..<0) }
      let day = WeekdaySet(first.weekday)
      if case .weeks(let count, _) = days {
        phrase.pattern = .times(.weeks(every: count, day), times)
      } else {
        phrase.pattern = .times(.weekdays(day), times)
      }
    default: break
    }
  }

  func notEvery() -> Fault {
    misspelt(
      "is not days or a duration", expected: "a duration like 90m, or days like mon,wed",
      among: PhraseParser.counted)
  }

  private static let counted =
    Array(Keyword.weekdayNames.keys) + Keyword.ordinals.keys + Keyword.counted.keys + Keyword.monthNames.keys
    + ["day", "weekday", "weekend", "last"]

  /// Returns the fault for a time of day after an interval. Days take one, hours do not.
  private func timeOfInterval() -> Fault {
    var fault = Fault(
      range: lexer.token.range, problem: "an interval takes no time of day",
      expected: "a number of days, as in \"every 3 days at 9\"")
    fault.isMeaning = lexer.peek()?.kind == .number
    return fault
  }

  /// Parses `after done` [ `at` times ].
  private mutating func afterDone(
    _ text: Range<Int>, _ duration: Milliseconds, isDays: Bool
  ) throws(Fault) -> Phrase.Pattern {
    try lexer.advance()
    guard try lexer.skip(.done) else {
      throw misspelt("is not allowed after \"after\"", expected: "\"done\"", among: ["done", "completion"])
    }
    let isTimed = lexer.keyword == .at
    guard isTimed || isDays else { return .elapsedAfterDone(seconds: try wholeSeconds(text, duration)) }
    let days = duration.rawValue / 86_400_000
    guard isDays else { throw timeOfInterval() }
    try need(
      (1...Int64(Phrase.mostSteps)).contains(days), .outOfRange, at: text,
      "\(lexer.quoted(text)) is not a possible number of steps", expected: "from 1 to \(Phrase.mostSteps) days")
    return .daysAfterDone(Int(days), isTimed ? try atTimes() : [(context?.words() ?? .usual).day])
  }

  private func wholeSeconds(_ text: Range<Int>, _ duration: Milliseconds) throws(Fault) -> Int64 {
    try need(
      duration.rawValue % 1_000 == 0 && duration >= .seconds(1), .outOfRange, at: text,
      "an interval has whole seconds, and at least one", expected: "an interval of 1s or more")
    return duration.rawValue / 1_000
  }

  /// Parses a window and days after a duration, in either order.
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
            range: first, problem: "an interval of more than a day cannot be limited to days of the week",
            expected: "an interval of at most 1d"
          ).ofMeaning()
        }
      } else {
        break
      }
    }
    if lexer.keyword == .at { throw timeOfInterval() }
    guard let window else { return .elapsed(seconds: seconds, days ?? .weekdays(.everyDay)) }
    guard seconds <= 86_400 else {
      throw Fault(
        range: text, problem: "an interval of more than a day does not fit a daily window",
        expected: "an interval of at most 1d"
      ).ofMeaning()
    }
    return .window(seconds: seconds, from: window.from, to: window.to, days ?? .weekdays(.everyDay))
  }

  /// Parses `from` time `to` time, or `between` time `and` time.
  private mutating func window() throws(Fault) -> (CivilTime, CivilTime) {
    let isBetween = lexer.keyword == .between
    let start = lexer.token.range.lowerBound
    try lexer.advance()
    let (from, isFromBare, _) = try windowTime(allowing24: false)
    let isJoined = lexer.keyword == (isBetween ? .and : .to) || lexer.token.kind == .sign(UInt8(ascii: "-"))
    guard isJoined else {
      throw Fault(
        range: lexer.token.range, problem: "the end of the window is missing",
        expected: isBetween ? "\"and\" and a time" : "\"to\" and a time",
        repair: lexer.keyword == .until ? .init(lexer.token.range, "to") : nil)
    }
    try lexer.advance()
    let (to, isToBare, isToHalved) = try windowTime(allowing24: true)
    // The canonical form is never ambiguous.
    guard context != nil else { return (from, to) }
    let range = start..<lexer.previousEnd
    return try DayWindow(from: from, isFromBare: isFromBare, to: to, isToBare: isToBare, isToHalved: isToHalved).settled
    { choices in
      var fault = Fault(
        range: range, problem: "\(lexer.quoted(range)) is ambiguous",
        expected: choices.map { "\"\($0)\"" }.joined(separator: " or "))
      fault.isMeaning = true
      fault.choices = choices.map { .init(range, $0) }
      return fault
    }
  }

  /// Parses a time of a window. `isBare`: it may mean before or after noon, as `9` and `9:00` may, but not `09:00`.
  /// `isHalved`: it says `am` or `pm`.
  private mutating func windowTime(allowing24: Bool) throws(Fault) -> (CivilTime, isBare: Bool, isHalved: Bool) {
    let first = lexer.token
    let time = try time(allowing24: allowing24)
    let text = lexer.bytes[first.range.lowerBound..<lexer.previousEnd]
    let isPlain = text.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ":") }
    let isPadded = text.first == UInt8(ascii: "0") || first.range.count == 2 && text.count > 2
    guard first.kind == .number else { return (time, false, false) }
    return (time, isPlain && !isPadded && (1...12).contains(first.value), !isPlain)
  }

  /// Adds the start that the value needs to mean the same whenever it is read.
  mutating func settle(_ phrase: inout Phrase, count: Range<Int>?) throws(Fault) {
    if phrase.countsFromDone, let count {
      throw Fault(
        range: count,
        problem: "a schedule that counts from completion cannot have a number of times, because each answer moves it",
        expected: "\"until\" and a date"
      ).concluding()
    }
    try fillWeekday(of: &phrase)
    guard phrase.bounds.starting == nil else { return }
    let whole = 0..<0
    switch phrase.pattern {
    case .once: return
    case .times(let days, _) where !days.isRota && phrase.bounds.count == nil: return
    case .window where phrase.bounds.count == nil: return
    default: break
    }
    guard let context else { throw needsNow(whole) }
    switch phrase.pattern {
    case .elapsed(let seconds, _), .elapsedAfterDone(let seconds):
      // The first point is one interval from now, so `3 times` counts future ones only.
      guard context.second + seconds <= Instant.latest.seconds else { throw tooLate(whole) }
      phrase.bounds.starting = .instant(Instant(seconds: context.second + seconds))
    case .daysAfterDone(let days, _):
      guard let date = context.civil.date.adding(days: days) else { throw tooLate(whole) }
      phrase.bounds.starting = .date(date)
    case .times(let days, _) where days.isRota:
      phrase.bounds.starting = rotaStart(context, isCounted: phrase.bounds.count != nil)
    case .times, .window: phrase.bounds.starting = .instant(Instant(seconds: context.second + 1))
    case .once: break
    }
  }

  private func tooLate(_ range: Range<Int>) -> Fault {
    Fault(
      code: .outOfRange, range: range, problem: "its first occurrence is after the year 9999",
      expected: "a shorter interval")
  }

  /// Returns the start of a rota without one: today. With a count it starts now, so that no past occurrence counts. It
  /// is a wall-clock time if that is unambiguous, because an instant is another day elsewhere.
  private func rotaStart(_ context: ParseContext, isCounted: Bool) -> Phrase.Moment {
    guard isCounted else { return .date(min(max(context.civil.date, .earliest), .latest)) }
    let second = context.second + 1
    let civil = CivilDateTime(wallSeconds: second + Int64(context.zone.offset(at: Instant(seconds: second))))
    guard CivilDate(dayNumber: Int(civil.date.dayNumber)) != nil,
      context.zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first) == second
    else { return .instant(Instant(seconds: second)) }
    return .civil(civil)
  }
}

extension Lexer.Token {
  var isUnit: Bool {
    if case .unit = keyword { true } else { false }
  }
}

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
  private func unknownBeginning() -> Fault {
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
  private mutating func number() throws(Fault) -> Phrase.Pattern {
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
  private func trailing(_ phrase: Phrase) -> Fault {
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
  private var everyRepair: Fault.Repair? {
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
