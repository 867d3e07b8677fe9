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
    try need(
      !isNegative || isJoined, at: sign, "a single time has no end",
      expected: #"the time alone, as in "at 10:00", or an offset from UTC behind a T, as in "2026-12-01T10:00-11:00""#)
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
    try need(
      year.range.count >= 4, at: year.range, "\(lexer.quoted(year.range)) is not a year",
      expected: "a year of four digits")
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

  /// Parses `at` times.
  mutating func atTimes() throws(Fault) -> [CivilTime] {
    try lexer.advance()
    return try times()
  }

  /// Parses `time { ( "," | "and" ) time }`, sorted, each once.
  mutating func times() throws(Fault) -> [CivilTime] {
    let start = lexer.token.range
    var times: [CivilTime] = []
    var vague: Range<Int>?
    var half: Range<Int>?
    func note(_ first: Lexer.Token, _ last: Lexer) {
      let range = first.range.lowerBound..<last.previousEnd
      guard context != nil, first.kind == .number else { return }
      if last.bytes[range].last.map({ $0 | 0x20 }) == UInt8(ascii: "m") {
        half = range
      } else if (1...12).contains(first.value), last.bytes[range.lowerBound] != UInt8(ascii: "0") {
        vague = vague ?? range
      }
    }
    let first = lexer.token
    times.append(try time(allowing24: false))
    note(first, lexer)
    while try continuesTimes() {
      try need(
        times.count < Phrase.mostTimes, .outOfRange, at: start, "there are more than \(Phrase.mostTimes) times a day",
        expected: "fewer times, or an interval with a window")
      let first = lexer.token
      times.append(try time(allowing24: false))
      note(first, lexer)
    }
    guard times.count > 1 else { return times }
    if let vague, let half {
      var fault = Fault(
        range: vague, problem: "\(lexer.quoted(vague)) may be before or after noon, beside \(lexer.quoted(half))",
        expected: "\"am\" or \"pm\" at each time, or a 24-hour clock")
      fault.isMeaning = true
      throw fault
    }
    times.sort()
    var distinct: [CivilTime] = []
    for time in times where time != distinct.last { distinct.append(time) }
    return distinct
  }

  /// Skips the separator between two times. A comma before a bound is not one.
  private mutating func continuesTimes() throws(Fault) -> Bool {
    let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
    guard isComma || lexer.keyword == .and else { return false }
    var ahead = lexer
    try ahead.advance()
    if isComma, ahead.keyword == .and { try ahead.advance() }
    // "at 8 and at 18:00"
    _ = try ahead.skip(.at)
    if isComma, PhraseParser.isBound(ahead) || ahead.keyword == .on { return false }
    lexer = ahead
    return true
  }

  /// Parses `8`, `8:30`, `20:30:15`, `8am`, `8:30 pm`, `noon` or `midnight`; as the end of a window also `24:00`.
  mutating func time(allowing24: Bool) throws(Fault) -> CivilTime {
    let expected = "a time like 8, 8:30, 8am or noon"
    switch lexer.keyword {
    case .noon:
      try lexer.advance()
      return .noon
    case .midnight:
      try lexer.advance()
      return .midnight
    default: break
    }
    guard lexer.token.kind == .number else {
      throw misspelt("is not a time of day", expected: expected, among: ["noon", "midnight"])
    }
    let first = lexer.token
    try lexer.advance()
    var minute = 0
    var second = 0
    var hasMinutes = false
    if lexer.isAdjacent, try lexer.skip(":") {
      hasMinutes = true
      minute = try sixtieth("minute", after: first)
      if lexer.isAdjacent, try lexer.skip(":") { second = try sixtieth("second", after: first) }
    } else if let fault = missingColon(first) {
      throw fault
    }
    let digits = first.range
    if lexer.keyword == .am || lexer.keyword == .pm {
      let isAfternoon = lexer.keyword == .pm
      guard (1...12).contains(first.value), let hour = Int(exactly: first.value) else {
        throw Fault(
          range: digits, problem: "\(lexer.quoted(digits)) is not an hour of a twelve-hour clock",
          expected: "an hour from 1 to 12")
      }
      try lexer.advance()
      return CivilTime(hour: hour % 12 + (isAfternoon ? 12 : 0), minute: minute, second: second) ?? .midnight
    }
    if allowing24, first.value == 24, minute == 0, second == 0 { return .midnight }
    guard digits.count <= 2, let hour = Int(exactly: first.value),
      let time = CivilTime(hour: hour, minute: minute, second: second)
    else {
      throw Fault(
        range: digits, problem: "\(lexer.quoted(digits)) is not an hour of the day", expected: "an hour from 0 to 23",
        repair: first.value == 24 && minute == 0 && second == 0 && hasMinutes
          ? .init(digits.lowerBound..<lexer.previousEnd, "midnight") : nil)
    }
    return time
  }

  /// Parses two digits from 00 to 59 after a colon.
  private mutating func sixtieth(_ name: String, after hour: Lexer.Token) throws(Fault) -> Int {
    let range = lexer.token.range
    guard lexer.token.kind == .number, lexer.isAdjacent, range.count == 2, lexer.token.value < 60 else {
      let isShort = lexer.token.kind == .number && lexer.isAdjacent && range.count == 1
      throw Fault(
        range: range, problem: "\(lexer.quoted) is no \(name)", expected: "two digits from 00 to 59",
        repair: isShort
          ? .init(
            range, "0" + lexer.text(range),
            shown: lexer.text(hour.range.lowerBound..<range.lowerBound) + "0" + lexer.text(range)) : nil)
    }
    let value = Int(lexer.token.value)
    try lexer.advance()
    return value
  }

  /// Returns the fault for `0830` and `8.30`, which mean 08:30 and 8:30.
  private func missingColon(_ first: Lexer.Token) -> Fault? {
    if lexer.token.kind == .sign(UInt8(ascii: ".")), lexer.isAdjacent {
      return Fault(
        range: lexer.token.range, problem: "a colon must separate hours and minutes", expected: "a time like 8:30",
        repair: .init(
          lexer.token.range, ":",
          shown: lexer.text(first.range.suffix(4)) + ":" + lexer.text(lexer.token.range.upperBound..<endOfWord)))
    }
    guard (3...4).contains(first.range.count) else { return nil }
    let hour = first.range.dropLast(2)
    return Fault(
      range: first.range, problem: "\(lexer.quoted(first.range)) is not an hour of the day",
      expected: "a time like 8:30",
      repair: .init(
        hour.upperBound..<hour.upperBound, ":",
        shown: lexer.text(hour) + ":" + lexer.text(hour.upperBound..<first.range.upperBound)))
  }
}
