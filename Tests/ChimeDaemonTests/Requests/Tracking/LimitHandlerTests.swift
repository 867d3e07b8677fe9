import ChimeControl
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeDaemon

/// Limits of trackers from clients, files and backups.
@Suite(.serialized) struct LimitHandlerTests {
  typealias Wired = TrackersInterface

  private static func start(daysAgo days: Int) -> String { String(TestDaemon.noon(daysAgo: days).prefix(10)) }

  @discardableResult
  private static func caffeine(_ daemon: TestDaemon) throws -> Wired.Tracker {
    try daemon.put(
      .init(
        id: "caffeine", title: ["en": "Caffeine"], kind: .amount, unit: "mg",
        goal: .init(total: 300, atMost: true), usual: 80, startedOn: start(daysAgo: 5)))
  }

  @Test(arguments: [false, true]) func dayIsReportedNearAndOverItsLimit(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      let tracker = try Self.caffeine(daemon)
      #expect(tracker.goal == .init(total: 300, period: .day, atMost: true))
      try daemon.log("caffeine", 500, at: TestDaemon.noon(daysAgo: 3))
      let first = try daemon.log("caffeine", 100)
      #expect(first.limit == nil && first.progress?.limit == .under && first.progress?.met == false)
      let near = try daemon.log("caffeine", 0.15, unit: "g")
      #expect(near.limit == .near && near.progress?.remaining == 50 && near.progress?.percent == 83)
      let passed = try daemon.log("caffeine")
      #expect(passed.limit == .exceeded && passed.progress?.streak.length == 0 && !passed.goalMet)
      let occurrences: OccurrencesInterface.List.Reply = try daemon.call(OccurrencesInterface.List())
      #expect(
        Set(occurrences.occurrences.map(\.title)) == ["Caffeine: 250 of 300 mg", "Caffeine: 330 of 300 mg"])
      let _: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      let progress = try #require(day.view.progress.first)
      #expect(progress.limit == .near && progress.streak.length == 2 && progress.longest.length == 2)
      #expect(day.view.week.map(\.due) == [0, 1, 1, 1, 1, 1, 0] && day.view.week.map(\.met) == [0, 1, 1, 0, 1, 1, 0])
      let days: Wired.Days.Reply = try daemon.call(Wired.Days(tracker: "caffeine", range: .init()))
      #expect(days.days.map(\.met) == [true, true, false, true, true, false])
      #expect(days.days.map(\.limit) == [.under, .under, .exceeded, .under, .under, .near])
      #expect(days.days.map(\.number) == [1, 2, nil, 3, 4, nil])
      let stats: Wired.Stats.Reply = try daemon.call(Wired.Stats(tracker: "caffeine"))
      #expect(stats.statistics.metDays == 4 && stats.statistics.dueDays == 5)
    }
  }

  @Test func invalidLimitsAreRefused() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      func refused(_ draft: Wired.TrackerDraft, _ part: String) {
        let refusal = daemon.refusal(Wired.Put(tracker: draft))
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
      let none = try daemon.put(.init(id: "none", kind: .check, goal: .init(count: 0, atMost: true)))
      #expect(none.goal?.count == 0)
      #expect(try daemon.log("none").limit == .exceeded)
      // A reminder cannot pace entries up to a limit.
      try Self.caffeine(daemon)
      let paced = daemon.refusal(
        RemindersInterface.Add(
          reminder: .init(
            title: "x", when: "every 90m from 8:00 to 22:00", tracker: .init(tracker: "caffeine", pace: true))))
      #expect(paced?.text("message").contains("only an amount with a daily goal") == true)
    }
  }

  @Test func filesAndBackupsContainLimits() async throws {
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
    try await TestDaemon.run { daemon in
      let call = RemindersInterface.Apply(
        files: [.init(name: "a.toml", text: text)], defaultSet: "home", secrets: [], packs: [])
      let _: RemindersInterface.Apply.Reply = try daemon.call(call)
      let list: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(
        list.trackers.map(\.goal) == [
          .init(total: 300, period: .day, atMost: true), .init(count: 0, period: .day, atMost: true),
        ])
      let exported: RemindersInterface.Export.Reply = try daemon.call(RemindersInterface.Export(format: "toml"))
      #expect(exported.text.contains("goal = \"at most 300 mg\"") && exported.text.contains("\"at most 0 times\""))
      let wrong = RemindersInterface.Apply(
        files: [.init(name: "a.toml", text: text + "\ndays = \"3 times a week\"\n")], defaultSet: "home", secrets: [],
        packs: [])
      #expect(daemon.refusal(wrong).map { "\($0)".contains("give those weekdays") } == true)
      try daemon.log("caffeine", 400)
      backup = try daemon.backup()
    }
    try await TestDaemon.run { [backup] daemon in
      _ = try BackupTests.restore(daemon, backup)
      let day: Wired.Day.Reply = try daemon.call(Wired.Day())
      #expect(day.view.progress.first { $0.tracker.id == "caffeine" }?.limit == .exceeded)
    }
  }
}
