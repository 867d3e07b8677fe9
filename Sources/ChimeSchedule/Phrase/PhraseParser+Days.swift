extension PhraseParser {
  /// Whether weekdays begin here.
  var isDays: Bool {
    switch lexer.keyword {
    case .weekday, .weekdays, .weekends, .daily: true
    default: false
    }
  }

  /// Parses weekdays `at` times. A single day without `every` means one moment.
  mutating func weekdaysAt() throws(Fault) -> Phrase.Pattern {
    let first = lexer.token
    let days = try days()
    guard lexer.keyword == .at else { throw missingAt() }
    let times = try atTimes()
    guard !days.isRecurring, case .weekday(let day, _) = first.keyword else {
      return .times(.weekdays(days.set), times)
    }
    guard times.count == 1, let time = times.first else {
      throw Fault(
        range: first.range, problem: "a single day takes one time", expected: "\"every\" before the day",
        repair: .init(first.range.lowerBound..<first.range.lowerBound, "every ", shown: "every \(day.abbreviation)")
      ).ofMeaning()
    }
    return .once(.civil(try nearest(day, at: time, first.range)))
  }

  /// Parses `day-list = day-item { ( "," | "and" ) day-item }`.
  mutating func days() throws(Fault) -> (set: WeekdaySet, isRecurring: Bool) {
    var set: WeekdaySet = []
    var items = 0
    var isRecurring = false
    let start = lexer.token.range
    repeat {
      items += 1
      try need(
        items <= Phrase.mostDays, .outOfRange, at: start, "there are more than \(Phrase.mostDays) days in one list",
        expected: "each day once")
      switch lexer.keyword {
      case .weekdays:
        set.formUnion(.weekdays)
        isRecurring = true
        try lexer.advance()
      case .weekends:
        set.formUnion(.weekends)
        isRecurring = true
        try lexer.advance()
      case .daily:
        set = .everyDay
        isRecurring = true
        try lexer.advance()
      default:
        let (day, plural) = try weekday()
        if try skipRangeSign() {
          set.formUnion(WeekdaySet(from: day, through: try weekday().day))
          isRecurring = true
        } else {
          set.insert(WeekdaySet(day))
          isRecurring = isRecurring || plural
        }
      }
    } while try continuesDays()
    return (set, isRecurring || items > 1)
  }

  /// Skips the sign of a range: `-`, `..`, `to` or `through`.
  private mutating func skipRangeSign() throws(Fault) -> Bool {
    let isSign = lexer.token.kind == .dots || lexer.token.kind == .sign(UInt8(ascii: "-"))
    guard isSign || lexer.keyword == .to else { return false }
    try lexer.advance()
    return true
  }

  /// Skips the separator between two days. A comma before a bound is not one.
  private mutating func continuesDays() throws(Fault) -> Bool {
    let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
    guard isComma || lexer.keyword == .and else { return false }
    var ahead = lexer
    try ahead.advance()
    if isComma, ahead.keyword == .and { try ahead.advance() }
    if isComma, PhraseParser.isBound(ahead) { return false }
    lexer = ahead
    return true
  }

  private mutating func weekday() throws(Fault) -> (day: Weekday, plural: Bool) {
    guard case .weekday(let day, let plural) = lexer.keyword else {
      throw misspelt(
        "is not a day of the week", expected: "a day of the week (mon, tue, … sun)",
        among: Array(Keyword.weekdayNames.keys) + ["weekdays", "weekends"])
    }
    try lexer.advance()
    return (day, plural)
  }

  /// Parses `at` and times after recurring days.
  mutating func at(_ days: Phrase.Days) throws(Fault) -> Phrase.Pattern {
    guard lexer.keyword == .at else { throw missingAt() }
    return .times(days, try atTimes())
  }

  /// Parses dates `at` times, without `every` before them.
  mutating func datesAt() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range.lowerBound
    let dates = try dates()
    let range = start..<lexer.previousEnd
    guard lexer.keyword == .at else { throw missingAt() }
    return try withoutEvery(dates, try atTimes(), range)
  }

  /// Returns the pattern of dates without `every`. One date means a single moment; days of several months recur.
  private func withoutEvery(
    _ dates: MonthDays, _ times: [CivilTime], _ range: Range<Int>
  ) throws(Fault) -> Phrase.Pattern {
    if dates.isSingle {
      guard times.count == 1, let time = times.first else { throw severalTimes(range) }
      guard let context else { throw needsNow(range) }
      // UTC has no gaps and folds.
      let timetable = Phrase(pattern: .times(.dates(dates), [time])).timetable(
        in: ScheduleContext(zone: .utc), zone: .utc, gap: nil, fold: nil)
      var after = Instant(seconds: max(context.civil.wallSeconds - 1, 0))
      while let next = timetable.next(after: after) {
        let civil = Zone.utc.civil(at: next)
        if context.isAhead(civil) { return .once(.civil(civil)) }
        after = next
      }
      throw Fault(
        code: .outOfRange, range: range, problem: "this is after the year 9999", expected: "an earlier moment")
    }
    guard !dates.isDateList else {
      let start = range.lowerBound
      throw Fault(
        range: range, problem: "several dates without a year are not a single moment",
        expected: "\"every\" before them, or one date",
        repair: .init(start..<start, "every ", shown: "every \(excerpt(lexer.text(range), limit: 40))")
      ).ofMeaning()
    }
    return .times(.dates(dates), times)
  }

  /// Whether days or dates begin here, which may follow `at` times.
  var isAfterTimes: Bool {
    switch lexer.keyword {
    case .on, .every, .today, .tomorrow: true
    default: isDays || isPeriodic || isDates || isDate
    }
  }

  /// Parses days, or the date of a single moment, after `at` times.
  mutating func daysAfterTimes(_ times: [CivilTime], _ range: Range<Int>) throws(Fault) -> Phrase.Pattern {
    if try lexer.skip(.every) {
      let start = lexer.token.range
      if let days = try everyDays(hasTimes: true) { return .times(days, times) }
      if lexer.token.kind == .number || lexer.token.isUnit {
        throw Fault(
          range: start, problem: "an interval takes no time of day", expected: "days, or \"from\" and \"to\" after it")
      }
      throw notEvery()
    }
    if isPeriodic { return .times(try periodicDays(), times) }
    _ = try lexer.skip(.on)
    if isDates {
      let start = lexer.token.range.lowerBound
      let dates = try dates()
      return try withoutEvery(dates, times, start..<lexer.previousEnd)
    }
    if isDays {
      let first = lexer.token
      let days = try days()
      guard !days.isRecurring, case .weekday(let day, _) = first.keyword else {
        return .times(.weekdays(days.set), times)
      }
      guard times.count == 1, let time = times.first else { throw severalTimes(range) }
      return .once(.civil(try nearest(day, at: time, first.range)))
    }
    let start = lexer.token.range
    let date = try self.date()
    guard times.count == 1, let time = times.first else { throw severalTimes(range) }
    return .once(.civil(try ahead(CivilDateTime(date: date, time: time), start)))
  }

  func severalTimes(_ range: Range<Int>) -> Fault {
    Fault(range: range, problem: "a single moment has one time", expected: "one time, or days like \"daily\"")
      .ofMeaning()
  }

  /// Returns the next time of day on such a weekday; today counts if it is still in the future.
  private func nearest(_ day: Weekday, at time: CivilTime, _ range: Range<Int>) throws(Fault) -> CivilDateTime {
    guard let context else { throw needsNow(range) }
    let today = context.civil.date
    let wait = WeekdaySet(day).wait(from: Int64(today.dayNumber)) ?? 0
    for days in [Int(wait), Int(wait) + 7] {
      guard let date = today.adding(days: days) else { break }
      let civil = CivilDateTime(date: date, time: time)
      if context.isAhead(civil) { return civil }
    }
    throw Fault(
      code: .outOfRange, range: range, problem: "this is after the year 9999", expected: "an earlier moment")
  }

  func missingAt() -> Fault {
    let place = lexer.previousEnd
    let isTime = lexer.token.kind == .number || lexer.keyword == .noon || lexer.keyword == .midnight
    if isTime {
      return Fault(
        range: lexer.token.range, problem: "\(lexer.quoted) needs \"at\" before it", expected: "\"at\" and a time",
        repair: .init(
          lexer.token.range.lowerBound..<lexer.token.range.lowerBound, "at ",
          shown: "at \(wordHere)"))
    }
    if lexer.keyword == .of {
      return Fault(
        range: lexer.token.range, problem: "a place in the month is missing",
        expected: "a place before the day, as in \"first fri of month\" or \"last day of month\"")
    }
    if lexer.token.kind == .word, lexer.keyword == nil {
      return misspelt("is not allowed after days", expected: "\"at\" and a time", among: ["at", "and"])
    }
    return Fault(
      range: lexer.token.range, problem: "the time is missing", expected: "\"at\" and a time",
      repair: lexer.token.kind == .end
        ? .init(place..<place, " at 9:00", shown: "\(excerpt(lexer.text(0..<place), limit: 40)) at 9:00") : nil)
  }
}
