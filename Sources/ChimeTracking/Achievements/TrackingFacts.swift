public import ChimeSchedule

/// What the evaluation of achievements asks beyond the change itself. A store answers from what it keeps by day; no answer
/// needs an entry to be read. All of them are as of after the change, and of one owner.
///
/// Each question is asked at most once for a change, and only while an achievement that needs it is locked.
public protocol TrackingFacts {
  func summary(of tracker: TrackerID) throws -> TrackerSummary?
  func dayTotal(of tracker: TrackerID, on day: CivilDate) throws -> DayTotal?
  /// In order. Days without an entry have none.
  func dayTotals(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [DayTotal]
  func items(of tracker: TrackerID) throws -> [Item]
  /// How often an item occurs in all.
  func count(of item: ItemID, tracker: TrackerID) throws -> Int
  /// How often each item occurs on each day, by day.
  func itemDays(of tracker: TrackerID, in days: ClosedRange<CivilDate>) throws -> [ItemDay]
}

/// How often an item occurs on a day.
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

/// What has just changed, as far as achievements are concerned.
public enum TrackingOccasion: Hashable, Sendable {
  /// One entry was added, edited or removed.
  case entry(EntryChange)
  /// One item was added, edited or removed.
  case item(TrackerID, before: Item?, after: Item?)
  /// A day has begun; also good for several that were slept through.
  case day
  /// Many entries, a tracker's definition, or the pack itself: everything is judged anew.
  case anew
}

/// One entry's change and what it did to its day.
///
///     // A glass more
///     EntryChange(
///       water, added: entry, days: [.init(before: totalBefore, after: totalAfter)], summary: summaryAfter)
public struct EntryChange: Hashable, Sendable {
  public var tracker: TrackerID
  /// As it was; nil when it is new.
  public var removed: Entry?
  /// As it is; nil when it is no more.
  public var added: Entry?
  /// The days that it changed: one, or two when an edit has moved it.
  public var days: [DayChange]
  /// As it is after the change.
  public var summary: TrackerSummary

  public struct DayChange: Hashable, Sendable {
    /// Nil where the day had, or has, no entry.
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

/// What a change has brought about.
public struct AchievementOutcome: Hashable, Sendable {
  /// The progress that is to be kept instead of what was: only what has changed, in the order of the pack.
  public var changed: [AchievementProgress] = []
  /// What is unlocked now and was not before, in the order in which it was.
  public var unlocked: [Achievement] = []
  /// XP of the pack, of its entries and its achievements.
  public var experience: Int
  /// The level before and after; equal where no level was gained, lower after where entries went away. Nil for a pack
  /// without levels.
  public var levels: (before: Int, after: Int)? {
    curve.map { ($0.level(at: experienceBefore), $0.level(at: experience)) }
  }
  var experienceBefore: Int
  var curve: LevelCurve?
}
