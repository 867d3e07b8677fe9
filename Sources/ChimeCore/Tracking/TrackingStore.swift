public import ChimeSchedule
public import ChimeTracking

/// A TrackerKey identifies a tracker; ids are unique per owner.
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

extension Tracker {
  public var key: TrackerKey { TrackerKey(owner: owner, id: id) }

  /// Returns an entry's name for programs: `250 ml`, an item's id, or the day.
  public func subject(of entry: Entry) -> String {
    if let quantity = entry.quantity { return subject(of: quantity) }
    return entry.item?.rawValue ?? entry.day.description
  }

  /// Returns an amount as text for programs: `250 ml`, `30`.
  func subject(of quantity: Quantity) -> String {
    guard let unit else { return String(quantity.grains / Quantity.one.grains) }
    return "\(quantity.plain(in: unit, decimals: decimals)) \(unit)"
  }
}

extension Quantity {
  /// Returns the number without the unit, with `decimals` digits after the point, at most 3.
  func plain(in unit: Unit, decimals: Int) -> String {
    let places = min(max(decimals, 0), 3)
    let scale: Int64 = [1, 10, 100, 1_000][places]
    let exact = (value(in: unit) * Double(scale)).rounded()
    // A sum may be the largest `Int64`, which `Double` rounds up.
    let scaled = Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
    let digits = String(scaled.magnitude % scale.magnitude)
    let fraction = places > 0 ? "." + String(repeating: "0", count: places - digits.count) + digits : ""
    return (scaled < 0 ? "-" : "") + String(scaled.magnitude / scale.magnitude) + fraction
  }
}
extension Entry { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }
extension Item { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }
extension Milestone { public var key: TrackerKey { TrackerKey(owner: owner, id: tracker) } }

/// A TrackingChange is a change of trackers, reminders or endpoints that can be undone for `TrackingChange.keptFor`.
///
/// A large import is made in parts, each a change that differs only in its `id`; they are undone together (`isPart(of:)`).
public struct TrackingChange: Hashable, Sendable, Codable {
  public static let keptFor = Milliseconds.days(30)

  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    case logged, edited, removed, removedAll, tracker, item, milestone, pack, imported, restored, stocked
    // Kinds without versions in the store: the change's detail holds the former state.
    case reminderAdded, reminderEdited, reminderRemoved, reminderPaused, reminderResumed, reminderSkipped, reminderMoved
    case reminderDone, reminderSnoozed, reminderDismissed, remindersImported, setApplied
    case endpointAdded, endpointEdited, endpointRemoved, silenced, silenceEnded
    /// All data was removed.
    case startedOver
  }

  /// Set by the store.
  public var id: Int64
  public var owner: UInt32
  public var at: Instant
  public var kind: Kind
  public var tracker: TrackerID?
  /// The subject of the change: an entry's text, a removed title, or a number of entries.
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

  /// Returns whether both are parts of one import.
  public func isPart(of other: TrackingChange) -> Bool {
    var same = self
    same.id = other.id
    return same == other && kind == .imported
  }
}

/// An InstalledPack is a pack as it was installed.
public struct InstalledPack: Hashable, Sendable, Codable {
  public var pack: Pack
  public var owner: UInt32
  public var installedAt: Instant
  /// The reminders that it created, by their key in the pack.
  public var reminders: [String: ReminderID]
  /// The languages of its reminders, best first.
  public var languages: [String]
  /// Its reminders before the pack was removed, so that undo can restore them.
  public var removed: [Reminder]
  /// The name of the manifest that declares it (`chime apply`); nil if it was installed by hand.
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
  /// Nil for all of the owner's trackers.
  public var tracker: TrackerID?
  public var days: ClosedRange<CivilDate>?
  public var weekdays: WeekdaySet?
  public var item: ItemID?
  public var hasNote: Bool
  /// Only entries of days with a milestone.
  public var hasMilestone: Bool
  /// Text in the note, case-insensitive for ASCII.
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

/// A TrackingTransaction offers a store's operations on trackers, valid inside one body only.
///
/// User data (trackers, entries, items, milestones, packs) is versioned: whatever is replaced or removed after
/// `begin(_:)` can be restored by `takeBack`. Derived data (`DayTotal`, `TrackerSummary`) is not; the caller recomputes
/// it. Unlocks are permanent, except in a full restore.
public protocol TrackingTransaction {
  // Changes.

