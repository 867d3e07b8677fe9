public import ChimeSchedule

/// What to wait for and what to do next: the daemon's state machine, as a plain value.
///
/// It holds no reminder. Memory has the earliest due time and one small record for each queue of the outbox; all else
/// is in the store. Each event returns the effects to carry out; a shell performs them and brings back what came of
/// them as further events.
///
///     var scheduler = Scheduler()
///     for effect in scheduler.handle(.wakeups(wakeups), now: clock.now) { perform(effect) }
public struct Scheduler: Sendable {
  /// How many due times one transaction fires: enough to share a commit, few enough to keep the writer free.
  public static let batch = 500
  /// How long the scheduler waits before it asks a failing store again.
  public static let storeRetry = Milliseconds.seconds(5)
  /// How long the scheduler leaves to other daemons what is due and locked by them, at first and at most.
  public static let leastLeft = Milliseconds(rawValue: 20)
  public static let mostLeft = Milliseconds.seconds(1)
  /// How long the scheduler waits before it asks again for what could not be read.
  public static let unreadableRetry = Milliseconds.minutes(5)
  /// How many deliveries all queues together claim beyond those that may be under way: each is held in memory.
  public static let prefetch = 2_048

  public private(set) var policies: DeliveryQueuePolicies

  /// The earliest time that the store has to come; nil: none.
  public private(set) var nextDue: Instant?
  private var nextWake: Instant?
  /// Whether the machine is about to sleep, so that nothing begins.
  public private(set) var isDrowsy = false
  /// The greatest number of a horizon that was heard of.
  public private(set) var latestWakeups: UInt64 = 0
  private var isFiring = false
  private var storeRetryAt: Instant?
  /// Until when what is due is left to other daemons, and how long that is; it is doubled each time.
  private var leaving: (until: Instant, span: Milliseconds)?
  /// Whether the store takes no changes, so that what is due fires without it.
  private var isRefused = false
  /// Whether something is kept for the store.
  private var isKeeping = false
  private var isDegraded = false
  /// Whether what is being worked off without the store was read before something that is known of since.
  private var looksBehind = false
  private var isRecording = false
  /// When the next is due that would fire without the store.
  private var fireDegraded = DegradedWakeup.unknown
  var queues: [DeliveryQueue: DeliveryQueueState] = [:]
  /// What has begun of owners whose queues share a rate.
  var shared: [UInt32: RateWindow] = [:]
  private var armedDue: Instant?
  private var armedOutbox: Instant?
  private var armedWake: Instant?
  /// Whether `armedWake` is so. An alarm of which that is not known is armed anew, or disarmed.
  private var isWakeSure = true
  private var randomSource: RandomSource

  private enum DegradedWakeup: Sendable {
    case unknown
    case at(Instant?, wake: Instant?)
  }

  /// - Parameter seed: spreads the rests of queues; another one for each daemon.
  public init(policies: DeliveryQueuePolicies = DeliveryQueuePolicies(), seed: UInt64 = 0) {
    self.policies = policies
    randomSource = RandomSource(state: seed)
  }

  /// Whether what comes of attempts and what is answered is to be kept rather than written.
  public var keepsForStore: Bool { storeRetryAt != nil || isKeeping }

  /// The time for which the machine is to be woken.
  public var wakesAt: Instant? { armedWake }

  /// Whether nothing is under way: no transaction of firing or making up, no claim, no attempt.
  public var isQuiescent: Bool {
    !isFiring && !isDegraded && !isRecording && queues.values.allSatisfy { $0.taken == 0 && !$0.isClaiming }
  }

  /// Whether something sees to what is due next: a timer is armed for it, or it is being fired.
  public var awaitsNextDue: Bool {
    nextDue == nil || armedDue != nil || isFiring || isDegraded || isRecording
  }

