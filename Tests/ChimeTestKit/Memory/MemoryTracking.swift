import ChimeCore
import ChimeSchedule
import ChimeTracking

/// The tracker data of a memory store.
///
/// All user data are one dictionary of things. A change remembers the first previous state of each thing that it
/// touches; undo restores these states.
struct MemoryTracking: Sendable {
  enum Name: Hashable, Sendable {
    case tracker(TrackerKey)
    case entry(EntryID)
    case item(TrackerKey, ItemID)
    case milestone(Int64)
    case pack(PackKey)
  }

  enum ChangedRecord: Sendable {
    case tracker(Tracker)
    case entry(Entry)
    case item(Item)
    case milestone(Milestone)
    case pack(InstalledPack)
  }

  struct PackKey: Hashable, Sendable {
    var owner: UInt32
    var id: PackID
  }

  struct Unlocks: Sendable {
    var progress: [AchievementID: AchievementProgress] = [:]
    var experience = 0
  }

  struct Change: Sendable {
    var change: TrackingChange
    var detail: String?
    /// The previous states of the touched things; nil for a new thing.
    var before: [Name: ChangedRecord?] = [:]
    /// The replaced data, if the change is an exchange.
    var exchanged: Exchanged?
  }

  /// The data of an owner before an exchange.
  struct Exchanged: Sendable {
    var stagingOwner: UInt32
    var things: [Name: ChangedRecord]
    var totals: [TrackerKey: [CivilDate: DayTotal]]
    var summaries: [TrackerKey: TrackerSummary]
    var unlocks: [PackKey: Unlocks]
    /// The previous states that earlier changes remember, which belong to these data.
    var before: [Int64: [Name: ChangedRecord?]]
  }

  struct StagingOwners: Sendable {
    var owner: UInt32
    var at: Instant
    /// The change that exchanged it.
    var change: Int64?

    /// Whether it was neither exchanged nor abandoned.
    var isBeingFilled: Bool { change == nil && at > Instant(milliseconds: 0) }
  }

  private(set) var things: [Name: ChangedRecord] = [:]
  var stagingOwners: [UInt32: StagingOwners] = [:]
  /// The changes that can be undone, in order.
  var changes: [Change] = []
  var totals: [TrackerKey: [CivilDate: DayTotal]] = [:]
  var summaries: [TrackerKey: TrackerSummary] = [:]
  var unlocks: [PackKey: Unlocks] = [:]
  /// Every tracker that ever existed, in the order of creation.
  var order: [TrackerKey: Int] = [:]
  /// The last numbers assigned.
  var lastChange: Int64 = 0
  var lastEntry: Int64 = 0
  var lastMilestone: Int64 = 0

  /// Puts or removes a thing.
  ///
  /// - Parameter change: the change to which this edit belongs; nil for none.
  mutating func set(_ name: Name, _ thing: ChangedRecord?, in change: Int64?) {
    let old = things[name]
    if let index = changes.firstIndex(where: { $0.change.id == change }) {
      if changes[index].before[name] == nil { changes[index].before.updateValue(old, forKey: name) }
    } else if old == nil || thing == nil, let index = changes.lastIndex(where: { $0.before[name] != nil }),
      case .some(.none) = changes[index].before[name]
    {
      // A thing that a change created and that was removed no longer belongs to the change: a new thing of that name is
      // another.
      changes[index].before[name] = nil
    }
    things[name] = thing
  }

  var trackers: [Tracker] { things.values.compactMap { if case .tracker(let tracker) = $0 { tracker } else { nil } } }
  var entries: [Entry] { things.values.compactMap { if case .entry(let entry) = $0 { entry } else { nil } } }
  var items: [Item] { things.values.compactMap { if case .item(let item) = $0 { item } else { nil } } }
  var milestones: [Milestone] {
    things.values.compactMap { if case .milestone(let milestone) = $0 { milestone } else { nil } }
  }
  var packs: [InstalledPack] { things.values.compactMap { if case .pack(let pack) = $0 { pack } else { nil } } }

  func tracker(_ key: TrackerKey) -> Tracker? {
    if case .tracker(let tracker) = things[.tracker(key)] { tracker } else { nil }
  }

  func entry(_ id: EntryID) -> Entry? { if case .entry(let entry) = things[.entry(id)] { entry } else { nil } }

  func item(_ id: ItemID, of key: TrackerKey) -> Item? {
    if case .item(let item) = things[.item(key, id)] { item } else { nil }
  }

  func milestone(_ id: Int64) -> Milestone? {
    if case .milestone(let milestone) = things[.milestone(id)] { milestone } else { nil }
  }

  func pack(_ key: PackKey) -> InstalledPack? {
    if case .pack(let pack) = things[.pack(key)] { pack } else { nil }
  }

