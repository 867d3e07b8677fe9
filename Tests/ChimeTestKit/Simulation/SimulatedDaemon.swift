import ChimeCore
import ChimeSchedule

/// A SimulatedDaemon is the shell of a `LoopCore` in virtual time: timers, a store with faults, channels.
///
/// It decides nothing itself; the daemon's shell drives the same core. A crash discards the object.
final class SimulatedDaemon {
  unowned let world: Simulation
  let startedAt: Instant
  private(set) var core: LoopCore
  private(set) var isReady = false
  private(set) var isStopping = false
  /// When it was asked to stop, in milliseconds of CLOCK_MONOTONIC.
  private(set) var stopsSince = Int64.max
  private(set) var isAlive = true
  /// The number of pending operations.
  private(set) var busy = 0
  private(set) var dueAt: Instant?
  /// Whether the timer for due times precedes the next of them by a moment.
  private var mayBeginAhead = true
  /// In milliseconds of CLOCK_MONOTONIC.
  private(set) var outboxAt: Int64?
  private(set) var wakeAt: Instant?
  /// The number of times that the timers for retries and for sleep were armed; an older one is void.
  private var armed = (retry: 0, sleep: 0)
  private var sequence: UInt64 = 0
  private var inbox: (outcomes: [Outcome], answers: [OutboxTransaction.Answer]) = ([], [])
  /// The attempts that this daemon has begun and not yet recorded.
  private(set) var underWay: [DeliveryID: OutboundMessage] = [:]
  /// Of these, the attempts whose channel has reported.
  private(set) var reported: Set<DeliveryID> = []
  /// The time and the context of each buffered entry.
  private var keptWith: [Work] = []
  /// The zone rules when they were last read.
  private var knownRules: [String: String]
  private var knownLocal: String
  /// When the store last failed, in milliseconds of CLOCK_MONOTONIC.
  private(set) var storeFailedAt: Int64?
  private var afterwards: (() -> Void)?
  init(_ world: Simulation) {
    self.world = world
    startedAt = world.wall
    var context = ReminderContext(zones: world.zones, place: Place(latitude: 50.1, longitude: 14.4), quiet: world.quiet)
    context.calendars = world.holidays
    (knownRules, knownLocal) = (world.zones.rules, world.zones.localName)
    core = LoopCore(
      startedAt: world.wall, context: context, policies: Self.policies(of: []),
      pages: LoopCore.PageSizes(read: 5, write: 5, history: 5),
      random: SeededGenerator(seed: world.bits()))
    core.contextText = contextText
    core.historyLimits = world.historyLimits
  }

  // MARK: Driving the core

  /// - Parameter ahead: the due time that is the present for the core, although it is still to come.
  func drive(ahead: Instant? = nil, _ body: (inout LoopCore) -> Void) {
    guard isAlive else { return }
    let effects = core.run(at: ahead ?? world.wall, body)
    for case .report(.recorded(let part, _)) in effects { keptWith.removeFirst(part.entries.count) }
    for entry in core.degradedMode.entries.dropFirst(keptWith.count) {
      keptWith.append(Work(kind: Work.Kind(entry), now: world.wall, context: core.context, uptime: core.uptime))
    }
    // The checker knows what happened before it sees what is sent.
    for case .report(let report) in effects { hear(report) }
    for effect in effects where isAlive {
      switch effect {
      case .armDue(let time): (dueAt, mayBeginAhead) = (time, true)
      case .armOutbox(let time): outboxAt = time.map { world.mono + max(0, ($0 - world.wall).rawValue) }
      case .armWake(let time): wakeAt = time
      case .armRetry(let wait):
        armed.retry += 1
        let mine = armed.retry
        world.later(wait.rawValue) { [self] in if armed.retry == mine { drive { $0.retry() } } }
      case .armSleep(let wait):
        armed.sleep += 1
        let mine = armed.sleep
        if let wait { world.later(wait.rawValue) { [self] in if armed.sleep == mine { drive { $0.sleep(.timeUp) } } } }
      case .inhibitSleep: break
      case .releaseSleep: if busy == 0 { world.checker.checkClaims(self) }
      case .send(let message):
        world.send(message, from: self)
        underWay[message.delivery.id] = message
      case .answer(let answer): record(answer)
      case .run(let job):
        if let ahead, ahead > world.wall {
          later((ahead - world.wall).rawValue) { $0.run(job) }
        } else {
          run(job)
        }
      case .dropMonths, .armOthers: break
      case .report: break
      }
    }
  }

