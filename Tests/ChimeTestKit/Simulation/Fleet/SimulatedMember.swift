import ChimeCore
import ChimeSchedule
import Synchronization

/// What a member knows about its leases.
final class MemberLeases: LeaseView, Sendable {
  struct State: Sendable {
    var node: Int64?
    var yielding: Set<Int> = []
    /// In milliseconds of the simulation.
    var leaseEnd: Int64?
    var isAlone = false
    var lapses = 0
    var living = 1
    var now: Int64 = 0
  }

  private let state = Mutex(State())

  var current: State { state.withLock { $0 } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  var holdsQueues: Bool {
    let state = current
    return state.leaseEnd.map { state.now < $0 } ?? false
  }
  var isAlone: Bool { current.isAlone }
  var lapses: Int { current.lapses }
}

/// A SimulatedMember is one daemon of a fleet: the shell of a `LoopCore` in virtual time, with a heartbeat, on a
/// `FleetServer` at the other end of a network.
///
/// It decides nothing itself. A member that is killed is discarded.
final class SimulatedMember {
  unowned let world: FleetSimulation
  let name: String
  let startedAt: Instant
  let leases = MemberLeases()
  private(set) var core: LoopCore
  private(set) var isAlive = true
  private(set) var isReady = false
  private(set) var isStopping = false
  private(set) var isFrozen = false
  /// What happens as soon as it goes on.
  private var deferred: [() -> Void] = []
  /// Until when the network between it and the database is cut, in milliseconds of the simulation.
  var cutUntil: Int64 = 0
  /// The attempts that it has begun and not yet recorded, with their begin.
  private(set) var underWay: [DeliveryID: (message: OutboundMessage, since: Int64)] = [:]
  private var reported: Set<DeliveryID> = []
  /// By how much its clock may be behind that of the database; never ahead.
  private let lag: Int64
  private var armed: [Timer: Int] = [:]
  private var sequence: UInt64 = 0
  private var inbox: (outcomes: [Outcome], answers: [OutboxTransaction.Answer]) = ([], [])
  private var waiting: [() -> Void] = []
  private var isWriting = false
  private var sessions: [SessionKind: Int] = [:]
  // The part of the heartbeat.
  private var renewal: LeaseRenewal
  private var shards = OwnedShards()
  private var revision: Int64?
  private var isBeating = false
  private var isLeaving = false
  private var lastLook = Int64.min / 2
  private var lastWord = Int64.min / 2
  private var onFirstBeat: ((Bool) -> Void)?
  private var afterwards: (() -> Void)?

  private enum Timer { case due, outbox, retry, others, sleep, beat, drain, look }
  private enum SessionKind { case work, beat }

  init(_ world: FleetSimulation, _ name: String) {
    self.world = world
    self.name = name
    lag = world.chance(0...3)
    startedAt = world.wall - .milliseconds(lag)
    renewal = LeaseRenewal(now: world.now)
    core = LoopCore(
      startedAt: startedAt, context: world.context, policies: Self.policies(of: []), leases: leases,
      pages: LoopCore.PageSizes(read: 5, write: 5, history: 5), random: SeededGenerator(seed: world.bits()))
    core.contextText = "local UTC"
  }

  /// The database's time as far as it knows.
  var wall: Instant { world.wall - .milliseconds(lag) }

  // MARK: Life

  func boot() {
    onFirstBeat = { [self] isThere in
      guard isThere else { return exit(failed: true) }
      ask(.work) {
        $0.members(asked: self.leases.current.node)
      } _: { [self] result in
        if case .answered(let members) = result { drive { $0.join(members) } }
        drive { $0.start() }
      }
    }
    beat()
  }

  private func exit(failed: Bool) {
    die()
    if failed { world.restart(name, after: 500) }
  }

  /// Loses its memory. The database notices if the machine goes on without it.
  func die(isNoticed: Bool = true) {
    isAlive = false
    (deferred, waiting, onFirstBeat, afterwards) = ([], [], nil, nil)
    if isNoticed { world.server.end { $0.member == ObjectIdentifier(self) } }
  }

  func freeze() { isFrozen = true }

  func goOn() {
    isFrozen = false
    let waiting = deferred
    deferred = []
    for body in waiting where isAlive { body() }
  }

