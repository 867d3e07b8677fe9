import ChimeCore
import ChimeSchedule

/// The daemon's event loop in virtual time: it performs the scheduler's effects, runs the transactions, and feeds their
/// results back. A crash discards the object.
final class SimulatedLoop {
  unowned let world: Simulation
  let startedAt: Instant
  var uptime: Uptime
  /// The downtime to report with the first firing; nil once reported.
  var downtime: Downtime?
  var context: ReminderContext
  var scheduler: Scheduler
  var outbox = OutboxState()
  var renewal = Renewal()
  var owesWaking = false
  var catchUpSpread = CatchUpSpread()
  var isOutboxBusy = false
  var degradedMode = DegradedMode()
  /// The context of each buffered entry.
  var keptWith: [Work] = []
  var isRecording = false
  var recordWaiters: [() -> Void] = []
  /// The entries that the current transaction has recorded.
  var recorded: [Step] = []
  /// The size of the buffer at the last attempt to record it before the end.
  var lastTried: Int?
  var isTroubled = (writing: false, reading: false)
  /// The number of deferred retries.
  var arrears = 0
  var isReady = false
  private(set) var isStopping = false
  private(set) var isAlive = true
  /// The number of pending operations.
  var busy = 0
  private(set) var dueAt: Instant?
  /// In milliseconds of CLOCK_MONOTONIC.
  private(set) var outboxAt: Int64?
  private(set) var wakeAt: Instant?
  private var sequence: UInt64 = 0
  var inbox: (outcomes: [Outcome], answers: [OutboxTransaction.Answer]) = ([], [])
  /// The attempts that this daemon has begun and not yet recorded.
  var underWay: [DeliveryID: OutboundMessage] = [:]
  /// Of these, the attempts whose channel has reported.
  var reported: Set<DeliveryID> = []
  /// The zone rules when they were last read.
  var knownRules: [String: String]
  var knownLocal: String
  /// When the store last failed, in milliseconds of CLOCK_MONOTONIC.
  var storeFailedAt: Int64?
  private var afterwards: (() -> Void)?

  init(_ world: Simulation) {
    self.world = world
    startedAt = world.wall
    uptime = Uptime(runningSince: world.wall)
    context = ReminderContext(zones: world.zones, place: Place(latitude: 50.1, longitude: 14.4), quiet: world.quiet)
    context.calendars = world.holidays
    (knownRules, knownLocal) = (world.zones.rules, world.zones.localName)
    scheduler = Scheduler(policies: Self.policies(of: []), seed: world.bits())
  }

  // MARK: Events and effects

  func handle(_ event: Scheduler.Event) {
    guard isAlive, !isStopping else { return }
    perform(scheduler.handle(event, now: world.wall))
  }

  private func perform(_ effects: [Scheduler.Effect]) {
    for effect in effects {
      switch effect {
      case .armDue(let time): dueAt = time
      case .armOutbox(let time): outboxAt = time.map { world.mono + max(0, ($0 - world.wall).rawValue) }
      case .fire(let limit, let capacity): fire(limit: limit, capacity: capacity)
      case .claim(let queue, let limit): outbox.work.claims.append((queue, limit))
      case .send(let claim): begin(claim)
      case .release(let claim): giveBack(claim)
      case .armWake(let time): wakeAt = time
      case .fireDegraded(let limit): fireDegraded(limit: limit)
      case .record: record()
      }
    }
    workOutbox()
  }

  func dueTimerFired() {
    dueAt = nil
    handle(.awake)
  }

  func outboxTimerFired() {
    outboxAt = nil
    handle(.awake)
  }

  // MARK: The store

  /// Runs `body` on the loop after a delay, if the loop is still alive.
  func later(_ milliseconds: Int64, _ body: @escaping (SimulatedLoop) -> Void) {
    busy += 1
    world.later(milliseconds) { [self] in
      busy -= 1
      if isAlive { body(self) }
    }
  }