  private func hear(_ report: LoopCore.Report) {
    switch report {
    case .started(let start):
      drive { core in
        core.adopt(start.endpoints, Self.policies(of: start.endpoints))
        core.begin(start, noticeChannels: isReady ? nil : [.desktop])
      }
      isReady = true
      world.note { "chimed is ready" }
      drive { $0.reviewContext() }
    case .startFailed(let error) where isReady: drive { $0.storeIsUnreadable(error) }
    case .startFailed:
      // The daemon exits with an error, and the service manager restarts it.
      die()
      world.loop = nil
      world.later(5_000) { [world] in world.boot() }
    case .fired(let fired):
      world.checker.checkReportedOnce(fired.firings)
      world.checker.history.somethingHappens(self)
      world.checker.learns(of: fired.firings.flatMap(\.deliveries))
    case .firedDegraded(let work, _):
      world.figures.degradedFirings += work.firings.count
      world.note { "\(work.firings.count) firings in degraded mode, \(work.messages.count) shown" }
      world.checker.firesDegraded(work)
      world.checker.checkReportedOnce(work.firings)
    case .answeredDegraded(let occurrence, _): world.checker.answeredInDegradedMode(occurrence)
    case .recorded(let part, _):
      forgetUnderWay(part.entries.compactMap { if case .ended(let outcome, _) = $0 { outcome } else { nil } })
      if core.degradedMode.entries.isEmpty { world.checker.bufferIsEmpty() }
    case .outcomes(let part, let commit):
      forgetUnderWay(part.outcomes)
      // The outcomes of abandoned degraded-mode popups have no row to be recorded in.
      let homeless = part.outcomes.count { world.checker.abandoned.contains($0.message.delivery.id) }
      for reason in commit.refused.dropFirst(homeless) { world.fail("an outcome could not be recorded: \(reason)") }
    case .endpointsChanged: refreshEndpoints {}
    case .resumed: contextChanged(always: true)
    case .finished:
      world.checker.ends(self)
      let body = afterwards
      die()
      body?()
    case .historyPruned(_, let begunAt): world.checker.history.ended(self, begunAt: begunAt)
    case .historyNotPruned: world.checker.history.failed()
    case .answerRefused, .storeFailed, .storeUnreadable, .storeWorks, .storeTried, .renewal, .clockNotNoted, .sleeps,
      .answeredElsewhere, .drained:
      break
    }
  }

  private func forgetUnderWay(_ outcomes: [Outcome]) {
    for outcome in outcomes {
      underWay[outcome.message.delivery.id] = nil
      reported.remove(outcome.message.delivery.id)
    }
  }

  // MARK: Timers

  /// How long before a due time its firing begins.
  private static let lead = Milliseconds.milliseconds(3)

  /// When the timer for due times fires, by the wall clock.
  var dueTimerAt: Instant? { dueAt.map { mayBeginAhead ? $0 - Self.lead : $0 } }

  func dueTimerFired() {
    let ahead = dueAt.flatMap { $0 > world.wall ? $0 : nil }
    if ahead != nil, !core.mayBeginAhead { return mayBeginAhead = false }
    dueAt = nil
    drive(ahead: ahead) { $0.handle(.awake) }
  }

  func outboxTimerFired() {
    outboxAt = nil
    drive { $0.handle(.awake) }
  }

  /// Disarms an expired alarm: it does not fire again when the clock goes back (timerfd_create(2)).
  func clockReaches(_ wall: Instant) {
    if let at = wakeAt, at <= wall { wakeAt = nil }
  }

  /// Moves the time of the last store failure by the length of a suspension.
  func wasStopped(for length: Milliseconds) { storeFailedAt = storeFailedAt.map { $0 + length.rawValue } }

  // MARK: The store

  /// Runs `body` on the loop after a delay, if the loop is still alive.
  func later(_ milliseconds: Int64, _ body: @escaping (SimulatedDaemon) -> Void) {
    busy += 1
    world.later(milliseconds) { [self] in
      busy -= 1
      if isAlive { body(self) }
    }
  }

