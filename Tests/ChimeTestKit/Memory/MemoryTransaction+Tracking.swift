import ChimeCore
import ChimeSchedule
import ChimeTracking

// Changes, trackers, and staging owners.
extension MemoryTransaction {
  typealias PackKey = MemoryTracking.PackKey

  func begin(_ change: TrackingChange) throws -> Int64 {
    try requireWriting()
    contents.tracking.lastChange += 1
    var change = change
    change.id = contents.tracking.lastChange
    contents.tracking.changes.append(MemoryTracking.Change(change: change))
    self.change = (change.id, change.owner)
    return change.id
  }

  func setDetail(_ detail: String, of change: Int64) throws {
    try requireWriting()
    guard let index = contents.tracking.changes.firstIndex(where: { $0.change.id == change }) else { return }
    contents.tracking.changes[index].detail = detail
  }

  func detail(of change: Int64) throws -> String? {
    contents.tracking.changes.first { $0.change.id == change }?.detail
  }

  /// Puts or removes a thing as a part of the owner's current change.
  func set(_ name: MemoryTracking.Name, _ thing: MemoryTracking.ChangedRecord?, of owner: UInt32) {
    contents.tracking.set(name, thing, in: change?.owner == owner ? change?.id : nil)
  }

  func lastChange(owner: UInt32, since: Instant) throws -> TrackingChange? {
    guard let last = contents.tracking.changes.last(where: { $0.change.owner == owner }) else { return nil }
    return last.change.at >= since ? last.change : nil
  }

  func changes(owner: UInt32, since: Instant, limit: Int) throws -> [TrackingChange] {
    let latest = contents.tracking.changes.reversed().lazy.map(\.change).filter { $0.owner == owner }
    return Array(latest.prefix { $0.at >= since }.prefix(limit))
  }

  func takeBack(_ change: Int64) throws -> [TrackerKey: Set<CivilDate>] {
    try requireWriting()
    guard let index = contents.tracking.changes.firstIndex(where: { $0.change.id == change }) else {
      throw StoreFailure.internalError("there is no change \(change) to undo")
    }
    let owner = contents.tracking.changes[index].change.owner
    guard contents.tracking.changes.lastIndex(where: { $0.change.owner == owner }) == index else {
      throw StoreFailure.internalError("change \(change) is not the latest: undo the later ones first")
    }
    if self.change?.id == change { self.change = nil }
    return contents.tracking.takeBack(index)
  }

  func forgetChanges(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    var left = limit
    while true {
      let oldest = contents.tracking.changes.firstIndex { change in
        change.change.at < before
          && contents.tracking.changes.first { $0.change.owner == change.change.owner }?.change.id == change.change.id
      }
      guard let oldest else { return false }
      if left <= 0 { return true }
      if let stagingOwner = contents.tracking.changes.remove(at: oldest).exchanged?.stagingOwner {
        contents.tracking.abandon(stagingOwner)
      }
      left -= 1
    }
  }

  // Trackers.

  func require(_ key: TrackerKey) throws {
    if contents.tracking.tracker(key) == nil { throw StoreFailure.internalError("there is no tracker \(key.id)") }
  }

  func put(_ tracker: Tracker) throws {
    try requireWriting()
    if contents.tracking.order[tracker.key] == nil {
      contents.tracking.order[tracker.key] = contents.tracking.order.count
    }
    set(.tracker(tracker.key), .tracker(tracker), of: tracker.owner)
  }

  func tracker(_ key: TrackerKey) throws -> Tracker? { contents.tracking.tracker(key) }

  func trackers(owner: UInt32?) throws -> [Tracker] {
    func rank(_ tracker: Tracker) -> (String, Instant, Int) {
      (tracker.pack?.rawValue ?? "", tracker.createdAt, contents.tracking.order[tracker.key] ?? -1)
    }
    return contents.tracking.trackers.filter { $0.owner == owner || owner == nil && $0.owner < StagingOwners.first }
      .sorted {
        rank($0) < rank($1)
      }
  }

  func removeTracker(_ key: TrackerKey) throws -> Bool {
    try requireWriting()
    guard contents.tracking.tracker(key) != nil else { return false }
    set(.tracker(key), nil, of: key.owner)
    for entry in contents.tracking.entries where entry.key == key { set(.entry(entry.id), nil, of: key.owner) }
    for item in contents.tracking.items where item.key == key { set(.item(key, item.id), nil, of: key.owner) }
    for milestone in contents.tracking.milestones where milestone.key == key {
      set(.milestone(milestone.id), nil, of: key.owner)
    }
    contents.tracking.totals[key] = nil
    contents.tracking.summaries[key] = nil
    return true
  }

  // Data derived from entries.

  func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal? { contents.tracking.totals[key]?[day] }

