import ChimeCore
import ChimeSchedule
import Testing

/// Returns claims with the numbers 1, 2, 3 …
enum Claims {
  static func claim(_ number: Int, _ queue: DeliveryQueue, until: Instant = SchedulerTests.now + .minutes(2)) -> Claim {
    Claim(id: DeliveryID(rawValue: "msg_\(number)"), queue: queue, until: until)
  }
}

/// A delivery queue: the scheduler between a store with endless pending messages and a channel.
struct DeliveryQueueTests {
  /// A queue with endless pending messages, without a store.
  struct QueueSimulation {
    var scheduler: Scheduler
    var now = SchedulerTests.now
    let queue = SchedulerTests.team
    /// The attempts in flight, oldest first.
    var underWay: [Claim] = []
    var released: [Claim] = []
    var armed: Instant?
    var mostUnderWay = 0
    var claims: [Int] = []
    private var number = 0

    init(_ policy: DeliveryQueuePolicy) {
      scheduler = Scheduler(policies: DeliveryQueuePolicies(queues: [queue: policy]))
    }

    var policy: DeliveryQueuePolicy { scheduler.policies[queue] }

    mutating func play(_ event: Scheduler.Event) {
      var events = [event]
      while !events.isEmpty {
        for effect in scheduler.handle(events.removeFirst(), now: now) {
          switch effect {
          case .claim(let queue, let limit):
            claims.append(limit)
            let claimed = (0..<limit).map { _ in
              number += 1
              return Claims.claim(number, queue, until: now + policy.claimSpan)
            }
            events.append(.claimed([queue], claimed, NextWakeups(outbox: [queue: now])))
          case .send(let claim):
            underWay.append(claim)
            mostUnderWay = max(mostUnderWay, underWay.count)
          case .release(let claim): released.append(claim)
          case .armOutbox(let time): armed = time
          case .armDue, .armWake: break
          case .fire, .fireDegraded, .record: Issue.record("\(effect)")
          }
        }
      }
    }

    mutating func start() { play(.wakeups(NextWakeups(outbox: [queue: now]))) }

    /// Ends the oldest `count` attempts.
    mutating func end(_ count: Int, _ outcome: DeliveryQueueOutcome) {
      let endings = underWay.prefix(count).map { Scheduler.Ending($0.queue, outcome) }
      underWay.removeFirst(endings.count)
      play(.ended(Array(endings)))
    }

    mutating func wake(at time: Instant) {
      now = time
      play(.awake)
    }
  }

  static let plain = DeliveryQueuePolicy(concurrency: 4, rests: true, attemptLimit: .seconds(20))

  @Test func queueKeepsToItsConcurrency() {
    var simulation = QueueSimulation(Self.plain)
    simulation.start()
    #expect(simulation.underWay.count == 4)
    // While attempts fail, each that ends allows one claim.
    simulation.end(1, .failed(asked: nil))
    #expect(simulation.underWay.count == 4)
    #expect(simulation.claims == [4, 1])
    #expect(simulation.mostUnderWay == 4)
  }

  @Test func fastQueuePrefetches() {
    var simulation = QueueSimulation(Self.plain)
    simulation.start()
    for _ in 0..<50 { simulation.end(4, .arrived(took: .milliseconds(5))) }
    // 2 s are 400 attempts of 5 ms; the limit is 64 times the concurrency.
    #expect((100...4 * 64).contains(simulation.claims.max() ?? 0), "\(simulation.claims)")
    #expect(simulation.claims.count < 10, "\(simulation.claims)")
    #expect(simulation.mostUnderWay == 4)
    #expect(simulation.released.isEmpty)
  }

  @Test func slowQueueDoesNotPrefetch() {
    var simulation = QueueSimulation(Self.plain)
    simulation.start()
    for _ in 0..<20 { simulation.end(1, .arrived(took: .seconds(3))) }
    #expect(simulation.claims.dropFirst().allSatisfy { $0 == 1 }, "\(simulation.claims)")
  }

