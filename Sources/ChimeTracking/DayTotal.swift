public import ChimeSchedule

/// What one day's entries of a tracker come to. Kept beside the entries, so that nothing is read again to know it.
public struct DayTotal: Hashable, Sendable, Codable {
  public var day: CivilDate
  public var count: Int
  /// Of an amount: the sum.
  public var total: Quantity
  /// The smallest and the greatest entry; nil for a check.
  public var least: Quantity?
  public var most: Quantity?
  /// The value of the entry that came last by its time: a measure's value of the day.
  public var last: Quantity?
  public var firstAt: Instant
  public var lastAt: Instant
  /// Minutes after midnight of the earliest and the latest on the clock on the wall.
  public var firstMinute: Int
  public var lastMinute: Int
  /// Whether the day's goal was met, as the goal was when an entry of that day was last changed.
  public var isMet: Bool
  /// The day's goal as it was then; nil: none.
  public var goal: Goal?

  public init(
    day: CivilDate, count: Int, total: Quantity, least: Quantity? = nil, most: Quantity? = nil, last: Quantity? = nil,
    firstAt: Instant, lastAt: Instant, firstMinute: Int, lastMinute: Int, isMet: Bool, goal: Goal? = nil
  ) {
    self.day = day
    self.count = count
    self.total = total
    self.least = least
    self.most = most
    self.last = last
    self.firstAt = firstAt
    self.lastAt = lastAt
    self.firstMinute = firstMinute
    self.lastMinute = lastMinute
    self.isMet = isMet
    self.goal = goal
  }
}

/// A run of counted days (weeks, months) that were met.
public struct Streak: Hashable, Sendable, Codable {
  /// What it is counted in.
  public enum Unit: String, Hashable, Sendable, Codable { case days, weeks, months }

  public var length: Int
  public var unit: Unit
  /// Its first and its last day that was met; nil for a length of 0.
  public var first: CivilDate?
  public var last: CivilDate?

  public init(length: Int = 0, unit: Unit = .days, first: CivilDate? = nil, last: CivilDate? = nil) {
    self.length = length
    self.unit = unit
    self.first = first
    self.last = last
  }
}

/// What all entries of a tracker come to, kept up with each of them at a cost that does not grow with their number.
///
/// `Tallying` makes and keeps it. What it says of "now" (whether a streak still stands) is as of `asOf`; `Tallying` brings
/// it to another day without reading entries.
public struct TrackerSummary: Hashable, Sendable, Codable {
  public var entries = 0
  public var total = Quantity.zero
  public var firstDay: CivilDate?
  public var lastDay: CivilDate?
  public var lastAt: Instant?
  /// The value of the entry that is first, last, least and greatest by what it is about: of a measure.
  public var firstValue: Quantity?
  public var lastValue: Quantity?
  public var least: Quantity?
  public var most: Quantity?
  /// Records of a day.
  public var mostEntriesInADay = 0
  public var mostInADay = Quantity.zero
  /// The best day's share of its goal, in thousandths.
  public var bestShare = 0
  /// Days with an entry, and days whose goal was met.
  public var activeDays = 0
  public var metDays = 0
  /// The run that the last met day belongs to, whether or not it still stands, and the longest there was; of all counted
  /// days, of Mondays to Fridays only, and of Saturdays and Sundays only.
  public var run = Streak()
  public var longest = Streak()
  public var weekdayRun = Streak()
  public var longestWeekdays = Streak()
  public var weekendRun = Streak()
  public var longestWeekends = Streak()
  /// Habit strength, 0 to 1, at the end of `strengthDay`.
  public var strength = 0.0
  public var strengthDay: CivilDate?

  public init() {}
}

/// How often each item occurs in a time.
public struct ItemCount: Hashable, Sendable, Codable {
  public var item: ItemID
  public var count: Int
  public var lastDay: CivilDate?

  public init(item: ItemID, count: Int, lastDay: CivilDate? = nil) {
    self.item = item
    self.count = count
    self.lastDay = lastDay
  }
}
