public import ChimeSchedule

/// A Scheduler decides what the daemon waits for and what it does next: a state machine, as a plain value.
///
/// It holds no reminders. Memory keeps the earliest due time and one small record per delivery queue; the rest is in the
/// store. Each event returns the effects to carry out. A shell performs them and reports the results as further events.
///
///     var scheduler = Scheduler()
///     for effect in scheduler.handle(.wakeups(wakeups), now: clock.now) { perform(effect) }
public struct Scheduler: Sendable {
  /// The number of due times per firing transaction: enough to share a commit, few enough to keep the writer free.
  public static let batch = 500
  /// The wait before the scheduler retries a failing store.
  public static let storeRetry = Milliseconds.seconds(5)
  /// The shortest and longest time for which the scheduler leaves due times that other daemons have locked.
  public static let leastLeft = Milliseconds(rawValue: 20)
  public static let mostLeft = Milliseconds.seconds(1)
  /// The wait before the scheduler retries a queue whose deliveries could not be read.
  public static let unreadableRetry = Milliseconds.minutes(5)
  /// The number of deliveries that all queues together may claim beyond their concurrency; each is held in memory.
  public static let prefetch = 2_048

  public private(set) var policies: DeliveryQueuePolicies

  /// The earliest due time in the store; nil if there is none.
  public private(set) var nextDue: Instant?
  private var nextWake: Instant?
  /// Whether the machine is about to sleep, so that nothing begins.
  public private(set) var isDrowsy = false
  /// The highest sequence number of `NextWakeups` seen so far.
  public private(set) var latestWakeups: UInt64 = 0
  private var state = State.waiting
  private var storeRetryAt: Instant?
  /// The time until which due times are left to other daemons, and the length of that wait, which doubles each time.
  private var leaving: (until: Instant, span: Milliseconds)?
  /// Whether the store refuses writes, so that due times fire in degraded mode.
  private var isRefused = false
  /// Whether something is buffered for the store.
  private var isBuffering = false
  /// The next time that is due in degraded mode.
  private var fireDegraded = DegradedWakeup.unknown
  var queues: [DeliveryQueue: DeliveryQueueState] = [:]
  /// The attempts begun per owner, for owners whose queues share a rate.
  var shared: [UInt32: RateWindow] = [:]
  private var armedDue: Instant?
  private var armedOutbox: Instant?
  private var armedWake: Instant?
  /// Whether `armedWake` is certain. If it is not, the alarm is armed or disarmed again.
  private var isWakeSure = true
  private var randomSource: RandomSource

  /// What is in flight for due times. One transaction runs at a time, and its end leads back to `waiting`.
  private enum State: Sendable {
    /// A timer is armed, if anything is due later. Exits: firing, firingDegraded, recording.
    case waiting
    /// A firing transaction. Exit: waiting, by `fired` or `firingFailed`.
    case firing
    /// A read in degraded mode; `isStale` is whether its input has changed since. Exit: waiting, by `firedDegraded` or
    /// `degradedFiringFailed`.
    case firingDegraded(isStale: Bool)
    /// A transaction that records what is buffered. Exit: waiting, by `recorded` or `recordFailed`.
    case recording

    var isWaiting: Bool { if case .waiting = self { true } else { false } }
    var isStale: Bool { if case .firingDegraded(true) = self { true } else { false } }
  }

  private enum DegradedWakeup: Sendable {
    case unknown
    case at(Instant?, wake: Instant?)
  }

  /// - Parameter seed: spreads the rests of queues; use another one for each daemon.
  public init(policies: DeliveryQueuePolicies = DeliveryQueuePolicies(), seed: UInt64 = 0) {
    self.policies = policies
    randomSource = RandomSource(state: seed)
  }

  /// Whether attempt results and answers are buffered instead of written to the store.
  public var isBuffered: Bool { storeRetryAt != nil || isBuffering }

