public import ChimeSchedule

/// A TrackerSummary sums up all entries of a tracker, and is updated with each one at constant cost.
///
/// `ProgressAggregator` makes and updates it. It is independent of the current time; `ProgressAggregator.form(of:on:)`
/// gives the streak and the strength on a day. It is valid for one definition: if counting, goal, pauses, skips or
/// start change, it must be recomputed.
public struct TrackerSummary: Hashable, Sendable, Codable {
  public var entries = 0
  public var total = Quantity.zero
  public var firstDay: CivilDate?
  public var lastDay: CivilDate?
  public var lastAt: Instant?
  /// The values of the first and the last day, and the least and the greatest of all entries, for a measure.
  public var firstValue: Quantity?
  public var lastValue: Quantity?
  public var least: Quantity?
  public var most: Quantity?
  /// The records of a single day.
  public var mostEntriesInADay = 0
  public var mostInADay = Quantity.zero
  /// The best day's part of its goal, in thousandths, rounded down.
  public var bestShare = 0
  /// The number of days with an entry, of days met, and of those the days that count, which are numbered 1, 2, 3 …
  public var activeDays = 0
  public var metDays = 0
  public var numberedDays = 0
  /// The run that contains the last met day, current or not, and the longest ever: of all counted days, of Mondays to
  /// Fridays only, and of weekend days only (these two always in days).
  public var run = Streak()
  public var longest = Streak()
  public var weekdayRun = Streak()
  public var longestWeekdays = Streak()
  public var weekendRun = Streak()
  public var longestWeekends = Streak()
  /// The habit strength, 0 to 1, at the end of `strengthDay`, the last counted day with an entry.
  public var strength = 0.0
  public var strengthDay: CivilDate?
  /// State for the next update.
  public var carry = Carry()

  public init() {}

  /// A Carry is the state from one update to the next, for `ProgressAggregator` only.
  public struct Carry: Hashable, Sendable, Codable {
    /// The strength at the end of the day before `strengthDay`.
    var settled = 0.0
    /// The contributions of recent days to the strength, in order, as far back as they matter.
    var recent: [Contribution] = []
    /// The totals of the newest week or month.
    var period: PeriodTally?
    /// The number of the last week or month up to which the run lasts.
    var stands: Int?
    var rolling: RollingRuns?
    /// For a limit: the day up to which days are judged, and the newest day with an entry if it is not judged yet.
    var closed: Int?
    var open: OpenDay?

    init() {}
  }

  /// A Contribution is what a day adds to a week, a month or a rolling span.
  struct Contribution: Hashable, Sendable, Codable {
    var day: Int
    var amount: Int64
  }

  struct PeriodTally: Hashable, Sendable, Codable {
    var index: Int
    var entries = 0
    var total = Quantity.zero
    var metDays = 0
    var isMet = false
  }
}

/// A Form is the state of a tracker on a day that changes with time alone.
public struct Form: Hashable, Sendable, Codable {
  /// The current runs; of length 0 if there is none. An unfinished today breaks none.
  public var streak: Streak
  public var weekdayStreak: Streak
  public var weekendStreak: Streak
  /// The longest run up to that day, including the current one.
  public var longest: Streak
  /// The habit strength, 0 to 1.
  public var strength: Double

  public init(
    streak: Streak, weekdayStreak: Streak, weekendStreak: Streak, longest: Streak, strength: Double
  ) {
    self.streak = streak
    self.weekdayStreak = weekdayStreak
    self.weekendStreak = weekendStreak
    self.longest = longest
    self.strength = strength
  }
}
