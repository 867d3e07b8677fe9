import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Days with a reminder that is linked to a tracker.
struct LinkedReminderTests {
  static let quiet = TrackerLink(tracker: TrackingScenario.water, quietWhenDone: true)
  static let following = TrackerLink(tracker: TrackingScenario.water, quietWhenDone: true, followsEntries: true)
  static let window = "every 90m from 8:00 to 22:00"

  private func scenario(
    _ link: TrackerLink, goal: Double = 1_000, when: String = window, start: String = "2026-06-01 07:00",
    dayStartsAt: Int = 0
  ) async throws -> (TrackingScenario, Reminder) {
    let scenario = try TrackingScenario(start)
    try await scenario.put(try TrackingScenario.waterTracker(goal: goal, dayStartsAt: dayStartsAt))
    return (scenario, try await scenario.add("wtr1", when: when, link: link))
  }

  /// The example of the design: it becomes silent at the goal, and resumes the next morning.
  @Test func hydrationDayFallsSilentAtTheGoal() async throws {
    let (scenario, _) = try await scenario(Self.quiet)
    try await scenario.run(until: "09:40")
    #expect(scenario.shownTimes() == ["08:00", "09:30"])
    try await scenario.log(500)
    try await scenario.run(until: "11:10")
    #expect(scenario.shownTimes() == ["11:00"])
    let outcome = try await scenario.log(500)
    #expect(outcome.goalMet && outcome.progress?.percent == 100)
    #expect(outcome.closed.map(\.id.scheduledAt).contains(scenario.at("11:00")), "popups still shown are done")
    try await scenario.run(until: "2026-06-02 07:59")
    #expect(scenario.shownTimes() == [])
    #expect(scenario.missed.map(\.reason) == [MissReason](repeating: .doneAlready, count: 7))
    try await scenario.run(until: "2026-06-02 09:00")
    #expect(scenario.shownTimes() == ["08:00"])
  }

  /// Monday 1 June to Sunday: Mondays, Wednesdays and Fridays count.
  @Test func weekdaysOffAreSilent() async throws {
    let scenario = try TrackingScenario("2026-06-01 07:00")
    var tracker = try TrackingScenario.waterTracker()
    tracker.counting = .weekdays([.monday, .wednesday, .friday])
    try await scenario.put(tracker)
    _ = try await scenario.add("wtr1", when: "daily at 18:00", link: Self.quiet)
    for (day, isHeard) in zip(1...7, [true, false, true, false, true, false, false]) {
      try await scenario.run(until: "2026-06-0\(day) 19:00")
      #expect(scenario.shownTimes() == (isHeard ? ["18:00"] : []), "June \(day)")
    }
    #expect(scenario.missed.map(\.reason) == [MissReason](repeating: .skipped, count: 4))
  }

  @Test func entryMovesTheNextTimeWithinTheWindow() async throws {
    let (scenario, reminder) = try await scenario(Self.following, goal: 5_000)
    try await scenario.run(until: "10:10")
    #expect(scenario.shownTimes() == ["08:00", "09:30"])
    let outcome = try await scenario.log(250)
    #expect(outcome.moved.map(\.id) == [reminder.id])
    #expect(try await scenario.next(reminder) == "11:40")
    try await scenario.run(until: "13:30")
    #expect(scenario.shownTimes() == ["11:40", "13:10"])
    // After the last time of the day comes the first of the next.
    try await scenario.run(until: "21:00")
    try await scenario.log(250)
    #expect(try await scenario.next(reminder) == "08:00")
    // An entry in the past moves nothing, because it is not the last.
    try await scenario.run(until: "2026-06-02 09:00")
    try await scenario.log(250)
    #expect(try await scenario.next(reminder) == "10:30")
    try await scenario.log(250, at: scenario.at("06:00"))
    #expect(try await scenario.next(reminder) == "10:30")
  }