  private func run(_ job: StoreJob) {
    func setting(_ now: Instant) -> StoreJob.Setting {
      StoreJob.Setting(now: now, random: SeededGenerator(seed: world.bits())) { [self] in try wakeups(in: $0) }
    }
    let done = { [self] (result: Result<StoreJob.Continuation, any Error>) in
      drive { core in
        switch result {
        case .success(let next): next(&core)
        case .failure(let error): job.failed(error)(&core)
        }
      }
    }
    guard let kind = Work.Kind(job.kind) else {
      return read(
        { [world] in
          var setting = setting(world.wall)
          return try job.run(in: $0, &setting)
        }, done)
    }
    if kind == .history { world.checker.history.writes() }
    var steps: [Step] = []
    write(kind, context: job.context) { [self] transaction, now in
      var setting = setting(now)
      var (count, refusals) = (0, 0)
      setting.didRecord = { [self] piece, commit in
        // The checker evaluates each entry at its own time.
        let transaction = world.store.transaction
        var step = Step(
          work: Work(kind: .outbox, now: now, context: job.context, uptime: job.uptime),
          changed: transaction.changed, contents: transaction.contents,
          refused: Array(commit.refused.dropFirst(refusals)))
        switch piece {
        case .start: step.work.kind = .start
        case .entry(let entry):
          step.work = keptWith[count]
          step.entry = entry
          switch entry {
          case .fired, .superseded: break
          case .ended(_, let time): step.work.now = min(time, now)
          // The answer's side effects run when the buffer is recorded.
          case .answered(_, let time): (step.work.now, step.work.context) = (time, job.context)
          }
          count += 1
        case .releases: break
        }
        refusals = commit.refused.count
        steps.append(step)
        transaction.changed = MemoryTransaction.Changes()
      }
      return try job.run(in: transaction, &setting)
    } committed: { [world] work in
      if kind == .record { world.checker.recorded(steps) } else { world.checker.committed(work) }
    } _: { result in
      done(result)
    }
  }

  /// Runs `body` as a write transaction after the store's delay, and `done` on the loop after it.
  ///
  /// - Parameter asked: the time of the request, if it differs from the time of the transaction.
  func write<Value>(
    _ kind: Work.Kind, context: ReminderContext, at asked: Instant? = nil,
    _ body: @escaping (any StoreTransaction, Instant) throws -> Value, committed: ((Work) -> Void)? = nil,
    _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    let fault = world.storeFault
    // Some transactions begin late, and others overtake them.
    let delay = world.chance(0...15) == 0 ? world.chance(0...60) : world.chance(0...2)
    let begin = max(world.mono + delay, world.store.freeAt)
    let takes = fault == .slow ? world.chance(500...20_000) : world.chance(0...6)
    world.store.freeAt = begin + takes
    if fault == .slow { world.checker.permitDelays(for: begin + takes - world.mono) }
    later(begin - world.mono) { loop in
      let world = loop.world
      let work = Work(kind: kind, now: asked ?? world.wall, context: context, uptime: loop.core.uptime)
      let result = Result {
        try world.meetDamage()
        let mayRefuseLate = if case .apply = kind { true } else { false }
        return try world.store.write(world.storeFault, world.bits(), mayRefuseLate: mayRefuseLate) {
          try body($0, work.now)
        }
      }
      switch result {
      case .success: if let committed { committed(work) } else { world.checker.committed(work) }
      case .failure(StoreFailure.unavailable):
        world.figures.storeErrors += 1
        loop.storeFailedAt = world.mono
      case .failure(StoreFailure.internalError(let reason)): world.fail("the store: \(reason)")
      case .failure: break
      }
      loop.later(takes + world.chance(0...2)) { loop in
        // The failure counts from when the loop learns of it; it may have been suspended meanwhile.
        if case .failure(StoreFailure.unavailable) = result { loop.storeFailedAt = loop.world.mono }
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
        if loop.world.mono > loop.world.store.freeAt { try loop.world.meetDamage() }
        return try body(loop.world.store.transaction)
      }
      if case .failure = result { loop.storeFailedAt = loop.world.mono }
      loop.later(loop.world.chance(0...2)) { _ in done(result) }
    }
  }

  /// Reads the next wake-ups and numbers them in the order of transactions.
  func wakeups(in transaction: any StoreTransaction) throws -> NextWakeups {
    var wakeups = try transaction.wakeups()
    sequence += 1
    wakeups.sequence = sequence
    return wakeups
  }

  // MARK: Commits of requests and answers

  func committed(_ changes: CommitChanges, _ wakeups: NextWakeups, with context: ReminderContext) {
    for id in changes.changed + changes.removed { world.checker.forgetBuffered(id) }
    world.checker.learns(of: changes.withdrawn.map(\.key))
    let withdrawn = changes.withdrawn.filter { !core.isSuperseded($0, until: $1) }.map(\.key)
    for id in Set(withdrawn + changes.pinged.flatMap(core.degradedMode.awaited)) { world.checker.forgetBuffered(id) }
    drive { $0.committed(changes, wakeups, contextVersion: context.version) }
    world.checker.history.somethingHappens(self)
  }

