import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Weights: milestones on their days, and typing errors that leave nothing behind.
struct MeasureTests {
  static let weight = TrackerID(rawValue: "weight")
  static func kg(_ value: Double) throws -> Quantity { try #require(Unit("kg").flatMap { Quantity(value, $0) }) }

  static func pack(goal: Double? = 80) throws -> Pack {
    let id = PackID(rawValue: "weight")
    var tracker = Tracker(
      id: weight, owner: 0, title: "Weight", kind: .measure, unit: Unit("kg"), decimals: 1,
      goal: try goal.map { Goal(.value(try kg($0))) }, milestoneStep: try kg(2), pack: id, startedOn: Pack.unbegun,
      createdAt: Instant(seconds: 0))
    tracker.startedOn = try #require(CivilDate("2026-01-01"))
    func achievement(_ id: String, _ criterion: Criterion) -> Achievement {
      Achievement(id: AchievementID(rawValue: id), title: "T", text: "t", experience: 50, criterion: criterion)
    }
    return Pack(
      id: id, title: "Weight", text: "", trackers: [tracker],
      achievements: [achievement("goal", Criterion(.goalValue)), achievement("first", Criterion(.firstEntry))])
  }

  static func installed(goal: Double? = 80) async throws -> TrackingScenario {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    let pack = try pack(goal: goal)
    try await scenario.change { try $0.install(pack, using: &$1) }
    return scenario
  }

  @discardableResult
  static func weigh(_ scenario: TrackingScenario, _ value: Double) async throws -> TrackingOutcome {
    let quantity = try kg(value)
    return try await scenario.change { try $0.log(EntryDraft(tracker: weight, quantity: quantity), using: &$1) }
  }

  static func unlocked(_ scenario: TrackingScenario) async throws -> Set<String> {
    let progress = try await scenario.store.read {
      try $0.progress(of: PackID(rawValue: "weight"), owner: TrackingScenario.owner)
    }
    return Set(progress.filter { $0.unlockedAt != nil }.map(\.achievement.rawValue))
  }

  static func milestones(_ scenario: TrackingScenario) async throws -> [String] {
    try await scenario.store.read { try $0.milestones(owner: TrackingScenario.owner, tracker: weight) }.map {
      "\($0.day) \($0.title)"
    }.sorted()
  }

  enum Correction: CaseIterable { case undo, remove, edit, removeAll }

  /// 8.24 for 82.4 reaches any goal.
  @Test(arguments: Correction.allCases) func correctedTypoEarnsNothing(_ mending: Correction) async throws {
    let scenario = try await Self.installed()
    scenario.now = scenario.at("2026-05-31 07:00")
    try await Self.weigh(scenario, 90)
    scenario.now = scenario.at("2026-06-01 07:00")
    let experience = try await scenario.store.read {
      try $0.experience(of: PackID(rawValue: "weight"), owner: TrackingScenario.owner)
    }
    scenario.now = scenario.at("08:00")
    let slip = try await Self.weigh(scenario, 8.24)
    #expect(slip.goalMet && slip.unlocked.map(\.achievement.id.rawValue) == ["goal"])
    #expect(try await Self.unlocked(scenario) == ["first", "goal"])
    #expect(try await Self.milestones(scenario).count == 5)
    let id = try #require(slip.entry?.id)
    let right = try Self.kg(89)
    scenario.now = scenario.at("09:00")
    switch mending {
    case .undo: try await scenario.change { try $0.undo(using: &$1).outcome }
    case .remove: try await scenario.change { try $0.remove(id, using: &$1) }
    case .edit: try await scenario.change { try $0.edit(id, using: &$1) { $0.quantity = right } }
    case .removeAll: try await scenario.change { try $0.removeEntries(of: Self.weight, using: &$1) }
    }
    #expect(try await Self.unlocked(scenario) == ["first"])
    #expect(try await Self.milestones(scenario).isEmpty)
    let after = try await scenario.store.read {
      try $0.experience(of: PackID(rawValue: "weight"), owner: TrackingScenario.owner)
    }
    #expect(after == experience + (mending == .edit ? 10 : mending == .removeAll ? -10 : 0))
    scenario.now = scenario.at("2026-06-02 07:00")
    if mending == .removeAll { try await Self.weigh(scenario, 90) }
    scenario.now = scenario.at("2026-06-03 07:00")
    #expect(
      try await Self.weigh(scenario, 79.9).unlocked.map(\.achievement.id.rawValue) == ["goal"], "it can be earned")
  }

