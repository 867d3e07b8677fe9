/// Ranges of days, ascending and apart, as numbers.
struct DayRanges: Sendable, Hashable {
  private let first: ContiguousArray<Int64>
  private let last: ContiguousArray<Int64>

  init(_ ranges: [ClosedRange<CivilDate>]) {
    first = ContiguousArray(ranges.map { Int64($0.lowerBound.dayNumber) })
    last = ContiguousArray(ranges.map { Int64($0.upperBound.dayNumber) })
  }

  @inline(__always) var isEmpty: Bool { first.isEmpty }

  /// The last day of the range that holds `day`, if one does.
  func end(holding day: Int64) -> Int64? {
    var low = 0
    var high = first.count
    while low < high {
      let middle = (low + high) / 2
      if first[middle] <= day { low = middle + 1 } else { high = middle }
    }
    return low > 0 && last[low - 1] >= day ? last[low - 1] : nil
  }
}

/// Which days a wall-clock schedule runs on. Further kinds of days (months, rotas) join here.
struct DayRule: Sendable, Hashable {
  var weekdays: WeekdaySet
  var except: DayRanges
  /// The first and the last day, as numbers from 1970-01-01.
  var first: Int64 = Int64(CivilDate.earliest.dayNumber)
  var last: Int64 = Int64(CivilDate.latest.dayNumber)

  /// The first day of the rule from `day` on. It looks at each exception at most once.
  func next(onOrAfter day: Int64) -> Int64? {
    var day = max(day, first)
    while true {
      guard let wait = weekdays.wait(from: day) else { return nil }
      day += wait
      guard day <= last else { return nil }
      if except.isEmpty { return day }
      guard let end = except.end(holding: day) else { return day }
      day = end + 1
    }
  }

  func contains(_ day: Int64) -> Bool { next(onOrAfter: day) == day }
}
