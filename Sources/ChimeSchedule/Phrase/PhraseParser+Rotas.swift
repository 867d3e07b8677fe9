extension PhraseParser {
  /// Whether a word for a frequency begins here: `weekly`, `fortnightly`, `monthly`, `yearly`.
  var isPeriodic: Bool {
    switch lexer.keyword {
    case .weekly, .fortnightly, .monthly, .yearly: true
    default: false
    }
  }

  /// Parses `weekly on` weekdays, `monthly on` days of a month, or `yearly on` dates.
  mutating func periodicDays() throws(Fault) -> Phrase.Days {
    let word = lexer.keyword
    try lexer.advance()
    switch word {
    case .monthly: return try months(every: 1)
    case .yearly: return try years(every: 1)
    default: return try weeks(every: word == .fortnightly ? 2 : 1)
    }
  }

  /// Parses the days after `every`. It returns `nil` and skips nothing before an interval or a count from completion.
  ///
  /// - Parameter hasTimes: Whether the times of day came already, so that no `at` follows to distinguish a count of
  ///   days from an interval.
  mutating func everyDays(hasTimes: Bool = false) throws(Fault) -> Phrase.Days? {
    switch lexer.keyword {
    case .weekday, .weekdays, .weekends, .daily: return .weekdays(try days().set)
    case .unit(.day) where isDayOfMonth: return .dates(try dates())
    case .unit(.day):
      guard lexer.peek()?.keyword != .after else { return nil }
      try lexer.advance()
      return .weekdays(.everyDay)
    case .unit(.week):
      let next = lexer.peek()?.keyword
      guard hasTimes || next == .on || next == .at else { return nil }
      try lexer.advance()
      return try weeks(every: 1)
    case .fortnight:
      guard lexer.peek()?.keyword != .after else { return nil }
      try lexer.advance()
      return try weeks(every: 2)
    case .months:
      try lexer.advance()
      return try months(every: 1)
    case .years:
      try lexer.advance()
      return try years(every: 1)
    case .the, .last: return .dates(try dates())
    case .month: return .dates(try dates())
    default: break
    }
    if lexer.keyword == .other || isOrdinal { return try everyNth() }
    guard lexer.token.kind == .number else { return nil }
    if isYearlyDate { return .dates(try dates()) }
    return try everyCount(hasTimes: hasTimes)
  }

  /// Whether `day` is followed by numbers and then a month: `every day 1,15 of month`, but not `every day 8`.
  private var isDayOfMonth: Bool {
    guard var ahead = lexer.ahead(1), ahead.token.kind == .number else { return false }
    var steps = 0
    var isNumeral = false
    while ahead.token.kind == .number || ahead.token.kind == .dots || ahead.keyword == .and || ahead.keyword == .to
      || ahead.keyword == .ordinalSuffix || ahead.token.kind == .sign(UInt8(ascii: ","))
      || ahead.token.kind == .sign(UInt8(ascii: "-"))
    {
      steps += 1
      isNumeral = ahead.keyword == .ordinalSuffix
      guard steps < 4 * Phrase.mostDates, let next = ahead.ahead(1) else { return false }
      ahead = next
    }
    var parser = self
    parser.lexer = ahead
    if isNumeral {
      switch ahead.keyword {
      case .weekday, .weekdays, .last: return true
      default: break
      }
    }
    return ahead.keyword == .of || ahead.keyword == .unit(.day) || parser.isOrdinal || parser.lexer.keyword == .the
  }

  /// Parses `every 3 days at`, `every 2 weeks on`, `every 3 months on` or `every 2 years on`; `nil` for an interval.
  private mutating func everyCount(hasTimes: Bool) throws(Fault) -> Phrase.Days? {
    guard let unit = lexer.ahead(1), let next = unit.peek() else { return nil }
    switch (unit.keyword, next.keyword) {
    case (.unit(.day), let next) where hasTimes || next == .at:
      let count = try steps()
      try lexer.advance()
      return count == 1 ? .weekdays(.everyDay) : .days(every: count)
    case (.unit(.week), let next) where hasTimes || next == .on || next == .at:
      let count = try steps()
      try lexer.advance()
      return try weeks(every: count)
    case (.months, _):
      let count = try steps()
      try lexer.advance()
      return try months(every: count)
    case (.years, _):
      let count = try steps()
      try lexer.advance()
      return try years(every: count)
    case (nil, _) where unit.token.kind == .word:
      let words = Array(Keyword.counted.keys) + Keyword.units.keys.filter { $0.utf8.count > 3 }
      guard var word = Spelling.nearest(to: unit.text(unit.token.range.prefix(24)), among: words),
        Keyword.counted[word] != nil
      else { return nil }
      if lexer.token.value != 1, Keyword.counted[word + "s"] != nil { word += "s" }
      throw Fault(
        range: unit.token.range, problem: "\(unit.quoted) is neither a unit of time nor months or years",
        expected: "days, weeks, months, years or a unit of time", repair: .init(unit.token.range, word))
    default: return nil
    }
  }

  /// Parses a number of days, weeks, months or years.
  private mutating func steps() throws(Fault) -> Int {
    try need(
      (1...Int64(Phrase.mostSteps)).contains(lexer.token.value), .outOfRange, at: lexer.token.range,
      "\(lexer.quoted) is not a possible number of steps", expected: "a number from 1 to \(Phrase.mostSteps)")
    let count = Int(lexer.token.value)
    try lexer.advance()
    return count
  }

  /// Parses `every other tue`, `every second week on tue`, `every 3rd day`, and days of a month such as `every second
  /// tue of month`. It returns `nil` for `every second` alone, which is an interval.
  private mutating func everyNth() throws(Fault) -> Phrase.Days? {
    let isOther = lexer.keyword == .other
    let isSecond = lexer.keyword == .unit(.second)
    var ahead = self
    if isOther { try ahead.lexer.advance() }
    let count = isOther ? 2 : try ahead.ordinal()
    let next = ahead.lexer.peek()?.keyword
    switch ahead.lexer.keyword {
    case .unit(.day) where isOther || next != .of && !ahead.isListOfDates:
      self = ahead
      try lexer.advance()
      return count == 1 ? .weekdays(.everyDay) : .days(every: count)
    case .unit(.week):
      self = ahead
      try lexer.advance()
      return try weeks(every: count)
    case .months:
      self = ahead
      try lexer.advance()
      return try months(every: count)
    case .years:
      self = ahead
      try lexer.advance()
      return try years(every: count)
    case .weekday, .weekends, .weekdays:
      guard isOther || count > 1 && next != .of && !ahead.isListOfDates else { return .dates(try dates()) }
      // "every 3rd friday" is the third of a month; "every third friday" may be that too.
      if !isOther, !isSecond, case .weekday = ahead.lexer.keyword { return .dates(try dates()) }
      self = ahead
      return try everyNthWeekday(count)
    case .to, .last, .of, .unit(.day): break
    default:
      if isOther {
        self = ahead
        throw misspelt(
          "cannot be used with \"every other\"", expected: "\"day\", \"week\", \"month\", \"year\" or a day like tue",
          among: Array(Keyword.weekdayNames.keys) + ["day", "week", "month", "year", "weekend"])
      }
      if isSecond, !isListOfDates { return nil }
    }
    return .dates(try dates())
  }

  private mutating func everyNthWeekday(_ count: Int) throws(Fault) -> Phrase.Days {
    try need(
      lexer.keyword != .weekdays, at: lexer.token.range, "working days cannot be counted in turns",
      expected: "\"every \(count) days\", or days of every so many weeks")
    return .weeks(every: count, try days().set)
  }

  /// Whether the word here is followed by another day of a month: `second tue, last fri of month`.
  private var isListOfDates: Bool {
    guard var ahead = lexer.ahead(1), ahead.keyword == .and || ahead.token.kind == .sign(UInt8(ascii: ",")) else {
      return false
    }
    do {
      if try ahead.skip(","), ahead.keyword == .and { try ahead.advance() }
      _ = try ahead.skip(.and)
    } catch { return false }
    var parser = self
    parser.lexer = ahead
    return parser.isDates
  }

  /// Parses `on` weekdays.
  private mutating func weeks(every count: Int) throws(Fault) -> Phrase.Days {
    try expectOn("the day of the week") { today in "on \(today.weekday.abbreviation)" }
    guard isDays else {
      throw misspelt(
        "is not a day of the week", expected: "a day of the week (mon, tue, … sun)",
        among: Array(Keyword.weekdayNames.keys) + ["weekdays", "weekends"])
    }
    let days = try days().set
    return count == 1 ? .weekdays(days) : .weeks(every: count, days)
  }

  /// Parses `on` days of a month.
  private mutating func months(every count: Int) throws(Fault) -> Phrase.Days {
    try expectOn("the day of the month") { today in "on day \(today.day)" }
    let start = lexer.token.range.lowerBound
    let days = try monthDays()
    if lexer.keyword == .of {
      throw Fault(
        range: lexer.token.range, problem: "\"of\" cannot be used with a count of months",
        expected: "days without \"of\", as in \"every 3 months on day 1\"")
    }
    try need(!days.isEmpty, .neverOccurs, at: start..<lexer.previousEnd, "these days never come")
    return count == 1 ? .dates(MonthDays(each: days)) : .months(every: count, days)
  }

  /// Parses `on` dates.
  private mutating func years(every count: Int) throws(Fault) -> Phrase.Days {
    try expectOn("the date") { today in "on \(MonthDays.names[today.month - 1]) \(today.day)" }
    guard isDates else {
      throw misspelt(
        "is not a date of each year", expected: "a date like nov 17, or days like \"last fri of mar\"",
        among: Array(Keyword.monthNames.keys) + Keyword.ordinals.keys + ["day", "last"])
    }
    let start = lexer.token.range.lowerBound
    let dates: MonthDays
    do {
      dates = try self.dates()
    } catch {
      // "of month" would make them days of each month.
      var fault = error
      if fault.problem.hasPrefix("the month of these days is missing") {
        (fault.repair, fault.expected) = (nil, "\"of\" and a month, as in \"first fri of mar\"")
      }
      throw fault
    }
    // Without months and with a step of one year, they would be days of every month.
    guard count > 1 || dates.selections.count > 1 else {
      var fault = Fault(
        range: start..<lexer.previousEnd,
        problem: "the month of \(lexer.quoted(start..<lexer.previousEnd)) is missing",
        expected: "a date like \"dec 24\", or a month, as in \"last fri of mar\"")
      fault.isMeaning = true
      throw fault
    }
    return count == 1 ? .dates(dates) : .years(every: count, dates)
  }

  /// Skips `on`. Before a time or the end, it suggests today's day.
  private mutating func expectOn(_ what: String, _ words: (CivilDate) -> String) throws(Fault) {
    if try lexer.skip(.on) { return }
    let place = lexer.previousEnd
    if lexer.keyword == .after {
      throw Fault(
        range: lexer.token.range, problem: "what counts from completion counts days or weeks",
        expected: "a schedule like \"every 30 days after done at 9\"")
    }
    var repair: Fault.Repair?
    if let context, lexer.keyword == .at || lexer.token.kind == .end {
      let words = words(context.civil.date)
      repair = .init(place..<place, " " + words, shown: "\(excerpt(lexer.text(0..<place), limit: 40)) \(words)")
    }
    if repair == nil, isDates || isDays {
      repair = .init(place..<place, " on", shown: "on \(wordHere)")
    }
    throw Fault(range: lexer.token.range, problem: "\(what) is missing", expected: "\"on\" and days", repair: repair)
  }
}
