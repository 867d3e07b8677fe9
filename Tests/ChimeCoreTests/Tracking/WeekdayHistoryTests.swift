import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Changing a tracker's weekdays leaves the past as it was: each day keeps the rule of its time.
@Suite struct WeekdayHistoryTests {
  private static let run = TrackerID(rawValue: "run")

  private func tracker(_ weekdays: WeekdaySet = .everyDay) throws -> Tracker {
    Tracker(
      id: Self.run, owner: TrackingScenario.owner, title: "Run", kind: .check, counting: .weekdays(weekdays),
      startedOn: try #require(CivilDate("2026-03-02")), createdAt: Instant(seconds: 1_767_225_600))
  }

  /// Returns eight days, each done, up to Monday 9 March.
  private func eightDays(_ weekdays: WeekdaySet = .everyDay) async throws -> TrackingScenario {
    let scenario = try TrackingScenario("2026-03-02 08:00")
    try await scenario.put(try tracker(weekdays))
    for day in 2...9 {
      scenario.now = scenario.at("2026-03-0\(day) 08:00")
      try await scenario.log(nil, Self.run)
    }
    scenario.now = scenario.at("2026-03-10 08:00")
    return scenario
  }

  private func progress(_ scenario: TrackingScenario, on day: String? = nil) async throws -> GoalProgress {
    let (context, now) = (scenario.context, scenario.now)
    return try await scenario.store.read { store in
      let tracker = try #require(try store.tracker(TrackerKey(owner: TrackingScenario.owner, id: Self.run)))
      let day = day.flatMap { CivilDate($0) } ?? tracker.day(at: now, in: context.zones.local).day
      let totals = try store.dayTotals(of: tracker.key, in: .earliest...day)
      return GoalProgress(tracker, on: day, summary: ProgressAggregator(tracker).summary(of: totals), totals: totals)
    }
  }

  private func change(_ scenario: TrackingScenario, to counting: CountedDays) async throws -> Tracker {
    let outcome = try await scenario.change { work, random in
      var tracker = try #require(try work.transaction.tracker(TrackerKey(owner: TrackingScenario.owner, id: Self.run)))
      tracker.counting = counting
      return try work.put(tracker, using: &random)
    }
    return try #require(outcome.tracker)
  }

  @Test func changedWeekdaysLeaveThePastUnchanged() async throws {
    let scenario = try await eightDays()
    let before = try await progress(scenario)
    #expect(before.form.streak.length == 8 && before.number == 8)
    let changed = try await change(scenario, to: .weekdays(.weekends))
    #expect(
      changed.formerWeekdays == [
        FormerWeekdays(until: try #require(CivilDate("2026-03-09")), weekdays: .everyDay)
      ])
    let after = try await progress(scenario)
    #expect(after.form.streak == before.form.streak)
    #expect(after.form.strength == before.form.strength)
    #expect(after.number == 8)
    #expect(after.whyNotCounted == .weekday, "Tuesday is asked for no more")
    // The next required day is Saturday.
    scenario.now = scenario.at("2026-03-14 08:00")
    try await scenario.log(nil, Self.run)
    #expect(try await progress(scenario).form.streak.length == 9)
    // Undoing the change requires the days in between again, which were not done.
    _ = try await change(scenario, to: .weekdays(.everyDay))
    #expect(try await progress(scenario).form.streak.length == 9)
    let kept = try await scenario.store.read { try $0.tracker(TrackerKey(owner: TrackingScenario.owner, id: Self.run)) }
    #expect(kept?.formerWeekdays.map(\.until.description) == ["2026-03-09", "2026-03-13"])
  }

  @Test func weekdaysInForceForLessThanADayLeaveNoTrace() async throws {
    let scenario = try await eightDays()
    let before = try await scenario.store.read {
      try $0.tracker(TrackerKey(owner: TrackingScenario.owner, id: Self.run))
    }
    _ = try await change(scenario, to: .weekdays(.weekends))
    _ = try await change(scenario, to: .weekdays(.weekdays))
    let there = try await change(scenario, to: .weekdays(.everyDay))
    #expect(there.formerWeekdays.isEmpty)
    #expect(there.counting == before?.counting)
    // Nor does a tracker that begins today.
    let new = try TrackingScenario("2026-03-02 08:00")
    try await new.put(try tracker())
    #expect(try await change(new, to: .weekdays(.weekends)).formerWeekdays.isEmpty)
  }

  @Test func undoRestoresTheWeekdays() async throws {
    let scenario = try await eightDays(.weekdays)
    let before = try await progress(scenario)
    _ = try await change(scenario, to: .weekdays(.monday))
    let key = TrackerKey(owner: TrackingScenario.owner, id: Self.run)
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await scenario.store.read { try $0.tracker(key)?.formerWeekdays } == [])
    #expect(try await progress(scenario).form == before.form)
  }

  /// A streak of weeks is not one of days: another way of counting starts anew.
  @Test func changedKindOfCountingRestartsTheStreak() async throws {
    let scenario = try await eightDays()
    _ = try await change(scenario, to: .weekdays(.weekends))
    #expect(try await change(scenario, to: .timesAWeek(3)).formerWeekdays.isEmpty)
    #expect(try await progress(scenario).form.streak.unit == .weeks)
  }
}
