import ChimeCore
import ChimeSchedule
import ChimeTracking

// Random operations on trackers.
extension StoreComparison {
  private static var owners: [UInt32] { [1, 2] }
  private static var trackerNames: [String] { ["water", "weight", "watch"] }
  private static var itemNames: [String] { ["alpha", "beta", "gamma"] }
  private static var packNames: [String] { ["hydration", "watches"] }

  static func trackingOperation(
    _ number: Int, _ store: any StoreTransaction, _ random: inout SeededGenerator
  ) throws -> String {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func maybe<Value>(_ value: Value) -> Value? { pick(0...1) == 0 ? nil : value }
    let owner = owners[min(pick(0...3), 1)]
    let key = TrackerKey(owner: owner, id: TrackerID(rawValue: trackerNames[pick(0...2)]))
    let item = ItemID(rawValue: itemNames[pick(0...2)])
    let pack = PackID(rawValue: packNames[pick(0...1)])
    let day = trackingDay(pick(0...9))
    let days = maybe(day...trackingDay(12))
    let now = at(Int64(number))

    let kind = pick(0...23)
    switch kind {
    case 0...2:
      guard let last = try store.lastChange(owner: owner, since: at(Int64(number - pick(50...2_000)))) else {
        return "nothing to take back"
      }
      return "took back \(last): \(spoken(try store.takeBack(last.id)))"
    case 3:
      if pick(0...4) > 0 { return "not now" }
      let (before, limit) = (at(Int64(number - pick(10...300))), pick(1...9))
      var count = 0
      while try store.forgetChanges(before: before, limit: limit) { count += 1 }
      while try store.clearStagingOwners(before: before, limit: limit) { count += 1 }
      return count < 10_000 ? "forgotten" : "never forgotten"
    case 4: return "an old one: \(spoken(try store.takeBack(Int64(pick(1...20)))))"
    default: break
    }
    // Most writes belong to a change and can be undone; some do not.
    if pick(0...5) > 0 {
      let change = TrackingChange(
        owner: pick(0...15) > 0 ? owner : 3 - owner, at: now, kind: TrackingChange.Kind.allCases[pick(0...9)],
        tracker: maybe(key.id), subject: "change \(number)")
      try store.begin(change)
    }
    var said: [String] = []
    if try store.tracker(key) == nil {
      var tracker = try sampleTracker(key)
      tracker.pack = maybe(pack)
      tracker.createdAt = at(Int64(pick(0...1)))
      try store.put(tracker)
      said.append("made")
    }
    for _ in 0..<pick(1...3) {
      switch pick(0...19) {
      case 0...5:
        var entry = sampleEntry(key, at: at(Int64(pick(0...900))), day: day)
        (entry.quantity, entry.item) = (maybe(Quantity(grains: Int64(number))), maybe(item))
        (entry.note, entry.photo) = (maybe(["Good", "not good", ""][pick(0...2)]), maybe("p\(number)"))
        entry.fields = maybe(["fat": Quantity(grains: 7)]) ?? [:]
        said.append("\(try store.insert(entry))")
      case 6...8:
        let offset = pick(0...5)
        let filter = EntryFilter(owner: owner, tracker: maybe(key.id))
        guard var entry = try store.entries(filter, page: Page(limit: 1), offset: offset).first else { break }
        (entry.item, entry.day, entry.note) = (maybe(item), day, maybe("edited"))
        if pick(0...3) == 0, try store.tracker(key) != nil { entry.tracker = key.id }
        try store.update(entry)
        said.append("edited \(entry.id)")
      case 9, 10:
        let (filter, page) = (EntryFilter(owner: owner), Page(limit: 1))
        guard let entry = try store.entries(filter, page: page, offset: pick(0...5)).first else { break }
        let thief = pick(0...5) == 0 ? 3 - owner : owner
        said.append("removed \(String(describing: try store.removeEntry(entry.id, owner: thief)))")
      case 11: said.append("removed \(try store.removeEntries(of: key, in: days))")
      case 12:
        guard var tracker = try store.tracker(key) else { break }
        tracker.generation += 1
        tracker.goal = maybe(Goal(.count(pick(1...3)), each: .week))
        try store.put(tracker)
      case 13:
        guard try store.tracker(key) != nil else { break }
        var thing = sampleItem(item, key)
        // One attribute at most, because a dictionary prints in no fixed order.
        thing.attributes = maybe(["brand": "\(number)"]) ?? [:]
        (thing.title, thing.until) = (["B", "a", "c"][pick(0...2)], maybe(day))
        try store.put(thing)
      case 14: said.append("item \(try store.removeItem(item, of: key))")
      case 15:
        guard try store.tracker(key) != nil else { break }
        var milestone = sampleMilestone(key, day: day)
        let known = try store.milestones(owner: owner, tracker: key.id)
        milestone.id = maybe(known.first?.id ?? 0) ?? 0
        milestone.title = "milestone \(number)"
        said.append("\(try store.put(milestone))")
      case 16:
        guard let known = try store.milestones(owner: owner, tracker: maybe(key.id)).last else { break }
        said.append("\(String(describing: try store.removeMilestone(known.id, owner: owner)))")
      case 17:
        if pick(0...2) == 0 {
          said.append("pack \(try store.removePack(pack, owner: owner))")
        } else {
          try store.put(
            InstalledPack(
              pack: Pack(id: pack, title: LocalizedText("Pack \(number)"), text: ""), owner: owner, installedAt: now,
              reminders: maybe(["drink": ReminderID(rawValue: "r1")]) ?? [:]))
        }
      case 18:
        try store.setProgress(
          AchievementProgress(
            pack: pack, achievement: AchievementID(rawValue: "a\(pick(0...3))"), reached: pick(0...9),
            unlockedAt: maybe(now), wasSilent: pick(0...1) == 0), owner: owner)
        try store.setExperience(number, of: pack, owner: owner)
        if try store.tracker(key) != nil {
          try store.setDayTotal(maybe(sampleTotal(day, count: number)), on: day, of: key)
          var summary = TrackerSummary()
          (summary.entries, summary.strength) = (number, 1 / Double(number + 3))
          try store.setSummary(maybe(summary), of: key)
        }
      default:
        // A restore: the data are exchanged, or the attempt is abandoned or interrupted.
        switch pick(0...5) {
        case 0...1: said.append("removed \(try store.removeTracker(key))")
        case 2:
          let stagingOwner = try store.makeStagingOwner(for: owner, now: now)
          let staged = TrackerKey(owner: stagingOwner, id: key.id)
          try store.put(try sampleTracker(staged))
          said.append("\(try store.insert(sampleEntry(staged, at: now, day: day)))")
          var thing = sampleItem(item, staged)
          thing.attributes = [:]
          try store.put(thing)
          try store.setDayTotal(sampleTotal(day, count: number), on: day, of: staged)
          try store.setExperience(number, of: pack, owner: stagingOwner)
          switch pick(0...3) {
          case 0: try store.abandonStagingOwner(stagingOwner)
          case 1: break
          default:
            let change = TrackingChange(owner: owner, at: now, kind: .restored, subject: "restore \(number)")
            said.append("exchanged as \(try store.exchange(change, with: stagingOwner))")
          }
        default: break
        }
      }
    }
    return "\(said)"
  }

