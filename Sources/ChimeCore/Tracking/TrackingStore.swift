public import ChimeSchedule
public import ChimeTracking

/// Which tracker: names are unique among those of an owner.
public struct TrackerKey: Hashable, Comparable, Sendable, Codable {
  public var owner: UInt32
  public var id: TrackerID

  public init(owner: UInt32, id: TrackerID) {
    self.owner = owner
    self.id = id
  }

  public static func < (left: TrackerKey, right: TrackerKey) -> Bool {
    (left.owner, left.id) < (right.owner, right.id)
  }
}

extension Tracker { public var key: TrackerKey { TrackerKey(owner: owner, id: id) } }
extension Entry { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }
extension Item { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }
extension Milestone { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }

/// A change of someone's trackers, reminders or endpoints that can be taken back for `TrackingChange.keptFor`. One of very many entries is made in
/// parts, each a change of its own that is like the others but for its `id`; they are taken back together (`isPart(of:)`).
public struct TrackingChange: Hashable, Sendable, Codable {
  public static let keptFor = Milliseconds.days(30)

  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case logged, edited, removed, removedAll, tracker, item, milestone, pack, imported, restored, stocked
    // What keeps no versions in the store: its detail says what was.
    case reminderAdded, reminderEdited, reminderRemoved, reminderPaused, reminderResumed, reminderSkipped, reminderMoved
    case reminderDone, reminderSnoozed, reminderDismissed, remindersImported, setApplied
    case endpointAdded, endpointEdited, endpointRemoved, silenced, silenceEnded
    /// All of it was taken away.
    case startedOver
  }

  /// Given by the store.
  public var id: Int64
  public var owner: UInt32
  public var at: Instant
  public var kind: Kind
  public var tracker: TrackerID?
  /// What it was about: an entry's text, the title of what was removed, a number of entries.
  public var subject: String

  public init(
    id: Int64 = 0, owner: UInt32, at: Instant, kind: Kind, tracker: TrackerID? = nil, subject: String
  ) {
    self.id = id
    self.owner = owner
    self.at = at
    self.kind = kind
    self.tracker = tracker
    self.subject = subject
  }

  /// Whether both are parts of one import.
  public func isPart(of other: TrackingChange) -> Bool {
    var same = self
    same.id = other.id
    return same == other && kind == .imported
  }
}

/// A pack as it was installed.
public struct InstalledPack: Hashable, Sendable, Codable {
  public var pack: Pack
  public var owner: UInt32
  public var installedAt: Instant
  /// The reminders that it made, by their key in the pack.
  public var reminders: [String: ReminderID]
  /// The languages in which its reminders were made, best first.
  public var languages: [String]
  /// Its reminders as they were when it was removed, so that undoing that brings them back.
  public var removed: [Reminder]
  /// The set of files that declares it, by name (`chime apply`); nil: it was installed by hand.
  public var set: String?

  public init(
    pack: Pack, owner: UInt32, installedAt: Instant, reminders: [String: ReminderID] = [:], languages: [String] = [],
    removed: [Reminder] = [], set: String? = nil
  ) {
    self.pack = pack
    self.owner = owner
    self.installedAt = installedAt
    self.reminders = reminders
    self.languages = languages
    self.removed = removed
    self.set = set
  }
}

public struct EntryFilter: Hashable, Sendable {
  public var owner: UInt32
  /// Nil: of all the owner's trackers.
  public var tracker: TrackerID?
  public var days: ClosedRange<CivilDate>?
  public var weekdays: WeekdaySet?
  public var item: ItemID?
  /// Only those with a note.
  public var hasNote: Bool
  /// Only those of days that have a milestone.
  public var hasMilestone: Bool
  /// Occurs in the note, without regard to case (ASCII).
  public var text: String?

  public init(
    owner: UInt32, tracker: TrackerID? = nil, days: ClosedRange<CivilDate>? = nil, weekdays: WeekdaySet? = nil,
    item: ItemID? = nil, hasNote: Bool = false, hasMilestone: Bool = false, text: String? = nil
  ) {
    self.owner = owner
    self.tracker = tracker
    self.days = days
    self.weekdays = weekdays
    self.item = item
    self.hasNote = hasNote
    self.hasMilestone = hasMilestone
    self.text = text
  }
}

/// The verbs of a store for trackers, valid inside one body only.
///
/// What a person has entered (trackers, entries, items, milestones, packs) is kept in versions: whatever is replaced or
/// removed after `begin(_:)` can be had again by `takeBack`. What follows from entries (`DayTotal`, `TrackerSummary`) is
/// not; whoever takes a change back makes it anew. An unlock is permanent but for a whole restore.
public protocol TrackingTransaction {
  // Changes.

