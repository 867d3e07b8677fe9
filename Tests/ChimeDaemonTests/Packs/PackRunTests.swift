import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

@testable import ChimeDaemon

/// Runs each pack with a moved clock until all achievements are unlocked: 1,006 days for watches.
@Suite struct PackRunTests {
  /// A user's days with one pack.
  private final class Run {
    static let owner: UInt32 = 1_000
    /// A Monday; the next 1,006 days include a 29 February and a Friday the 13th.
    static let start = CivilDate(year: 2026, month: 3, day: 2) ?? .earliest

    let pack: Pack
    let store = MemoryStore()
    private let context = ReminderContext(zones: ZoneCatalog())
    private var random = SeededGenerator(seed: 20)
    private var now = Instant.earliest
    private(set) var day = 0
    private(set) var unlocked: [String: Int] = [:]

    init(_ name: String) throws { pack = try #require(try ShippedPacks.pack(name)) }

    var missing: [String] { pack.achievements.map(\.id.rawValue).filter { unlocked[$0] == nil } }
    var tracker: TrackerID { pack.trackers[0].id }

    /// Moves the clock to a day, counted from 0, and a time.
    func go(_ day: Int, _ hour: Int, _ minute: Int = 0) throws {
      self.day = day
      let date = try #require(Self.start.adding(days: day))
      let time = try #require(CivilTime(hour: hour, minute: minute))
      switch context.zones.local.resolve(CivilDateTime(date: date, time: time)) {
      case .unique(let instant): now = instant
      case .gap(_, _, let transition): now = transition
      case .fold(let first, _): now = first
      }
    }

    func change(
      _ body: @escaping @Sendable (TrackingOperations, inout SeededGenerator) throws -> TrackingOutcome
    ) async throws {
      let (context, now, random) = (context, now, random)
      let (outcome, after) = try await store.write { transaction in
        var random = random
        let work = TrackingOperations(in: transaction, owner: Self.owner, context, now: now)
        return (try body(work, &random), random)
      }
      self.random = after
      for one in outcome.unlocked {
        #expect(unlocked[one.achievement.id.rawValue] == nil, "\(one.achievement.id) twice")
        unlocked[one.achievement.id.rawValue] = day
      }
    }

    func install(_ adapt: (inout Pack) -> Void = { _ in }) async throws {
      var pack = pack
      adapt(&pack)
      try await change { [pack] in try $0.install(pack, using: &$1) }
    }

    func log(_ tracker: TrackerID? = nil, _ quantity: Quantity? = nil, item: String? = nil) async throws {
      let draft = EntryDraft(
        tracker: tracker ?? self.tracker, quantity: quantity, item: item.map { ItemID(rawValue: $0) })
      try await change { try $0.log(draft, using: &$1) }
    }

    func own(_ number: Int, _ attributes: [String: String]) async throws {
      let item = Item(
        id: ItemID(rawValue: "w\(number)"), tracker: tracker, owner: Self.owner, title: "Watch \(number)",
        attributes: attributes, since: Self.start.adding(days: day), createdAt: now)
      try await change { try $0.put(item, using: &$1) }
    }

    func number() async throws -> Int? {
      let key = TrackerKey(owner: Self.owner, id: tracker)
      return try await store.read { try $0.summary(of: key)?.numberedDays }
    }
  }

  private static func ml(_ value: Double) throws -> Quantity {
    try #require(Unit("ml").flatMap { Quantity(value, $0) })
  }

  @Test func watchesPackUnlocksAllAchievements() async throws {
    let run = try Run("watches")
    try run.go(0, 7)
    try await run.install()
    let brands = ["Omega", "Seiko", "Casio", "Tissot", "Rolex", "Orient", "Zenith", "Prim", "Nomos", "Citizen", "Oris"]
    let styles = ["dive", "dress", "field", "pilot"]
    for number in 0..<12 {
      try await run.own(
        number,
        [
          "brand": brands[number % brands.count], "movement": ["automatic", "quartz", "manual"][number % 3],
          "style": styles[number % 4],
        ])
    }
    for day in 0..<1_006 {
      // Twelve watches in turn; then the same one for 230 days.
      let item = (400..<630).contains(day) ? 0 : day % 12
      try run.go(day, day < 5 ? 5 : 9, 30)
      try await run.log(item: "w\(item)")
      if day == 20 { try await run.log(item: "w\((item + 1) % 12)") }
      if day == 21 {
        try run.go(day, 23, 15)
        try await run.log(item: "w\(item)")
      }
      // The collection grows.
      if day > 30, day % 10 == 0, day / 10 + 8 < 50 { try await run.own(day / 10 + 8, [:]) }
    }
    #expect(run.missing.isEmpty, "\(run.missing)")
    #expect(run.unlocked.count == 50)
    #expect(run.unlocked["still_ticking"] == 1_000)
    #expect(run.unlocked["perpetual_calendar"] == 364)
    // The fourth weekend: a Saturday suffices.
    #expect(run.unlocked["weekender"] == 26)
  }

