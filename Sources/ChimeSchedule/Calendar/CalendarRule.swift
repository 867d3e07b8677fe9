/// A CalendarRule is a compiled calendar expression: one set of values for each field of the wall clock.
///
/// The search for the next slot tests the current day, then goes through the months of the set. Each month is one
/// intersection of bit masks, so the longest search (29 February on one weekday) examines a few dozen months.
struct CalendarRule: WallSlots {
  /// Bits 1…12; only months that have one of the days.
  private var months: UInt16
  /// Bits 1…31. If days count from the end of the month, day n is bit 32 − n.
  private var days: UInt32
  private var daysAreFromEnd: Bool
  private var weekdays: WeekdaySet
  /// Bits 0…23.
  private var hours: UInt32
  /// Bits 0…59.
  private var minutes: UInt64
  private var seconds: UInt64
  /// The first slot of each day, in seconds.
  private var firstTime: Int64
  /// Bit n of word k stands for year 1970 + 64k + n; empty for every year.
  private var years: ContiguousArray<UInt64>
  /// The label that the clock must show, in upper case, if the expression names one of the zone's own: `CEST`.
  var label: String?

  private static let firstYear = 1970
  private static let lastYear = 9999

  init(_ expression: CalendarExpression, label: String? = nil) {
    self.label = label
    weekdays = expression.weekdays
    hours = UInt32(truncatingIfNeeded: CalendarRule.set(expression.hours, 0...23))
    minutes = CalendarRule.set(expression.minutes, 0...59)
    seconds = CalendarRule.secondSet(expression.seconds)
    daysAreFromEnd = expression.daysAreFromEnd
    var days: UInt64 = 0
    if daysAreFromEnd {
      for component in expression.days {
        let last = component.stop ?? (component.step > 0 ? 1 : component.start)
        let step = last < component.start ? -component.step : max(component.step, 1)
        for day in stride(from: component.start, through: last, by: step) { days |= 1 << UInt64(32 - day) }
      }
    } else {
      days = CalendarRule.set(expression.days, 1...31)
    }
    self.days = UInt32(truncatingIfNeeded: days)
    months = UInt16(truncatingIfNeeded: CalendarRule.set(expression.months, 1...12))
    years = CalendarRule.yearSet(expression.years)
    firstTime =
      Int64(hours.trailingZeroBitCount * 3_600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
    for month in 1...12 where daysOfMonth(length: CivilDate.daysIn(month: month, year: 2000)) == 0 {
      months &= ~(1 << UInt16(month))
    }
  }

  /// Returns the values of a list as bits; all values of the field for the empty list.
  private static func set(_ components: [CalendarComponent], _ bounds: ClosedRange<Int>) -> UInt64 {
    var bits: UInt64 = 0
    for component in components.isEmpty ? [CalendarComponent(bounds.lowerBound, step: 1)] : components {
      let last = component.stop ?? (component.step > 0 ? bounds.upperBound : component.start)
      for value in stride(from: component.start, through: last, by: max(component.step, 1)) {
        bits |= 1 << UInt64(value)
      }
    }
    return bits
  }

  /// Returns the whole seconds that contain a value of the list.
  private static func secondSet(_ components: [CalendarComponent]) -> UInt64 {
    let second = CalendarField.microseconds
    var bits: UInt64 = 0
    for component in components {
      let last =
        component.stop ?? (component.step > 0 ? CalendarField.second.bounds.upperBound : component.start)
      // Steps of less than a second skip no second, and there may be millions of them.
      var step = component.step
      var end = last
      if step < second {
        end = component.step > 0 ? last - (last - component.start) % component.step : component.start
        step = second
        bits |= 1 << UInt64(end / second)
      }
      for value in stride(from: component.start, through: end, by: step) { bits |= 1 << UInt64(value / second) }
    }
    return bits
  }

  private static func yearSet(_ components: [CalendarComponent]) -> ContiguousArray<UInt64> {
    guard !components.isEmpty else { return [] }
    var words = ContiguousArray<UInt64>(repeating: 0, count: (lastYear - firstYear) / 64 + 1)
    for component in components {
      let last = component.stop ?? (component.step > 0 ? lastYear : component.start)
      for year in stride(from: component.start, through: last, by: max(component.step, 1)) {
        words[(year - firstYear) / 64] |= 1 << UInt64((year - firstYear) % 64)
      }
    }
    return words
  }

  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let (today, second) = dividedByDay(wall + 1)
    let date = CivilDate(unchecked: today).fields
    // The calendar, weekdays included, repeats after 400 years. Listed years do not, and end by themselves.
    let lastYear = years.isEmpty ? min(date.year + 400, CalendarRule.lastYear) : CalendarRule.lastYear
    var year = date.year
    var month = date.month

    if months >> UInt16(month) & 1 == 1, year <= lastYear, self.year(onOrAfter: year) == year {
      let first = Int64(today) - Int64(date.day - 1)
      let days = self.days(of: month, year: year, first: first)
      if days >> UInt32(date.day) & 1 == 1, let time = time(onOrAfter: second) {
        return Int64(today) * 86_400 + time
      }
      let later = days.bits(above: date.day)
      if later != 0 { return (Int64(today) + 1 + Int64(later.trailingZeroBitCount)) * 86_400 + firstTime }
    } else if self.year(onOrAfter: year) != year {
      guard let following = self.year(onOrAfter: year) else { return nil }
      year = following
      month = 0
    }
    guard months != 0 else { return nil }
    while true {
      let later = months.bits(above: month)
      if later != 0 {
        month += 1 + later.trailingZeroBitCount
      } else {
        guard let following = self.year(onOrAfter: year + 1) else { return nil }
        year = following
        month = months.trailingZeroBitCount
      }
      guard year <= lastYear else { return nil }
      let first = Int64(CivilDate.dayNumber(year: year, month: month, day: 1))
      let days = self.days(of: month, year: year, first: first)
      if days != 0 { return (first + Int64(days.trailingZeroBitCount) - 1) * 86_400 + firstTime }
      guard budget.spend() else { return nil }
    }
  }

