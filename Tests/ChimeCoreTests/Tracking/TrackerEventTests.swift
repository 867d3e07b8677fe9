import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Tracker events for endpoints.
struct TrackerEventTests {
  private static let list = DeliveryQueue(owner: Life.owner, channel: ChannelName(rawValue: "list"))

  /// Returns a user with a pack, and an endpoint that subscribes to its trackers.
  private static func heard(
    _ events: [OccurrenceEvent] = [.logged, .goal, .unlocked], reminders: ReminderChoice? = .all,
    owner: UInt32 = Life.owner, channels: [String] = []
  ) async throws -> Life {
    let life = try Life("2026-06-01 07:00")
    life.context.subscriptions = EventSubscriptions([
      .init(queue: DeliveryQueue(owner: owner, channel: list.channel), events: Set(events), reminders: reminders)
    ])
    var pack = try TrackingOperationsTests.drinks()
    pack.channels = channels
    try await life.change { [pack] in try $0.install(pack, using: &$1) }
    return life
  }

  private func told(_ life: Life) async throws -> [Delivery] {
    try await life.store.read {
      try $0.deliveries(DeliveryFilter(channel: Self.list.channel), page: Page()).reversed()
    }
  }

  private func news(_ life: Life) async throws -> [TrackerNews] { try await told(life).compactMap(\.event?.news) }

  @Test func whatIsLoggedMetAndUnlockedIsTold() async throws {
    let life = try await Self.heard()
    try await life.log(250)
    try await life.log(750)
    let events = try await told(life).compactMap { $0.event }
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
    let titles = try await life.store.write { [now = life.now] transaction in
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
  @Test func theDaysAreKeptFromEventsAlone() async throws {
    let life = try await Self.heard([.logged])
    let yesterday = life.at("2026-05-31 12:00")
    let entry = try #require(try await life.log(250).entry)
    try await life.log(300, at: yesterday)
    try await life.change { work, random in
      try work.edit(entry.id, using: &random) { $0.quantity = try Life.ml(400) }
    }
    try await life.change { work, random in try work.edit(entry.id, using: &random) { $0.at = yesterday } }
    #expect(try await news(life).compactMap(\.change) == [.added, .added, .changed, .removed, .added])
    func isTrue(_ what: String) async throws {
      var kept: [String: Double] = [:]
      for news in try await news(life) {
        if let facts = news.facts { kept[facts.day] = facts.reached == 0 ? nil : facts.reached }
      }
      let known = try await life.store.read {
        try $0.dayTotals(of: TrackerKey(owner: Life.owner, id: Life.water), in: .earliest ... .latest)
      }
      let totals = Dictionary(uniqueKeysWithValues: known.map { ("\($0.day)", $0.total.value(in: Unit("ml")!)) })
      #expect(kept == totals, "\(what)")
    }
    try await isTrue("edits")
    try await life.change { try $0.undo(using: &$1).outcome }
    try await isTrue("an undo")
    try await life.change { try $0.remove(entry.id, using: &$1) }
    try await isTrue("a removal")
    try await life.log(100)
    try await life.change { try $0.removeEntries(of: Life.water, using: &$1) }
    #expect(try await news(life).last?.facts?.entries == 0)
    try await isTrue("all are removed")
    try await life.change { try $0.undo(using: &$1).outcome }
    try await isTrue("all are there again")
    #expect(try await news(life).suffix(2).allSatisfy { $0.change == .several && $0.entry == nil })
  }

  @Test func doneSaysByWhomItWasLogged() async throws {
    let life = try await Self.heard([.logged, .done])
    try await life.live(until: "08:30")
    let occurrence = try #require(life.shown.first?.message.occurrence)
    try await life.answer(.done, occurrence.id)
    // The notice about what it unlocks is done as well.
    let events = try await told(life).compactMap { $0.event }.prefix(2)
    #expect(events.map(\.kind.name) == ["done", "logged"] && events.map(\.by) == ["cli", "cli"])
  }

  @Test func whoHearsOfTrackersIsSaidByReminders() async throws {
    for (reminders, channels, hears) in [
      (.all, [], true), (nil, [], false), (nil, ["list"], true), (.tag("drinks"), [], false),
      (.tag("health"), [], true),
    ] as [(ReminderChoice?, [String], Bool)] {
      let life = try await Self.heard([.logged], reminders: reminders, channels: channels)
      if reminders == .tag("health") {
        var reminder = Reminder(
          id: ReminderID(rawValue: "aaaa"), owner: Life.owner, title: "Drink",
          schedule: try Schedule(canonical: "daily at 20:00"), tags: ["health"], createdAt: life.now)
        reminder.tracker = TrackerLink(tracker: Life.water)
        try await life.store.write { [reminder] in try $0.upsert(reminder, next: nil) }
      }
      try await life.log(250)
      #expect(try await news(life).count == (hears ? 1 : 0), "\(String(describing: reminders)) \(channels)")
    }
    // Another owner's trackers cause no events.
    let life = try await Self.heard(owner: 2_000)
    try await life.log(1_000)
    #expect(try await told(life).isEmpty)
  }

  @Test func whatIsToldIsKeptToTheLetter() async throws {
    let life = try await Self.heard([.logged])
    try await life.log(250)
    var facts = try #require(try await news(life).first?.facts)
    (facts.title, facts.reached, facts.remaining, facts.isMet) = ("Wa\tter\\t", 0.1 + 0.2, nil, true)
    let entry = TrackerNews.LoggedEntry(
      id: 7, at: Instant(milliseconds: 5), day: "2026-06-01", value: -1e-9, item: "a")
    for news in [
      TrackerNews(facts: facts, change: .added, entry: entry),
      TrackerNews(unlocked: .init(.milestone, id: "3", pack: nil, title: "\\")), TrackerNews(facts: facts),
    ] {
      let event = DeliveryEvent(.told(.logged), by: "cli", news: news)
      #expect(DeliveryEvent(text: event.text) == event)
      #expect(DeliveryEvent(text: event.text + "\t") == nil)
    }
  }
}
