import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Late messages are spread over time, and never delay those on time.
struct CatchUpSpreadTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let team = ChannelName(rawValue: "team")

  /// Returns `count` reminders that fire in one transaction.
  static func firings(
    _ count: Int, from first: Int = 0, late: LateCause? = .suspend, urgency: Urgency = .normal, repeats: Int = 0,
    to channels: [ChannelName] = [team]
  ) throws -> [FiringResult] {
    try (first..<first + count).map { number in
      let reminder = Reminder(
        id: ReminderID(rawValue: "r\(number)"), owner: 1_000, title: "Tea",
        schedule: try Schedule(canonical: "every day at 08:30"), channels: channels, urgency: urgency, createdAt: now)
      let id = OccurrenceID(reminder: reminder.id, scheduledAt: now - .hours(1))
      return FiringResult(
        due: DueReminder(reminder: reminder, scheduledAt: id.scheduledAt, dueAt: id.scheduledAt),
        occurrences: [
          Occurrence(
            id: id, title: "Tea", owner: 1_000, state: .fired, firedAt: now, late: late, rounds: 1 + repeats,
            repeats: repeats)
        ],
        deliveries: channels.map {
          Delivery(
            id: DeliveryID(rawValue: "msg_\(number)_\($0)"), occurrence: id,
            queue: DeliveryQueue(owner: 1_000, channel: $0),
            round: 1 + repeats, createdAt: now)
        }, next: nil, advances: true, skipNext: 0)
    }
  }

  /// Returns how long each delivery waits.
  static func waits(_ firings: [FiringResult]) -> [Milliseconds] {
    firings.flatMap(\.deliveries).map { if case .waiting(let until) = $0.state { until - now } else { .zero } }
  }

  @Test(arguments: [(0, 0, 0), (10, 0, 0), (11, 1, 1_100), (50, 40, 5_000), (500, 490, 50_000), (2_000, 1_990, 60_000)])
  func spanGrowsWithTheNumberOfMessagesUpToALimit(count: Int, waiting: Int, span: Int64) throws {
    var firings = try Self.firings(count)
    var catchUpSpread = CatchUpSpread()
    catchUpSpread.spread(&firings, DeliveryQueuePolicies(), now: Self.now)
    let waits = Self.waits(firings)
    #expect(waits.prefix(10).allSatisfy { $0 == .zero }, "the first leave at once")
    // One in a thousand may have no wait by chance.
    #expect(waits.count { $0 > .zero } >= waiting - 3 && waits.count { $0 > .zero } <= waiting)
    #expect(waits.allSatisfy { $0 <= .milliseconds(span) })
    guard count >= 50 else { return }
    #expect(waits.contains { $0 > .milliseconds(span * 9 / 10) }, "the whole span is used")
    // No tenth of the span has much more than its share.
    let tenths = Dictionary(grouping: waits.dropFirst(10)) { $0.rawValue * 10 / (span + 1) }
    for (tenth, members) in tenths { #expect(members.count <= 4 + waiting / 5, "tenth \(tenth)") }
  }

  @Test func sameOccurrenceGetsTheSameDelay() throws {
    var (one, other) = (try Self.firings(100), try Self.firings(100))
    var (first, second) = (CatchUpSpread(), CatchUpSpread())
    first.spread(&one, DeliveryQueuePolicies(), now: Self.now)
    second.spread(&other, DeliveryQueuePolicies(), now: Self.now)
    #expect(Self.waits(one) == Self.waits(other))
  }

  @Test func countContinuesAcrossTransactionsOfOneDowntime() throws {
    var catchUpSpread = CatchUpSpread()
    var (one, other) = (try Self.firings(10), try Self.firings(10, from: 10))
    catchUpSpread.spread(&one, DeliveryQueuePolicies(), now: Self.now)
    catchUpSpread.spread(&other, DeliveryQueuePolicies(), now: Self.now + .seconds(1))
    #expect(Self.waits(one).allSatisfy { $0 == .zero })
    #expect(Self.waits(other).count { $0 > .zero } >= 9)
    // The next downtime starts anew; so does one after the clock was set back.
    for now in [Self.now + .hours(8), Self.now - .hours(8)] {
      var later = try Self.firings(10)
      catchUpSpread.spread(&later, DeliveryQueuePolicies(), now: now)
      #expect(Self.waits(later).allSatisfy { $0 == .zero })
    }
  }

  @Test func onlyLateMessagesOfUnorderedQueuesAreSpread() throws {
    let home = ChannelName(rawValue: "home")
    let policies = DeliveryQueuePolicies(
      queues: [DeliveryQueue(owner: 1_000, channel: home): DeliveryQueuePolicy(concurrency: 8, isOrdered: true)])
    let untouched = [
      try Self.firings(100, late: nil), try Self.firings(100, late: .quiet), try Self.firings(100, urgency: .critical),
      try Self.firings(100, repeats: 1), try Self.firings(100, to: [.desktop]), try Self.firings(100, to: [home]),
    ]
    for firings in untouched {
      var after = firings
      var catchUpSpread = CatchUpSpread()
      catchUpSpread.spread(&after, policies, now: Self.now)
      #expect(after == firings)
    }
    // Late messages do not delay those on time in the same transaction.
    var mixed = try Self.firings(50) + Self.firings(50, from: 50, late: nil)
    var catchUpSpread = CatchUpSpread()
    catchUpSpread.spread(&mixed, policies, now: Self.now)
    #expect(Self.waits(mixed).suffix(50).allSatisfy { $0 == .zero })
  }

  private struct UTCZoneSource: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { nil }
  }

  /// A week of downtime, fired and claimed as the daemon does.
  @Test func delayedMessagesAreClaimedAtTheirTime() async throws {
    let store = MemoryStore()
    let queue = DeliveryQueue(owner: 1_000, channel: Self.team)
    try await store.write { transaction in
      for firing in try Self.firings(60) {
        try transaction.upsert(firing.due.reminder, next: Self.now - .hours(1))
      }
      var random = SeededGenerator(seed: 7)
      let policies = DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 100))
      let work = try FireTransaction.run(
        in: transaction, limit: 500, capacity: Scheduler.Capacity(policies: policies),
        context: ReminderContext(zones: UTCZoneSource()),
        uptime: Uptime(runningSince: Self.now), now: Self.now, using: &random)
      #expect(work.firings.count == 60 && work.firings.allSatisfy { $0.occurrences.first?.late == .downtime })
      #expect(work.claims.count < 13, "ten at once, and whose moment is now")
      var claimed = work.claims.count
      var now = Self.now
      while let earliest = try transaction.wakeups().outbox[queue], earliest < Self.now + .minutes(1) {
        #expect(earliest > now)
        now = earliest
        claimed += try transaction.claimDeliveries(
          queue: queue, now: now, visibleAgain: Self.now + .hours(1), limit: 100
        ).count
      }
      #expect(claimed == 60)
      #expect(now - Self.now <= .seconds(6) && now - Self.now > .seconds(5), "the span of sixty is 6 s")
      // They do not count as a new downtime once they have fired.
      #expect(work.catchUpSpread != CatchUpSpread())
    }
  }

  @Test func zeroSpanDelaysNothing() throws {
    var firings = try Self.firings(100)
    let before = firings
    var catchUpSpread = CatchUpSpread(span: .zero)
    catchUpSpread.spread(&firings, DeliveryQueuePolicies(), now: Self.now)
    #expect(firings == before)
  }
}
