import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Firing while the store can be read but not written.
struct DegradedModeTests {
  /// Runs days of reminders with random answers on two machines: one store always works, the other refuses writes for
  /// hours at times. In the end both stores and both screens have the same contents.
  @Test(arguments: 1...ProofTier.amount(quick: 3, proof: 100) as ClosedRange<UInt64>)
  func recordedStoreEqualsOneThatNeverFailed(seed: UInt64) async throws {
    var script = Script(seed: seed)
    let (sound, failing) = (MemoryStore(), MemoryStore())
    let reminders = try (0..<6).map { try script.reminder($0) }
    for store in [sound, failing] {
      try await store.write { store in
        for reminder in reminders {
          try store.upsert(reminder, next: reminder.timetable(in: .utc).next(after: Script.start))
        }
      }
    }
    var (left, right) = (Screen(store: sound), Screen(store: failing))
    var stoodIn = 0
    while script.now < Script.end {
      let step = script.step()
      try await left.run(step, isRefusing: false)
      try await right.run(step, isRefusing: step.isRefusing)
      if step.isRefusing { stoodIn = max(stoodIn, right.degradedMode.unrecorded) }
      guard left.shown == right.shown else {
        Issue.record("seed \(seed) at \(step.now): \(left.shown.suffix(6)) against \(right.shown.suffix(6))")
        return
      }
    }
    try await right.record(limit: 3)
    #expect(stoodIn > 0 && left.shown.count > 20, "seed \(seed)")
    let (one, other) = (try await Picture(sound, reminders), try await Picture(failing, reminders))
    #expect(one == other, "seed \(seed)")
  }

  static let now = Instant(seconds: 1_795_161_600)

  static func reminder(_ text: String, channels: [ChannelName] = [.desktop]) throws -> Reminder {
    var reminder = Reminder(
      id: ReminderID(rawValue: "r1"), owner: 1, title: "Tea",
      schedule: try Schedule.parse(text, now: now, in: ScheduleContext(zone: .utc)), timezone: .named("UTC"),
      createdAt: now)
    reminder.channels = channels
    return reminder
  }

  @Test func onlyTheDesktopIsNotifiedBeforeTheRecording() async throws {
    let reminder = try Self.reminder("every 1m", channels: [.desktop, ChannelName(rawValue: "team")])
    var screen = Screen(store: MemoryStore())
    try await screen.add(reminder, at: Self.now)
    let work = try await screen.fireDegraded(now: Self.now)
    #expect(work.messages.map(\.message.delivery.queue.channel) == [.desktop])
    #expect(work.firings[0].deliveries.count == 2)
    #expect(screen.degradedMode.unrecorded == 1)
    try await screen.record()
    let pending = try await screen.store.read { try $0.deliveries(DeliveryFilter(state: .pending), page: Page()) }
    #expect(pending.map(\.queue.channel.rawValue) == ["team"])
    #expect(screen.degradedMode.isEmpty)
  }