  func dayTotals(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [DayTotal] {
    (contents.tracking.totals[key] ?? [:]).values.filter { days.contains($0.day) }.sorted { $0.day < $1.day }
  }

  func setDayTotal(_ total: DayTotal?, on day: CivilDate, of key: TrackerKey) throws {
    try requireWriting()
    guard var total else {
      contents.tracking.totals[key]?[day] = nil
      return
    }
    try require(key)
    total.day = day
    contents.tracking.totals[key, default: [:]][day] = total
  }

  func summary(of key: TrackerKey) throws -> TrackerSummary? { contents.tracking.summaries[key] }

  func setSummary(_ summary: TrackerSummary?, of key: TrackerKey) throws {
    try requireWriting()
    if summary != nil { try require(key) }
    contents.tracking.summaries[key] = summary
  }

  // Packs and achievements.

  func put(_ pack: InstalledPack) throws {
    try requireWriting()
    set(.pack(PackKey(owner: pack.owner, id: pack.pack.id)), .pack(pack), of: pack.owner)
  }

  func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack? {
    contents.tracking.pack(PackKey(owner: owner, id: id))
  }

  func packs(owner: UInt32?) throws -> [InstalledPack] {
    contents.tracking.packs.filter { $0.owner == owner || owner == nil && $0.owner < StagingOwners.first }
      .sorted { ($0.installedAt, $0.owner, $0.pack.id) < ($1.installedAt, $1.owner, $1.pack.id) }
  }

  func removePack(_ id: PackID, owner: UInt32) throws -> Bool {
    try requireWriting()
    guard try pack(id, owner: owner) != nil else { return false }
    set(.pack(PackKey(owner: owner, id: id)), nil, of: owner)
    return true
  }

  func progress(of pack: PackID, owner: UInt32) throws -> [AchievementProgress] {
    (contents.tracking.unlocks[PackKey(owner: owner, id: pack)]?.progress ?? [:]).values
      .sorted { $0.achievement < $1.achievement }
  }

  func setProgress(_ progress: AchievementProgress, owner: UInt32) throws {
    try requireWriting()
    let key = PackKey(owner: owner, id: progress.pack)
    contents.tracking.unlocks[key, default: .init()].progress[progress.achievement] = progress
  }

  func packsInProgress(owner: UInt32) throws -> [PackID] {
    contents.tracking.unlocks.keys.filter { $0.owner == owner }.map(\.id).sorted { $0.rawValue < $1.rawValue }
  }

  func experience(of pack: PackID, owner: UInt32) throws -> Int {
    contents.tracking.unlocks[PackKey(owner: owner, id: pack)]?.experience ?? 0
  }

  func setExperience(_ experience: Int, of pack: PackID, owner: UInt32) throws {
    try requireWriting()
    contents.tracking.unlocks[PackKey(owner: owner, id: pack), default: .init()].experience = experience
  }

  // Staging owners.

  func makeStagingOwner(for owner: UInt32, now: Instant) throws -> UInt32 {
    try requireWriting()
    var stagingOwner = StagingOwners.first
    while contents.tracking.stagingOwners[stagingOwner] != nil { stagingOwner += 1 }
    contents.tracking.stagingOwners[stagingOwner] = MemoryTracking.StagingOwners(owner: owner, at: now)
    return stagingOwner
  }

  func touchStagingOwner(_ stagingOwner: UInt32, now: Instant) throws -> Bool {
    try requireWriting()
    guard contents.tracking.stagingOwners[stagingOwner]?.isBeingFilled == true else { return false }
    contents.tracking.stagingOwners[stagingOwner]?.at = now
    return true
  }

  func exchange(_ change: TrackingChange, with stagingOwner: UInt32) throws -> Int64 {
    try requireWriting()
    guard let found = contents.tracking.stagingOwners[stagingOwner], found.isBeingFilled, found.owner == change.owner
    else {
      throw StoreFailure.internalError("there is no staging owner \(stagingOwner) to exchange")
    }
    let exchanged = contents.tracking.exchange(change.owner, stagingOwner)
    let id = try begin(change)
    self.change = nil
    contents.tracking.changes[contents.tracking.changes.count - 1].exchanged = exchanged
    contents.tracking.stagingOwners[stagingOwner]?.change = id
    return id
  }

  func abandonStagingOwner(_ stagingOwner: UInt32) throws {
    try requireWriting()
    if contents.tracking.stagingOwners[stagingOwner]?.change == nil { contents.tracking.abandon(stagingOwner) }
  }

  func clearStagingOwners(before: Instant, limit: Int) throws -> Bool {
    try requireWriting()
    for (stagingOwner, found) in contents.tracking.stagingOwners where found.change == nil && found.at < before {
      contents.tracking.abandon(stagingOwner)
    }
    var left = limit
    while let stagingOwner = contents.tracking.stagingOwners.filter({
      $0.value.change == nil && !$0.value.isBeingFilled
    })
    .keys.min() {
      if left <= 0 { return true }
      contents.tracking.drop(stagingOwner)
      contents.tracking.stagingOwners[stagingOwner] = nil
      left -= 1
    }
    return false
  }
}
