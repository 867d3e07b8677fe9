public import ChimeSchedule

/// What one day's entries of a tracker come to. Kept beside the entries, so that nothing is read again to know it.
public struct DayTotal: Hashable, Sendable, Codable {
  public var day: CivilDate
  public var count: Int
  /// Of an amount: the sum; else zero.
  public var total: Quantity
  /// The smallest and the greatest entry; nil for a check.
  public var least: Quantity?
  public var most: Quantity?
  /// The value of the entry that came last by its time: a measure's value of the day.
  public var last: Quantity?
  public var firstAt: Instant
  public var lastAt: Instant
  /// Minutes after midnight of the earliest and the latest on the clock on the wall, in the order of the tracker's day:
  /// when it begins at 04:00, 01:30 is later than 23:00 (`Tracker.minuteOfDay`).
  public var firstMinute: Int
  public var lastMinute: Int
  /// Whether the day's goal was met, as the goal was when an entry of that day was last changed. Without a goal for the
  /// day (none at all, one of a week or a month, a measure's value) a day with an entry is met.
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
  /// Its first and its last day that was met; of weeks and months the first day of the first and the last day of the last.
  /// Nil for a length of 0.
  public var first: CivilDate?
  public var last: CivilDate?

  public init(length: Int = 0, unit: Unit = .days, first: CivilDate? = nil, last: CivilDate? = nil) {
    self.length = length
    self.unit = unit
    self.first = first
    self.last = last
  }
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