  /// Returns the first year of the set on or after a year.
  @inline(__always)
  private func year(onOrAfter year: Int) -> Int? {
    if years.isEmpty { return year }
    guard year <= CalendarRule.lastYear else { return nil }
    let index = max(year - CalendarRule.firstYear, 0)
    var word = index / 64
    var bits = years[word] & UInt64.max << UInt64(index % 64)
    while bits == 0 {
      word += 1
      guard word < years.count else { return nil }
      bits = years[word]
    }
    return CalendarRule.firstYear + word * 64 + bits.trailingZeroBitCount
  }

  /// Returns the days of a month as bits 1…31; `first` is the day number of its first day.
  @inline(__always)
  private func days(of month: Int, year: Int, first: Int64) -> UInt32 {
    let days = daysOfMonth(length: CivilDate.daysIn(month: month, year: year))
    if weekdays == .everyDay { return days }
    // The week, rotated to the weekday of the first, five times in a row.
    let index = UInt16(truncatingIfNeeded: (first % 7 + 10) % 7)
    let week = (UInt16(weekdays.rawValue) | UInt16(weekdays.rawValue) << 7) >> index & 0x7F
    return days & UInt32(truncatingIfNeeded: (UInt64(week) * 0x1020_4081) << 1)
  }

  @inline(__always)
  private func daysOfMonth(length: Int) -> UInt32 {
    let all = UInt32(truncatingIfNeeded: (UInt64(2) << UInt64(length)) - 2)
    return (daysAreFromEnd ? days >> UInt32(31 - length) : days) & all
  }

  /// Returns the first time of day on or after a second of the day.
  @inline(__always)
  private func time(onOrAfter second: Int32) -> Int64? {
    if Int64(second) <= firstTime { return firstTime }
    let hour = UInt32(bitPattern: second / 3_600)
    let minute = UInt64(second / 60 % 60)
    if hours >> hour & 1 == 1 {
      if minutes >> minute & 1 == 1 {
        let later = seconds >> UInt64(second % 60)
        if later != 0 { return Int64(second) + Int64(later.trailingZeroBitCount) }
      }
      let later = minutes.bits(above: Int(minute))
      if later != 0 {
        let minute = Int64(minute) + 1 + Int64(later.trailingZeroBitCount)
        return Int64(hour) * 3_600 + minute * 60 + Int64(seconds.trailingZeroBitCount)
      }
    }
    let later = hours.bits(above: Int(hour))
    guard later != 0 else { return nil }
    return firstTime + (Int64(hour) + 1 + Int64(later.trailingZeroBitCount) - Int64(hours.trailingZeroBitCount)) * 3_600
  }
}

extension FixedWidthInteger {
  /// Returns the bits above `index`, shifted so that the next higher one is bit 0.
  @inline(__always)
  fileprivate func bits(above index: Int) -> Self { (self >> index) >> 1 }
}