  private func record(_ given: OutboxTransaction.Answer) {
    let (answer, id, context) = (given.answer, given.occurrence, core.context)
    write(.answer, context: context) { [self] transaction, now in
      var changes = CommitChanges()
      if let occurrence = try transaction.occurrence(id), occurrence.isOpen {
        let reminder = try transaction.reminder(id.reminder)?.reminder
        var generator = SeededGenerator(seed: 0)
        do {
          changes = CommitChanges(
            try AnswerTransaction.run(
              answer, to: occurrence, reminder: reminder, in: transaction, context, now: now, using: &generator))
        } catch is AnswerRefused {}
      }
      return (changes, try wakeups(in: transaction))
    } _: { [self] result in
      switch result {
      case .success(let (changes, wakeups)): committed(changes, wakeups, with: context)
      case .failure(let error): drive { $0.answerFailed(given, error) }
      }
    }
  }

  func refreshEndpoints(_ done: @escaping () -> Void) {
    read {
      try $0.endpoints(owner: nil)
    } _: { [self] result in
      if case .success(let known) = result { drive { $0.adopt(known, Self.policies(of: known)) } }
      done()
    }
  }

  private static func policies(of known: [Endpoint]) -> DeliveryQueuePolicies {
    let limit = Milliseconds.seconds(20)
    let queues = known.map { ($0.queue, DeliveryQueuePolicy($0, concurrency: 8, attemptLimit: limit)) }
    return DeliveryQueuePolicies(
      queues: Dictionary(queues) { _, last in last }, channels: Simulation.commands,
      desktop: DeliveryQueuePolicy(concurrency: 64, attemptLimit: limit),
      usual: DeliveryQueuePolicy(concurrency: 8, attemptLimit: limit))
  }

  /// Reads how much history to keep.
  func limitHistory() {
    core.historyLimits = world.historyLimits
    world.checker.history.limitsChange()
    drive { $0.pruneHistory(isAsked: true) }
  }

  // MARK: The context of schedules

  private var contextText: String {
    let rules = world.zones.rules.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    let context = core.context
    return "local \(knownLocal) \(knownRules[knownLocal] ?? "")\ndatabase \(rules)\ncalendars \(context.calendars)\n"
      + "quiet \(context.quiet.handling.rawValue) \(context.quiet.hours.texts)"
  }

  /// Reads the machine's zone, the zone rules, the calendars and the quiet hours again.
  ///
  /// - Parameter always: whether refused recomputations are to be retried also if nothing has changed.
  func contextChanged(always: Bool = false) {
    var reasons: Set<Recompute> = []
    if world.zones.localName != knownLocal || world.zones.rules[world.zones.localName] != knownRules[knownLocal] {
      reasons.insert(.localZone)
    }
    let unchanged = world.zones.rules.filter { knownRules[$0.key] == $0.value }.keys
    if unchanged.count < world.zones.rules.count { reasons.insert(.zoneRules(unchanged: Set(unchanged))) }
    if world.holidays != core.context.calendars { reasons.insert(.calendars(["holidays"])) }
    if world.quiet != core.context.quiet { reasons.insert(.quietHours) }
    guard always || !reasons.isEmpty else { return }
    (knownRules, knownLocal) = (world.zones.rules, world.zones.localName)
    core.context.zones = world.zones
    core.context.quiet = world.quiet
    core.context.calendars = world.holidays
    if !reasons.isEmpty { core.context.version += 1 }
    core.contextText = contextText
    drive { $0.recomputeDueTimes(reasons) }
  }

  // MARK: Reports of channels

  func hear(_ report: ChannelReport, on message: OutboundMessage) {
    guard isAlive else { return }
    let isFirst = inbox.outcomes.isEmpty && inbox.answers.isEmpty
    switch report {
    case .ended(let attempt, let next):
      // Report an attempt only once, even if its channel ended too.
      guard underWay[message.delivery.id] != nil, reported.insert(message.delivery.id).inserted else { return }
      world.checker.ends(message, attempt, next)
      inbox.outcomes.append(Outcome(attempt: attempt, next: next, message: message))
    case .answered(let answer):
      inbox.answers.append(OutboxTransaction.Answer(answer: answer, occurrence: message.occurrence.id))
    }
    if isFirst { later(world.chance(0...1)) { $0.takeReports() } }
  }

  private func takeReports() {
    let (outcomes, answers) = inbox
    inbox = ([], [])
    drive { core in
      core.take(outcomes, answers)
      if isStopping { core.finish() }
    }
  }