  /// Runs `body` after a delay, as soon as the member runs.
  func later(_ milliseconds: Int64, _ body: @escaping () -> Void) {
    world.later(milliseconds) { [self] in run(body) }
  }

  private func run(_ body: @escaping () -> Void) {
    guard isAlive else { return }
    if isFrozen { deferred.append(body) } else { body() }
  }

  private func arm(_ timer: Timer, after milliseconds: Int64?, _ body: @escaping () -> Void) {
    armed[timer, default: 0] += 1
    let mine = armed[timer]
    guard let milliseconds else { return }
    later(milliseconds) { [self] in if armed[timer] == mine { body() } }
  }

  // MARK: Driving the core

  func drive(_ body: (inout LoopCore) -> Void) {
    guard isAlive else { return }
    leases.change { $0.now = world.now }
    let effects = core.run(at: wall, body)
    for case .report(let report) in effects { hear(report) }
    for effect in effects where isAlive {
      switch effect {
      case .armDue(let time): arm(.due, after: time.map { ($0 - wall).rawValue }) { self.drive { $0.handle(.awake) } }
      case .armOutbox(let time):
        arm(.outbox, after: time.map { ($0 - wall).rawValue }) { self.drive { $0.handle(.awake) } }
      case .armRetry(let wait): arm(.retry, after: wait.rawValue) { self.drive { $0.retry() } }
      case .armOthers(let wait):
        arm(.others, after: wait.rawValue) { self.drive { $0.checkOtherDaemons(shown: []) } }
      case .armSleep(let wait): arm(.sleep, after: wait?.rawValue) { self.drive { $0.sleep(.timeUp) } }
      case .send(let message): begin(message)
      case .answer(let answer): record(answer)
      case .run(let job): run(job)
      case .dropMonths(let edge, let begunAt):
        later(1) { self.drive { $0.prune(edge, rest: edge, begunAt: begunAt) } }
      case .armWake, .inhibitSleep, .releaseSleep, .report: break
      }
    }
  }

  private func hear(_ report: LoopCore.Report) {
    switch report {
    case .started(let start):
      drive { core in
        core.adopt(start.endpoints, Self.policies(of: start.endpoints))
        core.begin(start, noticeChannels: nil)
      }
      isReady = true
      world.note { "\(self.name) is ready" }
      world.membersHaveChanged()
      drive { $0.reviewContext() }
    case .startFailed: exit(failed: true)
    case .firedDegraded: world.checker.fail("\(name) has fired without the database")
    case .recorded(let part, let commit):
      forget(part.entries.compactMap { if case .ended(let outcome, _) = $0 { outcome } else { nil } })
      hear(refused: commit.refused)
    case .outcomes(let part, let commit):
      forget(part.outcomes)
      hear(refused: commit.refused)
    case .endpointsChanged: refreshEndpoints {}
    case .drained: endDraining()
    case .finished: leave()
    case .fired, .answeredDegraded, .answerRefused, .storeFailed, .storeUnreadable, .storeWorks, .storeTried, .renewal,
      .clockNotNoted, .historyPruned, .historyNotPruned, .answeredElsewhere, .sleeps, .resumed:
      break
    }
  }

  private func hear(refused reasons: [String]) {
    for reason in reasons { world.checker.fail("an outcome could not be recorded: \(reason)") }
  }

  private func forget(_ outcomes: [Outcome]) {
    for outcome in outcomes {
      underWay[outcome.message.delivery.id] = nil
      reported.remove(outcome.message.delivery.id)
    }
  }

  // MARK: The network

  enum Answer<Value> {
    case answered(Value)
    case failed(any Error)
    /// The connection was lost after the database had carried out the request.
    case lost(Value, history: Int)
  }

  private static let unreachable = StoreFailure.unavailable("the database cannot be reached")

  /// How long a connection waits for a peer that says nothing, in milliseconds.
  private static let patience: Int64 = 10_000

  /// Returns when something that is sent now arrives; nil if it never does.
  private func arrival() -> Int64? {
    let leg = world.chance(0...15) == 0 ? world.chance(0...40) : world.chance(0...2)
    if cutUntil <= world.now + leg { return leg }
    return cutUntil - world.now < Self.patience - 1_000 ? cutUntil - world.now + leg : nil
  }

