extension SpokenParser {
  /// Parses `90 minutes`, `1h30`, `half an hour`, `an hour and a half`, `1.5 hours`, `two and a half hours` or `3 weeks`.
  mutating func span(article: Bool) throws(Fault) -> Span? {
    let start = index
    var span = Span()
    var hasWeeksOnly = true
    var hasYearsOnly = true
    var seen: Set<Unit> = []
    var count = 0
    while true {
      let before = index
      if count > 0 { _ = takeListSign() }
      guard let (value, unit) = try amount(article: article || count > 0, last: count > 0 ? span : nil) else {
        index = before
        break
      }
      // "13h45 2 days from now" is a time and a duration.
      if count > 0, span.isElapsed, ![.hours, .minutes, .seconds, .milliseconds].contains(unit), tokens[before].isDigits
      {
        index = before
        break
      }
      // "2 days 20h05" is a duration and a time.
      if count > 0, unit == .hours, isNumber(), token()?.isAdjacent == true {
        index = before
        break
      }
      count += 1
      try needSense(
        seen.insert(unit).inserted, range(from: before), "\(quoted(range(from: before))) repeats a unit of time",
        expected: "each unit once")
      guard try add(value, unit, to: &span, start) else {
        index = start
        return nil
      }
      hasWeeksOnly = hasWeeksOnly && (unit == .weeks || unit == .fortnights)
      hasYearsOnly = hasYearsOnly && unit == .years
      if take(.and, .a, .half) || take(.and, .half) {
        guard try add(Fraction(1, 2), unit, to: &span, start) else { throw noFraction(start) }
        hasWeeksOnly = false
      }
      guard count < 8 else { break }
    }
    guard count > 0, span != Span() else {
      index = start
      return nil
    }
    span.isWeeks = hasWeeksOnly && span.days > 0 && span.months == 0
    span.isYears = hasYearsOnly && span.months > 0 && span.months % 12 == 0 && span.days == 0
    return span
  }

  private enum Unit { case milliseconds, seconds, minutes, hours, days, weeks, fortnights, months, years }

  /// A Fraction is a number that may have a half or hundredths.
  private struct Fraction {
    var top: Int64
    var bottom: Int64

    init(_ top: Int64, _ bottom: Int64 = 1) {
      self.top = top
      self.bottom = bottom
    }
  }

  private func unit(_ ahead: Int = 0) -> Unit? {
    if let unit = token(ahead)?.facts.unit {
      return switch unit {
      case .millisecond: .milliseconds
      case .second: .seconds
      case .minute: .minutes
      case .hour: .hours
      case .day: .days
      case .week: .weeks
      }
    }
    if isOne(of: .months, ahead) { return .months }
    if isOne(of: .years, ahead) { return .years }
    return isOne(of: .fortnights, ahead) ? .fortnights : nil
  }

  private mutating func amount(article: Bool, last: Span?) throws(Fault) -> (Fraction, Unit)? {
    let start = index
    func give(_ value: Fraction, _ ahead: Int) -> (Fraction, Unit)? {
      guard let unit = unit(ahead) else { return nil }
      index += ahead + 1
      return (value, unit)
    }
    if word() == .half || word() == .a && word(1) == .half {
      if word() == .a { index += 1 }
      index += 1
      _ = takeSign("-")
      _ = take(.a) || take(.an) || take(.of, .an) || take(.of, .a)
      if let found = give(Fraction(1, 2), 0) { return found }
    } else if word() == .quarter || word() == .a && word(1) == .quarter
      || isNumber()
        && (word(1) == .quarters || isSign("-", 1) && word(2) == .quarters)
    {
      let quarters = isNumber() ? Int64(token()?.value ?? 1) : 1
      if word() != .quarter { index += isSign("-", 1) ? 2 : 1 }
      index += 1
      if take(.of, .an, .hour) || take(.of, .hour) || take(.hour) { return (Fraction(quarters, 4), .hours) }
    } else if word() == .couple || word() == .a && word(1) == .couple {
      index += word() == .a ? 2 : 1
      _ = take(.of)
      if let found = give(Fraction(2), 0) { return found }
    } else if article, word() == .a || word() == .an {
      index += 1
      if isNumber(), token()?.facts.word == .hundred {
        if let found = give(Fraction(100), 1) { return found }
      } else if let found = give(Fraction(1), 0) {
        return found
      }
    } else if let number = token(), number.kind == .number {
      let value = Int64(number.value)
      index += 1
      if number.isDigits, isSign("."), let digits = token(1), digits.isDigits, token()?.isAdjacent == true,
        digits.isAdjacent, digits.range.count <= 2
      {
        let scale: Int64 = digits.range.count == 1 ? 10 : 100
        index += 2
        if let found = give(Fraction(value * scale + Int64(digits.value), scale), 0) { return found }
      } else if take(.and, .a, .half) || takeHalf() {
        if let found = give(Fraction(value * 2 + 1, 2), 0) { return found }
      } else if isSign("-"), token()?.isAdjacent == true, let found = give(Fraction(value), 1) {
        return found
      } else if let found = give(Fraction(value), 0) {
        return found
      } else if let last, last.seconds > 0, last.seconds % 3_600 == 0, number.isAdjacent, number.isDigits,
        number.range.count == 2, number.value < 60
      {
        // "1h30"
        return (Fraction(value), .minutes)
      }
    }
    index = start
    return nil
  }