  @Test func undoneEntryMovesTheTimeBack() async throws {
    let (scenario, reminder) = try await scenario(Self.following, goal: 5_000)
    try await scenario.run(until: "09:00")
    let first = try await scenario.log(250)
    #expect(try await scenario.next(reminder) == "10:30")
    try await scenario.run(until: "10:00")
    let second = try await scenario.log(250)
    #expect(try await scenario.next(reminder) == "11:30")
    try await scenario.change { try $0.undo(using: &$1).outcome }
    #expect(try await scenario.next(reminder) == "10:30")
    _ = second
    let id = try #require(first.entry?.id)
    try await scenario.change { try $0.remove(id, using: &$1) }
    #expect(try await scenario.next(reminder) == "11:00", "the schedule's own grid: 8:00, 9:30, 11:00")
  }

  @Test func undoneGoalLetsTheReminderFireAgain() async throws {
    let (scenario, _) = try await scenario(Self.quiet)
    try await scenario.run(until: "08:30")
    _ = scenario.shownTimes()
    try await scenario.log(1_000)
    try await scenario.run(until: "10:00")
    #expect(scenario.shownTimes() == [])
    try await scenario.change { try $0.undo(using: &$1).outcome }
    try await scenario.run(until: "11:30")
    #expect(scenario.shownTimes() == ["11:00"])
    let logged = try await scenario.log(1_000)
    let id = try #require(logged.entry?.id)
    let edited = try await scenario.change {
      try $0.edit(id, using: &$1) { $0.quantity = try TrackingScenario.ml(900) }
    }
    #expect(edited.progress?.isMet == false)
    try await scenario.run(until: "12:40")
    #expect(scenario.shownTimes() == ["12:30"])
    let back = try await scenario.change {
      try $0.edit(id, using: &$1) { $0.quantity = try TrackingScenario.ml(1_000) }
    }
    #expect(back.goalMet)
  }

