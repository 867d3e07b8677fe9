import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Tracker events for endpoints.
struct TrackerEventTests {
  private static let list = DeliveryQueue(owner: TrackingScenario.owner, channel: ChannelName(rawValue: "list"))

  /// Returns a user with a pack, and an endpoint that subscribes to its trackers.
  private static func subscribed(
    _ events: [OccurrenceEvent] = [.logged, .goal, .unlocked], reminders: ReminderChoice? = .all,
    owner: UInt32 = TrackingScenario.owner, channels: [String] = []
  ) async throws -> TrackingScenario {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    scenario.context.subscriptions = EventSubscriptions([
      .init(queue: DeliveryQueue(owner: owner, channel: list.channel), events: Set(events), reminders: reminders)
    ])
    var pack = try TrackingOperationsTests.drinks()
    pack.channels = channels
    try await scenario.change { [pack] in try $0.install(pack, using: &$1) }
    return scenario
  }

  private func notices(_ scenario: TrackingScenario) async throws -> [Delivery] {
    try await scenario.store.read {
      try $0.deliveries(DeliveryFilter(channel: Self.list.channel), page: Page()).reversed()
    }
  }

  private func news(_ scenario: TrackingScenario) async throws -> [TrackerNews] {
    try await notices(scenario).compactMap(\.event?.news)
  }

