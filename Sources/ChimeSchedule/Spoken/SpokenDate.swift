/// A SpokenDate is a day as spoken: the candidate days, earliest first. With the time of day, the first candidate in
/// the future is the one that is meant.
struct SpokenDate {
  enum Kind: Equatable {
    case today
    /// One day, whatever the time.
    case fixed
    /// The next one of a recurring day.
    case next
    case weekday(Weekday)
    case dayOfMonth(Int)
    case monthDay(month: Int, day: Int)
  }

  var candidates: [CivilDate]
  var kind: Kind
  var range: Range<Int>
}

extension SpokenParser {
  /// Parses the day of a single moment, with `on` or `at` before it.
  mutating func datePart() throws(Fault) -> Bool {
    let start = index
    // "at 7 dec 24" is a time before a date.
    if word() == .at, times.isEmpty, token(1)?.isDigits == true, month(2) != nil,
      let day = token(3),
      day.isDigits && day.range.count <= 2 || day.kind == .ordinal, !isSign(":", 4), word(4) != .am, word(4) != .pm
    {
      return false
    }
    _ = take(.on) || take(.at) || take(.by)
    if let (set, isList) = weekdayList() {
      if isList {
        let words = range(from: start)
        guard recurrence == nil else {
          index = start
          return try pendingDays()
        }
        recurrence = (.weekdays(set), words)
        return true
      }
      index = start
      _ = take(.on) || take(.at) || take(.by)
    }
    if recurrence != nil {
      index = start
      if try pendingDays() { return true }
      _ = take(.on) || take(.at) || take(.by)
    }
    guard var found = try spokenDate() else {
      index = start
      return false
    }
    found.range = range(from: start)
    try set(found)
    return true
  }

  private mutating func set(_ found: SpokenDate) throws(Fault) {
    guard let known = date else {
      date = found
      return
    }
    // "monday, dec 7": a weekday beside a date must match it.
    guard case .weekday(let day) = known.kind else {
      guard case .weekday(let day) = found.kind else { throw twice(found.range) }
      return try agree(known, day, found.range)
    }
    if case .weekday = found.kind { throw twice(found.range) }
    try agree(found, day, known.range)
    date = found
  }

  private mutating func agree(_ found: SpokenDate, _ day: Weekday, _ words: Range<Int>) throws(Fault) {
    guard let first = found.candidates.first(where: { $0 >= today }) ?? found.candidates.first else { return }
    try needSense(
      first.weekday == day, words, "\(first) does not fall on \(quoted(words))",
      expected: "the date alone, or its own day of the week")
  }

  /// Parses `tomorrow`, `next monday`, `dec 24`, `24.12.`, `the 15th` or `end of month`.
  mutating func spokenDate() throws(Fault) -> SpokenDate? {
    let start = index
    func fixed(_ date: CivilDate?, _ kind: SpokenDate.Kind = .fixed) throws(Fault) -> SpokenDate {
      let words = range(from: start)
      guard let date else {
        throw senseless(
          words, "\(quoted(words)) lies outside the years 1970–9999", expected: "a year from 1970 to 9999",
          code: .outOfRange)
      }
      return SpokenDate(candidates: [date], kind: kind, range: words)
    }
    if take(oneOf: .today) { return try fixed(today, .today) }
    if take(.day, .after, .tomorrow) || take(.the, .day, .after, .tomorrow) || take(.overmorrow) {
      return try fixed(today.adding(days: 2))
    }
    if take(oneOf: .tomorrow) { return try fixed(today.adding(days: 1)) }
    if let date = try relativeDate() { return date }
    if let date = try endOfPeriod() { return date }
    if let date = try feast() { return date }
    if let date = try placeInMonth() { return date }
    if let date = try numericDate() { return date }
    if let date = try namedDate() { return date }
    _ = take(.the)
    if let day = token(), day.kind == .ordinal, isDigit(day.range.lowerBound) || word(-1) == .the,
      word(1) != .of, !isPlaceNoun(1)
    {
      index += 1
      return try dayOfMonth(day.value, range(from: start))
    }
    index = start
    return nil
  }

