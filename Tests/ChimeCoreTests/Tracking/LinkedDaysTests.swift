import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Days with a reminder that is linked to a tracker.
struct LinkedDaysTests {
  static let quiet = TrackerLink(tracker: Life.water, quietWhenDone: true)
  static let following = TrackerLink(tracker: Life.water, quietWhenDone: true, followsEntries: true)
  static let window = "every 90m from 8:00 to 22:00"

  private func life(
    _ link: TrackerLink, goal: Double = 1_000, when: String = window, start: String = "2026-06-01 07:00",
    dayStartsAt: Int = 0
  ) async throws -> (Life, Reminder) {
    let life = try Life(start)
    try await life.put(try Life.waterTracker(goal: goal, dayStartsAt: dayStartsAt))
    return (life, try await life.add("wtr1", when: when, link: link))
  }

  /// The example of the design: it becomes silent at the goal, and resumes the next morning.
  @Test func aHydrationDay() async throws {
    let (life, _) = try await life(Self.quiet)
    try await life.live(until: "09:40")
    #expect(life.heard() == ["08:00", "09:30"])
    try await life.log(500)
    try await life.live(until: "11:10")
    #expect(life.heard() == ["11:00"])
    let outcome = try await life.log(500)
    #expect(outcome.goalMet && outcome.standing?.percent == 100)
    #expect(outcome.closed.map(\.id.scheduledAt).contains(life.at("11:00")), "what still shows is done")
    try await life.live(until: "2026-06-02 07:59")
    #expect(life.heard() == [])
    #expect(life.missed.map(\.reason) == [MissReason](repeating: .doneAlready, count: 7))
    try await life.live(until: "2026-06-02 09:00")
    #expect(life.heard() == ["08:00"])
  }

  /// Monday 1 June to Sunday: Mondays, Wednesdays and Fridays count.
  @Test func weekdaysThatDoNotCountAreQuiet() async throws {
    let life = try Life("2026-06-01 07:00")
    var tracker = try Life.waterTracker()
    tracker.counting = .weekdays([.monday, .wednesday, .friday])
    try await life.put(tracker)
    _ = try await life.add("wtr1", when: "daily at 18:00", link: Self.quiet)
    for (day, isHeard) in zip(1...7, [true, false, true, false, true, false, false]) {
      try await life.live(until: "2026-06-0\(day) 19:00")
      #expect(life.heard() == (isHeard ? ["18:00"] : []), "June \(day)")
    }
    #expect(life.missed.map(\.reason) == [MissReason](repeating: .skipped, count: 4))
  }

  @Test func anEntryMovesTheNextTimeWithinTheWindow() async throws {
    let (life, reminder) = try await life(Self.following, goal: 5_000)
    try await life.live(until: "10:10")
    #expect(life.heard() == ["08:00", "09:30"])
    let outcome = try await life.log(250)
    #expect(outcome.moved.map(\.id) == [reminder.id])
    #expect(try await life.next(reminder) == "11:40")
    try await life.live(until: "13:30")
    #expect(life.heard() == ["11:40", "13:10"])
    // After the last time of the day comes the first of the next.
    try await life.live(until: "21:00")
    try await life.log(250)
    #expect(try await life.next(reminder) == "08:00")
    // An entry in the past moves nothing, because it is not the last.
    try await life.live(until: "2026-06-02 09:00")
    try await life.log(250)
    #expect(try await life.next(reminder) == "10:30")
    try await life.log(250, at: life.at("06:00"))
    #expect(try await life.next(reminder) == "10:30")
  }

  @Test func takingBackAnEntryPutsTheTimeBack() async throws {
    let (life, reminder) = try await life(Self.following, goal: 5_000)
    try await life.live(until: "09:00")
    let first = try await life.log(250)
    #expect(try await life.next(reminder) == "10:30")
    try await life.live(until: "10:00")
    let second = try await life.log(250)
    #expect(try await life.next(reminder) == "11:30")
    try await life.change { try $0.undo(using: &$1).outcome }
    #expect(try await life.next(reminder) == "10:30")
    _ = second
    let id = try #require(first.entry?.id)
    try await life.change { try $0.remove(id, using: &$1) }
    #expect(try await life.next(reminder) == "11:00", "the schedule's own grid: 8:00, 9:30, 11:00")
  }