  /// Begins what reads trackers before it begins a change, or writes without one: other daemons' changes of trackers have
  /// been committed, and are kept waiting until the end of this transaction. `begin` does the same.
  func lockTrackers() throws
  /// Begins a change: what is written of its owner's after it in this body is a part of it. What is written without one
  /// cannot be taken back.
  ///
  /// - Returns: its id.
  @discardableResult func begin(_ change: TrackingChange) throws -> Int64
  /// Keeps beside a change what the store has no versions of: how reminders and endpoints were before it and after it, as
  /// text that only its caller reads. It goes with the change.
  func setDetail(_ detail: String, of change: Int64) throws
  /// Nil when nothing was kept beside it.
  func detail(of change: Int64) throws -> String?
  /// The latest that has not been taken back; nil when it is of before `since`.
  func lastChange(owner: UInt32, since: Instant) throws -> TrackingChange?
  /// Those that have not been taken back, the latest first, up to the first that is of before `since`; at most `limit`.
  func changes(owner: UInt32, since: Instant, limit: Int) throws -> [TrackingChange]
  /// Removes what the change wrote and brings back what it removed or replaced: each thing that it touched is as it was
  /// before. Unlocks and XP stay, unless the change has exchanged everything (`exchange`). Only its owner's latest can be
  /// taken back, and once: throws `StoreFailure.internalError` otherwise.
  ///
  /// - Returns: the trackers whose entries or whose definition differ after this call from before it, each with the days
  ///   whose entries do: what follows from them is to be made anew. An entry names its tracker and day from before the
  ///   call and those from after it, and no others: a day that it was moved to and removed from within the change has no
  ///   difference to show. Some of the trackers may not be there any more; they have no totals. What an exchange brings
  ///   back has its totals with it, and is not among them.
  func takeBack(_ change: Int64) throws -> [TrackerKey: Set<CivilDate>]
  /// Lets go what changes of before that time have replaced and removed; at most `limit` rows at a time. An owner's go in
  /// their order, so that each that is kept can be taken back.
  ///
  /// - Returns: whether there may be more.
  func forgetChanges(before: Instant, limit: Int) throws -> Bool

  // Trackers. Items, entries, milestones and totals need one: each verb that writes them throws
  // `StoreFailure.internalError` where there is none.

  func put(_ tracker: Tracker) throws
  /// Throws `StoreFailure.internalError` for one that cannot be read; `unreadableTracking` then has it.
  func tracker(_ key: TrackerKey) throws -> Tracker?
  /// By pack, those of none first; then in the order in which they were made. Those that cannot be read are passed over;
  /// `unreadableTracking` has them.
  func trackers(owner: UInt32?) throws -> [Tracker]
  /// Removes it with its entries, items, milestones and totals. Returns whether there was one.
  @discardableResult func removeTracker(_ key: TrackerKey) throws -> Bool

  // Entries.

