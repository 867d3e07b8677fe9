/// Days told by their place in a month or a year, in every month, every so many months, or every so many years.
struct MonthRule: Sendable, Hashable {
  struct Group: Sendable, Hashable {
    /// Bit *m* − 1 is month *m*.
    var months: UInt16
    var selection: MonthSelection
  }

  /// Which days of which months.
  private let groups: ContiguousArray<Group>
  /// Every month that any group speaks of, twice over, so that one shift turns them.
  private let months: UInt32
  /// Every how many months a stretch of months counts: 1 for each month, 12 for each year.
  private let period: Int64
  /// How many months are in that stretch: 1, or 12 for years.
  private let span: Int64
  /// The month in which the first such stretch begins, counted from January of year 0.
  private let context: Int64
  /// Left out in each year.
  private let except: YearDays

  /// One Gregorian cycle of months; a rule that has nothing in so many of its months never has.
  private static let cycle = 4_800
  /// The month after December 9999.
  private static let end: Int64 = 10_000 * 12

  init(groups: ContiguousArray<Group>, period: Int64 = 1, span: Int64 = 1, context: Int64 = 0, except: YearDays) {
    self.groups = groups
    self.period = period
    self.span = span
    self.context = context
    self.except = except
    let months = groups.reduce(0) { $0 | UInt32($1.months) }
    self.months = months | months << 12
  }

  /// The first day of the rule from `day` on, as a number from 1970-01-01; `nil` when there is none up to 9999.
  func next(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    let (year, month, first) = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    var index = Int64(year * 12 + month - 1)
    var floor = UInt32.max << UInt32(first)
    guard months != 0 else { return nil }
    for _ in 0..<MonthRule.cycle {
      // Leap over months that the rule does not speak of; each leap ends in a month that one of the two tests allows.
      var start = index
      while start < MonthRule.end {
        if period > span {
          var place = (start - context) % period
          if place < 0 { place += period }
          if place >= span { start += period - place }
        }
        let wait = Int64((months >> UInt32(truncatingIfNeeded: start % 12)).trailingZeroBitCount)
        if wait == 0 { break }
        start += wait
      }
      if start != index {
        index = start
        floor = .max
      }
      guard index < MonthRule.end else { return nil }
      let found = days(of: index) & floor
      if found != 0 {
        let (year, month) = Int(index).quotientAndRemainder(dividingBy: 12)
        return Int64(CivilDate.dayNumber(year: year, month: month + 1, day: found.trailingZeroBitCount))
      }
      guard budget.spend(groups.count) else { return nil }
      index += 1
      floor = .max
    }
    return nil
  }

  /// The days of a month, as bits 1…31.
  @inline(__always)
  private func days(of index: Int64) -> UInt32 {
    let (year, month) = Int(index).quotientAndRemainder(dividingBy: 12)
    let length = CivilDate.daysIn(month: month + 1, year: year)
    let first = Int((Int64(CivilDate.dayNumber(year: year, month: month + 1, day: 1)) % 7 + 10) % 7)
    var mask: UInt32 = 0
    for group in groups where group.months >> UInt16(month) & 1 != 0 {
      mask |= group.selection.mask(first: first, length: length)
    }
    return mask & ~except[month + 1]
  }
}