  private static func spoken(_ touched: [TrackerKey: Set<CivilDate>]) -> String {
    touched.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted())" }.joined(separator: "; ")
  }

  /// Returns all visible tracker data.
  static func tracking(_ store: any StoreTransaction) throws -> [String] {
    let page = Page(limit: 10_000)
    var lines = try ([nil, 1, 2] as [UInt32?]).flatMap { owner in
      try store.trackers(owner: owner).map { "\($0)" } + (try store.packs(owner: owner).map { "\($0)" })
    }
    for owner in owners {
      lines.append("\(String(describing: try store.lastChange(owner: owner, since: at(0))))")
      lines += try store.milestones(owner: owner, tracker: nil).map { "\($0)" }
      for pack in packNames.map(PackID.init(rawValue:)) {
        lines.append("\(try store.experience(of: pack, owner: owner)) \(try store.progress(of: pack, owner: owner))")
      }
      for name in [nil] + trackerNames.map({ Optional($0) }) {
        for filter in entryFilters(owner, name.map { TrackerID(rawValue: $0) }) {
          let entries = try store.entries(filter, page: page)
          lines.append("\(entries)")
          lines.append("\(try store.entries(filter, page: Page(limit: 3), offset: 2))")
          lines.append("\(try store.entryCount(filter)) of \(entries.count)")
        }
      }
      for key in trackerNames.map({ TrackerKey(owner: owner, id: TrackerID(rawValue: $0)) }) {
        lines.append("\(try store.items(of: key))")
        lines.append("\(try store.itemCounts(of: key, in: nil))")
        lines.append("\(try store.itemCounts(of: key, in: trackingDay(2)...trackingDay(6)))")
        lines.append("\(try store.itemCount(of: ItemID(rawValue: "beta"), key: key))")
        lines.append("\(try store.itemDays(of: key, in: trackingDay(1)...trackingDay(5)))")
        lines.append("\(try store.entries(of: key, on: trackingDay(4)))")
        lines.append("\(try store.entryDays(of: key, in: nil))")
        lines.append("\(try store.entryDays(of: key, in: trackingDay(2)...trackingDay(6)))")
        lines.append("\(try store.dayTotals(of: key, in: trackingDay(0)...trackingDay(12)))")
        lines.append("\(String(describing: try store.summary(of: key)))")
      }
    }
    return lines
  }

  private static func entryFilters(_ owner: UInt32, _ tracker: TrackerID?) -> [EntryFilter] {
    let days = trackingDay(2)...trackingDay(6)
    let item = ItemID(rawValue: "alpha")
    return [
      EntryFilter(owner: owner, tracker: tracker), EntryFilter(owner: owner, tracker: tracker, days: days),
      EntryFilter(owner: owner, tracker: tracker, weekdays: [.monday, .sunday]),
      EntryFilter(owner: owner, tracker: tracker, days: days, item: item),
      EntryFilter(owner: owner, tracker: tracker, item: item, hasNote: true),
      EntryFilter(owner: owner, tracker: tracker, hasNote: true),
      EntryFilter(owner: owner, tracker: tracker, text: "GOOD"),
      EntryFilter(owner: owner, tracker: tracker, days: days, hasMilestone: true),
      EntryFilter(owner: owner, tracker: tracker, item: item, hasMilestone: true, text: ""),
    ]
  }
}
