import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// A clock set forward and back by hand: each time has one record, and nothing waits for a wrong time.
struct ClockStepsTests {
  /// Ten minutes ahead and back: the missed times fire, and are in no run of missed times.
  @Test(arguments: [CatchUpRule.latest, .all, .skip])
  func tenMinutesAheadAndBackRecordEachTimeOnce(_ rule: CatchUpRule) async throws {
    var machine = Machine()
    try await machine.add("every 10s", catchUp: rule)
    try await machine.pass(.minutes(2))
    try await machine.set(by: .minutes(10))
    try await machine.pass(.minutes(3))
    try await machine.set(by: .minutes(-10))
    try await machine.pass(.minutes(20))
    try await machine.check()
    // Times before the corrected moment have passed for good.
    let right = Machine.begin + .minutes(5)
    let records = try await machine.records()
    #expect(records.allSatisfy { $0.missedRun.map { $0.through <= right } ?? true })
    #expect(records.filter { $0.id.scheduledAt > right }.allSatisfy { $0.firedAt != nil })
  }

  /// Back into the middle of a run: earlier times stay missed, and are counted.
  @Test func clockBackIntoAMissedRunKeepsEarlierTimesMissed() async throws {
    var machine = Machine()
    try await machine.add("every 10s", catchUp: .latest)
    try await machine.set(by: .hours(1))
    try await machine.set(by: .minutes(-20))
    let runs = try await machine.records().compactMap(\.missedRun)
    #expect(runs == [Occurrence.MissedRun(count: 240, through: Machine.begin + .minutes(40))])
    try await machine.pass(.minutes(30))
    try await machine.check()
  }

  /// Removed while the clock is ahead, and brought back after it: what is still to come has not been missed.
  @Test func reminderThatComesBackHasMissedNoTimesToCome() async throws {
    var machine = Machine()
    try await machine.add("every 10s", catchUp: .latest)
    try await machine.set(by: .hours(1))
    let removed = try #require(try await machine.remove())
    try await machine.set(by: .minutes(-20))
    try await machine.bringBack(removed)
    let runs = try await machine.records().compactMap(\.missedRun)
    #expect(runs == [Occurrence.MissedRun(count: 240, through: Machine.begin + .minutes(40))])
    try await machine.pass(.minutes(30))
    try await machine.check()
  }

  /// Ahead, back, and ahead again: an occurrence that fired the first time is in no missed run of the second.
  @Test func firedOccurrenceSplitsAMissedRun() async throws {
    var machine = Machine()
    try await machine.add("every 10s", catchUp: .latest)
    try await machine.set(by: .hours(1))
    try await machine.pass(.minutes(10))
    try await machine.set(by: .hours(-1))
    try await machine.set(by: .hours(2))
    try await machine.check()
    // The times passed when the clock was back, those before the ten minutes, and those after.
    let runs = try await machine.records().compactMap(\.missedRun)
    #expect(runs.count == 3, "\(runs)")
  }

  /// A downtime with more times than one decision evaluates gives one run with all missed times.
  @Test func longDowntimeIsOneMissedRun() async throws {
    var machine = Machine()
    try await machine.add("every 1s", catchUp: .latest)
    try await machine.set(by: .days(3))
    #expect(machine.decisions > 20)
    let records = try await machine.records()
    let runs = records.compactMap(\.missedRun)
    #expect(runs.count == 1)
    #expect(runs.first?.count == 3 * 86_400 - records.count { $0.firedAt != nil })
    #expect(machine.runsTold == 1)
    try await machine.check()
  }

  private static let texts = [
    "every 45m", "every 2h 5 times", "in 25m", "every 2h after done", "every 40m on mon,tue,wed,thu,fri,sat,sun",
  ]

