public import ChimeSchedule

/// A Claim is a delivery that this daemon has claimed, hidden from other daemons until a set time.
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

/// A DeliveryQueueState is what the scheduler remembers about one queue.
struct DeliveryQueueState: Sendable {
  /// The earliest time at which a pending delivery may be tried; nil if none is pending.
  var earliest: Instant?
  /// The number of attempts in flight.
  var begun = 0
  /// Whether a claiming transaction is in flight.
  var isClaiming = false
  /// The most claims that this transaction can return.
  var asked = 0
  /// The time at which an unavailable queue may be available again; nil while it is not known to be unavailable.
  ///
  /// Until then only deliveries that have just fired are tried, which may find it available early. Afterwards one of
  /// the waiting deliveries is tried.
  var unavailableUntil: Instant?
  /// The number of oldest held claims that were claimed before the queue became unavailable.
  private var stale = 0
  var breaker = Breaker()
  private var rate = RateWindow()
  /// The time of the latest attempt; among queues that share a rate, the one that has waited longest comes first.
  private var begunAt: Instant = .earliest
  private var begunCount = 0
  /// The queue's place among queues that share a rate; the smallest comes first.
  var turn: Turn { Turn(at: begunAt, count: begunCount) }

  struct Turn: Comparable {
    var at: Instant
    /// Of two queues that began at the same moment, the one that has begun fewer attempts comes first.
    var count: Int

    static func < (left: Turn, right: Turn) -> Bool { (left.at, left.count) < (right.at, right.count) }
  }
  /// Claims that have not begun, oldest first, from index `first` on.
  private var held: [Claim] = []
  private var first = 0
  /// The smoothed duration of successful attempts in milliseconds; nil after an attempt that did not arrive.
  private var pace: Double?

  /// The time within which a queue is expected to send everything it claims ahead.
  static let ahead = Milliseconds.seconds(2)
  /// The most that a queue claims, as a multiple of its concurrency.
  static let mostAhead = 64.0

  var heldCount: Int { held.count - first }
  /// The number of claims, held or begun.
  var taken: Int { begun + heldCount }

  /// Whether the state can be dropped because it holds nothing to remember.
  var isBlank: Bool {
    earliest == nil && taken == 0 && !isClaiming && unavailableUntil == nil && breaker.isSound && rate.isEmpty
  }

  /// Returns when pending deliveries may be tried again; nil if they may be tried now.
  func restsUntil(_ policy: DeliveryQueuePolicy, at now: Instant) -> Instant? {
    let unavailable = unavailableUntil.flatMap { $0 > now ? $0 : nil }
    let breaker = policy.rests ? breaker.restsUntil(at: now) : nil
    return [unavailable, breaker].compactMap { $0 }.max()
  }

  /// Moves the ends of all waits back by `step`, so that each takes no longer than it would have.
  mutating func clockWentBack(by step: Milliseconds) {
    breaker.clockWentBack(by: step)
    unavailableUntil = unavailableUntil.map { $0 - step }
  }

  /// Returns how many attempts may be in flight at `now`.
  private func width(_ policy: DeliveryQueuePolicy, at now: Instant) -> Int {
    if policy.isClosed || (policy.rests && breaker.restsUntil(at: now) != nil) { return 0 }
    return policy.isOrdered || (policy.rests && breaker.probes(at: now)) ? 1 : policy.concurrency
  }

  /// Returns how many more deliveries may be claimed now.
  ///
  /// This exceeds the number of attempts that may be in flight only if the queue's attempts arrive quickly.
  ///
  /// - Parameters:
  ///   - prefetch: how many claims beyond their width all queues together may still make.
  ///   - isFiring: whether the claims are made by the firing transaction.
  mutating func capacity(_ policy: DeliveryQueuePolicy, prefetch: Int, isFiring: Bool = false, at now: Instant) -> Int {
    var width = width(policy, at: now)
    if unavailableUntil != nil, !isFiring { width = min(width, 1) }
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

  /// Returns when the rate permits the next attempt; nil if it permits one now.
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

  /// Returns all held claims and forgets them.
  mutating func giveBack() -> [Claim] {
    defer { (held, first, stale) = ([], 0, 0) }
    return Array(held[first...])
  }

  /// Returns the claims to begin now, which it counts as begun, and the claims to release.
  ///
  /// - Parameter most: how many attempts the rate that the queue shares still permits.
  mutating func advance(
    _ policy: DeliveryQueuePolicy, most: Int = .max, at now: Instant
  ) -> (begin: [Claim], release: [Claim]) {
    if let limit = policy.rate { rate.forget(limit, at: now) }
    let width = width(policy, at: now)
    var begin: [Claim] = []
    var release: [Claim] = []
    while first < held.count {
      let claim = held[first]
      // An attempt that outlives its claim would look lost to another daemon, which would send the delivery again.
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
      unavailableUntil = nil
      breaker.answered()
      let took = Double(max(took.rawValue, 0))
      pace = pace.map { $0 * 0.8 + took * 0.2 } ?? took
    case .declined:
      unavailableUntil = nil
      breaker.answered()
      pace = nil
    case .failed(let asked):
      unavailableUntil = nil
      breaker.failed(at: now, asked: asked, spread: spread)
      pace = nil
    case .unavailable(let wait):
      unavailableUntil = now + wait
      stale = heldCount
      pace = nil
    }
  }
}