  /// The time for which the wake-up alarm is armed.
  public var wakesAt: Instant? { armedWake }

  /// Whether no transaction (firing, degraded mode, recording), no claim and no attempt is in flight.
  public var isQuiescent: Bool {
    state.isWaiting && queues.values.allSatisfy { $0.taken == 0 && !$0.isClaiming }
  }

  /// Whether the next due time is taken care of: a timer is armed for it, or a transaction that will read it is in flight.
  public var awaitsNextDue: Bool {
    nextDue == nil || armedDue != nil || !state.isWaiting
  }

  /// Takes one event at `now` and returns the effects to carry out. Never blocks, never fails.
  public mutating func handle(_ event: Event, now: Instant) -> [Effect] {
    switch event {
    case .wakeups(let wakeups):
      adopt(wakeups)
      storeWorks()
    case .clockWentBack(let step):
      for queue in queues.keys { queues[queue]?.clockWentBack(by: step) }
      forgetTimers()
      reevaluateHeldAside()
    case .awake:
      // The timer that fired is no longer armed, and after a clock step no timer can be trusted.
      forgetTimers()
      reevaluateHeldAside()
    case .sleeping: isDrowsy = true
    case .woke:
      isDrowsy = false
      forgetTimers()
      reevaluateHeldAside()
    case .policies(let policies, let renewed):
      self.policies = policies
      for queue in queues.keys {
        queues[queue]?.unavailableUntil = nil
        if renewed.contains(queue) { queues[queue]?.breaker = Breaker() }
      }
    case .opened(let queue):
      queues[queue]?.unavailableUntil = nil
      queues[queue]?.breaker.endRest(at: now)
    case .looked(let wakeups): adopt(wakeups)
    case .fired(let claims, let wakeups, let isEmpty):
      state = .waiting
      storeWorks()
      hold(claims)
      // A time that came into the store after this transaction had looked is locked by nobody.
      let isOutdated = wakeups.sequence < latestWakeups
      adopt(wakeups)
      leaveToOthers(isEmpty && !isOutdated, now: now)
    case .firingFailed:
      state = .waiting
      storeRetryAt = now + Self.storeRetry
    case .claimed(let asked, let claims, let wakeups):
      for queue in asked { queues[queue]?.isClaiming = false }
      hold(claims)
      adopt(wakeups)
    case .claimFailed(let asked):
      for queue in asked { queues[queue]?.isClaiming = false }
      storeRetryAt = now + Self.storeRetry
    case .unreadable(let queue):
      queues[queue, default: DeliveryQueueState()].unavailableUntil = now + Self.unreadableRetry
    case .ended(let endings):
      for ending in endings {
        queues[ending.queue]?.ended(ending.outcome, at: now, spread: randomSource.next())
        // An ordered queue claims its next delivery in the transaction that records the outcome of its head.
        if policies[ending.queue].isOrdered { queues[ending.queue]?.earliest = now }
      }
    case .dropped(let claims):
      let ids = Set(claims.map(\.id))
      for queue in Set(claims.map(\.queue)) { queues[queue]?.drop(ids) }
    case .refused:
      isRefused = true
      // A client that keeps asking must not postpone the retry for all others.
      storeRetryAt = storeRetryAt ?? now + Self.storeRetry
    case .buffered: isBuffering = true
    case .keptAnswer:
      isBuffering = true
      reevaluateHeldAside()
    case .firedDegraded(let claims, let next, let wake, let isBuffered):
      isBuffering = isBuffering || isBuffered
      fireDegraded = state.isStale ? .unknown : .at(next, wake: wake)
      state = .waiting
      hold(claims)
    case .degradedFiringFailed(let wake):
      state = .waiting
      let wakes = [wakeDue(now: now), wake].compactMap { $0 }.filter { $0 > now }
      fireDegraded = .at(now + Self.storeRetry, wake: wakes.min())
    case .recorded(let rest, let wakeups):
      state = .waiting
      isBuffering = rest
      storeWorks()
      adopt(wakeups)
    case .recordFailed:
      state = .waiting
      storeRetryAt = now + Self.storeRetry
    }
    return decide(now: now)
  }

