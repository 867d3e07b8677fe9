/// What most recurring schedules come down to in no dialect's own words: days, times of day, and bounds. Conversion
/// reads it from one dialect and writes it in another.
struct CommonForm {
  var days: Days
  /// Ascending, each once, at least one.
  var times: [CivilTime]
  /// Readings of the wall clock between which it occurs, both included; `nil` where nothing bounds it.
  var first: CivilDateTime?
  var last: CivilDateTime?
  /// How many times from ``first`` on, which then is not `nil`.
  var count: Int?
  /// Days left out.
  var except: [ClosedRange<CivilDate>] = []

  enum Days {
    case weekly(WeekdaySet)
    /// Days of months: 1…31, or −1…−31 from the month's end.
    case ofMonth(MonthSet, [Int], every: Turn? = nil)
    /// `first mon`: ordinals 1…5, or −1…−5 from the month's end.
    case ordinal(MonthSet, [Ordinal], every: Turn? = nil)
    /// Days from Monday to Friday, counted within the month: 1…23, or −1…−23 from its end.
    case workday(MonthSet, [Int], every: Turn? = nil)
    /// Every so many weeks, which begin on Monday, counted from the week of a day.
    case weeks(Int, WeekdaySet, from: CivilDate)
    /// Every so many days from a day on.
    case interval(Int, from: CivilDate)
    /// One day.
    case date(CivilDate)
  }

  /// Every so many months or years, counted from those of a day.
  struct Turn {
    var count: Int
    var isYears: Bool
    var from: CivilDate
  }

  struct Ordinal: Hashable {
    var ordinal: Int
    var weekday: Weekday
  }

  /// The hours, minutes and seconds whose every combination is a time of the form; `nil` when the times are no such grid.
  var grid: (hours: [Int], minutes: [Int], seconds: [Int])? {
    let hours = Set(times.map(\.hour)).sorted()
    let minutes = Set(times.map(\.minute)).sorted()
    let seconds = Set(times.map(\.second)).sorted()
    return hours.count * minutes.count * seconds.count == times.count ? (hours, minutes, seconds) : nil
  }

  /// The step in seconds when the times follow each other evenly and are many enough to say so.
  var step: Int? {
    guard times.count > 4 else { return nil }
    let step = Int(times[1].secondOfDay - times[0].secondOfDay)
    for (earlier, later) in zip(times, times.dropFirst()) where Int(later.secondOfDay - earlier.secondOfDay) != step {
      return nil
    }
    return step
  }
}

/// Any of the twelve months; bit 0 is January.
struct MonthSet: OptionSet, Hashable {
  let rawValue: UInt16

  static let all = MonthSet(rawValue: 0xFFF)

  init(rawValue: UInt16) { self.rawValue = rawValue & 0xFFF }
  init(_ months: some Sequence<Int>) { self.init(rawValue: months.reduce(0) { $0 | 1 << UInt16($1 - 1) }) }

  /// 1…12, ascending.
  var numbers: [Int] { (1...12).filter { rawValue >> UInt16($0 - 1) & 1 == 1 } }
}
