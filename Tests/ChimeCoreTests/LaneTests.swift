import ChimeCore
import ChimeSchedule
import Testing

/// Claims with the numbers 1, 2, 3 …
enum Claims {
  static func claim(_ number: Int, _ lane: Lane, until: Instant = AgendaTests.now + .minutes(2)) -> Claim {
    Claim(id: DeliveryID(rawValue: "msg_\(number)"), lane: lane, until: until)
  }
}

/// How a lane is worked off: the agenda between a store that always owes more and a channel that ends what it begins.
struct LaneTests {
  /// A lane that always owes something, played without a store.
  struct Game {
    var agenda: Agenda
    var now = AgendaTests.now
    let lane = AgendaTests.team
    /// Begun and not ended, oldest first.
    var underWay: [Claim] = []
    var released: [Claim] = []
    var armed: Instant?
    var mostUnderWay = 0
    var claims: [Int] = []
    private var number = 0

    init(_ policy: LanePolicy) {
      agenda = Agenda(policies: LanePolicies(lanes: [lane: policy]))
    }

    var policy: LanePolicy { agenda.policies[lane] }

    mutating func play(_ event: Agenda.Event) {
      var events = [event]
      while !events.isEmpty {
        for effect in agenda.handle(events.removeFirst(), now: now) {
          switch effect {
          case .claim(let lane, let limit):
            claims.append(limit)
            let claimed = (0..<limit).map { _ in
              number += 1
              return Claims.claim(number, lane, until: now + policy.claimSpan)
            }
            events.append(.claimed([lane], claimed, Horizon(outbox: [lane: now])))
          case .send(let claim):
            underWay.append(claim)
            mostUnderWay = max(mostUnderWay, underWay.count)
          case .release(let claim): released.append(claim)
          case .armOutbox(let time): armed = time
          case .armDue: break
          case .fire: Issue.record("\(effect)")
          }
        }
      }
    }

    mutating func start() { play(.horizon(Horizon(outbox: [lane: now]))) }

    /// Ends the oldest `count` attempts.
    mutating func end(_ count: Int, _ outcome: LaneOutcome) {
      let endings = underWay.prefix(count).map { Agenda.Ending($0.lane, outcome) }
      underWay.removeFirst(endings.count)
      play(.ended(Array(endings)))
    }

    mutating func wake(at time: Instant) {
      now = time
      play(.awake)
    }
  }

  static let plain = LanePolicy(concurrency: 4, rests: true, attemptLimit: .seconds(20))

  @Test func aLaneTakesItsShareAndNoMore() {
    var game = Game(Self.plain)
    game.start()
    #expect(game.underWay.count == 4)
    // While attempts fail, one is claimed for one that ends.
    game.end(1, .failed(asked: nil))
    #expect(game.underWay.count == 4)
    #expect(game.claims == [4, 1])
    #expect(game.mostUnderWay == 4)
  }