  /// A reminder added or edited while the clock was a year ahead fires when it should.
  @Test(arguments: texts, [Milliseconds.days(365), .hours(30)])
  func reminderAddedWhileTheClockWasAheadFires(_ text: String, ahead: Milliseconds) async throws {
    var machine = Machine()
    try await machine.set(by: ahead)
    try await machine.add(text)
    let wait = try #require(try await machine.next()) - machine.wall
    try await machine.pass(.minutes(10))
    try await machine.set(by: .zero - ahead)
    let next = try #require(try await machine.next())
    #expect(next > machine.wall && next <= machine.wall + wait, "\(next)")
    let fired = machine.fired.count
    try await machine.pass(wait)
    #expect(machine.fired.count == fired + 1)
    try await machine.check()
  }

  /// Days are kept: tomorrow's time moves to the day after the present one, not to next year.
  @Test(arguments: ["tomorrow at 9:00", "every 3 days at 9:00", "RRULE:FREQ=DAILY;INTERVAL=2"])
  func daysAreKeptWhenTheClockGoesBackAYear(_ text: String) async throws {
    var machine = Machine()
    try await machine.set(by: .days(365))
    try await machine.add(text)
    let before = try #require(try await machine.next())
    try await machine.set(by: .days(-365))
    let next = try #require(try await machine.next())
    #expect(before - next == .days(365))
  }

  /// Absolute times stay, and finished schedules stay finished.
  @Test(arguments: ["at 2028-03-01 09:00", "every 45m starting 2028-01-01", "every 3 days at 9:00 starting 2028-01-01"])
  func absoluteTimesStay(_ text: String) async throws {
    var machine = Machine()
    try await machine.set(by: .days(365))
    try await machine.add(text)
    let before = try await machine.next()
    try await machine.set(by: .days(-365))
    #expect(try await machine.next() == before)
  }

  @Test func firedOneOffStaysFinished() async throws {
    var machine = Machine()
    try await machine.set(by: .days(365))
    try await machine.add("in 25m")
    try await machine.pass(.minutes(30))
    try await machine.set(by: .days(-365))
    #expect(try await machine.next() == nil)
    #expect(machine.fired.count == 1)
  }

  /// A limited number of times is kept, wherever the clock was at the start.
  @Test func limitedNumberOfTimesIsKept() async throws {
    var machine = Machine()
    try await machine.set(by: .days(365))
    try await machine.add("every 2h 5 times")
    try await machine.pass(.hours(5))
    #expect(machine.fired.count == 2)
    try await machine.set(by: .days(-365))
    try await machine.pass(.days(2))
    #expect(machine.fired.count == 5)
  }

  /// A clock far ahead removes the history of times that nobody has lived: they come once the clock is right.
  @Test func timesOverWhichTheClockJumpedComeWithoutTheirRecords() async throws {
    var machine = Machine()
    try await machine.add("RRULE:FREQ=DAILY;COUNT=400")
    try await machine.pass(.days(2))
    try await machine.set(by: .days(800))
    try await machine.removeHistory()
    // The machine is off for a weekend meanwhile.
    try await machine.set(by: .days(2))
    #expect(try await machine.next() == nil)
    try await machine.set(by: .days(-802))
    let next = try #require(try await machine.next())
    #expect(next > machine.wall && next <= machine.wall + .days(1), "\(next)")
  }

  /// What was added and has ended while the clock was ahead stays ended, also without its record.
  @Test func whatEndedAheadStaysEndedWithoutItsRecord() async throws {
    var machine = Machine()
    try await machine.set(by: .days(800))
    try await machine.add("in 25m")
    try await machine.pass(.hours(1))
    try await machine.removeHistory()
    try await machine.set(by: .days(-800))
    #expect(try await machine.next() == nil)
  }

  /// A clock that falls behind brings no time again whose record is gone.
  @Test func clockBehindBringsNoTimeWithoutRecordAgain() async throws {
    var machine = Machine()
    try await machine.add("RRULE:FREQ=DAILY;COUNT=10")
    try await machine.pass(.days(20))
    try await machine.removeHistory()
    try await machine.set(by: .days(-15))
    #expect(try await machine.next() == nil)
    try await machine.set(by: .days(15))
    #expect(machine.fired.count == 9)
  }

  /// A completion while the clock was ahead counts from the present.
  @Test func completionWhileTheClockWasAheadCountsFromNow() async throws {
    var machine = Machine()
    try await machine.add("every 2h after done")
    try await machine.set(by: .days(365))
    try await machine.done()
    try await machine.set(by: .days(-365))
    #expect(try await machine.next() == machine.wall + .hours(2))
  }