  private func ask<Value>(
    _ kind: SessionKind, _ request: @escaping (FleetServer) throws -> Value,
    _ done: @escaping (Answer<Value>) -> Void
  ) {
    guard let leg = arrival() else {
      return later(Self.patience) { [self] in
        sessions[kind] = nil
        done(.failed(Self.unreachable))
      }
    }
    let server = world.server
    world.later(leg) { [self] in
      guard isAlive else { return }
      let answer: Answer<Value>
      let starts = server.starts
      if !server.isUp {
        sessions[kind] = nil
        answer = .failed(Self.unreachable)
      } else if let session = sessions[kind], server.sessions[session] == nil {
        sessions[kind] = nil
        answer = .failed(StoreFailure.unavailable("the connection was lost"))
      } else {
        if sessions[kind] == nil {
          sessions[kind] = server.connect(self)
          if kind == .beat, leases.current.node != nil { renewal.reconnected(at: world.now) }
        }
        let result = Result { try request(server) }
        switch result {
        case .success(let value): answer = .answered(value)
        case .failure(let error): answer = .failed(error)
        }
      }
      reply(answer, kind, starts: starts, done)
    }
  }

  private func reply<Value>(
    _ answer: Answer<Value>, _ kind: SessionKind, starts: Int, _ done: @escaping (Answer<Value>) -> Void
  ) {
    let (server, leg) = (world.server, arrival())
    let history = server.history
    later(leg ?? Self.patience) { [self] in
      guard case .answered(let value) = answer, leg == nil || server.starts != starts else { return done(answer) }
      sessions[kind] = nil
      done(.lost(value, history: history))
    }
  }

  private func session(_ kind: SessionKind) -> Int {
    guard let session = sessions[kind] else { preconditionFailure("asked on a session") }
    return session
  }

  // MARK: The store

  private func run(_ job: StoreJob) {
    let seed = world.bits()
    let body: (any StoreTransaction, Instant) throws -> StoreJob.Continuation = { [self] transaction, now in
      var setting = StoreJob.Setting(now: now, random: SeededGenerator(seed: seed)) { [self] in try wakeups(in: $0) }
      return try job.run(in: transaction, &setting)
    }
    let done = { [self] (result: Result<StoreJob.Continuation, any Error>) in
      drive { core in
        switch result {
        case .success(let next): next(&core)
        case .failure(let error): job.failed(error)(&core)
        }
      }
    }
    guard let kind = Work.Kind(job.kind) else { return read({ try body($0, self.wall) }, done) }
    write(kind, context: job.context, body, done)
  }

  func read<Value>(
    _ body: @escaping (any StoreTransaction) throws -> Value, _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    ask(.work) { [self] in
      try $0.read(self, body)
    } _: { answer in
      switch answer {
      case .answered(let value): done(.success(value))
      case .failed(let error): done(.failure(error))
      case .lost: done(.failure(Self.unreachable))
      }
    }
  }

  /// Runs `body` as a transaction, after those that were asked for before.
  func write<Value>(
    _ kind: Work.Kind, context: ReminderContext,
    _ body: @escaping (any StoreTransaction, Instant) throws -> Value,
    _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    waiting.append { [self] in
      let work = Work(kind: kind, now: wall, context: context, uptime: core.uptime)
      attempt(work, body, until: world.now + 30_000) { [self] result in
        isWriting = false
        if case .failure(StoreFailure.unavailable) = result { world.figures.storeErrors += 1 }
        if case .failure(StoreFailure.internalError(let reason)) = result { world.checker.fail("the store: \(reason)") }
        done(result)
        nextWrite()
      }
    }
    nextWrite()
  }

  private func nextWrite() {
    guard !isWriting, !waiting.isEmpty else { return }
    isWriting = true
    waiting.removeFirst()()
  }

  private func attempt<Value>(
    _ work: Work, _ body: @escaping (any StoreTransaction, Instant) throws -> Value, until end: Int64,
    _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    ask(.work) { [self] server -> Int? in
      let id = try server.begin(work.kind, session(.work), self) { _ = try body($0, work.now) }
      if let id { limit(id, work) }
      return id
    } _: { [self] answer in
      switch answer {
      case .failed(let error): done(.failure(error))
      case .lost: done(.failure(Self.unreachable))
      case .answered(nil):
        // It waits for a lock.
        guard world.now < end else { return done(.failure(Self.unreachable)) }
        later(10) { [self] in attempt(work, body, until: end, done) }
      case .answered(let id?):
        let takes = world.chance(0...15) == 0 ? world.chance(0...60) : world.chance(0...6)
        later(takes) { [self] in commit(id, work, body, done) }
      }
    }
  }