  private func dayOfMonth(_ day: Int, _ words: Range<Int>) throws(Fault) -> SpokenDate {
    try needSense(
      (1...31).contains(day), words, "\(quoted(words)) is not a day of a month",
      expected: "a day from the 1st to the 31st")
    var candidates: [CivilDate] = []
    var (year, month) = (today.year, today.month)
    for _ in 0..<4 {
      if let date = CivilDate(year: year, month: month, day: day), date >= today { candidates.append(date) }
      (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
    }
    return SpokenDate(candidates: candidates, kind: .dayOfMonth(day), range: words)
  }

  /// Returns whether a word is a noun that an ordinal counts.
  func isPlaceNoun(_ ahead: Int) -> Bool {
    let word = word(ahead)
    return weekday(ahead) != nil || token(ahead)?.facts.isUnit == true
      || [.weekday, .weekdays, .workday, .workdays, .weekend, .business, .working, .last, .to, .quarter]
        .contains(word)
  }

  /// Returns the Monday of the week `weeks` weeks from this one.
  private func monday(inWeeks weeks: Int) -> CivilDate? {
    today.adding(days: 7 * weeks + 1 - today.weekday.rawValue)
  }

  private func nearest(_ day: Weekday, notToday: Bool = false) -> [CivilDate] {
    var wait = (day.rawValue - today.weekday.rawValue + 7) % 7
    if wait == 0, notToday { wait = 7 }
    return [wait, wait + 7].compactMap { today.adding(days: $0) }
  }

  /// Parses `friday in two weeks`.
  func weekday(_ day: Weekday, in span: Span, _ words: Range<Int>) throws(Fault) -> [CivilDate] {
    guard let date = nearest(day).first else { return [] }
    // Counting from this week's day or the next such day gives the same result, unless this week's has passed.
    let dates = [Int(span.days) - 7, Int(span.days)].compactMap { date.adding(days: $0) }
    if day.rawValue > today.weekday.rawValue { return Array(dates.suffix(1)) }
    throw ambiguous(words, dates.map { "\(day.name) \($0)" })
  }

  /// Parses `friday`, `next friday`, `friday next week`, `this weekend` or `next month`.
  private mutating func relativeDate() throws(Fault) -> SpokenDate? {
    let start = index
    func found(_ candidates: [CivilDate], _ kind: SpokenDate.Kind = .fixed) -> SpokenDate {
      SpokenDate(candidates: candidates, kind: kind, range: range(from: start))
    }
    if let (day, plural) = weekday(), !plural {
      index += 1
      if isSign("."), token()?.isAdjacent == true, !isNumber(1) || token(1)?.isAdjacent != true { index += 1 }
      if take(.next, .week) || take(.of, .next, .week) {
        return found([monday(inWeeks: 1)?.adding(days: day.rawValue - 1)].compactMap { $0 })
      }
      if take(.this, .week) || take(.of, .this, .week) {
        return found([monday(inWeeks: 0)?.adding(days: day.rawValue - 1)].compactMap { $0 })
      }
      let before = index
      if take(.in), let span = try span(article: true), span.isWeeks, span.days <= 700 {
        return found(try weekday(day, in: span, range(from: start)))
      }
      index = before
      return found(nearest(day), .weekday(day))
    }
    if [.next, .following, .coming, .upcoming].contains(word(1)) { _ = take(.the) }
    let isNext = take(.next) || take(.following)
    let isThis = !isNext && (take(.this, .coming) || take(.this) || take(.coming) || take(.upcoming))
    let isComing = isThis && word(-1) != .this
    guard isNext || isThis else {
      index = start
      return nil
    }
    if let (day, plural) = weekday(), !plural {
      index += 1
      if isThis { return found(nearest(day, notToday: isComing), .weekday(day)) }
      guard day.rawValue <= today.weekday.rawValue else {
        throw ambiguous(range(from: start), [day.name, "\(day.name) next week"])
      }
      return found([nearest(day, notToday: true)[0]])
    }
    if take(.weekend) {
      let isWeekend = today.weekday.rawValue >= 6
      if isThis { return found(today.weekday == .sunday ? [today] : [nearest(.saturday)[0]]) }
      guard isWeekend else { throw ambiguous(range(from: start), ["saturday", "saturday next week"]) }
      return found([monday(inWeeks: 1)?.adding(days: 5)].compactMap { $0 })
    }
    if isNext, take(.week) {
      let before = index
      _ = take(.on)
      if let (day, plural) = weekday(), !plural {
        index += 1
        return found([monday(inWeeks: 1)?.adding(days: day.rawValue - 1)].compactMap { $0 })
      }
      index = before
      guard today.weekday == .monday else { throw ambiguous(range(from: start), ["monday next week", "in 1 week"]) }
      return found([monday(inWeeks: 1)].compactMap { $0 })
    }
    if isNext, take(.month) {
      let before = index
      _ = take(.on)
      _ = take(.the)
      if let day = token(), day.kind == .ordinal || take(.day) && isNumber(), let number = token() {
        index += 1
        return found(try dayOfNextMonth(number.value, start))
      }
      index = before
      guard today.day == 1 else { throw ambiguous(range(from: start), ["1st of next month", "in 1 month"]) }
      return found([moved(today, by: Span(months: 1))].compactMap { $0 })
    }
    if isNext, take(.year) {
      let before = index
      _ = take(.on)
      if let (month, day) = monthAndDay() { return try monthDay(month, day, year: today.year + 1, start) }
      index = before
      guard today.day == 1, today.month == 1 else {
        throw ambiguous(range(from: start), ["\(today.year + 1)-01-01", "in 1 year"])
      }
      return found([moved(today, by: Span(months: 12))].compactMap { $0 })
    }
    index = start
    return nil
  }

  private func dayOfNextMonth(_ day: Int, _ start: Int) throws(Fault) -> [CivilDate] {
    let (year, month) = today.month == 12 ? (today.year + 1, 1) : (today.year, today.month + 1)
    guard let date = CivilDate(year: year, month: month, day: day) else { throw never(start) }
    return [date]
  }

  /// Parses `christmas eve` or `new year's day`.
  mutating func feast() throws(Fault) -> SpokenDate? {
    let start = index
    guard isOne(of: .feast), let first = token() else { return nil }
    // Names may contain an apostrophe or a full stop, which are separate tokens, so the loop compares the text.
    for count in stride(from: 6, through: 1, by: -1) {
      guard let last = token(count - 1) else { continue }
      let name = text(first.range.lowerBound..<last.range.upperBound).lowercased()
      guard let (month, day) = SpokenWords.feasts[name.replacing("’", with: "'")] else { continue }
      index += count
      return try monthDay(month, day, year: takeYear(), start)
    }
    return nil
  }

  /// Parses `end of month`, `eom`, `end of next month` or `end of year`.
  private mutating func endOfPeriod() throws(Fault) -> SpokenDate? {
    let start = index
    func last(_ month: Int, _ year: Int) -> SpokenDate {
      let date = CivilDate(year: year, month: month, day: CivilDate.daysIn(month: month, year: year))
      return SpokenDate(candidates: [date].compactMap { $0 }, kind: .fixed, range: range(from: start))
    }
    let (year, month) = (today.year, today.month)
    if take(.eoy) { return last(12, year) }
    if take(.eom) { return last(month, year) }
    if take(.eow) { throw ambiguous(range(from: start), ["friday", "sunday"]) }
    _ = take(.the)
    let isEnd = take(.end, .of)
    guard isEnd || take(.beginning, .of) || take(.start, .of) else {
      index = start
      return nil
    }
    _ = take(.the) || take(.this)
    let isNext = take(.next)
    guard isEnd else {
      // The beginning of the current month, week or year has passed.
      let first: CivilDate? =
        if isNext, take(.month) {
          CivilDate(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
        } else if isNext, take(.year) {
          CivilDate(year: year + 1, month: 1, day: 1)
        } else if isNext, take(.week) {
          monday(inWeeks: 1)
        } else if let named = self.month(), take(word()) {
          CivilDate(year: takeYear() ?? (named <= month ? year + 1 : year), month: named, day: 1)
        } else {
          nil
        }
      guard let first else {
        index = start
        return nil
      }
      return SpokenDate(candidates: [first], kind: .fixed, range: range(from: start))
    }
    if take(.month) {
      return isNext ? last(month % 12 + 1, month == 12 ? year + 1 : year) : last(month, year)
    }
    if take(.year) { return last(12, isNext ? year + 1 : year) }
    if take(.quarter) {
      let end = (month + 2) / 3 * 3 + (isNext ? 3 : 0)
      return last((end - 1) % 12 + 1, end > 12 ? year + 1 : year)
    }
    if take(.week) {
      throw ambiguous(range(from: start), isNext ? ["friday next week", "sunday next week"] : ["friday", "sunday"])
    }
    if let month = self.month() {
      index += 1
      let given = takeYear()
      return last(month, given ?? (month < today.month ? year + 1 : year))
    }
    index = start
    return nil
  }

  /// Parses a year of four digits that is not part of a time or a count.
  mutating func takeYear() -> Int? {
    guard let year = token(), year.isDigits, year.range.count == 4, (1970...9999).contains(year.value),
      !isSign(":", 1), word(1) != .times
    else { return nil }
    index += 1
    return year.value
  }

  /// Parses one day by its position: `first monday of december`, `15th of next month`, `last day of june 2027`.
  private mutating func placeInMonth() throws(Fault) -> SpokenDate? {
    let start = index
    guard let selection = try monthSelection(), take(.of) || take(.in) || word() == .next else {
      index = start
      return nil
    }
    _ = take(.the)
    var months: [(year: Int, month: Int)] = []
    var kind = SpokenDate.Kind.fixed
    if take(.quarter) { throw quarterDay(selection, start) ?? stuck() }
    if take(.next, .month) {
      months = [(today.month == 12 ? today.year + 1 : today.year, today.month % 12 + 1)]
    } else if take(.this, .month) {
      months = [(today.year, today.month)]
    } else if let month = month() {
      index += 1
      if let year = takeYear() {
        months = [(year, month)]
      } else {
        // A fifth Monday in February occurs at least once in forty years.
        months = (0...40).map { (today.year + $0, month) }
        kind = .next
      }
    } else {
      index = start
      return nil
    }
    var candidates: [CivilDate] = []
    for (year, month) in months {
      guard let first = CivilDate(year: year, month: month, day: 1) else { continue }
      let days = selection.mask(
        first: first.weekday.rawValue - 1, length: CivilDate.daysIn(month: month, year: year))
      if days.nonzeroBitCount > 1 {
        throw senseless(
          range(from: start), "\(quoted(range(from: start))) is more than one day",
          expected: "one day, or \"every\" before them")
      }
      if days != 0, let date = CivilDate(year: year, month: month, day: days.trailingZeroBitCount),
        kind == .fixed || date >= today
      {
        candidates.append(date)
      }
    }
    guard !candidates.isEmpty else { throw never(start) }
    return SpokenDate(candidates: candidates, kind: kind, range: range(from: start))
  }

  /// Returns the fault for the first or last day of a quarter, which may mean the next one or every one.
  private func quarterDay(_ selection: MonthSelection, _ start: Int) -> Fault? {
    var (first, last) = (MonthSelection(), MonthSelection())
    first.insert(day: 1, fromEnd: false)
    last.insert(day: 1, fromEnd: true)
    let end = (today.month + 2) / 3 * 3
    let ends =
      end == 12
      ? CivilDate(year: today.year + 1, month: 1, day: 1) : CivilDate(year: today.year, month: end + 1, day: 1)
    guard let next = ends else { return nil }
    let words = range(from: start)
    if selection == first { return ambiguous(words, ["\(next)", "every jan 1, apr 1, jul 1 and oct 1"]) }
    guard selection == last, let day = next.adding(days: -1) else { return nil }
    return ambiguous(words, ["\(day)", "every mar 31, jun 30, sep 30 and dec 31"])
  }

  func never(_ start: Int) -> Fault {
    senseless(
      range(from: start), "\(quoted(range(from: start))) never comes", expected: "days that these months have",
      code: .neverOccurs)
  }

  /// Parses `dec 24`, `24th of december 2027` or `december 24th, 2027`.
  private mutating func namedDate() throws(Fault) -> SpokenDate? {
    let start = index
    guard let (month, day) = monthAndDay() else {
      if month() != nil, date == nil, start > 0, [.on, .at, .in].contains(word(-1)) {
        index += 1
        let words = range(from: start)
        index = start
        throw senseless(words, "\(quoted(words)) does not say which day", expected: "a day, as in \"dec 24 at 9\"")
      }
      return nil
    }
    let before = index
    if takeSign(",") || takeSign(".") || takeSign("-") || takeSign("/"), token()?.kind != .number { index = before }
    var year = takeYear()
    if year == nil {
      index = before
      if take(.of, .next, .year) || take(.next, .year) { year = today.year + 1 }
      if take(.of, .this, .year) || take(.this, .year) { year = today.year }
    }
    return try monthDay(month, day, year: year, start)
  }

  /// Parses a day with the name of its month, in either order. It skips nothing if there is none.
  mutating func monthAndDay() -> (month: Int, day: Int)? {
    let start = index
    if let month = month() {
      index += 1
      let isJoined = isSign("-") && token()?.isAdjacent == true && token(1)?.isAdjacent == true
      _ = isJoined ? takeSign("-") : takeSign(".")
      _ = take(.the)
      // "second" is a unit too, not an ordinal.
      if !isJoined, take(.second) { return (month, 2) }
      if let day = token(), day.kind == .number || day.kind == .ordinal, day.value >= 1, day.value <= 31,
        day.range.count <= 2 || day.kind == .ordinal || !day.isDigits, !isSign(":", 1) || token(1)?.isAdjacent != true
      {
        index += 1
        return (month, day.value)
      }
    } else {
      _ = take(.the)
      if let day = token(), day.kind == .number || day.kind == .ordinal, day.value >= 1, day.value <= 31 {
        index += 1
        if day.kind == .number { _ = takeSign(".") || takeSign("-") || takeSign("/") }
        _ = take(.of)
        if let month = month() {
          index += 1
          return (month, day.value)
        }
      }
    }
    index = start
    return nil
  }

  private func monthDay(_ month: Int, _ day: Int, year: Int?, _ start: Int) throws(Fault) -> SpokenDate {
    let words = range(from: start)
    if let year {
      guard let date = CivilDate(year: year, month: month, day: day) else {
        throw senseless(
          words, "\(quoted(words)) is not a day of the calendar", expected: "a day that this month has")
      }
      return SpokenDate(candidates: [date], kind: .fixed, range: words)
    }
    // At most eight years lie between one 29 February and the next.
    let candidates = (0...9).compactMap { CivilDate(year: today.year + $0, month: month, day: day) }
      .filter { $0 >= today }
    guard !candidates.isEmpty else { throw never(start) }
    return SpokenDate(candidates: candidates, kind: .monthDay(month: month, day: day), range: words)
  }

  /// Parses `2026-12-24`, `2026/12/24`, `20261224`, `24.12.`, `24. 12. 2026` or `12/24/2026`.
  private mutating func numericDate() throws(Fault) -> SpokenDate? {
    let start = index
    guard let first = token(), first.isDigits else { return nil }
    func number(_ ahead: Int, _ digits: ClosedRange<Int>) -> Int? {
      guard let token = token(ahead), token.isDigits, digits.contains(token.range.count) else { return nil }
      return token.value
    }
    func isJoined(_ ahead: Int) -> Bool { token(ahead)?.isAdjacent == true }
    if first.range.count == 8, word(1) == .t || !isJoined(1) {
      let (year, month, day) = (first.value / 10_000, first.value / 100 % 100, first.value % 100)
      guard (1970...2999).contains(year), (1...12).contains(month) else { return nil }
      index += 1
      if word() == .t, isJoined(0) { index += 1 }
      return try monthDay(month, day, year: year, start)
    }
    if first.range.count == 4, isSign("/", 1) || isSign("-", 1) || isSign(".", 1), isJoined(1), isJoined(2),
      let month = number(2, 1...2), token(3)?.kind == token(1)?.kind, isJoined(3), isJoined(4),
      let day = number(4, 1...2)
    {
      index += 5
      if word() == .t, isJoined(0) { index += 1 }
      try needSense(
        (1970...9999).contains(first.value) && (1...12).contains(month), range(from: start),
        "\(quoted(range(from: start))) is not a day of the calendar",
        expected: "a date like 2026-12-24")
      return try monthDay(month, day, year: first.value, start)
    }
    guard first.range.count <= 2, first.value >= 1 else { return nil }
    if isSign(".", 1), isJoined(1), let month = number(2, 1...2), (1...12).contains(month), first.value <= 31 {
      // "24.12" alone may be a number. A second full stop or a year makes it a date.
      let hasStop = isSign(".", 3) && isJoined(3)
      guard hasStop || word(-1) == .on else { return nil }
      index += hasStop ? 4 : 3
      var year: Int?
      if hasStop {
        if let full = number(0, 4...4), (1970...9999).contains(full), !isSign(":", 1) {
          year = full
          index += 1
        } else if let short = number(0, 2...2), isJoined(0), !isSign(":", 1) {
          year = 2_000 + short
          index += 1
        }
      }
      return try monthDay(month, first.value, year: year, start)
    }
    let isDashed = isSign("-", 1) && isSign("-", 3) && number(4, 4...4) != nil
    guard isSign("/", 1) || isDashed, isJoined(1), isJoined(2), let second = number(2, 1...2), second >= 1 else {
      return nil
    }
    var year: Int?
    var length = 3
    if isSign("/", 3) || isDashed, isJoined(3), isJoined(4) {
      year = number(4, 4...4) ?? number(4, 2...2).map { 2_000 + $0 }
      guard year != nil else { return nil }
      length = 5
    }
    let (low, high) = (min(first.value, second), max(first.value, second))
    guard low <= 12, high <= 31 else { return nil }
    index += length
    guard high > 12 || low == high else {
      func text(_ month: Int, _ day: Int) -> String {
        "\(MonthDays.names[month - 1]) \(day)\(year.map { " \($0)" } ?? "")"
      }
      throw ambiguous(range(from: start), [text(first.value, second), text(second, first.value)])
    }
    return try monthDay(low, high, year: year, start)
  }
}

extension Weekday {
  /// The English name, such as `monday`.
  var name: String {
    switch self {
    case .monday: "monday"
    case .tuesday: "tuesday"
    case .wednesday: "wednesday"
    case .thursday: "thursday"
    case .friday: "friday"
    case .saturday: "saturday"
    case .sunday: "sunday"
    }
  }
}