  @Test func aLaneThatIsQuickClaimsAhead() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<50 { game.end(4, .arrived(took: .milliseconds(5))) }
    // 2 s are 400 attempts of 5 ms: 64 times the concurrency is the most.
    #expect((100...4 * 64).contains(game.claims.max() ?? 0), "\(game.claims)")
    #expect(game.claims.count < 10, "\(game.claims)")
    #expect(game.mostUnderWay == 4)
    #expect(game.released.isEmpty)
  }

  @Test func aLaneThatIsSlowClaimsNothingAhead() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<20 { game.end(1, .arrived(took: .seconds(3))) }
    #expect(game.claims.dropFirst().allSatisfy { $0 == 1 }, "\(game.claims)")
  }

  @Test func whatAllLanesHoldIsBounded() {
    var agenda = Agenda(policies: LanePolicies(usual: LanePolicy(concurrency: 8)))
    let lanes = (0..<40).map { Lane(owner: UInt32($0), channel: ChannelName(rawValue: "team")) }
    var (number, begun, held) = (0, [Claim](), 0)
    var events: [Agenda.Event] = [.horizon(Horizon(outbox: Dictionary(lanes.map { ($0, AgendaTests.now) }) { $1 }))]
    for _ in 0..<2_000 {
      if events.isEmpty {
        events.append(.ended(begun.map { Agenda.Ending($0.lane, .arrived(took: .milliseconds(1))) }))
        begun = []
      }
      for effect in agenda.handle(events.removeFirst(), now: AgendaTests.now) {
        switch effect {
        case .claim(let lane, let limit):
          let claims = (0..<limit).map { Claims.claim(number + $0, lane) }
          number += limit
          held += limit
          let outbox = Dictionary(lanes.map { ($0, AgendaTests.now) }) { $1 }
          events.append(.claimed([lane], claims, Horizon(outbox: outbox)))
        case .send(let claim):
          held -= 1
          begun.append(claim)
        default: break
        }
      }
      #expect(held <= Agenda.spare + 40 * 8)
    }
    #expect(number > 10_000)
  }

  @Test func whatWasClaimedTooLongAgoGoesBack() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<4 { game.end(4, .arrived(took: .milliseconds(5))) }
    let (known, before) = (game.released.count, game.underWay)
    // The four under way take long; by then an attempt at those that are held might outlive their claim.
    game.now = game.now + LanePolicy.hold + .milliseconds(1)
    game.end(1, .arrived(took: .seconds(60)))
    #expect(known == 0)
    #expect(game.released.count > 50)
    #expect(Set(game.released).isDisjoint(with: before), "none of them had begun")
    #expect(game.underWay.count == 4, "and the lane goes on with new claims")
  }

  @Test func whatIsCancelledIsNotBegun() {
    var game = Game(LanePolicy(concurrency: 1, rests: true))
    game.start()
    game.end(1, .arrived(took: .milliseconds(100)))
    // 2 … 21 are held or under way.
    #expect(game.underWay.map(\.id.rawValue) == ["msg_2"])
    game.play(.dropped([Claims.claim(3, game.lane), Claims.claim(4, game.lane)]))
    game.end(1, .arrived(took: .milliseconds(100)))
    #expect(game.underWay.map(\.id.rawValue) == ["msg_5"])
  }

  @Test func aClosedLaneClaimsNothingAndGoesOnWhenItOpens() {
    var game = Game(Self.plain)
    game.start()
    for _ in 0..<4 { game.end(4, .arrived(took: .milliseconds(5))) }
    var closed = Self.plain
    closed.isClosed = true
    game.play(.policies(LanePolicies(lanes: [game.lane: closed]), renewed: [game.lane]))
    let claims = game.claims.count
    #expect(game.released.count > 50, "what was held goes back")
    game.end(4, .arrived(took: .milliseconds(5)))
    game.wake(at: game.now + .days(3))
    #expect(game.claims.count == claims)
    #expect(game.underWay.isEmpty)
    #expect(game.armed == nil)
    game.play(.policies(LanePolicies(lanes: [game.lane: Self.plain]), renewed: [game.lane]))
    #expect(game.underWay.count == 4)
  }

  @Test func anOrderedLaneHasOneAtATime() {
    var game = Game(LanePolicy(concurrency: 8, isOrdered: true, rests: true))
    game.start()
    #expect(game.underWay.count == 1)
    for _ in 0..<20 { game.end(1, .arrived(took: .milliseconds(1))) }
    #expect(game.mostUnderWay == 1)
    #expect(game.claims.allSatisfy { $0 == 1 })
  }

  /// The next of an ordered lane is asked for with the outcome of the one before, whose claim still hides it.
  @Test func anOrderedLaneNeedsOneTransactionForAMessage() {
    var agenda = Agenda(policies: LanePolicies(usual: LanePolicy(concurrency: 8, isOrdered: true)))
    let (team, now) = (AgendaTests.team, AgendaTests.now)
    #expect(agenda.handle(.horizon(Horizon(outbox: [team: now])), now: now) == [.claim(team, limit: 1)])
    let hidden = Horizon(outbox: [team: now + .minutes(2)])
    #expect(
      agenda.handle(.claimed([team], [Claims.claim(1, team)], hidden), now: now) == [
        .send(Claims.claim(1, team)), .armOutbox(now + .minutes(2)),
      ])
    let ended = agenda.handle(.ended([.init(team, .arrived(took: .zero))]), now: now)
    #expect(ended.contains(.claim(team, limit: 1)))
    // Its head failed and waits: so does the lane.
    let later = now + .minutes(5)
    #expect(agenda.handle(.claimed([team], [], Horizon(outbox: [team: later])), now: now) == [.armOutbox(later)])
  }

  @Test func aWayThatIsShutIsTriedWithOneMessage() {
    var game = Game(LanePolicy(concurrency: 4))
    game.start()
    game.end(4, .shut(.seconds(30)))
    #expect(game.underWay.isEmpty)
    #expect(game.armed == game.now + .seconds(30))
    game.wake(at: game.now + .seconds(30))
    #expect(game.underWay.count == 1)
    game.end(1, .shut(.seconds(30)))
    #expect(game.underWay.isEmpty)
    game.wake(at: game.now + .seconds(30))
    game.end(1, .arrived(took: .milliseconds(50)))
    #expect(game.underWay.count == 4)
    // Told that it is open again, the lane does not wait either.
    game.end(4, .shut(.minutes(5)))
    game.play(.opened(game.lane))
    #expect(game.underWay.count == 4)
  }

  @Test func aLaneThatCannotBeReadIsNotAskedWithoutEnd() {
    var agenda = Agenda()
    let (team, now) = (AgendaTests.team, AgendaTests.now)
    let horizon = Horizon(outbox: [team: now])
    _ = agenda.handle(.horizon(horizon), now: now)
    _ = agenda.handle(.unreadable(team), now: now)
    #expect(agenda.handle(.claimed([team], [], horizon), now: now) == [.armOutbox(now + Agenda.unreadableRetry)])
  }

  @Test func whatFiresWhileTheWayIsShutTriesIt() {
    var game = Game(LanePolicy(concurrency: 4))
    game.start()
    for _ in 0..<3 { game.end(4, .arrived(took: .milliseconds(5))) }
    game.end(4, .shut(.seconds(30)))
    #expect(game.underWay.isEmpty)
    #expect(game.released.count > 50, "what had been claimed before goes back")
    game.play(.horizon(Horizon(nextDue: game.now + .seconds(1), outbox: [game.lane: game.now])))
    game.now = game.now + .seconds(1)
    guard case .fire(_, let room)? = game.agenda.handle(.awake, now: game.now).first else {
      Issue.record("nothing fires")
      return
    }
    #expect(room.left(in: game.lane) == 4)
    game.play(.fired(claimed: [Claims.claim(9_000, game.lane, until: game.now + .minutes(1))], Horizon()))
    #expect(game.underWay.map(\.id.rawValue) == ["msg_9000"])
    game.end(1, .arrived(took: .milliseconds(5)))
    game.start()
    #expect(game.underWay.count == 4, "and opens it for all")
  }

  @Test func aRateIsKeptInAnySpan() {
    let rate = EndpointSettings.Rate(count: 10, span: .seconds(1))
    var game = Game(LanePolicy(concurrency: 4, rate: rate, rests: true))
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
    // And no less than it may have.
    let seconds = Double((game.now - begun[0]).rawValue) / 1_000
    #expect(Double(begun.count) > seconds * 10 * 0.9, "\(begun.count) in \(seconds) s")
  }

  @Test func aClockSetBackDoesNotStopALaneWithARate() {
    let rate = EndpointSettings.Rate(count: 1, span: .minutes(1))
    var game = Game(LanePolicy(concurrency: 1, rate: rate))
    game.start()
    game.end(1, .arrived(took: .zero))
    game.now = game.now - .days(30)
    game.start()
    #expect(game.armed.map { $0 - game.now } == .minutes(1))
  }
}

