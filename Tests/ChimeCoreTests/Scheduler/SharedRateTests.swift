import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Queues of one owner that share a rate, with a store of pending messages and channels that deliver instantly.
struct SharedRateTests {
  private struct QueueSimulation {
    var scheduler: Scheduler
    var now = SchedulerTests.now
    /// The pending messages that are not claimed.
    var pending: [DeliveryQueue: Int]
    var begun: [(queue: DeliveryQueue, at: Instant)] = []
    var armed: Instant?
    private var number = 0

    init(_ policies: DeliveryQueuePolicies, pending: [DeliveryQueue: Int]) {
      scheduler = Scheduler(policies: policies)
      self.pending = pending
    }

    private var wakeups: NextWakeups {
      NextWakeups(outbox: pending.filter { $0.value > 0 }.mapValues { _ in SchedulerTests.now })
    }

    mutating func play(_ first: Scheduler.Event) {
      var events = [first]
      while !events.isEmpty {
        for effect in scheduler.handle(events.removeFirst(), now: now) {
          switch effect {
          case .claim(let queue, let limit):
            let count = min(limit, pending[queue] ?? 0)
            pending[queue, default: 0] -= count
            let claims = (0..<count).map { _ in
              number += 1
              return Claims.claim(number, queue, until: now + scheduler.policies[queue].claimSpan)
            }
            events.append(.claimed([queue], claims, wakeups))
          case .send(let claim):
            begun.append((claim.queue, now))
            events.append(.ended([Scheduler.Ending(claim.queue, .arrived(took: .milliseconds(5)))]))
          case .release(let claim): pending[claim.queue, default: 0] += 1
          case .armOutbox(let time): armed = time
          case .armDue, .armWake: break
          case .fire, .fireDegraded, .record: Issue.record("\(effect)")
          }
        }
      }
    }

    /// Advances from one armed time to the next.
    mutating func run(until end: Instant) {
      play(.wakeups(wakeups))
      while let time = armed, time <= end {
        now = max(time, now)
        armed = nil
        play(.awake)
      }
    }
  }

  private static func queue(_ owner: UInt32, _ name: String) -> DeliveryQueue {
    DeliveryQueue(owner: owner, channel: ChannelName(rawValue: name))
  }
  private static let tenant = Tenant.firstNumber
  private static let (a, b, c) = (queue(tenant, "a"), queue(tenant, "b"), queue(tenant, "c"))
  private static let free = queue(1_000, "a")

  private static func policies(_ rate: EndpointSettings.Rate) -> DeliveryQueuePolicies {
    DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 8, rests: true), owners: [tenant: rate])
  }

  @Test(arguments: [
    EndpointSettings.Rate(count: 20, span: .seconds(1)), .init(count: 3, span: .seconds(1)),
    .init(count: 1, span: .seconds(2)), .init(count: 100, span: .seconds(1)),
  ]) func queuesTogetherKeepTheRateAndEachGetsItsShare(rate: EndpointSettings.Rate) throws {
    let pending = [Self.a: 60, Self.b: 60, Self.c: 7, Self.free: 100]
    var simulation = QueueSimulation(Self.policies(rate), pending: pending)
    simulation.run(until: SchedulerTests.now + .minutes(10))
    // Nothing is lost, and owners without a limit do not wait.
    for (queue, count) in pending { #expect(simulation.begun.count { $0.queue == queue } == count, "\(queue)") }
    #expect(simulation.begun.filter { $0.queue == Self.free }.allSatisfy { $0.at == SchedulerTests.now })
    let times = simulation.begun.filter { $0.queue.owner == Self.tenant }.map(\.at)
    for (index, time) in times.enumerated().dropFirst(rate.count) {
      #expect(time - times[index - rate.count] >= rate.span, "no more than \(rate.count) in any \(rate.span)")
    }
    // The rate is fully used.
    let spans = Int64((127 + rate.count - 1) / rate.count - 1)
    #expect(try #require(times.last) == SchedulerTests.now + Milliseconds(rawValue: rate.span.rawValue * spans))
    // Of two queues with equal numbers of messages, neither is ever far behind.
    let ahead = simulation.begun.filter { $0.queue == Self.a || $0.queue == Self.b }.reduce(into: [0]) { sums, one in
      sums.append((sums.last ?? 0) + (one.queue == Self.a ? 1 : -1))
    }
    #expect(ahead.allSatisfy { abs($0) <= max(8, rate.count) }, "\(ahead)")
  }

  /// A lifted or raised limit releases waiting messages at once.
  @Test func changedRateAppliesAtOnce() {
    var simulation = QueueSimulation(Self.policies(.init(count: 1, span: .hours(1))), pending: [Self.a: 50])
    simulation.run(until: SchedulerTests.now)
    #expect(simulation.begun.count == 1)
    simulation.play(.policies(Self.policies(.init(count: 10, span: .hours(1))), renewed: []))
    #expect(simulation.begun.count == 10)
    simulation.play(.policies(DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 8)), renewed: []))
    #expect(simulation.begun.count == 50)
  }

  /// Fired messages are not claimed with their firing: their share of the rate is known only afterward.
  @Test func firedMessagesWaitForTheirShareOfTheRate() {
    let capacity = Scheduler.Capacity(policies: Self.policies(.init(count: 5, span: .seconds(1))))
    #expect(capacity.left(in: Self.a) == 0)
    #expect(capacity.left(in: Self.free) == 8)
  }

  /// Each daemon's number of queues, a limit, and each daemon's rate per second.
  @Test(
    arguments: [
      ([8], 15, [15]), ([4, 4], 15, [8, 7]), ([6, 2], 15, [11, 4]), ([7, 1], 15, [13, 2]), ([1, 1, 1], 3, [1, 1, 1]),
      ([100, 1, 1], 4, [2, 1, 1]), ([3, 0, 1], 20, [15, 0, 5]), ([1, 1], 1_000_000, [500_000, 500_000]),
    ] as [([Int], Int, [Int])]) func daemonsTogetherKeepTheLimit(counts: [Int], limit: Int, parts: [Int])
  {
    for own in counts.indices where counts[own] > 0 {
      let rate = DeliveryQueueShares(counts: counts, own: own).rate(of: limit)
      #expect(rate == EndpointSettings.Rate(count: parts[own], span: .seconds(1)))
    }
    #expect(parts.reduce(0, +) == limit)
  }

  /// However the queues are distributed, the shares add up to the limit.
  @Test(arguments: 1...50 as ClosedRange<UInt64>) func sharesOfTheRateAddUpToTheLimit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let counts = (0..<Int.random(in: 1...9, using: &random)).map { _ in Int.random(in: 1...40, using: &random) }
    let limit = Int.random(in: counts.count...500, using: &random)
    let rates = counts.indices.map { DeliveryQueueShares(counts: counts, own: $0).rate(of: limit) }
    #expect(rates.allSatisfy { $0.count >= 1 && $0.span == .seconds(1) })
    #expect(rates.reduce(0) { $0 + $1.count } == limit, "\(counts)")
  }

  /// A limit below the number of daemons makes each start one message in several seconds.
  @Test func rateBelowTheNumberOfDaemonsIsSharedInTurn() {
    let rates = [0, 1, 2].map { DeliveryQueueShares(counts: [2, 1, 1], own: $0).rate(of: 2) }
    #expect(rates == [(1, 1_000), (1, 2_000), (1, 2_000)].map { .init(count: $0, span: .milliseconds($1)) })
    #expect(DeliveryQueueShares(counts: [2], own: nil).rate(of: 2) == .init(count: 1, span: .hours(1)))
  }
}
