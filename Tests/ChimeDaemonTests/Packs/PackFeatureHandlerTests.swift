import ChimeControl
import ChimeSchedule
import ChimeTracking
import Foundation
import Testing

@testable import ChimeDaemon

/// Details of the five packs: trends, additional measures, worn items, sample data.
@Suite(.serialized)
struct PackFeatureHandlerTests {
  typealias Wired = TrackersInterface

  private static func install(
    _ name: String, _ choices: Wired.PackChoices = .init(), sample: Bool? = nil, in daemon: TestDaemon
  ) throws {
    let _: Wired.InstallPack.Reply = try daemon.call(
      Wired.InstallPack(name: name, choices: choices, sample: sample))
  }

  private static func today(_ tracker: String, in daemon: TestDaemon) throws -> Wired.GoalProgress {
    let reply: Wired.Day.Reply = try daemon.call(Wired.Day())
    return try #require(reply.view.progress.first { $0.tracker.id == tracker })
  }

  /// The rate, the direction, the expected day of the goal, and the newest value of each additional measure.
  @Test func weightsDayShowsItsTrend() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("weight", .init(goals: ["weight": 80]), in: daemon)
      for day in (0...20).reversed() {
        try daemon.log(
          "weight", 85 + Double(day) * 0.1, at: TestDaemon.noon(daysAgo: day + 1),
          fields: day == 10 ? ["body-fat": 19.5] : nil)
      }
      let progress = try Self.today("weight", in: daemon)
      #expect(progress.direction == .down && progress.weeklyRate.map { ($0 * 10).rounded() } == -7)
      #expect(progress.fields == ["body-fat": 19.5])
      let stats: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "weight"))
      #expect(progress.goalOn != nil && progress.goalOn == stats.statistics.goalOn)
    }
  }

  /// Body fat has statistics like a tracker; an unknown measure is an error that lists the known ones.
  @Test func additionalMeasureHasStatistics() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("weight", in: daemon)
      for (day, fat) in [(5, 20.5), (3, nil), (2, 19.5), (1, 19.0)] as [(Int, Double?)] {
        try daemon.log("weight", 82, at: TestDaemon.noon(daysAgo: day), fields: fat.map { ["body-fat": $0] })
      }
      let reply: Wired.Stats.Reply = try daemon.call(
        Wired.Stats(tracker: "weight", field: "body-fat"))
      let statistics = reply.statistics
      #expect(statistics.points.map(\.value) == [20.5, 19.5, 19.0] && statistics.tracker.unit == "%")
      #expect(statistics.least?.value == 19 && statistics.most?.value == 20.5 && statistics.entries == 3)
      #expect(statistics.tracker.title["en"] == "Weight: body-fat" && statistics.tracker.goal == nil)
      let refusal = daemon.refusal(Wired.Stats(tracker: "weight", field: "bodyfat"))
      #expect(refusal?.name == "InvalidValue" && refusal?.description.contains("body-fat") == true)
    }
  }

  /// In pounds, every five of them are a milestone; a custom step stays.
  @Test func poundsHaveTheirOwnMilestones() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("weight", .init(goals: ["weight": 80]), in: daemon)
      #expect(try daemon.put(.init(id: "weight", unit: "lb")).milestoneStep == 5)
      #expect(try daemon.put(.init(id: "weight", unit: "kg")).milestoneStep == 2)
      #expect(try daemon.put(.init(id: "weight", unit: "lb", milestoneStep: 12)).milestoneStep == 12)
      let own = try daemon.put(.init(id: "weight", unit: "kg")).milestoneStep
      #expect(own.map { ($0 * 100).rounded() } == 544)
    }
  }

  @Test func watchesDayShowsTheWornItems() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("watches", in: daemon)
      for title in ["Tank", "Speedmaster"] {
        let _: Wired.PutItem.Reply = try daemon.call(
          Wired.PutItem(tracker: "watches", title: title))
      }
      #expect(try Self.today("watches", in: daemon).items == [])
      for item in ["tank", "speedmaster", "tank"] { try daemon.log("watches", item: item) }
      // The item put on last is last.
      #expect(try Self.today("watches", in: daemon).items?.map(\.title) == ["Speedmaster", "Tank"])
      #expect(try Self.today("watches", in: daemon).items?.last?.entries == 2)
    }
  }

  /// For one watch: its progress, and the achievements unlocked while wearing it.
  @Test func watchShowsItsAchievements() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("watches", in: daemon)
      for title in ["Tank", "Speedmaster"] {
        let _: Wired.PutItem.Reply = try daemon.call(
          Wired.PutItem(tracker: "watches", title: title))
      }
      for day in (1...12).reversed() { try daemon.log("watches", at: TestDaemon.noon(daysAgo: day), item: "tank") }
      try daemon.log("watches", at: TestDaemon.noon(daysAgo: 20), item: "speedmaster")
      func of(_ item: String) throws -> [Wired.Achievement] {
        let reply: Wired.Achievements.Reply = try daemon.call(
          Wired.Achievements(tracker: "watches", item: item))
        return reply.achievements
      }
      let pack = try #require(try ShippedPacks.pack("watches"))
      let own = pack.achievements.filter { $0.criterion.kind == .entriesForItem }
      #expect(!own.isEmpty)
      let (tank, other) = (try of("Tank"), try of("speedm"))
      for one in own {
        #expect(tank.first { $0.id == one.id.rawValue }?.reached == min(12, one.criterion.target))
        #expect(other.first { $0.id == one.id.rawValue }?.reached == 1)
      }
      #expect(tank.allSatisfy { $0.unlockedAt == nil || $0.reached >= $0.target })
      #expect(
        daemon.refusal(Wired.Achievements(item: "tank"))?.name == "InvalidValue")
    }
  }

  /// Sample data are one change for undo, and can be removed separately at any time.
  @Test func sampleDataIsAddedAndRemoved() async throws {
    try await TestDaemon.run { daemon in
      func items() throws -> [Wired.Item] {
        let reply: Wired.Items.Reply = try daemon.call(Wired.Items(tracker: "watches"))
        return reply.items
      }
      func entries() throws -> Int {
        let reply: Wired.Entries.Reply = try daemon.call(
          Wired.Entries(tracker: "watches", limit: 0))
        return reply.total
      }
      try Self.install("watches", sample: true, in: daemon)
      let (count, worn) = (try items().count, try entries())
      #expect(count == 6 && worn > 30)
      let achievements: Wired.Achievements.Reply = try daemon.call(
        Wired.Achievements())
      #expect(achievements.achievements.contains { $0.unlockedAt != nil })
      // Unlocks by sample data are not reported.
      let history: OccurrencesInterface.List.Reply = try daemon.call(
        OccurrencesInterface.List())
      #expect(history.occurrences.isEmpty)
      // A second request adds nothing.
      try Self.install("watches", sample: true, in: daemon)
      #expect(try entries() == worn)
      let _: Wired.PutItem.Reply = try daemon.call(
        Wired.PutItem(tracker: "watches", title: "My own"))
      try daemon.log("watches", item: "my-own")
      let removed: Wired.RemovePack.Reply = try daemon.call(
        Wired.RemovePack(id: "watches", sample: true))
      #expect(removed.items == count && removed.removed == worn)
      #expect(try items().map(\.id) == ["my-own"] && entries() == 1)
      // Achievements from sample data are locked again, the user's own stay, and days count from today.
      let left: Wired.Achievements.Reply = try daemon.call(Wired.Achievements())
      let unlocked = left.achievements.filter { $0.unlockedAt != nil }.map(\.id)
      // *Wardrobe Change* was unlocked by the user's entry, on a day with a sample entry. So is *Moon Phase* at 11 PM
      // or later.
      #expect(
        Set(unlocked).subtracting(["moon_phase"]) == ["first_watch", "first_wear", "wardrobe_change"], "\(unlocked)")
      let xp = left.achievements.filter { $0.unlockedAt != nil }.reduce(0) { $0 + $1.experience }
      #expect(left.levels.first { $0.pack == "watches" }?.experience == xp + 10, "and 10 for the entry")
      let days: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "watches"))
      #expect(days.statistics.dueDays == 1 && days.statistics.metDays == 1)
      let packs: Wired.Packs.Reply = try daemon.call(Wired.Packs())
      #expect(packs.packs.first { $0.id == "watches" }?.installedAt != nil)
      #expect(
        daemon.refusal(Wired.RemovePack(id: "watches", sample: true))?.name
          == "Conflict")
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(undone.undone.subject == "sample")
      #expect(try items().count == count + 1 && entries() == worn + 1)
      let again: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "watches"))
      #expect(again.statistics.dueDays > 30)
      #expect(
        daemon.refusal(Wired.InstallPack(name: "goal", sample: true))?.name
          == "InvalidValue")
    }
  }

  /// The progress of a perfect week counts days.
  @Test func perfectWeekReportsItsDays() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("adkhar", in: daemon)
      for day in (1...3).reversed() {
        for tracker in ["morning", "anytime", "evening"] {
          try daemon.log(tracker, at: TestDaemon.noon(daysAgo: day))
        }
      }
      try daemon.log("morning")
      let reply: Wired.Achievements.Reply = try daemon.call(
        Wired.Achievements(pack: "adkhar"))
      let week = try #require(reply.achievements.first { $0.id == "perfect_week" })
      #expect(week.reached == 3 && week.target == 7 && week.unlockedAt == nil)
    }
  }

  /// Moods mention the streak on a day not begun, and the count on a light day, but no streak of zero.
  @Test func moodTextsNameStreakAndCount() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try Self.install("adkhar", in: daemon)
      func message() throws -> String? {
        let reply: Wired.Day.Reply = try daemon.call(Wired.Day())
        return reply.view.mood.message["en"]
      }
      #expect(try message() == "The day is still open before you.")
      for day in (1...2).reversed() { try daemon.log("morning", at: TestDaemon.noon(daysAgo: day)) }
      #expect(try message() == "The day is still open before you. Your streak: 2.")
      try daemon.log("morning")
      #expect(try message() == "A beginning is made: 1 of 3.")
      let reply: Wired.Day.Reply = try daemon.call(Wired.Day())
      let quote = try #require(reply.view.quote)
      #expect(quote.categoryTitle?["en"]?.isEmpty == false)
    }
  }

  @Test func usualGoalsAreListedAndWithinTheirRange() async throws {
    let water = try #require(try ShippedPacks.pack("hydration")?.choices.values.first)
    let ml = try #require(Unit("ml"))
    #expect(water.presets?.map { $0.value(in: ml) } == [2_000, 2_500, 3_000])
    let text = try #require(ShippedPacks.text("hydration")).replacing("\"3000 ml\"]", with: "\"9000 ml\"]")
    #expect(throws: PackFaults.self) { try PackFile.read(Array(text.utf8), file: "hydration.toml") }
  }
}
