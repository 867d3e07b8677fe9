import ChimeControl
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeDaemon

/// Limits of trackers from clients, files and backups.
@Suite(.serialized) struct LimitHandlerTests {
  typealias Wired = TrackersInterface

  private static func start(daysAgo days: Int) -> String { String(TrackerHouse.noon(daysAgo: days).prefix(10)) }

  @discardableResult
  private static func caffeine(_ house: TrackerHouse) throws -> Wired.Tracker {
    try house.put(
      .init(
        id: "caffeine", title: ["en": "Caffeine"], kind: .amount, unit: "mg",
        goal: .init(total: 300, atMost: true), usual: 80, startedOn: start(daysAgo: 5)))
  }

  @Test(arguments: [false, true]) func aDayComesNearToItAndPassesIt(inMemory: Bool) async throws {
    try await TrackerHouse.live(inMemory: inMemory) { house in
      let tracker = try Self.caffeine(house)
      #expect(tracker.goal == .init(total: 300, period: .day, atMost: true))
      try house.log("caffeine", 500, at: TrackerHouse.noon(daysAgo: 3))
      let first = try house.log("caffeine", 100)
      #expect(first.limit == nil && first.standing?.limit == .under && first.standing?.met == false)
      let near = try house.log("caffeine", 0.15, unit: "g")
      #expect(near.limit == .near && near.standing?.remaining == 50 && near.standing?.percent == 83)
      let passed = try house.log("caffeine")
      #expect(passed.limit == .passed && passed.standing?.streak.length == 0 && !passed.goalMet)
      let occurrences: OccurrencesInterface.List.Reply = try house.call(OccurrencesInterface.List())
      #expect(
        Set(occurrences.occurrences.map(\.title)) == ["Caffeine: 250 of 300 mg", "Caffeine: 330 of 300 mg"])
      let _: Wired.Undo.Reply = try house.call(Wired.Undo())
      let day: Wired.Day.Reply = try house.call(Wired.Day())
      let standing = try #require(day.view.standings.first)
      #expect(standing.limit == .near && standing.streak.length == 2 && standing.longest.length == 2)
      #expect(day.view.week.map(\.due) == [0, 1, 1, 1, 1, 1, 0] && day.view.week.map(\.met) == [0, 1, 1, 0, 1, 1, 0])
      let days: Wired.Days.Reply = try house.call(Wired.Days(tracker: "caffeine", range: .init()))
      #expect(days.days.map(\.met) == [true, true, false, true, true, false])
      #expect(days.days.map(\.limit) == [.under, .under, .passed, .under, .under, .near])
      #expect(days.days.map(\.number) == [1, 2, nil, 3, 4, nil])
      let stats: Wired.Stats.Reply = try house.call(Wired.Stats(tracker: "caffeine"))
      #expect(stats.statistics.metDays == 4 && stats.statistics.dueDays == 5)
    }
  }

  @Test func whatIsNoLimitIsRefused() async throws {
    try await TrackerHouse.live(inMemory: true) { house in
      func refused(_ draft: Wired.TrackerDraft, _ part: String) {
        let refusal = house.refusal(Wired.Put(tracker: draft))
        #expect(refusal?.text("field") == "goal" && refusal?.text("message").contains(part) == true, "\(draft)")
      }
      refused(.init(id: "a", kind: .check, goal: .init(count: 5, period: .week, atMost: true)), "leave the period out")
      refused(.init(id: "a", kind: .check, goal: .init(count: -1, atMost: true)), "give 0 to 10000")
      refused(.init(id: "a", kind: .check, goal: .init(count: 0)), "give 1 to 10000")
      refused(.init(id: "a", kind: .amount, unit: "ml", goal: .init(total: -1, atMost: true)), "more than zero")
      refused(
        .init(id: "a", kind: .measure, unit: "kg", goal: .init(value: 80, atMost: true)), "its values do not add up")
      refused(
        .init(
          id: "a", kind: .check, goal: .init(count: 2, atMost: true),
          counting: .init(times: 3, per: .week)), "give those weekdays")
      let none = try house.put(.init(id: "none", kind: .check, goal: .init(count: 0, atMost: true)))
      #expect(none.goal?.count == 0)
      #expect(try house.log("none").limit == .passed)
      // A reminder cannot pace entries up to a limit.
      try Self.caffeine(house)
      let paced = house.refusal(
        RemindersInterface.Add(
          reminder: .init(
            title: "x", when: "every 90m from 8:00 to 22:00", tracker: .init(tracker: "caffeine", pace: true))))
      #expect(paced?.text("message").contains("only an amount with a daily goal") == true)
    }
  }

  @Test func filesAndBackupsHaveIt() async throws {
    var backup: [UInt8] = []
    let text = """
      [[tracker]]
      id = "caffeine"
      kind = "amount"
      unit = "mg"
      goal = "at most 0.3 g"

      [[tracker]]
      id = "cigarettes"
      kind = "check"
      goal = "at most 0 times"
      """
    try await TrackerHouse.live { house in
      let call = RemindersInterface.Apply(
        files: [.init(name: "a.toml", text: text)], otherwise: "home", secrets: [], packs: [])
      let _: RemindersInterface.Apply.Reply = try house.call(call)
      let list: Wired.List.Reply = try house.call(Wired.List())
      #expect(
        list.trackers.map(\.goal) == [
          .init(total: 300, period: .day, atMost: true), .init(count: 0, period: .day, atMost: true),
        ])
      let exported: RemindersInterface.Export.Reply = try house.call(RemindersInterface.Export(format: "toml"))
      #expect(exported.text.contains("goal = \"at most 300 mg\"") && exported.text.contains("\"at most 0 times\""))
      let wrong = RemindersInterface.Apply(
        files: [.init(name: "a.toml", text: text + "\ndays = \"3 times a week\"\n")], otherwise: "home", secrets: [],
        packs: [])
      #expect(house.refusal(wrong).map { "\($0)".contains("give those weekdays") } == true)
      try house.log("caffeine", 400)
      backup = try house.backup()
    }
    try await TrackerHouse.live { [backup] house in
      _ = try BackupTests.restore(house, backup)
      let day: Wired.Day.Reply = try house.call(Wired.Day())
      #expect(day.view.standings.first { $0.tracker.id == "caffeine" }?.limit == .passed)
    }
  }
}
