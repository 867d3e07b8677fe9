import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// The effects of jitter and quiet hours on due times.
struct QuietDecisionTests {
  /// 2026-11-20T08:00:00Z, a Friday.
  static let eight = FiringDecisionTests.eight
  static let night = ["22:00-07:00"]

  static func reminder(
    _ phrase: String = "every 1h starting 2026-11-20T08:00:00Z", change: (inout Reminder) -> Void = { _ in }
  ) throws -> Reminder { try FiringDecisionTests.reminder(phrase, change: change) }

  static func decide(
    _ reminder: Reminder, scheduledAt: Instant = eight, dueAt: Instant? = nil, now: Instant,
    runningSince: Instant = .earliest, quiet: [String] = night, handling: QuietRule.Handling = .hold,
    occurrence: Occurrence? = nil
  ) throws -> FiringResult {
    var generator = SeededGenerator(seed: 7)
    let defaults = QuietDefaults(hours: try QuietHours(quiet), handling: handling)
    return FiringDecision(now: now, uptime: Uptime(runningSince: runningSince)).decide(
      DueReminder(
        reminder: reminder, scheduledAt: scheduledAt, dueAt: dueAt ?? scheduledAt + reminder.jitterOffset,
        occurrence: occurrence),
      timetable: reminder.timetable(in: .utc), quiet: Quiet(of: reminder, defaults, local: .utc, own: .utc),
      using: &generator)
  }

  // MARK: Jitter

  /// The jitter is the same on every machine: a changed hash would move everyone's reminders.
  @Test(
    arguments: [
      ("r7k2", 600, 472), ("r7k2", 1, 1), ("r7k2", 86_400, 10_818), ("r7k3", 600, 269), ("aaaa", 600, 423),
      ("", 600, 33),
      ("zz9z", 3_600, 245), ("r7k2", 0, 0),
    ] as [(String, Int64, Int64)])
  func jitterIsAHashOfTheID(id: String, jitter: Int64, seconds: Int64) throws {
    let reminder = Reminder(
      id: ReminderID(rawValue: id), owner: 1, title: "", schedule: try Schedule(canonical: "weekdays at 08:30"),
      jitter: .seconds(jitter), createdAt: Self.eight)
    #expect(reminder.jitterOffset == .seconds(seconds))
  }

  @Test func jitterIsSpreadEvenly() throws {
    var random = SeededGenerator(seed: 7)
    var tenths = [Int](repeating: 0, count: 10)
    for _ in 0..<5_000 {
      let reminder = Reminder(
        id: ReminderID(using: &random), owner: 1, title: "", schedule: try Schedule(canonical: "weekdays at 08:30"),
        jitter: .seconds(999), createdAt: Self.eight)
      tenths[Int(reminder.jitterOffset.rawValue / 100_000)] += 1
    }
    // Each tenth of the span gets its share of 500; five standard deviations are 106.
    #expect(tenths.allSatisfy { (390...610).contains($0) }, "\(tenths)")
  }

