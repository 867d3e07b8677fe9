import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Weeks of nagging reminders with quiet hours, on a machine that sleeps, with users who answer at random.
struct SimulationTests {
  @Test(arguments: 1...ProofTier.amount(quick: 2, proof: 8) as ClosedRange<UInt64>)
  func nothingIsLostAndNothingFiresInQuietHours(seed: UInt64) async throws {
    var household = Household(seed: seed)
    let store = MemoryStore()
    let reminders = try (0..<4).map { try household.reminder($0) }
    for reminder in reminders {
      let next = reminder.timetable(in: .utc).next(after: Household.start)
      try await store.write { try $0.upsert(reminder, next: next) }
    }
    while household.now < Household.end {
      let current = household
      household = try await store.write { try current.day($0) }
    }
    let ended = household
    try await store.read { store in
      for reminder in reminders { try ended.check(reminder, store) }
    }
    #expect(ended.rung > 20, "seed \(seed)")
  }
}

/// The machine, its clock and its users.
private struct Household {
  static let start = Instant(seconds: 1_795_046_400)  // 2026-11-19T00:00:00Z
  static let end = start + .days(16)

  var now = Household.start
  var random: SeededGenerator
  var uptime = Uptime(runningSince: Household.start)
  let quiet: QuietDefaults
  var rung = 0
  /// Users' actions, which may fire at any time.
  let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    let hours = [["22:00-07:00"], ["mon-fri 23:15-06:00", "sat,sun 21:00-10:30"], ["12:00-11:00"]]
    quiet = QuietDefaults(
      hours: (try? QuietHours(hours[Int(seed % 3)])) ?? .never, handling: seed.isMultiple(of: 4) ? .drop : .hold)
  }

  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
  mutating func pick(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

  mutating func reminder(_ number: Int) throws -> Reminder {
    let phrases = [
      "every 1h starting 2026-11-19T00:00:00Z", "daily at 02:30", "weekdays at 08:30", "daily at 21:59, 23:00",
    ]
    var reminder = Reminder(
      id: ReminderID(rawValue: "r\(seed)n\(number)"), owner: 1, title: "\(number)",
      schedule: try Schedule.parse(phrases[number], now: Household.start, in: ScheduleContext(zone: .utc)),
      timezone: .named("UTC"),
      createdAt: Household.start)
    if !chance(3) { reminder.jitter = .minutes(pick(0...90)) }
    if !chance(3) {
      reminder.nag = Nag(
        every: .minutes(pick(7...200)), max: Int(pick(1...5)),
        escalation: [.init(from: Int(pick(1...3)), channels: [ChannelName(rawValue: "team")])])
    }
    if chance(4) { reminder.urgency = .critical }
    if chance(3) {
      let handling: QuietRule.Handling? = [.hold, .drop, .off, nil][Int(pick(0...3))]
      reminder.quiet = QuietRule(
        hours: chance(2) ? try QuietHours(["01:00-03:00", "22:45-23:10"]) : nil, handling: handling)
    }
    reminder.catchUp = CatchUp(
      suspend: CatchUpRule.allCases[Int(pick(0...2))], downtime: CatchUpRule.allCases[Int(pick(0...2))])
    reminder.grace = .hours(pick(1...30))
    return reminder
  }

  func quiet(of reminder: Reminder) -> Quiet? { Quiet(of: reminder, quiet, local: .utc, own: .utc) }

  /// Runs random events: due times, sleep, restarts, answers.
  func day(_ store: any StoreTransaction) throws -> Household {
    var household = self
    for _ in 0..<40 where household.now < Household.end { try household.step(store) }
    return household
  }

  private mutating func step(_ store: any StoreTransaction) throws {
    switch pick(0...19) {
    case 0: now = now + .minutes(pick(5...900))
    case 1:
      now = now + .minutes(pick(1...300))
      uptime = Uptime(runningSince: now)
      try store.reevaluateHeld(now: now)
    case 2...5: try answer(store)
    case 6: try settle(store)
    case 7: try change(store)
    default:
      guard let due = try store.wakeups().nextDue else { return now = Household.end }
      now = max(now, due + .milliseconds(pick(0...20)))
    }
    try fire(store)
  }

  private mutating func fire(_ store: any StoreTransaction) throws {
    let decision = FiringDecision(now: now, uptime: uptime)
    for _ in 0..<100 {
      let claimed = try store.claimDue(now: now, limit: 3)
      if claimed.isEmpty { return }
      let firings = claimed.map {
        decision.decide(
          $0, timetable: $0.reminder.timetable(in: .utc), quiet: quiet(of: $0.reminder), using: &random)
      }
      for firing in firings where !firing.deliveries.isEmpty {
        rung += 1
        let end = quiet(of: firing.due.reminder)?.end(at: now)
        let wasSnoozed = if case .snoozed = firing.due.occurrence?.state { true } else { false }
        #expect(
          end == nil || wasSnoozed, "seed \(seed): rang at \(now) in quiet hours until \(String(describing: end))")
        #expect(firing.occurrences.allSatisfy { $0.repeats <= firing.due.reminder.nag?.max ?? 0 }, "seed \(seed)")
      }
      try store.record(firings)
      if chance(3) { try store.record(firings) }
    }
    Issue.record("seed \(seed): what is due at \(now) does not end")
  }

  private mutating func answer(_ store: any StoreTransaction) throws {
    let open = try store.occurrences(OccurrenceFilter(openOnly: true), page: Page(limit: 20))
    guard let occurrence = open.randomElement(using: &random) else { return }
    let answer: Occurrence.Answer = [.done, .dismiss, .snooze(for: .minutes(pick(1...600)))][Int(pick(0...2))]
    try store.update(try occurrence.answered(answer, at: now), now: now)
  }

  /// Delivers messages.
  private mutating func settle(_ store: any StoreTransaction) throws {
    let queue = DeliveryQueue(owner: 1, channel: .desktop)
    for message in try store.claimDeliveries(queue: queue, now: now, visibleAgain: now + .minutes(2), limit: 5) {
      try store.acknowledge(message.delivery.id, attempt: nil, state: .delivered(at: now))
      let occurrence = message.occurrence
      if occurrence.isOpen { try store.update(occurrence.delivered(at: now), now: now) }
    }
  }

  /// Pauses, resumes or skips a reminder, which is then evaluated again.
  private mutating func change(_ store: any StoreTransaction) throws {
    guard var record = try store.reminders(ReminderFilter(), page: Page()).randomElement(using: &random) else { return }
    if chance(2) {
      record.reminder.pause = chance(2) ? .none : .until(now + .hours(pick(1...40)))
    } else {
      record.reminder.skipNext = Int(pick(0...2))
    }
    record.reminder.generation += 1
    try store.upsert(record.reminder, next: record.next, nextDueAt: record.isHeld ? now : nil)
  }

  /// Checks that each past scheduled time has one record, that no round was sent twice to a channel, and that none
  /// accumulated.
  func check(_ reminder: Reminder, _ store: any StoreTransaction) throws {
    let next = try #require(try store.reminder(reminder.id)?.next)
    var times = 0
    var scheduled: Set<Instant> = []
    for time in reminder.timetable(in: .utc).occurrences(after: Household.start) {
      if time >= next { break }
      times += 1
      scheduled.insert(time)
    }
    let records = try store.occurrences(OccurrenceFilter(reminder: reminder.id), page: Page(limit: 10_000))
    #expect(records.reduce(0) { $0 + ($1.missedRun?.count ?? 1) } == times, "seed \(seed), \(reminder)")
    #expect(records.allSatisfy { scheduled.contains($0.id.scheduledAt) }, "seed \(seed), \(reminder)")
    let deliveries = try store.deliveries(DeliveryFilter(reminder: reminder.id), page: Page(limit: 10_000))
    let sent = deliveries.map { "\($0.occurrence) \($0.round) \($0.queue.channel)" }
    #expect(Set(sent).count == sent.count, "seed \(seed)")
    let pending = deliveries.filter(\.isPending).map { "\($0.occurrence) \($0.queue.channel)" }
    #expect(Set(pending).count == pending.count, "seed \(seed)")
  }
}
