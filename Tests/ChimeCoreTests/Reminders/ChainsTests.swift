import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Reminders that follow another.
struct ChainsTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let context = ReminderContext(zones: UTCZones())

  static func reminder(_ id: String, _ when: String, owner: UInt32 = 1) throws -> Reminder {
    Reminder(
      id: ReminderID(rawValue: id), owner: owner, title: "Title of \(id)",
      schedule: try Schedule.parse(when, now: now, in: ScheduleContext(zone: .utc)), timezone: .named("UTC"),
      createdAt: now)
  }

  /// Returns a store in which a reminder has fired, and others follow it.
  private func store(_ followers: [String], first: String = "every 1h") async throws -> MemoryStore {
    let store = MemoryStore()
    try await store.write { store in
      try store.upsert(try Self.reminder("aaaa", first), next: Self.now)
      for (index, when) in followers.enumerated() {
        try store.upsert(try Self.reminder("bbb\(index)", when), next: nil)
      }
    }
    try await fire(store, at: Self.now)
    return store
  }

  @discardableResult
  private func fire(
    _ store: MemoryStore, at now: Instant, uptime: Uptime = Uptime(runningSince: .earliest)
  ) async throws -> FireTransaction {
    try await store.write { transaction in
      var generator = SeededGenerator(seed: UInt64(now.milliseconds))
      return try FireTransaction.run(
        in: transaction, limit: 100, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()),
        context: Self.context,
        uptime: uptime, now: now,
        using: &generator)
    }
  }

  private func done(_ store: MemoryStore, _ time: Instant, at now: Instant) async throws -> AnswerTransaction {
    try await store.write { transaction in
      var generator = SeededGenerator(seed: UInt64(now.milliseconds))
      let id = OccurrenceID(reminder: ReminderID(rawValue: "aaaa"), scheduledAt: time)
      let occurrence = try #require(try transaction.occurrence(id))
      let reminder = try transaction.readableReminder(id.reminder)?.reminder
      return try AnswerTransaction.run(
        .done, to: occurrence, reminder: reminder, in: transaction, Self.context, now: now, using: &generator)
    }
  }

  private func times(_ store: MemoryStore, _ id: String) async throws -> (next: Instant?, fired: [Instant]) {
    try await store.read { transaction in
      let id = ReminderID(rawValue: id)
      let fired = try transaction.occurrences(OccurrenceFilter(reminder: id), page: Page())
      return (try transaction.reminder(id)?.next, fired.map(\.id.scheduledAt).reversed())
    }
  }

  @Test func doneSchedulesFollowersAtOnceAndLater() async throws {
    let store = try await store(["after done of aaaa", "30m after done of aaaa", "after missed of aaaa"])
    let work = try await done(store, Self.now, at: Self.now + .milliseconds(1_500))
    #expect(work.chained.map(\.after.id.rawValue) == ["bbb0", "bbb1"])
    #expect(try await times(store, "bbb0").next == Self.now + .seconds(2), "never early")
    #expect(try await times(store, "bbb1").next == Self.now + .seconds(2) + .minutes(30))
    #expect(try await times(store, "bbb2").next == nil)
    // The same answer again, by a racing button.
    #expect(try await done(store, Self.now, at: Self.now + .seconds(9)).chained.isEmpty)
    let fired = try await fire(store, at: Self.now + .seconds(2))
    #expect(fired.firings.map(\.due.reminder.id.rawValue) == ["bbb0"])
    #expect(try await times(store, "bbb0").next == nil)
    #expect(try await times(store, "bbb0").fired == [Self.now + .seconds(2)])
  }

  @Test func eachCompletionSchedulesTheFollower() async throws {
    let store = try await store(["2h after done of aaaa"])
    try await fire(store, at: Self.now + .hours(1))
    _ = try await done(store, Self.now, at: Self.now + .minutes(61))
    _ = try await done(store, Self.now + .hours(1), at: Self.now + .minutes(90))
    #expect(try await times(store, "bbb0").next == Self.now + .minutes(181))
    try await fire(store, at: Self.now + .minutes(181))
    #expect(try await times(store, "bbb0").next == Self.now + .minutes(210))
    try await fire(store, at: Self.now + .minutes(210))
    #expect(try await times(store, "bbb0").fired == [Self.now + .minutes(181), Self.now + .minutes(210)])
    #expect(try await times(store, "bbb0").next == nil)
  }

  @Test func missedRunSchedulesTheFollowerOnce() async throws {
    let store = try await store(["5m after missed of aaaa", "after done of aaaa"], first: "every 1m")
    let back = Self.now + .days(2)
    let work = try await fire(store, at: back, uptime: Uptime(runningSince: back))
    #expect(work.chained.map(\.after.id.rawValue) == ["bbb0"])
    #expect(try await times(store, "bbb0").next == back + .minutes(5))
  }

  /// Reminders that count from one event of another and wait until it is done as well.
  @Test func reminderThatFollowsAndWaitsCountsFromItsOwnEventAlone() async throws {
    let store = try await store(["5m after done of aaaa", "5m after missed of aaaa"], first: "every 1h")
    try await store.write { transaction in
      for id in ["bbb0", "bbb1"] {
        var record = try #require(try transaction.readableReminder(ReminderID(rawValue: id)))
        (record.reminder.onlyIfDone, record.reminder.generation) = (ReminderID(rawValue: "aaaa"), 1)
        try transaction.upsert(record.reminder, next: nil, since: Self.now)
      }
    }
    let back = Self.now + .days(2)
    let missed = try await fire(store, at: back, uptime: Uptime(runningSince: back))
    #expect(missed.chained.map(\.after.id.rawValue) == ["bbb1"])
    #expect(try await times(store, "bbb0").next == nil)
    let answered = try await done(store, Self.now, at: back + .hours(1))
    #expect(answered.chained.map(\.after.id.rawValue) == ["bbb0"])
    #expect(try await times(store, "bbb1").next == back + .minutes(5))
  }

  @Test func missedTimeMayStillBeDone() async throws {
    let store = try await store(["5m after missed of aaaa", "after done of aaaa"], first: "every 1h")
    let back = Self.now + .days(2)
    try await fire(store, at: back, uptime: Uptime(runningSince: back))
    _ = try await done(store, Self.now + .hours(1), at: back + .seconds(1))
    #expect(try await times(store, "bbb1").next == back + .seconds(1))
  }

  @Test func pausedTimeSchedulesNoFollowerOfMissed() async throws {
    let store = try await store(["after missed of aaaa"])
    try await store.write { transaction in
      guard var reminder = try transaction.reminder(ReminderID(rawValue: "aaaa"))?.reminder else { return }
      (reminder.pause, reminder.generation) = (.indefinitely, 1)
      try transaction.upsert(reminder, next: Self.now + .hours(1))
    }
    #expect(try await fire(store, at: Self.now + .hours(1)).chained.isEmpty)
  }

  @Test func tooManyChainedTimesAreRecordedAsMissed() async throws {
    let store = try await store(["360d after done of aaaa"])
    let id = ReminderID(rawValue: "bbb0")
    try await store.write { transaction in
      for second in 0..<Int64(Chains.mostWaiting + 2) {
        let end = Chains.End(
          of: ReminderID(rawValue: "aaaa"), owner: 1, .done, at: Self.now + .seconds(second))
        try Chains.follow([end], in: transaction, now: Self.now)
      }
      #expect(try transaction.reminder(id)?.reminder.chainedTimes?.count == Chains.mostWaiting)
      let missed = try transaction.occurrences(OccurrenceFilter(reminder: id), page: Page())
      #expect(missed.map(\.state) == [.missed(.overCap), .missed(.overCap)])
    }
  }

  @Test func anotherOwnersReminderIsNotFollowed() async throws {
    let store = try await store([])
    try await store.write { try $0.upsert(try Self.reminder("cccc", "after done of aaaa", owner: 2), next: nil) }
    #expect(try await done(store, Self.now, at: Self.now).chained.isEmpty)
  }

  @Test func cycleIsReported() async throws {
    let store = try await store(["after done of aaaa", "after done of bbb0"])
    try await store.read { transaction in
      let first = try Self.reminder("aaaa", "every 1h")
      func path(_ id: String) throws -> [String]? {
        try Chains.cycle(of: first, through: [ReminderID(rawValue: id)], in: transaction)
      }
      #expect(try path("bbb1") == ["Title of aaaa", "Title of bbb1", "Title of bbb0", "Title of aaaa"])
      #expect(try path("aaaa") == ["Title of aaaa", "Title of aaaa"])
      #expect(try path("cccc") == nil)
    }
  }

  @Test func auditKnowsChainedTimes() async throws {
    let store = try await store(["30m after done of aaaa"])
    _ = try await done(store, Self.now, at: Self.now)
    let end = Self.now + .hours(2)
    func audit(_ now: Instant) async throws -> ScheduleAudit {
      try await store.read { transaction in
        try ScheduleAudit.of(
          try transaction.versions(of: ReminderID(rawValue: "bbb0")), from: .earliest, before: end, in: transaction,
          Self.context, ScheduleContextLog(), now: now)
      }
    }
    #expect(try await audit(end).unexplained == 1, "nobody has fired it")
    try await fire(store, at: Self.now + .minutes(30))
    let found = try await audit(end)
    #expect((found.times, found.onTime, found.unexplained, found.unknown) == (1, 1, 0, nil))
  }

  /// In degraded mode, the time also counts from the answer, fires, and is recorded once.
  @Test func chainWorksInDegradedMode() async throws {
    let store = try await store(["1m after done of aaaa"])
    var degradedMode = DegradedMode()
    var generator = SeededGenerator(seed: 1)
    let id = OccurrenceID(reminder: ReminderID(rawValue: "aaaa"), scheduledAt: Self.now)
    let (occurrence, reminder, followers) = try await store.read { transaction in
      (
        try #require(try transaction.occurrence(id)), try transaction.reminder(id.reminder)?.reminder,
        try Chains.followers(of: id.reminder, of: 1, .done, in: transaction)
      )
    }
    let answer = OutboxTransaction.Answer(answer: .done, occurrence: id)
    _ = try degradedMode.answer(answer, occurrence, reminder, followers: followers, Self.context, now: Self.now)
    let due = Self.now + .minutes(1)
    let look = degradedMode.query(now: due, limit: 10)
    let seen = try await store.read { try look.run(in: $0, Self.context) }
    let work = degradedMode.fire(
      seen, DeliveryQueuePolicies(), Self.context, Uptime(runningSince: .earliest), now: due, using: &generator)
    #expect(work.firings.map(\.due.reminder.id.rawValue) == ["bbb0"])
    let part = degradedMode.part()
    let commit = try await store.write { transaction in
      var generator = SeededGenerator(seed: 2)
      return try DegradedModeCommit.run(
        part, in: transaction, DeliveryQueuePolicies(), seenFailing: [:], Self.context, now: due, using: &generator)
    }
    #expect(commit.refused.isEmpty)
    #expect(try await times(store, "bbb0").fired == [due])
    #expect(try await times(store, "bbb0").next == nil)
  }
}

private struct UTCZones: ZoneSource {
  var local: Zone { .utc }
  func zone(_ name: String) -> Zone? { name == "UTC" ? .utc : nil }
}