  @Test func recurringReminderContinuesAtItsTimes() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1m"), at: Self.now)
    for minute in 0..<5 as Range<Int64> {
      let now = Self.now + .minutes(minute)
      let work = try await screen.fireDegraded(now: now)
      #expect(work.firings.count == 1 && work.messages.count == 1)
      #expect(work.next == now + .minutes(1))
      // The same moment again fires nothing.
      #expect(try await screen.fireDegraded(now: now).firings.isEmpty)
    }
    try await screen.record()
    let found = try await screen.store.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }
    #expect(found.map(\.firedAt) == (0..<5).reversed().map { Self.now + .minutes($0) })
    let next = try await screen.store.read { try $0.wakeups().nextDue }
    #expect(next == Self.now + .minutes(5))
  }

  @Test func firingIsRecordedWithItsTimeAndPopupID() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1h"), at: Self.now)
    let work = try await screen.fireDegraded(now: Self.now)
    let message = work.messages[0].message
    try await screen.record()
    let (delivery, attempts) = try await screen.store.read {
      (try $0.delivery(message.delivery.id), try $0.attempts(of: message.delivery.id))
    }
    #expect(delivery?.state == .delivered(at: Self.now))
    #expect(attempts.map(\.number) == [1])
  }

  /// The daemon continues in any case: the buffer has a limit.
  @Test func timesBeyondTheBufferWaitInTheStore() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1m"), at: Self.now)
    let message = try await screen.fireDegraded(now: Self.now).messages[0].message
    for _ in 2..<DegradedMode.limit { screen.degradedMode.keep(Screen.outcome(of: message, at: Self.now)) }
    #expect(screen.degradedMode.isFull)
    let work = try await screen.fireDegraded(now: Self.now + .minutes(1))
    #expect(work.firings.isEmpty && work.next == nil)
  }

  /// Space for a single commit: a part is recorded, and degraded mode continues with the rest.
  @Test func recordedPartFiresNoSecondTime() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1m"), at: Self.now)
    for minute in 0..<3 as Range<Int64> { _ = try await screen.fireDegraded(now: Self.now + .minutes(minute)) }
    try await screen.recordOne(limit: 1)
    #expect(screen.degradedMode.unrecorded == 2)
    #expect(try await screen.fireDegraded(now: Self.now + .minutes(2)).firings.isEmpty)
    #expect(try await screen.fireDegraded(now: Self.now + .minutes(3)).firings.count == 1)
    try await screen.record()
    #expect(try await screen.store.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }.count == 4)
  }

  /// Between two failures a client changes the reminder's times.
  @Test func reminderChangedMeanwhileUsesItsNewTimes() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1m"), at: Self.now)
    _ = try await screen.fireDegraded(now: Self.now)
    var changed = try Self.reminder("every 1h")
    changed.generation = 1
    let (new, next) = (changed, Self.now + .minutes(30))
    try await screen.store.write { try $0.upsert(new, next: next) }
    screen.degradedMode.forget(changed.id)
    #expect(try await screen.fireDegraded(now: Self.now + .minutes(1)).firings.isEmpty)
    #expect(try await screen.fireDegraded(now: next).firings.count == 1)
    try await screen.record()
    #expect(try await screen.store.read { try $0.occurrences(OccurrenceFilter(), page: Page()) }.count == 2)
  }

  /// Removed meanwhile: a repeat tomorrow must not wake the machine.
  @Test func reminderRemovedMeanwhileSetsNoWakeAlarm() async throws {
    var screen = Screen(store: MemoryStore())
    var reminder = try Self.reminder("every 6m 2 times")
    (reminder.nag, reminder.wake) = (Nag(every: .hours(20), max: 2), true)
    try await screen.add(reminder, at: Self.now)
    #expect(try await screen.fireDegraded(now: Self.now).nextWake == Self.now + .minutes(6))
    let id = reminder.id
    try await screen.store.write { _ = try $0.remove(id, now: Self.now) }
    screen.degradedMode.forget(id)
    let work = try await screen.fireDegraded(now: Self.now + .minutes(1))
    #expect(work.next == nil && work.nextWake == nil)
  }

  /// The clock was far ahead during the failure; pending messages do not wait for that time.
  @Test func messageBufferedWhileTheClockWasAheadIsNotDelayed() async throws {
    var screen = Screen(store: MemoryStore())
    let team = ChannelName(rawValue: "team")
    try await screen.add(Self.reminder("every 24h", channels: [.desktop, team]), at: Self.now)
    let ahead = Self.now + .days(10)
    let look = screen.degradedMode.query(now: ahead, limit: 5)
    let seen = try await screen.store.read { [context = screen.context] in try look.run(in: $0, context) }
    let work = screen.degradedMode.fire(
      seen, DeliveryQueuePolicies(), screen.context, Uptime(runningSince: Script.start), now: ahead,
      using: &screen.random)
    let popup = try #require(work.messages.first).message
    screen.degradedMode.keep(
      Outcome(
        attempt: Attempt(number: 1, startedAt: ahead, took: .seconds(1), outcome: .failed), next: .retry,
        message: popup))
    try await screen.record(now: Self.now + .minutes(1))
    let outbox = try await screen.store.read { try $0.wakeups().outbox }
    #expect(outbox.map(\.key.channel).sorted() == [.desktop, team].sorted())
    #expect(outbox.values.allSatisfy { $0 == Self.now + .minutes(1) }, "\(outbox)")
  }

  /// A popup was in flight when the disk became full.
  @Test func repeatKeepsAPopupThatArrivedMeanwhile() async throws {
    var screen = Screen(store: MemoryStore())
    var reminder = try Self.reminder("every 24h")
    reminder.nag = Nag(every: .minutes(10), max: 2)
    try await screen.add(reminder, at: Self.now)
    let context = screen.context
    let firing = try await screen.store.write { store in
      var random = SeededGenerator(seed: 1)
      return try FireTransaction.run(
        in: store, limit: 1, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
        uptime: Uptime(runningSince: Script.start), now: Self.now, using: &random
      ).firings[0]
    }
    let message = OutboundMessage(
      delivery: firing.deliveries[0], occurrence: firing.occurrences[0], reminder: reminder)
    screen.degradedMode.keep(Screen.outcome(of: message, at: Self.now + .seconds(1)))
    let again = try await screen.fireDegraded(now: Self.now + .minutes(10)).firings[0].occurrences[0]
    #expect(again.rounds == 2 && again.deliveredAt == Self.now + .seconds(1))
    try await screen.record()
    #expect(try await screen.store.read { try $0.occurrence(again.id) }?.deliveredAt == Self.now + .seconds(1))
  }

  /// Firing on request in the same second is refused, although the store does not know of the firing.
  @Test func firingFromMemoryBlocksASecondOneBeforeTheRecording() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1h"), at: Self.now)
    let id = try await screen.fireDegraded(now: Self.now).firings[0].occurrences[0].id
    #expect(screen.degradedMode.unrecordedOccurrences == [id])
    try await screen.record()
    #expect(screen.degradedMode.unrecordedOccurrences.isEmpty)
  }

  /// A client snoozes an occurrence in the store by six minutes.
  private static func snooze(
    _ occurrence: Occurrence, of reminder: Reminder, in screen: Screen, now: Instant
  ) async throws {
    let context = screen.context
    try await screen.store.write { store in
      var random = SeededGenerator(seed: 1)
      _ = try AnswerTransaction.run(
        .snooze(for: .minutes(6)), to: occurrence, reminder: reminder, in: store, context, now: now, using: &random)
    }
  }

  /// A popup's answer is buffered, then a client snoozes in the store: the later snooze holds. *Done* stays done.
  @Test(arguments: [(Occurrence.Answer.snooze(for: .minutes(50)), false), (.done, true)])
  func laterAnswerInTheStoreOverridesABufferedSnooze(kept: Occurrence.Answer, isDone: Bool) async throws {
    var screen = Screen(store: MemoryStore())
    let reminder = try Self.reminder("every 24h")
    try await screen.add(reminder, at: Self.now)
    let id = try await screen.fireDegraded(now: Self.now).firings[0].occurrences[0].id
    try await screen.record()
    let fired = try #require(try await screen.store.read { try $0.occurrence(id) })
    _ = try screen.degradedMode.answer(
      OutboxTransaction.Answer(answer: kept, occurrence: id), fired, reminder, screen.context,
      now: Self.now + .minutes(1))
    let later = Self.now + .minutes(2)
    try await Self.snooze(fired, of: reminder, in: screen, now: later)
    screen.degradedMode.forget(id)
    try await screen.record()
    let state = try await screen.store.read { try $0.occurrence(id) }?.state
    #expect(state == (isDone ? .done : .snoozed(until: later + .minutes(6))))
  }

  /// A read may see a snooze before the loop learns of its commit. Meanwhile the clock is set to its end, and the
  /// occurrence has fired again.
  @Test func snoozeReportedAfterItsEndIsIgnored() async throws {
    var screen = Screen(store: MemoryStore())
    let reminder = try Self.reminder("every 24h")
    try await screen.add(reminder, at: Self.now)
    let id = try await screen.fireDegraded(now: Self.now).firings[0].occurrences[0].id
    try await screen.record()
    let fired = try #require(try await screen.store.read { try $0.occurrence(id) })
    let until = Self.now + .minutes(6)
    try await Self.snooze(fired, of: reminder, in: screen, now: Self.now)
    #expect(!screen.degradedMode.hasFired(id, atEndOfSnoozeUntil: until))
    #expect(try await screen.fireDegraded(now: until).messages.count == 1)
    #expect(screen.degradedMode.hasFired(id, atEndOfSnoozeUntil: until))
    #expect(!screen.degradedMode.hasFired(id, atEndOfSnoozeUntil: until + .minutes(1)))
  }

  @Test func answerOfAnotherUserIsIgnored() async throws {
    var screen = Screen(store: MemoryStore())
    try await screen.add(Self.reminder("every 1h"), at: Self.now)
    let id = try await screen.fireDegraded(now: Self.now).firings[0].occurrences[0].id
    screen.degradedMode.keep(OutboxTransaction.Answer(answer: .done, occurrence: id, owner: 2), at: Self.now)
    try await screen.record()
    #expect(try await screen.store.read { try $0.occurrence(id) }?.isOpen == true)
  }
}