  /// A weekend counts with one of its days; a weekend without any ends the streak.
  @Test func weekendCountsWithOneDay() async throws {
    let run = try Run("watches")
    try run.go(0, 7)
    try await run.install()
    try await run.own(0, [:])
    // Saturdays are 5, 12, 19 …; nothing is worn on the third weekend.
    for day in [5, 13, 26, 33, 41] {
      try run.go(day, 10)
      try await run.log(item: "w0")
      #expect(run.unlocked["weekender"] == nil, "day \(day)")
    }
    try run.go(48, 10)
    try await run.log(item: "w0")
    #expect(run.unlocked["weekender"] == 48)
  }

  @Test func hydrationPackUnlocksAllAchievements() async throws {
    let run = try Run("hydration")
    try run.go(0, 7)
    try await run.install()
    for day in 0..<31 {
      try run.go(day, 7, 40)
      try await run.log(nil, try Self.ml(500))
      for hour in [10, 13, 16] {
        try run.go(day, hour)
        try await run.log(nil, try Self.ml(day == 9 ? 1_200 : 750))
      }
    }
    try run.go(31, 22, 10)
    try await run.log()
    #expect(run.missing.isEmpty, "\(run.missing)")
    #expect(run.unlocked["streak_7"] == 6 && run.unlocked["streak_30"] == 29)
  }

  @Test func weightPackUnlocksAllAchievements() async throws {
    let run = try Run("weight")
    try run.go(0, 7)
    let kilogram = try #require(Unit("kg"))
    func kg(_ value: Double) throws -> Quantity { try #require(Quantity(value, kilogram)) }
    let goal = Goal(.value(try kg(80)))
    try await run.install { $0.trackers[0].goal = goal }
    for week in 0...30 {
      try run.go(week * 7, 7, 30)
      try await run.log(nil, try kg(90 - Double(week) * 0.35))
      #expect(run.missing.isEmpty == (week >= 29), "week \(week)")
    }
    let key = TrackerKey(owner: Run.owner, id: run.tracker)
    let stones = try await run.store.read { try $0.milestones(owner: Run.owner, tracker: key.id).compactMap(\.value) }
    #expect(stones.count == 5, "each 2 kg: \(stones)")
  }

  /// Any one practice a day keeps the user's streak.
  @Test func adkharPackUnlocksAllAchievements() async throws {
    let run = try Run("adkhar")
    try run.go(0, 7)
    try await run.install()
    let practices = run.pack.trackers.map(\.id)
    for day in 0..<30 {
      try run.go(day, 8)
      try await run.log(practices[day % 3])
    }
    #expect(run.unlocked["week_warrior"] == 6 && run.unlocked["month_master"] == 29)
    #expect(run.unlocked["perfect_week"] == nil)
    for day in 30..<37 {
      try run.go(day, 8)
      for practice in practices { try await run.log(practice) }
    }
    #expect(run.missing.isEmpty, "\(run.missing)")
    #expect(run.unlocked["perfect_week"] == 36)
  }

  /// A goal has flowers instead of achievements; its days are numbered.
  @Test func goalPackNumbersItsDays() async throws {
    let run = try Run("goal")
    #expect(run.pack.achievements.isEmpty)
    try run.go(0, 7)
    try await run.install { $0.trackers[0].counting = .weekdays([.monday, .wednesday, .friday]) }
    for day in 0..<70 {
      try run.go(day, 18)
      try await run.log()
    }
    #expect(try await run.number() == 30)
  }
}