  @Test func entriesGoalsAndUnlocksAreSent() async throws {
    let scenario = try await Self.subscribed()
    try await scenario.log(250)
    try await scenario.log(750)
    let events = try await notices(scenario).compactMap { $0.event }
    #expect(
      events.map(\.kind.name) == ["logged", "unlocked", "logged", "goal", "unlocked", "unlocked"],
      "the entry comes first, then what it brings about")
    #expect(events.allSatisfy { $0.by == "cli" && $0.news?.facts?.id == "water" })
    let news = events.compactMap(\.news)
    #expect(news.map { $0.facts?.reached } == [250, 250, 1_000, 1_000, 1_000, 1_000])
    #expect(news[0].change == .added && news[0].entry?.value == 250 && news[0].facts?.isMet == false)
    #expect(news[3].facts?.isMet == true && news[3].entry == nil && news[3].unlocked == nil)
    #expect(news.compactMap(\.unlocked?.kind) == [.achievement, .achievement, .level])
    #expect(news.compactMap(\.unlocked?.id) == ["first", "met", "2"])
    #expect(news[1].unlocked?.title == "Title of first" && news[1].unlocked?.pack == "drinks")
    // Each is a message of the outbox, without an open reminder.
    let titles = try await scenario.store.write { [now = scenario.now] transaction in
      let claimed = try transaction.claimDeliveries(
        queue: Self.list, now: now, visibleAgain: now + .minutes(1), limit: 10)
      #expect(claimed.allSatisfy { $0.reminder == nil && $0.occurrence.state == .done })
      return claimed.map(\.title)
    }
    #expect(
      titles.sorted() == [
        "Goal met: Water", "Level 2: Drinks", "Unlocked: Title of first", "Unlocked: Title of met", "Water: 250 ml",
        "Water: 750 ml",
      ])
  }

  /// Totals maintained from events are correct after any change of entries.
  @Test func totalsFromEventsAreCorrect() async throws {
    let scenario = try await Self.subscribed([.logged])
    let yesterday = scenario.at("2026-05-31 12:00")
    let entry = try #require(try await scenario.log(250).entry)
    try await scenario.log(300, at: yesterday)
    try await scenario.change { work, random in
      try work.edit(entry.id, using: &random) { $0.quantity = try TrackingScenario.ml(400) }
    }
    try await scenario.change { work, random in try work.edit(entry.id, using: &random) { $0.at = yesterday } }
    #expect(try await news(scenario).compactMap(\.change) == [.added, .added, .changed, .removed, .added])
    func isTrue(_ what: String) async throws {
      var kept: [String: Double] = [:]
      for news in try await news(scenario) {
        if let facts = news.facts { kept[facts.day] = facts.reached == 0 ? nil : facts.reached }
      }
      let known = try await scenario.store.read {
        try $0.dayTotals(
          of: TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water), in: .earliest ... .latest)
      }
      let totals = Dictionary(uniqueKeysWithValues: known.map { ("\($0.day)", $0.total.value(in: Unit("ml")!)) })
      #expect(kept == totals, "\(what)")
    }
    try await isTrue("edits")
    try await scenario.change { try $0.undo(using: &$1).outcome }
    try await isTrue("an undo")
    try await scenario.change { try $0.remove(entry.id, using: &$1) }
    try await isTrue("a removal")
    try await scenario.log(100)
    try await scenario.change { try $0.removeEntries(of: TrackingScenario.water, using: &$1) }
    #expect(try await news(scenario).last?.facts?.entries == 0)
    try await isTrue("all are removed")
    try await scenario.change { try $0.undo(using: &$1).outcome }
    try await isTrue("all are there again")
    #expect(try await news(scenario).suffix(2).allSatisfy { $0.change == .several && $0.entry == nil })
  }

  @Test func doneNamesTheChannelOfItsEntry() async throws {
    let scenario = try await Self.subscribed([.logged, .done])
    try await scenario.run(until: "08:30")
    let occurrence = try #require(scenario.shown.first?.message.occurrence)
    try await scenario.answer(.done, occurrence.id)
    // The notice about what it unlocks is done as well.
    let events = try await notices(scenario).compactMap { $0.event }.prefix(2)
    #expect(events.map(\.kind.name) == ["done", "logged"] && events.map(\.by) == ["cli", "cli"])
  }

  @Test func listenersOfTrackersAreChosenByTheirReminders() async throws {
    for (reminders, channels, hears) in [
      (.all, [], true), (nil, [], false), (nil, ["list"], true), (.tag("drinks"), [], false),
      (.tag("health"), [], true),
    ] as [(ReminderChoice?, [String], Bool)] {
      let scenario = try await Self.subscribed([.logged], reminders: reminders, channels: channels)
      if reminders == .tag("health") {
        var reminder = Reminder(
          id: ReminderID(rawValue: "aaaa"), owner: TrackingScenario.owner, title: "Drink",
          schedule: try Schedule(canonical: "daily at 20:00"), tags: ["health"], createdAt: scenario.now)
        reminder.tracker = TrackerLink(tracker: TrackingScenario.water)
        try await scenario.store.write { [reminder] in try $0.upsert(reminder, next: nil) }
      }
      try await scenario.log(250)
      #expect(try await news(scenario).count == (hears ? 1 : 0), "\(String(describing: reminders)) \(channels)")
    }
    // Another owner's trackers cause no events.
    let scenario = try await Self.subscribed(owner: 2_000)
    try await scenario.log(1_000)
    #expect(try await notices(scenario).isEmpty)
  }

  @Test func storedEventReadsBackExactly() async throws {
    let scenario = try await Self.subscribed([.logged])
    try await scenario.log(250)
    var facts = try #require(try await news(scenario).first?.facts)
    (facts.title, facts.reached, facts.remaining, facts.isMet) = ("Wa\tter\\t", 0.1 + 0.2, nil, true)
    let entry = TrackerNews.LoggedEntry(
      id: 7, at: Instant(milliseconds: 5), day: "2026-06-01", value: -1e-9, item: "a")
    for news in [
      TrackerNews(facts: facts, change: .added, entry: entry),
      TrackerNews(unlocked: .init(.milestone, id: "3", pack: nil, title: "\\")), TrackerNews(facts: facts),
    ] {
      let event = DeliveryEvent(.event(.logged), by: "cli", news: news)
      #expect(DeliveryEvent(text: event.text) == event)
      #expect(DeliveryEvent(text: event.text + "\t") == nil)
    }
  }
}