/// The rest of a lane that fails again and again.
struct BreakerTests {
  static let now = AgendaTests.now

  @Test func fiveFailuresInARowMakeALaneRestLongerAndLonger() {
    var game = LaneTests.Game(LaneTests.plain)
    game.start()
    game.end(4, .failed(asked: nil))
    #expect(game.underWay.count == 4)
    game.end(1, .failed(asked: nil))
    var rests: [Milliseconds] = []
    while rests.count < 8 {
      // What was under way as it began says nothing new.
      game.end(game.underWay.count, .failed(asked: nil))
      #expect(game.underWay.isEmpty)
      guard let until = game.agenda.rests(at: game.now)[game.lane] else {
        Issue.record("it does not rest")
        return
      }
      #expect(game.armed == until)
      rests.append(until - game.now)
      game.wake(at: until - .milliseconds(1))
      #expect(game.underWay.isEmpty)
      game.wake(at: until)
      #expect(game.underWay.count == 1, "one probe")
    }
    let wanted: [Int64] = [30, 60, 120, 240, 480, 600, 600, 600]
    for (rest, seconds) in zip(rests, wanted) {
      #expect(rest >= .seconds(seconds) && rest.rawValue <= seconds * 1_100, "\(rests)")
    }
    #expect(Set(rests.map(\.rawValue)).count == rests.count, "each a little longer by chance")
    game.end(1, .arrived(took: .milliseconds(1)))
    #expect(game.underWay.count == 4)
    #expect(game.agenda.rests(at: game.now).isEmpty)
  }

