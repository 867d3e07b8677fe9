/// A CronRule is a cron schedule as bit sets. The days of a month are one word, and the search for the next slot skips
/// months without a matching day.
struct CronRule: WallSlots {
  private let seconds: UInt64
  private let minutes: UInt64
  private let hours: UInt64
  /// The first time of a day, in seconds.
  private let firstTime: Int64
  private let days: CronDays
  /// Whether the day of the week alone decides, so that no date must be computed.
  private let isWeekly: Bool
  /// Whether anything but numbers and ranges occurs.
  private let hasSpecials: Bool

  /// The range of slots. A zone's clock can show up to two days outside the range of ``Instant``.
  private static let wallRange: ClosedRange<Int64> = -200_000...Instant.latest.seconds
  /// One cycle of the Gregorian calendar.
  private static let yearsAhead = 400

  init(_ schedule: CronSchedule) {
    seconds = schedule.seconds
    minutes = schedule.minutes
    hours = schedule.hours
    days = schedule.days
    firstTime =
      Int64(hours.trailingZeroBitCount) * 3_600 + Int64(minutes.trailingZeroBitCount) * 60
      + Int64(seconds.trailingZeroBitCount)
    hasSpecials = days.datesFromEnd | days.nearest | days.nearestFromEnd | days.ordinals != 0
    isWeekly =
      days.months == CronDays.everyMonth && days.dates == CronDays.everyDate && days.needsBoth && !hasSpecials
  }

  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    guard wall < CronRule.wallRange.upperBound else { return nil }
    let (today, second) = dividedByDay(max(wall, CronRule.wallRange.lowerBound) + 1)
    guard let first = nextDay(onOrAfter: Int64(today), &budget) else { return nil }
    if first > Int64(today) { return first * 86_400 + firstTime }
    if let time = time(onOrAfter: UInt64(UInt32(bitPattern: second))) { return first * 86_400 + time }
    guard let later = nextDay(onOrAfter: first + 1, &budget) else { return nil }
    return later * 86_400 + firstTime
  }

  /// Returns the first time of day at or after a second of the day.
  @inline(__always)
  private func time(onOrAfter second: UInt64) -> Int64? {
    let minuteOfDay = second / 60
    let hour = minuteOfDay / 60
    if hours >> hour & 1 != 0 {
      let minute = minuteOfDay % 60
      let start = Int64(hour) * 3_600
      if minutes >> minute & 1 != 0 {
        let left = seconds >> (second % 60)
        if left != 0 { return Int64(second) + Int64(left.trailingZeroBitCount) }
      }
      let left = minutes >> (minute + 1)
      if left != 0 {
        let next = Int64(minute) + 1 + Int64(left.trailingZeroBitCount)
        return start + next * 60 + Int64(seconds.trailingZeroBitCount)
      }
    }
    let left = hours >> (hour + 1)
    guard left != 0 else { return nil }
    return (Int64(hour) + 1 + Int64(left.trailingZeroBitCount)) * 3_600 + firstTime % 3_600
  }

  /// Returns the first matching day on or after a day, as a number from 1970-01-01.
  @inline(__always)
  private func nextDay(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    guard isWeekly else { return nextDate(onOrAfter: day, &budget) }
    // 1970-01-01 was a Thursday. Days are at least −3.
    let turned = CronRule.turned(days.weekdays, UInt64(truncatingIfNeeded: (day + 11) % 7))
    // A set of weekdays is never empty.
    let found = day + Int64(turned.trailingZeroBitCount)
    return found <= Int64(CivilDate.latest.dayNumber) ? found : nil
  }

  private func nextDate(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    guard day <= Int64(CivilDate.latest.dayNumber) else { return nil }
    let date = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    var year = date.year
    var month = date.month
    // Bits before the day itself do not count in its month.
    var open = ~UInt64(0) << UInt64(date.day)
    var first = day - Int64(date.day) + 1
    let lastYear = min(date.year + CronRule.yearsAhead, 9_999)
    while true {
      if days.months >> UInt64(month) & 1 != 0 {
        let matching = matchingDays(year: year, month: month, first: first) & open
        if matching != 0 { return first + Int64(matching.trailingZeroBitCount) - 1 }
        guard budget.spend() else { return nil }
      }
      open = ~0
      let left = days.months >> UInt64(month + 1)
      if left != 0 {
        month += 1 + left.trailingZeroBitCount
      } else {
        year += 1
        guard year <= lastYear else { return nil }
        month = days.months.trailingZeroBitCount
      }
      first = Int64(CivilDate.dayNumber(year: year, month: month, day: 1))
    }
  }

  /// Returns the matching days of a month, as bits 1…31.
  @inline(__always)
  private func matchingDays(year: Int, month: Int, first: Int64) -> UInt64 {
    let length = UInt64(CivilDate.daysIn(month: month, year: year))
    // No month begins before day −31; 1970-01-01 was a Thursday.
    let weekday = UInt64(truncatingIfNeeded: (first + 74) % 7)
    var dates = days.dates
    // Bit 0 is the first day of the month here; the same seven bits, five times in a row.
    var byWeekday = CronRule.turned(days.weekdays, weekday) &* 0x1020_4081 << 1
    if hasSpecials {
      dates |= specialDates(length, weekday)
      byWeekday |= ordinalDays(length, weekday)
    }
    let matching = days.needsBoth ? dates & byWeekday : dates | byWeekday
    return matching & ((2 << length) - 2)
  }

  /// Rotates seven bits, Sunday first, so that `weekday` comes first.
  @inline(__always)
  private static func turned(_ weekdays: UInt64, _ weekday: UInt64) -> UInt64 {
    (weekdays | weekdays << 7) >> weekday & 0x7F
  }

  /// Returns the days of `L`, `L-3`, `15W` and `LW`.
  private func specialDates(_ length: UInt64, _ weekday: UInt64) -> UInt64 {
    var result: UInt64 = 0
    var nearest = days.nearest & ((2 << length) - 2)
    for distance in 0..<length {
      if days.datesFromEnd >> distance & 1 != 0 { result |= 1 << (length - distance) }
      if days.nearestFromEnd >> distance & 1 != 0 { nearest |= 1 << (length - distance) }
    }
    while nearest != 0 {
      let date = UInt64(nearest.trailingZeroBitCount)
      nearest &= nearest - 1
      switch (weekday + date + 6) % 7 {
      case 6: result |= 1 << (date == 1 ? 3 : date - 1)
      case 0: result |= 1 << (date == length ? date - 2 : date + 1)
      default: result |= 1 << date
      }
    }
    return result
  }

  /// Returns the days of `1#2` and `5L`.
  private func ordinalDays(_ length: UInt64, _ weekday: UInt64) -> UInt64 {
    var result: UInt64 = 0
    // The second Monday is the Monday within days 8 to 14, whatever weekday the month begins with.
    for week in 0..<UInt64(CronDays.lastOrdinal) {
      result |= CronRule.turned(days.ordinals >> (7 * week) & 0x7F, weekday) << (7 * week + 1)
    }
    let last = days.ordinals >> UInt64(7 * CronDays.lastOrdinal)
    return result | CronRule.turned(last, (weekday + length) % 7) << (length - 6)
  }
}
