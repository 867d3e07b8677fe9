import ChimeSchedule
import ChimeTestKit
import ChimeTracking

/// A small model of trackers, entries and items that recomputes everything on request.
struct AchievementFixture {
  static let start = CivilDate(year: 2024, month: 2, day: 20) ?? .earliest
  static func kg(_ value: Double) -> Quantity { Quantity(grains: Int64((value * 1_600_000_000).rounded())) }
  static func ml(_ value: Double) -> Quantity { Quantity(grains: Int64((value * 16_000_000).rounded())) }

  static let water = TrackerID(rawValue: "water")
  static let prayer = TrackerID(rawValue: "prayer")
  static let weight = TrackerID(rawValue: "weight")
  static let watches = TrackerID(rawValue: "watches")

  var trackers: [Tracker]
  var pack: Pack
  var now: Instant
  var entries: [EntryID: Entry] = [:]
  var items: [ItemID: Item] = [:]
  private var lastID: Int64 = 0
  /// The store's totals by day.
  private var kept: [TrackerID: [CivilDate: DayTotal]] = [:]

  init(_ achievements: [Achievement]) {
    let at = Instant(seconds: 0)
    func tracker(_ id: TrackerID, _ kind: Tracker.Kind, _ change: (inout Tracker) -> Void) -> Tracker {
      var tracker = Tracker(
        id: id, owner: 1, title: "t", kind: kind, experience: 7, startedOn: Self.start, createdAt: at)
      change(&tracker)
      return tracker
    }
    trackers = [
      tracker(Self.water, .amount) {
        $0.unit = Unit("ml")
        $0.goal = Goal(.total(Self.ml(1_000)))
      },
      tracker(Self.prayer, .check) {
        $0.dayStartsAt = 240
        $0.counting = .weekdays([.monday, .tuesday, .wednesday, .thursday, .friday, .saturday])
        $0.pauses = [Self.start.plus(9)...Self.start.plus(12)]
        $0.skips = [Self.start.plus(16)]
        $0.experience = 3
      },
      tracker(Self.weight, .measure) {
        $0.unit = Unit("kg")
        $0.goal = Goal(.value(Self.kg(75)))
        $0.counting = .timesAWeek(2)
      },
      tracker(Self.watches, .check) {
        $0.hasItems = true
        $0.counting = .timesAMonth(1)
      },
    ]
    pack = Pack(
      id: PackID(rawValue: "all"), title: "All", text: "", trackers: trackers, achievements: achievements,
      levels: LevelCurve(base: 40, power: 1.3))
    now = Self.instant(Self.start, minute: 12 * 60)
  }

  static func instant(_ day: CivilDate, minute: Int) -> Instant {
    Instant(seconds: (Int64(day.dayNumber) * 1_440 + Int64(minute)) * 60)
  }

  func tracker(_ id: TrackerID) -> Tracker { trackers.first { $0.id == id } ?? trackers[0] }
  func today(_ id: TrackerID) -> CivilDate { tracker(id).day(at: now, in: .utc).day }

  func entries(of id: TrackerID) -> [Entry] {
    entries.values.filter { $0.tracker == id }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  func totals(of id: TrackerID) -> [DayTotal] { kept[id, default: [:]].values.sorted { $0.day < $1.day } }
  func total(of id: TrackerID, on day: CivilDate) -> DayTotal? { kept[id]?[day] }

  /// Adds, replaces or removes one entry, and reports it as the daemon does.
  mutating func change(_ old: Entry?, to new: Entry?) -> TrackingOccasion {
    let id = (new ?? old)?.tracker ?? Self.water
    let days = Set([old?.day, new?.day].compactMap { $0 }).sorted()
    let before = days.map { total(of: id, on: $0) }
    if let old { entries[old.id] = nil }
    var added = new
    if new != nil {
      lastID += 1
      let number = old?.id ?? EntryID(rawValue: lastID)
      added?.id = number
      entries[number] = added
    }
    for day in days {
      kept[id, default: [:]][day] = ProgressAggregator(tracker(id)).total(
        of: entries.values.filter { $0.tracker == id && $0.day == day }.sorted { ($0.at, $0.id) < ($1.at, $1.id) })
    }
    let changes = zip(days, before).map { EntryChange.DayChange(before: $1, after: total(of: id, on: $0)) }
    return .entry(
      EntryChange(id, removed: old, added: added, days: changes, summary: (try? summary(of: id)) ?? TrackerSummary()))
  }

  mutating func change(item: ItemID, to new: Item?) -> TrackingOccasion {
    let old = items[item]
    items[item] = new
    return .item(Self.watches, before: old, after: new)
  }

  func entry(_ id: TrackerID, at: Instant, quantity: Quantity? = nil, item: ItemID? = nil) -> Entry {
    let (day, minute) = tracker(id).day(at: at, in: .utc)
    return Entry(
      id: EntryID(rawValue: 0), tracker: id, owner: 1, at: at, day: day, minute: minute, quantity: quantity, item: item)
  }
}

extension AchievementFixture: TrackingFacts {
  func summary(of id: TrackerID) throws -> TrackerSummary? {
    let totals = totals(of: id)
    return totals.isEmpty ? nil : ProgressAggregator(tracker(id)).summary(of: totals)
  }
  func dayTotal(of id: TrackerID, on day: CivilDate) throws -> DayTotal? { total(of: id, on: day) }
  func dayTotals(of id: TrackerID, in days: ClosedRange<CivilDate>) throws -> [DayTotal] {
    totals(of: id).filter { days.contains($0.day) }
  }
  func items(of id: TrackerID) throws -> [Item] {
    items.values.filter { $0.tracker == id }.sorted { $0.id < $1.id }
  }
  func count(of item: ItemID, tracker: TrackerID) throws -> Int { entries(of: tracker).count { $0.item == item } }
  func itemDays(of id: TrackerID, in days: ClosedRange<CivilDate>) throws -> [ItemDay] {
    var counts: [CivilDate: [ItemID: Int]] = [:]
    for entry in entries(of: id) where days.contains(entry.day) {
      if let item = entry.item { counts[entry.day, default: [:]][item, default: 0] += 1 }
    }
    return counts.sorted { $0.key < $1.key }.flatMap { day in
      day.value.sorted { $0.key < $1.key }.map { ItemDay(day: day.key, item: $0.key, count: $0.value) }
    }
  }
}
