import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// *Done* for a collection names an item, so that an occurrence never ends without an entry.
@Suite struct ItemAnswerTests {
  private static let watches = TrackerID(rawValue: "watches")
  private static let key = TrackerKey(owner: TrackingScenario.owner, id: watches)

  /// Returns a collection of five watches, one of them sold and some worn, and a reminder that has just fired.
  private func morning() async throws -> (scenario: TrackingScenario, occurrence: OccurrenceID) {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    try await scenario.put(
      Tracker(
        id: Self.watches, owner: TrackingScenario.owner, title: "Watches", kind: .check, hasItems: true,
        startedOn: try #require(CivilDate("2026-01-01")), createdAt: Instant(seconds: 1_767_225_600)))
    for (id, until) in [("prim", nil), ("sold", "2026-02-01"), ("seiko", nil), ("omega", nil), ("casio", nil)] {
      let item = Item(
        id: ItemID(rawValue: id), tracker: Self.watches, owner: TrackingScenario.owner, title: "The \(id)",
        until: until.flatMap { CivilDate($0) }, createdAt: scenario.now)
      try await scenario.change { try $0.put(item, using: &$1) }
    }
    for (day, item) in [(1, "sold"), (2, "sold"), (3, "sold"), (4, "seiko"), (5, "omega"), (6, "seiko"), (7, "prim")] {
      try await wear(item, scenario, at: scenario.at("2026-01-0\(day) 09:00"))
    }
    let link = TrackerLink(tracker: Self.watches, quietWhenDone: true)
    _ = try await scenario.add("wrist", title: "What is on your wrist?", when: "daily at 9:00", link: link)
    try await scenario.run(until: "09:00")
    let shown = try #require(scenario.shown.last?.message.occurrence.id)
    return (scenario, shown)
  }

  private func wear(_ item: String, _ scenario: TrackingScenario, at: Instant? = nil) async throws {
    let draft = EntryDraft(tracker: Self.watches, at: at, item: ItemID(rawValue: item))
    try await scenario.change { try $0.log(draft, using: &$1) }
  }

  private func loggedItems(_ scenario: TrackingScenario) async throws -> [String] {
    let day = scenario.zone.civil(at: scenario.now).date
    return try await scenario.store.read { try $0.entries(of: Self.key, on: day) }.compactMap { $0.item?.rawValue }
  }

  @Test func threeMostWornItemsAreOffered() async throws {
    let (scenario, _) = try await morning()
    let report = try #require(scenario.shown.last?.message.report)
    // A sold watch is not offered; ties go by title.
    #expect(report.items.map(\.item) == ["seiko", "omega", "prim"])
    #expect(report.items.map(\.title) == ["The seiko", "The omega", "The prim"])
  }

  @Test func itemAnswerLogsAnEntryAndClosesTheReminder() async throws {
    let (scenario, id) = try await morning()
    let work = try await scenario.answer(.item("casio"), id)
    #expect(work.occurrence.state == .done)
    #expect(work.tracking?.entry?.item?.rawValue == "casio")
    #expect(try await loggedItems(scenario) == ["casio"])
    // A second answer makes no second entry.
    try await scenario.answer(.item("prim"), id)
    #expect(try await loggedItems(scenario) == ["casio"])
  }

  @Test func doneWithoutAnItemIsRefused() async throws {
    let (scenario, id) = try await morning()
    let likely = ["seiko", "omega", "prim", "casio"].map { ItemID(rawValue: $0) }
    await #expect(throws: AnswerRefused.needsItem(Self.watches, likely)) { try await scenario.answer(.done, id) }
    #expect(try await scenario.store.read { try $0.occurrence(id)?.isOpen } == true)
    await #expect(throws: TrackingRefused.self) { try await scenario.answer(.item("rolex"), id) }
    #expect(try await scenario.store.read { try $0.occurrence(id)?.isOpen } == true)
    #expect(try await loggedItems(scenario).isEmpty)
  }

  /// If the day has an entry, or the collection has no items, *Done* suffices.
  @Test func doneSufficesWithoutAnItemToName() async throws {
    let (scenario, id) = try await morning()
    for item in ["prim", "seiko", "omega", "casio"] {
      try await scenario.change { try $0.removeItem(ItemID(rawValue: item), of: Self.watches, using: &$1) }
    }
    #expect(try await scenario.answer(.done, id).occurrence.state == .done)
  }
}