  private mutating func takeHalf() -> Bool {
    take(.halfSign)
  }

  /// Adds a number of units; returns `false` for milliseconds, which a span cannot hold.
  private func add(_ value: Fraction, _ unit: Unit, to span: inout Span, _ start: Int) throws(Fault) -> Bool {
    guard value.top < 1_000_000_000 else { throw tooLong(start) }
    func whole(_ scale: Int64) throws(Fault) -> Int64 {
      guard value.top * scale % value.bottom == 0 else { throw noFraction(start) }
      return value.top * scale / value.bottom
    }
    switch unit {
    case .milliseconds: return false
    case .seconds: span.seconds += try whole(1)
    case .minutes: span.seconds += try whole(60)
    case .hours: span.seconds += try whole(3_600)
    case .days where value.bottom != 1: span.seconds += try whole(86_400)
    case .days: span.days += value.top
    case .weeks: span.days += try whole(7)
    case .fortnights: span.days += try whole(14)
    case .months: span.months += try whole(1)
    case .years: span.months += try whole(12)
    }
    guard span.seconds <= Instant.latest.seconds, span.days <= 2_932_896, span.months <= 96_000 else {
      throw tooLong(start)
    }
    return true
  }

  private func tooLong(_ start: Int) -> Fault {
    senseless(range(from: start), "this is too long", expected: "less than 8030 years", code: .outOfRange)
  }

  private func noFraction(_ start: Int) -> Fault {
    senseless(
      range(from: start), "\(quoted(range(from: start))) is not a whole number of seconds, days or months",
      expected: "whole numbers, as in \"1h30m\" or \"3 days\"")
  }

  /// Parses `in 3 days`, `20 minutes from now` or `now + 2 weeks`.
  mutating func delayPart() throws(Fault) -> Bool {
    let start = index
    if try dayBeside(start) { return true }
    if isOrg, isSign("+"), let last = tokens.last {
      let sign = tokens[index].range.lowerBound..<last.range.upperBound
      throw senseless(
        sign, "\(quoted(sign)) would repeat a time in <…>",
        expected: "how often, as in \"every week on tuesday at 10\"")
    }
    // "+3 days"
    let isPlus = index == 0 && isSign("+") && token(1)?.isAdjacent == true
    let isIn = take(.in) || take(.within) || take(.after) || isPlus && takeSign("+")
    // Reminders have no tolerance, so "about" adds nothing.
    if isIn { _ = take(.about) || take(.around) }
    // "4pm + 3 days" as in at(1).
    let isNow = !isIn && (take(.now) && takeSign("+") || isAnchored && takeSign("+"))
    guard let found = try span(article: true) else {
      index = start
      return false
    }
    if !isIn, !isNow, try besideDate(found, start) { return true }
    if !isIn, !isNow {
      let isFromNow = take(.from, .now) || take(.from, .today) || take(.hence) || take(.later)
      // "a week today"
      guard isFromNow || found.isWeeks && take(.today) else {
        index = start
        return false
      }
    } else if isIn {
      if takeSign("'"), word() == .s, token()?.isAdjacent == true { index += 1 }
      _ = take(.from, .now) || take(.from, .today) || take(.time)
    }
    let words = range(from: start)
    if isNow, let known = date, found.seconds == 0, let moved = known.candidates.first.flatMap({ moved($0, by: found) })
    {
      date = SpokenDate(candidates: [moved], kind: .fixed, range: words)
      return true
    }
    // at(1) would count from tomorrow here, but late in the day people may mean today.
    if isNow, let time = times.first?.time, !context.isAhead(CivilDateTime(date: today, time: time)) {
      throw senseless(
        words, "\(quoted(words)) may be counted from today or from tomorrow, because \(time) has passed",
        expected: "\"in\" and the days, as in \"in 3 days at 9\"")
    }
    guard delay == nil, date == nil else { throw twice(words) }
    delay = (found, words)
    return true
  }