  /// 10 portions of 250 ml from 8:00 on: 14 h ÷ 10, then always the remaining time by the remaining portions.
  @Test func remainingPortionsAreSpreadOverTheRemainingTime() async throws {
    let link = TrackerLink(tracker: TrackingScenario.water, quietWhenDone: true, pace: true)
    let (scenario, reminder) = try await scenario(link, goal: 2_500)
    try await scenario.run(until: "08:00")
    #expect(scenario.shownTimes() == ["08:00"])
    #expect(try await scenario.next(reminder) == "09:24")
    try await scenario.run(until: "18:00")
    _ = scenario.shownTimes()
    try await scenario.log(1_500)
    #expect(try await scenario.next(reminder) == "19:00", "1,000 ml in 4 portions over 4 h")
    try await scenario.run(until: "21:50")
    let times = scenario.shown.map(\.at)
    for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= .minutes(15)) }
    try await scenario.log(1_000)
    #expect(try await scenario.next(reminder) == "08:00", "nothing remains: tomorrow")
  }

  @Test func afterDoneScheduleCountsFromTheEntry() async throws {
    let link = TrackerLink(tracker: TrackingScenario.water)
    let scenario = try TrackingScenario("2026-06-01 07:00")
    try await scenario.put(try TrackingScenario.waterTracker())
    let reminder = try await scenario.add("wtr1", when: "every 3 days after done at 9:00", link: link)
    try await scenario.run(until: "2026-06-01 12:00")
    try await scenario.log()
    let record = try await scenario.store.read { try $0.reminder(reminder.id) }
    #expect(record?.next == scenario.at("2026-06-04 09:00"))
    #expect(record?.reminder.lastDone == scenario.now)
  }

  @Test func doneLogsOnceInItsTransaction() async throws {
    let (scenario, _) = try await scenario(Self.following)
    try await scenario.run(until: "08:10")
    let shown = try #require(scenario.shown.first?.message)
    #expect(shown.report?.button == "Log 250 ml")
    let first = try await scenario.answer(.done, shown.occurrence.id)
    #expect(first.tracking?.entry?.quantity == (try TrackingScenario.ml(250)))
    let again = try await scenario.answer(.done, shown.occurrence.id)
    #expect(again.tracking == nil)
    let count = try await scenario.store.read {
      try $0.entryCount(EntryFilter(owner: TrackingScenario.owner, tracker: TrackingScenario.water))
    }
    #expect(count == 1)
    // A dismissal logs nothing.
    try await scenario.run(until: "09:45")
    let second = try #require(scenario.shown.last?.message)
    #expect(try await scenario.answer(.dismiss, second.occurrence.id).tracking == nil)
  }

  /// A transaction that fails after its entry leaves nothing of it.
  @Test func failedTransactionLeavesNothing() async throws {
    struct Crash: Error {}
    let (scenario, reminder) = try await scenario(Self.following)
    try await scenario.run(until: "08:10")
    let next = try await scenario.next(reminder)
    await #expect(throws: Crash.self) {
      try await scenario.change { work, random in
        _ = try work.log(EntryDraft(tracker: TrackingScenario.water), using: &random)
        throw Crash()
      }
    }
    #expect(try await scenario.next(reminder) == next)
    try await scenario.store.read { transaction in
      let key = TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water)
      let summary = try transaction.summary(of: key)
      let entries = try transaction.entryCount(EntryFilter(owner: TrackingScenario.owner))
      let open = try transaction.occurrences(OccurrenceFilter(openOnly: true), page: Page())
      #expect(summary == nil && entries == 0 && open.count == 1)
    }
  }

  @Test(arguments: ["2026-03-29", "2026-10-25"])
  func reminderFollowsEntriesAcrossClockChanges(day: String) async throws {
    let (scenario, reminder) = try await scenario(
      Self.following, when: "every 90m from 0:30 to 22:00", start: "\(day) 00:00")
    try await scenario.run(until: "\(day) 01:10")
    #expect(scenario.shownTimes() == ["00:30"])
    try await scenario.log(250)
    // An hour and a half of elapsed time, whatever the DST change.
    #expect(try await scenario.next(reminder) == (day == "2026-03-29" ? "03:40" : "02:40"))
    let outcome = try await scenario.log(750)
    #expect(outcome.goalMet)
    try await scenario.run(until: "\(day) 23:59")
    #expect(scenario.shownTimes() == [])
  }

  /// Entries after midnight belong to the evening, and the day's goal holds until 4:00.
  @Test func dayMayBeginAtFour() async throws {
    let (scenario, _) = try await scenario(
      Self.quiet, when: "every 1h from 20:00 to 5:00", start: "2026-06-01 19:00", dayStartsAt: 240)
    try await scenario.run(until: "2026-06-02 00:30")
    _ = scenario.shownTimes()
    let outcome = try await scenario.log(1_000)
    #expect(outcome.entry?.day.description == "2026-06-01")
    try await scenario.run(until: "2026-06-02 03:30")
    #expect(scenario.shownTimes() == [])
    try await scenario.run(until: "2026-06-02 05:30")
    #expect(scenario.shownTimes() == ["04:00", "05:00"])
  }

  @Test func lateTimeOfALaterDayFiresInTheHourThatComesTwice() async throws {
    // Days begin at 2:30. At 3:00 the clock in Prague goes back to 2:00, which is the day before.
    let (scenario, _) = try await scenario(
      Self.quiet, when: "every 15m", start: "2026-10-25 02:00", dayStartsAt: 150)
    try await scenario.run(until: "02:40")
    #expect(scenario.shownTimes() == ["02:15", "02:30"])
    // The machine sleeps from before 2:45 until 2:05.
    scenario.now = scenario.now + .minutes(25)
    #expect(scenario.clock(scenario.now) == "2026-10-25 02:05")
    try await scenario.fire()
    #expect(scenario.shownTimes() == ["02:05"])
  }

  @Test func clockSetBackDoesNotDelayTheNextTime() async throws {
    let (scenario, reminder) = try await scenario(Self.following, goal: 5_000)
    try await scenario.run(until: "10:00")
    try await scenario.log(250)
    scenario.now = scenario.at("09:00")
    let context = scenario.context
    let now = scenario.now
    try await scenario.store.write { try Recompute.reschedule(reminder.id, in: $0, context, now: now) }
    _ = scenario.shownTimes()
    try await scenario.run(until: "13:05")
    #expect(scenario.shownTimes() == ["11:30", "13:00"], "earlier firings are not notified again")
    // An entry that a wrong clock logged far ahead counts as of now when another is logged or undone.
    try await scenario.log(250)
    #expect(try await scenario.next(reminder) == "14:35")
  }

  /// The clock was ahead by years when it fired, and is right again when a snooze ends.
  @Test func goalOfTodayCountsForATimeOfYearsAhead() async throws {
    let (scenario, reminder) = try await scenario(Self.quiet)
    try await scenario.log(1_000)
    let (context, now) = (scenario.context, scenario.now)
    let link = try await scenario.store.read {
      try LinkedTracker.read(for: reminder, from: now + .days(1_000), to: now, in: $0, context)
    }
    #expect(link?.verdict(on: now) == .doneAlready && link?.verdict(on: now + .days(1_000)) == nil)
  }

  /// Whatever is logged, edited, undone and snoozed: after the day's goal is met, nothing fires.
  @Test(arguments: 1...ProofTier.amount(quick: 6, proof: 60) as ClosedRange<UInt64>)
  func nothingFiresOnceTheGoalIsMet(seed: UInt64) async throws {
    let link = TrackerLink(
      tracker: TrackingScenario.water, quietWhenDone: true, followsEntries: seed % 3 == 1, pace: seed % 3 == 2)
    let (scenario, reminder) = try await scenario(link, start: "2026-10-23 06:00", dayStartsAt: seed % 2 == 0 ? 240 : 0)
    var chance = SeededGenerator(seed: seed)
    let key = TrackerKey(owner: TrackingScenario.owner, id: TrackingScenario.water)
    for _ in 0..<150 {
      let before = scenario.shown.count
      let context = scenario.context
      func isMet() async throws -> Bool {
        let now = scenario.now
        return try await scenario.store.read { transaction in
          let tracker = try #require(try transaction.tracker(key))
          let day = tracker.day(at: now, in: context.zones.local).day
          return try transaction.dayTotal(of: key, on: day)?.isMet ?? false
        }
      }
      let end = scenario.now + .minutes(Int64.random(in: 1...70, using: &chance))
      while scenario.now < end {
        let met = try await isMet()
        let count = scenario.shown.count
        try await scenario.run(until: min(end, scenario.now + .minutes(1)))
        let metAfter = try await isMet()
        if met, metAfter { #expect(scenario.shown.count == count, "shown at \(scenario.clock(scenario.now))") }
      }
      switch Int.random(in: 0..<8, using: &chance) {
      case 0..<3: try await scenario.log(Double(Int.random(in: 1...6, using: &chance) * 100))
      case 3:
        let entries = try await scenario.store.read {
          try $0.entries(EntryFilter(owner: TrackingScenario.owner), page: Page(limit: 1))
        }
        guard let entry = entries.first else { continue }
        try await scenario.change { try $0.remove(entry.id, using: &$1) }
      case 4:
        // Not the tracker itself, which was the first change.
        _ = try? await scenario.change { work, random in
          guard try work.undoable()?.kind != .tracker else { return TrackingOutcome() }
          return try work.undo(using: &random).outcome
        }
      case 5:
        guard scenario.shown.count > before, let last = scenario.shown.last?.message.occurrence.id else { continue }
        _ = try? await scenario.answer(.snooze(for: .minutes(20)), last)
      case 6:
        guard let last = scenario.shown.last?.message.occurrence.id else { continue }
        _ = try? await scenario.answer(.done, last)
      default: break
      }
    }
    #expect(!scenario.shown.isEmpty)
    // Paced times stop when the goal is met, so a run may have none that is missed.
    if !link.pace { #expect(!scenario.missed.isEmpty) }
    #expect(try await scenario.next(reminder) != nil)
  }
}