  static func bounded() async throws -> TrackingScenario {
    let scenario = try await installed()
    var tracker = try #require(try pack().trackers.first)
    tracker.bounds = Bounds(least: try kg(20), most: try kg(400), jump: try kg(8))
    let percent = try #require(Unit("%"))
    tracker.fields = ["fat": percent]
    let (least, most) = (try #require(Quantity(2, percent)), try #require(Quantity(75, percent)))
    tracker.fieldBounds = ["fat": Bounds(least: least, most: most)]
    tracker.pack = PackID(rawValue: "weight")
    try await scenario.put(tracker)
    return scenario
  }

  @Test(arguments: [-1.0, 0, 19.9, 400.1, 9_999]) func impossibleWeightIsRefused(_ value: Double) async throws {
    let scenario = try await Self.bounded()
    let quantity = try Self.kg(value)
    let refused = TrackingRefused.invalid(field: "amount", "give a value from 20.0 to 400.0 kg")
    await #expect(throws: refused) {
      var draft = EntryDraft(tracker: Self.weight, quantity: quantity)
      draft.isForced = true
      try await scenario.change { [draft] in try $0.log(draft, using: &$1) }
    }
    let id = try #require(try await Self.weigh(scenario, 82).entry?.id)
    await #expect(throws: refused) {
      try await scenario.change { try $0.edit(id, using: &$1) { $0.quantity = quantity } }
    }
  }

  @Test func additionalMeasureHasItsOwnBounds() async throws {
    let scenario = try await Self.bounded()
    let percent = try #require(Unit("%"))
    let (weight, fat) = (try Self.kg(82), try #require(Quantity(118.5, percent)))
    await #expect(throws: TrackingRefused.invalid(field: "fat", "give a value from 2 to 75 %")) {
      try await scenario.change {
        try $0.log(EntryDraft(tracker: Self.weight, quantity: weight, fields: ["fat": fat]), using: &$1)
      }
    }
  }

  @Test func unlikelyValueIsRefusedUnlessForced() async throws {
    let scenario = try await Self.bounded()
    try await Self.weigh(scenario, 82.4)
    scenario.now = scenario.at("2026-06-02 07:00")
    let unlikely = TrackingRefused.unlikely(field: "amount", "28.4 kg is far from the 82.4 kg of 2026-06-01")
    await #expect(throws: unlikely) { try await Self.weigh(scenario, 28.4) }
    #expect(try await scenario.store.read { try $0.entryCount(EntryFilter(owner: TrackingScenario.owner)) } == 1)
    var draft = EntryDraft(tracker: Self.weight, quantity: try Self.kg(28.4))
    draft.isForced = true
    try await scenario.change { [draft] in try $0.log(draft, using: &$1) }
    // A past entry is compared with the days around it, and an edit is intentional.
    let past = scenario.at("2026-05-30 07:00")
    let quantity = try Self.kg(60)
    await #expect(throws: TrackingRefused.unlikely(field: "amount", "60.0 kg is far from the 82.4 kg of 2026-06-01")) {
      try await scenario.change {
        try $0.log(EntryDraft(tracker: Self.weight, at: past, quantity: quantity), using: &$1)
      }
    }
    scenario.now = scenario.at("2026-07-14 07:00")
    #expect(try await Self.weigh(scenario, 60).entry != nil, "six weeks may do that")
  }

  @Test func achievementsOfEarlierDaysStay() async throws {
    let scenario = try await Self.installed()
    scenario.now = scenario.at("2026-05-31 07:00")
    try await Self.weigh(scenario, 90)
    scenario.now = scenario.at("2026-06-01 07:00")
    let reached = try await Self.weigh(scenario, 79)
    scenario.now = scenario.at("2026-06-02 07:00")
    let id = try #require(reached.entry?.id)
    try await scenario.change { try $0.remove(id, using: &$1) }
    #expect(try await Self.unlocked(scenario) == ["first", "goal"])
    #expect(try await Self.milestones(scenario).count == 5)
  }

  @Test func importedHistoryHasItsMilestonesOnTheirDays() async throws {
    let scenario = try await Self.installed()
    let (now, zone) = (scenario.now, scenario.zone)
    let values: [(Int64, Double)] = [(40, 90), (30, 87.5), (20, 88.5), (10, 85.9), (5, 83)]
    let entries = try values.map { days, value in
      let at = now - .days(days)
      let reading = zone.civil(at: at)
      return Entry(
        id: EntryID(rawValue: 0), tracker: Self.weight, owner: TrackingScenario.owner, at: at, day: reading.date,
        minute: 420,
        quantity: try Self.kg(value))
    }
    let imported = try await scenario.change { work, random in
      let change = TrackingChange(
        owner: TrackingScenario.owner, at: now, kind: .imported, tracker: Self.weight, subject: "5")
      return try work.add(entries, as: change, using: &random)
    }
    #expect(imported.milestones.isEmpty && imported.notices.isEmpty, "history sends no events")
    let expected = ["2026-05-02 88.0 kg", "2026-05-22 86.0 kg", "2026-05-27 84.0 kg"]
    #expect(try await Self.milestones(scenario) == expected)
    let next = try await Self.weigh(scenario, 82.9)
    #expect(next.milestones.isEmpty, "nothing was crossed by it")
    #expect(try await Self.milestones(scenario) == expected)
    #expect(try await Self.weigh(scenario, 81.8).milestones.map(\.title) == ["82.0 kg"])
  }

  /// A later goal creates its milestones from past entries.
  @Test func laterGoalFindsMilestonesInThePast() async throws {
    let scenario = try await Self.installed(goal: nil)
    for (day, value) in [("2026-06-01 07:00", 90.0), ("2026-06-03 07:00", 87.9), ("2026-06-05 07:00", 85)] {
      scenario.now = scenario.at(day)
      try await Self.weigh(scenario, value)
    }
    scenario.now = scenario.at("2026-06-09 07:00")
    let pack = try Self.pack()
    let set = try await scenario.change { try $0.install(pack, using: &$1) }
    #expect(set.notices.isEmpty)
    #expect(try await Self.milestones(scenario) == ["2026-06-03 88.0 kg", "2026-06-05 86.0 kg"])
    #expect(try await Self.weigh(scenario, 84.9).milestones.isEmpty)
  }
}
