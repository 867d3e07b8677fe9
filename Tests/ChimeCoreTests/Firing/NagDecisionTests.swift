import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// The repetition (nagging) of unanswered occurrences.
struct NagDecisionTests {
  static let eight = FiringDecisionTests.eight
  static let phone = ChannelName(rawValue: "phone")
  static let team = ChannelName(rawValue: "team")

  static func reminder(_ nag: Nag?, change: (inout Reminder) -> Void = { _ in }) throws -> Reminder {
    try FiringDecisionTests.reminder("at 2026-11-20T08:00:00Z") {
      $0.nag = nag
      change(&$0)
    }
  }

  /// Returns an occurrence that fired at eight and has repeated so often.
  static func open(repeats: Int = 0, repeatAt: Instant?, state: Occurrence.State = .delivered) -> Occurrence {
    Occurrence(
      id: OccurrenceID(reminder: ReminderID(rawValue: "r7k2"), scheduledAt: eight), title: "Drink water", owner: 1_000,
      state: state, firedAt: eight, deliveredAt: eight, rounds: 1 + repeats, repeats: repeats, repeatAt: repeatAt)
  }

  static func again(
    _ reminder: Reminder, _ occurrence: Occurrence, now: Instant, runningSince: Instant = .earliest,
    quiet: [String] = [], handling: QuietRule.Handling = .hold
  ) throws -> FiringResult {
    var generator = SeededGenerator(seed: 7)
    let defaults = QuietDefaults(hours: try QuietHours(quiet), handling: handling)
    return FiringDecision(now: now, uptime: Uptime(runningSince: runningSince)).decide(
      DueReminder(
        reminder: reminder, scheduledAt: eight, dueAt: occurrence.recursAt ?? now, isRegular: false,
        occurrence: occurrence),
      timetable: reminder.timetable(in: .utc), quiet: Quiet(of: reminder, defaults, local: .utc, own: .utc),
      using: &generator)
  }

