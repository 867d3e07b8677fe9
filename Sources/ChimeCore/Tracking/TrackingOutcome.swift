public import ChimeSchedule
public import ChimeTracking

/// A TrackingOutcome is the result of a change, as values for the reply, for watchers and for the loop.
public struct TrackingOutcome: Hashable, Sendable {
  /// The change that `undo` would revert; nil if nothing changed.
  public var change: Int64?
  /// The changed tracker.
  public var tracker: Tracker?
  /// The logged, edited or removed entry.
  public var entry: Entry?
  /// The number of removed entries.
  public var removed = 0
  /// The tracker's progress on the entry's day, or today.
  public var progress: GoalProgress?
  /// Whether the change met the goal.
  public var goalMet = false
  /// The limit's state, if the change brought today nearer to it or past it.
  public var limit: LimitState?
  /// The stock's level, if it newly runs low or is used up.
  public var stock: StockLevel?
  /// Unlocked achievements, in the order of their packs' declarations.
  public var unlocked: [Unlock] = []
  public var milestones: [Milestone] = []
  /// Packs that reached a new level.
  public var levels: [LevelUp] = []
  /// Reminders whose next time changed.
  public var moved: [MovedReminder] = []
  /// Occurrences that the change has closed; their popups must be removed.
  public var closed: [Occurrence] = []
  /// Notices to the user: occurrences of reminders made for them, which have fired.
  public var notices: [Occurrence] = []

  public init() {}
}

/// An Unlock is an achievement that was reached.
public struct Unlock: Hashable, Sendable {
  public var pack: PackID
  public var achievement: Achievement
  /// Whether it is reached without a message, because the data existed before the pack.
  public var isSilent = false
}

public struct LevelUp: Hashable, Sendable {
  public var pack: PackID
  public var level: Int
  /// The total XP.
  public var experience: Int
}

/// A MovedReminder is a reminder whose next time an entry changed.
public struct MovedReminder: Hashable, Sendable {
  public var id: ReminderID
  public var title: String
  /// Its next time; nil if there is none.
  public var next: Instant?
}

/// An EntryDraft is an entry to log.
public struct EntryDraft: Hashable, Sendable {
  public var tracker: TrackerID
  /// Nil for now.
  public var at: Instant?
  /// Nil for the usual amount, if the tracker has one.
  public var quantity: Quantity?
  public var fields: [String: Quantity]
  public var item: ItemID?
  public var note: String?
  /// The name of a file in the state directory.
  public var photo: String?
  /// Whether to accept a value that is far from the last one.
  public var isForced = false

  public init(
    tracker: TrackerID, at: Instant? = nil, quantity: Quantity? = nil, fields: [String: Quantity] = [:],
    item: ItemID? = nil, note: String? = nil, photo: String? = nil
  ) {
    self.tracker = tracker
    self.at = at
    self.quantity = quantity
    self.fields = fields
    self.item = item
    self.note = note
    self.photo = photo
  }
}

/// PackWishes are the options for installing a pack. The caller puts chosen goals into the pack itself.
public struct PackWishes: Hashable, Sendable {
  /// Whether to create a reminder, by key; the pack decides about the others.
  public var reminders: [String: Bool]
  /// Schedules that replace the pack's, by key.
  public var schedules: [String: Schedule]
  /// The languages of its reminders, best first; nil for the user's (`TrackingWording.languages`).
  public var languages: [String]?
  /// The defaults of new reminders that the pack does not set: zone, channels, catch-up, grace, jitter, snooze lengths.
  public var prototype: Reminder?
  /// Complete reminders that replace the pack's, by key; a new one without an id gets one.
  public var whole: [String: Reminder]
  /// The manifest that declares it; nil to keep the current one.
  public var set: String?

  public init(
    reminders: [String: Bool] = [:], schedules: [String: Schedule] = [:], languages: [String]? = nil,
    prototype: Reminder? = nil, whole: [String: Reminder] = [:], set: String? = nil
  ) {
    self.reminders = reminders
    self.schedules = schedules
    self.languages = languages
    self.prototype = prototype
    self.whole = whole
    self.set = set
  }
}

/// A TrackingRefused says why a change of trackers was refused.
public enum TrackingRefused: Error, Hashable, Sendable {
  case noTracker(TrackerID)
  case noEntry(EntryID)
  case noItem(ItemID, TrackerID)
  case noMilestone(Int64)
  case noPack(PackID)
  /// An unacceptable value; the sentence says which ones are acceptable.
  case invalid(field: String, String)
  /// A surprising value, which is accepted when confirmed.
  case unlikely(field: String, String)
  /// The change contradicts existing data.
  case conflict(String)
  case nothingToUndo
}
