/// A RecurrencePeriod is the set of days of one period.
struct RecurrencePeriod {
  /// The day of bit 0.
  var base: Int64
  /// Up to 384 days.
  var words: InlineArray<6, UInt64> = .init(repeating: 0)
  /// How many words may be nonzero.
  var length = 1

  init(base: Int64) { self.base = base }

  /// Adds up to 64 days from a position on.
  @inline(__always)
  mutating func insert(_ bits: UInt64, at place: Int) {
    let (word, shift) = (place >> 6, UInt64(place & 63))
    guard word >= 0, word < 6 else { return }
    words[word] |= bits << shift
    if shift > 0, word < 5 { words[word + 1] |= bits >> (64 - shift) }
    length = max(length, min(word + 2, 6))
  }

  var count: Int64 {
    var count = 0
    for word in 0..<length { count += words[word].nonzeroBitCount }
    return Int64(count)
  }

  /// Returns how many days lie before a position, and whether the position itself is one.
  func rank(of place: Int64) -> (before: Int64, isMember: Bool) {
    guard place >= 0 else { return (0, false) }
    var count = 0
    for word in 0..<length {
      if place < Int64(word + 1) * 64 {
        let bit = UInt64(place - Int64(word) * 64)
        count += (words[word] & ~(~0 << bit)).nonzeroBitCount
        return (Int64(count), words[word] >> bit & 1 != 0)
      }
      count += words[word].nonzeroBitCount
    }
    return (Int64(count), false)
  }

  /// Returns the day with `rank` days before it, which must exist.
  func day(_ rank: Int64) -> Int64 {
    var rest = Int(rank)
    for word in 0..<length {
      let count = words[word].nonzeroBitCount
      if rest < count { return base + Int64(word * 64 + words[word].positionOfBit(rest)) }
      rest -= count
    }
    return base
  }
}

extension RecurrenceRule {
  /// Returns the next slot of a rule that must expand a whole period before any slot is known.
  func nextInSets(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let day = dividedDown(wall + 1, by: 86_400).quotient
    var number = period(holding: day)
    // With `SKIP`, a missing day moves to the previous or next month.
    if skip != .omit { number -= 1 }
    number = nextPeriod(onOrAfter: max(number, origin))
    var best: Int64?
    for _ in 0..<Self.periodsInCycle(frequency) {
      guard firstDay(ofPeriod: number) * 86_400 <= last + 7 * 86_400 else { break }
      let slot = slot(inPeriod: number, after: wall)
      if let best { return min(best, slot ?? best) }
      if let slot {
        if skip == .omit { return slot }
        best = slot
      }
      guard budget.spend(stepsForPeriod) else { return nil }
      number += interval
    }
    return best
  }

  /// Returns the first slot of one period after a reading.
  private func slot(inPeriod number: Int64, after wall: Int64) -> Int64? {
    let days = days(ofPeriod: number)
    let count = days.count * times.count
    guard count > 0 else { return nil }
    var place = self.place(in: days, after: wall)
    if positions.isEmpty {
      guard place < count else { return nil }
    } else {
      guard let chosen = positions.next(from: place, count: count) else { return nil }
      place = chosen
    }
    return slot(place, of: days)
  }

  /// Returns how many slots of a period lie up to and including a reading.
  private func place(in days: RecurrencePeriod, after wall: Int64) -> Int64 {
    let (day, second) = dividedDown(wall, by: 86_400)
    let (before, isMember) = days.rank(of: day - days.base)
    return before * times.count + (isMember ? times.rank(through: second) : 0)
  }

  private func slot(_ place: Int64, of days: RecurrencePeriod) -> Int64 {
    days.day(place / times.count) * 86_400 + times[place % times.count]
  }

  /// Returns the slot with a number, from 1. It counts whole periods at once. If `SKIP` makes adjacent periods name the
  /// same day, the earlier one counts. (That requires equal times on both, so no `BYSETPOS`.)
  func slotInSets(number: Int64, _ budget: inout SearchBudget) -> Int64? {
    var rest = number
    var after = first - 1
    var period = origin
    var fruitless = 0
    while firstDay(ofPeriod: period) * 86_400 <= last + 7 * 86_400, fruitless <= Self.periodsInCycle(frequency) {
      let days = days(ofPeriod: period)
      let count = days.count * times.count
      var place = count == 0 ? 0 : self.place(in: days, after: after)
      fruitless += 1
      if positions.isEmpty {
        if place < count {
          if rest <= count - place { return slot(place + rest - 1, of: days) }
          rest -= count - place
          after = slot(count - 1, of: days)
          fruitless = 0
        }
      } else {
        while count > 0, let chosen = positions.next(from: place, count: count) {
          rest -= 1
          if rest == 0 { return slot(chosen, of: days) }
          place = chosen + 1
          fruitless = 0
          guard budget.spend() else { return nil }
        }
      }
      guard budget.spend(stepsForPeriod) else { return nil }
      period += interval
    }
    return nil
  }

  /// The cost of expanding one period, in search steps.
  private var stepsForPeriod: Int {
    switch frequency {
    case .yearly: hasWeeks ? 18 : 12
    case .monthly: 2
    default: days.months == 0x1FFE ? 1 : 7
    }
  }