  /// Waits until other daemons' changes of trackers have committed, and blocks further ones until this transaction
  /// ends. Call it before reading trackers for a change, or before a write without one. `begin` does the same.
  func lockTrackers() throws
  /// Begins a change, which includes everything written for its owner from here to the end of this body. Writes outside
  /// a change cannot be undone.
  ///
  /// - Returns: its id.
  @discardableResult func begin(_ change: TrackingChange) throws -> Int64
  /// Stores the former and new state of unversioned things, such as reminders and endpoints, with a change. Only the
  /// caller understands the text. It is deleted with the change.
  func setDetail(_ detail: String, of change: Int64) throws
  /// Returns the text stored with a change, if any.
  func detail(of change: Int64) throws -> String?
  /// Returns the latest change that was not undone; nil if it is older than `since`.
  func lastChange(owner: UInt32, since: Instant) throws -> TrackingChange?
  /// Returns changes that were not undone, latest first, up to the first one older than `since`; at most `limit`.
  func changes(owner: UInt32, since: Instant, limit: Int) throws -> [TrackingChange]
  /// Undoes a change: removes what it wrote, and restores what it removed or replaced. Unlocks and XP stay, unless the change
  /// was an `exchange`. Only the owner's latest change can be undone, once; otherwise this throws `StoreFailure.internalError`.
  ///
  /// - Returns: the trackers whose entries or definition this call changed, each with the days of changed entries, so
  ///   that the caller can recompute derived data. For a moved entry, both days count; a day that it was moved to and
  ///   from within the change does not. Some of the trackers may no longer exist and have no totals. What an exchange
  ///   restores includes its totals and is not listed.
  func takeBack(_ change: Int64) throws -> [TrackerKey: Set<CivilDate>]
  /// Deletes what changes before that time have replaced and removed, at most `limit` rows at a time. An owner's
  /// changes are deleted in order, so that each remaining one can be undone.
  ///
  /// - Returns: whether more may be left.
  func forgetChanges(before: Instant, limit: Int) throws -> Bool

  // Trackers. Operations that write items, entries, milestones or totals throw `StoreFailure.internalError` if their
  // tracker does not exist.

  func put(_ tracker: Tracker) throws
  /// Returns a tracker, if it exists. Throws `StoreFailure.internalError` if it is unreadable.
  func tracker(_ key: TrackerKey) throws -> Tracker?
  /// Returns trackers by pack, those without one first, then in order of creation. Unreadable ones are left out.
  func trackers(owner: UInt32?) throws -> [Tracker]
  /// Removes a tracker with its entries, items, milestones and totals. Returns whether there was one.
  @discardableResult func removeTracker(_ key: TrackerKey) throws -> Bool

  // Entries.