/// A zone source with UTC only.
struct InUTC: ZoneSource {
  var local: Zone { .utc }
  func zone(_ name: String) -> Zone? { name == "UTC" ? .utc : nil }
}

/// A user's screen, and the daemon behind it, with or without a working store.
struct Screen {
  let store: MemoryStore
  var degradedMode = DegradedMode()
  /// Each as occurrence and round.
  var shown: [String] = []
  var random = SeededGenerator(seed: 7)
  let context = ReminderContext(
    zones: InUTC(), quiet: QuietDefaults(hours: (try? QuietHours(["22:00-07:00"])) ?? .never, handling: .hold))

  init(store: MemoryStore) { self.store = store }

  func add(_ reminder: Reminder, at next: Instant) async throws {
    try await store.write { try $0.upsert(reminder, next: next) }
  }

  mutating func run(_ step: Script.Step, isRefusing: Bool) async throws {
    if isRefusing {
      let first = shown.count
      while !(try await fireDegraded(now: step.now).firings.isEmpty) {}
      shown[first...].sort()
      try await answer(step, keeping: true)
    } else {
      try await record(limit: 4)
      let first = shown.count
      try await fire(now: step.now)
      shown[first...].sort()
      try await answer(step, keeping: false)
    }
  }

  @discardableResult
  mutating func fireDegraded(now: Instant) async throws -> DegradedMode.Work {
    let look = degradedMode.query(now: now, limit: 5)
    let seen = try await store.read { [context] in try look.run(in: $0, context) }
    let work = degradedMode.fire(
      seen, DeliveryQueuePolicies(), context, Uptime(runningSince: Script.start), now: now, using: &random)
    for message in work.messages.map(\.message) {
      show(message)
      degradedMode.keep(Self.outcome(of: message, at: now))
    }
    return work
  }

