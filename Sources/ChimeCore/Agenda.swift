public import ChimeSchedule

/// What to wait for and what to do next: the daemon's state machine, as a plain value.
///
/// It holds no reminder. Memory has the earliest due time and one small record for each lane of the outbox; all else
/// is in the store. Each event returns the effects to carry out; a shell performs them and brings back what came of
/// them as further events.
///
///     var agenda = Agenda()
///     for effect in agenda.handle(.horizon(horizon), now: clock.now) { perform(effect) }
public struct Agenda: Sendable {
  public enum Event: Sendable {
    /// A transaction has committed, and this is what the store looks like since.
    case horizon(Horizon)
    /// A timer fired, the clock was set, the zone changed, the machine woke: look again.
    case awake
    /// The firing transaction has committed.
    case fired(claimed: [Lane: Int], Horizon)
    /// The firing transaction failed; nothing was changed.
    case firingFailed
    /// Deliveries of a lane were claimed.
    case claimed(Lane, count: Int, Horizon)
    /// The claim failed; nothing was changed.
    case claimFailed(Lane)
    /// An attempt of a lane is over and its outcome has been recorded (or could not be).
    case ended(Lane)
  }

  public enum Effect: Hashable, Sendable {
    /// Arm the wall-clock timer for this time; nil disarms it.
    case armDue(Instant?)
    /// Arm the outbox's timer: the wall-clock time at which a delivery may be tried, to be waited for on the
    /// monotonic clock. Nil disarms it.
    case armOutbox(Instant?)
    /// Run one firing transaction for at most `limit` due times, claiming at once what its lanes have room for.
    case fire(limit: Int, room: Room)
    /// Claim at most `limit` deliveries of a lane.
    case claim(Lane, limit: Int)
  }

  /// How many attempts a lane may have under way, less those that are.
  public struct Room: Hashable, Sendable {
    /// Of a lane that has no room of its own.
    public var capacity: Int
    public var taken: [Lane: Int]

    public init(capacity: Int, taken: [Lane: Int]) {
      self.capacity = capacity
      self.taken = taken
    }

    /// How many more attempts the lane may have.
    public func left(in lane: Lane) -> Int { max(0, Agenda.capacity(of: lane, capacity) - (taken[lane] ?? 0)) }
  }

  /// How many due times one transaction fires: enough to share a commit, few enough to keep the writer free.
  public static let batch = 500
  /// How long the agenda waits before it asks a failing store again.
  public static let storeRetry = Milliseconds.seconds(5)

  /// Attempts under way in the desktop's lane at least: what waited for a screen is to be seen together, so that it can
  /// be shown as a few popups.
  public static let desktopCapacity = 64

  /// Attempts under way in one lane at most.
  public var laneCapacity: Int

  static func capacity(of lane: Lane, _ capacity: Int) -> Int {
    lane.channel == .desktop ? max(desktopCapacity, capacity) : capacity
  }

  private var nextDue: Instant?
  private var latestHorizon: UInt64 = 0
  private var isFiring = false
  private var storeRetryAt: Instant?
  private var lanes: [Lane: LaneState] = [:]
  private var armedDue: Instant?
  private var armedOutbox: Instant?

  private struct LaneState {
    var earliest: Instant?
    var underWay = 0
    var isClaiming = false
  }

  public init(laneCapacity: Int = 8) { self.laneCapacity = max(1, laneCapacity) }

  /// The earliest due time that is known.
  public var earliestDue: Instant? { nextDue }

  /// Takes one event at `now` and says what to do. Never blocks, never fails.
  public mutating func handle(_ event: Event, now: Instant) -> [Effect] {
    switch event {
    case .horizon(let horizon):
      adopt(horizon)
      storeRetryAt = nil
    case .awake:
      // A timer that fired is not armed any more; and after a step of the clock none can be trusted.
      armedDue = nil
      armedOutbox = nil
    case .fired(let claimed, let horizon):
      isFiring = false
      storeRetryAt = nil
      for (lane, count) in claimed { lanes[lane, default: LaneState()].underWay += count }
      adopt(horizon)
    case .firingFailed:
      isFiring = false
      storeRetryAt = now + Self.storeRetry
    case .claimed(let lane, let count, let horizon):
      lanes[lane, default: LaneState()].isClaiming = false
      lanes[lane, default: LaneState()].underWay += count
      adopt(horizon)
    case .claimFailed(let lane):
      lanes[lane, default: LaneState()].isClaiming = false
      storeRetryAt = now + Self.storeRetry
    case .ended(let lane):
      if let state = lanes[lane] { lanes[lane]?.underWay = max(0, state.underWay - 1) }
    }
    return decide(now: now)
  }

  private mutating func adopt(_ horizon: Horizon) {
    // Commits may be heard of in another order than they were made: an older view must not hide an earlier time.
    guard horizon.sequence >= latestHorizon else { return }
    latestHorizon = horizon.sequence
    nextDue = horizon.nextDue
    for lane in lanes.keys { lanes[lane]?.earliest = nil }
    for (lane, earliest) in horizon.outbox { lanes[lane, default: LaneState()].earliest = earliest }
    lanes = lanes.filter { $0.value.earliest != nil || $0.value.underWay > 0 || $0.value.isClaiming }
  }

  private mutating func decide(now: Instant) -> [Effect] {
    var effects: [Effect] = []
    // A clock that was set far back must not turn five seconds into years.
    if let retry = storeRetryAt, retry <= now || retry - now > Self.storeRetry { storeRetryAt = nil }

    if storeRetryAt == nil, !isFiring, let due = nextDue, due <= now {
      isFiring = true
      let taken = lanes.mapValues { $0.underWay + ($0.isClaiming ? max(laneCapacity, Self.desktopCapacity) : 0) }
      effects.append(.fire(limit: Self.batch, room: Room(capacity: laneCapacity, taken: taken)))
    }
    // While a firing transaction is under way its outcome brings the next time.
    let wantedDue = isFiring ? nil : [storeRetryAt, nextDue].compactMap { $0 }.max()
    if armedDue != wantedDue {
      armedDue = wantedDue
      effects.append(.armDue(wantedDue))
    }

    var outbox: Instant?
    for lane in lanes.keys.sorted() {
      guard let state = lanes[lane], let earliest = state.earliest, !state.isClaiming,
        state.underWay < Self.capacity(of: lane, laneCapacity)
      else { continue }
      if earliest <= now, storeRetryAt == nil, !isFiring {
        lanes[lane]?.isClaiming = true
        effects.append(.claim(lane, limit: Self.capacity(of: lane, laneCapacity) - state.underWay))
      } else if earliest > now || storeRetryAt != nil {
        let at = max(earliest, storeRetryAt ?? earliest)
        outbox = min(outbox ?? at, at)
      }
    }
    if armedOutbox != outbox {
      armedOutbox = outbox
      effects.append(.armOutbox(outbox))
    }
    return effects
  }
}
