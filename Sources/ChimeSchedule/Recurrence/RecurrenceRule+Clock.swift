extension RecurrenceRule {
  /// Rules by hours, minutes or seconds: a grid on the wall clock, limited to days, hours, minutes and seconds.
  ///
  /// Each turn either finds a slot or leaps to where the next limit allows one. What lies more than 400 years ahead is not
  /// looked for.
  func nextOnClock(after wall: Int64) -> Int64? {
    let unit = unit
    let horizon = min(last, wall + ZoneTable.cycle)
    let keepsToDays = !days.isEveryDay
    let keepsToWeekdays = days.keepsToWeekdays
    var allowedDay = Int64.min
    var reading = wall + 1
    while reading <= horizon {
      let (held, _) = dividedDown(reading, by: unit)
      let period = nextPeriod(onOrAfter: held)
      if period != held { reading = period * unit }

      let (day, second) = dividedDown(reading, by: 86_400)
      if keepsToDays, day != allowedDay {
        guard let next = keepsToWeekdays ? days.nextWeekday(onOrAfter: day) : nextInMonths(onOrAfter: day) else {
          return nil
        }
        allowedDay = next
        if next > day {
          reading = next * 86_400
          continue
        }
      }
      let hour = second / 3_600
      if hourLimit >> UInt64(hour) & 1 == 0 {
        let later = hourLimit & (~0 << UInt64(hour))
        reading = day * 86_400 + (later == 0 ? 86_400 : Int64(later.trailingZeroBitCount) * 3_600)
        continue
      }
      if unit < 3_600 {
        let minute = second / 60 % 60
        if minuteLimit >> UInt64(minute) & 1 == 0 {
          let later = minuteLimit & (~0 << UInt64(minute))
          reading =
            day * 86_400 + hour * 3_600 + (later == 0 ? 3_600 : Int64(later.trailingZeroBitCount) * 60)
          continue
        }
        if unit == 1, secondLimit >> UInt64(second % 60) & 1 == 0 {
          let later = secondLimit & (~0 << UInt64(second % 60))
          reading += (later == 0 ? 60 : Int64(later.trailingZeroBitCount)) - second % 60
          continue
        }
      }
      if let time = nextTime(after: reading - period * unit - 1) { return period * unit + time }
      reading = (period + 1) * unit
    }
    return nil
  }

  /// The length of a period in seconds.
  var unit: Int64 {
    switch frequency {
    case .hourly: 3_600
    case .minutely: 60
    default: 1
    }
  }

  /// Whether a grid can ever meet its limits within a week, which is after how long grids and limits repeat. Without
  /// this, a grid that passes them by would be followed for centuries.
  var meetsClockLimits: Bool {
    guard interval > 1 else { return true }
    let start = origin * unit
    for length in [60, 3_600, 86_400, 604_800] as [Int64] {
      // Units are parts of all but the first length, of which a minute or an hour says nothing.
      guard length > unit else { continue }
      let step = greatestCommonDivisor(interval * unit, length)
      var reading = dividedDown(start, by: step).rest
      var isMet = false
      while reading < length, !isMet {
        isMet = isAllowed(reading, in: length)
        reading += step
      }
      if !isMet { return false }
    }
    return true
  }

  /// Whether the limits that repeat with a length allow a reading, counted from Thursday 1970-01-01.
  private func isAllowed(_ reading: Int64, in length: Int64) -> Bool {
    guard unit > 1 || secondLimit >> UInt64(reading % 60) & 1 != 0 else { return false }
    guard length > 60 else { return true }
    guard unit > 60 || minuteLimit >> UInt64(reading / 60 % 60) & 1 != 0 else { return false }
    guard length > 3_600 else { return true }
    guard hourLimit >> UInt64(reading / 3_600 % 24) & 1 != 0 else { return false }
    return length <= 86_400 || days.weekdays >> UInt8(weekdayIndex(reading / 86_400)) & 1 != 0
  }
}

private func greatestCommonDivisor(_ left: Int64, _ right: Int64) -> Int64 {
  var (left, right) = (left, right)
  while right != 0 { (left, right) = (right, left % right) }
  return left
}
