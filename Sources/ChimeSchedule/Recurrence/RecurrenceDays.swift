/// A RecurrenceDays is the set of days that `BYMONTH`, `BYMONTHDAY`, `BYYEARDAY` and `BYDAY` select. Masks give the
/// days of any month without a search.
struct RecurrenceDays: Sendable, Hashable {
  /// Bits 1…12.
  var months: UInt32 = 0x1FFE
  /// Bit 0 is the first of the month. If `monthDaysFromEnd` is empty too, this means every day.
  var monthDays: UInt32 = 0
  /// Bit 31 is the last of the month.
  var monthDaysFromEnd: UInt32 = 0
  /// Bit 0 is Monday. All seven if weekdays do not matter.
  var weekdays: UInt8 = 0x7F
  /// Byte 0 has the weekdays that count on their first day in the month, byte 4 those on their fifth.
  var nth: UInt64 = 0
  /// Byte 0 has the weekdays that count on their last day in the month.
  var nthFromEnd: UInt64 = 0
  /// The days that `BYYEARDAY` and weekdays numbered in the year select: six words for each of the 14 kinds of years;
  /// empty if the position in the year does not matter.
  var table: ContiguousArray<UInt64> = []

  static let wordsInYear = 6

  var isEveryDay: Bool {
    months == 0x1FFE && monthDays == 0 && monthDaysFromEnd == 0 && weekdays == 0x7F && nth == 0 && nthFromEnd == 0
      && table.isEmpty
  }

  /// Whether only weekdays decide.
  var keepsToWeekdays: Bool {
    months == 0x1FFE && monthDays == 0 && monthDaysFromEnd == 0 && nth == 0 && nthFromEnd == 0 && table.isEmpty
  }

  /// Returns the days of a month; bit 0 is the first.
  @inline(__always)
  func mask(_ month: Month) -> UInt32 {
    guard months >> UInt32(month.month) & 1 != 0 else { return 0 }
    var mask = monthDays | monthDaysFromEnd != 0 ? monthDayMask(month) : month.everyDay
    if !table.isEmpty { mask &= tableMask(month) }
    return mask & weekdayMask(month)
  }

  /// Returns the days that `BYMONTHDAY` names and the month has.
  @inline(__always)
  private func monthDayMask(_ month: Month) -> UInt32 {
    (monthDays | monthDaysFromEnd >> (32 - month.length)) & month.everyDay
  }

  /// Returns the days that `BYDAY` selects, as far as the month decides it.
  @inline(__always)
  func weekdayMask(_ month: Month) -> UInt32 {
    if nth | nthFromEnd == 0 { return month.days(weekdays) }
    var mask = month.days(weekdays)
    for index in 0..<5 {
      let fromStart = UInt8(truncatingIfNeeded: nth >> UInt64(8 * index))
      if fromStart != 0 { mask |= month.days(fromStart) & 0x7F << UInt32(7 * index) }
      let fromEnd = UInt8(truncatingIfNeeded: nthFromEnd >> UInt64(8 * index))
      if fromEnd != 0 {
        let shift = Int(month.length) - 7 * (index + 1)
        mask |= month.days(fromEnd) & (shift >= 0 ? 0x7F << UInt32(shift) : 0x7F >> UInt32(-shift))
      }
    }
    return mask
  }

  @inline(__always)
  private func tableMask(_ month: Month) -> UInt32 {
    let start = month.first - month.newYear
    let kind = (CivilDate.isLeap(month.year) ? 7 : 0) + weekdayIndex(month.newYear)
    let word = kind * Self.wordsInYear + Int(start >> 6)
    let shift = UInt64(start & 63)
    var bits = table[word] >> shift
    if shift > 33, start >> 6 < Self.wordsInYear - 1 { bits |= table[word + 1] << (64 - shift) }
    return UInt32(truncatingIfNeeded: bits) & month.everyDay
  }

  /// Returns whether a day is in the set.
  func contains(_ day: Int64) -> Bool {
    let month = Month(holding: day)
    return mask(month) >> UInt32(day - month.first) & 1 != 0
  }

  /// Keeps the days that `choose` lists, for each kind of year. `choose` gets the length of the year and the weekday of
  /// its first day, and calls back with positions in the year from 0. Positions outside the year are ignored.
  mutating func keepDaysOfYear(_ choose: (_ length: Int, _ newYear: Int, _ take: (Int) -> Void) -> Void) {
    if table.isEmpty { table = ContiguousArray(repeating: ~0, count: 14 * Self.wordsInYear) }
    for kind in 0..<14 {
      let length = kind < 7 ? 365 : 366
      var words: InlineArray<6, UInt64> = .init(repeating: 0)
      choose(length, kind % 7) { place in
        if place >= 0, place < length { words[place >> 6] |= 1 << UInt64(place & 63) }
      }
      for word in 0..<Self.wordsInYear { table[kind * Self.wordsInYear + word] &= words[word] }
    }
  }

  /// Returns the first selected weekday on or after `day`, if only weekdays decide. At least one must be selected.
  @inline(__always)
  func nextWeekday(onOrAfter day: Int64) -> Int64 {
    let doubled = UInt64(weekdays) | UInt64(weekdays) << 7
    return day + Int64((doubled >> UInt64(weekdayIndex(day))).trailingZeroBitCount)
  }
}

/// A Month is a month of a year, with the values that its days depend on.
struct Month {
  var year: Int
  /// 1…12
  var month: Int
  /// The day numbers of its first day and of the first day of its year.
  let first: Int64
  let newYear: Int64
  let length: UInt32

  @inline(__always)
  init(year: Int, month: Int) {
    self.year = year
    self.month = month
    let isLeap = CivilDate.isLeap(year)
    newYear = Int64(CivilDate.dayNumber(year: year, month: 1, day: 1))
    // The start is 30 × (month − 1) plus the excess of the months before it, four bits each.
    let excess = 0x6655_4332_2110 as UInt64
    var start = 30 * (month - 1) + Int(excess >> UInt64(4 * (month - 1)) & 0xF)
    if month > 2 { start -= isLeap ? 1 : 2 }
    first = newYear + Int64(start)
    length = UInt32(month == 2 ? (isLeap ? 29 : 28) : 30 + (0x15AA >> month & 1))
  }

  init(holding day: Int64) {
    let fields = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    self.init(year: fields.year, month: fields.month)
  }

  @inline(__always) var everyDay: UInt32 { ~0 >> (32 - length) }

  /// Returns the days of the month that fall on the given weekdays.
  @inline(__always)
  func days(_ weekdays: UInt8) -> UInt32 {
    if weekdays == 0x7F { return everyDay }
    let doubled = UInt64(weekdays) | UInt64(weekdays) << 7
    let week = doubled >> UInt64(weekdayIndex(first)) & 0x7F
    // One copy of the week for each of the five that a month touches.
    return UInt32(truncatingIfNeeded: week &* 0x1020_4081) & everyDay
  }
}

/// Returns the weekday, 0 for Monday, of a day counted from 1970-01-01.
@inline(__always)
func weekdayIndex(_ day: Int64) -> Int {
  let index = Int(truncatingIfNeeded: (day + 3) % 7)
  return index < 0 ? index + 7 : index
}

/// Returns the quotient rounded down, and the remainder: 0..<divisor.
@inline(__always)
func dividedDown(_ value: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
  let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
  return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
}
