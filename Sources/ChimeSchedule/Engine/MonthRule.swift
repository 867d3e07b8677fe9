/// A MonthRule selects days by their position in a month or a year: every month, every n months, or every n years.
struct MonthRule: Sendable, Hashable {
  struct Group: Sendable, Hashable {
    /// Bit *m* − 1 is month *m*.
    var months: UInt16
    var selection: MonthSelection
  }

  /// Which days of which months.
  private let groups: ContiguousArray<Group>
  /// The months of all groups, stored twice so that one shift rotates them.
  private let months: UInt32
  /// The length of a period in months: 1 for every month, 12 for every year.
  private let period: Int64
  /// How many months at the start of each period count: 1, or 12 for years.
  private let span: Int64
  /// The first month of the first period, counted from January of year 0.
  private let anchor: Int64
  /// The days to exclude in each year.
  private let except: YearDays

  /// The months of one Gregorian cycle. A rule without a day in that many of its months never has one.
  private static let cycle = 4_800
  /// The month after December 9999.
  private static let end: Int64 = 10_000 * 12

  init(groups: ContiguousArray<Group>, period: Int64 = 1, span: Int64 = 1, anchor: Int64 = 0, except: YearDays) {
    self.groups = groups
    self.period = period
    self.span = span
    self.anchor = anchor
    self.except = except
    let months = groups.reduce(0) { $0 | UInt32($1.months) }
    self.months = months | months << 12
  }

  /// Returns the first day of the rule on or after `day`, as a number from 1970-01-01; `nil` if there is none up to 9999.
  func next(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    let (year, month, first) = CivilDate(unchecked: Int32(truncatingIfNeeded: day)).fields
    var index = Int64(year * 12 + month - 1)
    var floor = UInt32.max << UInt32(first)
    guard months != 0 else { return nil }
    for _ in 0..<MonthRule.cycle {
      // Skip months that the rule does not select. Each skip ends in a month that one of the two tests allows.
      var start = index
      while start < MonthRule.end {
        if period > span {
          var place = (start - anchor) % period
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

  /// Returns the days of a month, as bits 1…31.
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
