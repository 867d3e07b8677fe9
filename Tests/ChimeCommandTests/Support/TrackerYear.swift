import ChimeControl
import ChimeSchedule

/// A person's year with five packs, as the daemon would report it on Friday 27 March 2026: identical in every run.
struct TrackerYear: Sendable {
  typealias T = TrackersInterface

  static let today = CivilDate(of: "2026-03-27")
  static let started = CivilDate(of: "2025-03-10")

  var trackers: [T.Tracker] = []
  var entries: [T.Entry] = []
  var days: [String: [T.DayTotal]] = [:]
  var items: [T.Item] = []
  var milestones: [T.Milestone] = []
  var achievements: [T.Achievement] = []
  var levels: [T.Level] = []
  var packs: [T.Pack] = []
  var quote: T.Quote?
  var photos: [String: [UInt8]] = [:]
  private var seed: UInt64 = 0x5EED

  static let full = TrackerYear(isFull: true)
  /// Nothing has been set up.
  static let empty = TrackerYear(isFull: false)
  /// The packs were installed this morning and nothing was logged.
  static let fresh = full.withoutEntries()

  private init(isFull: Bool) {
    guard isFull else { return }
    addWater()
    addWeight()
    addPractice()
    addWatches()
    addGoal()
    achievements = Self.allAchievements
    levels = [T.Level(pack: "adkhar", level: 7, experience: 2_340, from: 2_100, next: 2_800)]
    packs = Self.titles.map { id, title in
      T.Pack(
        id: id, title: title, text: ["en": "", "cs": ""], version: 1, installedAt: Samples.time(1_741_600_000),
        shipped: true, trackers: trackers.filter { $0.pack == id }, reminders: [],
        achievements: achievements.filter { $0.pack == id }.count, choices: [:])
    }
    quote = T.Quote(
      text: "إِنَّ مَعَ الْعُسْرِ يُسْرًا", language: "ar",
      translation: ["en": "Indeed, with hardship comes ease.", "cs": "Vždyť s obtíží přichází i ulehčení."],
      source: "Quran 94:6", category: "quran", categoryTitle: ["en": "Quran", "cs": "Korán"])
    photos = ["spring.png": TestPicture.png(width: 160, height: 120), "note.heic": Array("not a picture".utf8)]
  }

  static let titles: [(String, [String: String])] = [
    ("hydration", ["en": "Hydration", "cs": "Pitný režim"]), ("weight", ["en": "Weight", "cs": "Váha"]),
    ("adkhar", ["en": "Daily practice", "cs": "Denní praxe"]), ("watches", ["en": "Watches", "cs": "Hodinky"]),
    ("goal", ["en": "One goal", "cs": "Jeden cíl"]),
  ]

  private func withoutEntries() -> TrackerYear {
    var copy = self
    copy.entries = []
    copy.milestones = []
    copy.items = []
    copy.quote = nil
    for (id, days) in copy.days {
      copy.days[id] = days.suffix(1).map { T.DayTotal(day: $0.day, entries: 0, met: false, counts: $0.counts) }
    }
    for index in copy.trackers.indices { copy.trackers[index].startedOn = Self.today.description }
    for index in copy.achievements.indices {
      copy.achievements[index].reached = 0
      copy.achievements[index].unlockedAt = nil
    }
    copy.levels = [T.Level(pack: "adkhar", level: 1, experience: 0, from: 0, next: 100)]
    return copy
  }

  // MARK: Reproducible randomness

  private mutating func chance() -> Double {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(seed >> 40) / Double(1 << 24)
  }

  private mutating func below(_ limit: Int) -> Int { min(Int(chance() * Double(limit)), limit - 1) }

  // MARK: The packs' trackers

  static func tracker(
    _ id: String, _ english: String, _ czech: String, _ kind: T.Tracker.Kind, pack: String?, unit: String? = nil,
    decimals: Int = 0, goal: T.Goal? = nil, weekdays: [String]? = nil, timeOfDay: T.Tracker.TimeOfDay = .anytime,
    hasItems: Bool = false, step: Double? = nil
  ) -> T.Tracker {
    T.Tracker(
      id: id, title: ["en": english, "cs": czech], kind: kind, unit: unit, decimals: decimals, goal: goal,
      presets: kind == .amount ? [100, 150, 200, 250, 330, 500] : [], usual: kind == .amount ? 250 : nil,
      counting: T.Counting(weekdays: weekdays), formerWeekdays: [], dayStartsAt: "00:00", timeOfDay: timeOfDay,
      pauses: id == "water" ? [T.Range(from: "2025-08-04", to: "2025-08-17")] : [], skips: [], hasItems: hasItems,
      fields: id == "weight" ? ["fat": "%"] : [:], milestoneStep: step, pack: pack, experience: 10,
      startedOn: started.description, createdAt: Samples.time(1_741_600_000))
  }

