extension SpokenParser {
  /// Parses `starting tomorrow`, `until june 30`, `for 8 weeks`, `5 times` or `except mondays`.
  mutating func boundPart() throws(Fault) -> Bool {
    let start = index
    // "from monday to friday" is a list of days.
    if recurrence == nil, word() == .from, weekday(1) != nil, weekday(3) != nil {
      index += 1
      if let (set, isList) = weekdayList(), isList {
        recurrence = (.weekdays(set), range(from: start))
        return true
      }
      index = start
    }
    if recurrence != nil, bounds.starting == nil, bounds.until == nil, try dateRun() {
      note(start)
      return true
    }
    if take(oneOf: .starting) || take(.as, .of) || take(.start) || take(.between) {
      _ = take(.on)
      if let moment = try moment(isEnd: false) {
        guard bounds.starting == nil else { throw twice(range(from: start)) }
        bounds.starting = moment
        note(start)
        let before = index
        if takeRunSign() || take(.and), let end = try self.moment(isEnd: true) {
          bounds.until = end
          note(start)
        } else {
          index = before
        }
        return true
      }
      index = start
      return false
    }
    if word() != .to, take(oneOf: .until) {
      guard let moment = try moment(isEnd: true) else {
        index = start
        return false
      }
      guard bounds.until == nil else { throw twice(range(from: start)) }
      bounds.until = moment
      note(start)
      return true
    }
    if take(.for) {
      _ = take(.the, .next) || take(.the)
      if isNumber(), word(1) == .times || word(1) == .time { return try count(start) }
      if let found = try span(article: true) {
        guard length == nil else { throw twice(range(from: start)) }
        length = (found, range(from: start))
        note(start)
        return true
      }
      index = start
      return false
    }
    // "3 times daily" is a frequency, and "daily 3 times" a total.
    if isNumber(), word(1) == .times || word(1) == .time, ![.a, .per, .each, .every].contains(word(2)),
      !isOne(of: .often, 2)
    {
      return try count(start)
    }
    let isLeftOut = take(.but, .not) || take(.apart, .from) || take(.but, .except) || take(.other, .than)
    let isShort = recurrence != nil && (take(.but) || take(.not))
    if isLeftOut || isShort || take(oneOf: .except) {
      _ = take(.for)
      try exceptions(start)
      note(start)
      return true
    }
    return false
  }

  /// Parses the first and the last day without a word before them: `dec 1 - dec 24`, `dec 1-24`, `1.12. to 24.12.`.
  private mutating func dateRun() throws(Fault) -> Bool {
    let isDay = isNumber() || token()?.kind == .ordinal
    let isDate =
      month() != nil
      || isDay && (month(1) != nil || isSign(".", 1) || isSign("/", 1) || isSign("-", 1))
    guard isDate else { return false }
    let start = index
    guard let first = try? spokenDate(), let from = first.candidates.first(where: { $0 >= today }), takeRunSign() else {
      index = start
      return false
    }
    if let last = try? spokenDate(), let until = last.candidates.first(where: { $0 >= from }) {
      (bounds.starting, bounds.until) = (.date(from), .date(until))
      return true
    }
    if let day = token(), day.isDigits && day.range.count <= 2 || day.kind == .ordinal, !isSign(":", 1),
      word(1) != .am, word(1) != .pm, day.value >= from.day,
      let until = CivilDate(year: from.year, month: from.month, day: day.value)
    {
      index += 1
      (bounds.starting, bounds.until) = (.date(from), .date(until))
      return true
    }
    index = start
    return false
  }

  private mutating func note(_ start: Int) { boundRange = boundRange ?? range(from: start) }

  private mutating func count(_ start: Int) throws(Fault) -> Bool {
    guard let number = token(), bounds.count == nil, (1...Phrase.largestCount).contains(number.value) else {
      index += 2
      throw senseless(
        range(from: start), "\(quoted(range(from: start))) is not a possible number of times",
        expected: "one number of times, from 1 to \(Phrase.largestCount)", code: .outOfRange)
    }
    bounds.count = number.value
    index += 2
    note(start)
    return true
  }