  /// Ends a transaction that stands still.
  private func limit(_ id: Int, _ work: Work) {
    let server = world.server
    world.later(work.kind == .fire ? 5_000 : 15_000) { [self] in
      guard server.isOpen(id) else { return }
      server.end { $0.member == ObjectIdentifier(self) }
    }
  }

  private func commit<Value>(
    _ id: Int, _ work: Work, _ body: @escaping (any StoreTransaction, Instant) throws -> Value,
    _ done: @escaping (Result<Value, any Error>) -> Void
  ) {
    ask(.work) { [self] server -> (Value, MemoryTransaction.Changes) in
      guard server.isOpen(id) else { throw StoreFailure.unavailable("the connection was lost") }
      let (value, changed) = try server.commit(id, self) { try body($0, work.now) }
      world.committed(changed, work, by: self)
      return (value, changed)
    } _: { [self] answer in
      switch answer {
      case .answered(let (value, _)): done(.success(value))
      case .failed(let error): done(.failure(error))
      case .lost(let (value, _), let history):
        // It looks the commit up in the history of the same server.
        let server = world.server
        let isKnown = server.isUp && server.history == history && cutUntil <= world.now
        done(isKnown ? .success(value) : .failure(Self.unreachable))
      }
    }
  }

  /// Reads the next wake-ups and numbers them in the order of transactions.
  func wakeups(in transaction: any StoreTransaction) throws -> NextWakeups {
    var wakeups = try transaction.dueWakeups()
    sequence += 1
    wakeups.sequence = sequence
    return wakeups
  }

  func committed(_ changes: CommitChanges, _ wakeups: NextWakeups, with context: ReminderContext) {
    drive { $0.committed(changes, wakeups, contextVersion: context.version) }
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
      queues: Dictionary(queues) { _, last in last },
      desktop: DeliveryQueuePolicy(concurrency: 64, attemptLimit: limit),
      usual: DeliveryQueuePolicy(concurrency: 8, attemptLimit: limit))
  }

  // MARK: Channels

  private func begin(_ message: OutboundMessage) {
    world.send(message, from: self)
    underWay[message.delivery.id] = (message, world.now)
  }

  func hear(_ attempt: Attempt, _ next: ChannelReport.NextStep, on message: OutboundMessage) {
    let id = message.delivery.id
    guard isAlive, underWay[id] != nil, reported.insert(id).inserted else { return }
    let isFirst = inbox.outcomes.isEmpty
    inbox.outcomes.append(Outcome(attempt: attempt, next: next, message: message))
    if isFirst { later(world.chance(0...1)) { [self] in takeReports() } }
  }

  private func takeReports() {
    let (outcomes, answers) = inbox
    inbox = ([], [])
    drive { $0.take(outcomes, answers) }
    if isFinishing { drive { $0.finish() } }
  }

  // MARK: The end

  private var isFinishing = false

  /// How long it waits for attempts in flight, in milliseconds.
  private static let drainLimit: Int64 = 8_000

  func stop(then body: @escaping () -> Void) {
    guard !isStopping else { return }
    (isStopping, isReady, isLeaving, afterwards) = (true, false, true, body)
    world.membersHaveChanged()
    drive { $0.stop() }
    renewal.called(at: world.now)
    armBeat()
    arm(.drain, after: Self.drainLimit) { [self] in endDraining() }
    drive { $0.drain() }
  }

  private func endDraining() {
    guard isStopping, !isFinishing else { return }
    arm(.drain, after: nil) {}
    isFinishing = true
    for (message, since) in underWay.values.sorted(by: {
      $0.message.delivery.id.rawValue < $1.message.delivery.id.rawValue
    }) {
      let attempt = Attempt(
        number: 0, startedAt: world.start + .milliseconds(since), took: .zero, outcome: .failed,
        error: "the daemon ends")
      hear(attempt, .retry, on: message)
    }
    if inbox.outcomes.isEmpty { drive { $0.finish() } }
  }