  /// Adds an entry with a new id, and counts its item's day.
  @discardableResult func insert(_ entry: Entry) throws -> Entry
  /// Replaces an existing entry. Throws `StoreFailure.internalError` if there is none.
  func update(_ entry: Entry) throws
  /// Removes an entry. Returns it; nil if there was none of that id and owner.
  @discardableResult func removeEntry(_ id: EntryID, owner: UInt32) throws -> Entry?
  /// Removes all of a tracker's entries, or those of some days. Returns their number.
  func removeEntries(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> Int
  func entry(_ id: EntryID, owner: UInt32) throws -> Entry?
  /// Returns entries, newest first, by time and then id, without the first `offset`.
  func entries(_ filter: EntryFilter, page: Page, offset: Int) throws -> [Entry]
  /// Returns the entries of one day, oldest first.
  func entries(of key: TrackerKey, on day: CivilDate) throws -> [Entry]
  func entryCount(_ filter: EntryFilter) throws -> Int
  /// Returns the days that have entries, in order; nil for all time. Reads no entry.
  func entryDays(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [CivilDate]
  /// Returns how often each item occurs in these days, or ever, most frequent first. Reads stored counts per day.
  func itemCounts(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [ItemCount]
  /// Returns how often one item occurs in total.
  func itemCount(of item: ItemID, key: TrackerKey) throws -> Int
  /// Returns how often each item occurs per day, by day, most frequent first. Reads the same counts.
  func itemDays(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [ItemDay]

  // Derived data.

  func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal?
  /// Returns totals in order of days. Days without entries have none.
  func dayTotals(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [DayTotal]
  /// Sets a day's total; nil removes it.
  func setDayTotal(_ total: DayTotal?, on day: CivilDate, of key: TrackerKey) throws
  /// Returns the summary; nil also if another version of the program wrote it, so that it must be recomputed.
  func summary(of key: TrackerKey) throws -> TrackerSummary?
  func setSummary(_ summary: TrackerSummary?, of key: TrackerKey) throws

  // Items and milestones.

  func put(_ item: Item) throws
  func item(_ id: ItemID, of key: TrackerKey) throws -> Item?
  /// Returns items by title, case-insensitive for ASCII.
  func items(of key: TrackerKey) throws -> [Item]
  /// Removes an item but not its entries. Returns whether there was one.
  @discardableResult func removeItem(_ id: ItemID, of key: TrackerKey) throws -> Bool
  /// Adds a milestone with a new id if its `id` is 0; otherwise replaces the one with that id. Throws
  /// `StoreFailure.internalError` if there is none of that id and owner.
  @discardableResult func put(_ milestone: Milestone) throws -> Milestone
  /// Returns milestones, newest first; of all the owner's trackers if `tracker` is nil.
  func milestones(owner: UInt32, tracker: TrackerID?) throws -> [Milestone]
  @discardableResult func removeMilestone(_ id: Int64, owner: UInt32) throws -> Milestone?

  // Packs and achievements.

  func put(_ pack: InstalledPack) throws
  /// Returns a pack, if it exists. Throws `StoreFailure.internalError` if it is unreadable.
  func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack?
  /// Returns packs in order of installation; nil for all owners. Unreadable ones are left out.
  func packs(owner: UInt32?) throws -> [InstalledPack]
  /// Removes a pack; its unlocked achievements stay.
  @discardableResult func removePack(_ id: PackID, owner: UInt32) throws -> Bool
  /// Returns progress by the achievements' names.
  func progress(of pack: PackID, owner: UInt32) throws -> [AchievementProgress]
  func setProgress(_ progress: AchievementProgress, owner: UInt32) throws
  /// Returns the packs with progress or XP, including removed ones, by name.
  func packsInProgress(owner: UInt32) throws -> [PackID]
  /// Returns a pack's XP, from entries and achievements.
  func experience(of pack: PackID, owner: UInt32) throws -> Int
  func setExperience(_ experience: Int, of pack: PackID, owner: UInt32) throws

  // Staging. A restore prepares new data next to the owner's current data, in any number of transactions, and exchanges
  // the two in one. No one owns a staging owner's number, so its data appears in no listing.

  /// Creates an empty staging owner.
  ///
  /// - Returns: its number, under which trackers, entries, packs and unlocks can be written.
  func makeStagingOwner(for owner: UInt32, now: Instant) throws -> UInt32
  /// Marks a staging owner as still in use.
  ///
  /// - Returns: whether it is. False once it was exchanged, abandoned, or removed in part.
  func touchStagingOwner(_ stagingOwner: UInt32, now: Instant) throws -> Bool
  /// Exchanges all of the owner's trackers, packs and unlocks, with totals and summaries, for the staged ones.
  ///
  /// This is a complete change: later writes in this body do not belong to it. The cost grows with the number of names,
  /// not of entries. Once the change is undone or deleted, the staging owner is no longer needed.
  ///
  /// - Returns: the change's id.
  func exchange(_ change: TrackingChange, with stagingOwner: UInt32) throws -> Int64
  /// Marks a staging owner as no longer in use.
  func abandonStagingOwner(_ stagingOwner: UInt32) throws
  /// Removes data of unneeded staging owners, and of those not written to since `before`; at most `limit` rows at a time.
  ///
  /// - Returns: whether more may be left.
  func clearStagingOwners(before: Instant, limit: Int) throws -> Bool
}

extension TrackingTransaction {
  public func entries(_ filter: EntryFilter, page: Page) throws -> [Entry] {
    try entries(filter, page: page, offset: 0)
  }

  /// Does nothing, for stores whose transactions run one after another.
  public func lockTrackers() throws {}
}