  @Test func firingSchedulesTheFirstRepeat() throws {
    let reminder = try Self.reminder(Nag(every: .minutes(5)))
    #expect(
      FiringDecisionTests.decide(reminder, now: Self.eight).occurrences.map(\.repeatAt) == [Self.eight + .minutes(5)])
    #expect(FiringDecisionTests.decide(try Self.reminder(nil), now: Self.eight).occurrences.map(\.repeatAt) == [nil])
    var generator = SeededGenerator(seed: 7)
    let fired = FiringDecision(now: Self.eight, uptime: Uptime(runningSince: .earliest))
      .fireNow(reminder, using: &generator)
    #expect(fired.occurrence.repeatAt == Self.eight + .minutes(5))
    // Of several that fire together, only the latest repeats.
    let hourly = try FiringDecisionTests.reminder {
      ($0.nag, $0.catchUp) = (Nag(every: .minutes(5)), CatchUp(suspend: .all, downtime: .all))
    }
    let now = Self.eight + .hours(3)
    let together = FiringDecisionTests.decide(hourly, now: now).occurrences
    #expect(together.map(\.repeatAt) == [nil, nil, nil, now + .minutes(5)])
  }

  /// Three repeats; the second and third escalate to more channels.
  @Test func repeatsEscalateAndEnd() throws {
    let nag = Nag(
      every: .minutes(5), max: 3,
      escalation: [
        .init(from: 2, channels: [Self.team]), .init(from: 3, channels: [Self.phone, .desktop]),
      ])
    let reminder = try Self.reminder(nag)
    var occurrence = Self.open(repeatAt: Self.eight + .minutes(5))
    var heard: [[String]] = []
    while let planned = occurrence.repeatAt {
      let now = planned + .milliseconds(7)
      let firing = try Self.again(reminder, occurrence, now: now)
      #expect(!firing.advances)
      occurrence = try #require(firing.occurrences.first)
      #expect(occurrence.state == .fired && occurrence.firedAt == Self.eight)
      #expect(firing.deliveries.allSatisfy { $0.round == occurrence.rounds })
      #expect(occurrence.repetition(ofRound: occurrence.rounds) == occurrence.repeats)
      heard.append(firing.deliveries.map(\.queue.channel.rawValue))
      if heard.count < 3 { #expect(occurrence.repeatAt == now + .minutes(5)) }
      try #require(heard.count <= 3)
    }
    #expect(heard == [["desktop"], ["desktop", "team"], ["desktop", "team", "phone"]])
    #expect(occurrence.repeats == 3 && occurrence.rounds == 4 && occurrence.isOpen)
    #expect(occurrence.repetition(ofRound: 1) == 0 && occurrence.repetition(ofRound: 3) == 2)
  }

  /// Causes that end the repetition without closing the occurrence.
  @Test(arguments: ["taken away", "fewer", "paused", "of no use any more"])
  func causesThatEndTheRepeats(how: String) throws {
    var reminder = try Self.reminder(Nag(every: .minutes(5)))
    var now = Self.eight + .minutes(15)
    switch how {
    case "taken away": reminder.nag = nil
    case "fewer": reminder.nag?.max = 2
    case "paused": reminder.pause = .until(now + .hours(1))
    default: now = now + reminder.grace + .milliseconds(1)
    }
    let firing = try Self.again(reminder, Self.open(repeats: 2, repeatAt: Self.eight + .minutes(15)), now: now)
    #expect(firing.occurrences == [Self.open(repeats: 2, repeatAt: nil)])
    #expect(firing.deliveries.isEmpty && !firing.advances)
  }

  @Test func answersEndTheRepeats() throws {
    let occurrence = Self.open(repeats: 2, repeatAt: Self.eight + .minutes(15))
    for answer in [Occurrence.Answer.done, .dismiss, .snooze(for: .hours(1))] {
      let answered = try occurrence.answered(answer, at: Self.eight + .minutes(14))
      #expect(answered.repeatAt == nil)
      #expect((answered.recursAt != nil) == (answer == .snooze(for: .hours(1))))
    }
    // Answered between claim and decision: nothing is left to do.
    let reminder = try Self.reminder(Nag(every: .minutes(5)))
    let done = try occurrence.answered(.done, at: Self.eight + .minutes(14))
    let firing = try Self.again(reminder, done, now: Self.eight + .minutes(15))
    #expect(firing.occurrences.isEmpty && firing.deliveries.isEmpty && !firing.advances)
  }

  @Test func snoozeRestartsTheRepeats() throws {
    let reminder = try Self.reminder(
      Nag(every: .minutes(5), max: 3, escalation: [.init(from: 1, channels: [Self.team])]))
    let end = Self.eight + .hours(1)
    let snoozed = try Self.open(repeats: 3, repeatAt: nil).answered(.snooze(for: .minutes(45)), at: end - .minutes(45))
    let firing = try Self.again(reminder, snoozed, now: end, quiet: ["08:30-10:00"])
    let occurrence = try #require(firing.occurrences.first)
    // It fires in quiet hours, because the user asked for that time.
    #expect(occurrence.state == .fired && occurrence.rounds == 5 && occurrence.repeats == 0)
    #expect(occurrence.repeatAt == end + .minutes(5))
    #expect(firing.deliveries.map(\.queue.channel) == [.desktop])
  }

  @Test func repeatsWaitForTheEndOfQuietHours() throws {
    let now = Self.eight + .minutes(5)
    for handling in [QuietRule.Handling.hold, .drop] {
      let reminder = try Self.reminder(Nag(every: .minutes(5)))
      let held = try Self.again(
        reminder, Self.open(repeatAt: now), now: now, quiet: ["08:00-12:00"], handling: handling)
      let end = Self.eight + .hours(4)
      #expect(held.occurrences == [Self.open(repeatAt: end)])
      #expect(held.deliveries.isEmpty)
      let then = try Self.again(
        reminder, Self.open(repeatAt: end), now: end, quiet: ["08:00-12:00"], handling: handling)
      #expect(then.occurrences.map(\.repeats) == [1] && then.deliveries.count == 1)
    }
    let critical = try Self.reminder(Nag(every: .minutes(5))) { $0.urgency = .critical }
    #expect(try Self.again(critical, Self.open(repeatAt: now), now: now, quiet: ["08:00-12:00"]).deliveries.count == 1)
  }

  /// A later time that fires in the same transaction ends earlier repeats; the store keeps none of them, and they are
  /// not notified.
  @Test func repeatEndedByALaterTimeIsNotNotified() async throws {
    let store = MemoryStore()
    var reminder = try DegradedModeTests.reminder("every 15m")
    reminder.nag = Nag(every: .hours(2), max: 6)
    let first = DegradedModeTests.now
    try await store.write { [reminder] in try $0.upsert(reminder, next: first) }
    func fire(at now: Instant) async throws -> [FiringResult] {
      try await store.write { transaction in
        var random = SeededGenerator(seed: 7)
        return try FireTransaction.run(
          in: transaction, limit: 50, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()),
          context: ReminderContext(zones: InUTC()),
          uptime: Uptime(runningSince: first), now: now, using: &random
        ).firings
      }
    }
    #expect(try await fire(at: first).flatMap(\.deliveries).count == 1)
    // The machine slept through the repeat and many times.
    let late = try await fire(at: first + .hours(5))
    #expect(late.count == 1 && late[0].advances)
    let told = late.flatMap(\.deliveries).map(\.id)
    #expect(told.count == 1)
    let pending = try await store.read { try $0.deliveries(DeliveryFilter(state: .pending), page: Page()).map(\.id) }
    #expect(pending.contains(told[0]))
    #expect(try await store.read { try $0.wakeups().nextDue }.map { $0 > first + .hours(5) } == true)
  }

  @Test func repeatsMissedDuringSleepFireOnce() throws {
    let reminder = try Self.reminder(Nag(every: .minutes(5)))
    let now = Self.eight + .hours(3)
    let firing = try Self.again(reminder, Self.open(repeats: 1, repeatAt: Self.eight + .minutes(10)), now: now)
    #expect(firing.occurrences.map(\.repeats) == [2])
    #expect(firing.occurrences.map(\.repeatAt) == [now + .minutes(5)])
    #expect(firing.deliveries.count == 1)
  }
}
