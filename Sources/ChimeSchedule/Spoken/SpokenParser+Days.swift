extension SpokenParser {
  /// Parses `every weekday`, `each morning`, `every 2 weeks on monday`, `monthly on the 15th` or `mon wed fri`.
  mutating func recurrencePart() throws(Fault) -> Bool {
    let start = index
    if take(oneOf: .every) {
      if isSign("!"), token()?.isAdjacent == true {
        index += 1
        isAfterDone = true
      }
      _ = take(.single)
      guard let kind = try afterEvery() else {
        index = start
        throw notEvery(start + 1)
      }
      return try set(kind, start)
    }
    if (take(.when) || take(.after)) && take(oneOf: .done) {
      isAfterDone = true
      return true
    }
    index = start
    let isCounted = isNumber() && [.times, .x].contains(word(1))
    if isCounted || word() == .twice || word() == .thrice {
      var unit = isCounted ? 2 : 1
      let number = isCounted ? token()?.value ?? 0 : word() == .twice ? 2 : 3
      if [.a, .per, .each, .every].contains(word(unit)) { unit += 1 }
      if unit > (isCounted ? 2 : 1) || isOne(of: .often, unit) {
        let kind: Recurrence? =
          switch word(unit) {
          case .day, .daily: .weekdays(.everyDay)
          case .week, .weekly: .weeks(1, nil)
          case .month, .monthly: .months(1, nil)
          default: nil
          }
        index += unit + 1
        guard let kind, number > 1, recurrence == nil else { throw countedTimes(range(from: start)) }
        frequency = (number, range(from: start))
        return try set(kind, start)
      }
    }
    _ = take(.once)
    if take(.a) || take(.per) {
      guard index - start == 2, let kind = try afterEvery() else {
        index = start
        return false
      }
      return try set(kind, start)
    }
    if index > start {
      // "once every 3 days"; "once" with a single day adds nothing.
      guard isOne(of: .every) || isOne(of: .often) else {
        index = start
        return false
      }
      return try recurrencePart()
    }
    if recurrence == nil, take(.alternate), let kind = try counted(2) { return try set(kind, start) }
    index = start
    _ = take(.at)
    if take(.the, .end, .of) || take(.end, .of), take(oneOf: .every), take(.month) {
      var selection = MonthSelection()
      selection.insert(day: 1, fromEnd: true)
      return try set(.dates(MonthDays(each: selection)), start)
    }
    index = start
    _ = take(.on) || take(.at)
    if let kind = try often(start) { return try set(kind, start) }
    if let selection = try monthSelection() {
      // Days of each month recur without "every". Days of one month are a date.
      var ahead = self
      _ = ahead.take(.of) || ahead.take(.in)
      _ = ahead.take(.the) || ahead.take(oneOf: .every) || ahead.take(.a)
      let isEach = ahead.isOne(of: .months) || ahead.isOne(of: .months, 1)
      if word() == .of, isEach || (ahead.monthList()?.count ?? 0) > 1, ![.next, .this].contains(ahead.word()) {
        return try set(ofMonths(selection, start), start)
      }
    }
    index = start
    return false
  }

  /// Returns the fault for a frequency within a day or week that does not say when.
  func countedTimes(_ words: Range<Int>) -> Fault {
    senseless(
      words, "the times of \(quoted(words)) are missing",
      expected: "the times, as in \"daily at 9 and 21\", or days, as in \"mon,thu at 9\"")
  }

  private func notEvery(_ start: Int) -> Fault {
    let range = start < tokens.count ? tokens[start].range : bytes.count..<bytes.count
    return Fault(
      range: range,
      problem: range.isEmpty ? "the end of the schedule is missing" : "\(quoted(range)) is not understood",
      expected: "days or a length of time, as in \"every mon,wed at 9\" or \"every 90 minutes\"")
  }

  private mutating func set(_ kind: Recurrence, _ start: Int) throws(Fault) -> Bool {
    let words = range(from: start)
    guard recurrence == nil else {
      // "every week on weekdays" and "monday mornings every 2 weeks" describe one recurrence in two parts.
      guard try merge(kind) else { throw twice(words) }
      return true
    }
    recurrence = (kind, words)
    return true
  }

  /// Merges weekdays and a step that came in separate parts.
  private mutating func merge(_ kind: Recurrence) throws(Fault) -> Bool {
    guard let known = recurrence else { return false }
    switch (known.kind, kind) {
    case (.weekdays(let days), .weeks(let count, nil)), (.weeks(let count, nil), .weekdays(let days)):
      recurrence?.kind = count == 1 ? .weekdays(days) : .weeks(count, days)
    case (.interval(let seconds, nil), .weekdays(let days)), (.weekdays(let days), .interval(let seconds, nil)):
      recurrence?.kind = .interval(seconds, .weekdays(days))
    default: return false
    }
    return true
  }

  /// Parses a word that says by itself how often.
  private mutating func often(_ start: Int) throws(Fault) -> Recurrence? {
    let first = word()
    if [.business, .working, .work, .week].contains(first), word(1) == .days {
      index += 2
      return .weekdays(.weekdays)
    }
    guard isOne(of: .often) else { return nil }
    index += 1
    switch first {
    case .daily, .everyday: return .weekdays(.everyDay)
    case .nightly:
      part = (.night, range(from: index - 1))
      return .weekdays(.everyDay)
    case .weekday, .workday, .weekdays, .workdays: return .weekdays(.weekdays)
    case .weekend, .weekends: return .weekdays(.weekends)
    case .weekly: return .weeks(1, nil)
    case .fortnightly: return .weeks(2, nil)
    case .monthly: return .months(1, nil)
    case .yearly, .annually: return .years(1, nil)
    case .quarterly: return quarters
    case .hourly: return .interval(3_600, nil)
    case .biweekly: throw ambiguous(range(from: start), ["every 2 weeks", "twice a week on mon and thu"])
    case .bimonthly: throw ambiguous(range(from: start), ["every 2 months", "twice a month on the 1st and 15th"])
    case .biannually, .biyearly, .biennially:
      throw ambiguous(range(from: start), ["every 2 years", "every 6 months"])
    case .semiweekly, .semimonthly: throw countedTimes(range(from: index - 1))
    case .semiannually: return .months(6, nil)
    default: return nil
    }
  }

  /// The first day of each quarter.
  private var quarters: Recurrence {
    var months = [MonthSelection](repeating: MonthSelection(), count: 12)
    for month in [0, 3, 6, 9] { months[month].insert(day: 1, fromEnd: false) }
    return .dates(MonthDays(months))
  }

  private mutating func afterEvery() throws(Fault) -> Recurrence? {
    let start = index
    if let (found, _) = dayPart(), found != .tonight {
      index += 1
      part = (found, range(from: start))
      return .weekdays(.everyDay)
    }
    if namedTime() != nil { return .weekdays(.everyDay) }
    if let days = weekdayNoun() { return .weekdays(days) }
    if let (set, _) = weekdayList() { return .weekdays(set) }
    if take(.quarter), word() != .of, word() != .hour { return quarters }
    index = start
    if take(.day) {
      return .weekdays(.everyDay)
    }
    if take(.other) || take(.alternate) { return try counted(2) }
    // In "every second sunday of the month", "second" is a position.
    if word() == .second, weekday(1) == nil || ![.of, .in].contains(word(2)) {
      index += 1
      if let kind = try counted(2) { return kind }
      index = start
    }
    if let place = token(), place.kind == .ordinal {
      // "every 3rd day", "every second week"; before a weekday the ordinal is a position in the month.
      let isWord = !isDigit(place.range.lowerBound)
      index += 1
      let isWorkday = [.weekday, .workday, .business, .working, .work].contains(word())
      if weekday() == nil, !isWorkday, word(1) != .of, let kind = try counted(place.value),
        place.value > 1
      {
        return kind
      }
      index = start
      if isWord, place.value > 1, weekday(1) != nil, !isOfMonth(2) {
        index += 2
        throw ambiguous(
          range(from: start),
          ["\(place.value) weeks on \(lowered(-1))", "\(lowered(-2)) \(lowered(-1)) of month"])
      }
    }
    if let days = try datesEachYear() { return .dates(days) }
    if let feast = try feast(), case .monthDay(let month, let day) = feast.kind {
      var months = [MonthSelection](repeating: MonthSelection(), count: 12)
      months[month - 1].insert(day: day, fromEnd: false)
      return .dates(MonthDays(months))
    }
    index = start
    if let selection = try monthSelection() { return try ofMonths(selection, start) }
    if let length = try span(article: true) { return try every(length, start) }
    if let unit = token(), unit.kind == .word { return try counted(1) }
    return nil
  }

  /// Returns whether `of`, `in` or another position follows a weekday, so that the ordinal is a position in a month.
  private func isOfMonth(_ ahead: Int) -> Bool {
    word(ahead) == .of || word(ahead) == .in || word(ahead) == .and || isSign(",", ahead)
  }

  /// Parses `weekday`, `business day` or `weekend`, in the singular or plural.
  private mutating func weekdayNoun() -> WeekdaySet? {
    if [.weekday, .weekdays, .workday, .workdays].contains(word()) {
      index += 1
      return .weekdays
    }
    if [.business, .working, .work, .week].contains(word()), [.day, .days].contains(word(1)) {
      index += 2
      return .weekdays
    }
    if [.weekend, .weekends].contains(word()) {
      index += 1
      return .weekends
    }
    return nil
  }

  /// Returns the days of `weekdays` and `weekends` in a list of days.
  func weekdaysNoun() -> WeekdaySet? { word() == .weekdays ? .weekdays : word() == .weekends ? .weekends : nil }

  /// Parses a unit after `every other`, `every third` or `every`, or weekdays after `every other`.
  private mutating func counted(_ count: Int) throws(Fault) -> Recurrence? {
    let start = index
    if count > 1, let (set, _) = weekdayList() { return .weeks(count, set) }
    if count > 1, take(.weekend) || take(.weekends) { return .weeks(count, .weekends) }
    if count > 1, weekdayNoun() != nil {
      let words = range(from: start)
      throw senseless(
        words, "working days cannot be counted in turns",
        expected: "days of every so many weeks, as in \"every 2 weeks on mon,wed,fri\"")
    }
    guard (1...Phrase.mostSteps).contains(count) else { return nil }
    if take(.quarter) { return .months(3 * count, nil) }
    if isOne(of: .months) {
      index += 1
      return .months(count, nil)
    }
    if isOne(of: .years) {
      index += 1
      return .years(count, nil)
    }
    if isOne(of: .fortnights) {
      index += 1
      return .weeks(2 * count, nil)
    }
    guard let length = token()?.facts.unit else { return nil }
    index += 1
    switch length {
    case .day: return count == 1 ? .weekdays(.everyDay) : .days(count)
    case .week: return .weeks(count, nil)
    case .millisecond: return nil
    case .second, .minute, .hour:
      let one = length == .second ? 1 : length == .minute ? 60 : 3_600
      if take(.and, .a, .half) { return .interval(Int64(one * count + one / 2), nil) }
      return .interval(Int64(one * count), nil)
    }
  }

  private func every(_ span: Span, _ start: Int) throws(Fault) -> Recurrence {
    let words = range(from: start)
    if span.months > 0 {
      try needSense(
        span.days == 0 && span.seconds == 0 && span.months <= 96_000, words,
        "\(quoted(words)) mixes months with shorter units", expected: "one of them, like \"every 2 months\"")
      return span.isYears ? .years(Int(span.months / 12), nil) : .months(Int(span.months), nil)
    }
    if span.seconds == 0 {
      if span.isWeeks { return .weeks(Int(span.days / 7), nil) }
      return span.days == 1 ? .weekdays(.everyDay) : .days(Int(span.days))
    }
    return .interval(span.days * 86_400 + span.seconds, nil)
  }

  /// Parses `dec 24`, `24 dec and 31 dec` or `dec 21st and 31st`.
  mutating func datesEachYear() throws(Fault) -> MonthDays? {
    var months = [MonthSelection](repeating: MonthSelection(), count: 12)
    let start = index
    guard var (month, day) = monthAndDay() else { return nil }
    while true {
      guard day <= CivilDate.daysIn(month: month, year: 2_000) else { throw never(start) }
      months[month - 1].insert(day: day, fromEnd: false)
      let before = index
      guard takeListSign() else { break }
      if let next = monthAndDay() {
        (month, day) = next
      } else if let next = token(), next.kind == .ordinal || next.isDigits && next.range.count <= 2,
        (1...31).contains(next.value), !isSign(":", 1), word(1) != .times, word(1) != .am, word(1) != .pm,
        !isPlaceNoun(1)
      {
        day = next.value
        index += 1
      } else {
        index = before
        break
      }
    }
    return MonthDays(months)
  }

  /// Parses days of a month without the month: `the 1st and 15th`, `2nd and 4th tuesday`, `last workday`, `day 15`.
  mutating func monthSelection() throws(Fault) -> MonthSelection? {
    let start = index
    var selection = MonthSelection()
    while true {
      guard try monthItem(into: &selection) else {
        index = start
        return nil
      }
      let before = index
      guard takeListSign() else { break }
      let next = index
      var more = MonthSelection()
      if try monthItem(into: &more) {
        index = next
        continue
      }
      index = before
      break
    }
    return selection
  }

  private mutating func monthItem(into selection: inout MonthSelection) throws(Fault) -> Bool {
    let start = index
    _ = take(.the)
    if take(.day), let day = token(), day.isDigits, (1...31).contains(day.value) {
      index += 1
      selection.insert(day: day.value, fromEnd: false)
      return true
    }
    index = start
    _ = take(.the)
    var places: [(place: Int, fromEnd: Bool)] = []
    while let place = takePlace() {
      places.append(place)
      let before = index
      guard places.count < 31, takeListSign() else { break }
      _ = take(.the)
      let next = index
      guard takePlace() != nil else {
        index = before
        break
      }
      index = next
    }
    guard !places.isEmpty else {
      index = start
      return false
    }
    let head = index
    if let (day, _) = weekday() {
      index += 1
      for (place, fromEnd) in places {
        guard place <= 5 else { throw never(start) }
        selection.insert(place, day, fromEnd: fromEnd)
      }
    } else if weekdayNoun() == .weekdays {
      for (place, fromEnd) in places {
        guard place <= MonthSelection.mostWorkdays else { throw never(start) }
        selection.insert(workday: place, fromEnd: fromEnd)
      }
    } else {
      index = head
      let hasDay = take(.day) || take(.days)
      // "last" alone is not a day.
      guard hasDay || places.allSatisfy({ !$0.fromEnd }) || word() == .of else {
        index = start
        return false
      }
      for (place, fromEnd) in places {
        guard place <= 31 else { throw never(start) }
        selection.insert(day: place, fromEnd: fromEnd)
      }
    }
    return true
  }

  /// Parses `third`, `2nd`, `last`, `second last` or `3rd to last`.
  private mutating func takePlace() -> (place: Int, fromEnd: Bool)? {
    if take(.last) { return (1, true) }
    guard let token = token(), token.kind == .ordinal && token.value >= 1 || word() == .second else { return nil }
    let place = word() == .second ? 2 : token.value
    index += 1
    return (place, take(.last) || take(.to, .last))
  }

  /// Parses `of the month`, `of every other month` or `of march and june`. Without these it means every month.
  private mutating func ofMonths(_ selection: MonthSelection, _ start: Int) throws(Fault) -> Recurrence {
    let before = index
    guard take(.of) || take(.in) else { return .dates(MonthDays(each: selection)) }
    _ = take(.the) || take(oneOf: .every)
    if take(.other, .month) { return .months(2, selection) }
    if take(.second, .month) { return .months(2, selection) }
    if let count = token(), count.kind == .number || count.kind == .ordinal,
      isOne(of: .months, 1), (2...Phrase.mostSteps).contains(count.value)
    {
      index += 2
      return .months(count.value, selection)
    }
    if take(.month) || take(.months) { return .dates(MonthDays(each: selection)) }
    guard let listed = monthList() else {
      index = before
      return .dates(MonthDays(each: selection))
    }
    var months = [MonthSelection](repeating: MonthSelection(), count: 12)
    for month in listed { months[month - 1] = selection }
    let days = MonthDays(months)
    guard !days.isEmpty else { throw never(start) }
    return .dates(days)
  }

  /// Parses `march and june` or `jan-mar`.
  mutating func monthList() -> Set<Int>? {
    guard let first = month() else { return nil }
    index += 1
    var months: Set<Int> = [first]
    var latest = first
    while true {
      let before = index
      let isRun = takeRunSign()
      guard isRun || takeListSign(), let next = month(), !isNumber(1), token(1)?.kind != .ordinal
      else {
        index = before
        return months
      }
      index += 1
      if isRun { for offset in 0...(next - latest + 12) % 12 { months.insert((latest - 1 + offset) % 12 + 1) } }
      months.insert(next)
      latest = next
    }
  }

  /// Parses `mon wed fri`, `monday through friday` or `mondays and thursdays`.
  ///
  /// - Returns: The days, and whether they are more than a single weekday, so that they recur.
  mutating func weekdayList() -> (set: WeekdaySet, isList: Bool)? {
    let start = index
    if let days = initials() { return (days, true) }
    var set: WeekdaySet = []
    var isList = false
    while true {
      let before = index
      if !set.isEmpty {
        _ = takeListSign(bare: true)
        // "every monday and every thursday"
        if index > before, isOne(of: .every), weekday(1) != nil { index += 1 }
      }
      if !set.isEmpty, let days = weekdaysNoun() {
        index += 1
        set.formUnion(days)
        isList = true
        continue
      }
      guard let (day, plural) = weekday() else {
        index = before
        break
      }
      index += 1
      if isSign("."), token()?.isAdjacent == true { index += 1 }
      isList = isList || plural || !set.isEmpty
      let end = index
      if takeRunSign(), let (last, _) = weekday() {
        index += 1
        set.formUnion(WeekdaySet(from: day, through: last))
        isList = true
      } else {
        index = end
        set.insert(WeekdaySet(day))
      }
    }
    guard !set.isEmpty else {
      index = start
      return nil
    }
    return (set, isList)
  }

  /// Parses weekdays by their first letters: `mwf`, `m/w/f`, `t/th`.
  private mutating func initials() -> WeekdaySet? {
    guard let first = token(), first.kind == .word, first.range.count <= 4,
      [UInt8(ascii: "m"), UInt8(ascii: "t")].contains(bytes[first.range.lowerBound] | 0x20)
    else { return nil }
    if let days = SpokenWords.initials[lowered(0)] {
      index += 1
      return days
    }
    for (letters, days) in SpokenWords.initialLists {
      let length = letters.count * 2 - 1
      let isHere = letters.indices.allSatisfy { place in
        word(place * 2) == letters[place] && (place == 0 || isSign("/", place * 2 - 1))
          && (place == 0 || token(place * 2)?.isAdjacent == true && token(place * 2 - 1)?.isAdjacent == true)
      }
      guard isHere, !isSign("/", length) else { continue }
      index += length
      return days
    }
    return nil
  }

  /// Parses the days of a recurrence that has none yet: `on monday and thursday`, `on the 15th`, `on dec 24`.
  mutating func pendingDays() throws(Fault) -> Bool {
    guard let known = recurrence else { return false }
    let start = index
    _ = take(.on)
    switch known.kind {
    case .weeks(let count, nil):
      guard let days = weekdayNoun() ?? weekdayList()?.set else { break }
      recurrence?.kind = count == 1 ? .weekdays(days) : .weeks(count, days)
      return true
    case .interval(let seconds, nil):
      if let days = weekdayNoun() ?? weekdayList()?.set {
        recurrence?.kind = .interval(seconds, .weekdays(days))
        return true
      }
    case .months(let count, nil):
      guard let selection = try monthSelection() else { break }
      if take(.of, .the, .month) || take(.of, .month) || take(.of, .each, .month) {}
      recurrence?.kind = count == 1 ? .dates(MonthDays(each: selection)) : .months(count, selection)
      return true
    case .years(let count, nil):
      if let days = try datesEachYear() {
        recurrence?.kind = count == 1 ? .dates(days) : .years(count, days)
        return true
      }
      let place = index
      if let selection = try monthSelection() {
        guard case .dates(let days) = try ofMonths(selection, place), days.groups.first?.months != 0xFFF else {
          throw senseless(
            range(from: place), "the month of \(quoted(range(from: place))) is missing",
            expected: "a date like \"dec 24\", or a month, as in \"last fri of mar\"")
        }
        recurrence?.kind = count == 1 ? .dates(days) : .years(count, days)
        return true
      }
    case .weekdays(.everyDay):
      break
    default: break
    }
    index = start
    return false
  }
}
