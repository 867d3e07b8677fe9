import ChimeCore
import ChimeSchedule
import ChimeTracking

// Entries, items and milestones.
extension MemoryTransaction {
  func insert(_ entry: Entry) throws -> Entry {
    try requireWriting()
    try require(entry.key)
    contents.tracking.lastEntry += 1
    var entry = entry
    entry.id = EntryID(rawValue: contents.tracking.lastEntry)
    set(.entry(entry.id), .entry(entry), of: entry.owner)
    return entry
  }

  func update(_ entry: Entry) throws {
    try requireWriting()
    guard try self.entry(entry.id, owner: entry.owner) != nil else {
      throw StoreFailure.internalError("there is no entry \(entry.id) to update")
    }
    try require(entry.key)
    set(.entry(entry.id), .entry(entry), of: entry.owner)
  }

  func removeEntry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    try requireWriting()
    guard let entry = try entry(id, owner: owner) else { return nil }
    set(.entry(id), nil, of: owner)
    return entry
  }

  func removeEntries(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> Int {
    try requireWriting()
    let entries = contents.tracking.entries.filter { $0.key == key && days?.contains($0.day) ?? true }
    for entry in entries { set(.entry(entry.id), nil, of: key.owner) }
    return entries.count
  }

  func entry(_ id: EntryID, owner: UInt32) throws -> Entry? {
    contents.tracking.entry(id).flatMap { $0.owner == owner ? $0 : nil }
  }

  func entries(_ filter: EntryFilter, page: Page, offset: Int) throws -> [Entry] {
    let found = try matching(filter).sorted { ($0.at, $0.id) > ($1.at, $1.id) }
    return Array(found.dropFirst(offset).prefix(page.limit))
  }

  func entryCount(_ filter: EntryFilter) throws -> Int { try matching(filter).count }

  private func matching(_ filter: EntryFilter) throws -> [Entry] {
    contents.tracking.entries.filter { entry in
      if entry.owner != filter.owner { return false }
      if let tracker = filter.tracker, entry.tracker != tracker { return false }
      if let days = filter.days, !days.contains(entry.day) { return false }
      if let weekdays = filter.weekdays, !weekdays.contains(entry.day.weekday) { return false }
      if let item = filter.item, entry.item != item { return false }
      if filter.hasNote, entry.note == nil { return false }
      if let text = filter.text {
        guard let note = entry.note, text.isEmpty || note.plain.firstRange(of: text.plain) != nil else { return false }
      }
      return !filter.hasMilestone
        || contents.tracking.milestones.contains { $0.key == entry.key && $0.day == entry.day }
    }
  }

  func entryDays(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [CivilDate] {
    Set(contents.tracking.entries.filter { $0.key == key && days?.contains($0.day) ?? true }.map(\.day)).sorted()
  }

  func entries(of key: TrackerKey, on day: CivilDate) throws -> [Entry] {
    contents.tracking.entries.filter { $0.key == key && $0.day == day }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  func itemCounts(of key: TrackerKey, in days: ClosedRange<CivilDate>?) throws -> [ItemCount] {
    var counts: [ItemID: ItemCount] = [:]
    for entry in contents.tracking.entries where entry.key == key && days?.contains(entry.day) ?? true {
      guard let item = entry.item else { continue }
      let known = counts[item] ?? ItemCount(item: item, count: 0)
      counts[item] = ItemCount(item: item, count: known.count + 1, lastDay: max(known.lastDay ?? entry.day, entry.day))
    }
    return counts.values.sorted { $0.count == $1.count ? $0.item < $1.item : $0.count > $1.count }
  }

  func itemCount(of item: ItemID, key: TrackerKey) throws -> Int {
    contents.tracking.entries.count { $0.key == key && $0.item == item }
  }

  func itemDays(of key: TrackerKey, in days: ClosedRange<CivilDate>) throws -> [ItemDay] {
    try Set(contents.tracking.entries.filter { $0.key == key && days.contains($0.day) }.map(\.day)).sorted()
      .flatMap { day in
        try itemCounts(of: key, in: day...day).map { ItemDay(day: day, item: $0.item, count: $0.count) }
      }
  }

  // Items.

  func put(_ item: Item) throws {
    try requireWriting()
    try require(item.key)
    set(.item(item.key, item.id), .item(item), of: item.owner)
  }

  func item(_ id: ItemID, of key: TrackerKey) throws -> Item? { contents.tracking.item(id, of: key) }

  func items(of key: TrackerKey) throws -> [Item] {
    contents.tracking.items.filter { $0.key == key }.sorted { left, right in
      let (one, other) = (left.title.plain, right.title.plain)
      return one == other ? left.id < right.id : one.lexicographicallyPrecedes(other)
    }
  }

  func removeItem(_ id: ItemID, of key: TrackerKey) throws -> Bool {
    try requireWriting()
    guard contents.tracking.item(id, of: key) != nil else { return false }
    set(.item(key, id), nil, of: key.owner)
    return true
  }

  // Milestones.

  func put(_ milestone: Milestone) throws -> Milestone {
    try requireWriting()
    try require(milestone.key)
    var milestone = milestone
    if milestone.id == 0 {
      contents.tracking.lastMilestone += 1
      milestone.id = contents.tracking.lastMilestone
    } else if contents.tracking.milestone(milestone.id)?.owner != milestone.owner {
      throw StoreFailure.internalError("there is no milestone \(milestone.id) to replace")
    }
    set(.milestone(milestone.id), .milestone(milestone), of: milestone.owner)
    return milestone
  }

  func milestones(owner: UInt32, tracker: TrackerID?) throws -> [Milestone] {
    contents.tracking.milestones.filter { $0.owner == owner && (tracker == nil || $0.tracker == tracker) }
      .sorted { ($0.day, $0.id) > ($1.day, $1.id) }
  }

  func removeMilestone(_ id: Int64, owner: UInt32) throws -> Milestone? {
    try requireWriting()
    guard let milestone = contents.tracking.milestone(id), milestone.owner == owner else { return nil }
    set(.milestone(id), nil, of: owner)
    return milestone
  }
}

extension String {
  /// The UTF-8 bytes, with ASCII letters in lower case.
  fileprivate var plain: [UInt8] { utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
}
