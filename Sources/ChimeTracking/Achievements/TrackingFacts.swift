public import ChimeSchedule

/// TrackingFacts answers the queries of an achievement review about one owner, as of after the change.
///
/// A store answers from its data per day, without reading entries. Each query is made at most once per change, and only
/// while an achievement that needs it is locked.
public protocol TrackingFacts {
  func summary(of tracker: TrackerID) throws -> TrackerSummary?
  func dayTotal(of tracker: TrackerID, on day: CivilDate) throws -> DayTotal?
  /// Returns totals in order of days. Days without entries have none.
  func dayTotals(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [DayTotal]
  func items(of tracker: TrackerID) throws -> [Item]
  /// Returns how often an item occurs in total.
  func count(of item: ItemID, tracker: TrackerID) throws -> Int
  /// Returns how often each item occurs per day, in order of days.
  func itemDays(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [ItemDay]
}

/// An ItemDay says how often an item occurs on a day.
public struct ItemDay: Hashable, Sendable, Codable {
  public var day: CivilDate
  public var item: ItemID
  public var count: Int

  public init(day: CivilDate, item: ItemID, count: Int) {
    self.day = day
    self.item = item
    self.count = count
  }
}

/// A TrackingOccasion says what has changed, for the evaluation of achievements.
public enum TrackingOccasion: Hashable, Sendable {
  /// One entry was added, edited or removed.
  case entry(EntryChange)
  /// One item was added, edited or removed.
  case item(TrackerID, before: Item?, after: Item?)
  /// A day has started, perhaps after several without an evaluation.
  case day
  /// Many entries, a tracker's definition, or the pack changed: everything is evaluated again.
  case anew
}

/// An EntryChange is the change of one entry, with its effect on day totals.
///
///     // A glass more
///     EntryChange(
///       water, added: entry, days: [.init(before: totalBefore, after: totalAfter)], summary: summaryAfter)
public struct EntryChange: Hashable, Sendable {
  public var tracker: TrackerID
  /// The former entry; nil for a new one.
  public var removed: Entry?
  /// The new entry; nil for a removal.
  public var added: Entry?
  /// The changed days: one, or two if an edit moved the entry.
  public var days: [DayChange]
  /// The summary after the change.
  public var summary: TrackerSummary

  public struct DayChange: Hashable, Sendable {
    /// The totals before and after; nil for a day without entries.
    public var before: DayTotal?
    public var after: DayTotal?

    public init(before: DayTotal?, after: DayTotal?) {
      self.before = before
      self.after = after
    }
  }

  public init(
    _ tracker: TrackerID, removed: Entry? = nil, added: Entry? = nil, days: [DayChange], summary: TrackerSummary
  ) {
    self.tracker = tracker
    self.removed = removed
    self.added = added
    self.days = days
    self.summary = summary
  }
}

/// An AchievementOutcome is the result of an achievement review.
public struct AchievementOutcome: Hashable, Sendable {
  /// The progress to store: only what changed, in the order of the pack.
  public var changed: [AchievementProgress] = []
  /// Newly unlocked achievements, in the order of unlocking.
  public var unlocked: [Achievement] = []
  /// The pack's XP, from entries and achievements.
  public var experience: Int
  /// The levels before and after, which is lower if entries were removed; nil for a pack without levels.
  public var levels: (before: Int, after: Int)? {
    curve.map { ($0.level(at: experienceBefore), $0.level(at: experience)) }
  }
  var experienceBefore: Int
  var curve: LevelCurve?
}
