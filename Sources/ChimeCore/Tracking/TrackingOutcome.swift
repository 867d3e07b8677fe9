public import ChimeSchedule
public import ChimeTracking

/// What a change of someone's trackers has brought about, as values: for the reply, for those who watch, for the loop.
public struct TrackingOutcome: Hashable, Sendable {
  /// What `undo` would take back; nil when there is nothing to.
  public var change: Int64?
  /// The tracker that it was about, as it is since.
  public var tracker: Tracker?
  /// The entry as it was logged or edited; of a removal of one, what was removed.
  public var entry: Entry?
  /// How many entries were removed.
  public var removed = 0
  /// How the tracker stands on the entry's day, or today.
  public var standing: GoalProgress?
  /// Whether the goal has been met by it, which it was not before.
  public var goalMet = false
  /// That the entry's day, which is today, has come near to its limit or has passed it, and was further off before.
  public var limit: LimitState?
  /// That its stock runs low or is used up, which was not told before.
  public var stock: StockLevel?
  /// In the order of their packs' declarations.
  public var unlocked: [Unlock] = []
  public var milestones: [Milestone] = []
  /// Packs whose level has risen.
  public var levels: [LevelUp] = []
  /// Reminders whose next time is another.
  public var moved: [MovedReminder] = []
  /// Occurrences that were open and are done by it: their popups are to be taken down.
  public var closed: [Occurrence] = []
  /// What a person is told of it: occurrences of reminders made for that, which have fired.
  public var notices: [Occurrence] = []

  public init() {}
}

/// An achievement that has been reached.
public struct Unlock: Hashable, Sendable {
  public var pack: PackID
  public var achievement: Achievement
  /// Whether nobody is told: it was reached by what was there when its pack came.
  public var isSilent: Bool

  public init(pack: PackID, achievement: Achievement, isSilent: Bool = false) {
    self.pack = pack
    self.achievement = achievement
    self.isSilent = isSilent
  }
}

public struct LevelUp: Hashable, Sendable {
  public var pack: PackID
  public var level: Int
  /// XP in all.
  public var experience: Int

  public init(pack: PackID, level: Int, experience: Int) {
    self.pack = pack
    self.level = level
    self.experience = experience
  }
}

/// A reminder that an entry has moved.
public struct MovedReminder: Hashable, Sendable {
  public var id: ReminderID
  public var title: String
  /// Its next time; nil: none.
  public var next: Instant?

  public init(id: ReminderID, title: String, next: Instant?) {
    self.id = id
    self.title = title
    self.next = next
  }
}

/// An entry as it is wanted.
public struct EntryDraft: Hashable, Sendable {
  public var tracker: TrackerID
  /// Nil: now.
  public var at: Instant?
  /// Nil: of an amount, the usual one.
  public var quantity: Quantity?
  public var fields: [String: Quantity]
  public var item: ItemID?
  public var note: String?
  /// The name of a file in the state folder.
  public var photo: String?
  /// Whether a value is taken that lies far from the last one.
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

/// What is wanted of a pack beside itself. A pack whose trackers have the goals that were chosen is made by the caller.
public struct PackWishes: Hashable, Sendable {
  /// By key: whether a reminder is wanted; others as the pack has them.
  public var reminders: [String: Bool]
  /// By key: a schedule in the place of the pack's.
  public var schedules: [String: Schedule]
  /// In which its reminders are made, best first; nil: the user's (`TrackingWording.languages`).
  public var languages: [String]?
  /// What new reminders have besides what the pack says of them: zone, channels, catch-up, grace, jitter, snooze lengths.
  public var prototype: Reminder?
  /// By key: a reminder as it is to be, in the place of what the pack makes; without an id it is given one when it is new.
  public var whole: [String: Reminder]
  /// The set of files that asks for it; nil: it stays whose it is.
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

/// Why a change of trackers was refused.
public enum TrackingRefused: Error, Hashable, Sendable {
  case noTracker(TrackerID)
  case noEntry(EntryID)
  case noItem(ItemID, TrackerID)
  case noMilestone(Int64)
  case noPack(PackID)
  /// A value that cannot be taken, and a sentence that says what can.
  case invalid(field: String, String)
  /// A value that can be, and is a surprise: it is taken when it is meant.
  case unlikely(field: String, String)
  /// It contradicts what there is.
  case conflict(String)
  case nothingToUndo
}