  @Test func jitterDelaysTheFiringAndNothingElse() throws {
    let reminder = try Self.reminder { $0.jitter = .minutes(10) }
    let offset = reminder.jitterOffset
    #expect(offset > .minutes(1))
    let onTime = try Self.decide(reminder, now: Self.eight + offset + .seconds(59))
    #expect(onTime.occurrences.map(\.id.scheduledAt) == [Self.eight])
    #expect(onTime.occurrences.map(\.late) == [nil])
    #expect(onTime.next == Self.eight + .hours(1))
    #expect(onTime.nextDueAt == nil)
    // The tolerance of a minute counts from there, not from the scheduled time.
    #expect(try Self.decide(reminder, now: Self.eight + offset + .seconds(61)).occurrences.map(\.late) == [.suspend])
    // The next time has passed, but not its jittered moment.
    let later = try Self.decide(reminder, now: Self.eight + .hours(1) + offset - .seconds(1))
    #expect(later.occurrences.map(\.id.scheduledAt) == [Self.eight])
    #expect(later.next == Self.eight + .hours(1))
    // Due from before it had jitter: evaluated again at its moment.
    let early = try Self.decide(reminder, now: Self.eight)
    #expect(early.occurrences.isEmpty)
    #expect(early.next == Self.eight && early.nextDueAt == Self.eight + offset)
    // Downtime also counts from the jittered moment.
    let started = try Self.decide(
      reminder, now: Self.eight + offset + .minutes(9), runningSince: Self.eight + offset + .seconds(1))
    #expect(started.occurrences.map(\.late) == [.downtime])
    let graceful = try Self.reminder("at 2026-11-20T08:00:00Z") { ($0.jitter, $0.grace) = (.minutes(10), .minutes(5)) }
    #expect(try Self.decide(graceful, now: Self.eight + offset + .minutes(5)).occurrences.map(\.state) == [.fired])
    #expect(
      try Self.decide(graceful, now: Self.eight + offset + .minutes(5) + .milliseconds(1)).occurrences.map(\.state)
        == [.missed(.suspend)])
  }

  // MARK: Quiet hours

  @Test func timeInQuietHoursIsHeldAndNotifiedOnce() throws {
    let reminder = try Self.reminder { $0.catchUp = CatchUp(suspend: .skip, downtime: .all) }
    let ten = Self.eight + .hours(14)
    let seven = Self.eight + .hours(23)
    let held = try Self.decide(reminder, scheduledAt: ten, now: ten)
    #expect(held.occurrences.isEmpty && held.deliveries.isEmpty)
    #expect(held.advances && held.next == ten && held.nextDueAt == seven)
    // 22:00 … 06:00 were held; 07:00 is on time and stands for all.
    let morning = try Self.decide(reminder, scheduledAt: ten, dueAt: seven, now: seven + .milliseconds(2))
    #expect(morning.occurrences.filter { $0.state == .fired }.map(\.id.scheduledAt) == [seven])
    #expect(morning.occurrences.filter { $0.state == .missed(.quiet) }.count == 9)
    #expect(morning.next == seven + .hours(1))
    // If none is on time, the latest fires, late because of quiet hours.
    let half = try Self.reminder("every 12h starting 2026-11-20T11:30:00Z")
    let late = try Self.decide(half, scheduledAt: Self.eight + .minutes(15 * 60 + 30), dueAt: seven, now: seven)
    #expect(late.occurrences.map(\.state) == [.fired])
    #expect(late.occurrences.map(\.late) == [.quiet])
    #expect(late.deliveries.count == 1)
  }

  @Test func downtimeAfterQuietHoursFollowsTheCatchUpRule() throws {
    let ten = Self.eight + .hours(14)
    let seven = Self.eight + .hours(23)
    // No daemon ran when quiet hours ended: the rule for downtime applies.
    for (rule, fired) in [(CatchUpRule.skip, 0), (.latest, 1), (.all, 10)] {
      let reminder = try Self.reminder {
        ($0.catchUp, $0.grace) = (CatchUp(suspend: .skip, downtime: rule), .days(2))
      }
      let now = seven + .minutes(30)
      let firing = try Self.decide(reminder, scheduledAt: ten, dueAt: seven, now: now, runningSince: now)
      #expect(firing.occurrences.filter { $0.state == .fired && $0.late == .downtime }.count == fired)
      #expect(firing.occurrences.count == 10)
    }
    // Suspended from before quiet hours into them: nothing fires at half past eleven, and nothing is lost.
    let reminder = try Self.reminder("at 2026-11-20T20:00:00Z")
    let eightPM = Self.eight + .hours(12)
    let awake = try Self.decide(reminder, scheduledAt: eightPM, now: eightPM + .minutes(210))
    #expect(awake.occurrences.isEmpty && awake.nextDueAt == seven && awake.next == eightPM)
    let morning = try Self.decide(reminder, scheduledAt: eightPM, dueAt: seven, now: seven)
    #expect(morning.occurrences.map(\.state) == [.fired] && morning.occurrences.map(\.late) == [.quiet])
    #expect(morning.next == nil)
    // Times that the rules do not let fire are recorded at once, even in quiet hours.
    let skipping = try Self.reminder("at 2026-11-20T20:00:00Z") { $0.catchUp = CatchUp(suspend: .skip) }
    let skipped = try Self.decide(skipping, scheduledAt: eightPM, now: eightPM + .minutes(210))
    #expect(skipped.occurrences.map(\.state) == [.missed(.suspend)])
    // Without quiet hours, held times fire, and do not count as suspended.
    let freed = try Self.decide(
      skipping, scheduledAt: ten, dueAt: ten + .minutes(90), now: ten + .minutes(90), quiet: [])
    #expect(freed.occurrences.last?.late == .quiet)
    #expect(freed.occurrences.map(\.state).contains(.fired))
  }

  @Test func graceIncludesQuietHours() throws {
    let reminder = try Self.reminder("at 2026-11-20T23:00:00Z") { $0.grace = .hours(6) }
    let seven = Self.eight + .hours(23)
    let firing = try Self.decide(reminder, scheduledAt: seven - .hours(8), dueAt: seven, now: seven)
    #expect(firing.occurrences.map(\.state) == [.missed(.quiet)])
  }

  @Test func droppedTimesAreMissed() throws {
    let ten = Self.eight + .hours(14)
    let reminder = try Self.reminder()
    let firing = try Self.decide(reminder, scheduledAt: ten, now: ten, handling: .drop)
    #expect(firing.occurrences.map(\.state) == [.missed(.quiet)])
    #expect(firing.deliveries.isEmpty && firing.next == ten + .hours(1) && firing.nextDueAt == nil)
    // A late time from before quiet hours does not fire in them either.
    let late = try Self.decide(reminder, scheduledAt: ten - .hours(1), now: ten + .minutes(30), handling: .drop)
    #expect(late.occurrences.map(\.state) == [.missed(.quiet), .missed(.quiet)])
  }

  /// The handling at 23:00; the configured quiet hours are 22:00-07:00.
  @Test(arguments: [
    (Urgency.normal, QuietRule?.none, QuietRule.Handling.hold, "held"), (.low, nil, .drop, "dropped"),
    (.critical, nil, .hold, "fires"), (.critical, QuietRule(handling: .drop), .hold, "fires"),
    (.normal, QuietRule(handling: .off), .hold, "fires"), (.normal, QuietRule(handling: .drop), .hold, "dropped"),
    (.normal, QuietRule(handling: .hold), .drop, "held"), (.normal, QuietRule(hours: .never), .hold, "fires"),
    (.normal, QuietRule(hours: try? QuietHours(["12:00-13:00"])), .hold, "fires"),
    (.normal, QuietRule(hours: try? QuietHours(["fri 22:30-23:30"]), handling: .drop), .hold, "dropped"),
  ])
  func eachReminderFollowsItsQuietRule(
    urgency: Urgency, own: QuietRule?, configured: QuietRule.Handling, outcome: String
  ) throws {
    let reminder = try Self.reminder { ($0.urgency, $0.quiet) = (urgency, own) }
    let eleven = Self.eight + .hours(15)
    let firing = try Self.decide(reminder, scheduledAt: eleven, now: eleven, handling: configured)
    let found =
      firing.nextDueAt != nil ? "held" : firing.occurrences.first?.state == .missed(.quiet) ? "dropped" : "fires"
    #expect(found == outcome)
  }

  @Test func skipsAndPausesPrecedeQuietHours() throws {
    let eleven = Self.eight + .hours(15)
    let skipping = try Self.decide(try Self.reminder { $0.skipNext = 1 }, scheduledAt: eleven, now: eleven)
    #expect(skipping.occurrences.map(\.state) == [.missed(.skipped)] && skipping.skipNext == 0)
    let paused = try Self.decide(try Self.reminder { $0.pause = .indefinitely }, scheduledAt: eleven, now: eleven)
    #expect(paused.occurrences.map(\.state) == [.missed(.paused)])
    // Held times are not skipped yet.
    let two = try Self.decide(try Self.reminder { $0.skipNext = 1 }, scheduledAt: eleven, now: eleven + .hours(1))
    #expect(two.occurrences.isEmpty && two.nextDueAt != nil && two.skipNext == 1)
  }

  @Test func firedOccurrenceIsNotHeld() throws {
    let eleven = Self.eight + .hours(15)
    let fired = Occurrence(
      id: OccurrenceID(reminder: ReminderID(rawValue: "r7k2"), scheduledAt: eleven), title: "", owner: 1_000,
      state: .done, firedAt: eleven, rounds: 1)
    let firing = try Self.decide(try Self.reminder(), scheduledAt: eleven, now: eleven, occurrence: fired)
    #expect(firing.occurrences.isEmpty && firing.nextDueAt == nil && firing.next == eleven + .hours(1))
  }
}
