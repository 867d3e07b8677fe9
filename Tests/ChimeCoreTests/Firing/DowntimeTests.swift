import ChimeSchedule
import ChimeTestKit
import Testing

@testable import ChimeCore

/// The notice after downtime.
@Suite struct DowntimeTests {
  private struct Zones: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { nil }
  }

  /// 2026-03-30 00:00 UTC.
  private static let midnight = Instant(seconds: 1_774_828_800)
  private static func at(_ hour: Int64, _ minute: Int64 = 0) -> Instant { midnight + .hours(hour) + .minutes(minute) }
  private static let down = at(2, 10)
  private static let start = at(7, 45)

  private static func reminder(
    _ title: String, _ schedule: String, owner: UInt32 = 1_000, _ change: (inout Reminder) -> Void = { _ in }
  ) throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: title.lowercased()), owner: owner, title: title,
      schedule: try Schedule(canonical: schedule), createdAt: midnight - .days(1))
    change(&reminder)
    return reminder
  }

  /// Returns the notices and deliveries in order, for daemons that run one after another.
  private static func notices(
    _ reminders: [Reminder], quiet: [String] = [], silence: Silence? = nil, channels: [ChannelName] = [.desktop],
    trace: Downtime.Trace? = Downtime.Trace(at: down, isExact: true), at now: Instant = start + .seconds(2),
    prepare: @escaping @Sendable (any StoreTransaction) throws -> Void = { _ in }
  ) async throws -> (notices: [Occurrence], deliveries: [Delivery], bodies: [String]) {
    var context = ReminderContext(zones: Zones())
    context.quiet.hours = try QuietHours(quiet)
    let (store, ready) = (MemoryStore(), context)
    return try await store.write { transaction in
      var generator = SeededGenerator(seed: 1)
      for reminder in reminders {
        try transaction.upsert(reminder, next: ready.timetable(of: reminder).next(after: down))
      }
      if let silence { try transaction.setSilence(silence, of: 1_000) }
      try prepare(transaction)
      let downtime = Downtime(after: trace, until: start, channels: channels)
      let work = try FireTransaction.run(
        in: transaction, limit: 500, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: ready,
        uptime: Uptime(runningSince: start), downtime: downtime, now: now, using: &generator)
      let again = try FireTransaction.run(
        in: transaction, limit: 500, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: ready,
        uptime: Uptime(runningSince: start), downtime: downtime, now: now, using: &generator)
      #expect(again.downtimeNotices.isEmpty, "it is reported once")
      let bodies = try work.downtimeNotices.map { try transaction.reminder($0.id.reminder)?.reminder.body ?? "" }
      let deliveries = try transaction.deliveries(DeliveryFilter(), page: Page(limit: 100)).reversed()
      return (work.downtimeNotices, Array(deliveries), bodies)
    }
  }

  @Test func noticeNamesMissedAndLateReminders() async throws {
    let (notices, deliveries, bodies) = try await Self.notices([
      Self.reminder("Tea", "every day at 02:30") { $0.grace = .hours(1) },
      Self.reminder("Water", "every day at 03:00, 04:00, 05:00, 06:00, 07:00"),
      Self.reminder("Backup", "every day at 05:00") { $0.catchUp.downtime = .skip },
      Self.reminder("Later", "every day at 08:00"),
    ])
    #expect(notices.map(\.title) == ["Chime was down from 02:10 to 07:45"])
    #expect(
      bodies == [
        """
        1 reminder was missed, 1 reminder came late
        missed: "Tea", at 02:30
        late: "Water", 5 times from 03:00 to 07:00
        """
      ])
    // The notice precedes the late reminder, and needs no answer.
    #expect(deliveries.first?.occurrence == notices[0].id && deliveries.count == 2)
    #expect(notices[0].state == .done)
  }

  @Test func noNoticeIsSentWithoutMissedReminders() async throws {
    #expect(try await Self.notices([Self.reminder("Later", "every day at 08:00")]).notices.isEmpty)
    // Times that the catch-up rule skips do not matter, and a delay of a minute is not late.
    let skipped = try Self.reminder("Backup", "every day at 05:00") { $0.catchUp.downtime = .skip }
    let justNow = try Self.reminder("Now", "every day at 07:44:30")
    let paused = try Self.reminder("Paused", "every day at 05:00") { $0.pause = .indefinitely }
    #expect(try await Self.notices([skipped, justNow, paused]).notices.isEmpty)
  }

  @Test func eachOwnerGetsANoticeOfTheirOwn() async throws {
    let (notices, _, bodies) = try await Self.notices([
      Self.reminder("Mine", "every day at 03:00"), Self.reminder("Theirs", "every day at 03:00", owner: 2_000),
    ])
    #expect(notices.map(\.owner) == [1_000, 2_000])
    #expect(bodies[0].contains("Mine") && !bodies[0].contains("Theirs"))
    #expect(bodies[1].contains("Theirs") && !bodies[1].contains("Mine"))
  }

  @Test func unknownStartOfADowntimeIsNotStated() async throws {
    let tea = try Self.reminder("Tea", "every day at 03:00")
    let inexact = try await Self.notices([tea], trace: .init(at: Self.midnight - .hours(3), isExact: false))
    #expect(inexact.notices.map(\.title) == ["Chime was down until 07:45"])
    #expect(inexact.bodies[0].hasPrefix("its last trace before that is from 2026-03-29 21:00\n"))
    let none = try await Self.notices([tea], trace: nil)
    #expect(none.notices.map(\.title) == ["Chime was down until 07:45"])
    #expect(none.bodies[0].hasPrefix("1 reminder came late\n"))
    // The clock was set back.
    let back = try await Self.notices([tea], trace: .init(at: Self.start + .hours(1), isExact: true))
    #expect(back.notices.map(\.title) == ["Chime was down until 07:45"])
  }

  @Test func longNoticeNamesOnlyTheFirstReminders() async throws {
    let many = try (10..<31).map { try Self.reminder("R\($0)", "every day at 03:\($0)") }
    let body = try #require(try await Self.notices(many).bodies.first)
    let lines = body.split(separator: "\n")
    #expect(lines.count == 10 && lines[0] == "21 reminders came late")
    #expect(lines[1] == "late: \"R10\", at 03:10" && lines[9] == "and 13 more; chime audit lists them all")
  }

  @Test func titlesInANoticeAreOneShortLine() async throws {
    var tea = try Self.reminder("Tea", "every day at 03:00")
    tea.title = "Tea\nmissed: \"Salary\", at 00:00 " + String(repeating: "x", count: 500)
    let body = try #require(try await Self.notices([tea]).bodies.first)
    let lines = body.split(separator: "\n")
    #expect(lines.count == 2, "\(body)")
    #expect(lines.last?.hasPrefix("late: \"Tea missed: ") == true && body.hasSuffix("…\", at 03:00"), "\(body)")
  }

  /// The late reminder is held too, and follows the notice.
  @Test func quietHoursHoldTheNotice() async throws {
    let tea = try Self.reminder("Tea", "every day at 03:00")
    let early = try Self.reminder("Evening", "every day at 02:20")
    let (notices, deliveries, bodies) = try await Self.notices([tea, early], quiet: ["03:30-09:00"])
    #expect(notices.count == 1 && bodies[0].contains("2 reminders came late"))
    #expect(deliveries.map(\.state) == [.waiting(until: Self.at(9))])
    // Times that quiet hours would have held anyway are not late.
    #expect(try await Self.notices([tea], quiet: ["02:00-09:00"]).notices.isEmpty)
  }

  @Test func globalPauseHoldsTheNoticeAndCountsNothingAsMissed() async throws {
    let tea = try Self.reminder("Tea", "every day at 03:00")
    let silent = try await Self.notices([tea], silence: Silence(until: Self.at(10)))
    #expect(silent.notices.isEmpty, "it should be silent")
    let critical = try Self.reminder("Alarm", "every day at 03:00") { $0.urgency = .critical }
    let held = try await Self.notices([critical], silence: Silence(until: Self.at(10)))
    #expect(held.deliveries.first?.state == .waiting(until: Self.at(10)))
  }

  @Test func noticeUsesTheOwnersWorkingChannels() async throws {
    let tea = try Self.reminder("Tea", "every day at 03:00")
    let phone = ChannelName(rawValue: "phone")
    #expect(try await Self.notices([tea], channels: [phone]).notices.isEmpty, "there is no such endpoint")
    let told = try await Self.notices([tea], channels: [phone, .desktop]) { store in
      try store.put(
        Endpoint(queue: DeliveryQueue(owner: 1_000, channel: phone), url: "http://h/", createdAt: Self.midnight))
    }
    #expect(Set(told.deliveries.prefix(2).map(\.queue.channel)) == [phone, .desktop])
    #expect(told.deliveries.prefix(2).allSatisfy { $0.occurrence == told.notices[0].id })
  }

  @Test func snoozeThatEndedDuringDowntimeIsLate() async throws {
    let tea = try Self.reminder("Tea", "every day at 09:00")
    let told = try await Self.notices([tea]) { store in
      let due = DueReminder(reminder: tea, scheduledAt: Self.at(1), dueAt: Self.at(1))
      let occurrence = Occurrence(
        id: OccurrenceID(reminder: tea.id, scheduledAt: Self.at(1)), title: "Tea", owner: 1_000,
        state: .snoozed(until: Self.at(3)), firedAt: Self.at(1), rounds: 1)
      try store.record([
        FiringResult(
          due: due, occurrences: [occurrence], deliveries: [], next: Self.at(9), advances: false, skipNext: 0)
      ])
    }
    #expect(told.bodies.first?.hasSuffix("late: \"Tea\", at 03:00") == true, "\(told.bodies)")
  }

  @Test func lastRunIsReadFromTheStoredTrace() async throws {
    let store = MemoryStore()
    try await store.write { store in
      #expect(try Downtime.trace(in: store) == nil)
      try Recompute.rememberClock(in: store, now: Self.at(1))
      #expect(try Downtime.trace(in: store) == .init(at: Self.at(1), isExact: false))
      try Downtime.noteAlive(in: store, now: Self.at(2))
      #expect(try Downtime.trace(in: store) == .init(at: Self.at(2), isExact: true))
      // The daemon continued, and then crashed.
      try Recompute.rememberClock(in: store, now: Self.at(3))
      #expect(try Downtime.trace(in: store) == .init(at: Self.at(3), isExact: false))
    }
  }
}
