import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Expectations with a clock that the test moves: what is notified, and what is not.
struct ExpectationTests {
  /// 2026-11-20 08:00 UTC.
  private static let begin = Instant(seconds: 1_795_161_600)
  private static let id = ReminderID(rawValue: "r7k2")

  /// A store with one expectation, and a daemon that runs since `begin`.
  private final class Scenario {
    let store = MemoryStore()
    private var random = SeededGenerator(seed: 11)
    private(set) var runningSince = ExpectationTests.begin

    init(_ schedule: String, within: Milliseconds = .hours(1), _ edit: (inout Reminder) -> Void = { _ in }) async throws
    {
      var reminder = Reminder(
        id: ExpectationTests.id, owner: 1_000, title: "backup",
        schedule: try Schedule.parse(schedule, now: ExpectationTests.begin, zone: .utc), urgency: .critical,
        within: within, createdAt: ExpectationTests.begin)
      edit(&reminder)
      let next = reminder.timetable(in: .utc).next(after: ExpectationTests.begin)
      try await store.write { [reminder] in try $0.upsert(reminder, next: next) }
    }

    func after(_ length: Milliseconds) -> Instant { ExpectationTests.begin + length }

    func restart(at length: Milliseconds) { runningSince = after(length) }

    /// Evaluates due reminders; returns the notifications.
    @discardableResult
    func evaluate(at length: Milliseconds) async throws -> [String] {
      let (now, since) = (after(length), runningSince)
      var random = random
      defer { self.random = random }
      let (firings, drawn) = try await store.write { [random] transaction in
        var random = random
        var firings: [FiringResult] = []
        while true {
          let work = try FireTransaction.run(
            in: transaction, limit: 50, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()),
            context: ReminderContext(zones: InUTC()),
            uptime: Uptime(runningSince: since), now: now, using: &random)
          if work.isEmpty { return (firings, random) }
          firings += work.firings
        }
      }
      random = drawn
      return firings.flatMap { firing in
        firing.occurrences.filter { one in firing.deliveries.contains { $0.occurrence == one.id } }.map(\.title)
      }
    }

    @discardableResult
    func ping(
      _ kind: Ping.Kind = .succeeded, at length: Milliseconds, status: Int? = nil, output: String? = nil
    ) async throws -> PingTransaction {
      let (now, since) = (after(length), runningSince)
      return try await store.write { transaction in
        var random = SeededGenerator(seed: UInt64(bitPattern: now.milliseconds))
        guard let record = try transaction.reminder(ExpectationTests.id) else { throw StoreFailure.readOnly }
        return try PingTransaction.run(
          Ping(at: now, kind: kind, uid: 1_000, status: status, output: output), of: record, in: transaction,
          ReminderContext(zones: InUTC()), uptime: Uptime(runningSince: since), using: &random)
      }
    }

    func goBack(to length: Milliseconds) async throws {
      let now = after(length)
      try await store.write {
        try Recompute.reschedule(ExpectationTests.id, in: $0, ReminderContext(zones: InUTC()), now: now, wentBack: true)
      }
    }

    /// The states of its occurrences, oldest first.
    var states: [Occurrence.State] {
      get async throws {
        try await store.read {
          try $0.occurrences(OccurrenceFilter(reminder: ExpectationTests.id), page: Page()).reversed().map(\.state)
        }
      }
    }

