public import ChimeSchedule

/// A delivery that this daemon has claimed: hidden from others until then.
public struct Claim: Hashable, Sendable {
  public var id: DeliveryID
  public var queue: DeliveryQueue
  public var until: Instant

  public init(id: DeliveryID, queue: DeliveryQueue, until: Instant) {
    self.id = id
    self.queue = queue
    self.until = until
  }
}

/// What the scheduler knows of one queue.
struct DeliveryQueueState: Sendable {
  /// The earliest time at which something owed may be tried; nil when nothing is owed.
  var earliest: Instant?
  /// Attempts under way.
  var begun = 0
  /// Whether a transaction that claims is under way.
  var isClaiming = false
  /// At most how many that transaction brings.
  var asked = 0
  /// When the way may be open again; nil while it is open as far as is known. Until then only what has just fired is
  /// tried, which may find it open earlier; then one of those that wait.
  var shutUntil: Instant?
  /// How many of the oldest that are held were claimed before the way was found to be shut.
  private var stale = 0
  var breaker = Breaker()
  private var rate = RateWindow()
  /// When it last began something: of queues that share a rate, the one that has waited longest comes first.
  private var begunAt: Instant = .earliest
  private var begunCount = 0
  /// Who of them comes first is the least of these.
  var turn: Turn { Turn(at: begunAt, count: begunCount) }

  struct Turn: Comparable {
    var at: Instant
    /// Of two that began at the same moment, who has begun less comes first.
    var count: Int

    static func < (left: Turn, right: Turn) -> Bool { (left.at, left.count) < (right.at, right.count) }
  }
  /// Claimed and not begun, oldest first, from `first` on.
  private var held: [Claim] = []
  private var first = 0
  /// How long attempts that arrive take, smoothed; nil while the last one failed.
  private var pace: Double?

  /// A queue works off in this time what it claims ahead.
  static let ahead = Milliseconds.seconds(2)
  /// At most so many times its concurrency is claimed.
  static let mostAhead = 64.0

  var heldCount: Int { held.count - first }
  /// Claimed in all.
  var taken: Int { begun + heldCount }

  /// Whether there is nothing to be remembered.
  var isBlank: Bool {
    earliest == nil && taken == 0 && !isClaiming && shutUntil == nil && breaker.isSound && rate.isEmpty
  }

  /// When what is owed may be tried again; nil when it may be now.
  func restsUntil(_ policy: DeliveryQueuePolicy, at now: Instant) -> Instant? {
    let shut = shutUntil.flatMap { $0 > now ? $0 : nil }
    let breaker = policy.rests ? breaker.restsUntil(at: now) : nil
    return [shut, breaker].compactMap { $0 }.max()
  }

  /// What is waited for is over as soon as before.
  mutating func clockWentBack(by step: Milliseconds) {
    breaker.clockWentBack(by: step)
    shutUntil = shutUntil.map { $0 - step }
  }

  /// How many attempts may be under way now.
  private func width(_ policy: DeliveryQueuePolicy, at now: Instant) -> Int {
    if policy.isClosed || (policy.rests && breaker.restsUntil(at: now) != nil) { return 0 }
    return policy.isOrdered || (policy.rests && breaker.probes(at: now)) ? 1 : policy.concurrency
  }

  /// How many more may be claimed now: more than may be under way only for a queue whose attempts arrive quickly.
  ///
  /// - Parameters:
  ///   - spare: how many more than their width all queues together may claim.
  ///   - isFiring: whether it is for what fires now.
  mutating func capacity(_ policy: DeliveryQueuePolicy, prefetch: Int, isFiring: Bool = false, at now: Instant) -> Int {
    var width = width(policy, at: now)
    if shutUntil != nil, !isFiring { width = min(width, 1) }
    guard width > 0 else { return 0 }
    var window = width
    if width == policy.concurrency, !policy.isOrdered, let pace {
      let times = min(max(Double(Self.ahead.rawValue) / max(pace, 1), 1), Self.mostAhead)
      window = min(Int(Double(width) * times), width + max(0, prefetch))
    }
    // Half a window at a time, so that claims come in batches.
    guard taken < max(width, window / 2) else { return 0 }
    var capacity = window - taken
    if let limit = policy.rate { capacity = min(capacity, rate.capacity(limit, at: now) - heldCount) }
    return max(0, capacity)
  }

  /// When the rate lets the next one begin; nil when one may now.
  mutating func rateLets(_ policy: DeliveryQueuePolicy, at now: Instant) -> Instant? {
    guard let limit = policy.rate, rate.capacity(limit, at: now) <= heldCount else { return nil }
    return rate.next(limit)
  }

  mutating func hold(_ claim: Claim) { held.append(claim) }

  mutating func drop(_ ids: Set<DeliveryID>) {
    stale -= held[first...].prefix(stale).count { ids.contains($0.id) }
    held = held[first...].filter { !ids.contains($0.id) }
    first = 0
  }

  /// All that is held goes back.
  mutating func giveBack() -> [Claim] {
    defer { (held, first, stale) = ([], 0, 0) }
    return Array(held[first...])
  }

  /// What may be begun now, counted as begun, and what has to go back.
  ///
  /// - Parameter most: how many others leave it of a rate that it shares.
  mutating func advance(
    _ policy: DeliveryQueuePolicy, most: Int = .max, at now: Instant
  ) -> (begin: [Claim], release: [Claim]) {
    if let limit = policy.rate { rate.forget(limit, at: now) }
    let width = width(policy, at: now)
    var begin: [Claim] = []
    var release: [Claim] = []
    while first < held.count {
      let claim = held[first]
      // Its attempt might outlive the claim, and another take it for lost.
      if width == 0 || stale > 0 || now + policy.attemptLimit > claim.until || claim.until - now > policy.claimSpan {
        release.append(claim)
        stale -= min(stale, 1)
      } else {
        guard begun < width, begin.count < most else { break }
        if let limit = policy.rate {
          guard rate.capacity(limit, at: now) > 0 else { break }
          rate.begin(at: now)
        }
        begun += 1
        begin.append(claim)
      }
      first += 1
    }
    if !begin.isEmpty { (begunAt, begunCount) = (now, begunCount + begin.count) }
    if first == held.count {
      held.removeAll(keepingCapacity: held.count <= 1_024)
      first = 0
    }
    return (begin, release)
  }

  mutating func ended(_ outcome: DeliveryQueueOutcome, at now: Instant, spread: Double) {
    begun = max(0, begun - 1)
    switch outcome {
    case .arrived(let took):
      shutUntil = nil
      breaker.answered()
      let took = Double(max(took.rawValue, 0))
      pace = pace.map { $0 * 0.8 + took * 0.2 } ?? took
    case .declined:
      shutUntil = nil
      breaker.answered()
      pace = nil
    case .failed(let asked):
      shutUntil = nil
      breaker.failed(at: now, asked: asked, spread: spread)
      pace = nil
    case .shut(let wait):
      shutUntil = now + wait
      stale = heldCount
      pace = nil
    }
  }
}
