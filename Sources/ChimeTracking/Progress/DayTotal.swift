public import ChimeSchedule

/// A DayTotal is the sum of a tracker's entries of one day. It is stored, so that entries need not be read again.
public struct DayTotal: Hashable, Sendable, Codable {
  public var day: CivilDate
  public var count: Int
  /// The sum, for an amount; otherwise zero.
  public var total: Quantity
  /// The smallest and the largest entry; nil for a check.
  public var least: Quantity?
  public var most: Quantity?
  /// The value of the last entry in time, which is the day's value of a measure.
  public var last: Quantity?
  public var firstAt: Instant
  public var lastAt: Instant
  /// The local times of the earliest and the latest entry, in minutes after midnight, ordered by the tracker's day: if
  /// it starts at 04:00, 01:30 is later than 23:00 (`Tracker.minuteOfDay`).
  public var firstMinute: Int
  public var lastMinute: Int
  /// Whether the day's goal was met, by the goal in force when an entry of the day last changed. Without a goal per
  /// day, a day with an entry is met.
  public var isMet: Bool
  /// The day's goal at that time, if any.
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

/// A Streak is a run of counted days, weeks or months that were met.
public struct Streak: Hashable, Sendable, Codable {
  /// The unit in which a streak is counted.
  public enum Unit: String, Hashable, Sendable, Codable { case days, weeks, months }

  public var length: Int
  public var unit: Unit
  /// The first and the last day that was met, or the first day of the first and the last day of the last week or month.
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

/// An ItemCount says how often an item occurs in a range.
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
