import ChimeCore
import ChimeSchedule
import Testing

/// The circuit breaker of a queue that fails repeatedly.
struct BreakerTests {
  static let now = SchedulerTests.now

  @Test func fiveFailuresOpenTheBreakerForGrowingSpans() {
    var simulation = DeliveryQueueTests.QueueSimulation(DeliveryQueueTests.plain)
    simulation.start()
    simulation.end(4, .failed(asked: nil))
    #expect(simulation.underWay.count == 4)
    simulation.end(1, .failed(asked: nil))
    var rests: [Milliseconds] = []
    while rests.count < 8 {
      // Attempts that were in flight when it opened say nothing new.
      simulation.end(simulation.underWay.count, .failed(asked: nil))
      #expect(simulation.underWay.isEmpty)
      guard let until = simulation.scheduler.rests(at: simulation.now)[simulation.queue] else {
        Issue.record("it does not rest")
        return
      }
      #expect(simulation.armed == until)
      rests.append(until - simulation.now)
      simulation.wake(at: until - .milliseconds(1))
      #expect(simulation.underWay.isEmpty)
      simulation.wake(at: until)
      #expect(simulation.underWay.count == 1, "one probe")
    }
    let wanted: [Int64] = [30, 60, 120, 240, 480, 600, 600, 600]
    for (rest, seconds) in zip(rests, wanted) {
      #expect(rest >= .seconds(seconds) && rest.rawValue <= seconds * 1_100, "\(rests)")
    }
    #expect(Set(rests.map(\.rawValue)).count == rests.count, "each a little longer by chance")
    simulation.end(1, .arrived(took: .milliseconds(1)))
    #expect(simulation.underWay.count == 4)
    #expect(simulation.scheduler.rests(at: simulation.now).isEmpty)
  }

  @Test func restEndsWhenTheServerIsKnownToBeBack() {
    var simulation = DeliveryQueueTests.QueueSimulation(DeliveryQueueTests.plain)
    simulation.start()
    simulation.end(4, .failed(asked: nil))
    simulation.end(1, .failed(asked: nil))
    simulation.end(simulation.underWay.count, .failed(asked: nil))
    #expect(simulation.underWay.isEmpty)
    simulation.play(.opened(simulation.queue))
    #expect(simulation.underWay.count == 1, "one probe")
    // It was a mistake: the next rest is twice as long.
    simulation.end(1, .failed(asked: nil))
    let until = simulation.scheduler.rests(at: simulation.now)[simulation.queue] ?? simulation.now
    #expect(until - simulation.now >= .seconds(60))
    simulation.play(.opened(simulation.queue))
    simulation.end(1, .arrived(took: .milliseconds(1)))
    #expect(simulation.underWay.count == 4)
  }

  @Test(arguments: [
    (DeliveryQueueOutcome.arrived(took: .zero), false), (.declined, false), (.unavailable(.zero), true),
    (.failed(asked: nil), true),
  ])
  func outcomesResetTheFailureCount(outcome: DeliveryQueueOutcome, rests: Bool) {
    var simulation = DeliveryQueueTests.QueueSimulation(DeliveryQueuePolicy(concurrency: 1, rests: true))
    simulation.start()
    for _ in 0..<4 { simulation.end(1, .failed(asked: nil)) }
    simulation.end(1, outcome)
    simulation.wake(at: simulation.now)
    simulation.end(1, .failed(asked: nil))
    #expect(simulation.scheduler.rests(at: simulation.now).isEmpty != rests)
  }

  @Test func requestedDelayIsObeyedWithinBounds() {
    for (asked, wanted) in [(Milliseconds.minutes(3), Milliseconds.minutes(3)), (.days(2), .minutes(10))] {
      var breaker = Breaker()
      for _ in 0..<5 { breaker.failed(at: Self.now, asked: asked, spread: 0) }
      #expect(breaker.restsUntil(at: Self.now) == Self.now + wanted)
    }
  }

  @Test func clockSetBackKeepsTheLengthOfAnOpenBreaker() {
    var breaker = Breaker()
    for _ in 0..<5 { breaker.failed(at: Self.now, spread: 1) }
    #expect(breaker.restsUntil(at: Self.now) == Self.now + .seconds(33))
    breaker.clockWentBack(by: .hours(1))
    let over = Self.now - .hours(1) + .seconds(33)
    #expect(breaker.restsUntil(at: Self.now - .hours(1)) == over)
    #expect(breaker.probes(at: over))
    // An expired one stays expired.
    breaker.clockWentBack(by: .hours(1))
    #expect(breaker.probes(at: over - .hours(1)))
  }

  @Test(
    arguments: [
      (nil, DeliveryQueueOutcome.failed(asked: nil)), (500, .failed(asked: nil)), (503, .failed(asked: nil)),
      (429, .failed(asked: nil)), (408, .failed(asked: nil)), (425, .failed(asked: nil)), (400, .declined),
      (404, .declined), (302, .declined),
    ] as [(Int?, DeliveryQueueOutcome)])
  func statusDecidesWhetherAFailureCounts(status: Int?, wanted: DeliveryQueueOutcome) {
    let attempt = Attempt(number: 1, startedAt: Self.now, took: .zero, outcome: .failed, status: status)
    #expect(DeliveryQueueOutcome(attempt, .retry) == wanted)
  }