  /// Parses the day, with or without a time, on which a schedule begins or ends.
  private mutating func moment(isEnd: Bool) throws(Fault) -> Phrase.Moment? {
    let start = index
    if !isEnd, take(.now) { return .instant(Instant(seconds: context.second)) }
    if take(.in), let span = try span(article: true) { return try after(span, start) }
    index = start
    if isEnd, let month = month(), !isNumber(1) || token(1)?.range.count == 4,
      token(1)?.kind != .ordinal
    {
      index += 1
      let year = takeYear() ?? (month <= today.month ? today.year + 1 : today.year)
      let last = CivilDate(year: year, month: month, day: CivilDate.daysIn(month: month, year: year))
      let before = CivilDate(year: year, month: month, day: 1)?.adding(days: -1)
      // "until june" may include June.
      throw ambiguous(
        (start > 0 ? tokens[start].range.lowerBound : 0)..<tokens[index - 1].range.upperBound,
        [before, last].compactMap { $0?.description })
    }
    if !isEnd, let month = month(), !isNumber(1), token(1)?.kind != .ordinal {
      index += 1
      let year = month <= today.month ? today.year + 1 : today.year
      return CivilDate(year: year, month: month, day: 1).map { .date($0) }
    }
    if !isEnd, take(.next, .week) {
      return today.adding(days: 8 - today.weekday.rawValue).map { .date($0) }
    }
    if !isEnd, take(.next, .month) {
      return CivilDate(
        year: today.month == 12 ? today.year + 1 : today.year, month: today.month % 12 + 1, day: 1
      ).map { .date($0) }
    }
    guard let found = try spokenDate() else {
      index = start
      guard isEnd, recurrence != nil, let clock = clock(bare: true) else { return nil }
      return .civil(try next(clock.time))
    }
    guard let date = found.candidates.first(where: { $0 >= today }) ?? found.candidates.first else { return nil }
    let before = index
    if take(.at), let clock = clock(bare: true) { return .civil(CivilDateTime(date: date, time: clock.time)) }
    index = before
    return .date(date)
  }

  private func after(_ span: Span, _ start: Int) throws(Fault) -> Phrase.Moment {
    if span.seconds == 0, let date = moved(today, by: span) { return .date(date) }
    guard let instant = instant(after: span) else {
      throw senseless(
        range(from: start), "this is after the year 9999", expected: "a shorter time", code: .outOfRange)
    }
    return .instant(instant)
  }

  /// Parses `weekends`, `mondays and fridays`, `in may`, `from 1 to 15 july`, `dec 24` or `holidays`.
  private mutating func exceptions(_ start: Int) throws(Fault) {
    var count = 0
    while count < Phrase.mostExceptions {
      let item = index
      guard try exception() else {
        index = item
        guard count > 0 else { throw noException() }
        return
      }
      count += 1
      let before = index
      guard takeListSign() else { return }
      if token() == nil {
        index = before
        return
      }
      let next = index
      var ahead = self
      guard (try? ahead.exception()) == true else {
        index = before
        return
      }
      index = next
    }
  }

  private func noException() -> Fault {
    guard let token = token() else {
      return Fault(
        range: bytes.count..<bytes.count, problem: "the exceptions are missing",
        expected: "days or dates, as in \"except mondays\" or \"except dec 24..dec 26\"")
    }
    return Fault(
      range: token.range, problem: "\(quoted(token.range)) is not a day that can be left out",
      expected: "days or dates, as in \"except mondays\" or \"except dec 24..dec 26\"")
  }