  /// Whether a time or day precedes from which a duration can count.
  private var isAnchored: Bool { recurrence == nil && (times.count == 1 || part != nil || date != nil) }

  /// Returns `half an hour before sunset` in the form of the solar dialect; `nil` if the text is not of this kind.
  mutating func solarText() -> String? {
    let start = index
    defer { index = start }
    guard let found = try? span(article: true), found.isElapsed, [.before, .after].contains(word()),
      let next = token()
    else { return nil }
    return "\(found.seconds)s \(text(next.range.lowerBound..<bytes.count))"
  }

  /// Parses a single day or week beside a date, without a number: `the day before christmas`, `week on tuesday`.
  private mutating func dayBeside(_ start: Int) throws(Fault) -> Bool {
    _ = take(.the)
    let isDay = word() == .day && [.before, .after].contains(word(1))
    let isWeek = word() == .week || isOne(of: .fortnights)
    guard isDay || isWeek && word(1) == .on && weekday(2) != nil else {
      index = start
      return false
    }
    let days: Int64 = isDay ? 1 : word() == .week ? 7 : 14
    index += 1
    if try besideDate(Span(days: days, isWeeks: !isDay), start) { return true }
    index = start
    return false
  }

  /// Parses a day counted from another one: `a week from friday`, `3 days before dec 24`.
  private mutating func besideDate(_ span: Span, _ start: Int) throws(Fault) -> Bool {
    let before = index
    let isBefore = take(.before)
    // "a week on tuesday", "a week tomorrow"
    let isOn = !isBefore && span.isWeeks && (weekday(1) != nil && take(.on) || isOne(of: .tomorrow))
    guard isBefore || isOn || take(.from) || take(.after), ![.now, .today].contains(word()),
      let found = try spokenDate()
    else {
      index = before
      return false
    }
    let words = range(from: start)
    guard !span.isElapsed else {
      // Hours before a day may count from its midnight or from a time on it.
      guard span.seconds % 86_400 == 0 else {
        index = before
        return false
      }
      let (count, day) = (span.seconds / 86_400, text(tokens[before].range.lowerBound..<words.upperBound))
      throw ambiguous(words, ["\(count) \(count == 1 ? "day" : "days") \(day)"])
    }
    guard delay == nil, date == nil else { throw twice(words) }
    guard isBefore else {
      date = SpokenDate(
        candidates: found.candidates.prefix(1).compactMap { moved($0, by: span) }, kind: .fixed, range: words)
      return true
    }
    // For a recurring day, use the first one that leaves enough time before it.
    let candidates = found.candidates.compactMap { moved($0, by: Span(months: -span.months, days: -span.days)) }
    date = SpokenDate(candidates: candidates, kind: found.kind == .fixed ? .fixed : .next, range: words)
    return true
  }

  /// Returns a day moved by calendar months and days; `nil` outside the calendar's range.
  func moved(_ date: CivilDate, by span: Span) -> CivilDate? {
    var date = date
    if span.months != 0 {
      let months = Int64(date.year) * 12 + Int64(date.month) - 1 + span.months
      guard (0...9_999).contains(months / 12) else { return nil }
      let (year, month) = (Int(months / 12), Int(months % 12) + 1)
      // One month after the 31st is the last day of a shorter month.
      guard
        let moved = CivilDate(year: year, month: month, day: min(date.day, CivilDate.daysIn(month: month, year: year)))
      else { return nil }
      date = moved
    }
    return date.adding(days: Int(span.days))
  }
}