  @Test func nextStepDecidesTheQueueOutcome() {
    let attempt = Attempt(number: 1, startedAt: Self.now, took: .seconds(1), outcome: .failed, status: 429)
    #expect(DeliveryQueueOutcome(attempt, .retryAfter(.minutes(1))) == .failed(asked: .minutes(1)))
    #expect(DeliveryQueueOutcome(attempt, .blocked(.minutes(1))) == .unavailable(.minutes(1)))
    #expect(DeliveryQueueOutcome(attempt, .disable("gone")) == .declined)
    #expect(DeliveryQueueOutcome(attempt, .settled) == .arrived(took: .seconds(1)))
  }
}

/// When an endpoint is disabled, and how much history is kept.
struct EndpointHealthTests {
  static let now = SchedulerTests.now
  static let endpoint = Endpoint(queue: SchedulerTests.team, url: "http://h/", createdAt: now - .days(90))

  static func attempt(_ outcome: Attempt.Outcome) -> Attempt {
    Attempt(number: 1, startedAt: now, took: .zero, outcome: outcome)
  }

  @Test func failuresCountFromTheFirstUntilASuccess() {
    var endpoint = Self.endpoint
    #expect(endpoint.after(Self.attempt(.delivered), .settled, seenSince: nil, at: Self.now) == nil)
    #expect(endpoint.after(Self.attempt(.refused), .blocked(.zero), seenSince: nil, at: Self.now) == nil)
    endpoint.failingSince = Self.now
    #expect(Self.endpoint.after(Self.attempt(.failed), .retry, seenSince: nil, at: Self.now) == endpoint)
    // It is written only once.
    #expect(endpoint.after(Self.attempt(.failed), .retry, seenSince: Self.now, at: Self.now + .days(4)) == nil)
    let mended = endpoint.after(Self.attempt(.delivered), .settled, seenSince: nil, at: Self.now + .days(4))
    #expect(mended == Self.endpoint)
  }

  @Test(
    arguments: [
      // Days since the first failure, hours of failures seen by this daemon, and whether it is disabled.
      (4.99, 24.0, false), (5, 24, true), (5, 1, true), (5, 0.99, false), (30, nil, false), (-3, 24, false),
    ] as [(Double, Double?, Bool)])
  func endpointIsDisabledAfterFiveDaysOfFailures(days: Double, hours: Double?, isDisabled: Bool) {
    var endpoint = Self.endpoint
    endpoint.failingSince = Self.now - .milliseconds(Int64(days * 86_400_000))
    let seen = hours.map { Self.now - .milliseconds(Int64($0 * 3_600_000)) }
    let after = endpoint.after(Self.attempt(.failed), .retry, seenSince: seen, at: Self.now)
    #expect((after?.disabled != nil) == isDisabled)
    if isDisabled { #expect(after?.disabled == .init(reason: "it has failed for 5 days", at: Self.now)) }
  }

  @Test func goneEndpointIsDisabledAtOnceAndOnce() {
    let gone = Self.endpoint.after(Self.attempt(.failed), .disable("gone"), seenSince: nil, at: Self.now)
    #expect(gone?.disabled == .init(reason: "gone", at: Self.now))
    #expect(gone?.after(Self.attempt(.failed), .disable("gone"), seenSince: nil, at: Self.now) == nil)
  }

  @Test func attemptsBeforeARequestedRetryDoNotCount() {
    let delivery = Delivery(
      id: DeliveryID(rawValue: "msg_1"),
      occurrence: OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: Self.now),
      queue: SchedulerTests.team, round: 1, attempts: 12, createdAt: Self.now, attemptsBefore: 11)
    let attempts = (1...13).map { _ in Self.attempt(.failed) }
    #expect(RetryPolicy.counted(attempts, of: delivery) == 2)
  }

  @Test func historyIsLimitedByAgeAndNumber() {
    let (now, day) = (Self.now, Milliseconds.days(1))
    #expect(HistoryLimits().edge(at: now, last: nil) == nil)
    #expect(HistoryLimits(count: 5).edge(at: now, last: nil) == nil)
    #expect(HistoryLimits(age: day).edge(at: now, last: nil) == .init(oldest: now - day))
    let edge = HistoryLimits(age: day, count: 5).edge(at: now, last: now - .hours(1))
    #expect(edge == .init(oldest: now - day, first: now - .hours(1)))
    #expect(edge?.end == now - .hours(1))
    func isPruned(_ state: Occurrence.State, _ age: Milliseconds, endedAt: Instant? = nil) -> Bool? {
      let id = OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: now - age)
      return edge?.takes(Occurrence(id: id, title: "", owner: 1, state: state, endedAt: endedAt))
    }
    #expect(isPruned(.done, .hours(2), endedAt: now) == true, "too many")
    #expect(isPruned(.done, .hours(1), endedAt: now) == false)
    #expect(isPruned(.delivered, .hours(23)) == false)
    #expect(isPruned(.delivered, .hours(25)) == true)
    #expect(isPruned(.snoozed(until: now), .days(9)) == false)
    let byAge = HistoryEdge(oldest: now - day)
    let id = OccurrenceID(reminder: ReminderID(rawValue: "r"), scheduledAt: now - .days(2))
    var occurrence = Occurrence(id: id, title: "", owner: 1, state: .missed(.suspend), endedAt: now - .hours(3))
    #expect(!byAge.takes(occurrence), "closed a short while ago")
    occurrence.endedAt = now - .hours(25)
    #expect(byAge.takes(occurrence))
  }
}
