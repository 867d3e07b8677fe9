extension PhraseParser {
  /// What follows a first `at`: times with days after them, a date with its time, or a time alone.
  mutating func at() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    try lexer.advance()
    if isDate { return try dated() }
    let first = lexer.token.range
    let times = try times()
    let range = first.lowerBound..<lexer.previousEnd
    switch lexer.keyword {
    case .on, .every, .weekday, .weekdays, .weekends, .daily, .today, .tomorrow, .month:
      return try daysAfterTimes(times, range)
    default:
      if isDate { return try daysAfterTimes(times, range) }
    }
    guard times.count == 1, let time = times.first else { throw severalTimes(range) }
    guard let anchor else { throw needsNow(start) }
    let today = anchor.civil.date
    for days in 0...2 {
      guard let date = today.adding(days: days) else { break }
      let civil = CivilDateTime(date: date, time: time)
      if anchor.isAhead(civil) { return .once(.civil(civil)) }
    }
    throw Fault(
      code: .outOfRange, range: range, problem: "this lies after the year 9999", expected: "an earlier moment")
  }

  /// A date, and the time that a single moment needs: `2026-12-01 09:00`, `tomorrow at 9`, `1 dec 2026 noon`.
  mutating func dated() throws(Fault) -> Phrase.Pattern {
    let start = lexer.token.range
    let moment = try moment()
    switch moment {
    case .instant: return .once(moment)
    case .civil(let civil): return .once(.civil(try ahead(civil, start)))
    case .date:
      let place = lexer.previousEnd
      if case .later(let kind) = lexer.keyword { throw notYet(kind) }
      throw Fault(
        range: lexer.token.range, problem: "the time is missing", expected: "a time like 9:00",
        repair: lexer.token.kind == .end
          ? .init(place..<place, " at 9:00", shown: "\(lexer.text(start.lowerBound..<place)) at 9:00") : nil)
    }
  }

  /// Refuses today's times that have passed, where tomorrow would do.
  func ahead(_ civil: CivilDateTime, _ range: Range<Int>) throws(Fault) -> CivilDateTime {
    guard let anchor, lexer.text(range).lowercased() == "today", !anchor.isAhead(civil) else { return civil }
    throw Fault(
      code: .neverOccurs, range: range, problem: "\(civil) has passed", expected: "a moment ahead",
      repair: .init(range, "tomorrow"))
  }

  /// Whether a date begins here.
  var isDate: Bool {
    switch lexer.keyword {
    case .today, .tomorrow, .now, .month: return true
    default: break
    }
    guard lexer.token.kind == .number, let next = lexer.peek() else { return false }
    if case .month = next.keyword { return true }
    return next.kind == .sign(UInt8(ascii: "-")) && next.range.lowerBound == lexer.token.range.upperBound
      && lexer.token.range.count >= 3
  }

  /// date [ [ "at" | "T" ] time [ offset ] ], or `now`
  mutating func moment() throws(Fault) -> Phrase.Moment {
    if lexer.keyword == .now {
      guard let anchor else { throw needsNow(lexer.token.range) }
      try lexer.advance()
      return .instant(Instant(seconds: anchor.second))
    }
    let start = lexer.token.range.lowerBound
    let date = try date()
    if lexer.isAdjacent, lexer.token.range.count == 1, lexer.text(lexer.token.range).lowercased() == "t" {
      try lexer.advance()
    } else if try !lexer.skip(.at) {
      let isTime = lexer.keyword == .noon || lexer.keyword == .midnight || lexer.token.kind == .number
      guard isTime, !isBound else { return .date(date) }
    }
    let civil = CivilDateTime(date: date, time: try time(allowing24: false))
    guard let offset = try offset() else { return .civil(civil) }
    let second = civil.wallSeconds - offset
    guard second >= 0, second <= Instant.latest.seconds else { throw outOfYears(start..<lexer.previousEnd) }
    return .instant(Instant(seconds: second))
  }

  /// `Z` or `±hh:mm` right after a time, in seconds east of UTC.
  private mutating func offset() throws(Fault) -> Int64? {
    guard lexer.isAdjacent else { return nil }
    if lexer.token.kind == .word, lexer.text(lexer.token.range).lowercased() == "z" {
      try lexer.advance()
      return 0
    }
    let isNegative = try lexer.skip("-")
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
    Fault(range: lexer.token.range, problem: "this is no offset from UTC", expected: "Z or an offset like +01:00")
  }

  func outOfYears(_ range: Range<Int>) -> Fault {
    Fault(
      code: .outOfRange, range: range, problem: "\(lexer.quoted(range)) lies outside the years 1970–9999",
      expected: "a year from 1970 to 9999")
  }

  /// `2026-12-01`, `1 dec 2026`, `dec 1, 2026`, `today`, `tomorrow`, or the next such day of the week.
  mutating func date() throws(Fault) -> CivilDate {
    let start = lexer.token
    switch start.keyword {
    case .today, .tomorrow, .weekday:
      guard let anchor else { throw needsNow(start.range) }
      var wait = 0
      if start.keyword == .tomorrow { wait = 1 }
      if case .weekday(let day, _) = start.keyword {
        wait = Int(WeekdaySet(day).wait(from: Int64(anchor.civil.date.dayNumber)) ?? 0)
      }
      guard let date = anchor.civil.date.adding(days: wait) else { throw outOfYears(start.range) }
      try lexer.advance()
      return date
    case .month(let month):
      try lexer.advance()
      let day = try dayOfMonth()
      _ = try lexer.skip(",")
      return try namedDate(month, day, start.range)
    default: break
    }
    guard start.kind == .number else {
      throw misspelt(
        "is no date", expected: "a date like 2026-12-01",
        among: ["today", "tomorrow"] + Keyword.weekdayNames.keys + Keyword.monthNames.keys)
    }
    if let next = lexer.peek(), case .month(let month) = next.keyword {
      let day = try dayOfMonth()
      try lexer.advance()
      return try namedDate(month, day, start.range)
    }
    return try isoDate()
  }

  private mutating func dayOfMonth() throws(Fault) -> Int64 {
    guard lexer.token.kind == .number, lexer.token.range.count <= 2 else {
      throw Fault(
        range: lexer.token.range, problem: "\(lexer.quoted) is no day of a month", expected: "a day from 1 to 31")
    }
    let day = lexer.token.value
    try lexer.advance()
    return day
  }

  /// The year that has to follow a day and a month; without one it would return each year.
  private mutating func namedDate(_ month: Int, _ day: Int64, _ start: Range<Int>) throws(Fault) -> CivilDate {
    guard lexer.token.kind == .number, lexer.token.range.count >= 4 else {
      let range = start.lowerBound..<lexer.previousEnd
      throw Fault(
        range: range, problem: "\(lexer.quoted(range)) has no year, and yearly dates are not understood yet",
        expected: "a date like 2026-12-24")
    }
    let year = lexer.token
    try lexer.advance()
    return try date(year, Int64(month), day, start.lowerBound..<year.range.upperBound)
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
          problem: "\(lexer.quoted(year.range.lowerBound..<lexer.previousEnd)) is no date",
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
        range: year.range, problem: "\(lexer.quoted(year.range)) is no year", expected: "a year of four digits")
    }
    guard year.range.count == 4, (1970...9999).contains(year.value) else { throw outOfYears(year.range) }
    guard let date = CivilDate(year: Int(year.value), month: Int(month), day: Int(day)) else {
      let days = CivilDate.daysIn(month: Int(month), year: Int(year.value))
      throw Fault(
        range: range, problem: "\(lexer.quoted(range)) is no day of the calendar",
        expected: days == 0 ? "a month from 01 to 12" : "a day from 1 to \(days) in that month")
    }
    return date
  }
}