  /// Adds it under a new id, whatever its `id` says, and counts its item's day.
  @discardableResult func insert(_ entry: Entry) throws -> Entry
  /// Replaces one that exists. Throws `StoreFailure.internalError` when there is none.
  func update(_ entry: Entry) throws
  /// Returns what was removed; nil when there was none of that id and owner.
  @discardableResult func removeEntry(_ id: EntryID, owner: UInt32) throws -> Entry?
  /// Removes all of a tracker's entries, or those of some days. Returns how many.
  func removeEntries(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> Int
  func entry(_ id: EntryID, owner: UInt32) throws -> Entry?
  /// Newest first, by time and then id.
  func entries(_ filter: EntryFilter, page: Page) throws -> [Entry]
  /// Those of one day, oldest first.
  func entries(of key: TrackerKey, on day: CivilDate) throws -> [Entry]
  func entryCount(_ filter: EntryFilter) throws -> Int
  /// The days that have entries, in order; nil: of all time. Reads no entry.
  func entryDays(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [CivilDate]
  /// How often each item occurs in these days, or ever; most frequent first. Read from counts that are kept by day.
  func itemCounts(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [ItemCount]
  /// How often one item occurs, ever.
  func itemCount(of item: ItemID, key: TrackerKey) throws -> Int
  /// How often each item occurs on each of these days, by day, most frequent first. Read from the same counts.
  func itemDays(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [ItemDay]

  // What follows from entries.

  func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal?
  /// In order. Days without an entry have none.
  func dayTotals(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [DayTotal]
  /// Nil removes it.
  func setDayTotal(_ total: DayTotal?, on day: CivilDate, of key: TrackerKey) throws
  /// Nil also when another version of the program has written it: it is to be made anew.
  func summary(of key: TrackerKey) throws -> TrackerSummary?
  func setSummary(_ summary: TrackerSummary?, of key: TrackerKey) throws

  // Items and milestones.

  func put(_ item: Item) throws
  func item(_ id: ItemID, of key: TrackerKey) throws -> Item?
  /// By title, without regard to case (ASCII).
  func items(of key: TrackerKey) throws -> [Item]
  /// Its entries stay. Returns whether there was one.
  @discardableResult func removeItem(_ id: ItemID, of key: TrackerKey) throws -> Bool
  /// Adds it under a new id when its `id` is 0, and replaces the one of that id otherwise. Throws
  /// `StoreFailure.internalError` when there is none of that id and owner.
  @discardableResult func put(_ milestone: Milestone) throws -> Milestone
  /// Newest first; of all the owner's trackers when `tracker` is nil.
  func milestones(owner: UInt32, tracker: TrackerID?) throws -> [Milestone]
  @discardableResult func removeMilestone(_ id: Int64, owner: UInt32) throws -> Milestone?

  // Packs and what they unlock.

  func put(_ pack: InstalledPack) throws
  /// Throws `StoreFailure.internalError` for one that cannot be read; `unreadableTracking` then has it.
  func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack?
  /// In the order of installation; nil: of everyone. Those that cannot be read are passed over; `unreadableTracking` has
  /// them.
  func packs(owner: UInt32?) throws -> [InstalledPack]
  /// What it has unlocked stays.
  @discardableResult func removePack(_ id: PackID, owner: UInt32) throws -> Bool
  /// By the achievements' names.
  func progress(of pack: PackID, owner: UInt32) throws -> [AchievementProgress]
  func setProgress(_ progress: AchievementProgress, owner: UInt32) throws
  /// The packs of which there is progress or XP, those that have been removed too; by name.
  func packsInProgress(owner: UInt32) throws -> [PackID]
  /// XP of the owner's pack: of its entries and its achievements.
  func experience(of pack: PackID, owner: UInt32) throws -> Int
  func setExperience(_ experience: Int, of pack: PackID, owner: UInt32) throws

  // Shelves. A restore makes ready beside what its owner has, in as many bodies as it likes, what is to take its place; the
  // two are exchanged in one. Nobody owns a shelf's number: what is put under it is in no listing of everyone's.

  /// Makes an empty one.
  ///
  /// - Returns: the number that trackers, entries, packs and unlocks are put under as under an owner's.
  func makeStagingOwner(for owner: UInt32, now: Instant) throws -> UInt32
  /// Says that it is still being filled. Throws `StoreFailure.internalError` when it is there no more.
  func touchStagingOwner(_ shelf: UInt32, now: Instant) throws
  /// Exchanges all that the change's owner has of trackers, packs and unlocks for what is on the shelf, with all totals and
  /// summaries, as a change that is nothing else: what is written after it in this body is none of it. It costs as much as
  /// there are names, however many entries there are. Once the change is taken back or forgotten, nobody needs the shelf.
  ///
  /// - Returns: the change's id.
  func exchange(_ change: TrackingChange, with shelf: UInt32) throws -> Int64
  /// Nobody will fill it any more.
  func abandonStagingOwner(_ shelf: UInt32) throws
  /// Removes what is on shelves that nobody needs, and on those that were not written to since `before`; at most `limit`
  /// rows at a time.
  ///
  /// - Returns: whether there may be more.
  func clearShelves(before: Instant, limit: Int) throws -> Bool

  /// What the last `tracker`, `trackers`, `pack` or `packs` of this body could not read.
  var unreadableTracking: [UnreadableTracking] { get }
}

/// A tracker or a pack whose definition this program cannot read, such as one that a later version has written.
public struct UnreadableTracking: Hashable, Sendable {
  public var owner: UInt32
  /// `tracker water`, `pack hydration`
  public var name: String
  /// Why, and what to do, as a sentence.
  public var reason: String

  public init(owner: UInt32, name: String, reason: String) {
    self.owner = owner
    self.name = name
    self.reason = reason
  }
}

extension TrackingTransaction {
  /// For stores whose transactions run one after another.
  public func lockTrackers() throws {}
}
