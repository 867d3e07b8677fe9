import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials

/// A BackupRecords writes the records of an owner line by line, in an order that depends on the data only.
struct BackupRecords {
  let transaction: any StoreTransaction
  let owner: UInt32
  let write: (ArraySlice<UInt8>) throws -> Void

  private static let page = 5_000

  /// Writes all records. Returns their counts, and the sorted names of all photos.
  func all() throws -> (counts: BackupFormat.Counts, photos: [String]) {
    let encoder = BackupFormat.encoder()
    var counts = BackupFormat.Counts()
    var photos: Set<String> = []
    func put(_ name: String, _ value: some Encodable) throws {
      try write(BackupFormat.line(name, value, encoder)[...])
    }
    let trackers = try transaction.trackers(owner: owner)
    for tracker in trackers {
      try put("tracker", tracker.unowned)
      counts.trackers += 1
    }
    for tracker in trackers {
      for item in try transaction.items(of: tracker.key).sorted(by: { $0.id < $1.id }) {
        try put("item", item.unowned)
        counts.items += 1
        if let photo = item.photo { photos.insert(photo) }
      }
    }
    // Write them oldest first, so that a restore creates them in this order.
    for milestone in try transaction.milestones(owner: owner, tracker: nil).reversed() {
      try put("milestone", milestone.unowned)
      counts.milestones += 1
      if let photo = milestone.photo { photos.insert(photo) }
    }
    for tracker in trackers {
      try Self.oldestFirst(EntryFilter(owner: owner, tracker: tracker.id), transaction) { entry in
        try put("entry", BackupFormat.EntryLine(entry))
        counts.entries += 1
        if let photo = entry.photo { photos.insert(photo) }
      }
      for judged in try Self.judged(tracker, transaction) { try put("judged", judged) }
    }
    for installed in try transaction.packs(owner: owner) {
      try put("pack", installed.unowned)
      counts.packs += 1
    }
    // Unlocked achievements remain even if their pack was removed.
    for pack in try transaction.packsInProgress(owner: owner) {
      for progress in try transaction.progress(of: pack, owner: owner) {
        try put("progress", progress)
        if progress.unlockedAt != nil { counts.unlocks += 1 }
      }
      let points = try transaction.experience(of: pack, owner: owner)
      try put("experience", BackupFormat.Experience(pack: pack, points: points))
    }
    let reminders = try Self.reminders(owner, transaction)
    for reminder in reminders {
      try put("reminder", reminder.unowned)
      counts.reminders += 1
    }
    for endpoint in try transaction.endpoints(owner: owner) {
      try put("endpoint", endpoint.unowned)
      counts.endpoints += 1
    }
    // Write the latest first. Occurrences at the same time are sorted by reminder, independent of the store.
    var filter = OccurrenceFilter(owner: owner)
    var atOnce: [Occurrence] = []
    func putThoseAtOnce() throws {
      for occurrence in atOnce.sorted(by: { $0.id.reminder < $1.id.reminder }) {
        try put("occurrence", occurrence.unowned)
        counts.occurrences += 1
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
        try put("ping", BackupFormat.PingLine(reminder: reminder.id, ping: ping.pinged(by: 0)))
        counts.pings += 1
      }
    }
    return (counts, photos.sorted())
  }

  /// Returns the names of all photos that the owner's data refers to.
  static func photos(of owner: UInt32, _ transaction: any StoreTransaction) throws -> Set<String> {
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
  static func oldestFirst(
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

  /// Returns the goals by which days of a tracker were evaluated, if they differ from its own.
  static func judged(_ tracker: Tracker, _ transaction: any StoreTransaction) throws -> [BackupFormat.Judged] {
    try transaction.dayTotals(of: tracker.key, in: .earliest ... .latest).filter { $0.goal != tracker.goal }
      .map { BackupFormat.Judged(tracker: tracker.id, day: $0.day, goal: $0.goal) }
  }

  /// Returns the owner's reminders with a due time or an open occurrence, sorted by id.
  static func reminders(_ owner: UInt32, _ transaction: any StoreTransaction) throws -> [Reminder] {
    var all: [Reminder] = []
    try transaction.eachPage(of: ReminderFilter(owner: owner, includesFinished: false)) { all += $0.map(\.reminder) }
    return all.sorted { $0.id < $1.id }
  }
}

// The following members remove the owner and the keys of this store, or replace the owner.

private func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}

extension Tracker {
  var unowned: Tracker { changed(self) { ($0.owner, $0.generation) = (0, 0) } }

  func owned(by owner: UInt32) -> Tracker { changed(self) { $0.owner = owner } }
}

extension Item {
  var unowned: Item { changed(self) { $0.owner = 0 } }
}

extension Milestone {
  var unowned: Milestone { changed(self) { ($0.owner, $0.id) = (0, 0) } }
}

extension InstalledPack {
  var unowned: InstalledPack {
    changed(self) {
      ($0.owner, $0.removed) = (0, [])
      $0.pack.trackers = $0.pack.trackers.map(\.unowned)
    }
  }
}

extension Endpoint {
  var unowned: Endpoint { owned(by: 0) }

  /// Removes the failure history, which belongs to this machine.
  func owned(by owner: UInt32) -> Endpoint {
    changed(self) { ($0.queue, $0.failingSince) = (DeliveryQueue(owner: owner, channel: queue.channel), nil) }
  }
}

extension Occurrence {
  var unowned: Occurrence { owned(by: 0) }

  func owned(by owner: UInt32) -> Occurrence { changed(self) { $0.owner = owner } }
}

extension Ping {
  func pinged(by uid: UInt32) -> Ping { changed(self) { $0.uid = uid } }
}

extension Reminder {
  var unowned: Reminder { changed(self) { ($0.owner, $0.generation) = (0, 0) } }
}
