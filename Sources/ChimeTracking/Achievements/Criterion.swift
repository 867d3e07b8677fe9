public import ChimeSchedule

/// A Criterion is the condition of an achievement.
///
/// It covers one tracker of its pack, or all of them if `tracker` is nil: counts are then added up, and for other kinds
/// the best tracker decides. `level`, `perfectWeek` and `streakOfAny` cover the whole pack.
///
///     Criterion(.streak, tracker: water, target: 7)
///     Criterion(.entryBefore, tracker: water, minute: 8 * 60)
///     Criterion(.distinctItems, target: 5, within: 7)
public struct Criterion: Hashable, Sendable, Codable {
  /// The kinds of criteria. A "day" is the tracker's own, "today" its current one; `target` defaults to 1.
  ///
  /// Everything counted in days can be computed from `DayTotal` alone. So changes of the past, and existing data at
  /// installation, give the same number as logging did.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// There are `target` entries in total. Adds up over trackers.
    case entries
    /// A day has `target` entries.
    case entriesInDay
    /// A day has entries of `target` different items.
    case itemsInDay
    /// An entry has at least `amount`, for an amount or a measure.
    case amountInEntry
    /// A day's total is at least `target` percent (1 to 1000) of that day's goal, for an amount, or a check with a goal.
    case shareOfGoal
    /// The goal was met once: on a day, or in a week or month if the goal is per week or month. For a measure, this
    /// equals `goalValue`.
    case goalMet
    /// The goal was met on `target` days, consecutive or not (`TrackerSummary.metDays`). Adds up over trackers.
    case daysMet
    /// A streak of `target` days, weeks or months, as the tracker counts. With `days`, a streak of Mondays to Fridays
    /// or of weekend days only, always in days. The progress is the current streak.
    case streak
    /// On `target` days there was an entry before `minute`, or at or after it. Both go by the tracker's day: if that
    /// starts at 04:00, 01:30 is after 22:00, and not before 08:00. Adds up over trackers.
    case entryBefore, entryAfter
    /// `target` items are owned today. With `attribute`, only items that have it count; with `value`, only items with
    /// that value.
    case itemsOwned
    /// One item has `target` entries.
    case entriesForItem
    /// There are `target` different values of `attribute` among the owned items; with `within`, among the items used in
    /// any `within` consecutive days up to today.
    case distinctValues
    /// `target` different items are used in any `within` consecutive days up to today.
    case distinctItems
    /// In any `within` consecutive days up to today, none before the first entry, at least `minimum` items are used,
    /// and the evenness (`Rotation.evenness`) is at least `target` percent.
    case evenRotation
    /// There is an item, or an entry.
    case firstItem, firstEntry
    /// `target` years have passed since the day of the first entry; February 29 has its anniversary on March 1.
    case anniversary
    /// The pack's XP reach level `target`, including XP of achievements unlocked at the same time.
    case level
    /// `target` times, seven consecutive days were perfect: each tracker of the pack that was due was met.
    ///
    /// A tracker is due if it counts by weekdays and has no goal per week or month. Days with nothing due are ignored,
    /// up to 99 in a row. Fourteen consecutive days count as two times.
    case perfectWeek
    /// On `target` consecutive days, at least one tracker of the pack was met (`StreakOfAny`). The progress is the current run.
    case streakOfAny
    /// On `target` consecutive weekends there was an entry. The progress is the current run.
    case weekends
    /// The values of a measure lie on both sides of `amount`, or on it.
    case crossed
    /// The values of a measure lie on both sides of its goal, or on it.
    case goalValue
    /// `target` days have passed since the tracker's start (`Tracker.startedOn`).
    case daysSinceStart
    /// On `target` days that were the `day` of `month` there was an entry. Adds up over trackers.
    case entryOnDate
    /// On `target` days that were one of `weekdays` there was an entry; with `day`, only on that day of the month
    /// (Friday the 13th). Adds up over trackers.
    case entryOnWeekday
    /// `target` times, an item was used on an anniversary of `Item.since`, at least one year later. February 29 has
    /// none in other years.
    case itemAnniversary
  }

  /// The days that a streak covers.
  public enum Days: String, Hashable, Sendable, Codable, CaseIterable { case all, weekdays, weekends }

  public var kind: Kind
  /// The tracker that it covers; nil for all of the pack's.
  public var tracker: TrackerID?
  public var target: Int
  public var amount: Quantity?
  public var days: Days
  /// Local time in minutes after midnight.
  public var minute: Int?
  public var attribute: String?
  public var value: String?
  public var within: Int?
  public var minimum: Int?
  public var month: Int?
  public var day: Int?
  public var weekdays: WeekdaySet?

  public init(
    _ kind: Kind, tracker: TrackerID? = nil, target: Int = 1, amount: Quantity? = nil, days: Days = .all,
    minute: Int? = nil, attribute: String? = nil, value: String? = nil, within: Int? = nil, minimum: Int? = nil,
    month: Int? = nil, day: Int? = nil, weekdays: WeekdaySet? = nil
  ) {
    self.kind = kind
    self.tracker = tracker
    self.target = target
    self.amount = amount
    self.days = days
    self.minute = minute
    self.attribute = attribute
    self.value = value
    self.within = within
    self.minimum = minimum
    self.month = month
    self.day = day
    self.weekdays = weekdays
  }
}

extension Criterion {
  /// Returns whether it depends on values of a measure, which a typing error may reach.
  public func isOfValues(of measure: Tracker) -> Bool {
    guard tracker == nil || tracker == measure.id, measure.kind == .measure else { return false }
    return switch kind {
    case .goalValue, .crossed, .amountInEntry: true
    case .goalMet: measure.goalValue != nil
    default: false
    }
  }
}