  /// Undoes the last change of an owner.
  mutating func takeBack(_ index: Int) -> [TrackerKey: Set<CivilDate>] {
    let change = changes.remove(at: index)
    if let exchanged = change.exchanged {
      bringBack(exchanged, of: change.change.owner)
      return [:]
    }
    var touched: [TrackerKey: Set<CivilDate>] = [:]
    for (name, thing) in change.before {
      for thing in [things[name], thing].compactMap({ $0 }) {
        switch thing {
        case .tracker(let tracker): touched[tracker.key] = touched[tracker.key] ?? []
        case .entry(let entry): touched[entry.key, default: []].insert(entry.day)
        case .item, .milestone, .pack: break
        }
      }
      things[name] = thing
    }
    for (name, thing) in things {
      let key: TrackerKey? =
        switch thing {
        case .entry(let entry): entry.key
        case .item(let item): item.key
        case .milestone(let milestone): milestone.key
        case .tracker, .pack: nil
        }
      if let key, tracker(key) == nil { things[name] = nil }
    }
    for key in touched.keys where tracker(key) == nil {
      totals[key] = nil
      summaries[key] = nil
    }
    return touched
  }

  // Staging owners.

  /// Swaps an owner's data with those of a staging owner.
  ///
  /// - Returns: the owner's previous data.
  mutating func exchange(_ owner: UInt32, _ stagingOwner: UInt32) -> Exchanged {
    let before = changes.filter { $0.change.owner == owner }.map { ($0.change.id, $0.before) }
    let exchanged = Exchanged(
      stagingOwner: stagingOwner, things: things.filter { $0.value.owner == owner },
      totals: totals.filter { $0.key.owner == owner },
      summaries: summaries.filter { $0.key.owner == owner }, unlocks: unlocks.filter { $0.key.owner == owner },
      before: Dictionary(uniqueKeysWithValues: before))
    for index in changes.indices where changes[index].change.owner == owner { changes[index].before = [:] }
    drop(owner)
    for thing in things.values where thing.owner == stagingOwner {
      let owned = thing.owned(by: owner)
      things[owned.name] = owned
    }
    for (key, value) in totals where key.owner == stagingOwner { totals[TrackerKey(owner: owner, id: key.id)] = value }
    for (key, value) in summaries where key.owner == stagingOwner {
      summaries[TrackerKey(owner: owner, id: key.id)] = value
    }
    for (key, value) in unlocks where key.owner == stagingOwner { unlocks[PackKey(owner: owner, id: key.id)] = value }
    drop(stagingOwner)
    swapOrder(owner, stagingOwner)
    return exchanged
  }

  private mutating func bringBack(_ exchanged: Exchanged, of owner: UInt32) {
    drop(owner)
    things.merge(exchanged.things) { _, before in before }
    totals.merge(exchanged.totals) { _, before in before }
    summaries.merge(exchanged.summaries) { _, before in before }
    unlocks.merge(exchanged.unlocks) { _, before in before }
    for index in changes.indices {
      if let before = exchanged.before[changes[index].change.id] { changes[index].before = before }
    }
    swapOrder(owner, exchanged.stagingOwner)
    abandon(exchanged.stagingOwner)
  }

  /// Swaps the owners of names too, which keep their order.
  private mutating func swapOrder(_ owner: UInt32, _ stagingOwner: UInt32) {
    order = Dictionary(
      uniqueKeysWithValues: order.map { key, place in
        let other = key.owner == owner ? stagingOwner : key.owner == stagingOwner ? owner : key.owner
        return (TrackerKey(owner: other, id: key.id), place)
      })
  }

  /// Removes all data of an owner except the names.
  mutating func drop(_ owner: UInt32) {
    things = things.filter { $0.value.owner != owner }
    totals = totals.filter { $0.key.owner != owner }
    summaries = summaries.filter { $0.key.owner != owner }
    unlocks = unlocks.filter { $0.key.owner != owner }
  }

  mutating func abandon(_ stagingOwner: UInt32) {
    stagingOwners[stagingOwner]?.change = nil
    stagingOwners[stagingOwner]?.at = .earliest
  }
}

extension MemoryTracking.ChangedRecord {
  var owner: UInt32 {
    switch self {
    case .tracker(let tracker): tracker.owner
    case .entry(let entry): entry.owner
    case .item(let item): item.owner
    case .milestone(let milestone): milestone.owner
    case .pack(let pack): pack.owner
    }
  }

  var name: MemoryTracking.Name {
    switch self {
    case .tracker(let tracker): .tracker(tracker.key)
    case .entry(let entry): .entry(entry.id)
    case .item(let item): .item(item.key, item.id)
    case .milestone(let milestone): .milestone(milestone.id)
    case .pack(let pack): .pack(MemoryTracking.PackKey(owner: pack.owner, id: pack.pack.id))
    }
  }

  func owned(by owner: UInt32) -> Self {
    switch self {
    case .tracker(var tracker):
      tracker.owner = owner
      return .tracker(tracker)
    case .entry(var entry):
      entry.owner = owner
      return .entry(entry)
    case .item(var item):
      item.owner = owner
      return .item(item)
    case .milestone(var milestone):
      milestone.owner = owner
      return .milestone(milestone)
    case .pack(var pack):
      pack.owner = owner
      return .pack(pack)
    }
  }
}