  private mutating func fire(now: Instant) async throws {
    while true {
      let (context, given) = (context, random)
      let (work, random) = try await store.write { store in
        var random = given
        let work = try FireTransaction.run(
          in: store, limit: 5, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
          uptime: Uptime(runningSince: Script.start), now: now, using: &random)
        return (work, random)
      }
      self.random = random
      if work.firings.isEmpty { return }
      let messages = work.firings.flatMap { firing in
        firing.deliveries.filter { $0.queue.channel == .desktop }.compactMap { delivery in
          firing.occurrences.first { $0.id == delivery.occurrence }.map {
            OutboundMessage(delivery: delivery, occurrence: $0, reminder: firing.due.reminder)
          }
        }
      }
      for message in messages {
        // As the store accepted it: skipped ones have no delivery.
        guard try await store.read({ try $0.delivery(message.delivery.id) }) != nil else { continue }
        show(message)
        try await store.write { store in
          var (work, random) = (OutboxTransaction(), SeededGenerator(seed: 1))
          work.outcomes = [Self.outcome(of: message, at: now)]
          _ = try OutboxCommit.run(
            work, in: store, DeliveryQueuePolicies(), seenFailing: [:], context, now: now, using: &random)
        }
      }
    }
  }

  private mutating func show(_ message: OutboundMessage) {
    shown.append("\(message.occurrence.id) \(message.delivery.round)")
  }

  static func outcome(of message: OutboundMessage, at now: Instant) -> Outcome {
    Outcome(
      attempt: Attempt(number: 1, startedAt: now, took: .zero, outcome: .delivered), next: .settled, message: message)
  }

  /// Answers an open occurrence.
  private mutating func answer(_ step: Script.Step, keeping: Bool) async throws {
    guard let (choice, answer) = step.answer, !shown.isEmpty else { return }
    let text = shown[shown.count - 1 - choice % min(shown.count, 4)].split(separator: " ")[0]
    guard let id = OccurrenceID(String(text)) else { return }
    let (context, now) = (context, step.now)
    if keeping {
      let (stored, reminder) = try await store.read { (try $0.occurrence(id), try $0.reminder(id.reminder)?.reminder) }
      guard let current = degradedMode.current(id, stored: stored), current.isOpen else { return }
      _ = try degradedMode.answer(
        OutboxTransaction.Answer(answer: answer, occurrence: id), stored ?? current, reminder, context, now: now)
    } else {
      try await store.write { store in
        guard let occurrence = try store.occurrence(id), occurrence.isOpen else { return }
        let reminder = try store.reminder(id.reminder)?.reminder
        var generator = SeededGenerator(seed: 0)
        _ = try AnswerTransaction.run(
          answer, to: occurrence, reminder: reminder, in: store, context, now: now, using: &generator)
      }
    }
  }

