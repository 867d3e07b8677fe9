extension SpokenParser {
  /// Parses `at 9`, `5 p.m.`, `half past 8`, `in the evening`, `tonight at 8` or `noon and 18:00`.
  mutating func timePart() throws(Fault) -> Bool {
    let start = index
    if try dayPartWords() { return true }
    let isAt = take(.at) || takeSign("@") || take(.by)
    // Reminders have no tolerance, so "around" means the same as "at".
    let isAsked = take(.around) || take(.about) || isAt
    // A number alone is a time only after "at", or right after a day.
    let isBare =
      isAsked || start > 0 && isBareAllowed && token()?.isDigits == true && !isYearLike || isBeforeDayPart
      || start == 0 && isHourAndMinute
    guard let clock = clock(bare: isBare) else {
      index = start
      return false
    }
    guard times.isEmpty else { throw twice(clock.range) }
    times = [clock]
    while let next = anotherTime() { times.append(next) }
    if part == nil, let vague = times.first(where: { !$0.isExact }), let half = times.last(where: isHalved) {
      throw senseless(
        vague.range, "\(quoted(vague.range)) may be before or after noon, beside \(quoted(half.range))",
        expected: "\"am\" or \"pm\" at each time, or a 24-hour clock")
    }
    try needSense(
      times.count <= Phrase.mostTimes, clock.range, "there are more than \(Phrase.mostTimes) times a day",
      expected: "fewer times, or an interval with a window, as in \"every 1m from 8 to 22\"", code: .outOfRange)
    return true
  }

  /// Returns whether a time says `am` or `pm`.
  func isHalved(_ clock: Clock) -> Bool {
    // The last letter rules out most times that do not: "9", "noon".
    guard let last = bytes[clock.range].last(where: { $0 != UInt8(ascii: ".") }),
      [UInt8(ascii: "m"), UInt8(ascii: "p"), UInt8(ascii: "a")].contains(last | 0x20)
    else { return false }
    return SpokenWords.times[text(clock.range).lowercased()] == nil
  }

  /// Whether the number here may be a year: `2026` without `at` does not mean 20:26.
  private var isYearLike: Bool {
    guard let number = token() else { return false }
    return number.range.count == 4 && (1970...2059).contains(number.value)
  }

  /// Whether four digits at the start are the time of the day after them: `1630 tomorrow`, as in at(1).
  private var isHourAndMinute: Bool {
    guard let number = token(), number.isDigits, number.range.count == 4, number.value / 100 < 24,
      number.value % 100 < 60, !isYearLike
    else { return false }
    let ahead = word(1) == .on ? 2 : 1
    return isOne(of: [.today, .tomorrow], ahead) || weekday(ahead)?.plural == false
  }

  /// Whether the number here, without `at`, can be the hour of the day before it: `tomorrow 9`.
  private var isBareAllowed: Bool {
    guard times.isEmpty, date != nil || recurrence != nil || part != nil, let before = token(-1) else { return false }
    return before.kind == .word || before.isSign(",")
  }

  /// Whether the number here is the hour of the part of the day after it: `8 tonight`, `seven thirty in the evening`.
  private var isBeforeDayPart: Bool {
    guard times.isEmpty, part == nil, let hour = token(), hour.kind == .number, (1...12).contains(hour.value) else {
      return false
    }
    var ahead = 1
    if !hour.isDigits, let minute = token(1), minute.kind == .number, !minute.isDigits { ahead = 2 }
    switch word(ahead) {
    case .tonight, .tonite: return true
    case .this, .at: ahead += 1
    case .in: ahead += word(ahead + 1) == .the ? 2 : 1
    default: return false
    }
    return dayPart(ahead)?.plural == false
  }

  /// Parses another time after `,` or `and`.
  private mutating func anotherTime() -> Clock? {
    let start = index
    guard takeListSign() else { return nil }
    _ = take(.at)
    if let next = clock(bare: true) { return next }
    index = start
    return nil
  }

  /// Parses `morning`, `in the evening`, `at night`, `this afternoon` or `tonight`.
  private mutating func dayPartWords() throws(Fault) -> Bool {
    let start = index
    if try pluralDayPart() { return true }
    let isThis = take(.this)
    if isThis, take(.eve) {
      let words = range(from: start)
      guard part == nil, date == nil else { throw twice(words) }
      (part, date) = ((.evening, words), SpokenDate(candidates: [today], kind: .today, range: words))
      return true
    }
    if !isThis { _ = take(.in, .the) || take(.during, .the) || take(.at) || take(.in) || take(.the) }
    guard let (found, _) = dayPart() else {
      index = start
      return false
    }
    // "in night" without "the" may belong to a title: "in night shift".
    if word(-1) == .in, start < index, index - start == 1 {
      index = start
      return false
    }
    index += 1
    let words = range(from: start)
    guard part == nil || part?.part == found || found == .tonight || part?.part == .tonight else {
      throw twice(words)
    }
    part = (found == .tonight || part == nil ? found : part?.part ?? found, words)
    if isThis || found == .tonight {
      let isToday = SpokenDate(candidates: [today], kind: .today, range: words)
      if let date, date.kind != .today { throw twice(words) }
      date = isToday
      if isThis, found == .night { part?.part = .tonight }
    }
    return true
  }

  /// Parses `evenings at 8` as every day, and `sunday evenings` as every Sunday.
  private mutating func pluralDayPart() throws(Fault) -> Bool {
    let start = index
    _ = take(.in, .the) || take(.in)
    guard recurrence == nil, part == nil, let (found, isPlural) = dayPart(), isPlural else {
      index = start
      return false
    }
    index += 1
    let words = range(from: start)
    switch date?.kind {
    case .weekday(let day): recurrence = (.weekdays(WeekdaySet(day)), words)
    case nil: recurrence = (.weekdays(.everyDay), words)
    default: throw twice(words)
    }
    date = nil
    part = (found, words)
    return true
  }

  /// Parses one time of day.
  ///
  /// - Parameter bare: Whether a number alone counts.
  mutating func clock(bare: Bool) -> Clock? {
    let start = index
    _ = word() == .the && word(1) == .end && take(.the)
    if take(.end, .of, .day) || take(.end, .of, .the, .day) || take(.close, .of, .business) {
      return Clock(time: context.words().endOfDay, isExact: true, range: range(from: start))
    }
    index = start
    if word(-1) == .at || word(1) == .time, take(.lunch) {
      _ = take(.time)
      return Clock(time: context.words().lunchtime, isExact: true, range: range(from: start))
    }
    if take(.tea, .time) { return Clock(time: context.words().teatime, isExact: true, range: range(from: start)) }
    if let named = namedTime() {
      index += 1
      return Clock(time: named.time(context.words), isExact: true, range: range(from: start))
    }
    if let clock = pastOrTo() { return clock }
    guard let first = token(), first.kind == .number else { return nil }
    if let clock = clockOfStamp() { return clock }
    guard first.value <= 2_359 else { return nil }
    index += 1
    if first.value == 12, let named = namedTime(), named == .noon || named == .midnight {
      index += 1
      return Clock(time: named.time(context.words), isExact: true, range: range(from: start))
    }
    var (hour, minute, second) = (first.value, 0, 0)
    var isExact = first.isDigits && bytes[first.range.lowerBound] == UInt8(ascii: "0")
    var isBare = true
    func digits(_ ahead: Int) -> Int? {
      guard let next = token(ahead), next.isDigits, next.isAdjacent, next.range.count == 2, next.value < 60 else {
        return nil
      }
      return next.value
    }
    func isJoined(_ ahead: Int) -> Bool { token(ahead)?.isAdjacent == true }
    if first.isDigits, isSign(":"), isJoined(0), let value = digits(1) {
      (minute, isBare) = (value, false)
      index += 2
      if isSign(":"), isJoined(0), let value = digits(1) {
        second = value
        index += 2
      } else if word() == .h, isJoined(0) {
        isExact = true
        index += 1
      }
    } else if first.isDigits, isJoined(0), word() == .h, bare || first.value > 12 {
      // "1h30" alone is a duration.
      (isBare, isExact) = (false, true)
      if let value = digits(1) {
        minute = value
        index += 2
      } else {
        index += 1
      }
    } else if first.isDigits, bare, isSign("."), isJoined(0), let value = digits(1), !(isSign(".", 2) && isJoined(2)) {
      (minute, isBare) = (value, false)
      index += 2
    } else if first.isDigits, first.range.count == 4 || first.range.count == 3,
      bare || word() == .am || word() == .pm
    {
      (hour, minute) = (first.value / 100, first.value % 100)
      isExact = isExact || first.range.count == 4
      isBare = false
      // "1700 hours"
      if first.range.count == 4 { _ = take(.hours) || take(.hrs) }
    } else if first.isDigits, first.range.count == 4, take(.hours) || take(.hrs) {
      (hour, minute, isExact, isBare) = (first.value / 100, first.value % 100, true, false)
    } else if !first.isDigits, (1...12).contains(hour), let count = token(), count.kind == .number, !count.isDigits,
      (10..<60).contains(count.value), !isUnitAhead(1)
    {
      // "seven thirty"
      (minute, isBare) = (count.value, false)
      index += 1
    }
    guard minute < 60, hour < 24, first.range.count <= 2 || !isBare || !first.isDigits else {
      index = start
      return nil
    }
    if take(.oclock) { isBare = false }
    let letter = isJoined(0) ? word() : .unknown
    if word() == .am || word() == .pm || letter == .p || letter == .a {
      guard (1...12).contains(hour) else {
        index = start
        return nil
      }
      hour = hour % 12 + (word() == .pm || word() == .p ? 12 : 0)
      (isBare, isExact) = (false, true)
      index += 1
      if isSign("."), isJoined(0), letter == .p || letter == .a { index += 1 }
    }
    if hour > 12 || hour == 0 { isExact = true }
    guard !isBare || bare && isAlone(), let time = CivilTime(hour: hour, minute: minute, second: second),
      !isTouched
    else {
      index = start
      return nil
    }
    return Clock(time: time, isExact: isExact, range: range(from: start))
  }

  /// Parses the `180000` of `20261224T180000`.
  private mutating func clockOfStamp() -> Clock? {
    guard let digits = token(), digits.isDigits, digits.isAdjacent, digits.range.count == 6, word(-1) == .t,
      let time = CivilTime(
        hour: digits.value / 10_000, minute: digits.value / 100 % 100, second: digits.value % 100),
      token(1)?.isAdjacent != true
    else { return nil }
    index += 1
    return Clock(time: time, isExact: true, range: digits.range)
  }

  private func isUnitAhead(_ ahead: Int) -> Bool {
    token(ahead)?.facts.isUnit == true
  }

  /// Returns whether the last number counts nothing: no unit, month or date continues it.
  private mutating func isAlone() -> Bool {
    guard let next = token() else { return true }
    switch next.kind {
    case .ordinal: return true
    case .number: return [.times, .time].contains(word(1)) || isDateHere()
    case .dots: return false
    case .sign(let sign): return sign == UInt8(ascii: ",") || sign == UInt8(ascii: "&")
    case .word:
      let isUnit =
        next.facts.isUnit || !next.facts.kinds.isDisjoint(with: .fortnights)
      if [.times, .time, .percent, .half].contains(next.facts.word) || isUnit { return isDateHere() }
      // "at 9 dec 24" is a time before a date; "at 24 dec 9:00" is a date.
      if next.month != nil {
        guard let day = token(1), day.kind == .number || day.kind == .ordinal, day.value <= 31 else { return false }
        return !isSign(":", 2) && word(2) != .am && word(2) != .pm
      }
      return true
    }
  }

  private mutating func isDateHere() -> Bool {
    let (start, date, delay) = (index, date, delay)
    defer { (index, self.date, self.delay) = (start, date, delay) }
    do {
      if try spokenDate() != nil { return true }
      index = start
      return try delayPart()
    } catch {
      return true
    }
  }

  /// Whether a time is followed, without a space, by something that does not belong to it: `9:00-5`, `9%`.
  private var isTouched: Bool {
    guard let next = token(), next.isAdjacent else { return false }
    return !next.isSign(",") && !next.isSign("-") && !next.isSign("&")
      && !(next.isSign(".") && token(1) == nil)
  }

  /// Parses `half past 8`, `quarter to 9` or `20 past 8`.
  private mutating func pastOrTo() -> Clock? {
    let start = index
    var minutes: Int
    if take(.half, .past) {
      minutes = 30
    } else {
      if word() == .a, word(1) == .quarter { index += 1 }
      if take(.quarter, .past) || take(.quarter, .after) {
        minutes = 15
      } else if take(.quarter, .to) || take(.quarter, .of) {
        minutes = -15
      } else if let count = token(), count.kind == .number, (1...29).contains(count.value),
        word(1) == .past || [.minutes, .min, .mins].contains(word(1)) && [.past, .to].contains(word(2))
      {
        let isTo = word(1) != .past && word(2) == .to
        minutes = isTo ? -count.value : count.value
        index += word(1) == .past ? 2 : 3
      } else if let count = token(), count.kind == .number, word(1) == .to, recurrence == nil,
        ![.from, .between].contains(word(-1)), (count.isDigits ? [20, 25] : [5, 10, 20, 25]).contains(count.value)
      {
        // "ten to nine"; "5 to 9" may be a range.
        minutes = -count.value
        index += 2
      } else if let count = token(), count.kind == .number, word(1) == .to, recurrence == nil,
        ![.from, .between].contains(word(-1)), (13...29).contains(count.value),
        word(2) == .noon || word(2) == .midnight
      {
        minutes = -count.value
        index += 2
      } else if let count = token(), count.kind == .number, word(1) == .after,
        (count.isDigits ? [20, 25] : [5, 10, 20, 25]).contains(count.value)
      {
        minutes = count.value
        index += 2
      } else {
        index = start
        return nil
      }
    }
    var isExact = false
    var hour: Int
    if let named = namedTime() {
      let time = named.time(context.words)
      hour = time.hour
      minutes += time.minute
      isExact = true
      index += 1
    } else if let number = token(), number.kind == .number, number.value <= 23 {
      hour = number.value
      isExact = hour > 12 || hour == 0
      index += 1
      if word() == .am || word() == .pm, (1...12).contains(hour) {
        hour = hour % 12 + (word() == .pm ? 12 : 0)
        isExact = true
        index += 1
      }
    } else {
      index = start
      return nil
    }
    let total = (hour * 60 + minutes + 1_440) % 1_440
    // A quarter to one is 00:45, not 12:45.
    return Clock(time: CivilTime(unchecked: Int32(total * 60)), isExact: isExact, range: range(from: start))
  }

  /// Returns the times of day, or the default for none, and whether midnight belongs to the next day.
  func daytimes() throws(Fault) -> (times: [CivilTime], isNextDay: Bool) {
    guard !times.isEmpty else { return ([part?.part.time(context.words()) ?? context.words().day], false) }
    var result: [CivilTime] = []
    var isNextDay = false
    for clock in times {
      guard let part else {
        result.append(clock.time)
        continue
      }
      let (time, isNext) = try resolved(clock, part.part, part.range)
      result.append(time)
      isNextDay = isNextDay || isNext
    }
    result.sort()
    var distinct: [CivilTime] = []
    for time in result where time != distinct.last { distinct.append(time) }
    return (distinct, isNextDay && recurrence == nil)
  }

  /// Resolves a time with a part of the day: `8 in the evening` is 20:00, `9am in the evening` is refused.
  private func resolved(
    _ clock: Clock, _ part: SpokenWords.DayPart, _ range: Range<Int>
  ) throws(Fault) -> (CivilTime, Bool) {
    let hour = clock.time.hour
    let isNight = part == .night || part == .tonight
    if isNight, clock.isExact, hour == 0 { return (clock.time, true) }
    if clock.isExact {
      let fits =
        switch part {
        case .morning: hour < 12
        case .afternoon: hour >= 12 && hour < 19
        case .evening: hour >= 16
        case .night: hour >= 18 || hour < 6 && recurrence != nil
        case .tonight: hour >= 17
        }
      if fits { return (clock.time, false) }
    } else {
      // "A quarter to one" is before one on a dial, and "half past twelve" after twelve: both have the hour 0 there.
      let dial = clock.time.secondOfDay % 43_200
      let (beforeNoon, afterNoon) = (CivilTime(unchecked: dial), CivilTime(unchecked: dial + 43_200))
      switch (part, dial / 3_600) {
      case (.morning, 1...11),
        (.night, 1...4) where recurrence != nil:
        return (beforeNoon, false)
      // "12 in the morning" may be noon or midnight.
      case (.morning, 0) where dial > 0: return (beforeNoon, false)
      case (.afternoon, 0...6), (.evening, 4...11), (.night, 5...11), (.tonight, 5...11): return (afterNoon, false)
      case (.night, 0), (.tonight, 0): return (beforeNoon, true)
      default: break
      }
    }
    throw senseless(
      clock.range, "\(quoted(clock.range)) cannot be used with \(quoted(range))",
      expected: "one of the two, or a time of a 24-hour clock like 20:30")
  }
}
