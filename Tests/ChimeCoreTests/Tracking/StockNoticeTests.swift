import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Stocks: entries reduce them, undo restores them, and notices report them.
struct StockNoticeTests {
  static let pills = TrackerID(rawValue: "pills")

  static func scenario(_ stock: Int = 9) async throws -> TrackingScenario {
    let scenario = try TrackingScenario("2026-06-01 08:00")
    try await scenario.put(
      Tracker(
        id: pills, owner: TrackingScenario.owner, title: "Pills", kind: .check, stock: Stock(.ones(stock)),
        startedOn: try #require(CivilDate("2026-06-01")), createdAt: scenario.now))
    return scenario
  }

  private func take(_ scenario: TrackingScenario) async throws -> TrackingOutcome {
    try await scenario.change { try $0.log(EntryDraft(tracker: Self.pills), using: &$1) }
  }

  private func level(_ scenario: TrackingScenario) async throws -> StockLevel {
    let (context, now) = (scenario.context, scenario.now)
    return try await scenario.store.read { transaction in
      let work = TrackingOperations(in: transaction, owner: TrackingScenario.owner, context, now: now)
      let tracker = try #require(try transaction.tracker(TrackerKey(owner: TrackingScenario.owner, id: Self.pills)))
      return try #require(try work.stockLevel(of: tracker))
    }
  }

  private func notices(_ scenario: TrackingScenario) async throws -> [String] {
    try await scenario.fire()
    defer { scenario.shown = [] }
    return scenario.shown.map { "\($0.message.occurrence.title)|\($0.message.body ?? "")" }
  }

  @Test func lowStockIsReportedOnceAndAgainAfterARefill() async throws {
    let scenario = try await Self.scenario()
    var said: [String] = []
    for day in 1...9 {
      scenario.now = scenario.at("2026-06-0\(day) 09:00")
      let outcome = try await take(scenario)
      said += try await notices(scenario)
      #expect((outcome.stock != nil) == (day == 3 || day == 9), "day \(day)")
    }
    #expect(said == ["Pills: 6 left|Enough until 2026-06-09", "Pills: used up|"])
    scenario.now = scenario.at("2026-06-10 09:00")
    #expect(try await take(scenario).stock == nil, "nothing new")
    #expect(try await level(scenario).shortfall == .one)
    try await scenario.change { work, _ in try work.restock(Self.pills, .ones(8), isCount: false) }
    #expect(try await level(scenario).left == .ones(7), "what was taken without being there comes off")
    #expect(try await notices(scenario) == [])
    scenario.now = scenario.at("2026-06-11 09:00")
    #expect(try await take(scenario).stock?.state == .low)
    #expect(try await notices(scenario) == ["Pills: 6 left|Enough until 2026-06-17"])
  }

  @Test func undoneEntryRestoresTheStock() async throws {
    let scenario = try await Self.scenario(8)
    #expect(try await take(scenario).stock == nil)
    let second = try await take(scenario)
    #expect(second.stock?.state == .low)
    #expect(try await notices(scenario).count == 1)
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(scenario).left == .ones(7))
    // The notice comes again, because the first was undone.
    #expect(try await take(scenario).stock?.state == .low)
    let id = try #require(try await take(scenario).entry?.id)
    try await scenario.change { try $0.remove(id, using: &$1) }
    #expect(try await level(scenario).left == .ones(6))
    try await scenario.change { try $0.removeEntries(of: Self.pills, using: &$1) }
    let whole = try await level(scenario)
    #expect(whole.left == .ones(8) && whole.state == .enough)
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(scenario).left == .ones(6))
  }

  /// A count replaces everything before it; an earlier entry does not reduce it.
  @Test func countReplacesTheStock() async throws {
    let scenario = try await Self.scenario(3)
    for _ in 1...3 { _ = try await take(scenario) }
    scenario.now = scenario.at("10:00")
    try await scenario.change { work, _ in try work.restock(Self.pills, .ones(20), isCount: true, warnDays: 2) }
    #expect(try await level(scenario).left == .ones(20))
    let (before, after) = (scenario.at("09:30"), scenario.at("10:30"))
    scenario.now = scenario.at("11:00")
    try await scenario.change { try $0.log(EntryDraft(tracker: Self.pills, at: before), using: &$1) }
    #expect(try await level(scenario).left == .ones(20))
    try await scenario.change { try $0.log(EntryDraft(tracker: Self.pills, at: after), using: &$1) }
    #expect(try await level(scenario).left == .ones(19))
    for _ in 1...2 { try await scenario.change { try $0.undo(using: &$1).outcome } }
    // Undo the count itself.
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(scenario).left == .zero)
  }

  /// An amount reduces the stock by what was logged, in any unit; an edit changes only the difference.
  @Test func amountReducesTheStockInAnyUnit() async throws {
    let scenario = try TrackingScenario("2026-06-01 08:00")
    var tracker = try TrackingScenario.waterTracker()
    tracker.stock = Stock(try TrackingScenario.ml(5_000), warnDays: 1)
    try await scenario.put(tracker)
    let entry = try #require(try await scenario.log(1_500).entry)
    func left() async throws -> Quantity? {
      let (context, now) = (scenario.context, scenario.now)
      return try await scenario.store.read { transaction in
        let kept = try #require(
          try transaction.tracker(TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water)))
        return try TrackingOperations(in: transaction, owner: TrackingScenario.owner, context, now: now).stockLevel(
          of: kept)?.left
      }
    }
    #expect(try await left() == TrackingScenario.ml(3_500))
    let less = try TrackingScenario.ml(500)
    try await scenario.change { try $0.edit(entry.id, using: &$1) { $0.quantity = less } }
    #expect(try await left() == TrackingScenario.ml(4_500))
    // Days later, the days' totals are summed up.
    scenario.now = scenario.at("2026-06-09 08:00")
    try await scenario.log(100)
    #expect(try await left() == TrackingScenario.ml(4_400))
  }
}
