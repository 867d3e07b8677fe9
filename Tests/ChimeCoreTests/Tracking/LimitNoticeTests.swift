import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Notices about limits.
struct LimitNoticeTests {
  static func scenario() async throws -> TrackingScenario {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    var tracker = try TrackingScenario.waterTracker()
    tracker.goal = Goal(.total(try TrackingScenario.ml(300)), atMost: true)
    tracker.usual = try TrackingScenario.ml(100)
    tracker.startedOn = try #require(CivilDate("2026-05-30"))
    try await scenario.put(tracker)
    return scenario
  }

  private func notices(_ scenario: TrackingScenario) async throws -> [String] {
    try await scenario.fire()
    defer { scenario.shown = [] }
    return scenario.shown.map { "\($0.message.occurrence.title)|\($0.message.body ?? "")" }
  }

  /// A user's own tracker has notices too: one near the limit, one when it is exceeded.
  @Test func limitIsReportedNearAndExceeded() async throws {
    let scenario = try await Self.scenario()
    let first = try await scenario.log(120)
    #expect(first.limit == nil && !first.goalMet && first.progress?.form.streak.length == 2)
    #expect(try await notices(scenario) == [])
    #expect(try await scenario.log(100).limit == .near)
    #expect(try await notices(scenario) == ["Water: 220 of 300 ml|80 ml left today"])
    #expect(try await scenario.log(20).limit == nil)
    #expect(try await notices(scenario) == [])
    let passed = try await scenario.log(100)
    #expect(passed.limit == .exceeded && passed.progress?.form.streak.length == 0 && !passed.goalMet)
    #expect(try await notices(scenario) == ["Water: 340 of 300 ml|The limit is exceeded by 40 ml"])
    #expect(try await scenario.log(50).limit == nil)
    #expect(try await notices(scenario) == [])
    // An undone entry is gone, and its notice comes again.
    for _ in 1...2 { try await scenario.change { try $0.undo(using: &$1).outcome } }
    let again = try await scenario.log(100)
    #expect(again.limit == .exceeded)
    #expect(try await notices(scenario).count == 1)
  }

  @Test func entryOfAnotherDayIsNotReported() async throws {
    let scenario = try await Self.scenario()
    let late = try await scenario.log(900, at: scenario.at("2026-05-31 20:00"))
    #expect(late.limit == nil && late.progress?.limit == .exceeded && late.progress?.isMet == false)
    #expect(try await notices(scenario) == [])
    let low = try await scenario.log(10)
    #expect(low.progress?.form.streak.length == 0 && low.progress?.number == 1)
    scenario.now = scenario.at("2026-06-03 09:00")
    #expect(try await scenario.log(10).progress?.form.streak.length == 2)
  }

  /// A limit that is not reached is not *done*: its reminders fire.
  @Test func reminderLinkedToALimitKeepsFiring() async throws {
    let scenario = try await Self.scenario()
    let reminder = try await scenario.add(
      "r1", when: "every 2h from 8:00 to 12:00", link: TrackerLink(tracker: TrackingScenario.water, quietWhenDone: true)
    )
    try await scenario.log(10)
    try await scenario.run(until: "10:00")
    #expect(scenario.shownTimes() == ["08:00", "10:00"] && reminder.tracker?.quietWhenDone == true)
  }

  /// Days within a limit are met when they end, and their achievements are reported in the morning.
  @Test func daysWithinALimitAreMetWhenTheyEnd() async throws {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    var pack = try TrackingOperationsTests.drinks()
    pack.trackers[0].goal = Goal(.total(try TrackingScenario.ml(300)), atMost: true)
    pack.reminders = []
    pack.trackers[0].startedOn = try #require(CivilDate("2026-06-01"))
    pack.achievements = [
      Achievement(
        id: AchievementID(rawValue: "three"), title: "Three days", text: "", experience: 10,
        criterion: Criterion(.streak, tracker: TrackingScenario.water, target: 3)),
      Achievement(
        id: AchievementID(rawValue: "two"), title: "Two days", text: "", experience: 10,
        criterion: Criterion(.daysMet, target: 2)),
    ]
    try await scenario.change { [pack] in try $0.install(pack, using: &$1) }
    try await scenario.log(10)
    try await scenario.run(until: "2026-06-05 07:00")
    #expect(
      scenario.shown.map { "\(scenario.clock($0.at)) \($0.message.occurrence.title)" } == [
        "2026-06-03 00:00 Unlocked: Two days", "2026-06-04 00:00 Unlocked: Three days",
      ])
  }
}
