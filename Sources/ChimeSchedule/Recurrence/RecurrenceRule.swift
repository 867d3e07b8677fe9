/// A RecurrenceRule is one compiled recurrence rule with its start. Its slots are wall-clock times.
///
/// A rule has periods (days, weeks, months, … by its frequency). Every `interval`-th counts, beginning with the one that
/// contains the start. Division gives the period at or after a reading, so the cost does not depend on the age of the rule.
///
/// Source: RFC 5545 section 3.3.10.
struct RecurrenceRule: WallSlots {
  /// A Shape says how to find the next slot.
  enum Shape: UInt8, Sendable, Hashable {
    /// Every `interval` days.
    case days
    /// On days of every `interval`-th week.
    case weeks
    /// On days of months, visited one by one: days with limits, months, years.
    case months
    /// From the expanded set of each period: `BYSETPOS`, `BYWEEKNO`, `SKIP`.
    case sets
    /// By hours, minutes or seconds.
    case clock
    /// No slots at all.
    case never
  }

  var shape: Shape = .never
  var frequency: RecurrencePattern.Frequency = .daily
  var skip: RecurrencePattern.Skip = .omit
  /// What `SKIP` must move: days of the month past 28, day 366 of the year, and day −366.
  var movesMonthDays = false
  var movesLastDay = false
  var movesFirstDay = false
  /// 0 is Monday.
  var weekStart: Int64 = 0
  var interval: Int64 = 1
  /// The number of the period that contains the start, in the unit of the frequency.
  var origin: Int64 = 0
  var days = RecurrenceDays()
  /// The limits of `BYDAY` alone, for days that `SKIP` moves.
  var daysAfterSkip = RecurrenceDays()
  /// The times of a day. For rules by hours, minutes or seconds, those within one such period.
  var times = RecurrenceTimes(hours: 1, minutes: 1, seconds: 1)
  /// The first time that counts: the first of all, unless `BYSETPOS` selects among the times of a day.
  var firstTime: Int64 = 0
  var positions = RecurrencePositions([])
  /// The days of the week; bit 0 is the first day of the week.
  var daysOfWeek: UInt8 = 0x7F
  /// Weeks of the year for `BYWEEKNO`: bit 0 is week 1; in those from the end, bit 63 is the last.
  var weeks: UInt64 = 0
  var weeksFromEnd: UInt64 = 0
  /// The hours, minutes and seconds to which a rule by smaller units is limited.
  var hourLimit: UInt64 = ~0
  var minuteLimit: UInt64 = ~0
  var secondLimit: UInt64 = ~0
  /// The range of slots: `first` is the start.
  var first: Int64 = 0
  var last: Int64 = Self.endOfRange
  /// Whether counting off the occurrences exceeded its budget; the rule then has none.
  var isUncountable = false

