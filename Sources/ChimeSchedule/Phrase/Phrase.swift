/// A Phrase is a parsed schedule of the phrase dialect.
///
/// A recurring one has a pattern, which gives the possible occurrences, and bounds, which limit them. A wall-clock
/// pattern combines days with times of day.
struct Phrase: DialectSchedule {
  var pattern: Pattern
  var bounds = Bounds()

  enum Pattern: Sendable, Hashable {
    /// `at 2026-12-01 09:00`; without bounds.
    case once(Moment)
    /// `weekdays at 08:30,18:00`: times ascending, each once.
    case times(Days, [CivilTime])
    /// `every 90m from 08:00 to 22:00 on weekdays`. A window that ends at or before its start ends on the next day.
    case window(seconds: Int64, from: CivilTime, to: CivilTime, Days)
    /// `every 36h`: elapsed time from `starting`, which is always set.
    case elapsed(seconds: Int64, Days)
    /// `every 3 days after done at 09:00`: from the day that many days after the last completion, or from `starting`,
    /// which is always set.
    case daysAfterDone(Int, [CivilTime])
    /// `every 4h after done`: elapsed time from the last completion, or from `starting`, which is always set.
    case elapsedAfterDone(seconds: Int64)
  }

  /// The days of a pattern. Steps of days, weeks, months or years are at least two and count from `starting`, which is
  /// then always set.
  enum Days: Sendable, Hashable {
    case weekdays(WeekdaySet)
    /// `every 3 days`
    case days(every: Int)
    /// `every 2 weeks on mon,thu`; weeks begin on Monday.
    case weeks(every: Int, WeekdaySet)
    /// `last day of month`, `nov 17`
    case dates(MonthDays)
    /// `every 3 months on day 1`
    case months(every: Int, MonthSelection)
    /// `every 2 years on nov 17`
    case years(every: Int, MonthDays)

    /// Whether it counts from the day of `starting`.
    var isRota: Bool {
      switch self {
      case .weekdays, .dates: false
      case .days, .weeks, .months, .years: true
      }
    }
  }

  /// A point in time as written.
  enum Moment: Sendable, Hashable {
    /// `2026-12-01`: its first second, or, as an end, its last.
    case date(CivilDate)
    /// `2026-12-01 09:00`, on the clock of the schedule's zone.
    case civil(CivilDateTime)
    /// `2026-12-01T08:00:00Z`, in whole seconds.
    case instant(Instant)
  }

  struct Bounds: Sendable, Hashable {
    var starting: Moment?
    var until: Moment?
    /// The number of occurrences from `starting` on. Those in `except` count too (RFC 5545's rule for COUNT).
    var count: Int?
    /// Ascending, with at least one day between two ranges.
    var except: [ClosedRange<CivilDate>] = []
    /// The days excluded each year.
    var exceptYearly = YearDays.none
    /// The calendars whose days are excluded, in alphabetical order, each once.
    var exceptCalendars: [String] = []

    /// Returns all excluded days, those of the calendars included. An unknown calendar has none.
    func exceptions(in scheduleContext: ScheduleContext) -> DayRanges {
      guard !exceptCalendars.isEmpty else { return DayRanges(except, yearly: exceptYearly) }
      var ranges = except
      for name in exceptCalendars { ranges += scheduleContext.calendar(name) ?? [] }
      return DayRanges(CivilDate.merged(ranges), yearly: exceptYearly)
    }
  }

  /// The largest number in `N times`.
  static let largestCount = 10_000
  /// The most times of day in one schedule: every minute of a day.
  static let mostTimes = 1_440
  /// The most items in one list of days.
  static let mostDays = 100
  /// The most numbers, positions and months in the month days of one schedule, repetitions included.
  static let mostDates = 500
  /// The most dates, date ranges and calendars after `except`.
  static let mostExceptions = 1_000
  /// The most days, weeks, months or years in a step of a rota: the number of days in the range.
  static let mostSteps = 2_932_896
  /// The longest name of a calendar, in bytes.
  static let longestName = 64

  var isOneOff: Bool {
    if case .once = pattern { true } else { false }
  }

  var calendarNames: [String] { bounds.exceptCalendars }

  var countsFromDone: Bool {
    switch pattern {
    case .daysAfterDone, .elapsedAfterDone: true
    case .once, .times, .window, .elapsed: false
    }
  }

  var canFollowEntries: Bool {
    switch pattern {
    case .window, .elapsed: bounds.count == nil
    case .once, .times, .daysAfterDone, .elapsedAfterDone: false
    }
  }
}

extension Phrase {
  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    var parser = PhraseParser(bytes, context: context)
    try parser.lexer.start()
    self = try parser.phrase()
  }

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(
      phrase: self, in: scheduleContext, zone: zone, gap: GapHandling(gap, default: .shift), fold: fold ?? .first)
  }
}