  private mutating func log(
    _ tracker: T.Tracker, _ date: CivilDate, minute: Int, value: Double? = nil, item: String? = nil,
    note: String? = nil, photo: String? = nil, fields: [String: Double] = [:]
  ) {
    let at = Int64(date.dayNumber) * 86_400 + Int64(minute) * 60 - 3_600
    entries.append(
      T.Entry(
        id: entries.count + 1, tracker: tracker.id, at: Samples.time(at), day: date.description, value: value,
        unit: value == nil ? nil : tracker.unit, fields: fields, item: item, note: note, photo: photo))
  }

  /// Calls `body` for every day from the start to today; it logs entries and returns the day's total.
  private mutating func fill(
    _ tracker: T.Tracker, _ body: (inout TrackerYear, CivilDate, Bool) -> (entries: Int, amount: Double?, met: Bool)
  ) {
    trackers.append(tracker)
    var totals: [T.DayTotal] = []
    var number = 0
    var date = Self.started
    while date <= Self.today {
      let name = date.weekday.abbreviation
      let isPaused = tracker.pauses.contains { $0.from ?? "" <= date.description && date.description <= $0.to ?? "" }
      let counts = !isPaused && tracker.counting.weekdays?.contains(name) ?? true
      let (count, amount, met) = isPaused ? (0, nil, false) : body(&self, date, counts)
      if met { number += 1 }
      totals.append(
        T.DayTotal(
          day: date.description, entries: count, total: tracker.kind == .amount ? amount ?? 0 : nil,
          value: tracker.kind == .measure ? amount : nil, met: met, counts: counts,
          percent: tracker.goal?.total.map { Int((amount ?? 0) / $0 * 100) },
          number: met ? number : nil, reason: counts ? nil : isPaused ? "paused" : "weekday"))
      date = date.plus(1)
    }
    days[tracker.id] = totals
  }

  private mutating func addWater() {
    let water = Self.tracker(
      "water", "Water", "Voda", .amount, pack: "hydration", unit: "ml", goal: T.Goal(total: 2_500, period: .day))
    fill(water) { year, date, _ in
      let isToday = date == Self.today
      let cups = isToday ? 6 : 5 + year.below(7) - (date.weekday == .saturday ? 2 : 0)
      var total = 0.0
      for cup in 0..<max(cups, 0) {
        let size = [200.0, 250, 250, 330, 500][year.below(5)]
        total += isToday ? 250 : size
        year.log(water, date, minute: 7 * 60 + 20 + cup * (isToday ? 20 : 75), value: isToday ? 250 : size)
      }
      return (max(cups, 0), total, total >= 2_500)
    }
  }

  private mutating func addWeight() {
    let weight = Self.tracker(
      "weight", "Weight", "Váha", .measure, pack: "weight", unit: "kg", decimals: 1,
      goal: T.Goal(value: 76, period: .day), step: 2)
    var lowest = 88.0
    fill(weight) { year, date, _ in
      let age = Double(date.dayNumber - Self.started.dayNumber)
      let trend = 88.4 - 9.2 * (1 - Double.exponential(-age / 210)) - age * 0.004
      let noise = (year.chance() + year.chance() + year.chance() - 1.5) * 0.9
      guard year.chance() < 0.74 || date == Self.today else { return (0, nil, false) }
      let value = ((trend + noise) * 10).rounded() / 10
      let notes = [
        "After the holidays", "Long run the day before", "Bad night", "<script>alert('weigh')</script> & \"quotes\"",
        "New scales, 0.2 less than the old ones",
      ]
      let note = year.chance() < 0.09 ? notes[year.below(notes.count)] : nil
      year.log(weight, date, minute: 395, value: value, note: note, fields: ["fat": 21.4])
      while trend + 0.4 < lowest - 2 {
        lowest -= 2
        year.milestones.append(
          T.Milestone(
            id: year.milestones.count + 1, tracker: "weight", day: date.description, title: "\(Int(lowest)) kg",
            value: lowest))
      }
      return (1, value, value <= 76)
    }
  }