  @Test func takingBackTheGoalLetsItRingAgain() async throws {
    let (life, _) = try await life(Self.quiet)
    try await life.live(until: "08:30")
    _ = life.heard()
    try await life.log(1_000)
    try await life.live(until: "10:00")
    #expect(life.heard() == [])
    try await life.change { try $0.undo(using: &$1).outcome }
    try await life.live(until: "11:30")
    #expect(life.heard() == ["11:00"])
    let logged = try await life.log(1_000)
    let id = try #require(logged.entry?.id)
    let edited = try await life.change { try $0.edit(id, using: &$1) { $0.quantity = try Life.ml(900) } }
    #expect(edited.standing?.isMet == false)
    try await life.live(until: "12:40")
    #expect(life.heard() == ["12:30"])
    let back = try await life.change { try $0.edit(id, using: &$1) { $0.quantity = try Life.ml(1_000) } }
    #expect(back.goalMet)
  }

  /// 10 portions of 250 ml from 8:00 on: 14 h ÷ 10, then always the remaining time by the remaining portions.
  @Test func whatRemainsIsSpreadOverWhatIsLeft() async throws {
    let link = TrackerLink(tracker: Life.water, quietWhenDone: true, pace: true)
    let (life, reminder) = try await life(link, goal: 2_500)
    try await life.live(until: "08:00")
    #expect(life.heard() == ["08:00"])
    #expect(try await life.next(reminder) == "09:24")
    try await life.live(until: "18:00")
    _ = life.heard()
    try await life.log(1_500)
    #expect(try await life.next(reminder) == "19:00", "1,000 ml in 4 portions over 4 h")
    try await life.live(until: "21:50")
    let times = life.shown.map(\.at)
    for (one, next) in zip(times, times.dropFirst()) { #expect(next - one >= .minutes(15)) }
    try await life.log(1_000)
    #expect(try await life.next(reminder) == "08:00", "nothing remains: tomorrow")
  }

  @Test func afterDoneCountsFromTheEntry() async throws {
    let link = TrackerLink(tracker: Life.water)
    let life = try Life("2026-06-01 07:00")
    try await life.put(try Life.waterTracker())
    let reminder = try await life.add("wtr1", when: "every 3 days after done at 9:00", link: link)
    try await life.live(until: "2026-06-01 12:00")
    try await life.log()
    let record = try await life.store.read { try $0.reminder(reminder.id) }
    #expect(record?.next == life.at("2026-06-04 09:00"))
    #expect(record?.reminder.lastDone == life.now)
  }

  @Test func doneLogsOnceInTheTransactionOfTheAnswer() async throws {
    let (life, _) = try await life(Self.following)
    try await life.live(until: "08:10")
    let shown = try #require(life.shown.first?.message)
    #expect(shown.report?.button == "Log 250 ml")
    let first = try await life.answer(.done, shown.occurrence.id)
    #expect(first.tracking?.entry?.quantity == (try Life.ml(250)))
    let again = try await life.answer(.done, shown.occurrence.id)
    #expect(again.tracking == nil)
    let count = try await life.store.read { try $0.entryCount(EntryFilter(owner: Life.owner, tracker: Life.water)) }
    #expect(count == 1)
    // A dismissal logs nothing.
    try await life.live(until: "09:45")
    let second = try #require(life.shown.last?.message)
    #expect(try await life.answer(.dismiss, second.occurrence.id).tracking == nil)
  }

  /// A transaction that fails after its entry leaves nothing of it.
  @Test func nothingIsLeftOfHalfAChange() async throws {
    struct Crash: Error {}
    let (life, reminder) = try await life(Self.following)
    try await life.live(until: "08:10")
    let next = try await life.next(reminder)
    await #expect(throws: Crash.self) {
      try await life.change { work, random in
        _ = try work.log(EntryDraft(tracker: Life.water), using: &random)
        throw Crash()
      }
    }
    #expect(try await life.next(reminder) == next)
    try await life.store.read { transaction in
      let key = TrackerKey(owner: Life.owner, id: Life.water)
      let summary = try transaction.summary(of: key)
      let entries = try transaction.entryCount(EntryFilter(owner: Life.owner))
      let open = try transaction.occurrences(OccurrenceFilter(openOnly: true), page: Page())
      #expect(summary == nil && entries == 0 && open.count == 1)
    }
  }