  mutating func record(limit: Int = 500, now: Instant = .latest) async throws {
    while !degradedMode.isEmpty { try await recordOne(limit: limit, now: now) }
  }

  /// - Parameter now: the time of recording; by default, later than all entries.
  mutating func recordOne(limit: Int, now: Instant = .latest) async throws {
    let (part, context) = (degradedMode.part(limit: limit), context)
    let commit = try await store.write { store in
      var random = SeededGenerator(seed: 1)
      return try DegradedModeCommit.run(
        part, in: store, DeliveryQueuePolicies(), seenFailing: [:], context, now: now, using: &random)
    }
    #expect(commit.refused.isEmpty && commit.outcomes.allSatisfy { $0.refused.isEmpty })
    degradedMode.recorded(part)
  }
}

/// The events on both machines.
struct Script {
  static let start = Instant(seconds: 1_795_046_400)  // 2026-11-19T00:00:00Z
  static let end = start + .days(10)

  struct Step {
    var now: Instant
    var isRefusing: Bool
    var answer: (Int, Occurrence.Answer)?
  }

  var now = Script.start
  private var random: SeededGenerator
  private var refusesUntil: Instant?
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
  }

  private mutating func pick(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

  mutating func step() -> Step {
    now = now + (pick(0...9) == 0 ? .minutes(pick(1...300)) : .seconds(pick(1...900)))
    if let end = refusesUntil {
      if now >= end { refusesUntil = nil }
    } else if pick(0...50) == 0 {
      refusesUntil = now + .hours(pick(1...20))
    }
    var answer: (Int, Occurrence.Answer)?
    if pick(0...3) == 0 {
      answer = (Int(pick(0...3)), [.done, .dismiss, .snooze(for: .minutes(pick(1...90)))][Int(pick(0...2))])
    }
    return Step(now: now, isRefusing: refusesUntil != nil, answer: answer)
  }

  mutating func reminder(_ number: Int) throws -> Reminder {
    let phrases = [
      "every 1h starting 2026-11-19T00:00:00Z", "daily at 02:30", "weekdays at 08:30",
      "every 20m between 09:00 and 17:00",
      "every 2 days after done at 9", "daily at 21:59, 23:00",
    ]
    var reminder = Reminder(
      id: ReminderID(rawValue: "r\(seed)n\(number)"), owner: 1, title: "\(number)",
      schedule: try Schedule.parse(phrases[number], now: Script.start, in: ScheduleContext(zone: .utc)),
      timezone: .named("UTC"), createdAt: Script.start)
    if pick(0...1) == 0 { reminder.jitter = .minutes(pick(0...30)) }
    if pick(0...2) != 0 {
      reminder.nag = Nag(
        every: .minutes(pick(3...90)), max: Int(pick(1...5)),
        escalation: [.init(from: Int(pick(1...3)), channels: [ChannelName(rawValue: "team")])])
    }
    if pick(0...3) == 0 { reminder.urgency = .critical }
    if pick(0...2) == 0 {
      let handling: QuietRule.Handling? = [.hold, .drop, .off, nil][Int(pick(0...3))]
      reminder.quiet = QuietRule(hours: nil, handling: handling)
    }
    reminder.skipNext = Int(pick(0...2))
    reminder.catchUp = CatchUp(
      suspend: CatchUpRule.allCases[Int(pick(0...2))], downtime: CatchUpRule.allCases[Int(pick(0...2))])
    return reminder
  }
}

/// The comparable contents of a store; delivery ids are random.
struct Picture: Equatable {
  var occurrences: [Occurrence] = []
  var deliveries: [String] = []
  var reminders: [ReminderRecord?] = []

  init(_ store: MemoryStore, _ reminders: [Reminder]) async throws {
    (occurrences, deliveries, self.reminders) = try await store.read { store in
      var (occurrences, deliveries): ([Occurrence], [String]) = ([], [])
      for reminder in reminders {
        occurrences += try store.occurrences(OccurrenceFilter(reminder: reminder.id), page: Page(limit: 10_000))
        deliveries += try store.deliveries(DeliveryFilter(reminder: reminder.id), page: Page(limit: 10_000)).map {
          "\($0.occurrence) \($0.queue.channel) \($0.round) \($0.state) \($0.attempts) \($0.createdAt)"
        }
      }
      return (occurrences, deliveries.sorted(), try reminders.map { try store.reminder($0.id) })
    }
  }
}
