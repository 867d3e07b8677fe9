import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Notices about limits.
struct LimitNoticeTests {
  static func life() async throws -> Life {
    let life = try Life("2026-06-01 07:00")
    var tracker = try Life.waterTracker()
    tracker.goal = Goal(.total(try Life.ml(300)), atMost: true)
    tracker.usual = try Life.ml(100)
    tracker.startedOn = try #require(CivilDate("2026-05-30"))
    try await life.put(tracker)
    return life
  }

  private func told(_ life: Life) async throws -> [String] {
    try await life.fire()
    defer { life.shown = [] }
    return life.shown.map { "\($0.message.occurrence.title)|\($0.message.body ?? "")" }
  }

  /// A user's own tracker has notices too: one near the limit, one when it is exceeded.
  @Test func itIsToldBeforeItIsPassed() async throws {
    let life = try await Self.life()
    let first = try await life.log(120)
    #expect(first.limit == nil && !first.goalMet && first.standing?.form.streak.length == 2)
    #expect(try await told(life) == [])
    #expect(try await life.log(100).limit == .near)
    #expect(try await told(life) == ["Water: 220 of 300 ml|80 ml left today"])
    #expect(try await life.log(20).limit == nil)
    #expect(try await told(life) == [])
    let passed = try await life.log(100)
    #expect(passed.limit == .passed && passed.standing?.form.streak.length == 0 && !passed.goalMet)
    #expect(try await told(life) == ["Water: 340 of 300 ml|The limit is exceeded by 40 ml"])
    #expect(try await life.log(50).limit == nil)
    #expect(try await told(life) == [])
    // An undone entry is gone, and its notice comes again.
    for _ in 1...2 { try await life.change { try $0.undo(using: &$1).outcome } }
    let again = try await life.log(100)
    #expect(again.limit == .passed)
    #expect(try await told(life).count == 1)
  }

  @Test func anotherDaysEntryIsNotTold() async throws {
    let life = try await Self.life()
    let late = try await life.log(900, at: life.at("2026-05-31 20:00"))
    #expect(late.limit == nil && late.standing?.limit == .passed && late.standing?.isMet == false)
    #expect(try await told(life) == [])
    let low = try await life.log(10)
    #expect(low.standing?.form.streak.length == 0 && low.standing?.number == 1)
    life.now = life.at("2026-06-03 09:00")
    #expect(try await life.log(10).standing?.form.streak.length == 2)
  }

  /// A limit that is not reached is not *done*: its reminders fire.
  @Test func aLinkedReminderStaysHeard() async throws {
    let life = try await Self.life()
    let reminder = try await life.add(
      "r1", when: "every 2h from 8:00 to 12:00", link: TrackerLink(tracker: Life.water, quietWhenDone: true))
    try await life.log(10)
    try await life.live(until: "10:00")
    #expect(life.heard() == ["08:00", "10:00"] && reminder.tracker?.quietWhenDone == true)
  }

  /// Days within a limit are met when they end, and their achievements are reported in the morning.
  @Test func theDaysOfALimitAreEarnedByTheClock() async throws {
    let life = try Life("2026-06-01 07:00")
    var pack = try TrackingOperationsTests.drinks()
    pack.trackers[0].goal = Goal(.total(try Life.ml(300)), atMost: true)
    pack.reminders = []
    pack.trackers[0].startedOn = try #require(CivilDate("2026-06-01"))
    pack.achievements = [
      Achievement(
        id: AchievementID(rawValue: "three"), title: "Three days", text: "", experience: 10,
        criterion: Criterion(.streak, tracker: Life.water, target: 3)),
      Achievement(
        id: AchievementID(rawValue: "two"), title: "Two days", text: "", experience: 10,
        criterion: Criterion(.daysMet, target: 2)),
    ]
    try await life.change { [pack] in try $0.install(pack, using: &$1) }
    try await life.log(10)
    try await life.live(until: "2026-06-05 07:00")
    #expect(
      life.shown.map { "\(life.clock($0.at)) \($0.message.occurrence.title)" } == [
        "2026-06-03 00:00 Unlocked: Two days", "2026-06-04 00:00 Unlocked: Three days",
      ])
  }
}
