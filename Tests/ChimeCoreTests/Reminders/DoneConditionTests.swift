import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Reminders that wait until another is done.
struct DoneConditionTests {
  /// A Thursday at noon.
  static let noon = Instant(seconds: 1_795_089_600)
  static let day = Milliseconds.days(1)

  private static func reminder(_ edit: (inout Reminder) -> Void = { _ in }) throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: "bbbb"), owner: 1, title: "Report", schedule: try Schedule(canonical: "daily at 12:00"),
      timezone: .named("UTC"), grace: .hours(3), onlyIfDone: ReminderID(rawValue: "aaaa"), createdAt: noon - day)
    edit(&reminder)
    return reminder
  }

  private static func decide(
    _ reminder: Reminder, _ scheduledAt: Instant = noon, dueAt: Instant? = nil, now: Instant, done: [Instant] = [],
    quiet: Quiet? = nil
  ) -> FiringResult {
    var generator = SeededGenerator(seed: 1)
    let due = DueReminder(reminder: reminder, scheduledAt: scheduledAt, dueAt: dueAt ?? scheduledAt)
    return FiringDecision(now: now, uptime: Uptime(runningSince: .earliest)).decide(
      due, timetable: reminder.timetable(in: .utc), quiet: quiet, condition: DoneCondition(done, zone: .utc),
      using: &generator)
  }

  @Test func completionOfTheDayLetsTheReminderFire() throws {
    let firing = Self.decide(try Self.reminder(), now: Self.noon, done: [Self.noon - .hours(3)])
    #expect(firing.occurrences.map(\.state) == [.fired])
    #expect(firing.occurrences.map(\.late) == [nil])
    #expect(firing.next == Self.noon + Self.day)
  }

  @Test func reminderWaitsForItsGrace() throws {
    let reminder = try Self.reminder()
    let held = Self.decide(reminder, now: Self.noon, done: [Self.noon - Self.day])
    #expect(held.occurrences.isEmpty)
    #expect((held.next, held.nextDueAt) == (Self.noon, Self.noon + .hours(3)))
    // The other is done within that time.
    let at = Self.noon + .hours(2)
    let fired = Self.decide(reminder, dueAt: at, now: at, done: [at])
    #expect(fired.occurrences.map(\.state) == [.fired])
    #expect(fired.occurrences.map(\.late) == [.waited])
    #expect(fired.next == Self.noon + Self.day)
    // Or it is not.
    let end = Self.noon + .hours(3)
    let missed = Self.decide(reminder, dueAt: end, now: end)
    #expect(missed.occurrences.map(\.state) == [.missed(.notDone)])
    #expect(missed.next == Self.noon + Self.day)
  }

  @Test func reminderWaitsNoLongerThanItsDay() throws {
    let reminder = try Self.reminder { $0.grace = .days(2) }
    #expect(Self.decide(reminder, now: Self.noon).nextDueAt == Self.noon + .hours(12))
    let tomorrow = Self.noon + .hours(12)
    // The other is done the next morning, which is another day.
    let missed = Self.decide(reminder, dueAt: tomorrow, now: tomorrow + .minutes(1), done: [tomorrow + .seconds(30)])
    #expect(missed.occurrences.map(\.state) == [.missed(.notDone)])
  }

  @Test func latestOfSeveralWaitingTimesFires() throws {
    let reminder = try Self.reminder { reminder in
      reminder.schedule = (try? Schedule(canonical: "every 1h from 12:00 to 20:00")) ?? reminder.schedule
    }
    let at = Self.noon + .minutes(130)
    let fired = Self.decide(reminder, dueAt: at, now: at, done: [at])
    #expect(fired.occurrences.filter { $0.state == .fired }.map(\.id.scheduledAt) == [Self.noon + .hours(2)])
    #expect(fired.occurrences.filter { $0.state == .missed(.notDone) }.count == 2)
    // The first has waited long enough; the later ones still wait.
    let end = Self.noon + .hours(3)
    let first = Self.decide(reminder, dueAt: end, now: end)
    #expect(first.occurrences.map(\.id.scheduledAt) == [Self.noon])
    #expect((first.next, first.nextDueAt) == (Self.noon + .hours(1), Self.noon + .hours(4)))
  }

  @Test func quietHoursHoldAWaitingReminder() throws {
    let reminder = try Self.reminder { $0.grace = .hours(9) }
    let hours = try QuietHours(["14:00-15:00"])
    let quiet = try #require(
      Quiet(of: reminder, QuietDefaults(hours: hours, handling: .hold), local: .utc, own: .utc))
    let at = Self.noon + .minutes(150)
    let held = Self.decide(reminder, dueAt: at, now: at, done: [at], quiet: quiet)
    #expect(held.occurrences.isEmpty && held.nextDueAt == Self.noon + .hours(3))
    let end = Self.noon + .hours(3)
    let fired = Self.decide(reminder, dueAt: end, now: end, done: [at], quiet: quiet)
    #expect(fired.occurrences.map(\.late) == [.quiet])
  }

  @Test func doneFiresAWaitingReminderAtOnce() async throws {
    let store = MemoryStore()
    let context = ReminderContext(zones: UTC())
    let id = ReminderID(rawValue: "aaaa")
    try await store.write { store in
      var first = try Self.reminder { $0.onlyIfDone = nil }
      (first.id, first.title) = (id, "Figures")
      try store.upsert(first, next: Self.noon)
      try store.upsert(try Self.reminder(), next: Self.noon)
    }
    func fire(_ now: Instant) async throws -> FireTransaction {
      try await store.write { transaction in
        var generator = SeededGenerator(seed: 1)
        return try FireTransaction.run(
          in: transaction, limit: 10, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
          uptime: Uptime(runningSince: .earliest), now: now, using: &generator)
      }
    }
    let fired = try await fire(Self.noon)
    #expect(fired.firings.flatMap(\.occurrences).map(\.id.reminder) == [id])
    #expect(try await store.read { try $0.wakeups().nextDue } == Self.noon + .hours(3))
    let at = Self.noon + .hours(1)
    try await store.write { transaction in
      var generator = SeededGenerator(seed: 1)
      let occurrence = try #require(
        try transaction.occurrence(OccurrenceID(reminder: id, scheduledAt: Self.noon)))
      _ = try AnswerTransaction.run(
        .done, to: occurrence, reminder: try transaction.reminder(id)?.reminder, in: transaction, context, now: at,
        using: &generator)
    }
    #expect(try await store.read { try $0.wakeups().nextDue } == at)
    let followed = try await fire(at)
    #expect(followed.firings.flatMap(\.occurrences).map(\.late) == [.waited])
    let audit = try await store.read { transaction in
      try ScheduleAudit.of(
        try transaction.versions(of: ReminderID(rawValue: "bbbb")), from: .earliest, before: at + .seconds(1),
        in: transaction, context, ScheduleContextLog(), now: at + .seconds(1))
    }
    #expect((audit.times, audit.late, audit.unexplained) == (1, [.waited: 1], 0))
  }

  /// In degraded mode, the machine may sleep between the question to the store and the decision.
  @Test func timeThatBecameDueAfterTheQuestionIsAskedAbout() async throws {
    let store = MemoryStore()
    let (context, policies) = (ReminderContext(zones: UTC()), DeliveryQueuePolicies())
    try await store.write { store in
      var first = try Self.reminder { $0.onlyIfDone = nil }
      first.id = ReminderID(rawValue: "aaaa")
      try store.upsert(first, next: nil)
      try store.upsert(try Self.reminder(), next: Self.noon)
    }
    var degradedMode = DegradedMode()
    var generator = SeededGenerator(seed: 1)
    func fire(askedAt: Instant, now: Instant) async throws -> DegradedMode.Work {
      let query = degradedMode.query(now: askedAt, limit: 10)
      let answer = try await store.read { try query.run(in: $0, context) }
      return degradedMode.fire(
        answer, policies, context, Uptime(runningSince: .earliest), now: now, using: &generator)
    }
    let held = try await fire(askedAt: Self.noon, now: Self.noon)
    #expect(held.firings.map(\.nextDueAt) == [Self.noon + .hours(3)])
    let awake = Self.noon + .minutes(190)
    let early = try await fire(askedAt: Self.noon + .minutes(179), now: awake)
    #expect(early.firings.isEmpty && early.messages.isEmpty)
    #expect(early.next == Self.noon + .hours(3))
    let missed = try await fire(askedAt: awake, now: awake)
    #expect(missed.firings.flatMap(\.occurrences).map(\.state) == [.missed(.notDone)])
    #expect(missed.next == Self.noon + Self.day)
  }

  /// A ping counts even if it was not awaited yet.
  @Test func successfulPingCountsAsDone() async throws {
    let store = MemoryStore()
    let (id, context) = (ReminderID(rawValue: "aaaa"), ReminderContext(zones: UTC()))
    let condition = try await store.write { store in
      var job = try Self.reminder { $0.onlyIfDone = nil }
      (job.id, job.within) = (id, .hours(1))
      try store.upsert(job, next: Self.noon)
      var generator = SeededGenerator(seed: 1)
      for (kind, at) in [(Ping.Kind.failed, Self.noon - .hours(9)), (.succeeded, Self.noon - .hours(2))] {
        _ = try PingTransaction.run(
          Ping(at: at, kind: kind, uid: 1), of: #require(try store.reminder(id)), in: store, context,
          uptime: Uptime(runningSince: .earliest), using: &generator)
      }
      return try DoneCondition.read(for: Self.reminder(), from: Self.noon, in: store, context)
    }
    #expect(condition?.done(onDayOf: Self.noon) == Self.noon - .hours(2))
    #expect(condition?.done(onDayOf: Self.noon + Self.day) == nil)
  }

  private struct UTC: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { name == "UTC" ? .utc : nil }
  }
}