    /// The bodies of the pending messages.
    var bodies: [String] {
      get async throws {
        let now = after(.days(9))
        return try await store.write { transaction in
          try ClaimedMessage.claim(
            DeliveryQueue(owner: 1_000, channel: .desktop), limit: 9, in: transaction, DeliveryQueuePolicies(),
            ReminderContext(zones: InUTC()), now: now
          ).map { "\($0.message.title): \($0.message.body ?? "")" }
        }
      }
    }
  }

  @Test func pingInTimeNotifiesNobody() async throws {
    let scenario = try await Scenario("daily at 9:00")
    #expect(try await scenario.evaluate(at: .hours(1)) == [])
    #expect(try await scenario.states == [.awaited(until: scenario.after(.hours(2)))])
    let work = try await scenario.ping(at: .minutes(90))
    #expect(work.wasDown == nil && work.notice == nil && work.fired == nil)
    #expect(work.closed.map(\.occurrence.state) == [.done])
    #expect(try await scenario.evaluate(at: .hours(3)) == [])
    #expect(try await scenario.states == [.done])
    #expect(try await scenario.store.read { try $0.reminder(Self.id)?.next } == scenario.after(.hours(25)))
  }

  /// The time has come, but is not evaluated yet.
  @Test func pingAtTheDueMomentClosesTheTime() async throws {
    let scenario = try await Scenario("daily at 9:00")
    #expect(try await scenario.ping(at: .hours(1) + .milliseconds(3)).closed.map(\.occurrence.state) == [.done])
    #expect(try await scenario.evaluate(at: .hours(3)) == [])
    #expect(try await scenario.states == [.done])
    let failed = try await Scenario("daily at 9:00")
    #expect(try await failed.ping(.failed, at: .hours(1)).fired?.id.scheduledAt == failed.after(.hours(1)))
    #expect(try await failed.evaluate(at: .hours(3)) == [], "it is reported once")
    let late = try await Scenario("daily at 9:00")
    late.restart(at: .hours(5))
    #expect(try await late.ping(at: .hours(5)).closed.count == 1, "after a time down")
    #expect(try await late.evaluate(at: .hours(7)) == [])
  }

  /// Jitter does not delay expectations: their jobs ping on time.
  @Test func jitterDelaysNoExpectation() async throws {
    let scenario = try await Scenario("daily at 9:00") { $0.jitter = .hours(10) }
    #expect(try await scenario.evaluate(at: .hours(1)) == [])
    #expect(try await scenario.ping(at: .minutes(61)).closed.count == 1)
    #expect(try await scenario.evaluate(at: .hours(20)) == [])
  }

  @Test func pingBeforeItsTimeClosesNothing() async throws {
    let scenario = try await Scenario("daily at 9:00")
    #expect(try await scenario.ping(at: .minutes(30)).closed.isEmpty)
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.evaluate(at: .hours(2)) == ["backup: no ping"])
  }

  @Test func missingPingIsReportedAndTheNextOneReportsRecovery() async throws {
    let scenario = try await Scenario("daily at 9:00") { $0.nag = Nag(every: .minutes(10), max: 2) }
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.evaluate(at: .hours(2) - .milliseconds(1)) == [])
    #expect(try await scenario.evaluate(at: .hours(2)) == ["backup: no ping"])
    #expect(
      try await scenario.bodies == [
        "backup: no ping: A ping was expected from 2026-11-20 09:00 on. No ping has come yet."
      ])
    // It repeats like a reminder.
    #expect(try await scenario.evaluate(at: .hours(2) + .minutes(10)) == ["backup: no ping"])
    let work = try await scenario.ping(at: .hours(5) + .seconds(20))
    #expect(work.wasDown == .hours(3) + .seconds(20))
    #expect(work.notice?.title == "backup is up again")
    #expect(try await scenario.states == [.done])
    #expect(try await scenario.evaluate(at: .hours(6)) == [])
    #expect(try await scenario.bodies.last == "backup is up again: It was down for 3h.")
    // It is notified once.
    #expect(try await scenario.ping(at: .hours(6)).notice == nil)
  }

  /// An answer to the alarm does not repair the job.
  @Test(arguments: [Occurrence.Answer.dismiss, .snooze(for: .hours(9))])
  func expectationIsDownUntilASuccessfulPing(_ answer: Occurrence.Answer) async throws {
    let scenario = try await Scenario("daily at 9:00")
    try await scenario.evaluate(at: .hours(1))
    try await scenario.evaluate(at: .hours(2))
    let now = scenario.after(.hours(3))
    try await scenario.store.write { transaction in
      var random = SeededGenerator(seed: 3)
      let open = try transaction.occurrences(OccurrenceFilter(openOnly: true), page: Page())
      _ = try AnswerTransaction.run(
        answer, to: open[0], reminder: transaction.reminder(Self.id)?.reminder, in: transaction,
        ReminderContext(zones: InUTC()), now: now, using: &random)
    }
    #expect(try await scenario.ping(at: .hours(4)).wasDown == .hours(2))
    #expect(try await scenario.evaluate(at: .hours(20)) == [])
  }

  /// The clock went half a year ahead and back, and all times of it are awaited.
  @Test func expectationIsDownHoweverManyTimesAreAwaited() async throws {
    let scenario = try await Scenario("daily at 9:00") { $0.catchUp.suspend = .all }
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.evaluate(at: .hours(2)) == ["backup: no ping"])
    try await scenario.evaluate(at: .days(150))
    let work = try await scenario.ping(at: .hours(5))
    #expect(work.wasDown == .hours(3) && work.notice != nil)
  }

  @Test func failureIsReportedAtOnceAndOnce() async throws {
    let scenario = try await Scenario("daily at 9:00")
    try await scenario.evaluate(at: .hours(1))
    let first = try await scenario.ping(.failed, at: .minutes(70), status: 3, output: "no space left")
    #expect(first.fired?.title == "backup failed")
    #expect(try await scenario.bodies == ["backup failed: The run ended with status 3.\nno space left"])
    #expect(try await scenario.evaluate(at: .hours(2)) == [], "its time is closed by the failure")
    #expect(try await scenario.ping(.failed, at: .hours(3)).fired == nil, "that it still fails is known")
    #expect(try await scenario.ping(at: .hours(4)).wasDown == .hours(3) - .minutes(10))
    #expect(try await scenario.ping(.failed, at: .hours(5)).fired?.title == "backup failed", "it fails again")
    #expect(try await scenario.states == [.done, .fired])
  }

  @Test func tooLongRunIsReported() async throws {
    let scenario = try await Scenario("daily at 9:00")
    try await scenario.evaluate(at: .hours(1))
    try await scenario.ping(.started, at: .minutes(90))
    #expect(try await scenario.evaluate(at: .hours(2)) == [], "it has begun in time")
    #expect(try await scenario.evaluate(at: .minutes(150)) == ["backup takes too long"])
    #expect(
      try await scenario.bodies
        == ["backup takes too long: The run began at 2026-11-20 09:30 and has not ended."])
    #expect(try await scenario.ping(at: .hours(4)).wasDown == .minutes(90))
  }

  @Test func manualRunHasATimeLimitToo() async throws {
    let scenario = try await Scenario("daily at 9:00")
    try await scenario.ping(.started, at: .minutes(5))
    #expect(try await scenario.evaluate(at: .minutes(65)) == ["backup takes too long"])
    #expect(try await scenario.ping(at: .minutes(66)).closed.count == 2, "the run, and the time that came in it")
    #expect(try await scenario.evaluate(at: .hours(9)) == [])
    let again = try await Scenario("daily at 9:00")
    try await again.ping(.started, at: .minutes(5))
    try await again.evaluate(at: .hours(1))
    try await again.ping(.started, at: .minutes(62))
    #expect(try await again.evaluate(at: .minutes(121)) == [], "it has started over")
    #expect(try await again.evaluate(at: .minutes(122)) == ["backup takes too long"])
  }

  @Test func intervalCountsFromTheLastPing() async throws {
    let scenario = try await Scenario("every 2h after done", within: .minutes(10))
    try await scenario.ping(at: .hours(1))
    try await scenario.ping(at: .minutes(170))
    #expect(try await scenario.evaluate(at: .minutes(289)) == [])
    #expect(try await scenario.states == [])
    try await scenario.evaluate(at: .minutes(290))
    #expect(try await scenario.evaluate(at: .minutes(300)) == ["backup: no ping"])
    try await scenario.ping(at: .hours(6))
    #expect(try await scenario.store.read { try $0.reminder(Self.id)?.next } == scenario.after(.hours(8)))
  }

  /// No ping could arrive during downtime: the deadline starts anew after it.
  @Test(arguments: [false, true])
  func downtimeRestartsTheDeadline(_ hadBegun: Bool) async throws {
    let scenario = try await Scenario("daily at 9:00")
    if hadBegun { try await scenario.evaluate(at: .hours(1)) }
    scenario.restart(at: .hours(5))
    #expect(try await scenario.evaluate(at: .hours(5)) == [])
    #expect(try await scenario.states == [.awaited(until: scenario.after(.hours(6)))])
    #expect(try await scenario.evaluate(at: .hours(6)) == ["backup: no ping"])
  }

  /// A job without a daemon could not ping, however short the downtime.
  @Test func shortDowntimeRestartsTheDeadlineToo() async throws {
    let ended = try await Scenario("daily at 9:00", within: .seconds(30))
    try await ended.evaluate(at: .hours(1))
    ended.restart(at: .hours(1) + .seconds(40))
    #expect(try await ended.evaluate(at: .hours(1) + .seconds(40)) == [])
    #expect(try await ended.evaluate(at: .hours(1) + .seconds(70)) == ["backup: no ping"])
    let begun = try await Scenario("daily at 9:00", within: .seconds(30))
    begun.restart(at: .hours(1) + .seconds(40))
    #expect(try await begun.evaluate(at: .hours(1) + .seconds(40)) == [])
    #expect(try await begun.states == [.awaited(until: begun.after(.hours(1) + .seconds(70)))])
  }

  /// Times during a weekend of downtime are still awaited.
  @Test func longDowntimeKeepsTimesAwaited() async throws {
    let scenario = try await Scenario("fri at 9:00")
    scenario.restart(at: .days(3))
    try await scenario.evaluate(at: .days(3))
    #expect(try await scenario.evaluate(at: .days(3) + .hours(1)) == ["backup: no ping"])
  }

  @Test func pausedExpectationAwaitsNothing() async throws {
    let scenario = try await Scenario("daily at 9:00") { $0.pause = .until(Self.begin + .hours(3)) }
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.evaluate(at: .hours(4)) == [])
    #expect(try await scenario.states == [.missed(.paused)])
    let paused = try await Scenario("daily at 9:00") { $0.pause = .indefinitely }
    #expect(try await paused.ping(.failed, at: .hours(1)).fired == nil)
    try await paused.ping(.started, at: .hours(2))
    #expect(try await paused.evaluate(at: .hours(9)) == [])
  }

  @Test func quietHoursHoldTheNotificationAndNotTheDeadline() async throws {
    let hours = try QuietHours(["08:30-12:00"])
    let scenario = try await Scenario("daily at 9:00") {
      ($0.urgency, $0.quiet) = (.normal, QuietRule(hours: hours, handling: .hold))
    }
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.states == [.awaited(until: scenario.after(.hours(2)))])
    #expect(try await scenario.evaluate(at: .hours(2)) == [])
    #expect(try await scenario.evaluate(at: .hours(4)) == ["backup: no ping"])
    #expect(try await scenario.ping(at: .hours(5)).wasDown == .hours(1))

    let failing = try await Scenario("daily at 9:00") {
      ($0.urgency, $0.quiet) = (.normal, QuietRule(hours: hours, handling: .hold))
    }
    try await failing.evaluate(at: .hours(1))
    #expect(try await failing.ping(.failed, at: .minutes(80)).fired == nil)
    #expect(try await failing.evaluate(at: .hours(4)) == ["backup failed"])
  }

  /// The notification and the start of the run are then in the future.
  @Test func clockSetBackKeepsTheStateOfAnExpectation() async throws {
    let scenario = try await Scenario("daily at 9:00")
    try await scenario.evaluate(at: .hours(1))
    #expect(try await scenario.evaluate(at: .hours(2)) == ["backup: no ping"])
    #expect(try await scenario.ping(at: .minutes(5)).wasDown == .zero)
    #expect(try await scenario.ping(at: .minutes(6)).wasDown == nil)
    try await scenario.ping(.started, at: .hours(9))
    #expect(try await scenario.ping(at: .minutes(7)).closed.count == 1)
    #expect(try await scenario.evaluate(at: .hours(12)) == [])
  }

  /// While the clock was two days ahead, the deadline and the time of that day moved there.
  @Test func missingPingIsReportedOnTimeAfterAClockAhead() async throws {
    for isPinged in [false, true] {
      let scenario = try await Scenario("daily at 9:00")
      try await scenario.evaluate(at: .hours(1))
      try await scenario.evaluate(at: .days(2) + .hours(1))
      try await scenario.goBack(to: .minutes(90))
      let ahead = Occurrence.State.awaited(until: scenario.after(.days(2) + .hours(2)))
      #expect(try await scenario.states.first == .awaited(until: scenario.after(.minutes(150))))
      #expect(try await scenario.states.last == ahead)
      if isPinged {
        #expect(
          try await scenario.ping(at: .minutes(100)).closed.map(\.occurrence.id.scheduledAt) == [
            scenario.after(.hours(1))
          ])
        #expect(try await scenario.states.last == ahead, "it is for what has come")
      }
      #expect(try await scenario.evaluate(at: .minutes(150)) == (isPinged ? [] : ["backup: no ping"]))
    }
  }

  /// Followers count from missing and successful pings, awaited or not.
  @Test func followersCountFromPings() async throws {
    let scenario = try await Scenario("daily at 9:00")
    let (missed, done) = (ReminderID(rawValue: "miss"), ReminderID(rawValue: "done"))
    try await scenario.store.write { transaction in
      for (id, text) in [(missed, "after missed of r7k2"), (done, "after done of r7k2")] {
        try transaction.upsert(
          Reminder(
            id: id, owner: 1_000, title: id.rawValue, schedule: try Schedule(canonical: text), createdAt: Self.begin),
          next: nil)
      }
    }
    func next(_ id: ReminderID) async throws -> Instant? { try await scenario.store.read { try $0.reminder(id)?.next } }
    try await scenario.evaluate(at: .hours(1))
    #expect(try await next(missed) == nil)
    #expect(try await scenario.evaluate(at: .hours(2)) == ["backup: no ping", "miss"])
    try await scenario.ping(at: .hours(3))
    #expect(try await next(done) == scenario.after(.hours(3)))
    #expect(try await scenario.evaluate(at: .hours(3)) == ["done"])
    try await scenario.ping(at: .hours(4))
    #expect(try await scenario.evaluate(at: .hours(4)) == ["done"], "nothing was awaited")
    #expect(try await scenario.ping(.failed, at: .hours(5)).chained.map(\.after.id) == [missed])
  }

  /// A second failure in the same second is not lost.
  @Test func twoFailuresInOneSecondAreBothRecorded() async throws {
    let scenario = try await Scenario("daily at 9:00")
    #expect(try await scenario.ping(.failed, at: .minutes(5)).fired != nil)
    try await scenario.ping(at: .minutes(5) + .milliseconds(200))
    #expect(try await scenario.ping(.failed, at: .minutes(5) + .milliseconds(400)).fired != nil)
    // The later one is recorded a second earlier: never in the future, which could be a scheduled time.
    #expect(try await scenario.states == [.fired, .done])
  }
}