  @Test(arguments: ["2026-03-29", "2026-10-25"])
  func daysOnWhichTheClockChanges(day: String) async throws {
    let (life, reminder) = try await life(
      Self.following, when: "every 90m from 0:30 to 22:00", start: "\(day) 00:00")
    try await life.live(until: "\(day) 01:10")
    #expect(life.heard() == ["00:30"])
    try await life.log(250)
    // An hour and a half of elapsed time, whatever the DST change.
    #expect(try await life.next(reminder) == (day == "2026-03-29" ? "03:40" : "02:40"))
    let outcome = try await life.log(750)
    #expect(outcome.goalMet)
    try await life.live(until: "\(day) 23:59")
    #expect(life.heard() == [])
  }

  /// Entries after midnight belong to the evening, and the day's goal holds until 4:00.
  @Test func aDayThatBeginsAtFour() async throws {
    let (life, _) = try await life(
      Self.quiet, when: "every 1h from 20:00 to 5:00", start: "2026-06-01 19:00", dayStartsAt: 240)
    try await life.live(until: "2026-06-02 00:30")
    _ = life.heard()
    let outcome = try await life.log(1_000)
    #expect(outcome.entry?.day.description == "2026-06-01")
    try await life.live(until: "2026-06-02 03:30")
    #expect(life.heard() == [])
    try await life.live(until: "2026-06-02 05:30")
    #expect(life.heard() == ["04:00", "05:00"])
  }

  @Test func aClockThatStepsBackMovesNothingForYears() async throws {
    let (life, reminder) = try await life(Self.following, goal: 5_000)
    try await life.live(until: "10:00")
    try await life.log(250)
    life.now = life.at("09:00")
    let context = life.context
    let now = life.now
    try await life.store.write { try Recompute.reschedule(reminder.id, in: $0, context, now: now) }
    _ = life.heard()
    try await life.live(until: "13:05")
    #expect(life.heard() == ["11:30", "13:00"], "what had fired before is not heard again")
    // An entry that a wrong clock logged far ahead counts as of now when another is logged or undone.
    try await life.log(250)
    #expect(try await life.next(reminder) == "14:35")
  }

  /// Whatever is logged, edited, undone and snoozed: after the day's goal is met, nothing fires.
  @Test(arguments: 1...ProofTier.amount(quick: 6, proof: 60) as ClosedRange<UInt64>)
  func nothingIsHeardOnceTheGoalIsMet(seed: UInt64) async throws {
    let link = TrackerLink(
      tracker: Life.water, quietWhenDone: true, followsEntries: seed % 3 == 1, pace: seed % 3 == 2)
    let (life, reminder) = try await life(link, start: "2026-10-23 06:00", dayStartsAt: seed % 2 == 0 ? 240 : 0)
    var chance = SeededGenerator(seed: seed)
    let key = TrackerKey(owner: Life.owner, id: Life.water)
    for _ in 0..<150 {
      let before = life.shown.count
      let context = life.context
      func isMet() async throws -> Bool {
        let now = life.now
        return try await life.store.read { transaction in
          let tracker = try #require(try transaction.tracker(key))
          let day = tracker.day(at: now, in: context.zones.local).day
          return try transaction.dayTotal(of: key, on: day)?.isMet ?? false
        }
      }
      let end = life.now + .minutes(Int64.random(in: 1...70, using: &chance))
      while life.now < end {
        let met = try await isMet()
        let count = life.shown.count
        try await life.live(until: min(end, life.now + .minutes(1)))
        let metAfter = try await isMet()
        if met, metAfter { #expect(life.shown.count == count, "heard at \(life.clock(life.now))") }
      }
      switch Int.random(in: 0..<8, using: &chance) {
      case 0..<3: try await life.log(Double(Int.random(in: 1...6, using: &chance) * 100))
      case 3:
        let entries = try await life.store.read { try $0.entries(EntryFilter(owner: Life.owner), page: Page(limit: 1)) }
        guard let entry = entries.first else { continue }
        try await life.change { try $0.remove(entry.id, using: &$1) }
      case 4:
        // Not the tracker itself, which was the first change.
        _ = try? await life.change { work, random in
          guard try work.undoable()?.kind != .tracker else { return TrackingOutcome() }
          return try work.undo(using: &random).outcome
        }
      case 5:
        guard life.shown.count > before, let last = life.shown.last?.message.occurrence.id else { continue }
        _ = try? await life.answer(.snooze(for: .minutes(20)), last)
      case 6:
        guard let last = life.shown.last?.message.occurrence.id else { continue }
        _ = try? await life.answer(.done, last)
      default: break
      }
    }
    #expect(!life.shown.isEmpty && !life.missed.isEmpty)
    #expect(try await life.next(reminder) != nil)
  }
}