  private mutating func exception() throws(Fault) -> Bool {
    let start = index
    _ = take(.on) || take(.the)
    // "except every monday"
    if isOne(of: .every), let (day, _) = weekday(1) {
      index += 2
      exceptDays.insert(WeekdaySet(day))
      return true
    }
    if let days = weekdaysNoun() ?? (word() == .weekend ? .weekends : nil) {
      index += 1
      exceptDays.formUnion(days)
      return true
    }
    // "friday-closings" is the name of a calendar.
    let isName =
      weekday() != nil && isSign("-", 1) && token(1)?.isAdjacent == true
      && weekday(2) == nil
    if isName {
      guard let name = calendarName() else { return false }
      bounds.exceptCalendars.append(name)
      return true
    }
    if let (day, plural) = weekday() {
      index += 1
      let end = index
      if takeRunSign(), let (last, _) = weekday() {
        index += 1
        exceptDays.formUnion(WeekdaySet(from: day, through: last))
        return true
      }
      index = end
      if plural {
        exceptDays.insert(WeekdaySet(day))
        return true
      }
      let wait = (day.rawValue - today.weekday.rawValue + 7) % 7
      throw ambiguous(
        tokens[end - 1].range, ["\(day.name)s", today.adding(days: wait)?.description ?? "2026-12-01"])
    }
    index = start
    _ = take(.in) || take(.during) || take(.on)
    let monthStart = index
    if let months = monthList() {
      if !isNumber(), token()?.kind != .ordinal {
        for month in months {
          bounds.exceptYearly.insert(from: (month, 1), through: (month, CivilDate.daysIn(month: month, year: 2_000)))
        }
        return true
      }
      index = monthStart
    }
    index = start
    _ = take(.on) || take(.from) || take(.between)
    if try exceptRun() { return true }
    index = start
    _ = take(.on) || take(.the) || take(.during)
    if let name = holidays() ?? calendarName() {
      bounds.exceptCalendars.append(name)
      return true
    }
    // A feast is a day of each year.
    let feastStart = index
    if let found = try feast(), case .monthDay(let month, let day) = found.kind, word() != .to, !isSign("-"),
      token()?.kind != .dots
    {
      bounds.exceptYearly.insert(from: (month, day), through: (month, day))
      return true
    }
    index = feastStart
    _ = take(.from)
    guard let first = try spokenDate(), let from = first.candidates.first(where: { $0 >= today }) else { return false }
    var last = from
    let end = index
    if takeRunSign(), let found = try spokenDate(), let to = found.candidates.first(where: { $0 >= from }) {
      last = to
    } else {
      index = end
    }
    bounds.except.append(from...last)
    return true
  }

  /// Parses days of each year: `dec 24`, `1 to 15 july`, `dec 24 to jan 2`.
  private mutating func exceptRun() throws(Fault) -> Bool {
    let start = index
    if let first = token(), first.kind == .number || first.kind == .ordinal, (1...31).contains(first.value) {
      index += 1
      if takeRunSign() || take(.and), let (month, day) = monthAndDay(), self.month() == nil,
        takeYear() == nil, first.value <= day, day <= CivilDate.daysIn(month: month, year: 2_000)
      {
        bounds.exceptYearly.insert(from: (month, first.value), through: (month, day))
        return true
      }
      index = start
    }
    guard let first = monthAndDay() else { return false }
    if takeYear() != nil || isSign(","), isNumber(1), token(1)?.range.count == 4 {
      index = start
      return false
    }
    if index > start, let year = token(-1), year.isDigits, year.range.count == 4 {
      index = start
      return false
    }
    guard first.day <= CivilDate.daysIn(month: first.month, year: 2_000) else { throw never(start) }
    let end = index
    if takeRunSign() {
      if let last = monthAndDay() {
        guard last.day <= CivilDate.daysIn(month: last.month, year: 2_000) else { throw never(start) }
        bounds.exceptYearly.insert(from: first, through: last)
        return true
      }
      if let day = token(), day.kind == .number || day.kind == .ordinal, day.value > first.day,
        day.value <= CivilDate.daysIn(month: first.month, year: 2_000)
      {
        index += 1
        bounds.exceptYearly.insert(from: first, through: (first.month, day.value))
        return true
      }
      index = end
    }
    bounds.exceptYearly.insert(from: first, through: first)
    return true
  }

  /// Parses the name of an existing calendar, which may contain hyphens and digits.
  private mutating func calendarName() -> String? {
    guard let first = token(), first.kind == .word else { return nil }
    var end = index + 1
    while let next = token(end - index), next.isAdjacent, next.kind != .dots, !next.isSign(","), !next.isSign(".") {
      end += 1
    }
    let name = text(first.range.lowerBound..<tokens[end - 1].range.upperBound)
    for spelling in [name, name.lowercased()] where context.scheduleContext.calendar(spelling) != nil {
      index = end
      return spelling
    }
    return nil
  }