  /// Notes that a transaction has committed.
  private mutating func storeWorks() {
    storeRetryAt = nil
    isRefused = false
    reevaluateHeldAside()
  }

  /// Discards the next degraded-mode due time: a read in flight may be older than this event.
  private mutating func reevaluateHeldAside() {
    fireDegraded = .unknown
    if case .firingDegraded = state { state = .firingDegraded(isStale: true) }
  }

  /// Waits while other daemons hold the locks of all due times; if they fail to fire them, the next attempt finds them.
  private mutating func leaveToOthers(_ isEmpty: Bool, now: Instant) {
    guard isEmpty, let due = nextDue, due <= now else {
      leaving = nil
      return
    }
    let span = leaving.map { min($0.span + $0.span, Self.mostLeft) } ?? Self.leastLeft
    leaving = (now + span, span)
  }

  private mutating func forgetTimers() {
    armedDue = nil
    armedOutbox = nil
    // An alarm that stays armed would ring later and wake the machine for nothing.
    isWakeSure = armedWake == nil
  }

  private mutating func hold(_ claims: [Claim]) {
    for claim in claims { queues[claim.queue, default: DeliveryQueueState()].hold(claim) }
  }

  private mutating func adopt(_ wakeups: NextWakeups) {
    // Commits may be reported out of order: an older view must not hide an earlier time.
    guard wakeups.sequence >= latestWakeups else { return }
    latestWakeups = wakeups.sequence
    nextDue = wakeups.nextDue
    nextWake = wakeups.nextWake
    for queue in queues.keys { queues[queue]?.earliest = nil }
    for (queue, earliest) in wakeups.outbox { queues[queue, default: DeliveryQueueState()].earliest = earliest }
    queues = queues.filter { !$0.value.isBlank }
  }

  private mutating func decide(now: Instant) -> [Effect] {
    var effects: [Effect] = []
    // A clock that was set far back must not turn five seconds into years.
    if let retry = storeRetryAt, retry <= now || retry - now > Self.storeRetry { storeRetryAt = nil }

    let left = leaving.flatMap { $0.until > now && $0.until - now <= Self.mostLeft ? $0.until : nil }

    // A time that has already come fires without the alarm.
    let wantedWake = wakeDue(now: now).flatMap { $0 > now ? $0 : nil }
    if armedWake != wantedWake || !isWakeSure {
      (armedWake, isWakeSure) = (wantedWake, true)
      effects.append(.armWake(wantedWake))
    }
    let order = queues.keys.sorted()
    if isDrowsy { return effects + restUntilWoken(order) }
    advanceAll(order, now: now, &effects)
    var prefetch = Self.prefetch - queues.values.reduce(0) { $0 + $1.heldCount }

    if !state.isWaiting {
      // The end of the transaction in flight triggers the next decision.
    } else if storeRetryAt == nil, isBuffering {
      // Before anything else: some of the times that the store still has as due have already fired.
      state = .recording
      effects.append(.record)
    } else if storeRetryAt == nil, left == nil, let due = nextDue, due <= now {
      state = .firing
      var known: [DeliveryQueue: Int] = [:]
      for queue in order where !policies[queue].isClosed {
        // The parts of a shared rate are computed later, so such queues claim after the firing transaction.
        let isHeldUp = queues[queue]?.isClaiming == true || policies.owners[queue.owner] != nil
        known[queue] = isHeldUp ? 0 : capacity(queue, prefetch: prefetch, isFiring: true, now: now)
      }
      effects.append(.fire(limit: Self.batch, capacity: Capacity(policies: policies, known: known)))
    } else if storeRetryAt != nil, isRefused, let due = degradedDue, due <= now {
      state = .firingDegraded(isStale: false)
      effects.append(.fireDegraded(limit: Self.batch))
    }
    let wantedDue = state.isWaiting ? dueTimerAt.map { max($0, left ?? $0) } : nil
    if armedDue != wantedDue {
      armedDue = wantedDue
      effects.append(.armDue(wantedDue))
    }

    var outbox: Instant?
    let parts = sharedParts(order, now: now)
    for queue in order {
      guard let at = claim(queue, prefetch: &prefetch, part: parts[queue], now: now, &effects) else { continue }
      outbox = min(outbox ?? at, at)
    }
    if armedOutbox != outbox {
      armedOutbox = outbox
      effects.append(.armOutbox(outbox))
    }
    return effects
  }