  @Test func prefetchOfAllQueuesIsBounded() {
    var scheduler = Scheduler(policies: DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 8)))
    let queues = (0..<40).map { DeliveryQueue(owner: UInt32($0), channel: ChannelName(rawValue: "team")) }
    var (number, begun, held) = (0, [Claim](), 0)
    var events: [Scheduler.Event] = [
      .wakeups(NextWakeups(outbox: Dictionary(queues.map { ($0, SchedulerTests.now) }) { $1 }))
    ]
    for _ in 0..<2_000 {
      if events.isEmpty {
        events.append(.ended(begun.map { Scheduler.Ending($0.queue, .arrived(took: .milliseconds(1))) }))
        begun = []
      }
      for effect in scheduler.handle(events.removeFirst(), now: SchedulerTests.now) {
        switch effect {
        case .claim(let queue, let limit):
          let claims = (0..<limit).map { Claims.claim(number + $0, queue) }
          number += limit
          held += limit
          let outbox = Dictionary(queues.map { ($0, SchedulerTests.now) }) { $1 }
          events.append(.claimed([queue], claims, NextWakeups(outbox: outbox)))
        case .send(let claim):
          held -= 1
          begun.append(claim)
        default: break
        }
      }
      #expect(held <= Scheduler.prefetch + 40 * 8)
    }
    #expect(number > 10_000)
  }

  @Test func oldClaimsAreReleased() {
    var simulation = QueueSimulation(Self.plain)
    simulation.start()
    for _ in 0..<4 { simulation.end(4, .arrived(took: .milliseconds(5))) }
    let (known, before) = (simulation.released.count, simulation.underWay)
    // The four attempts take long; an attempt at a held message could outlive its claim by then.
    simulation.now = simulation.now + DeliveryQueuePolicy.hold + .milliseconds(1)
    simulation.end(1, .arrived(took: .seconds(60)))
    #expect(known == 0)
    #expect(simulation.released.count > 50)
    #expect(Set(simulation.released).isDisjoint(with: before), "none of them had begun")
    #expect(simulation.underWay.count == 4, "and the queue continues with new claims")
  }

  @Test func cancelledMessageIsNotSent() {
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 1, rests: true))
    simulation.start()
    simulation.end(1, .arrived(took: .milliseconds(100)))
    // 2 … 21 are held or in flight.
    #expect(simulation.underWay.map(\.id.rawValue) == ["msg_2"])
    simulation.play(.dropped([Claims.claim(3, simulation.queue), Claims.claim(4, simulation.queue)]))
    simulation.end(1, .arrived(took: .milliseconds(100)))
    #expect(simulation.underWay.map(\.id.rawValue) == ["msg_5"])
  }

  @Test func closedQueueClaimsNothingUntilItOpens() {
    var simulation = QueueSimulation(Self.plain)
    simulation.start()
    for _ in 0..<4 { simulation.end(4, .arrived(took: .milliseconds(5))) }
    var closed = Self.plain
    closed.isClosed = true
    simulation.play(.policies(DeliveryQueuePolicies(queues: [simulation.queue: closed]), renewed: [simulation.queue]))
    let claims = simulation.claims.count
    #expect(simulation.released.count > 50, "held messages are released")
    simulation.end(4, .arrived(took: .milliseconds(5)))
    simulation.wake(at: simulation.now + .days(3))
    #expect(simulation.claims.count == claims)
    #expect(simulation.underWay.isEmpty)
    #expect(simulation.armed == nil)
    simulation.play(
      .policies(DeliveryQueuePolicies(queues: [simulation.queue: Self.plain]), renewed: [simulation.queue]))
    #expect(simulation.underWay.count == 4)
  }

  @Test func orderedQueueSendsOneMessageAtATime() {
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 8, isOrdered: true, rests: true))
    simulation.start()
    #expect(simulation.underWay.count == 1)
    for _ in 0..<20 { simulation.end(1, .arrived(took: .milliseconds(1))) }
    #expect(simulation.mostUnderWay == 1)
    #expect(simulation.claims.allSatisfy { $0 == 1 })
  }

  /// The next message of an ordered queue is requested together with the previous outcome, whose claim still hides it.
  @Test func orderedQueueNeedsOneTransactionPerMessage() {
    var scheduler = Scheduler(
      policies: DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 8, isOrdered: true)))
    let (team, now) = (SchedulerTests.team, SchedulerTests.now)
    #expect(scheduler.handle(.wakeups(NextWakeups(outbox: [team: now])), now: now) == [.claim(team, limit: 1)])
    let hidden = NextWakeups(outbox: [team: now + .minutes(2)])
    #expect(
      scheduler.handle(.claimed([team], [Claims.claim(1, team)], hidden), now: now) == [
        .send(Claims.claim(1, team)), .armOutbox(now + .minutes(2)),
      ])
    let ended = scheduler.handle(.ended([.init(team, .arrived(took: .zero))]), now: now)
    #expect(ended.contains(.claim(team, limit: 1)))
    // Its head failed and waits, and so does the queue.
    let later = now + .minutes(5)
    #expect(scheduler.handle(.claimed([team], [], NextWakeups(outbox: [team: later])), now: now) == [.armOutbox(later)])
  }

  @Test func unavailableChannelIsProbedWithOneMessage() {
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 4))
    simulation.start()
    simulation.end(4, .unavailable(.seconds(30)))
    #expect(simulation.underWay.isEmpty)
    #expect(simulation.armed == simulation.now + .seconds(30))
    simulation.wake(at: simulation.now + .seconds(30))
    #expect(simulation.underWay.count == 1)
    simulation.end(1, .unavailable(.seconds(30)))
    #expect(simulation.underWay.isEmpty)
    simulation.wake(at: simulation.now + .seconds(30))
    simulation.end(1, .arrived(took: .milliseconds(50)))
    #expect(simulation.underWay.count == 4)
    // When the endpoint becomes available, the queue does not wait.
    simulation.end(4, .unavailable(.minutes(5)))
    simulation.play(.opened(simulation.queue))
    #expect(simulation.underWay.count == 4)
  }

  /// Five minutes of waiting stay five minutes if the clock is set back.
  @Test func clockSetBackDoesNotDelayTheProbe() {
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 4))
    simulation.start()
    simulation.end(4, .unavailable(.minutes(5)))
    simulation.now = simulation.now + .minutes(1) - .hours(2)
    simulation.play(.clockWentBack(by: .hours(2)))
    simulation.play(.wakeups(NextWakeups(outbox: [simulation.queue: simulation.now])))
    #expect(simulation.armed == simulation.now + .minutes(4))
  }

  @Test func unreadableQueueIsRetriedLater() {
    var scheduler = Scheduler()
    let (team, now) = (SchedulerTests.team, SchedulerTests.now)
    let wakeups = NextWakeups(outbox: [team: now])
    _ = scheduler.handle(.wakeups(wakeups), now: now)
    _ = scheduler.handle(.unreadable(team), now: now)
    #expect(scheduler.handle(.claimed([team], [], wakeups), now: now) == [.armOutbox(now + Scheduler.unreadableRetry)])
  }

  @Test func firedMessageProbesAnUnavailableChannel() {
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 4))
    simulation.start()
    for _ in 0..<3 { simulation.end(4, .arrived(took: .milliseconds(5))) }
    simulation.end(4, .unavailable(.seconds(30)))
    #expect(simulation.underWay.isEmpty)
    #expect(simulation.released.count > 50, "earlier claims are released")
    simulation.play(
      .wakeups(NextWakeups(nextDue: simulation.now + .seconds(1), outbox: [simulation.queue: simulation.now])))
    simulation.now = simulation.now + .seconds(1)
    guard case .fire(_, let capacity)? = simulation.scheduler.handle(.awake, now: simulation.now).first else {
      Issue.record("nothing fires")
      return
    }
    #expect(capacity.left(in: simulation.queue) == 4)
    simulation.play(
      .fired(claimed: [Claims.claim(9_000, simulation.queue, until: simulation.now + .minutes(1))], NextWakeups()))
    #expect(simulation.underWay.map(\.id.rawValue) == ["msg_9000"])
    simulation.end(1, .arrived(took: .milliseconds(5)))
    simulation.start()
    #expect(simulation.underWay.count == 4, "and opens it for all")
  }

  @Test func rateHoldsInEverySpan() {
    let rate = EndpointSettings.Rate(count: 10, span: .seconds(1))
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 4, rate: rate, rests: true))
    var begun: [Instant] = []
    simulation.start()
    for _ in 0..<500 {
      begun += simulation.underWay.map { _ in simulation.now }
      if simulation.underWay.isEmpty, let armed = simulation.armed {
        #expect(armed > simulation.now)
        simulation.wake(at: armed)
      } else {
        simulation.now = simulation.now + .milliseconds(30)
        simulation.end(simulation.underWay.count, .arrived(took: .milliseconds(30)))
      }
    }
    for (index, time) in begun.enumerated() where index >= 10 {
      #expect(time - begun[index - 10] >= .seconds(1), "\(index)")
    }
    // And the rate is fully used.
    let seconds = Double((simulation.now - begun[0]).rawValue) / 1_000
    #expect(Double(begun.count) > seconds * 10 * 0.9, "\(begun.count) in \(seconds) s")
  }

  @Test func clockSetBackDoesNotStopAQueueWithARate() {
    let rate = EndpointSettings.Rate(count: 1, span: .minutes(1))
    var simulation = QueueSimulation(DeliveryQueuePolicy(concurrency: 1, rate: rate))
    simulation.start()
    simulation.end(1, .arrived(took: .zero))
    simulation.now = simulation.now - .days(30)
    simulation.start()
    #expect(simulation.armed.map { $0 - simulation.now } == .minutes(1))
  }
}
