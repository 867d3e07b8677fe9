/// A MonthSelection selects days of a month: by number, by position from the end, or by weekday.
///
/// It consists of bit sets, so that the days of a given month result in one mask.
struct MonthSelection: Sendable, Hashable {
  /// Bit *n* is day *n*, 1…31.
  var days: UInt32 = 0
  /// Bit *n* is the *n*th last day, 1…31.
  var daysFromEnd: UInt32 = 0
  /// Bit 7(*n* − 1) + *w* is the *n*th weekday *w* (0 is Monday), *n* 1…5.
  var weekdays: UInt64 = 0
  /// The same, counted from the end of the month.
  var weekdaysFromEnd: UInt64 = 0
  /// Bit *n* is the *n*th day from Monday to Friday, 1…23.
  var workdays: UInt32 = 0
  /// The same, counted from the end of the month.
  var workdaysFromEnd: UInt32 = 0

  /// The most days from Monday to Friday that a month can have.
  static let mostWorkdays = 23

  var isEmpty: Bool { self == MonthSelection() }

  mutating func formUnion(_ other: MonthSelection) {
    days |= other.days
    daysFromEnd |= other.daysFromEnd
    weekdays |= other.weekdays
    weekdaysFromEnd |= other.weekdaysFromEnd
    workdays |= other.workdays
    workdaysFromEnd |= other.workdaysFromEnd
  }

  mutating func insert(_ place: Int, _ weekday: Weekday, fromEnd: Bool) {
    let bit: UInt64 = 1 << UInt64(7 * (place - 1) + weekday.rawValue - 1)
    if fromEnd { weekdaysFromEnd |= bit } else { weekdays |= bit }
  }

  mutating func insert(day: Int, fromEnd: Bool) {
    if fromEnd { daysFromEnd |= 1 << UInt32(day) } else { days |= 1 << UInt32(day) }
  }

  mutating func insert(workday: Int, fromEnd: Bool) {
    if fromEnd { workdaysFromEnd |= 1 << UInt32(workday) } else { workdays |= 1 << UInt32(workday) }
  }

  /// Returns the days of a month as bits 1…31.
  ///
  /// - Parameters:
  ///   - first: The weekday of its first day, 0 for Monday.
  ///   - length: Its length in days, 28…31.
  @inline(__always)
  func mask(first: Int, length: Int) -> UInt32 {
    let whole = UInt32.max >> UInt32(31 - length) & ~1
    var mask = days & whole
    var rest = daysFromEnd
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest - 1
      if place <= length { mask |= 1 << UInt32(length + 1 - place) }
    }
    var places = weekdays
    while places != 0 {
      let (week, weekday) = places.trailingZeroBitCount.quotientAndRemainder(dividingBy: 7)
      places &= places - 1
      mask |= (1 << UInt32(1 + (weekday - first + 7) % 7 + 7 * week)) & whole
    }
    places = weekdaysFromEnd
    let last = first + length - 1
    while places != 0 {
      let (week, weekday) = places.trailingZeroBitCount.quotientAndRemainder(dividingBy: 7)
      places &= places - 1
      let day = length - (last - weekday) % 7 - 7 * week
      if day >= 1 { mask |= 1 << UInt32(day) }
    }
    if workdays | workdaysFromEnd != 0 { mask |= workdayMask(first: first, whole: whole) }
    return mask
  }

  private func workdayMask(first: Int, whole: UInt32) -> UInt32 {
    // Monday to Friday, six weeks in a row.
    let weeks: UInt64 = 0b0011111_0011111_0011111_0011111_0011111_0011111
    let working = UInt32(truncatingIfNeeded: (weeks >> UInt64(first)) << 1) & whole
    var mask: UInt32 = 0
    var rest = working
    var place: UInt32 = 1
    while rest != 0, workdays >> place != 0 {
      if workdays >> place & 1 != 0 { mask |= rest & (~rest + 1) }
      rest &= rest - 1
      place += 1
    }
    rest = working
    place = 1
    while rest != 0, workdaysFromEnd >> place != 0 {
      let highest = UInt32(1) << UInt32(31 - rest.leadingZeroBitCount)
      if workdaysFromEnd >> place & 1 != 0 { mask |= highest }
      rest &= ~highest
      place += 1
    }
    return mask
  }

  /// Returns the selection without the days that month `month` (1…12) never has.
  func possible(in month: Int) -> MonthSelection {
    let length = UInt32(CivilDate.daysIn(month: month, year: 2_000))
    let whole = UInt32.max >> (31 - length) & ~1
    var result = self
    result.days &= whole
    result.daysFromEnd &= whole
    // 29 days include at most 21 from Monday to Friday, 31 include 23.
    let working = UInt32.max >> (31 - (length - 8))
    result.workdays &= working
    result.workdaysFromEnd &= working
    return result
  }
}

/// A YearDays is a set of days by month and day, the same in each year. It may contain 29 February.
struct YearDays: Sendable, Hashable {
  /// The days of each month as bits 1…31; elements past the twelfth stay empty.
  private(set) var months = SIMD16<UInt32>()

  static let none = YearDays()

  var isEmpty: Bool { months == SIMD16() }

  /// The days of a month (1…12) as bits.
  @inline(__always)
  subscript(month: Int) -> UInt32 { months[month - 1] }

  mutating func insert(month: Int, day: Int) { months[month - 1] |= 1 << UInt32(day) }

  /// Inserts every day from one to another, both included. The range may wrap around the end of the year.
  mutating func insert(from first: (month: Int, day: Int), through last: (month: Int, day: Int)) {
    var (month, day) = first
    for _ in 0..<366 {
      insert(month: month, day: day)
      if (month, day) == last { return }
      day += 1
      if day > CivilDate.daysIn(month: month, year: 2_000) { (month, day) = (month % 12 + 1, 1) }
    }
  }

  /// Returns the first day on or after `day` that is not in the set; `nil` if there is none up to the end of 9999.
  func end(from day: Int64) -> Int64? {
    let (firstYear, firstMonth, firstDay) = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    var (year, month) = (firstYear, firstMonth)
    var floor = UInt32.max << UInt32(firstDay)
    // At most eight years lie between one 29 February and the next; one more for the start.
    while year <= min(firstYear + 9, 9_999) {
      let whole = UInt32.max >> UInt32(31 - CivilDate.daysIn(month: month, year: year)) & ~1
      let free = ~self[month] & whole & floor
      if free != 0 {
        return Int64(CivilDate.dayNumber(year: year, month: month, day: free.trailingZeroBitCount))
      }
      floor = .max
      month += 1
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    return nil
  }
}