  @Test(arguments: [
    (LaneOutcome.arrived(took: .zero), false), (.declined, false), (.shut(.zero), true), (.failed(asked: nil), true),
  ])
  func whatEndsARun(outcome: LaneOutcome, rests: Bool) {
    var game = LaneTests.Game(LanePolicy(concurrency: 1, rests: true))
    game.start()
    for _ in 0..<4 { game.end(1, .failed(asked: nil)) }
    game.end(1, outcome)
    game.wake(at: game.now)
    game.end(1, .failed(asked: nil))
    #expect(game.agenda.rests(at: game.now).isEmpty != rests)
  }

  @Test func whatTheOtherSideAsksForIsObeyedWithinBounds() {
    for (asked, wanted) in [(Milliseconds.minutes(3), Milliseconds.minutes(3)), (.days(2), .minutes(10))] {
      var breaker = Breaker()
      for _ in 0..<5 { breaker.failed(at: Self.now, asked: asked, spread: 0) }
      #expect(breaker.restsUntil(at: Self.now) == Self.now + wanted)
    }
  }

  @Test func aClockSetBackEndsARest() {
    var breaker = Breaker()
    for _ in 0..<5 { breaker.failed(at: Self.now, spread: 1) }
    #expect(breaker.restsUntil(at: Self.now) == Self.now + .seconds(33))
    #expect(breaker.restsUntil(at: Self.now - .hours(1)) == nil)
    #expect(breaker.probes(at: Self.now - .hours(1)))
  }

  @Test(
    arguments: [
      (nil, LaneOutcome.failed(asked: nil)), (500, .failed(asked: nil)), (503, .failed(asked: nil)),
      (429, .failed(asked: nil)), (408, .failed(asked: nil)), (425, .failed(asked: nil)), (400, .declined),
      (404, .declined), (302, .declined),
    ] as [(Int?, LaneOutcome)])
  func whatAFailureTellsOfTheOtherSide(status: Int?, wanted: LaneOutcome) {
    let attempt = Attempt(number: 1, startedAt: Self.now, took: .zero, outcome: .failed, status: status)
    #expect(LaneOutcome(attempt, .retry) == wanted)
  }

  @Test func whatOtherAdviceTells() {
    let attempt = Attempt(number: 1, startedAt: Self.now, took: .seconds(1), outcome: .failed, status: 429)
    #expect(LaneOutcome(attempt, .retryAfter(.minutes(1))) == .failed(asked: .minutes(1)))
    #expect(LaneOutcome(attempt, .blocked(.minutes(1))) == .shut(.minutes(1)))
    #expect(LaneOutcome(attempt, .disable("gone")) == .declined)
    #expect(LaneOutcome(attempt, .settled) == .arrived(took: .seconds(1)))
  }
}

/// When an endpoint is given up, and how much history is kept.
struct EndpointHealthTests {
  static let now = AgendaTests.now
  static let endpoint = Endpoint(lane: AgendaTests.team, url: "http://h/", createdAt: now - .days(90))

  static func attempt(_ outcome: Attempt.Outcome) -> Attempt {
    Attempt(number: 1, startedAt: now, took: .zero, outcome: outcome)
  }