  private mutating func addPractice() {
    let practices: [(String, String, String, T.Tracker.TimeOfDay, Double)] = [
      ("adkhar-morning", "Morning adhkar", "Ranní adhkár", .morning, 0.93),
      ("adkhar-reading", "A page of reading", "Stránka četby", .anytime, 0.7),
      ("adkhar-evening", "Evening adhkar", "Večerní adhkár", .evening, 0.84),
    ]
    for (id, english, czech, timeOfDay, share) in practices {
      let practice = Self.tracker(
        id, english, czech, .check, pack: "adkhar", goal: T.Goal(count: 1), timeOfDay: timeOfDay)
      fill(practice) { year, date, _ in
        let isDone = date == Self.today ? timeOfDay == .morning : year.chance() < share
        if isDone {
          year.log(practice, date, minute: timeOfDay == .evening ? 1_130 : timeOfDay == .morning ? 370 : 760)
        }
        return (isDone ? 1 : 0, nil, isDone)
      }
    }
  }

  private mutating func addWatches() {
    let watches = Self.tracker(
      "watches", "Watches", "Hodinky", .check, pack: "watches", goal: T.Goal(count: 1), hasItems: true)
    let collection: [(String, String, String)] = [
      ("speedmaster", "Speedmaster", "Omega"), ("submariner", "Submariner", "Rolex"), ("skx007", "SKX007", "Seiko"),
      ("tank", "Tank Must", "Cartier"), ("black-bay", "Black Bay 58", "Tudor"), ("f-91w", "F-91W", "Casio"),
      ("cocktail", "Presage Cocktail Time \"Mockingbird\" with a very long name", "Seiko"),
      ("tangente", "Tangente 38", "Nomos"), ("reverso", "Reverso Classic", "Jaeger-LeCoultre"),
      ("prim", "Sport <II>", "Prim"), ("snowflake", "Snowflake", "Grand Seiko"), ("khaki", "Khaki Field", "Hamilton"),
    ]
    var worn: [String: (Int, String)] = [:]
    fill(watches) { year, date, _ in
      let times = date == Self.today ? 1 : year.chance() < 0.88 ? 1 + year.below(5) / 4 : 0
      for turn in 0..<times {
        let pick = collection[min(year.below(collection.count), year.below(collection.count + 3))].0
        year.log(watches, date, minute: 480 + turn * 600, item: pick)
        worn[pick] = ((worn[pick]?.0 ?? 0) + 1, date.description)
      }
      return (times, nil, times > 0)
    }
    items = collection.enumerated().map { index, watch in
      T.Item(
        id: watch.0, tracker: "watches", title: watch.1, attributes: ["brand": watch.2],
        since: "2025-0\(1 + index % 3)-1\(index % 9)", entries: worn[watch.0]?.0 ?? 0, lastDay: worn[watch.0]?.1)
    }
  }

  private mutating func addGoal() {
    let goal = Self.tracker(
      "goal", "Practise the cello", "Cvičit na violoncello", .check, pack: "goal", goal: T.Goal(count: 1),
      weekdays: ["mon", "tue", "thu", "fri", "sat"])
    fill(goal) { year, date, counts in
      let isDone = counts && date != Self.today && year.chance() < 0.8
      if isDone { year.log(goal, date, minute: 1_080) }
      return (isDone ? 1 : 0, nil, isDone)
    }
    milestones += [
      T.Milestone(
        id: 90, tracker: "goal", day: "2026-01-17", title: "First concert for friends",
        note: "The prelude of the first suite, from memory.", photo: "spring.png"),
      T.Milestone(
        id: 91, tracker: "goal", day: "2026-03-07", title: "Third position \"onload=\"alert(1)",
        note: "<img src=x onerror=alert(1)>", photo: "note.heic"),
    ]
  }
}

extension Double {
  /// Returns e to the power of x, computed by its series; good enough for this fixture's small range.
  fileprivate static func exponential(_ x: Double) -> Double {
    let small = x / 16
    var (term, sum) = (1.0, 1.0)
    for step in 1...12 {
      term *= small / Double(step)
      sum += term
    }
    return (0..<4).reduce(sum) { value, _ in value * value }
  }
}

extension CivilDate {
  /// Creates a day from its text, which must be valid.
  init(of text: String) { self = CivilDate(text) ?? .earliest }

  func plus(_ days: Int) -> CivilDate { adding(days: days) ?? self }
}