  /// Parses `public holidays`, `bank holiday` or `holiday` as the calendar *holidays*, if it exists.
  private mutating func holidays() -> String? {
    let start = index
    let isAdorned = [.public, .bank, .national, .state].contains(word())
    if isAdorned { index += 1 }
    let isSingle = word() == .holiday
    let isMeant = isAdorned || isSingle && context.scheduleContext.calendar("holiday") == nil
    if isMeant, isSingle || word() == .holidays, context.scheduleContext.calendar("holidays") != nil {
      index += 1
      return "holidays"
    }
    index = start
    return nil
  }

  /// Parses the daily window of an interval: `from 9 to 5`, `9-17`, `between 9 and 5`.
  mutating func windowPart() throws(Fault) -> Bool {
    let start = index
    let isBetween = take(.between)
    let isFrom = !isBetween && take(.from)
    guard let from = clock(bare: true, inWindow: true) else {
      index = start
      return false
    }
    guard takeRunSign() || isBetween && take(.and), let to = clock(bare: true, inWindow: true) else {
      index = start
      return false
    }
    // "7:45 till 2027-12-24" is a time and a last day.
    if isSign("-"), token()?.isAdjacent == true, isNumber(1), token(1)?.isAdjacent == true {
      index = start
      return false
    }
    let words = range(from: start)
    guard window == nil else { throw twice(words) }
    guard isBetween || isFrom || recurrence != nil else {
      index = start
      return false
    }
    let edges = try DayWindow(
      from: from.time, isFromBare: !from.isExact, to: to.time, isToBare: !to.isExact, isToHalved: isHalved(to)
    ).settled { choices throws(Fault) in ambiguous(words, choices) }
    window = (edges.from, edges.to, words)
    return true
  }

  private mutating func clock(bare: Bool, inWindow: Bool) -> Clock? {
    if let clock = clock(bare: bare) { return clock }
    // In "9-5", the sign separates the two times and does not belong to the first.
    guard let number = token(), number.kind == .number, number.value <= 24, number.range.count <= 2 else { return nil }
    guard number.value == 24 || isSign("-", 1) || token(1)?.kind == .dots || token(1) == nil else { return nil }
    // "until 24 january", "until 24.9."
    if let next = token(1), next.month != nil || next.isSign(".") && next.isAdjacent { return nil }
    index += 1
    let time = CivilTime(hour: number.value % 24) ?? .midnight
    return Clock(
      time: time,
      isExact: number.value > 12 || number.value == 0 || bytes[number.range.lowerBound] == UInt8(ascii: "0"),
      range: number.range)
  }
}

/// A DayWindow is a daily window as spoken: `from 9 to 5` means 9:00 to 17:00.
struct DayWindow {
  var from: CivilTime
  /// Whether the time may be before or after noon.
  var isFromBare: Bool
  var to: CivilTime
  var isToBare: Bool
  /// Whether the end says `am` or `pm`.
  var isToHalved: Bool

  /// Returns the intended edges. An ambiguous end that would precede the start is after noon.
  func settled(
    ambiguous: ([String]) throws(Fault) -> Fault
  ) throws(Fault) -> (from: CivilTime, to: CivilTime) {
    let halfDay: Int32 = 43_200
    if isToBare, to <= from, from.hour <= 12, to.hour < 12 {
      let later = CivilTime(unchecked: to.secondOfDay + halfDay)
      if later > from { return (from, later) }
    }
    // "from 8 to 10pm" may begin in the morning or in the evening.
    if isFromBare, isToHalved, to.hour >= 12, from.hour < 12, from.secondOfDay + halfDay < to.secondOfDay {
      let later = CivilTime(unchecked: from.secondOfDay + halfDay)
      throw try ambiguous(["from \(from) to \(to)", "from \(later) to \(to)"])
    }
    return (from, to)
  }
}
