import ChimeSchedule

/// A CountedCalendar knows which days of a tracker count: its weekdays from its start on, unless paused or skipped.
///
/// Days are given by number. Queries do not walk over days, so a year's vacation costs as much as a day off. A counted day
/// has a *position*: the number of counted days up to and including it. By position, days that do not count do not exist.
struct CountedCalendar {
  /// An Era is a range of days with the weekdays that count in it.
  struct Era {
    var last: Int
    var weekdays: WeekdaySet
  }

  /// The eras in order, without gaps. The last has no end.
  let eras: [Era]
  let start: Int
  /// The pauses, in order and disjoint.
  private(set) var pauses: [ClosedRange<Int>] = []
  /// Per pause, the number of days in it and in all earlier pauses that would count otherwise.
  private var paused: [Int] = []
  /// The skips in order, only of days that would count otherwise.
  private(set) var skips: [Int] = []

  init(_ tracker: Tracker) {
    if case .weekdays(let set) = tracker.counting {
      eras =
        tracker.formerWeekdays.map { Era(last: $0.until.number, weekdays: $0.weekdays) }
        + [Era(last: .max, weekdays: set)]
    } else {
      eras = [Era(last: .max, weekdays: .everyDay)]
    }
    start = tracker.startedOn.number
    for pause in tracker.pauses.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let (first, last) = (pause.lowerBound.number, pause.upperBound.number)
      if let before = pauses.last, first <= before.upperBound + 1 {
        pauses[pauses.count - 1] = before.lowerBound...max(before.upperBound, last)
      } else {
        pauses.append(first...last)
      }
    }
    for pause in pauses {
      paused.append((paused.last ?? 0) + asked(max(start, pause.lowerBound), pause.upperBound))
    }
    var latest: Int?
    for skip in tracker.skips.sorted() where skip.number != latest && counts(skip.number) {
      skips.append(skip.number)
      latest = skip.number
    }
  }

  /// Returns whether the day counts.
  func contains(_ day: Int) -> Bool { counts(day) && !isSkipped(day) }

  /// Returns how many days of these weekdays count from `first` to `last`, both included; 0 for an empty range.
  func count(_ first: Int, _ last: Int, of some: WeekdaySet = .everyDay) -> Int {
    let first = max(first, start)
    guard first <= last else { return 0 }
    guard some != .everyDay else { return position(last) - position(first - 1) }
    var count = asked(first, last, of: some)
    for pause in pauses where pause.upperBound >= first && pause.lowerBound <= last {
      count -= asked(max(first, pause.lowerBound), min(last, pause.upperBound), of: some)
    }
    for skip in skips[Self.index(in: skips) { $0 < first }...].prefix(while: { $0 <= last })
    where some.contains(Self.weekday(skip)) { count -= 1 }
    return count
  }

  /// Returns how many days have counted up to and including this one.
  func position(_ day: Int) -> Int {
    guard day >= start else { return 0 }
    var count = asked(start, day)
    let over = Self.index(in: pauses) { $0.upperBound <= day }
    if over > 0 { count -= paused[over - 1] }
    if over < pauses.count { count -= asked(max(start, pauses[over].lowerBound), day) }
    return count - Self.index(in: skips) { $0 <= day }
  }

  /// Returns the day at a position; nil if there is none before the year 10000.
  func day(at position: Int) -> Int? {
    var (low, high) = (start, CivilDate.latest.number)
    guard position >= 1, self.position(high) >= position else { return nil }
    while low < high {
      let middle = (low + high) / 2
      if self.position(middle) >= position { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func isPaused(_ day: Int) -> Bool {
    let index = Self.index(in: pauses) { $0.upperBound < day }
    return index < pauses.count && pauses[index].contains(day)
  }

  func isSkipped(_ day: Int) -> Bool {
    let index = Self.index(in: skips) { $0 < day }
    return index < skips.count && skips[index] == day
  }

  private func counts(_ day: Int) -> Bool {
    day >= start && eras[era(of: day)].weekdays.contains(Self.weekday(day)) && !isPaused(day)
  }

  /// Returns the index of the era that contains a day.
  func era(of day: Int) -> Int { eras.count == 1 ? 0 : Self.index(in: eras) { $0.last < day } }

  /// Returns how many days from `first` to `last`, both included, are counted weekdays of their era and in `some`,
  /// regardless of start, pauses and skips.
  func asked(_ first: Int, _ last: Int, of some: WeekdaySet = .everyDay) -> Int {
    guard first <= last else { return 0 }
    var (count, from) = (0, first)
    for era in eras[era(of: first)...] {
      let to = min(era.last, last)
      count += Self.days(of: era.weekdays.intersection(some), from, to)
      guard to < last else { break }
      from = to + 1
    }
    return count
  }

  /// Returns the number of leading elements for which `holds` is true; it must be false for all others.
  private static func index<Element>(in elements: [Element], while holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // Day 0 was a Thursday.
  static func weekday(_ day: Int) -> Weekday { Weekday(rawValue: day.modulo(3, 7) + 1) ?? .monday }

  /// Returns how many days from `first` to `last`, both included, have these weekdays.
  static func days(of set: WeekdaySet, _ first: Int, _ last: Int) -> Int {
    guard first <= last else { return 0 }
    let length = last - first + 1
    var count = length / 7 * set.rawValue.nonzeroBitCount
    for day in stride(from: last, to: last - length % 7, by: -1) where set.contains(weekday(day)) { count += 1 }
    return count
  }
}

extension Int {
  /// Returns the remainder of the sum of this number and another, never negative.
  fileprivate func modulo(_ added: Int, _ divisor: Int) -> Int {
    let remainder = (self + added) % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }
}

extension CivilDate {
  var number: Int { Int(dayNumber) }

  /// Creates the day of a number, or the nearest valid one.
  init(nearest number: Int) {
    self = CivilDate(dayNumber: Swift.min(Swift.max(number, 0), CivilDate.latest.number)) ?? .earliest
  }
}

/// A CalendarPeriod is a calendar week, which starts on Monday, or a month; both are numbered.
enum CalendarPeriod: Hashable, Sendable {
  case week, month

  /// Returns the number of the period that contains a day.
  func index(of day: Int) -> Int {
    switch self {
    case .week:
      // Day -3 was the Monday of the week of 1970-01-01.
      return (day + 3 + 7_000) / 7 - 1_000
    case .month:
      let (year, month, _) = CivilDate(nearest: day).fields
      return year * 12 + month - 1
    }
  }

  /// Returns the first and the last day of a period.
  func days(_ index: Int) -> ClosedRange<Int> {
    switch self {
    case .week: return index * 7 - 3...index * 7 + 3
    case .month:
      let (year, month) = (index / 12, index % 12 + 1)
      guard let first = CivilDate(year: year, month: month, day: 1)?.number else { return 0...0 }
      return first...first + CivilDate.daysIn(month: month, year: year) - 1
    }
  }

  func days(around day: CivilDate) -> ClosedRange<CivilDate> {
    let days = days(index(of: day.number))
    return CivilDate(nearest: days.lowerBound)...CivilDate(nearest: days.upperBound)
  }
}