  /// 9999-12-31 23:59:59
  static let endOfRange: Int64 = 253_402_300_799

  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let wall = max(wall, first - 1)
    guard wall < last, let slot = slot(after: wall, &budget), slot <= last else { return nil }
    return slot
  }

  @inline(__always)
  private func slot(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    switch shape {
    case .clock: return nextOnClock(after: wall, &budget)
    case .sets: return nextInSets(after: wall, &budget)
    case .never: return nil
    case .days, .weeks, .months:
      let (today, second) = dividedDown(wall, by: 86_400)
      guard let day = nextDay(onOrAfter: today, &budget) else { return nil }
      if day > today { return day * 86_400 + firstTime }
      if let time = nextTime(after: second) { return today * 86_400 + time }
      guard let later = nextDay(onOrAfter: today + 1, &budget) else { return nil }
      return later * 86_400 + firstTime
    }
  }

  /// Returns the first time of a day that counts after a second of the day.
  @inline(__always)
  func nextTime(after second: Int64) -> Int64? {
    if positions.isEmpty { return times.next(after: second) }
    guard let place = positions.next(from: times.rank(through: second), count: times.count) else { return nil }
    return times[place]
  }

  /// Returns the first day of the rule on or after `day`, which is not before the start's.
  @inline(__always)
  private func nextDay(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    switch shape {
    case .days: nextPeriod(onOrAfter: day)
    case .weeks: nextInWeeks(onOrAfter: day, &budget)
    default: nextInMonths(onOrAfter: day, &budget)
    }
  }

  /// Returns the first period of the interval at or after a period.
  @inline(__always)
  func nextPeriod(onOrAfter period: Int64) -> Int64 {
    guard interval > 1 else { return period }
    let rest = (period - origin) % interval
    return rest == 0 ? period : period + (rest < 0 ? -rest : interval - rest)
  }

  // MARK: Weeks

  /// Returns the number of the week that contains a day, and the day's position in it.
  @inline(__always)
  func week(_ day: Int64) -> (number: Int64, place: Int64) {
    let (number, place) = dividedDown(day + 3 - weekStart, by: 7)
    return (number, place)
  }

  /// Returns the first day of a week.
  @inline(__always)
  func firstDay(ofWeek number: Int64) -> Int64 { number * 7 - 3 + weekStart }

  private func nextInWeeks(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    var day = day
    // With limits on months a week may be empty. Weeks and months align again after 400 years.
    for _ in 0...Self.weeksInCycle {
      let (number, place) = week(day)
      let active = nextPeriod(onOrAfter: number)
      var ahead = daysOfWeek
      if active == number { ahead &= 0x7F << UInt8(truncatingIfNeeded: place) }
      if ahead == 0 {
        day = firstDay(ofWeek: nextPeriod(onOrAfter: number + 1)) + Int64(daysOfWeek.trailingZeroBitCount)
      } else {
        day = firstDay(ofWeek: active) + Int64(ahead.trailingZeroBitCount)
      }
      if days.months == 0x1FFE { return day }
      guard day <= Self.endOfRange / 86_400 else { return nil }
      let month = Month(holding: day)
      if days.months >> UInt32(month.month) & 1 != 0 { return day }
      guard budget.spend(), let later = firstDay(ofMonthAfter: month) else { return nil }
      day = later
    }
    return nil
  }

  /// Returns the first day of the next month that `BYMONTH` allows.
  private func firstDay(ofMonthAfter month: Month) -> Int64? {
    let later = days.months & (~0 << UInt32(month.month + 1)) & 0x1FFE
    let year = later == 0 ? month.year + 1 : month.year
    guard year <= 9_999 else { return nil }
    return Month(year: year, month: (later == 0 ? days.months : later).trailingZeroBitCount).first
  }

  // MARK: Months

  /// Returns the first matching day on or after `day`, within the months, years or days of the interval.
  func nextInMonths(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    let isGrid = frequency == .daily && interval > 1
    // If the grid has at most one day in a month, its days are fewer than the months.
    if isGrid, interval > 31 { return nextOfGrid(onOrAfter: day, &budget) }
    let fields = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    var cursor = MonthCursor(self, year: fields.year, month: fields.month)
    var from: UInt32 = cursor.isMoved ? ~0 : ~0 << UInt32(fields.day - 1)
    for _ in 0..<(isGrid ? Self.monthsInRange : Self.monthsInCycle) {
      guard cursor.year <= 9_999 else { return nil }
      if days.months >> UInt32(cursor.month) & 1 != 0 {
        let month = Month(year: cursor.year, month: cursor.month)
        let mask = mask(month) & from
        if mask != 0 { return month.first + Int64(mask.trailingZeroBitCount) }
      }
      guard budget.spend() else { return nil }
      cursor.advance(self)
      from = ~0
    }
    return nil
  }

  /// Returns the first matching day on or after `day` of a grid of days.
  private func nextOfGrid(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    var day = nextPeriod(onOrAfter: day)
    while day <= Self.endOfRange / 86_400 {
      let month = Month(holding: day)
      if days.mask(month) >> UInt32(day - month.first) & 1 != 0 { return day }
      guard budget.spend() else { return nil }
      if days.months >> UInt32(month.month) & 1 != 0 {
        day += interval
      } else {
        guard let later = firstDay(ofMonthAfter: month) else { return nil }
        day = nextPeriod(onOrAfter: later)
      }
    }
    return nil
  }

  /// Returns the matching days of a month within periods of the interval.
  @inline(__always)
  func mask(_ month: Month) -> UInt32 {
    let mask = days.mask(month)
    guard frequency == .daily, interval > 1 else { return mask }
    // One bit for each day of the grid.
    var offset = nextPeriod(onOrAfter: month.first) - month.first
    var counted: UInt32 = 0
    while offset < 31 {
      counted |= 1 << UInt32(offset)
      offset += interval
    }
    return mask & counted
  }

  /// The most months and weeks that a search visits. Periods of months or years repeat within 400 years. A grid of days
  /// takes longer, so its search goes to the end of the range.
  private static let monthsInCycle = 12 * 401
  private static let monthsInRange = 12 * 10_000
  private static let weeksInCycle = 20_871
}

/// A MonthCursor steps through the months that may contain a day.
struct MonthCursor {
  var year: Int
  var month: Int
  /// Whether the first month is later than the requested one.
  let isMoved: Bool

  @inline(__always)
  init(_ rule: RecurrenceRule, year: Int, month: Int) {
    self.year = year
    self.month = month
    switch rule.frequency {
    case .monthly:
      let asked = Int64(year * 12 + month - 1)
      let index = rule.nextPeriod(onOrAfter: asked)
      self.year = Int(index / 12)
      self.month = Int(index % 12) + 1
      isMoved = index != asked
    case .yearly:
      let next = rule.nextPeriod(onOrAfter: Int64(year))
      isMoved = next != Int64(year)
      if isMoved {
        self.year = Int(next)
        self.month = rule.days.months.trailingZeroBitCount
      }
    default: isMoved = false
    }
  }

  @inline(__always)
  mutating func advance(_ rule: RecurrenceRule) {
    if rule.frequency == .monthly {
      let index = Int64(year * 12 + month - 1) + rule.interval
      year = Int(index / 12)
      month = Int(index % 12) + 1
      return
    }
    let later = rule.days.months & (~0 << UInt32(month + 1)) & 0x1FFE
    if later != 0 {
      month = later.trailingZeroBitCount
    } else {
      month = rule.days.months.trailingZeroBitCount
      year += rule.frequency == .yearly ? Int(rule.interval) : 1
    }
  }
}
