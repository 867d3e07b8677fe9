public import ChimeSchedule
public import ChimeTracking

/// A record of what an owner has, without the owner and the keys of this store.
public enum BackupRecord: Sendable {
  case tracker(Tracker)
  case item(Item)
  case milestone(Milestone)
  case entry(Entry)
  /// The goal by which a day was evaluated, if it differs from the tracker's.
  case judged(TrackerID, on: CivilDate, by: Goal?)
  case pack(InstalledPack)
  case progress(AchievementProgress)
  case experience(PackID, points: Int)
  case reminder(Reminder)
  case endpoint(Endpoint)
  case occurrence(Occurrence)
  case ping(Ping, of: ReminderID)
}

/// A BackupRecords reads the records of an owner, in an order that depends on the data only.
public struct BackupRecords {
  private let transaction: any StoreTransaction
  private let owner: UInt32

  public init(of owner: UInt32, in transaction: any StoreTransaction) {
    (self.owner, self.transaction) = (owner, transaction)
  }

  private static let page = 5_000

  /// Passes each record to `take`.
  public func each(_ take: (BackupRecord) throws -> Void) throws {
    let trackers = try transaction.trackers(owner: owner)
    for tracker in trackers {
      try take(.tracker(tracker.unowned))
    }
    for tracker in trackers {
      for item in try transaction.items(of: tracker.key).sorted(by: { $0.id < $1.id }) {
        try take(.item(item.unowned))
      }
    }
    // Write them oldest first, so that a restore creates them in this order.
    for milestone in try transaction.milestones(owner: owner, tracker: nil).reversed() {
      try take(.milestone(milestone.unowned))
    }
    for tracker in trackers {
      try Self.oldestFirst(EntryFilter(owner: owner, tracker: tracker.id), transaction) { try take(.entry($0.unowned)) }
      for total in try transaction.dayTotals(of: tracker.key, in: .earliest ... .latest)
      where total.goal != tracker.goal {
        try take(.judged(tracker.id, on: total.day, by: total.goal))
      }
    }
    for installed in try transaction.packs(owner: owner) {
      try take(.pack(installed.unowned))
    }
    // Unlocked achievements remain even if their pack was removed.
    for pack in try transaction.packsInProgress(owner: owner) {
      for progress in try transaction.progress(of: pack, owner: owner) {
        try take(.progress(progress))
      }
      try take(.experience(pack, points: try transaction.experience(of: pack, owner: owner)))
    }
    let reminders = try Self.reminderRecords(owner, transaction).map(\.reminder)
    for reminder in reminders {
      try take(.reminder(reminder.unowned))
    }
    for endpoint in try transaction.endpoints(owner: owner) {
      try take(.endpoint(endpoint.unowned))
    }
    // Write the latest first. Occurrences at the same time are sorted by reminder, independent of the store.
    var filter = OccurrenceFilter(owner: owner)
    var atOnce: [Occurrence] = []
    func putThoseAtOnce() throws {
      for occurrence in atOnce.sorted(by: { $0.id.reminder < $1.id.reminder }) {
        try take(.occurrence(occurrence.unowned))
      }
      atOnce = []
    }
    while true {
      let found = try transaction.occurrences(filter, page: Page(limit: Self.page))
      for occurrence in found {
        if let last = atOnce.last, last.id.scheduledAt != occurrence.id.scheduledAt { try putThoseAtOnce() }
        atOnce.append(occurrence)
      }
      guard found.count == Self.page else { break }
      filter.after = found.last?.id
    }
    try putThoseAtOnce()
    for reminder in reminders where reminder.isExpectation {
      // Only the newest ping keeps its output: all outputs could exceed the size limit of a backup.
      let newest = try transaction.pings(of: reminder.id, among: .all, withOutput: true, limit: 1)
      let pings = try transaction.pings(of: reminder.id, among: .all, withOutput: false, limit: Ping.maxStored)
      // Write them oldest first, so that a restore adds them in this order.
      for ping in pings.dropFirst().reversed() + newest {
        try take(.ping(ping.pinged(by: 0), of: reminder.id))
      }
    }
  }

  /// Returns the names of all photos that the owner's data refers to.
  public static func photos(of owner: UInt32, _ transaction: any StoreTransaction) throws -> Set<String> {
    var photos = Set(try transaction.milestones(owner: owner, tracker: nil).compactMap(\.photo))
    for tracker in try transaction.trackers(owner: owner) {
      photos.formUnion(try transaction.items(of: tracker.key).compactMap(\.photo))
    }
    try oldestFirst(EntryFilter(owner: owner), transaction) { entry in
      if let photo = entry.photo { photos.insert(photo) }
    }
    return photos
  }

  /// Passes the entries of a filter to `body`, oldest first, in pages.
  public static func oldestFirst(
    _ filter: EntryFilter, _ transaction: any StoreTransaction, _ body: (Entry) throws -> Void
  ) throws {
    var left = try transaction.entryCount(filter)
    while left > 0 {
      let limit = min(left, page)
      left -= limit
      for entry in try transaction.entries(filter, page: Page(limit: limit), offset: left).reversed() {
        try body(entry)
      }
    }
  }

  /// Returns the owner's reminders with a due time or an open occurrence, sorted by id.
  public static func reminderRecords(
    _ owner: UInt32, _ transaction: any StoreTransaction
  ) throws -> [ReminderRecord] {
    var all: [ReminderRecord] = []
    try transaction.eachPage(of: ReminderFilter(owner: owner, includesFinished: false)) { all += $0 }
    return all.sorted { $0.reminder.id < $1.reminder.id }
  }
}

// The following members remove the owner and the keys of this store, or replace the owner.

private func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}

extension Tracker {
  public var unowned: Tracker { changed(self) { ($0.owner, $0.generation) = (0, 0) } }

  public func owned(by owner: UInt32) -> Tracker { changed(self) { $0.owner = owner } }
}

extension Item {
  public var unowned: Item { changed(self) { $0.owner = 0 } }
}

extension Milestone {
  public var unowned: Milestone { changed(self) { ($0.owner, $0.id) = (0, 0) } }
}

extension InstalledPack {
  public var unowned: InstalledPack {
    changed(self) {
      ($0.owner, $0.removed) = (0, [])
      $0.pack.trackers = $0.pack.trackers.map(\.unowned)
    }
  }
}

extension Entry {
  public var unowned: Entry { changed(self) { ($0.owner, $0.id) = (0, EntryID(rawValue: 0)) } }
}

extension Endpoint {
  public var unowned: Endpoint { owned(by: 0) }

  /// Removes the failure history, which belongs to this machine.
  public func owned(by owner: UInt32) -> Endpoint {
    changed(self) { ($0.queue, $0.failingSince) = (DeliveryQueue(owner: owner, channel: queue.channel), nil) }
  }
}

extension Occurrence {
  public var unowned: Occurrence { owned(by: 0) }

  public func owned(by owner: UInt32) -> Occurrence { changed(self) { $0.owner = owner } }
}

extension Ping {
  public func pinged(by uid: UInt32) -> Ping { changed(self) { $0.uid = uid } }
}

extension Reminder {
  public var unowned: Reminder { changed(self) { ($0.owner, $0.generation) = (0, 0) } }
}