  /// Returns the number of periods in 400 years, after which the calendar repeats.
  private static func periodsInCycle(_ frequency: RecurrencePattern.Frequency) -> Int {
    frequency == .yearly ? 402 : frequency == .monthly ? 4_802 : 20_872
  }

  // MARK: Periods

  private func period(holding day: Int64) -> Int64 {
    switch frequency {
    case .weekly: week(day).number
    case .monthly: Month(holding: day).index
    default: Int64(hasWeeks ? weekYear(day) : Month(holding: day).year)
    }
  }

  private func firstDay(ofPeriod number: Int64) -> Int64 {
    switch frequency {
    case .weekly: firstDay(ofWeek: number)
    case .monthly: Month(year: Int(min(number / 12, 19_999)), month: Int(number % 12) + 1).first
    default: Int64(CivilDate.dayNumber(year: Int(min(number, 19_999)), month: 1, day: 1))
    }
  }

  private func days(ofPeriod number: Int64) -> RecurrencePeriod {
    switch frequency {
    case .weekly:
      var period = RecurrencePeriod(base: firstDay(ofWeek: number))
      var bits = UInt64(daysOfWeek)
      if days.months != 0x1FFE {
        for place in 0..<7 where days.months >> UInt32(Month(holding: period.base + Int64(place)).month) & 1 == 0 {
          bits &= ~(1 << UInt64(place))
        }
      }
      period.words[0] = bits
      return period
    case .monthly:
      let month = Month(year: Int(number / 12), month: Int(number % 12) + 1)
      var period = RecurrencePeriod(base: month.first - 1)
      period.words[0] = bits(month)
      return period
    default:
      return hasWeeks ? daysOfWeeks(year: Int(number)) : daysOfYear(Int(number))
    }
  }

  private func daysOfYear(_ year: Int) -> RecurrencePeriod {
    var period = RecurrencePeriod(base: Month(year: year, month: 1).first - 1)
    var months = days.months
    while months != 0 {
      let month = Month(year: year, month: months.trailingZeroBitCount)
      months &= months - 1
      period.insert(bits(month), at: Int(month.first - 1 - period.base))
    }
    return period
  }

  /// Returns the days of a month after `SKIP`. Bit 0 is the day before the first, so that moved days outside the month
  /// have a position.
  private func bits(_ month: Month) -> UInt64 {
    guard days.months >> UInt32(month.month) & 1 != 0 else { return 0 }
    var bits = UInt64(days.mask(month)) << 1
    guard skip != .omit else { return bits }
    let end = UInt64(month.length)
    // Days after the end of the month, and days counted from its end that fall before its start.
    let isCommonYear = !CivilDate.isLeap(month.year)
    if movesMonthDays && days.monthDays >> month.length != 0 || movesLastDay && month.month == 12 && isCommonYear {
      bits |= kept(skip == .forward ? end + 1 : end, month)
    }
    if movesMonthDays && days.monthDaysFromEnd << month.length != 0
      || movesFirstDay && month.month == 1 && isCommonYear
    {
      bits |= kept(skip == .forward ? 1 : 0, month)
    }
    return bits
  }

  /// Returns the bit of a day that replaces a missing one, unless `BYDAY`, which applies after `SKIP`, excludes it.
  private func kept(_ place: UInt64, _ month: Month) -> UInt64 {
    daysAfterSkip.contains(month.first + Int64(place) - 1) ? 1 << place : 0
  }

  // MARK: Weeks of the year

  var hasWeeks: Bool { weeks != 0 || weeksFromEnd != 0 }

  /// Returns the first day of week 1: the week that contains 4 January, so at least four days of the year.
  func firstWeek(_ year: Int) -> Int64 {
    let fourth = Int64(CivilDate.dayNumber(year: year, month: 1, day: 4))
    return fourth - week(fourth).place
  }

  /// Returns the year of a day's week. It can differ from the day's year around New Year's Day.
  func weekYear(_ day: Int64) -> Int {
    // The fourth day of a week always lies in its year.
    Month(holding: firstDay(ofWeek: week(day).number) + 3).year
  }

  private func daysOfWeeks(year: Int) -> RecurrencePeriod {
    let start = firstWeek(year)
    let count = UInt64((firstWeek(year + 1) - start) / 7)
    var period = RecurrencePeriod(base: start)
    var chosen = (weeks | weeksFromEnd >> (64 - count)) & ~(~0 << count)
    while chosen != 0 {
      let week = chosen.trailingZeroBitCount
      chosen &= chosen - 1
      period.insert(UInt64(daysOfWeek), at: week * 7)
    }
    if days.keepsToWeekdays { return period }
    var left = RecurrencePeriod(base: start)
    var month = Month(holding: start)
    while month.first < start + Int64(count) * 7 {
      let place = Int(month.first - start)
      let bits = UInt64(days.mask(month))
      left.insert(place < 0 ? bits >> UInt64(-place) : bits, at: max(place, 0))
      month =
        month.month == 12 ? Month(year: month.year + 1, month: 1) : Month(year: month.year, month: month.month + 1)
    }
    for word in 0..<period.length { period.words[word] &= left.words[word] }
    return period
  }
}

extension Month {
  /// The month counted from January of year 0.
  var index: Int64 { Int64(year * 12 + month - 1) }
}
