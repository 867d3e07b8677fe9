/// A CommonForm is the dialect-neutral form of a recurring schedule: days, times of day and bounds. A conversion reads
/// it from one dialect and writes it in another.
struct CommonForm {
  var days: Days
  /// Ascending, each once, at least one.
  var times: [CivilTime]
  /// The first and last wall-clock times at which it may occur, both included; `nil` if unbounded.
  var first: CivilDateTime?
  var last: CivilDateTime?
  /// The number of occurrences from ``first`` on, which is then not `nil`.
  var count: Int?
  /// The excluded days.
  var except: [ClosedRange<CivilDate>] = []

  enum Days {
    case weekly(WeekdaySet)
    /// Days of months: 1…31, or −1…−31 from the end of the month.
    case ofMonth(MonthSet, [Int], every: Turn? = nil)
    /// Weekdays by position (`first mon`): ordinals 1…5, or −1…−5 from the end of the month.
    case ordinal(MonthSet, [Ordinal], every: Turn? = nil)
    /// Days from Monday to Friday, by position in the month: 1…23, or −1…−23 from its end.
    case workday(MonthSet, [Int], every: Turn? = nil)
    /// Every n weeks, which begin on Monday, counted from the week of a day.
    case weeks(Int, WeekdaySet, from: CivilDate)
    /// Every n days from a day on.
    case interval(Int, from: CivilDate)
    case date(CivilDate)
  }

  /// A Turn is a repetition every n months or years, counted from the month or year of a day.
  struct Turn {
    var count: Int
    var isYears: Bool
    var from: CivilDate
  }

  struct Ordinal: Hashable {
    var ordinal: Int
    var weekday: Weekday
  }

  /// The hours, minutes and seconds whose every combination is a time of the form; `nil` if the times are not such a grid.
  var grid: (hours: [Int], minutes: [Int], seconds: [Int])? {
    let hours = Set(times.map(\.hour)).sorted()
    let minutes = Set(times.map(\.minute)).sorted()
    let seconds = Set(times.map(\.second)).sorted()
    return hours.count * minutes.count * seconds.count == times.count ? (hours, minutes, seconds) : nil
  }

  /// The step in seconds if there are more than four times with equal distances; otherwise `nil`.
  var step: Int? {
    guard times.count > 4 else { return nil }
    let step = Int(times[1].secondOfDay - times[0].secondOfDay)
    for (earlier, later) in zip(times, times.dropFirst()) where Int(later.secondOfDay - earlier.secondOfDay) != step {
      return nil
    }
    return step
  }
}

/// A set of months; bit 0 is January.
struct MonthSet: OptionSet, Hashable {
  let rawValue: UInt16

  static let all = MonthSet(rawValue: 0xFFF)

  init(rawValue: UInt16) { self.rawValue = rawValue & 0xFFF }
  init(_ months: some Sequence<Int>) { self.init(rawValue: months.reduce(0) { $0 | 1 << UInt16($1 - 1) }) }

  /// The numbers of the months, 1…12, ascending.
  var numbers: [Int] { (1...12).filter { rawValue >> UInt16($0 - 1) & 1 == 1 } }
}
