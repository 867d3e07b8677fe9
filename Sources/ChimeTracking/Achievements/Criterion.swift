public import ChimeSchedule

/// What an achievement asks for.
///
/// It is about one tracker of its pack, or, where `tracker` is nil, about any of them: what is counted is then added up
/// over all of them, of the rest the best of them stands for all. `level`, `perfectWeek` and `streakOfAny` are
/// about the pack.
///
///     Criterion(.streak, tracker: water, target: 7)
///     Criterion(.entryBefore, tracker: water, minute: 8 * 60)
///     Criterion(.distinctItems, target: 5, within: 7)
public struct Criterion: Hashable, Sendable, Codable {
  /// The rules. "A day" is the tracker's own, `today` the one that it has now; `target` is 1 where it is not named.
  ///
  /// What is counted in days can be told from `DayTotal` alone, so that any change of the past, and existing data at
  /// installation, come to the same number as logging did.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// There are `target` entries in all. Added up over trackers.
    case entries
    /// A day has `target` entries.
    case entriesInDay
    /// A day has entries of `target` different items.
    case itemsInDay
    /// An entry has at least `amount`: of an amount or a measure.
    case amountInEntry
    /// A day's total is at least `target` percent of the day's goal as it was then (1 to 1000): of an amount, or of a check
    /// with a goal.
    case shareOfGoal
    /// The goal was met once: on a day; of a goal of the week or the month, or so many times in one, in one of these. Of a
    /// measure's value it is `goalValue`.
    case goalMet
    /// The goal was met on `target` days, in a row or not (`TrackerSummary.metDays`). Added up over trackers.
    case daysMet
    /// A streak of `target`, in days, weeks or months as the tracker counts them; of `days`: of Mondays to Fridays or of
    /// Saturdays and Sundays alone, always in days. Its progress is the streak that stands.
    case streak
    /// On `target` days there was an entry before `minute`, or at or after it. Both go by the tracker's day: when it begins
    /// at 04:00, 01:30 is after 22:00, and not before 08:00. Added up over trackers.
    case entryBefore, entryAfter
    /// `target` items are owned: since today at the latest, and not given away before tomorrow. Only those that have
    /// `attribute`, and only those whose `attribute` is `value`, where these are given.
    case itemsOwned
    /// One item has `target` entries.
    case entriesForItem
    /// There are `target` different values of `attribute` among the items owned; with `within`: among the items that occur
    /// in any so many days running up to today.
    case distinctValues
    /// `target` different items occur in any `within` days running up to today.
    case distinctItems
    /// In any `within` days running up to today, the first of them not before the first entry, at least `minimum` items
    /// occur, and the rotation's evenness (`Rotation.evenness`) is at least `target` percent.
    case evenRotation
    /// There is an item; there is an entry.
    case firstItem, firstEntry
    /// `target` years have gone since the day of the first entry; a 29 February has its day on 1 March.
    case anniversary
    /// The pack's XP come to level `target`, the XP of achievements unlocked at the same time included.
    case level
    /// `target` times, seven days running were perfect: each tracker of the pack that was due on that day was met. Due is
    /// what counts by weekdays and has no goal of a week or a month. Days on which nothing was due are passed over, up to
    /// 99 in a row; fourteen days running are two times.
    case perfectWeek
    /// On `target` days running, one tracker of the pack at least was met (`StreakOfAny`). Its progress is the run that stands.
    case streakOfAny
    /// On `target` weekends running there was an entry, on the Saturday or the Sunday. Its progress is the run that stands.
    case weekends
    /// The values of a measure lie on both sides of `amount`, or on it.
    case crossed
    /// The values of a measure lie on both sides of its goal's value, or on it.
    case goalValue
    /// `target` days have gone since the tracker's first day (`Tracker.startedOn`).
    case daysSinceStart
    /// There was an entry on `target` days that were the `day` of `month`. Added up over trackers.
    case entryOnDate
    /// There was an entry on `target` days that were one of `weekdays`; with `day` only where that was the day of the month
    /// too (Friday the 13th). Added up over trackers.
    case entryOnWeekday
    /// There was, `target` times, a day that an item was worn on and that was an anniversary of `Item.since`, a year later or
    /// more. A 29 February has none in other years.
    case itemAnniversary
  }

  /// Which days a streak is of.
  public enum Days: String, Hashable, Sendable, Codable, CaseIterable { case all, weekdays, weekends }

  public var kind: Kind
  /// The tracker it is about; nil: any of the pack's.
  public var tracker: TrackerID?
  public var target: Int
  public var amount: Quantity?
  public var days: Days
  /// Minutes after midnight on the clock on the wall.
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
  /// Whether it is about the values of a measure, which a slip of the fingers may reach.
  public func isOfValues(of measure: Tracker) -> Bool {
    guard tracker == nil || tracker == measure.id, measure.kind == .measure else { return false }
    return switch kind {
    case .goalValue, .crossed, .amountInEntry: true
    case .goalMet: measure.goalValue != nil
    default: false
    }
  }
}
