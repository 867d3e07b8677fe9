extension RecurrenceRule {
  /// Compiles a rule. If it ends at an instant (`UNTIL` in UTC on a clock of another zone), the caller applies that end.
  ///
  /// - Parameters:
  ///   - start: `DTSTART` in wall seconds. Its fields replace those that the rule omits.
  ///   - budget: The budget for counting off `COUNT` occurrences.
  init(_ pattern: RecurrencePattern, start: Int64, _ budget: inout SearchBudget) {
    let (startDay, startSecond) = dividedDown(start, by: 86_400)
    let startMonth = Month(holding: startDay)
    let startMonthDay = UInt32(1) << UInt32(startDay - startMonth.first)
    let startWeekday = UInt8(1) << UInt8(weekdayIndex(startDay))
    frequency = pattern.frequency
    interval = pattern.interval
    weekStart = Int64(pattern.weekStart)
    positions = RecurrencePositions(pattern.positions)
    first = start
    if let until = pattern.until, until.form != .utc {
      last = min(last, until.form == .date ? until.wall + 86_399 : until.wall)
    }

    days.months = pattern.months == 0 ? 0x1FFE : pattern.months
    days.monthDays = pattern.monthDays
    days.monthDaysFromEnd = pattern.monthDaysFromEnd.mirrored
    if pattern.hasWeekdays { days.weekdays = pattern.weekdays }
    weeks = pattern.weeks
    weeksFromEnd = pattern.weeksFromEnd.mirrored
    let namesNoDay = !pattern.hasWeekdays && !pattern.hasMonthDays && pattern.yearDays.isEmpty
    switch frequency {
    case .yearly where hasWeeks:
      if namesNoDay { days.weekdays = startWeekday }
    case .yearly where namesNoDay:
      days.monthDays = startMonthDay
      if pattern.months == 0 { days.months = 1 << UInt32(startMonth.month) }
    case .monthly where namesNoDay: days.monthDays = startMonthDay
    case .weekly where namesNoDay: days.weekdays = startWeekday
    default: break
    }
    countWithin(pattern)
    daysOfWeek = Self.turned(days.weekdays, by: pattern.weekStart)

    setTimes(pattern, start: startSecond)
    setSkip(pattern)

    switch frequency {
    case .secondly, .minutely, .hourly: origin = dividedDown(start, by: unit).quotient
    case .daily: origin = startDay
    case .weekly: origin = week(startDay).number
    case .monthly: origin = startMonth.index
    // The interval counts from the start's calendar year, even if the start's week belongs to another year.
    case .yearly: origin = Int64(hasWeeks && interval == 1 ? weekYear(startDay) : startMonth.year)
    }
    shape = shape(pattern)
    if shape != .never, let count = pattern.count { end(after: count, &budget) }
  }

  /// Applies numbered weekdays within the month or year, and days of the year.
  private mutating func countWithin(_ pattern: RecurrencePattern) {
    let isInMonth = frequency == .monthly || pattern.months != 0
    if isInMonth {
      for ordinal in pattern.ordinals {
        let byte = UInt64(8 * (abs(Int(ordinal.ordinal)) - 1))
        guard byte < 40 else { continue }
        let bit = UInt64(1) << (byte + UInt64(ordinal.weekday))
        if ordinal.ordinal > 0 { days.nth |= bit } else { days.nthFromEnd |= bit }
      }
      if !pattern.ordinals.isEmpty, days.nth | days.nthFromEnd == 0 { days.nth = 1 << 63 }
    } else if !pattern.ordinals.isEmpty {
      days.keepDaysOfYear { length, newYear, take in
        for ordinal in pattern.ordinals {
          let weekday = Int(ordinal.weekday)
          let number = Int(ordinal.ordinal)
          if number > 0 {
            take((weekday - newYear + 7) % 7 + 7 * (number - 1))
          } else {
            let lastWeekday = (newYear + length - 1) % 7
            take(length - 1 - (lastWeekday - weekday + 7) % 7 + 7 * (number + 1))
          }
        }
        guard pattern.weekdays != 0 else { return }
        for place in 0..<length where pattern.weekdays >> UInt8((newYear + place) % 7) & 1 != 0 { take(place) }
      }
      days.weekdays = 0x7F
    }
    guard !pattern.yearDays.isEmpty else { return }
    days.keepDaysOfYear { length, _, take in
      for day in pattern.yearDays { take(day > 0 ? Int(day) - 1 : length + Int(day)) }
    }
  }

  /// Prepares `SKIP`, which affects rules that can name a day missing from a month or a year.
  private mutating func setSkip(_ pattern: RecurrencePattern) {
    guard pattern.skip != .omit, frequency >= .monthly, !hasWeeks else { return }
    if pattern.yearDays.isEmpty {
      movesMonthDays = (pattern.monthDaysFromEnd | days.monthDays) >> 28 != 0
    } else if !pattern.hasMonthDays {
      movesLastDay = pattern.yearDays.contains(366)
      movesFirstDay = pattern.yearDays.contains(-366)
    }
    guard movesMonthDays || movesLastDay || movesFirstDay else { return }
    skip = pattern.skip
    var weekdaysAlone = pattern
    weekdaysAlone.yearDays = []
    let all = days
    days = RecurrenceDays()
    if pattern.hasWeekdays { days.weekdays = pattern.weekdays }
    countWithin(weekdaysAlone)
    daysAfterSkip = days
    days = all
  }

  private mutating func setTimes(_ pattern: RecurrencePattern, start: Int64) {
    func given(_ mask: UInt64, else value: Int64) -> UInt64 { mask != 0 ? mask : 1 << UInt64(value) }
    let hours = given(pattern.hours, else: start / 3_600)
    let minutes = given(pattern.minutes, else: start / 60 % 60)
    let seconds = given(pattern.seconds, else: start % 60)
    switch frequency {
    case .hourly: times = RecurrenceTimes(hours: 1, minutes: minutes, seconds: seconds)
    case .minutely: times = RecurrenceTimes(hours: 1, minutes: 1, seconds: seconds)
    case .secondly: times = RecurrenceTimes(hours: 1, minutes: 1, seconds: 1)
    default: times = RecurrenceTimes(hours: hours, minutes: minutes, seconds: seconds)
    }
    if pattern.hours != 0 { hourLimit = pattern.hours }
    if pattern.minutes != 0 { minuteLimit = pattern.minutes }
    if pattern.seconds != 0 { secondLimit = pattern.seconds }
    firstTime = times.first
  }

  /// Returns how to find slots, or that there are none.
  private mutating func shape(_ pattern: RecurrencePattern) -> Shape {
    switch frequency {
    case .secondly, .minutely, .hourly:
      return meetsClockLimits && nextTime(after: -1) != nil ? .clock : .never
    case .daily:
      guard let time = nextTime(after: -1) else { return .never }
      firstTime = time
      // Every n whole weeks means always the weekday of the start.
      let (startDay, _) = dividedDown(first, by: 86_400)
      guard interval % 7 != 0 || days.weekdays >> UInt8(weekdayIndex(startDay)) & 1 != 0 else { return .never }
      return days.isEveryDay ? .days : .months
    case .weekly:
      guard !positions.isEmpty else { return .weeks }
      return positions.smallestSet <= Int64(daysOfWeek.nonzeroBitCount) * times.count ? .sets : .never
    case .monthly, .yearly:
      guard positions.isEmpty else {
        return positions.smallestSet <= (frequency == .monthly ? 32 : 373) * times.count ? .sets : .never
      }
      return hasWeeks || skip != .omit ? .sets : .months
    }
  }

  /// Rotates weekdays from Monday so that bit 0 is the first day of the week.
  private static func turned(_ weekdays: UInt8, by start: UInt8) -> UInt8 {
    let doubled = UInt16(weekdays) | UInt16(weekdays) << 7
    return UInt8(truncatingIfNeeded: doubled >> UInt16(start)) & 0x7F
  }

  // MARK: COUNT

  /// Ends the rule with its `count`-th slot from the start on.
  private mutating func end(after count: Int64, _ budget: inout SearchBudget) {
    let slot = slot(number: count, &budget)
    if budget.isSpent {
      isUncountable = true
      shape = .never
    } else if let slot {
      last = min(last, slot)
    }
  }

  /// Returns the slot with a number, from 1; `nil` if there are fewer up to the end of the range.
  private func slot(number: Int64, _ budget: inout SearchBudget) -> Int64? {
    switch shape {
    case .days where positions.isEmpty: return slot(number: number, unit: 86_400)
    case .clock where days.isEveryDay && hourLimit & minuteLimit & secondLimit == ~0 && positions.isEmpty:
      return slot(number: number, unit: unit)
    case .weeks where days.months == 0x1FFE: return slotInWeeks(number: number)
    case .months where positions.isEmpty: return slotInMonths(number: number, &budget)
    case .sets where skip == .omit || positions.isEmpty: return slotInSets(number: number, &budget)
    default:
      var slot = first - 1
      for _ in 0..<number {
        guard budget.spend(), let next = next(after: slot, &budget) else { return nil }
        slot = next
      }
      return slot
    }
  }

  /// Returns the slot with a number, if all periods have the same length and content.
  private func slot(number: Int64, unit: Int64) -> Int64? {
    let place = times.rank(through: first - origin * unit - 1) + number - 1
    let distance = place / times.count * interval
    guard distance <= Self.longestRange / unit else { return nil }
    return (origin + distance) * unit + times[place % times.count]
  }

  private func slotInWeeks(number: Int64) -> Int64? {
    let (day, second) = dividedDown(first, by: 86_400)
    let today = UInt8(truncatingIfNeeded: week(day).place)
    var place = Int64((daysOfWeek & ~(~0 << today)).nonzeroBitCount) * times.count + number - 1
    if daysOfWeek >> today & 1 != 0 { place += times.rank(through: second - 1) }
    let (weeks, dayInWeek) = (place / times.count).quotientAndRemainder(
      dividingBy: Int64(daysOfWeek.nonzeroBitCount))
    guard weeks * interval <= Self.longestRange / 604_800 else { return nil }
    let weekday = Int64(UInt64(daysOfWeek).positionOfBit(Int(dayInWeek)))
    return (firstDay(ofWeek: origin + weeks * interval) + weekday) * 86_400 + times[place % times.count]
  }

  /// Returns the slot with a number. It counts whole months by their days.
  private func slotInMonths(number: Int64, _ budget: inout SearchBudget) -> Int64? {
    let (start, second) = dividedDown(first, by: 86_400)
    var day = start
    var place = number - 1
    while let found = nextInMonths(onOrAfter: day, &budget), budget.spend() {
      if found == start { place += times.rank(through: second - 1) }
      let month = Month(holding: found)
      let mask = UInt64(mask(month) & (~0 << UInt32(found - month.first)))
      let held = Int64(mask.nonzeroBitCount) * times.count
      if place < held {
        let dayInMonth = Int64(mask.positionOfBit(Int(place / times.count)))
        return (month.first + dayInMonth) * 86_400 + times[place % times.count]
      }
      place -= held
      day = month.first + Int64(month.length)
    }
    return nil
  }

  /// Seconds from the start of year 1 to the end of 9999.
  private static let longestRange: Int64 = 315_537_897_600
}

extension FixedWidthInteger {
  /// The bits in reverse order.
  fileprivate var mirrored: Self {
    var result: Self = 0
    var rest = self
    while rest != 0 {
      result |= 1 << Self(Self.bitWidth - 1 - rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    return result
  }
}

extension RecurrencePattern.Frequency: Comparable {
  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
