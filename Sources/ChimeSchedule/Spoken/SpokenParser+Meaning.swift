extension SpokenParser {
  /// Combines all parsed parts into a phrase.
  mutating func meaning() throws(Fault) -> Phrase {
    let whole = 0..<bytes.count
    if recurrence == nil, window != nil {
      throw senseless(
        window?.range ?? whole, "a part of the day needs an interval",
        expected: "how often, as in \"every 30m from 9 to 17 on weekdays\"")
    }
    guard let kind = recurrence?.kind else { return try once() }
    if let delay { throw twice(delay.range) }
    return try recurring(kind)
  }

  // MARK: Once

  private func once() throws(Fault) -> Phrase {
    guard !isAfterDone else {
      throw senseless(
        0..<bytes.count, "only a recurring schedule can count from completion",
        expected: "a schedule like \"every 3 days after done at 9\"")
    }
    if let boundRange {
      throw senseless(
        boundRange, "\(quoted(boundRange)) cannot be used with a single moment",
        expected: "a recurring schedule, as in \"every fri at 9\"")
    }
    guard delay != nil || date != nil || part != nil || !times.isEmpty else {
      throw Fault(range: 0..<bytes.count, problem: "the schedule is missing", expected: "one like \"tomorrow at 9\"")
    }
    guard times.count <= 1 else {
      throw senseless(
        times[1].range, "a single moment has one time", expected: "one time, or days like \"daily\"")
    }
    var date = date
    if let delay {
      guard let day = date else { return try delayed(delay.span, delay.range) }
      // "in 2 weeks on friday"
      guard case .weekday(let weekday) = day.kind, delay.span.isWeeks, delay.span.days <= 700 else {
        throw twice(day.range)
      }
      let words = min(day.range.lowerBound, delay.range.lowerBound)..<max(day.range.upperBound, delay.range.upperBound)
      let candidates = try self.weekday(weekday, in: delay.span, words)
      date = SpokenDate(candidates: candidates, kind: .fixed, range: words)
    }
    let (said, isNextDay) = try daytimes()
    guard let time = said.first else { return try nothingAhead() }
    var candidates = date?.candidates ?? (0...2).compactMap { today.adding(days: $0) }
    // Midnight "tonight" is the end of the day; midnight of a date is its beginning.
    let isMidnight = times.first.map { text($0.range).lowercased() == "midnight" } == true
    if date != nil, isNextDay || isMidnight && date?.kind == .today {
      candidates = candidates.compactMap { $0.adding(days: 1) }
    }
    for candidate in candidates {
      let civil = CivilDateTime(date: candidate, time: time)
      if context.isAhead(civil) || date?.kind == .fixed { return Phrase(pattern: .once(.civil(civil))) }
    }
    return try nothingAhead()
  }

  private func nothingAhead() throws(Fault) -> Phrase {
    let words = date?.range ?? 0..<bytes.count
    var fault = senseless(
      words, "\(quoted(words)) at that time has passed (now it is \(context.civil))", expected: "a future moment",
      code: .neverOccurs)
    if date?.kind == .today, part?.part != .tonight { fault.repair = .init(words, "tomorrow") }
    throw fault
  }

  private func delayed(_ span: Span, _ words: Range<Int>) throws(Fault) -> Phrase {
    if span.seconds > 0 {
      if let time = times.first {
        throw senseless(
          time.range, "\(quoted(time.range)) cannot be used with \(quoted(words))",
          expected: "one of the two, or days before the time, as in \"in 3 days at 9\"")
      }
      if let part {
        throw senseless(
          part.range, "\(quoted(part.range)) cannot be used with \(quoted(words))", expected: "one of the two")
      }
      guard let instant = instant(after: span) else { throw tooLate(words) }
      return Phrase(pattern: .once(.instant(instant)))
    }
    guard let date = moved(today, by: span) else { throw tooLate(words) }
    if times.isEmpty, part == nil {
      return Phrase(pattern: .once(.civil(CivilDateTime(date: date, time: context.civil.time))))
    }
    let (said, isNextDay) = try daytimes()
    guard let day = isNextDay ? date.adding(days: 1) : date else { throw tooLate(words) }
    return Phrase(pattern: .once(.civil(CivilDateTime(date: day, time: said[0]))))
  }

  private func tooLate(_ words: Range<Int>) -> Fault {
    senseless(words, "this is after the year 9999", expected: "a shorter time", code: .outOfRange)
  }

  /// Returns the instant after a duration, rounded up to a whole second so that it never comes early.
  func instant(after span: Span) -> Instant? {
    guard let days = moved(today, by: span) else { return nil }
    let shift = Int64(days.dayNumber - today.dayNumber) * 86_400
    let wall = context.civil.wallSeconds + shift
    // Add calendar days first, then elapsed time.
    let begin =
      shift == 0
      ? context.now.milliseconds : context.zone.table.instant(wall, gap: .shift, fold: .first) * 1_000
    let moment = begin + span.seconds * 1_000
    guard moment <= Instant.latest.milliseconds - 999 else { return nil }
    return Instant(milliseconds: (moment + 999) / 1_000 * 1_000)
  }

  // MARK: Recurring

  private mutating func recurring(_ kind: Recurrence) throws(Fault) -> Phrase {
    var kind = kind
    try takeDate(into: &kind)
    if let length { try end(after: length.span, length.range) }
    if let frequency, !isCounted(kind, frequency.count) { throw countedTimes(frequency.range) }
    if case .interval(let seconds, let days) = kind { return try interval(seconds, days) }
    if let window {
      throw senseless(
        window.range, "a part of the day needs an interval",
        expected: "how often, as in \"every 30m from 9 to 17 on weekdays\"")
    }
    takeTimeOfBound()
    var (said, _) = try daytimes()
    if isAfterDone { return try afterDone(kind, said) }
    if said.isEmpty { said = [context.words().day] }
    let days = try leftOut(of: try days(kind))
    return try settled(Phrase(pattern: .times(days, said), bounds: bounds))
  }

  /// Returns whether the number of times a day, days a week or days a month is `count`.
  private func isCounted(_ kind: Recurrence, _ count: Int) -> Bool {
    switch kind {
    case .weekdays(.everyDay): times.count == count
    case .weekdays(let days): days.rawValue.nonzeroBitCount == count
    case .dates(let dates): dates.groups.count == 1 && dates.groups.first?.selection.count == count
    default: false
    }
  }

  /// Uses the time of a bound for days without a time: `every other day starting tomorrow at 8`.
  private mutating func takeTimeOfBound() {
    guard times.isEmpty, part == nil else { return }
    let words = boundRange ?? 0..<bytes.count
    func take(_ civil: CivilDateTime) -> Phrase.Moment {
      times = [Clock(time: civil.time, isExact: true, range: words)]
      return .date(civil.date)
    }
    switch (bounds.starting, bounds.until) {
    case (.civil(let civil), nil), (.civil(let civil), .date): bounds.starting = take(civil)
    case (nil, .civil(let civil)), (.date, .civil(let civil)): bounds.until = take(civil)
    default: break
    }
  }

  /// Adds a separate day to a recurrence that lacks one: `on monday, every 2 weeks`.
  private mutating func takeDate(into kind: inout Recurrence) throws(Fault) {
    guard let found = date else { return }
    switch (kind, found.kind) {
    case (.weeks(let count, nil), .weekday(let day)):
      kind = count == 1 ? .weekdays(WeekdaySet(day)) : .weeks(count, WeekdaySet(day))
    case (.months(let count, nil), .dayOfMonth(let day)):
      var selection = MonthSelection()
      selection.insert(day: day, fromEnd: false)
      kind = count == 1 ? .dates(MonthDays(each: selection)) : .months(count, selection)
    case (.years(let count, nil), .monthDay(let month, let day)):
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      months[month - 1].insert(day: day, fromEnd: false)
      kind = count == 1 ? .dates(MonthDays(months)) : .years(count, MonthDays(months))
    case (.interval(let seconds, nil), .weekday(let day)): kind = .interval(seconds, .weekdays(WeekdaySet(day)))
    default:
      throw senseless(
        found.range, "\(quoted(found.range)) is a single day, and this recurs",
        expected: "one of the two, or the day after \"starting\", as in \"every 2 weeks starting tomorrow\"")
    }
  }

  /// The day from which a recurrence without its own days counts.
  private var firstDay: CivilDate {
    switch bounds.starting {
    case .date(let date): date
    case .civil(let civil): civil.date
    case .instant(let instant): context.zone.civil(at: instant).date
    case nil: today
    }
  }

  private func days(_ kind: Recurrence) throws(Fault) -> Phrase.Days {
    let words = recurrence?.range ?? 0..<bytes.count
    switch kind {
    case .weekdays(let days): return .weekdays(days)
    case .days(let count): return .days(every: count)
    case .weeks(let count, let days):
      let days = days ?? WeekdaySet(firstDay.weekday)
      return count == 1 ? .weekdays(days) : .weeks(every: count, days)
    case .months(let count, let selection):
      var selection = selection ?? MonthSelection()
      if selection.isEmpty {
        guard firstDay.day <= 28 else {
          throw senseless(
            words, "not every month has a day \(firstDay.day)",
            expected: "the day, as in \"every month on the last day\" or \"every month on day \(firstDay.day)\"")
        }
        selection.insert(day: firstDay.day, fromEnd: false)
      }
      return count == 1 ? .dates(MonthDays(each: selection)) : .months(every: count, selection)
    case .years(let count, let dates):
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      months[firstDay.month - 1].insert(day: firstDay.day, fromEnd: false)
      let dates = dates ?? MonthDays(months)
      return count == 1 ? .dates(dates) : .years(every: count, dates)
    case .dates(let dates): return .dates(dates)
    case .interval: return .weekdays(.everyDay)
    }
  }

  /// Removes the weekdays after `except`.
  private func leftOut(of days: Phrase.Days) throws(Fault) -> Phrase.Days {
    guard !exceptDays.isEmpty else { return days }
    guard case .weekdays(let set) = days else {
      throw senseless(
        boundRange ?? 0..<bytes.count, "days of the week cannot be left out of these days",
        expected: "dates, as in \"except 2026-12-24\", or a schedule by days of the week")
    }
    let rest = set.subtracting(exceptDays)
    guard !rest.isEmpty else {
      throw senseless(
        boundRange ?? 0..<bytes.count, "no day is left", expected: "fewer exceptions", code: .neverOccurs)
    }
    return .weekdays(rest)
  }

  private mutating func interval(_ seconds: Int64, _ days: Phrase.Days?) throws(Fault) -> Phrase {
    let words = recurrence?.range ?? 0..<bytes.count
    guard seconds >= 1 else {
      throw senseless(
        words, "an interval has whole seconds, and at least one", expected: "an interval of 1s or more",
        code: .outOfRange)
    }
    if let time = times.first {
      throw senseless(
        time.range, "an interval takes no time of day",
        expected: "days, or a part of the day, as in \"every 2h from 8 to 18\"")
    }
    if let part {
      throw senseless(
        part.range, "an interval takes no time of day",
        expected: "a part of the day, as in \"every 2h from 8 to 12\"")
    }
    if isAfterDone {
      guard days == nil, window == nil, exceptDays.isEmpty else {
        throw senseless(
          words, "a schedule that counts from completion cannot be limited to days of the week",
          expected: "a schedule like \"every 4h after done\"")
      }
      return try settled(Phrase(pattern: .elapsedAfterDone(seconds: seconds), bounds: bounds))
    }
    let kept = try leftOut(of: days ?? .weekdays(.everyDay))
    guard seconds <= 86_400 || window == nil && kept == .weekdays(.everyDay) else {
      throw senseless(
        words, "an interval of more than a day fits neither days of the week nor a part of the day",
        expected: "an interval of at most 24h")
    }
    guard let window else { return try settled(Phrase(pattern: .elapsed(seconds: seconds, kept), bounds: bounds)) }
    return try settled(
      Phrase(pattern: .window(seconds: seconds, from: window.from, to: window.to, kept), bounds: bounds))
  }

  private mutating func afterDone(_ kind: Recurrence, _ times: [CivilTime]) throws(Fault) -> Phrase {
    let count: Int? =
      switch kind {
      case .weekdays(.everyDay): 1
      case .days(let count): count
      case .weeks(let count, nil): count * 7
      default: nil
      }
    guard let count, exceptDays.isEmpty else {
      throw senseless(
        recurrence?.range ?? 0..<bytes.count, "only days, weeks or an interval can count from completion",
        expected: "a schedule like \"every 3 days after done at 9\"")
    }
    return try settled(Phrase(pattern: .daysAfterDone(count, times), bounds: bounds))
  }

  /// Ends the schedule after a duration such as `for 8 weeks`, on the last day of it.
  private mutating func end(after span: Span, _ words: Range<Int>) throws(Fault) {
    guard bounds.until == nil else { throw twice(words) }
    if span.seconds > 0 {
      guard let end = instant(after: span), bounds.starting == nil else {
        throw senseless(words, "the end of \(quoted(words)) is missing", expected: "\"until\" and a moment")
      }
      bounds.until = .instant(end)
      return
    }
    guard let end = moved(firstDay, by: span)?.adding(days: -1) else { throw tooLate(words) }
    bounds.until = .date(end)
  }

  private func settled(_ phrase: Phrase) throws(Fault) -> Phrase {
    var phrase = phrase
    phrase.bounds.except = PhraseParser.merged(phrase.bounds.except)
    phrase.bounds.exceptCalendars = Set(phrase.bounds.exceptCalendars).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    var parser = PhraseParser(bytes, context: context)
    do {
      try parser.settle(&phrase, count: phrase.bounds.count == nil ? nil : boundRange ?? 0..<0)
    } catch {
      var fault = error
      fault.isMeaning = true
      throw fault
    }
    return phrase
  }

  /// Returns the next time at which the clock shows a time of day.
  func next(_ time: CivilTime) throws(Fault) -> CivilDateTime {
    for days in 0...2 {
      guard let date = today.adding(days: days) else { break }
      let civil = CivilDateTime(date: date, time: time)
      if context.isAhead(civil) { return civil }
    }
    throw tooLate(0..<bytes.count)
  }
}