  /// Runs `body` as a write transaction after the store's delay, and `done` on the loop after it.
  ///
  /// - Parameters:
  ///   - asked: the time of the request, if it differs from the time of the transaction.
  ///   - tells: whether a refusal makes the loop enter degraded mode.
  func write<Value>(
    _ kind: Work.Kind, context: ReminderContext? = nil, at asked: Instant? = nil, tells: Bool = true,
    _ body: @escaping (any StoreTransaction, Instant) throws -> Value,
    _ done: @escaping (Result<(Value, NextWakeups), any Error>) -> Void
  ) {
    let context = context ?? self.context
    let fault = world.storeFault
    let begin = max(world.mono + world.chance(0...2), world.store.freeAt)
    let takes = fault == .slow ? world.chance(500...20_000) : world.chance(0...6)
    world.store.freeAt = begin + takes
    if fault == .slow { world.checker.isRough(for: begin + takes - world.mono) }
    later(begin - world.mono) { loop in
      let world = loop.world
      let work = Work(
        kind: kind, now: asked ?? world.wall, context: context, uptime: loop.uptime)
      let result = Result { () throws -> (Value, NextWakeups) in
        let value = try world.store.write(world.storeFault, world.bits()) { try body($0, work.now) }
        var wakeups = try world.store.transaction.wakeups()
        loop.sequence += 1
        wakeups.sequence = loop.sequence
        return (value, wakeups)
      }
      if case .failure(let failure) = result {
        if case StoreFailure.unavailable? = failure as? StoreFailure {
          world.figures.storeErrors += 1
          loop.storeFailedAt = world.mono
        }
        if case StoreFailure.internalError(let reason)? = failure as? StoreFailure {
          world.fail("the store: \(reason)")
        }
      } else if kind == .record {
        world.checker.recorded(loop.recorded)
      } else {
        world.checker.committed(work)
      }
      loop.later(takes + world.chance(0...2)) { loop in
        // The failure counts from when the loop learns of it; it may have been suspended meanwhile.
        if case .failure(StoreFailure.unavailable) = result {
          loop.storeFailedAt = loop.world.mono
          if tells { loop.storeFailed() }
        }
        done(result)
      }
    }
  }

  func read<Value>(
    _ body: @escaping (any StoreTransaction) throws -> Value, _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    later(world.chance(0...2)) { loop in
      let result = Result { () throws -> Value in
        if loop.world.storeFault == .gone { throw StoreFailure.unavailable("the disk is gone") }
        return try body(loop.world.store.transaction)
      }
      if case .failure = result { loop.storeFailedAt = loop.world.mono }
      loop.later(loop.world.chance(0...2)) { _ in done(result) }
    }
  }

  /// Moves the time of the last store failure by the length of a suspension.
  func wasStopped(for length: Milliseconds) { storeFailedAt = storeFailedAt.map { $0 + length.rawValue } }

  // MARK: The end

  /// Disarms an expired alarm: it does not fire again when the clock goes back (timerfd_create(2)).
  func clockReaches(_ wall: Instant) {
    if let at = wakeAt, at <= wall { wakeAt = nil }
  }

  /// Crashes: memory is lost, and results of pending operations are discarded.
  func die() {
    isAlive = false
    (dueAt, outboxAt, wakeAt) = (nil, nil, nil)
  }

  /// Stops cleanly: attempts in flight end as failed and are recorded.
  func stop(then body: @escaping () -> Void) {
    guard !isStopping else { return }
    isStopping = true
    (dueAt, outboxAt) = (nil, nil)
    afterwards = body
    for message in underWay.values.sorted(by: { $0.delivery.id.rawValue < $1.delivery.id.rawValue }) {
      hear(
        .ended(
          Attempt(number: 0, startedAt: world.wall, took: .zero, outcome: .failed, error: "the daemon ends"),
          next: .retry), on: message)
    }
    if inbox.outcomes.isEmpty { endIfSettled() }
  }

  func endIfSettled() {
    guard isStopping, !isOutboxBusy, outbox.work.outcomes.isEmpty, afterwards != nil, !recordsBeforeTheEnd(),
      let body = afterwards
    else { return }
    world.checker.ends(self)
    afterwards = nil
    die()
    body()
  }
}

/// A transaction as the checker sees it.
struct Work {
  enum Kind: Equatable {
    case start, fire, outbox, answer, recomputeDueTimes, reevaluateHeld, wake, note, record
    case client(PlannedAction.Verb)
    case ping(ReminderID, Ping.Kind)

    /// The kind of a client's request.
    init(_ action: PlannedAction) {
      self =
        action.verb == .ping
        ? .ping(ReminderID(rawValue: action.subject), action.ping) : .client(action.verb)
    }
  }

  var kind: Kind
  var now: Instant
  var context: ReminderContext
  var uptime: Uptime
}
