public import ChimeSchedule

/// What all entries of a tracker come to, kept up with each of them at a cost that does not grow with their number.
///
/// `ProgressAggregator` makes and keeps it. It knows no "now": what a streak and the strength are on a day, `ProgressAggregator.form(of:on:)`
/// says. It holds for the tracker as it was defined when it was made; when its counting, goal, pauses, skips or start
/// change, it is to be made anew.
public struct TrackerSummary: Hashable, Sendable, Codable {
  public var entries = 0
  public var total = Quantity.zero
  public var firstDay: CivilDate?
  public var lastDay: CivilDate?
  public var lastAt: Instant?
  /// Of a measure: the value of the first and of the last day, and the least and the greatest of all entries.
  public var firstValue: Quantity?
  public var lastValue: Quantity?
  public var least: Quantity?
  public var most: Quantity?
  /// Records of a day.
  public var mostEntriesInADay = 0
  public var mostInADay = Quantity.zero
  /// The best day's share of its goal, in thousandths, rounded down.
  public var bestShare = 0
  /// Days with an entry, days whose goal was met, and of those the days that count by the tracker's definition: these are
  /// the days that are numbered 1, 2, 3 …
  public var activeDays = 0
  public var metDays = 0
  public var numberedDays = 0
  /// The run that the last met day belongs to, whether or not it still stands, and the longest there was; of all counted
  /// days, of Mondays to Fridays only, and of Saturdays and Sundays only (these two always in days).
  public var run = Streak()
  public var longest = Streak()
  public var weekdayRun = Streak()
  public var longestWeekdays = Streak()
  public var weekendRun = Streak()
  public var longestWeekends = Streak()
  /// Habit strength, 0 to 1, at the end of `strengthDay`, the last counted day that has an entry.
  public var strength = 0.0
  public var strengthDay: CivilDate?
  /// What the next step has to know besides.
  public var carry = Carry()

  public init() {}

  /// What is carried from one step to the next, of interest to `ProgressAggregator` alone.
  public struct Carry: Hashable, Sendable, Codable {
    /// Strength at the end of the day before `strengthDay`.
    var settled = 0.0
    /// What the last days contributed to the strength, in order, as far back as it matters.
    var recent: [Contribution] = []
    /// The newest week or month, and what it has so far.
    var period: PeriodTally?
    /// The number of the last week or month up to which the run stands.
    var stands: Int?
    var rolling: RollingRuns?
    /// Of a limit: the day up to which days are judged, and the newest one with an entry, as long as it is not.
    var closed: Int?
    var open: OpenDay?

    init() {}
  }

  /// What a day has, of what a week, a month or a rolling time asks for.
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

/// How a tracker goes on a day, of what only time changes.
public struct Form: Hashable, Sendable, Codable {
  /// The runs that still stand; of length 0 when none does. Today not yet done breaks none.
  public var streak: Streak
  public var weekdayStreak: Streak
  public var weekendStreak: Streak
  /// The longest there has been up to that day, the standing one included.
  public var longest: Streak
  /// Habit strength, 0 to 1.
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
