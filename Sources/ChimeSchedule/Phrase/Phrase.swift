/// A schedule of the phrase dialect, understood.
///
/// A recurring one is a pattern, which tells the possible occurrences, and bounds, which cut it. Patterns on the wall
/// clock are days times times.
struct Phrase: DialectSchedule {
  var pattern: Pattern
  var bounds = Bounds()

  enum Pattern: Sendable, Hashable {
    /// `at 2026-12-01 09:00`; bounds are empty.
    case once(Moment)
    /// `weekdays at 08:30,18:00`: times ascending, each once.
    case times(Days, [CivilTime])
    /// `every 90m from 08:00 to 22:00 on weekdays`: a window that ends at or before its start ends on the next day.
    case window(seconds: Int64, from: CivilTime, to: CivilTime, Days)
    /// `every 36h`: elapsed time from `starting`, which is never missing.
    case elapsed(seconds: Int64, Days)
    /// `every 3 days after done at 09:00`: from the day after so many days on which it was done, or from `starting`,
    /// which is never missing.
    case daysAfterDone(Int, [CivilTime])
    /// `every 4h after done`: elapsed time from when it was done, or from `starting`, which is never missing.
    case elapsedAfterDone(seconds: Int64)
  }

  /// Which days a pattern runs on. Those of every so many days, weeks, months or years count from the one that
  /// `starting` names, which is never missing, and number at least two.
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

    /// Whether it counts from the day that `starting` names.
    var isRota: Bool {
      switch self {
      case .weekdays, .dates: false
      case .days, .weeks, .months, .years: true
      }
    }
  }

  /// A point in time as it is written.
  enum Moment: Sendable, Hashable {
    /// `2026-12-01`: its first second, or, as an end, its last.
    case date(CivilDate)
    /// `2026-12-01 09:00`, on the clock of whatever zone the schedule is read in.
    case civil(CivilDateTime)
    /// `2026-12-01T08:00:00Z`, whole seconds.
    case instant(Instant)
  }

  struct Bounds: Sendable, Hashable {
    var starting: Moment?
    var until: Moment?
    /// How many occurrences from `starting` on, those in `except` counted too (RFC 5545's rule for COUNT).
    var count: Int?
    /// Ascending, apart from each other by at least a day.
    var except: [ClosedRange<CivilDate>] = []
    /// Days left out each year.
    var exceptYearly = YearDays.none
    /// Named calendars whose days are left out, in alphabetical order, each once.
    var exceptCalendars: [String] = []

    /// All days left out, with those of the calendars. A calendar that is not there has none.
    func exceptions(in scheduleContext: ScheduleContext) -> DayRanges {
      guard !exceptCalendars.isEmpty else { return DayRanges(except, yearly: exceptYearly) }
      var ranges = except
      for name in exceptCalendars { ranges += scheduleContext.calendar(name) ?? [] }
      return DayRanges(PhraseParser.merged(ranges), yearly: exceptYearly)
    }
  }

  /// The largest number in `N times`.
  static let largestCount = 10_000
  /// The most times of day in one schedule: each minute of a day.
  static let mostTimes = 1_440
  /// The most items in one list of days.
  static let mostDays = 100
  /// The most numbers, places and months in the days of months of one schedule, each time it names one.
  static let mostDates = 500
  /// The most dates, ranges of dates and calendars after `except`.
  static let mostExceptions = 1_000
  /// The most days, weeks, months or years from one turn of a rota to the next: as many days as the range has.
  static let mostSteps = 2_932_896
  /// The longest name of a calendar.
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