  @Test func failuresAreCountedFromTheFirstAndASuccessEndsThem() {
    var endpoint = Self.endpoint
    #expect(endpoint.after(Self.attempt(.delivered), .settled, seenSince: nil, at: Self.now) == nil)
    #expect(endpoint.after(Self.attempt(.refused), .blocked(.zero), seenSince: nil, at: Self.now) == nil)
    endpoint.failingSince = Self.now
    #expect(Self.endpoint.after(Self.attempt(.failed), .retry, seenSince: nil, at: Self.now) == endpoint)
    // Written once only.
    #expect(endpoint.after(Self.attempt(.failed), .retry, seenSince: Self.now, at: Self.now + .days(4)) == nil)
    let mended = endpoint.after(Self.attempt(.delivered), .settled, seenSince: nil, at: Self.now + .days(4))
    #expect(mended == Self.endpoint)
  }

  @Test(
    arguments: [
      // Days since the first failure, hours that this daemon has seen it fail, and whether it is given up.
      (4.99, 24.0, false), (5, 24, true), (5, 1, true), (5, 0.99, false), (30, nil, false), (-3, 24, false),
    ] as [(Double, Double?, Bool)])
  func fiveDaysAreEnough(days: Double, hours: Double?, isDisabled: Bool) {
    var endpoint = Self.endpoint
    endpoint.failingSince = Self.now - .milliseconds(Int64(days * 86_400_000))
    let seen = hours.map { Self.now - .milliseconds(Int64($0 * 3_600_000)) }
    let after = endpoint.after(Self.attempt(.failed), .retry, seenSince: seen, at: Self.now)
    #expect((after?.disabled != nil) == isDisabled)
    if isDisabled { #expect(after?.disabled == .init(reason: "it has failed for 5 days", at: Self.now)) }
  }

  @Test func goneIsAtOnceAndOnce() {
    let gone = Self.endpoint.after(Self.attempt(.failed), .disable("gone"), seenSince: nil, at: Self.now)
    #expect(gone?.disabled == .init(reason: "gone", at: Self.now))
    #expect(gone?.after(Self.attempt(.failed), .disable("gone"), seenSince: nil, at: Self.now) == nil)
  }

  @Test func attemptsBeforeARequestCountNoMore() {
    let delivery = Delivery(
      id: DeliveryID(rawValue: "msg_1"),
      occurrence: OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: Self.now),
      lane: AgendaTests.team, round: 1, attempts: 12, createdAt: Self.now, attemptsBefore: 11)
    let attempts = (1...13).map { _ in Self.attempt(.failed) }
    #expect(RetryPolicy.counted(attempts, of: delivery) == 2)
  }

  @Test func historyGoesByAgeAndNumber() {
    let (now, day) = (Self.now, Milliseconds.days(1))
    #expect(HistoryLimits().edge(at: now, last: nil) == nil)
    #expect(HistoryLimits(count: 5).edge(at: now, last: nil) == nil)
    #expect(HistoryLimits(age: day).edge(at: now, last: nil) == .init(oldest: now - day))
    let edge = HistoryLimits(age: day, count: 5).edge(at: now, last: now - .hours(1))
    #expect(edge == .init(oldest: now - day, first: now - .hours(1)))
    #expect(edge?.end == now - .hours(1))
    func goes(_ state: Occurrence.State, _ age: Milliseconds, endedAt: Instant? = nil) -> Bool? {
      let id = OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: now - age)
      return edge?.takes(Occurrence(id: id, title: "", owner: 1, state: state, endedAt: endedAt))
    }
    #expect(goes(.done, .hours(2), endedAt: now) == true, "too many")
    #expect(goes(.done, .hours(1), endedAt: now) == false)
    #expect(goes(.delivered, .hours(23)) == false)
    #expect(goes(.delivered, .hours(25)) == true)
    #expect(goes(.snoozed(until: now), .days(9)) == false)
    let byAge = HistoryEdge(oldest: now - day)
    let id = OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: now - .days(2))
    var occurrence = Occurrence(id: id, title: "", owner: 1, state: .missed(.suspend), endedAt: now - .hours(3))
    #expect(!byAge.takes(occurrence), "closed a short while ago")
    occurrence.endedAt = now - .hours(25)
    #expect(byAge.takes(occurrence))
  }
}
