extension PhraseParser {
  /// Parses the rest after a first `at`: times with days after them, a date with its time, or a time alone.
  mutating func at() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    try lexer.advance()
    if isDate, !isTimeBeforeDate { return try isYearlyDate ? datesAt() : dated() }
    let first = lexer.token.range
    let times = try times()
    let range = first.lowerBound..<lexer.previousEnd
    if isAfterTimes { return try daysAfterTimes(times, range) }
    guard times.count == 1, let time = times.first else {
      var fault = severalTimes(range)
      // More text might name the days.
      fault.isMeaning = lexer.token.kind == .end
      throw fault
    }
    guard let context else { throw needsNow(start) }
    let today = context.civil.date
    for days in 0...2 {
      guard let date = today.adding(days: days) else { break }
      let civil = CivilDateTime(date: date, time: time)
      if context.isAhead(civil) { return .once(.civil(civil)) }
    }
    throw Fault(
      code: .outOfRange, range: range, problem: "this is after the year 9999", expected: "an earlier moment")
  }

  /// Whether a number before a month is a time, and the number after it the day: `at 9 nov 17`.
  private var isTimeBeforeDate: Bool {
    guard lexer.token.kind == .number, !lexer.isNumeral, lexer.peek()?.isMonth == true, let day = lexer.ahead(2),
      day.token.kind == .number, day.token.range.count <= 2, let next = day.peek()
    else { return false }
    return next.kind != .sign(UInt8(ascii: ":")) && next.keyword != .am && next.keyword != .pm
  }

  /// Parses a date with the time that a single moment needs: `2026-12-01 09:00`, `tomorrow at 9`, `1 dec 2026 noon`.
  mutating func dated() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    let moment = try moment()
    switch moment {
    case .instant: return .once(moment)
    case .civil(let civil): return .once(.civil(try ahead(civil, start)))
    case .date:
      let place = lexer.previousEnd
      throw Fault(
        range: lexer.token.range, problem: "the time is missing", expected: "a time like 9:00",
        repair: lexer.token.kind == .end
          ? .init(place..<place, " at 9:00", shown: "\(lexer.text(start.lowerBound..<place)) at 9:00") : nil)
    }
  }

  /// Refuses a time of today that has passed, and suggests tomorrow.
  func ahead(_ civil: CivilDateTime, _ range: Range<Int>) throws(Fault) -> CivilDateTime {
    guard let context, lexer.text(range).lowercased() == "today", !context.isAhead(civil) else { return civil }
    throw Fault(
      code: .neverOccurs, range: range, problem: "\(civil) has passed", expected: "a future moment",
      repair: .init(range, "tomorrow"))
  }

  /// Whether a date begins here.
  var isDate: Bool {
    switch lexer.keyword {
    case .today, .tomorrow, .now, .month: return true
    default: break
    }
    guard lexer.token.kind == .number, let next = lexer.peek() else { return false }
    if next.isMonth || lexer.isNumeral && lexer.ahead(2)?.token.isMonth == true { return true }
    return next.kind == .sign(UInt8(ascii: "-")) && next.range.lowerBound == lexer.token.range.upperBound
      && lexer.token.range.count >= 3
  }

  /// Parses `date [ [ "at" | "T" ] time [ offset ] ]`, or `now`.
  mutating func moment() throws(Fault) -> Phrase.Moment {
    if lexer.keyword == .now {
      guard let context else { throw needsNow(lexer.token.range) }
      try lexer.advance()
      return .instant(Instant(seconds: context.second))
    }
    let start = lexer.token.range.lowerBound
    let date = try date()
    let isJoined =
      lexer.isAdjacent && lexer.token.range.count == 1 && lexer.text(lexer.token.range).lowercased() == "t"
    if isJoined {
      try lexer.advance()
    } else if try !lexer.skip(.at) {
      let isTime = lexer.keyword == .noon || lexer.keyword == .midnight || lexer.token.kind == .number
      guard isTime, !isBound else { return .date(date) }
    }
    let civil = CivilDateTime(date: date, time: try time(allowing24: false))
    guard let offset = try offset(isJoined: isJoined) else { return .civil(civil) }
    let second = civil.wallSeconds - offset
    guard second >= 0, second <= Instant.latest.seconds else { throw outOfYears(start..<lexer.previousEnd) }
    return .instant(Instant(seconds: second))
  }

  /// Parses `Z` or `±hh:mm` right after a time, as seconds east of UTC.
  ///
  /// - Parameter isJoined: Whether a `T` separates date and time. Without it, "tomorrow 10:00-11:00" is an hour in
  ///   someone's day, not a time west of UTC.
  private mutating func offset(isJoined: Bool) throws(Fault) -> Int64? {
    guard lexer.isAdjacent else { return nil }
    if lexer.token.kind == .word, lexer.text(lexer.token.range).lowercased() == "z" {
      try lexer.advance()
      return 0
    }
    let sign = lexer.token.range
    let isNegative = try lexer.skip("-")
    guard !isNegative || isJoined else {
      throw Fault(
        range: sign, problem: "a single time has no end",
        expected: #"the time alone, as in "at 10:00", or an offset from UTC behind a T, as in "2026-12-01T10:00-11:00""#
      )
    }
    if !isNegative {
      guard try lexer.skip("+") else { return nil }
    }
    let hour = lexer.token
    guard hour.kind == .number, hour.range.count == 2, hour.value < 24 else { throw badOffset() }
    try lexer.advance()
    guard try lexer.skip(":") else { throw badOffset() }
    guard lexer.token.kind == .number, lexer.token.range.count == 2, lexer.token.value < 60 else { throw badOffset() }
    let seconds = hour.value * 3_600 + lexer.token.value * 60
    try lexer.advance()
    return isNegative ? -seconds : seconds
  }

  private func badOffset() -> Fault {
    Fault(range: lexer.token.range, problem: "this is not an offset from UTC", expected: "Z or an offset like +01:00")
  }

  func outOfYears(_ range: Range<Int>) -> Fault {
    Fault(
      code: .outOfRange, range: range, problem: "\(lexer.quoted(range)) lies outside the years 1970–9999",
      expected: "a year from 1970 to 9999")
  }

  /// Parses `2026-12-01`, `1 dec 2026`, `dec 1, 2026`, `today`, `tomorrow`, or the next such weekday.
  mutating func date() throws(Fault) -> CivilDate {
    let start = lexer.token
    switch start.keyword {
    case .today, .tomorrow, .weekday:
      guard let context else { throw needsNow(start.range) }
      var wait = 0
      if start.keyword == .tomorrow { wait = 1 }
      if case .weekday(let day, _) = start.keyword {
        wait = Int(WeekdaySet(day).wait(from: Int64(context.civil.date.dayNumber)) ?? 0)
      }
      guard let date = context.civil.date.adding(days: wait) else { throw outOfYears(start.range) }
      try lexer.advance()
      return date
    case .month: return try namedDate()
    default: break
    }
    guard start.kind == .number else {
      throw misspelt(
        "is not a date", expected: "a date like 2026-12-01",
        among: ["today", "tomorrow"] + Keyword.weekdayNames.keys + Keyword.monthNames.keys)
    }
    if isDate, lexer.isNumeral || lexer.peek()?.isMonth == true { return try namedDate() }
    return try isoDate()
  }

  /// Parses `1 dec 2026` or `dec 1, 2026`. The year is required.
  private mutating func namedDate() throws(Fault) -> CivilDate {
    let start = lexer.token
    let isYearly = isYearlyDate
    let month: Int64
    let day: Int64
    if case .month(let named) = start.keyword {
      try lexer.advance()
      (month, day) = (Int64(named), Int64(try dayNumber()))
      if !isYearly { _ = try lexer.skip(",") }
    } else {
      day = Int64(try dayNumber())
      guard case .month(let named) = lexer.keyword else { return try isoDate() }
      month = Int64(named)
      try lexer.advance()
    }
    guard !isYearly else { throw missingYear(month, day, start.range.lowerBound..<lexer.previousEnd) }
    let year = lexer.token
    try lexer.advance()
    return try date(year, month, day, start.range.lowerBound..<year.range.upperBound)
  }

  private func missingYear(_ month: Int64, _ day: Int64, _ range: Range<Int>) -> Fault {
    var date: CivilDate?
    if let today = context?.civil.date {
      // At most eight years lie between one 29 February and the next.
      date = (0...8).lazy.compactMap { CivilDate(year: today.year + $0, month: Int(month), day: Int(day)) }
        .first { $0 >= today }
    }
    return Fault(
      range: range, problem: "\(lexer.quoted(range)) has no year", expected: "a date like 2026-12-24",
      repair: date.map { .init(range, $0.description) })
  }

  private mutating func isoDate() throws(Fault) -> CivilDate {
    let year = lexer.token
    var fields: [Int64] = []
    try lexer.advance()
    for _ in 0..<2 {
      guard lexer.isAdjacent, try lexer.skip("-"), lexer.isAdjacent, lexer.token.kind == .number,
        lexer.token.range.count <= 2
      else {
        throw Fault(
          range: year.range.lowerBound..<lexer.previousEnd,
          problem: "\(lexer.quoted(year.range.lowerBound..<lexer.previousEnd)) is not a date",
          expected: "a date like 2026-12-01")
      }
      fields.append(lexer.token.value)
      try lexer.advance()
    }
    return try date(year, fields[0], fields[1], year.range.lowerBound..<lexer.previousEnd)
  }

  private func date(_ year: Lexer.Token, _ month: Int64, _ day: Int64, _ range: Range<Int>) throws(Fault) -> CivilDate {
    guard year.range.count >= 4 else {
      throw Fault(
        range: year.range, problem: "\(lexer.quoted(year.range)) is not a year", expected: "a year of four digits")
    }
    guard year.range.count == 4, (1970...9999).contains(year.value) else { throw outOfYears(year.range) }
    guard let date = CivilDate(year: Int(year.value), month: Int(month), day: Int(day)) else {
      let days = CivilDate.daysIn(month: Int(month), year: Int(year.value))
      throw Fault(
        range: range, problem: "\(lexer.quoted(range)) is not a day of the calendar",
        expected: days == 0 ? "a month from 01 to 12" : "a day from 1 to \(days) in that month"
      ).ofMeaning()
    }
    return date
  }
}