  /// A day back and a day forward: nothing is attributed to downtime, and times before the reminder's creation are not
  /// caught up one by one.
  @Test func dayBackAndForwardCausesNoDowntime() async throws {
    var machine = Machine()
    try await machine.add("cron: * * * * *", catchUp: .all)
    try await machine.pass(.minutes(5))
    try await machine.set(by: .days(-1))
    try await machine.pass(.minutes(3))
    let before = machine.fired.count
    try await machine.set(by: .days(1))
    let late = try await machine.records().filter { $0.late != nil }
    #expect(late.allSatisfy { $0.late == .suspend }, "\(late)")
    #expect(machine.fired.count - before <= 5)
    try await machine.check()
  }

  /// Random clock steps with several kinds of schedules: each time has one record, no time counted as missed fires, and
  /// with a correct clock each fires within its interval.
  @Test(arguments: 1...ProofTier.amount(quick: 15, proof: 500) as ClosedRange<UInt64>)
  func randomStepsRecordEachTimeOnce(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
    var machine = Machine()
    let kinds: [(String, Milliseconds)] = [
      ("every 10s", .seconds(10)), ("every 90s", .seconds(90)), ("cron: */5 * * * *", .minutes(5)),
      ("every 20m", .minutes(20)), ("every 30m from 0:00 to 23:59", .minutes(31)),
    ]
    let (text, interval) = pick(kinds)
    var ahead = Milliseconds.zero
    var isAdded = false
    for turn in 0..<Int.random(in: 3...9, using: &random) {
      if !isAdded, turn > 1 || Bool.random(using: &random) {
        try await machine.add(text, catchUp: pick([.latest, .all, .skip]))
        isAdded = true
      }
      let sizes: [Milliseconds] = [.seconds(90), .minutes(10), .minutes(47), .hours(3), .days(1)]
      let step = Bool.random(using: &random) ? pick(sizes) : .zero - pick(sizes)
      ahead = ahead + step
      try await machine.set(by: step)
      try await machine.pass(.seconds(Int64.random(in: 0...900, using: &random)))
      try await machine.check()
    }
    try await machine.set(by: .zero - ahead)
    try await machine.check()
    let fired = machine.fired.count
    // If the next times have already fired while the clock was ahead, they are not notified again.
    let from = machine.wall
    try await machine.pass(interval)
    let heard = try await machine.records().contains {
      $0.firedAt != nil && $0.id.scheduledAt > from && $0.id.scheduledAt <= machine.wall
    }
    #expect(machine.fired.count > fired || heard, "seed \(seed): \(text) never fires")
    try await machine.check()
  }
}

/// A store and a clock, with the daemon's reactions to clock steps.
private struct Machine {
  static let begin = Instant(seconds: 1_795_161_600)
  static let id = ReminderID(rawValue: "r1")

  let store = MemoryStore()
  let context = ReminderContext(zones: InUTC())
  var wall = begin
  var uptime = Uptime(runningSince: begin)
  var fired: [OccurrenceID] = []
  var decisions = 0
  /// The number of decisions that completed a downtime and recorded a run of missed times.
  var runsTold = 0
  private var random = SeededGenerator(seed: 7)

  mutating func add(_ text: String, catchUp: CatchUpRule = .latest) async throws {
    let now = wall
    let reminder = Reminder(
      id: Self.id, owner: 1, title: "Tea",
      schedule: try Schedule.parse(text, now: now, in: ScheduleContext(zone: .utc)),
      timezone: .named("UTC"), catchUp: CatchUp(suspend: catchUp, downtime: catchUp), grace: .days(3_660),
      createdAt: now)
    let next = context.timetable(of: reminder).next(after: now)
    try await store.write { try $0.upsert(reminder, next: next) }
  }

  func remove() async throws -> Reminder? {
    let now = wall
    return try await store.write { transaction in
      let reminder = try transaction.reminder(Self.id)?.reminder
      _ = try transaction.remove(Self.id, now: now)
      return reminder
    }
  }

