import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// What a person wants to know of a measure or a collection at a glance, and of the further measures of entries.
extension RequestHandler {
  /// How many of the newest entries are looked through for the latest value of each field.
  private static let entriesForFields = 100

  /// Adds to a standing where a measure goes, its further measures, and what of a collection was used.
  func detail(_ stood: inout Stood, of tracker: Tracker, _ transaction: any StoreTransaction) throws {
    let day = stood.standing.day
    if tracker.kind == .measure, stood.standing.value != nil {
      let range = Self.quarter(upTo: day)
      let totals = try transaction.dayTotals(of: tracker.key, in: Statistics.reads(range))
      let statistics = Statistics(tracker, in: range, today: day, totals: totals)
      stood.wired.weeklyRate = statistics.weeklyRate
      stood.wired.direction = statistics.direction.flatMap { Tracking.Standing.Direction(rawValue: $0.rawValue) }
      stood.wired.goalOn = stood.standing.isReached ? nil : statistics.goalOn?.description
    }
    if !tracker.fields.isEmpty {
      let filter = EntryFilter(owner: caller.owner, tracker: tracker.id, days: .earliest...day)
      let newest = try transaction.entries(filter, page: Page(limit: Self.entriesForFields))
      let values = newest.reduce(into: [String: Quantity]()) { $0.merge($1.fields) { newer, _ in newer } }
      stood.wired.fields = values.reduce(into: [:]) { result, field in
        guard let unit = tracker.fields[field.key] else { return }
        result?[field.key] = wire.number(field.value, unit)
      }
    }
    stood.wired.stock = try tracking(transaction).stockLevel(of: tracker).map { wire.stock($0, of: tracker) }
    if tracker.hasItems { stood.wired.items = try items(of: tracker, usedOn: day, transaction) }
  }

  private func items(
    of tracker: Tracker, usedOn day: CivilDate, _ transaction: any StoreTransaction
  ) throws -> [Tracking.Item] {
    var order: [ItemID] = []
    for item in try transaction.entries(of: tracker.key, on: day).compactMap(\.item) {
      order.removeAll { $0 == item }
      order.append(item)
    }
    let wire = self.wire
    return try order.suffix(Self.mostItemsOfDay).compactMap { id in
      guard let item = try transaction.item(id, of: tracker.key) else { return nil }
      return wire.item(
        item, count: ItemCount(item: id, count: try transaction.itemCount(of: id, key: tracker.key), lastDay: day))
    }
  }

  /// Nobody wears more watches on a day.
  private static let mostItemsOfDay = 50

  /// The three months that end with a day, as `chime chart` draws them.
  private static func quarter(upTo day: CivilDate) -> ClosedRange<CivilDate> {
    let months = day.year * 12 + day.month - 1 - 3
    let (year, month) = (months / 12, months % 12 + 1)
    let before = CivilDate(year: year, month: month, day: min(day.day, CivilDate.daysIn(month: month, year: year)))
    return min(before?.adding(days: 1) ?? .earliest, day)...day
  }

  /// A tracker's field as if it were a tracker of its own, with the totals of its days.
  func field(
    _ name: String, of tracker: Tracker, in days: ClosedRange<CivilDate>, _ transaction: any StoreTransaction
  ) throws -> (tracker: Tracker, totals: [DayTotal]) {
    let unit = try TrackerFields.unit(ofField: name, tracker)
    var field = tracker
    field.title = LocalizedText(tracker.title.texts.mapValues { "\($0): \(name)" })
    (field.kind, field.unit, field.decimals, field.goal, field.milestoneStep) = (.measure, unit, 1, nil, nil)
    (field.presets, field.usual, field.fields, field.hasItems) = ([], nil, [:], false)
    var byDay: [CivilDate: [Entry]] = [:]
    let filter = EntryFilter(owner: caller.owner, tracker: tracker.id, days: days)
    try BackupRecords.oldestFirst(filter, transaction) { entry in
      try life.goOn()
      guard let value = entry.fields[name] else { return }
      var entry = entry
      entry.quantity = value
      byDay[entry.day, default: []].append(entry)
    }
    let aggregator = ProgressAggregator(field)
    return (field, byDay.sorted { $0.key < $1.key }.compactMap { aggregator.total(of: $0.value) })
  }

  /// What one item earns by itself, and what was unlocked on a day on which it was used.
  func achievements(
    ofItem name: String, _ request: Tracking.Achievements, _ transaction: any StoreTransaction
  ) throws -> Tracking.Achievements.Reply {
    guard let tracker = try lookup(transaction).tracker(request.tracker) else {
      throw ControlFailure.invalidValue(field: "tracker", "an item needs a tracker: give that too")
    }
    let item = try lookup(transaction).item(name, of: tracker)
    guard let pack = try tracker.pack.flatMap({ try transaction.pack($0, owner: caller.owner)?.pack }),
      request.pack.map({ $0 == pack.id.rawValue }) ?? true
    else { return Tracking.Achievements.Reply(achievements: [], levels: [], streaks: []) }
    let progress = Dictionary(
      try transaction.progress(of: pack.id, owner: caller.owner).map { ($0.achievement, $0) }
    ) { first, _ in first }
    let count = try transaction.itemCount(of: item.id, key: tracker.key)
    let days = try daysUsed(item, of: tracker, transaction)
    let anniversaries = item.anniversaries(among: days)
    let wire = self.wire
    let achievements = pack.achievements.compactMap { one -> Tracking.Achievement? in
      let kept = progress[one.id]
      let own: Int? =
        switch one.criterion.kind {
        case .entriesForItem: count
        case .itemAnniversary: anniversaries
        default: nil
        }
      if let own {
        let target = max(one.criterion.target, 1)
        return wire.achievement(one, of: pack, own >= target ? kept : nil, shown: (min(own, target), target))
      }
      guard let at = kept?.unlockedAt, days.contains(tracker.day(at: at, in: context.zones.local).day) else {
        return nil
      }
      return wire.achievement(one, of: pack, kept)
    }
    return Tracking.Achievements.Reply(achievements: achievements, levels: [], streaks: [])
  }

  private func daysUsed(
    _ item: Item, of tracker: Tracker, _ transaction: any StoreTransaction
  ) throws -> Set<CivilDate> {
    Set(
      try transaction.itemDays(of: tracker.key, in: .earliest ... .latest).filter { $0.item == item.id && $0.count > 0 }
        .map(\.day))
  }
}