  private var degradedDue: Instant? {
    switch fireDegraded {
    // The store does not know about the buffered results.
    case .unknown: isBuffering ? .earliest : nextDue
    case .at(let time, _): time
    }
  }

  private func wakeDue(now: Instant) -> Instant? {
    guard isBuffering || isRefused else { return nextWake }
    return switch fireDegraded {
    case .at(_, let wake): wake
    // The armed alarm stays until the next degraded-mode read: the store does not know about the buffered results.
    case .unknown: armedWake.flatMap { $0 > now ? $0 : nil } ?? nextWake
    }
  }

  /// The time at which the due timer wakes the loop.
  private var dueTimerAt: Instant? {
    guard let retry = storeRetryAt else { return nextDue }
    guard isRefused else { return isBuffering ? retry : nextDue.map { max($0, retry) } }
    // While nothing is buffered and nothing is due, a store that refuses writes is not retried.
    return [isBuffering ? retry : nil, degradedDue].compactMap { $0 }.min()
  }

  /// Releases all held claims and disarms the timers; times that come due meanwhile are found when the machine wakes.
  private mutating func restUntilWoken(_ order: [DeliveryQueue]) -> [Effect] {
    var effects = order.flatMap { queue in (queues[queue]?.giveBack() ?? []).map(Effect.release) }
    if armedDue != nil { effects.append(.armDue(nil)) }
    if armedOutbox != nil { effects.append(.armOutbox(nil)) }
    (armedDue, armedOutbox) = (nil, nil)
    return effects
  }

  private mutating func capacity(_ queue: DeliveryQueue, prefetch: Int, isFiring: Bool = false, now: Instant) -> Int {
    queues[queue]?.capacity(policies[queue], prefetch: prefetch, isFiring: isFiring, at: now) ?? 0
  }

  /// Claims for a queue that has capacity and a delivery that may be tried now.
  ///
  /// - Returns: the time at which to evaluate the queue again; nil if another event triggers that.
  private mutating func claim(
    _ queue: DeliveryQueue, prefetch: inout Int, part: Int?, now: Instant, _ effects: inout [Effect]
  ) -> Instant? {
    let policy = policies[queue]
    guard !policy.isClosed else { return nil }
    let rate = [queues[queue]?.rateLets(policy, at: now), sharedLets(queue, now: now)].compactMap { $0 }.max()
    // Held claims wait for an attempt to end, or for the rate.
    let heldUntil = (queues[queue]?.heldCount ?? 0) > 0 ? rate : nil
    guard let earliest = queues[queue]?.earliest, queues[queue]?.isClaiming == false, !isBuffering else {
      return heldUntil
    }
    let rest = queues[queue]?.restsUntil(policy, at: now)
    let at = [earliest, rest, rate, storeRetryAt].compactMap { $0 }.max() ?? earliest
    if at > now { return min(at, heldUntil ?? at) }
    let limit = min(capacity(queue, prefetch: prefetch, now: now), part ?? .max)
    guard limit > 0 else { return nil }
    prefetch -= max(0, limit - policy.concurrency)
    queues[queue]?.isClaiming = true
    queues[queue]?.asked = limit
    effects.append(.claim(queue, limit: limit))
    return nil
  }
}
