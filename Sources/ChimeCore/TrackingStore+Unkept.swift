public import ChimeSchedule
public import ChimeTracking

// Until every store has them.
extension StoreTransaction {
  @discardableResult public func begin(_ change: TrackingChange) throws -> Int64 {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func lastChange(owner: UInt32, since: Instant) throws -> TrackingChange? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func takeBack(_ change: Int64) throws -> Set<TrackerKey> {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func forgetChanges(before: Instant, limit: Int) throws -> Bool {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func put(_ tracker: Tracker) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func tracker(_ key: TrackerKey) throws -> Tracker? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func trackers(owner: UInt32?) throws -> [Tracker] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  @discardableResult public func removeTracker(_ key: TrackerKey) throws -> Bool {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func insert(_ entry: Entry) throws -> Entry {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func update(_ entry: Entry) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  @discardableResult public func removeEntry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func removeEntries(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> Int {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func entry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func entries(_ filter: EntryFilter, page: Page) throws -> [Entry] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func entries(of key: TrackerKey, on day: CivilDate) throws -> [Entry] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func entryCount(_ filter: EntryFilter) throws -> Int {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func itemCounts(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [ItemCount] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func dayTotal(of key: TrackerKey, on day: CivilDate) throws -> DayTotal? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func dayTotals(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [DayTotal] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func setDayTotal(_ total: DayTotal?, on day: CivilDate, of key: TrackerKey) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func summary(of key: TrackerKey) throws -> TrackerSummary? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func setSummary(_ summary: TrackerSummary?, of key: TrackerKey) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func put(_ item: Item) throws { throw StoreFailure.internalError("trackers are not kept by this store yet") }
  public func item(_ id: ItemID, of key: TrackerKey) throws -> Item? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func items(of key: TrackerKey) throws -> [Item] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  @discardableResult public func removeItem(_ id: ItemID, of key: TrackerKey) throws -> Bool {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func put(_ milestone: Milestone) throws -> Milestone {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func milestones(owner: UInt32, tracker: TrackerID?) throws -> [Milestone] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  @discardableResult public func removeMilestone(_ id: Int64, owner: UInt32) throws -> Milestone? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func put(_ pack: InstalledPack) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func pack(_ id: PackID, owner: UInt32) throws -> InstalledPack? {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func packs(owner: UInt32?) throws -> [InstalledPack] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  @discardableResult public func removePack(_ id: PackID, owner: UInt32) throws -> Bool {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func progress(of pack: PackID, owner: UInt32) throws -> [AchievementProgress] {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func setProgress(_ progress: AchievementProgress, owner: UInt32) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func experience(of pack: PackID, owner: UInt32) throws -> Int {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func setExperience(_ experience: Int, of pack: PackID, owner: UInt32) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
  public func removeTracking(owner: UInt32) throws {
    throw StoreFailure.internalError("trackers are not kept by this store yet")
  }
}