  /// Reads everything again, because a snapshot has taken the place of the store.
  func storeWasRestored() { drive { $0.storeWasReplaced() } }

  // MARK: The end

  /// Crashes: memory is lost, and results of pending operations are discarded.
  func die() {
    isAlive = false
    (dueAt, outboxAt, wakeAt, afterwards) = (nil, nil, nil, nil)
  }

  /// Stops cleanly: attempts in flight end as failed and are recorded.
  func stop(then body: @escaping () -> Void) {
    guard !isStopping else { return }
    (isStopping, stopsSince) = (true, world.mono)
    afterwards = body
    drive { $0.stop() }
    for message in underWay.values.sorted(by: { $0.delivery.id.rawValue < $1.delivery.id.rawValue }) {
      let attempt = Attempt(
        number: 0, startedAt: world.wall, took: .zero, outcome: .failed, error: "the daemon ends")
      hear(.ended(attempt, next: .retry), on: message)
    }
    if inbox.outcomes.isEmpty { drive { $0.finish() } }
  }
}

/// A transaction as the checker sees it.
struct Work {
  enum Kind: Equatable {
    case start, fire, outbox, answer, recomputeDueTimes, reevaluateHeld, wake, note, record, history
    /// A part of a backup is staged; a part of its history is added.
    case stage, remember
    case client(PlannedAction.Verb)
    /// A set of reminders is applied: what is to be done with each.
    case apply([ReminderID: PlannedAction.Verb])
    case ping(ReminderID, Ping.Kind)

    /// The kind of a client's request.
    init(_ actions: [PlannedAction]) {
      guard actions.count == 1 else {
        self = .apply(
          Dictionary(actions.map { (ReminderID(rawValue: $0.subject), $0.verb) }, uniquingKeysWith: { $1 }))
        return
      }
      let action = actions[0]
      self =
        action.verb == .ping ? .ping(ReminderID(rawValue: action.subject), action.ping) : .client(action.verb)
    }

    /// Returns whether a client asks for this to be done with a reminder.
    func asks(_ verb: PlannedAction.Verb, of id: ReminderID) -> Bool {
      switch self {
      case .client(let asked): asked == verb
      case .apply(let asked): asked[id] == verb
      default: false
      }
    }

    /// The kind of a transaction of the core; nil if it only reads.
    init?(_ kind: StoreJob.Kind) {
      switch kind {
      case .read: return nil
      case .start: self = .start
      case .fire: self = .fire
      case .outbox: self = .outbox
      case .record: self = .record
      case .recomputeDueTimes: self = .recomputeDueTimes
      case .reevaluateHeld: self = .reevaluateHeld
      case .wake: self = .wake
      case .note: self = .note
      case .history: self = .history
      }
    }

    /// The kind of the transaction that a buffered entry stands for.
    init(_ entry: DegradedMode.Entry) {
      switch entry {
      case .fired, .superseded: self = .fire
      case .ended: self = .outbox
      case .answered: self = .answer
      }
    }
  }

  var kind: Kind
  var now: Instant
  var context: ReminderContext
  var uptime: Uptime
}

/// One buffered entry that a transaction has recorded.
struct Step {
  var work: Work
  /// Nil for released claims.
  var entry: DegradedMode.Entry?
  var changed: MemoryTransaction.Changes
  /// The store's content afterwards.
  var contents: MemoryContents
  /// The reasons for which the store refused outcomes.
  var refused: [String]
}

extension CommitChanges {
  /// Describes the effects of several changes.
  init(_ all: [CommitChanges]) {
    self.init()
    for other in all {
      reminders += other.reminders
      changed += other.changed
      removed += other.removed
      pinged += other.pinged
      withdrawn.merge(other.withdrawn) { $1 }
      cancelled.formUnion(other.cancelled)
      opened += other.opened
    }
  }

  /// Describes the effects of an answer.
  init(_ work: AnswerTransaction) {
    self.init()
    let answered = work.occurrence
    changed = work.chained.map(\.after.id)
    let until: Instant? = if case .snoozed(let until) = answered.state { until } else { nil }
    withdrawn = [answered.id: until]
    if let tracking = work.tracking { add(tracking) }
  }

  /// Describes the effects of a change of trackers.
  init(_ outcome: TrackingOutcome) {
    self.init()
    add(outcome)
  }

  private mutating func add(_ outcome: TrackingOutcome) {
    changed += outcome.moved.map(\.id)
    for occurrence in outcome.closed { withdrawn[occurrence.id] = .some(nil) }
  }
}