  /// Takes one event at `now` and says what to do. Never blocks, never fails.
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
      // A timer that fired is not armed any more; and after a step of the clock none can be trusted.
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
        queues[queue]?.shutUntil = nil
        if renewed.contains(queue) { queues[queue]?.breaker = Breaker() }
      }
    case .opened(let queue): queues[queue]?.shutUntil = nil
    case .looked(let wakeups): adopt(wakeups)
    case .fired(let claims, let wakeups, let isEmpty):
      isFiring = false
      storeWorks()
      hold(claims)
      adopt(wakeups)
      leaveToOthers(isEmpty, now: now)
    case .firingFailed:
      isFiring = false
      storeRetryAt = now + Self.storeRetry
    case .claimed(let asked, let claims, let wakeups):
      for queue in asked { queues[queue]?.isClaiming = false }
      hold(claims)
      adopt(wakeups)
    case .claimFailed(let asked):
      for queue in asked { queues[queue]?.isClaiming = false }
      storeRetryAt = now + Self.storeRetry
    case .unreadable(let queue):
      queues[queue, default: DeliveryQueueState()].shutUntil = now + Self.unreadableRetry
    case .ended(let endings):
      for ending in endings {
        queues[ending.queue]?.ended(ending.outcome, at: now, spread: randomSource.next())
        // The next of an ordered queue is claimed as soon as the outcome of its head is recorded: in one transaction.
        if policies[ending.queue].isOrdered { queues[ending.queue]?.earliest = now }
      }
    case .dropped(let claims):
      let ids = Set(claims.map(\.id))
      for queue in Set(claims.map(\.queue)) { queues[queue]?.drop(ids) }
    case .refused:
      isRefused = true
      // Whoever asks again and again puts off no other's turn.
      storeRetryAt = storeRetryAt ?? now + Self.storeRetry
    case .kept: isKeeping = true
    case .keptAnswer:
      isKeeping = true
      reevaluateHeldAside()
    case .stoodIn(let claims, let next, let wake, let kept):
      isDegraded = false
      isKeeping = isKeeping || kept
      fireDegraded = looksBehind ? .unknown : .at(next, wake: wake)
      hold(claims)
    case .standInFailed(let wake):
      isDegraded = false
      let wakes = [wakeDue(now: now), wake].compactMap { $0 }.filter { $0 > now }
      fireDegraded = .at(now + Self.storeRetry, wake: wakes.min())
    case .recorded(let rest, let wakeups):
      isRecording = false
      isKeeping = rest
      storeWorks()
      adopt(wakeups)
    case .recordFailed:
      isRecording = false
      storeRetryAt = now + Self.storeRetry
    }
    return decide(now: now)
  }

  /// A transaction has committed.
  private mutating func storeWorks() {
    storeRetryAt = nil
    isRefused = false
    reevaluateHeldAside()
  }

  /// What is due without the store is not known: a look that is under way may have come before what was heard now.
  private mutating func reevaluateHeldAside() {
    fireDegraded = .unknown
    looksBehind = isDegraded
  }

  /// Others have locked what is due, and are about to fire it; should they come to nothing, it is there again.
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
    // One that is left alone rings later, and wakes the machine for nothing.
    isWakeSure = armedWake == nil
  }

  private mutating func hold(_ claims: [Claim]) {
    for claim in claims { queues[claim.queue, default: DeliveryQueueState()].hold(claim) }
  }

  private mutating func adopt(_ wakeups: NextWakeups) {
    // Commits may be heard of in another order than they were made: an older view must not hide an earlier time.
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

    // What has come already fires without its help.
    let wantedWake = wakeDue(now: now).flatMap { $0 > now ? $0 : nil }
    if armedWake != wantedWake || !isWakeSure {
      (armedWake, isWakeSure) = (wantedWake, true)
      effects.append(.armWake(wantedWake))
    }
    let order = queues.keys.sorted()
    if isDrowsy { return effects + restUntilWoken(order) }
    advanceAll(order, now: now, &effects)
    var prefetch = Self.prefetch - queues.values.reduce(0) { $0 + $1.heldCount }

    let isBusy = isFiring || isDegraded || isRecording
    if isBusy {
      // What is under way brings what comes next.
    } else if storeRetryAt == nil, isKeeping {
      // Before anything else: what the store has as due has fired in part.
      isRecording = true
      effects.append(.record)
    } else if storeRetryAt == nil, left == nil, let due = nextDue, due <= now {
      isFiring = true
      var known: [DeliveryQueue: Int] = [:]
      for queue in order where !policies[queue].isClosed {
        // Of a shared rate nobody can say yet whose part it is: what fires is claimed afterwards.
        let isHeldUp = queues[queue]?.isClaiming == true || policies.owners[queue.owner] != nil
        known[queue] = isHeldUp ? 0 : capacity(queue, prefetch: prefetch, isFiring: true, now: now)
      }
      effects.append(.fire(limit: Self.batch, capacity: Capacity(policies: policies, known: known)))
    } else if storeRetryAt != nil, isRefused, let due = standInDue, due <= now {
      (isDegraded, looksBehind) = (true, false)
      effects.append(.fireDegraded(limit: Self.batch))
    }
    let wantedDue = isFiring || isDegraded || isRecording ? nil : dueTimerAt.map { max($0, left ?? $0) }
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

  private var standInDue: Instant? {
    switch fireDegraded {
    // The store does not know of what is kept.
    case .unknown: isKeeping ? .earliest : nextDue
    case .at(let time, _): time
    }
  }

  private func wakeDue(now: Instant) -> Instant? {
    guard isKeeping || isRefused else { return nextWake }
    return switch fireDegraded {
    case .at(_, let wake): wake
    // What was known before holds until it is looked at again: the store does not know of what is kept.
    case .unknown: armedWake.flatMap { $0 > now ? $0 : nil } ?? nextWake
    }
  }

  /// When the due timer is to wake the loop.
  private var dueTimerAt: Instant? {
    guard let retry = storeRetryAt else { return nextDue }
    guard isRefused else { return isKeeping ? retry : nextDue.map { max($0, retry) } }
    // While nothing is kept and nothing is due nobody asks a store that refuses.
    return [isKeeping ? retry : nil, standInDue].compactMap { $0 }.min()
  }

  /// Gives back what is held, and waits for nothing: what comes due meanwhile is found when the machine wakes.
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

  /// Claims for a queue that has room for what may be tried.
  ///
  /// - Returns: when the queue is to be looked at again, where nothing else brings that about.
  private mutating func claim(
    _ queue: DeliveryQueue, prefetch: inout Int, part: Int?, now: Instant, _ effects: inout [Effect]
  ) -> Instant? {
    let policy = policies[queue]
    guard !policy.isClosed else { return nil }
    let rate = [queues[queue]?.rateLets(policy, at: now), sharedLets(queue, now: now)].compactMap { $0 }.max()
    // What is held waits for an attempt to end, or for the rate.
    let heldUntil = (queues[queue]?.heldCount ?? 0) > 0 ? rate : nil
    guard let earliest = queues[queue]?.earliest, queues[queue]?.isClaiming == false, !isKeeping else {
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
