/// A DayRanges is a set of days: ascending, disjoint ranges of day numbers, and days that recur each year.
struct DayRanges: Sendable, Hashable {
  /// Most schedules have none. Storing the lists indirectly keeps the rules that contain them small.
  private enum Content: Sendable, Hashable {
    case none
    indirect case some(Lists)
  }

  private struct Lists: Sendable, Hashable {
    var first: ContiguousArray<Int64>
    var last: ContiguousArray<Int64>
    var yearly: YearDays
  }

  private let content: Content

  init(_ ranges: [ClosedRange<CivilDate>], yearly: YearDays = .none) {
    guard !ranges.isEmpty || !yearly.isEmpty else {
      content = .none
      return
    }
    content = .some(
      Lists(
        first: ContiguousArray(ranges.map { Int64($0.lowerBound.dayNumber) }),
        last: ContiguousArray(ranges.map { Int64($0.upperBound.dayNumber) }), yearly: yearly))
  }

  /// Whether the set is empty.
  @inline(__always) var isEmpty: Bool {
    if case .none = content { true } else { false }
  }

  /// The days that recur each year.
  var yearly: YearDays {
    if case .some(let lists) = content { lists.yearly } else { .none }
  }

  /// Returns the last day of the range that contains `day`, if there is one.
  func end(holding day: Int64) -> Int64? {
    guard case .some(let lists) = content else { return nil }
    var low = 0
    var high = lists.first.count
    while low < high {
      let middle = (low + high) / 2
      if lists.first[middle] <= day { low = middle + 1 } else { high = middle }
    }
    if low > 0, lists.last[low - 1] >= day { return lists.last[low - 1] }
    guard !lists.yearly.isEmpty else { return nil }
    guard let free = lists.yearly.end(from: day) else { return Int64(CivilDate.latest.dayNumber) }
    return free > day ? free - 1 : nil
  }
}

/// A DayRule says on which days a wall-clock schedule runs.
struct DayRule: Sendable, Hashable {
  /// Kinds of days other than weekdays. Indirect storage keeps the rule small and cheap to copy.
  indirect enum Kind: Sendable, Hashable {
    /// Every `step` days from `anchor`, which is no later than the first day asked for.
    case days(step: Int64, anchor: Int64)
    /// Days of every `step`th week; `monday` begins the first such week.
    case weeks(step: Int64, monday: Int64, WeekdaySet)
    /// Days by their position in a month.
    case months(MonthRule)
  }

  /// The days of the week. They apply if there is no other kind.
  var weekdays: WeekdaySet
  var kind: Kind?
  var except: DayRanges
  /// The first and the last day, as numbers from 1970-01-01.
  var first: Int64 = Int64(CivilDate.earliest.dayNumber)
  var last: Int64 = Int64(CivilDate.latest.dayNumber)

  /// Returns the first day of the rule on or after `day`.
  ///
  /// It visits each range of exceptions at most once, and yearly exceptions at most once a year.
  @inline(__always)
  func next(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    let day = max(day, first)
    guard kind == nil, except.isEmpty else { return search(onOrAfter: day, &budget) }
    guard let wait = weekdays.wait(from: day), day + wait <= last else { return nil }
    return day + wait
  }

  private func search(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    var day = day
    while day <= last, let found = candidate(onOrAfter: day, &budget), found <= last {
      if except.isEmpty { return found }
      guard let end = except.end(holding: found) else { return found }
      guard budget.spend() else { return nil }
      day = end + 1
    }
    return nil
  }

  private func candidate(onOrAfter day: Int64, _ budget: inout SearchBudget) -> Int64? {
    switch kind {
    case nil: return weekdays.wait(from: day).map { day + $0 }
    case .days(let step, let anchor):
      guard day > anchor else { return anchor }
      return anchor + (day - anchor + step - 1) / step * step
    case .weeks(let step, let monday, let weekdays):
      guard day > monday else { return weekdays.wait(from: monday).map { monday + $0 } }
      let (week, weekday) = (day - monday).quotientAndRemainder(dividingBy: 7)
      if week % step == 0 {
        let rest = weekdays.rawValue >> UInt8(truncatingIfNeeded: weekday)
        if rest != 0 { return day + Int64(rest.trailingZeroBitCount) }
      }
      let next = monday + (week / step + 1) * step * 7
      return weekdays.wait(from: next).map { next + $0 }
    case .months(let rule): return rule.next(onOrAfter: day, &budget)
    }
  }

  func contains(_ day: Int64) -> Bool {
    var budget = SearchBudget(Timetable.searchSteps)
    return next(onOrAfter: day, &budget) == day
  }
}
