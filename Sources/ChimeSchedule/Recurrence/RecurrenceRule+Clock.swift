extension RecurrenceRule {
  /// Returns the next slot of a rule by hours, minutes or seconds: a wall-clock grid with limits.
  ///
  /// Each turn finds a slot or jumps to where the next limit allows one. The search covers 400 years.
  func nextOnClock(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let unit = unit
    let searchLimit = min(last, wall + ZoneTable.cycle)
    let keepsToDays = !days.isEveryDay
    let keepsToWeekdays = days.keepsToWeekdays
    var allowedDay = Int64.min
    var turns = 0
    var reading = wall + 1
    while reading <= searchLimit {
      let (held, _) = dividedDown(reading, by: unit)
      let period = nextPeriod(onOrAfter: held)
      if period != held { reading = period * unit }

      let (day, second) = dividedDown(reading, by: 86_400)
      if keepsToDays, day != allowedDay {
        let next = keepsToWeekdays ? days.nextWeekday(onOrAfter: day) : nextInMonths(onOrAfter: day, &budget)
        guard let next, budget.spend() else { return nil }
        allowedDay = next
        if next > day {
          reading = next * 86_400
          continue
        }
      }
      let allowed = day * 86_400 + allowedTime(onOrAfter: second, in: 86_400)
      if allowed == reading {
        if let time = nextTime(after: reading - period * unit - 1) { return period * unit + time }
        reading = (period + 1) * unit
      } else if turns < Self.plainTurns {
        reading = allowed
      } else {
        guard let met = nextMeeting(after: period, &budget) else { return nil }
        reading = max(met * unit, allowed)
      }
      turns += 1
      guard budget.spend() else { return nil }
    }
    return nil
  }

  /// The number of misses after which the search computes where grid and limits meet. Most grids meet them at once.
  private static let plainTurns = 8
  /// The most separate ranges of allowed times in a day for that computation. With more, a grid soon meets one of them.
  private static let mostPieces = 32

  /// Returns the first period, at or after `period`, that begins at an allowed time of day. It computes the period
  /// instead of searching, because a grid of 86,399 seconds meets 9:00:00 once in 236 years.
  private func nextMeeting(after period: Int64, _ budget: inout SearchBudget) -> Int64? {
    let length = 86_400 / unit
    let place = dividedDown(period, by: length).rest
    var least = Int64.max
    var pieces = 0
    var from = firstAllowed(onOrAfter: 0)
    while from < 86_400 {
      pieces += 1
      guard pieces <= Self.mostPieces else { return period }
      let end = endOfAllowed(from)
      guard budget.spend(4) else { return nil }
      // In units of the grid, relative to its current position.
      let low = dividedDown(from / unit - place, by: length).rest
      let high = dividedDown((end - 1) / unit - place, by: length).rest
      let turns = low > high ? 0 : firstMultiple(of: interval % length, modulo: length, from: low, through: high)
      if let turns { least = min(least, turns) }
      from = firstAllowed(onOrAfter: end)
    }
    guard least <= ZoneTable.cycle / unit / interval else { return nil }
    return period + least * interval
  }

  /// Returns the first allowed time of day at or after a second; 86,400 if there is none.
  private func firstAllowed(onOrAfter second: Int64) -> Int64 {
    var second = second
    while second < 86_400 {
      let allowed = allowedTime(onOrAfter: second, in: 86_400)
      if allowed == second { break }
      second = allowed
    }
    return min(second, 86_400)
  }

  /// Returns the end of the range of allowed times that contains an allowed second of the day.
  private func endOfAllowed(_ second: Int64) -> Int64 {
    // The finest field with a limit decides.
    if unit == 1, secondLimit & Self.sixty != Self.sixty {
      let later = ~(secondLimit >> UInt64(second % 60))
      return second + min(Int64(later.trailingZeroBitCount), 60 - second % 60)
    }
    if unit < 3_600, minuteLimit & Self.sixty != Self.sixty {
      let minute = second / 60
      let later = ~(minuteLimit >> UInt64(minute % 60))
      return (minute + min(Int64(later.trailingZeroBitCount), 60 - minute % 60)) * 60
    }
    let hour = second / 3_600
    let later = ~(hourLimit >> UInt64(hour))
    return (hour + min(Int64(later.trailingZeroBitCount), 24 - hour)) * 3_600
  }

  private static let sixty: UInt64 = 1 << 60 - 1

  /// The length of a period in seconds.
  var unit: Int64 {
    switch frequency {
    case .hourly: 3_600
    case .minutely: 60
    default: 1
    }
  }

  /// Whether the grid can ever meet its limits. Grid and limits repeat within a week, so that is enough to check.
  /// Without this check, the search would follow a grid that misses them for centuries.
  var meetsClockLimits: Bool {
    guard interval > 1 else { return true }
    let start = origin * unit
    var known: Int64 = 0
    for length in [60, 3_600, 86_400, 604_800] as [Int64] {
      // No limit applies within a single unit, so skip lengths up to it.
      guard length > unit else { continue }
      let step = greatestCommonDivisor(interval * unit, length)
      // If the step is the same as for the shorter length, the grid meets the limits in any hour or day that they allow.
      guard step != known else { continue }
      known = step
      var reading = dividedDown(start, by: step).rest
      while reading < length {
        let allowed = allowedReading(onOrAfter: reading, in: length)
        if allowed == reading { break }
        reading += (allowed - reading + step - 1) / step * step
      }
      guard reading < length else { return false }
    }
    return true
  }

  /// Returns the reading itself if the limits that repeat with `length` allow it. Otherwise it returns a later one with
  /// no allowed reading in between, at most `length`. Readings count from Thursday 1970-01-01.
  private func allowedReading(onOrAfter reading: Int64, in length: Int64) -> Int64 {
    let (day, second) = (reading / 86_400, reading % 86_400)
    if length > 86_400, days.weekdays >> UInt8(weekdayIndex(day)) & 1 == 0 { return (day + 1) * 86_400 }
    return day * 86_400 + allowedTime(onOrAfter: second, in: length)
  }

  /// Returns the same for the limits that repeat with a day or a part of it, for a second of the day.
  @inline(__always)
  private func allowedTime(onOrAfter second: Int64, in length: Int64) -> Int64 {
    let hour = second / 3_600
    if length > 3_600, hourLimit >> UInt64(hour) & 1 == 0 {
      let later = hourLimit & (~0 << UInt64(hour))
      return later == 0 ? 86_400 : Int64(later.trailingZeroBitCount) * 3_600
    }
    guard unit < 3_600 else { return second }
    let minute = second / 60 % 60
    if length > 60, minuteLimit >> UInt64(minute) & 1 == 0 {
      let later = minuteLimit & (~0 << UInt64(minute))
      return hour * 3_600 + (later == 0 ? 3_600 : Int64(later.trailingZeroBitCount) * 60)
    }
    guard unit == 1, secondLimit >> UInt64(second % 60) & 1 == 0 else { return second }
    let later = secondLimit & (~0 << UInt64(second % 60))
    return second + (later == 0 ? 60 : Int64(later.trailingZeroBitCount)) - second % 60
  }
}

/// Returns the smallest x ≥ 0 for which `number` · x modulo `divisor` lies from `low` through `high`; `nil` if there is
/// none. Like Euclid's algorithm it takes a few divisions.
///
///     firstMultiple(of: 7, modulo: 10, from: 3, through: 3)   // 9, because 7 · 9 is 63
func firstMultiple(of number: Int64, modulo divisor: Int64, from low: Int64, through high: Int64) -> Int64? {
  if low == 0 { return 0 }
  guard number > 0 else { return nil }
  let turns = (low + number - 1) / number
  if turns * number <= high { return turns }
  // No multiple lies in the range itself, so look for one in the range shifted by `wraps` divisors.
  let wraps = firstMultiple(
    of: divisor % number, modulo: number, from: dividedDown(-high, by: number).rest,
    through: dividedDown(-low, by: number).rest)
  guard let wraps else { return nil }
  return (low + divisor * wraps + number - 1) / number
}

private func greatestCommonDivisor(_ left: Int64, _ right: Int64) -> Int64 {
  var (left, right) = (left, right)
  while right != 0 { (left, right) = (right, left % right) }
  return left
}
