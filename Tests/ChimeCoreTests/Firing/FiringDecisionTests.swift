import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Decisions about due times: on time, late, paused, skipped, snoozed, after hours and after years.
struct FiringDecisionTests {
  /// 2026-11-20T08:00:00Z.
  static let eight = Instant(seconds: 1_795_161_600)

  static func reminder(
    _ phrase: String = "every 1h starting 2026-11-20T08:00:00Z", change: (inout Reminder) -> Void = { _ in }
  ) throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: "r7k2"), owner: 1_000, title: "Drink water",
      schedule: try Schedule(canonical: phrase), createdAt: eight)
    change(&reminder)
    return reminder
  }

  static func decide(
    _ reminder: Reminder, dueAt: Instant = eight, now: Instant, runningSince: Instant = .earliest,
    isRegular: Bool = true, occurrence: Occurrence? = nil, silences: [UInt32: Silence] = [:]
  ) -> FiringResult {
    var generator = SeededGenerator(seed: 7)
    return FiringDecision(now: now, uptime: Uptime(runningSince: runningSince), silences: silences).decide(
      DueReminder(
        reminder: reminder, scheduledAt: occurrence?.id.scheduledAt ?? dueAt, dueAt: dueAt, isRegular: isRegular,
        occurrence: occurrence),
      timetable: reminder.timetable(in: .utc), using: &generator)
  }

  @Test func onTimeFiresOnceAndAdvancesFromTheScheduledTime() throws {
    let now = Self.eight + .milliseconds(3)
    let firing = Self.decide(try Self.reminder { $0.channels = [.desktop, ChannelName(rawValue: "team")] }, now: now)
    let occurrence = try #require(firing.occurrences.first)
    #expect(firing.occurrences.count == 1)
    #expect(occurrence.state == .fired)
    #expect(occurrence.firedAt == now)
    #expect(occurrence.late == nil)
    #expect(occurrence.lateness == .milliseconds(3))
    #expect(firing.next == Self.eight + .hours(1))
    #expect(firing.deliveries.map(\.queue.channel.rawValue) == ["desktop", "team"])
    #expect(Set(firing.deliveries.map(\.id)).count == 2)
    #expect(firing.advances)
  }

  /// A too costly schedule in the store, from an older version, fires and then ends; the search for its next time is bounded.
  @Test func tooCostlyScheduleFiresAndEnds() throws {
    let grid = "RRULE:FREQ=SECONDLY;INTERVAL=3599;BYMONTH=7;BYMONTHDAY=3,4,30;BYDAY=TH;BYMINUTE=7,19,23,51,58,59"
    let reminder = try Self.reminder("DTSTART:20260101T000000Z \(grid)")
    let firing = Self.decide(reminder, now: Self.eight + .milliseconds(3))
    #expect(firing.occurrences.map(\.state) == [.fired])
    #expect(firing.next == nil && firing.isGivenUp && firing.advances)
    // A finished schedule is a different case.
    let once = try Self.reminder("DTSTART:20261120T080000Z RRULE:FREQ=DAILY;COUNT=1")
    let last = Self.decide(once, now: Self.eight)
    #expect(last.next == nil && !last.isGivenUp)
  }

  /// Five hourly times have passed (8:00 … 12:00) at 12:30.
  @Test(arguments: [
    (CatchUpRule.latest, 1, 4), (.all, 5, 0), (.skip, 0, 5),
  ])
  func missedTimesFollowTheCatchUpRule(rule: CatchUpRule, fires: Int, misses: Int) throws {
    let reminder = try Self.reminder { $0.catchUp = CatchUp(suspend: .all, downtime: rule) }
    let now = Self.eight + .minutes(270)
    let firing = Self.decide(reminder, now: now, runningSince: now)
    let fired = firing.occurrences.filter { $0.state == .fired }
    #expect(fired.count == fires)
    #expect(fired.allSatisfy { $0.late == .downtime })
    #expect(firing.occurrences.filter { $0.state == .missed(.downtime) }.count == misses)
    #expect(firing.next == Self.eight + .hours(5))
    if rule == .latest { #expect(fired.first?.id.scheduledAt == Self.eight + .hours(4)) }
    // Each of the five times is recorded once.
    #expect(Set(firing.occurrences.map(\.id)).count == 5)
  }

  @Test func sleepAndDowntimeHaveSeparateRules() throws {
    let reminder = try Self.reminder { $0.catchUp = CatchUp(suspend: .skip, downtime: .latest) }
    let firing = Self.decide(reminder, now: Self.eight + .minutes(90), runningSince: Self.eight - .days(1))
    #expect(firing.occurrences.map(\.state) == [.missed(.suspend), .missed(.suspend)])
  }

  @Test func timeOnTimeReplacesTheLatestMissedOne() throws {
    // 8:00, 9:00 and 10:00 have passed, 10:00 only a second ago.
    let firing = Self.decide(try Self.reminder(), now: Self.eight + .hours(2) + .seconds(1))
    #expect(firing.occurrences.filter { $0.state == .fired }.map(\.id.scheduledAt) == [Self.eight + .hours(2)])
    #expect(firing.occurrences.filter { $0.state == .missed(.suspend) }.count == 2)
  }

  @Test func timeBeyondItsGraceIsMissed() throws {
    let oneOff = try Self.reminder("at 2026-11-20T08:00:00Z") { $0.grace = .hours(2) }
    let late = Self.decide(oneOff, now: Self.eight + .hours(3), runningSince: Self.eight + .hours(3))
    #expect(late.occurrences.map(\.state) == [.missed(.downtime)])
    #expect(late.next == nil)
    let useful = Self.decide(oneOff, now: Self.eight + .hours(1), runningSince: Self.eight + .hours(1))
    #expect(useful.occurrences.map(\.state) == [.fired])
    #expect(useful.occurrences.first?.late == .downtime)
  }

  @Test func catchUpOfAllTimesIsCapped() throws {
    let reminder = try Self.reminder("every 1m starting 2026-11-20T08:00:00Z") {
      $0.catchUp = CatchUp(suspend: .all, downtime: .all)
    }
    let firing = Self.decide(reminder, now: Self.eight + .minutes(250) + .seconds(30))
    let fired = firing.occurrences.filter { $0.state == .fired }
    // 251 times: the cap, plus the last one, which is on time.
    #expect(fired.count == CatchUp.cap + 1)
    let run = try #require(firing.occurrences.first { $0.missedRun != nil })
    #expect(run.state == .missed(.overCap))
    #expect(run.missedRun == Occurrence.MissedRun(count: 150, through: Self.eight + .minutes(149)))
  }

  /// A long downtime of a reminder by the second: each decision is bounded, every time is recorded, and only the latest
  /// fires.
  @Test func longDowntimeIsProcessedInSteps() throws {
    let reminder = try Self.reminder("every 1s starting 2026-11-20T08:00:00Z")
    let now = Self.eight + .seconds(55_555)
    var dueAt = Self.eight
    var accounted = 0
    var fired: [Instant] = []
    var steps = 0
    while dueAt <= now {
      let firing = Self.decide(reminder, dueAt: dueAt, now: now, runningSince: now)
      for occurrence in firing.occurrences {
        accounted += occurrence.missedRun?.count ?? 1
        if occurrence.state == .fired { fired.append(occurrence.id.scheduledAt) }
      }
      #expect(firing.occurrences.count <= 200)
      dueAt = try #require(firing.next)
      steps += 1
      try #require(steps < 20)
    }
    #expect(accounted == 55_556)
    // Those of the last minute are on time; earlier ones do not fire, because a later one does.
    #expect(fired.count == 61)
    #expect(fired.last == now)
  }

  @Test func globalPausePausesAllRemindersOfAnOwner() throws {
    let until = Self.eight + .minutes(90)
    let (normal, critical) = (try Self.reminder(), try Self.reminder { $0.urgency = .critical })
    func states(_ reminder: Reminder, _ silence: Silence, owner: UInt32 = 1_000, hours: Int64 = 0) -> [Occurrence.State]
    {
      let time = Self.eight + .hours(hours)
      return Self.decide(reminder, dueAt: time, now: time, silences: [owner: silence]).occurrences.map(\.state)
    }
    let (silence, whole) = (Silence(until: until), Silence(until: until, coversCritical: true))
    #expect(states(normal, silence) == [.missed(.paused)])
    #expect(states(critical, silence) == [.fired])
    #expect(states(critical, whole) == [.missed(.paused)])
    #expect(states(normal, whole, owner: 1_001) == [.fired])
    #expect(states(normal, whole, hours: 2) == [.fired], "it is over")
    // The daemon returned after the silence: times within it are missed, later ones are caught up.
    let late = Self.decide(
      normal, now: Self.eight + .hours(3), runningSince: Self.eight + .hours(3), silences: [1_000: silence])
    let states = late.occurrences.sorted { $0.id.scheduledAt < $1.id.scheduledAt }.map(\.state)
    #expect(states == [.missed(.paused), .missed(.paused), .missed(.downtime), .fired])
    // A snooze that ends within it.
    var snoozed = Occurrence(
      id: OccurrenceID(reminder: normal.id, scheduledAt: Self.eight - .hours(1)), title: "Drink water", owner: 1_000,
      state: .snoozed(until: Self.eight), firedAt: Self.eight - .hours(1), rounds: 1)
    snoozed.repeatAt = nil
    let ended = Self.decide(normal, now: Self.eight, isRegular: false, occurrence: snoozed, silences: [1_000: silence])
    #expect(ended.occurrences.map(\.state) == [.missed(.paused)])
  }

  @Test func pausedTimesAreMissedAndTheScheduleContinues() throws {
    let until = Self.eight + .minutes(90)
    let reminder = try Self.reminder { $0.pause = .until(until) }
    #expect(Self.decide(reminder, now: Self.eight).occurrences.map(\.state) == [.missed(.paused)])
    let after = Self.decide(reminder, dueAt: Self.eight + .hours(2), now: Self.eight + .hours(2))
    #expect(after.occurrences.map(\.state) == [.fired])
    let forever = try Self.reminder { $0.pause = .indefinitely }
    let firing = Self.decide(forever, now: Self.eight)
    #expect(firing.occurrences.map(\.state) == [.missed(.paused)])
    #expect(firing.next == Self.eight + .hours(1))
    #expect(firing.deliveries.isEmpty)
  }

  @Test func skipsAreConsumedOneByOne() throws {
    let firing = Self.decide(try Self.reminder { $0.skipNext = 2 }, now: Self.eight)
    #expect(firing.occurrences.map(\.state) == [.missed(.skipped)])
    #expect(firing.skipNext == 1)
    let three = Self.decide(
      try Self.reminder { $0.skipNext = 2 }, now: Self.eight + .hours(2), runningSince: Self.eight + .hours(2))
    #expect(three.occurrences.filter { $0.state == .missed(.skipped) }.count == 2)
    #expect(three.occurrences.filter { $0.state == .fired }.map(\.id.scheduledAt) == [Self.eight + .hours(2)])
    #expect(three.skipNext == 0)
  }

  @Test func snoozeFiresTheSameOccurrenceAgain() throws {
    let reminder = try Self.reminder()
    let first = try #require(Self.decide(reminder, now: Self.eight).occurrences.first)
    let snoozed = try first.answered(.snooze(for: .minutes(10)), at: Self.eight + .minutes(1))
    #expect(snoozed.state == .snoozed(until: Self.eight + .minutes(11)))
    let again = Self.decide(
      reminder, dueAt: Self.eight + .minutes(11), now: Self.eight + .minutes(11), isRegular: false, occurrence: snoozed)
    #expect(!again.advances)
    #expect(again.occurrences.map(\.id) == [first.id])
    #expect(again.occurrences.map(\.rounds) == [2])
    #expect(again.occurrences.first?.firedAt == first.firedAt)
    #expect(again.deliveries.map(\.round) == [2])
  }

  /// A moved time fires once, for the first time, at its new time.
  @Test func movedTimeFiresOnceAtItsNewTime() throws {
    let reminder = try Self.reminder()
    let ten = Self.eight + .hours(2)
    let moved = Occurrence(
      id: OccurrenceID(reminder: reminder.id, scheduledAt: Self.eight), title: reminder.title, owner: reminder.owner,
      state: .snoozed(until: ten))
    let fired = Self.decide(reminder, dueAt: ten, now: ten, isRegular: false, occurrence: moved)
    let occurrence = try #require(fired.occurrences.first)
    #expect(occurrence.state == .fired && occurrence.firedAt == ten && occurrence.rounds == 1)
    #expect(fired.deliveries.map(\.round) == [1] && !fired.advances)
  }

  @Test func firedOccurrenceNeverFiresAgain() throws {
    let reminder = try Self.reminder()
    let first = try #require(Self.decide(reminder, now: Self.eight).occurrences.first)
    for known in [first, first.delivered(at: Self.eight), try first.answered(.done, at: Self.eight)] {
      let again = Self.decide(reminder, now: Self.eight + .seconds(5), occurrence: known)
      #expect(again.occurrences.isEmpty)
      #expect(again.deliveries.isEmpty)
      #expect(again.next == Self.eight + .hours(1))
    }
    // Nor does a regular time that recurs while its occurrence is snoozed: it advances, and the snooze stays.
    let snoozed = try first.answered(.snooze(for: .hours(3)), at: Self.eight)
    let again = Self.decide(reminder, now: Self.eight + .seconds(5), occurrence: snoozed)
    #expect(again.advances && again.occurrences.isEmpty && again.next == Self.eight + .hours(1))
    // A time missed because of a wrong clock may fire when it really comes.
    let missed = Occurrence(id: first.id, title: "Drink water", owner: 1_000, state: .missed(.suspend))
    #expect(Self.decide(reminder, now: Self.eight, occurrence: missed).occurrences.map(\.state) == [.fired])
  }
}
