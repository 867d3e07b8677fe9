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
  struct Game {
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

  @Test func aQueueTakesItsShareAndNoMore() {
    var game = Game(Self.plain)
    game.start()
    #expect(game.underWay.count == 4)
    // While attempts fail, each that ends allows one claim.
    game.end(1, .failed(asked: nil))
    #expect(game.underWay.count == 4)
    #expect(game.claims == [4, 1])
    #expect(game.mostUnderWay == 4)
  }

  @Test func aQueueThatIsQuickClaimsAhead() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<50 { game.end(4, .arrived(took: .milliseconds(5))) }
    // 2 s are 400 attempts of 5 ms; the limit is 64 times the concurrency.
    #expect((100...4 * 64).contains(game.claims.max() ?? 0), "\(game.claims)")
    #expect(game.claims.count < 10, "\(game.claims)")
    #expect(game.mostUnderWay == 4)
    #expect(game.released.isEmpty)
  }

  @Test func aQueueThatIsSlowClaimsNothingAhead() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<20 { game.end(1, .arrived(took: .seconds(3))) }
    #expect(game.claims.dropFirst().allSatisfy { $0 == 1 }, "\(game.claims)")
  }

  @Test func whatAllQueuesHoldIsBounded() {
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

  @Test func whatWasClaimedTooLongAgoGoesBack() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<4 { game.end(4, .arrived(took: .milliseconds(5))) }
    let (known, before) = (game.released.count, game.underWay)
    // The four attempts take long; an attempt at a held message could outlive its claim by then.
    game.now = game.now + DeliveryQueuePolicy.hold + .milliseconds(1)
    game.end(1, .arrived(took: .seconds(60)))
    #expect(known == 0)
    #expect(game.released.count > 50)
    #expect(Set(game.released).isDisjoint(with: before), "none of them had begun")
    #expect(game.underWay.count == 4, "and the queue goes on with new claims")
  }

  @Test func whatIsCancelledIsNotBegun() {
    var game = Game(DeliveryQueuePolicy(concurrency: 1, rests: true))
    game.start()
    game.end(1, .arrived(took: .milliseconds(100)))
    // 2 … 21 are held or in flight.
    #expect(game.underWay.map(\.id.rawValue) == ["msg_2"])
    game.play(.dropped([Claims.claim(3, game.queue), Claims.claim(4, game.queue)]))
    game.end(1, .arrived(took: .milliseconds(100)))
    #expect(game.underWay.map(\.id.rawValue) == ["msg_5"])
  }

  @Test func aClosedQueueClaimsNothingAndGoesOnWhenItOpens() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<4 { game.end(4, .arrived(took: .milliseconds(5))) }
    var closed = Self.plain
    closed.isClosed = true
    game.play(.policies(DeliveryQueuePolicies(queues: [game.queue: closed]), renewed: [game.queue]))
    let claims = game.claims.count
    #expect(game.released.count > 50, "what was held goes back")
    game.end(4, .arrived(took: .milliseconds(5)))
    game.wake(at: game.now + .days(3))
    #expect(game.claims.count == claims)
    #expect(game.underWay.isEmpty)
    #expect(game.armed == nil)
    game.play(.policies(DeliveryQueuePolicies(queues: [game.queue: Self.plain]), renewed: [game.queue]))
    #expect(game.underWay.count == 4)
  }

  @Test func anOrderedQueueHasOneAtATime() {
    var game = Game(DeliveryQueuePolicy(concurrency: 8, isOrdered: true, rests: true))
    game.start()
    #expect(game.underWay.count == 1)
    for _ in 0..<20 { game.end(1, .arrived(took: .milliseconds(1))) }
    #expect(game.mostUnderWay == 1)
    #expect(game.claims.allSatisfy { $0 == 1 })
  }

  /// The next message of an ordered queue is requested together with the previous outcome, whose claim still hides it.
  @Test func anOrderedQueueNeedsOneTransactionForAMessage() {
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

  @Test func aWayThatIsShutIsTriedWithOneMessage() {
    var game = Game(DeliveryQueuePolicy(concurrency: 4))
    game.start()
    game.end(4, .unavailable(.seconds(30)))
    #expect(game.underWay.isEmpty)
    #expect(game.armed == game.now + .seconds(30))
    game.wake(at: game.now + .seconds(30))
    #expect(game.underWay.count == 1)
    game.end(1, .unavailable(.seconds(30)))
    #expect(game.underWay.isEmpty)
    game.wake(at: game.now + .seconds(30))
    game.end(1, .arrived(took: .milliseconds(50)))
    #expect(game.underWay.count == 4)
    // When the endpoint becomes available, the queue does not wait.
    game.end(4, .unavailable(.minutes(5)))
    game.play(.opened(game.queue))
    #expect(game.underWay.count == 4)
  }

  /// Five minutes of waiting stay five minutes if the clock is set back.
  @Test func aWayThatIsShutIsTriedNoLaterWhenTheClockGoesBack() {
    var game = Game(DeliveryQueuePolicy(concurrency: 4))
    game.start()
    game.end(4, .unavailable(.minutes(5)))
    game.now = game.now + .minutes(1) - .hours(2)
    game.play(.clockWentBack(by: .hours(2)))
    game.play(.wakeups(NextWakeups(outbox: [game.queue: game.now])))
    #expect(game.armed == game.now + .minutes(4))
  }

  @Test func aQueueThatCannotBeReadIsNotAskedWithoutEnd() {
    var scheduler = Scheduler()
    let (team, now) = (SchedulerTests.team, SchedulerTests.now)
    let wakeups = NextWakeups(outbox: [team: now])
    _ = scheduler.handle(.wakeups(wakeups), now: now)
    _ = scheduler.handle(.unreadable(team), now: now)
    #expect(scheduler.handle(.claimed([team], [], wakeups), now: now) == [.armOutbox(now + Scheduler.unreadableRetry)])
  }

  @Test func whatFiresWhileTheWayIsShutTriesIt() {
    var game = Game(DeliveryQueuePolicy(concurrency: 4))
    game.start()
    for _ in 0..<3 { game.end(4, .arrived(took: .milliseconds(5))) }
    game.end(4, .unavailable(.seconds(30)))
    #expect(game.underWay.isEmpty)
    #expect(game.released.count > 50, "what had been claimed before goes back")
    game.play(.wakeups(NextWakeups(nextDue: game.now + .seconds(1), outbox: [game.queue: game.now])))
    game.now = game.now + .seconds(1)
    guard case .fire(_, let capacity)? = game.scheduler.handle(.awake, now: game.now).first else {
      Issue.record("nothing fires")
      return
    }
    #expect(capacity.left(in: game.queue) == 4)
    game.play(.fired(claimed: [Claims.claim(9_000, game.queue, until: game.now + .minutes(1))], NextWakeups()))
    #expect(game.underWay.map(\.id.rawValue) == ["msg_9000"])
    game.end(1, .arrived(took: .milliseconds(5)))
    game.start()
    #expect(game.underWay.count == 4, "and opens it for all")
  }

  @Test func aRateIsKeptInAnySpan() {
    let rate = EndpointSettings.Rate(count: 10, span: .seconds(1))
    var game = Game(DeliveryQueuePolicy(concurrency: 4, rate: rate, rests: true))
    var begun: [Instant] = []
    game.start()
    for _ in 0..<500 {
      begun += game.underWay.map { _ in game.now }
      if game.underWay.isEmpty, let armed = game.armed {
        #expect(armed > game.now)
        game.wake(at: armed)
      } else {
        game.now = game.now + .milliseconds(30)
        game.end(game.underWay.count, .arrived(took: .milliseconds(30)))
      }
    }
    for (index, time) in begun.enumerated() where index >= 10 {
      #expect(time - begun[index - 10] >= .seconds(1), "\(index)")
    }
    // And the rate is fully used.
    let seconds = Double((game.now - begun[0]).rawValue) / 1_000
    #expect(Double(begun.count) > seconds * 10 * 0.9, "\(begun.count) in \(seconds) s")
  }

  @Test func aClockSetBackDoesNotStopALaneWithARate() {
    let rate = EndpointSettings.Rate(count: 1, span: .minutes(1))
    var game = Game(DeliveryQueuePolicy(concurrency: 1, rate: rate))
    game.start()
    game.end(1, .arrived(took: .zero))
    game.now = game.now - .days(30)
    game.start()
    #expect(game.armed.map { $0 - game.now } == .minutes(1))
  }
}