  func bringBack(_ removed: Reminder) async throws {
    let (now, context) = (wall, context)
    try await store.write { transaction in
      var reminder = removed
      reminder.generation += 1
      let next = try reminder.nextUnfired(after: now, in: transaction, context)
      try Recompute.bringBack(reminder, next: next, in: transaction, context, now: now)
    }
  }

  mutating func done() async throws {
    let (now, context) = (wall, context)
    try await store.write { transaction in
      guard var reminder = try transaction.reminder(Self.id)?.reminder else { return }
      reminder.lastDone = now
      reminder.generation += 1
      try transaction.upsert(reminder, next: context.timetable(of: reminder).next(after: now))
    }
  }

  /// Advances time, firing what becomes due.
  mutating func pass(_ span: Milliseconds) async throws {
    let end = wall + span
    while let due = try await store.read({ try $0.wakeups() }).nextDue, due <= end {
      wall = max(wall, due)
      try await fire()
    }
    wall = end
  }

  /// Sets the clock.
  mutating func set(by step: Milliseconds) async throws {
    wall = wall + step
    if step < .zero { uptime.clockWentBack(to: wall) }
    if step > .zero {
      let (now, before) = (wall, wall - step)
      try await store.write { try Recompute.rememberClock(in: $0, after: before, now: now) }
    }
    if step < .seconds(-1) {
      let (now, context) = (wall, context)
      try await store.write { try Recompute.reschedule(Self.id, in: $0, context, now: now, wentBack: true) }
    }
    try await fire()
  }

  /// Removes all history before the present.
  mutating func removeHistory() async throws {
    let now = wall
    try await store.write { transaction in
      _ = try transaction.prune(HistoryEdge(oldest: now), past: nil, limit: 10_000)
      try ScheduleAudit.forget(before: now, in: transaction)
    }
  }

  private mutating func fire() async throws {
    let (now, context, uptime) = (wall, context, uptime)
    while true {
      let before = random
      let (work, after) = try await store.write { transaction in
        var generator = before
        let work = try FireTransaction.run(
          in: transaction, limit: 50, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
          uptime: uptime, now: now, using: &generator)
        return (work, generator)
      }
      random = after
      if work.isEmpty { return }
      decisions += work.firings.count
      runsTold += work.firings.count { !$0.remainsBehind && $0.occurrences.contains { $0.missedRun != nil } }
      fired += work.firings.flatMap(\.deliveries).map(\.occurrence)
    }
  }

  func next() async throws -> Instant? { try await store.read { try $0.reminder(Self.id)?.next } }

  func records() async throws -> [Occurrence] {
    try await store.read { try $0.allOccurrences(OccurrenceFilter(reminder: Self.id)).reversed() }
  }

  /// Checks that nothing fired twice, no time is both in a run and recorded singly, and runs have correct counts.
  func check() async throws {
    #expect(Set(fired).count == fired.count, "a time was notified twice")
    let records = try await records()
    #expect(fired.allSatisfy { id in records.contains { $0.id == id && $0.firedAt != nil } })
    guard let reminder = try await store.read({ try $0.reminder(Self.id)?.reminder }) else { return }
    let timetable = context.timetable(of: reminder)
    for (place, one) in records.enumerated() {
      guard let through = one.missedRun?.through else { continue }
      for other in records[(place + 1)...].prefix(while: { $0.id.scheduledAt <= through }) {
        // Rescheduled intervals have other times than before.
        let isTime = timetable.next(after: other.id.scheduledAt - .milliseconds(1)) == other.id.scheduledAt
        #expect(!isTime, "\(one.id) runs to \(through), and counts \(other.id)")
      }
    }
    for record in records {
      guard let run = record.missedRun, reminder.schedule.countsFrom.map({ $0 <= record.id.scheduledAt }) ?? true
      else { continue }
      var (count, time) = (1, record.id.scheduledAt)
      while let next = timetable.next(after: time), next <= run.through { (count, time) = (count + 1, next) }
      #expect(run.count == count && run.through == time, "\(record)")
    }
  }
}