  /// Releases the leases and ends.
  private func leave() {
    let node = leases.current.node
    let end = { [self] in
      let body = afterwards
      die()
      world.left(self)
      body?()
    }
    guard let node else { return end() }
    leases.change { ($0.node, $0.leaseEnd) = (nil, nil) }
    ask(.beat) {
      $0.leave(node)
    } _: { [self] _ in
      world.notify(.members, from: self)
      end()
    }
  }

  // MARK: The heartbeat

  private func armBeat() {
    arm(.beat, after: max(0, renewal.next - world.now)) { [self] in beat() }
  }

  private func beat() {
    guard !isBeating, isAlive else { return }
    isBeating = true
    let start = world.now
    ask(.beat) { [self] server in
      let (found, isNew) = server.beat(self, isLeaving: isLeaving, renewal.patience(at: world.now))
      for session in sessions.values { server.name(session, found.node) }
      return (found, isNew)
    } _: { [self] answer in
      switch answer {
      case .answered(let (found, isNew)): settle(found, isNew: isNew, beganAt: start)
      case .failed, .lost:
        renewal.failed(at: world.now)
        endBeat(false)
      }
    }
  }

  private func endBeat(_ succeeded: Bool) {
    isBeating = false
    let first = onFirstBeat
    onFirstBeat = nil
    armBeat()
    first?(succeeded)
  }

  private func settle(_ found: FleetServer.Found, isNew: Bool, beganAt start: Int64) {
    leases.change { $0.node = found.node }
    if isNew { world.notify(.members, from: self) }
    if found.othersEndIn != nil, let span = renewal.lapse(at: start) { tell(.leaseExpired(after: .milliseconds(span))) }
    let review = shards.review(for: found.node, owners: found.owners, epochs: found.epochs, living: found.living)
    let yielding = shards.yielding
    leases.change { $0.yielding = yielding }
    if !review.gone.isEmpty {
      let queues = world.queues.filter { review.gone.contains(FleetFence.shard(of: $0)) }
      if !queues.isEmpty { tell(.leave(Set(queues))) }
    }
    ask(.beat) { server in
      let ended = found.hasLost ? server.endSessionsOfTheLost(found.patience) : 0
      return (server.take(review.take, for: found.node, found.patience), server.give(yielding, of: found.node), ended)
    } _: { [self] answer in
      guard case .answered(let (taken, given, ended)) = answer else {
        renewal.failed(at: world.now)
        return endBeat(false)
      }
      shards.took(taken, of: review.take)
      if !taken.isEmpty { tell(.taken) }
      if review.isStaying { tell(.outboxChanged) }
      shards.gave(given)
      if !given.isEmpty {
        let yielding = shards.yielding
        leases.change { $0.yielding = yielding }
        world.notify(.members, from: self)
      }
      if let revision, revision != found.revision { tell(.endpointsChanged) }
      revision = found.revision
      let isAlone = found.othersEndIn == nil && ended == 0
      let before = leases.current
      let hadLapsed = before.leaseEnd.map { world.now >= $0 } ?? false
      renewal.renewed(
        beganAt: start, othersEndIn: found.othersEndIn, isHandingOver: shards.isMoving, isShort: shards.isShort,
        isAlone: isAlone)
      if ended > 0 { renewal.called(at: start) }
      let leaseEnd = renewal.leaseEnd
      leases.change { state in
        (state.leaseEnd, state.living) = (leaseEnd, found.living.union([found.node]).count)
        state.isAlone = isAlone
        if hadLapsed { state.lapses += 1 }
      }
      if hadLapsed || (before.isAlone && !isAlone) { tell(.outboxChanged) }
      endBeat(true)
    }
  }

  private func tell(_ event: FleetEvent) { drive { $0.take(event) } }

  enum Word { case members, outbox }

  private static let wordInterval: Int64 = 100

  /// Hears of another daemon.
  func hear(_ word: Word) {
    switch word {
    case .members:
      renewal.called(at: world.now)
      if !isBeating { armBeat() }
    case .outbox:
      arm(.look, after: max(0, lastLook + Self.wordInterval - world.now)) { [self] in
        lastLook = world.now
        tell(.outboxChanged)
      }
    }
  }

  /// Tells the others that there is something to send.
  func sayThereIsSomething() {
    guard leases.current.living > 1, world.now >= lastWord + Self.wordInterval else { return }
    lastWord = world.now
    world.notify(.outbox, from: self)
  }
}
