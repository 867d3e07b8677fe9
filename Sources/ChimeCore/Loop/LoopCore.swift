public import ChimeSchedule

/// A LoopCore decides all that a daemon does about its reminders: firing, the outbox, degraded mode, due times and sleep.
///
/// It is a plain value without a clock, a thread or a store. A shell drives it: the daemon with timers and a real store, the
/// simulator with virtual time. Each call of `run` returns effects, which the shell performs in their order. The core asks
/// for transactions as `StoreJob` values, and the shell runs their continuations on it.
///
///     for effect in core.run(at: clock.now, { $0.handle(.awake) }) { perform(effect) }
///
/// The core is made of parts that own their state: `Scheduler`, `OutboxState`, `DegradedMode`, `Renewal`, `SleepCycle`,
/// `FleetCycle`, `StoreTrouble`. Shells can read some of them; only the core changes them.
public struct LoopCore {
  /// The number of reminders that one transaction reads and writes when due times are recomputed, so that other
  /// transactions can come in between.
  public struct PageSizes: Sendable {
    public var read: Int
    public var write: Int
    /// The number of rows of the history that one transaction looks at.
    public var history: Int

    public init(read: Int = 1_000, write: Int = 200, history: Int = HistoryLimits.batch) {
      self.read = read
      self.write = write
      self.history = history
    }
  }

  public private(set) var scheduler: Scheduler
  public private(set) var outbox = OutboxState()
  public private(set) var degradedMode = DegradedMode()
  public private(set) var trouble = StoreTrouble()
  public private(set) var uptime: Uptime
  /// The last moment that the store knew when this daemon started; nil for a new store.
  private var lastSeen: Instant?
  private var renewal = Renewal()
  private var sleepCycle = SleepCycle()
  private var fleet = FleetCycle()
  private var history = HistoryUpkeep()
  /// Counts late messages of the present downtime, so that they are spread.
  private var catchUpSpread = CatchUpSpread()
  /// The downtime that the first firing reports; nil if other daemons ran meanwhile or it has been reported.
  private var downtime: Downtime?

  /// The inputs of schedule evaluation besides the schedule. The shell changes it, with a new version for each change.
  public var context: ReminderContext
  /// The text of what due times depend on besides their reminders, one item a line.
  public var contextText = ""
  /// How much history to keep.
  public var historyLimits = HistoryLimits()
  /// Whether the first firing reports the downtime before it.
  public var tellsDowntime = true
  /// The longest delay of late messages.
  public var lateSpread: Milliseconds {
    get { catchUpSpread.span }
    set { catchUpSpread.span = newValue }
  }

  /// This daemon's leases; nil if no other daemon can use the store. If others can, they may fire, and this one does not
  /// enter degraded mode.
  private let leases: (any LeaseView)?
  private let pages: PageSizes
  private let popupsNote: String
  private let startedAt: Instant

  /// Draws the ids of what fires in degraded mode.
  private var random: any RandomNumberGenerator
  private var now: Instant
  private var effects: [Effect] = []
  private var isOutboxBusy = false
  /// The number of lapses of the leases when what is held was claimed.
  private var knownLapses = 0
  /// Whether the store was replaced, and is not read yet.
  private var isStoreReplaced = false
  /// By how much the clock was set back since all queues were woken because of it.
  private var setBack = Milliseconds.zero
  /// The queues to claim for once this daemon holds its leases: what it claims without one it could not send.
  private var waitingClaims: [(queue: DeliveryQueue, limit: Int)] = []
  private var isRecording = false
  private var isTrying = false
  /// What to do when the try of the store in flight has ended.
  private var afterTrying: [@Sendable (inout LoopCore) -> Void] = []
  /// What to do when the recording in flight has ended.
  private var afterRecording: [@Sendable (inout LoopCore) -> Void] = []
  /// The queues to retry once the outbox transaction in flight has ended, and how many more to wait for.
  private var wakesAfterOutbox: [(isMeant: @Sendable (DeliveryQueue) -> Bool, rounds: Int)] = []
  private var isStopping = false
  private var isFinishing = false
  /// The size of the buffer at the last attempt to record it before the end.
  private var lastTried: Int?

  /// - Parameters:
  ///   - popupsNote: the name of the store's note about visible popups.
  ///   - random: spreads the rests of queues, and draws ids; use another one for each daemon.
  public init(
    startedAt: Instant, context: ReminderContext, policies: DeliveryQueuePolicies, leases: (any LeaseView)? = nil,
    pages: PageSizes = PageSizes(), popupsNote: String = "popups", random: any RandomNumberGenerator
  ) {
    self.startedAt = startedAt
    self.context = context
    self.leases = leases
    self.pages = pages
    self.popupsNote = popupsNote
    now = startedAt
    uptime = Uptime(runningSince: startedAt)
    self.random = random
    scheduler = Scheduler(policies: policies, seed: self.random.next())
  }

  // MARK: Driving

  /// Runs `body` at `now` and returns what is to be done.
  public mutating func run(at now: Instant, _ body: (inout LoopCore) -> Void) -> [Effect] {
    self.now = now
    body(&self)
    settle()
    defer { effects = [] }
    return effects
  }

  /// Whether nothing is in flight or held, so that a firing may begin a moment before its time: its transaction decides with
  /// that time as the present one, and waits for it before it commits. Where other daemons share the store, none may.
  public var mayBeginAhead: Bool {
    leases == nil && !isStopping && !isOutboxBusy && outbox.isNothingUnderWay && outbox.held.isEmpty
      && outbox.work.isEmpty && scheduler.isQuiescent && !scheduler.isBuffered && sleepCycle.phase == .awake
  }

  /// Takes an event for the scheduler.
  public mutating func handle(_ event: Scheduler.Event) {
    guard !isStopping else { return }
    let lapses = leases?.lapses ?? 0
    let hasLapsed = lapses != knownLapses || !holdsQueues
    knownLapses = lapses
    if hasLapsed, !outbox.held.isEmpty { handOver { _ in true } }
    for effect in scheduler.handle(event, now: now) {
      switch effect {
      case .armDue(let time): effects.append(.armDue(time))
      case .armOutbox(let time): effects.append(.armOutbox(time))
      case .armWake(let time): effects.append(.armWake(time))
      case .fire(let limit, let capacity): fire(limit: limit, capacity: capacity)
      case .claim(let queue, let limit): waitingClaims.append((queue, limit))
      case .send(let claim): if let message = outbox.begin(claim.id) { effects.append(.send(message)) }
      case .release(let claim): release(claim)
      case .fireDegraded(let limit): fireDegraded(limit: limit)
      case .record: record()
      }
    }
    workOutbox()
  }

  private mutating func report(_ report: Report) { effects.append(.report(report)) }

  /// Asks for a transaction that may write, and reads the next wake-ups at its end.
  private mutating func write<Value: Sendable>(
    _ kind: StoreJob.Kind, _ body: @escaping @Sendable (any StoreTransaction, inout StoreJob.Setting) throws -> Value,
    then done: @escaping @Sendable (inout LoopCore, Value, NextWakeups) -> Void,
    failed: @escaping @Sendable (inout LoopCore, any Error) -> Void
  ) {
    let job = StoreJob(
      kind, context, uptime,
      { transaction, setting in
        let value = try body(transaction, &setting)
        let wakeups = try setting.readWakeups(transaction)
        return { done(&$0, value, wakeups) }
      }, failed: failed)
    effects.append(.run(job))
  }

  private mutating func read<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction, inout StoreJob.Setting) throws -> Value,
    then done: @escaping @Sendable (inout LoopCore, Value) -> Void,
    failed: @escaping @Sendable (inout LoopCore, any Error) -> Void
  ) {
    let job = StoreJob(
      .read, context, uptime,
      { transaction, setting in
        let value = try body(transaction, &setting)
        return { done(&$0, value) }
      }, failed: failed)
    effects.append(.run(job))
  }

  // MARK: Start and end

  /// Reads the pending work from the store. A store that only allows reading learns later that a new daemon runs.
  public mutating func start() {
    let popupsNote = popupsNote
    let look: @Sendable (any StoreTransaction, inout StoreJob.Setting) throws -> Start = { transaction, setting in
      Start(
        endpoints: try transaction.endpoints(owner: nil), popups: try transaction.note(popupsNote),
        trace: try Downtime.trace(in: transaction), wakeups: try setting.readWakeups(transaction))
    }
    write(
      .start,
      { transaction, setting in
        try transaction.releaseClaims()
        return try look(transaction, &setting)
      },
      then: { core, start, _ in core.report(.started(start)) },
      failed: { core, error in
        guard error.isPassing else { return core.startFailed(error) }
        core.read(
          look,
          then: { core, start in
            core.degradedMode.needsStart = true
            core.storeFailed(error, .remindersWait)
            core.report(.started(start))
          }, failed: { core, error in core.startFailed(error) })
      })
  }

  private mutating func startFailed(_ error: any Error) {
    guard isStoreReplaced else { return report(.startFailed(error)) }
    storeIsUnreadable(error)
    retryLater()
  }

  /// Begins to fire. Call `adopt` with the endpoints before.
  ///
  /// - Parameter noticeChannels: the channels for the report about the downtime; nil for no report.
  public mutating func begin(_ start: Start, noticeChannels: [ChannelName]?) {
    // If other daemons ran meanwhile, nothing was missed.
    if let noticeChannels, uptime.runningSince == startedAt {
      downtime = Downtime(after: start.trace, until: startedAt, channels: noticeChannels)
    }
    lastSeen = start.trace?.at
    isStoreReplaced = false
    if degradedMode.needsStart { handle(.buffered) }
    handle(.wakeups(start.wakeups))
    if leases != nil { follow(fleet.handle(.ready)) }
  }

  /// Drops what belongs to a store that was replaced by an older one, and reads that one, again and again until it can.
  public mutating func storeWasReplaced() {
    drop { _ in true }
    degradedMode.storeIsAnother()
    isStoreReplaced = true
    start()
  }

  /// Begins nothing more. Attempts in flight may still end.
  public mutating func stop() {
    isStopping = true
    effects += [.armDue(nil), .armOutbox(nil)]
  }

  /// Records the outcomes and what is buffered, and reports `finished`. Call it once no attempt is in flight.
  public mutating func finish() { isFinishing = true }

  /// Does what waits until nothing is in flight.
  private mutating func settle() {
    if fleet.isDraining, outbox.isNothingUnderWay {
      fleet.isDraining = false
      report(.drained)
    }
    // The machine may sleep as soon as no work is in flight.
    if sleepCycle.phase == .settling, !isOutboxBusy, outbox.work.isEmpty, scheduler.isQuiescent { sleep(.settled) }
    guard isFinishing, !isOutboxBusy, outbox.work.isEmpty, !isRecording else { return }
    if !degradedMode.isEmpty, lastTried.map({ degradedMode.entries.count < $0 }) ?? true {
      lastTried = degradedMode.entries.count
      return record()
    }
    isFinishing = false
    report(.finished(unrecorded: degradedMode.isEmpty ? nil : degradedMode.unrecorded))
  }

  // MARK: Firing

  /// Runs one firing transaction: claims due times, decides, records, and claims deliveries up to the queues' capacity.
  private mutating func fire(limit: Int, capacity: Scheduler.Capacity) {
    let (context, uptime, catchUpSpread, renewal) = (context, uptime, catchUpSpread, renewal)
    let downtime = tellsDowntime ? downtime : nil
    let lapses = leases?.lapses
    let claims = ClaimsInDoubt()
    write(
      .fire,
      { transaction, setting in
        try renewal.mark(transaction, now: setting.now)
        let fired = try FireTransaction.run(
          in: transaction, limit: limit, capacity: capacity, context: context, uptime: uptime,
          catchUpSpread: catchUpSpread, downtime: downtime, now: setting.now, using: &setting.random)
        claims.note(fired.claims)
        return fired
      },
      then: { core, fired, wakeups in core.didFire(fired, wakeups, contextVersion: context.version, since: lapses) },
      failed: { core, error in
        core.storeFailed(error, .remindersWait)
        core.handle(.firingFailed)
        core.release(claims)
      })
  }

  private mutating func didFire(
    _ fired: FireTransaction, _ wakeups: NextWakeups, contextVersion: Int, since lapses: Int?
  ) {
    // The first firing has reported the downtime.
    downtime = nil
    let span = lateSpread
    catchUpSpread = fired.catchUpSpread
    lateSpread = span
    supersede(by: fired.firings, asOf: wakeups.sequence)
    // Messages leave before anybody is told.
    let claims = hold(fired.claims, asOf: wakeups.sequence, since: lapses)
    handle(.fired(claimed: claims, wakeups, isEmpty: fired.isEmpty))
    report(.fired(fired))
    if !fired.firings.isEmpty { storeWorks() }
    // The firing may have missed a recomputation that followed a change.
    if contextVersion != context.version { recompute(fired.firings.map(\.due.reminder.id)) }
    pruneHistory()
  }

  /// Drops held messages of earlier rounds that these firings replace, and those of occurrences that were done already.
  private mutating func supersede(by firings: [FiringResult], asOf number: UInt64?) {
    let superseded = outbox.superseded(by: firings.flatMap(\.deliveries))
    let done = Set(firings.flatMap(\.occurrences).lazy.filter { $0.state == .done }.map(\.id))
    if let number {
      outbox.callOff(done.union(firings.flatMap(\.deliveries).filter { $0.round > 1 }.map(\.occurrence)), asOf: number)
    }
    guard !superseded.isEmpty || !done.isEmpty else { return }
    drop { superseded.contains($0.delivery.id) || $0.delivery.event == nil && done.contains($0.occurrence.id) }
  }

  // MARK: The outbox
  //
  // One transaction at a time records the outcomes since the last one and claims new deliveries up to capacity. A commit
  // therefore serves all attempts that ended during the previous commit: the faster attempts end, the more of them share one.

  private mutating func workOutbox() {
    if holdsQueues || isStopping {
      outbox.work.claims += waitingClaims
      waitingClaims = []
    }
    if isStopping { outbox.work.claims = [] }
    guard !isOutboxBusy, !outbox.work.isEmpty else { return }
    if scheduler.isBuffered { return keepOutbox() }
    let part = outbox.work.take()
    guard !part.needsNoTransaction else { return give(part.answers) }
    let (context, policies, seenFailing) = (context, scheduler.policies, outbox.seenFailing)
    let lapses = leases?.lapses
    let claims = ClaimsInDoubt()
    isOutboxBusy = true
    write(
      .outbox(part.outcomes),
      { transaction, setting in
        let commit = try OutboxCommit.run(
          part, in: transaction, policies, seenFailing: seenFailing, context, now: setting.now, using: &setting.random)
        claims.note(commit.claims)
        return commit
      },
      then: { core, commit, wakeups in
        core.isOutboxBusy = false
        core.outbox.ended(part.outcomes, asOf: wakeups.sequence)
        core.didWork(part, commit, wakeups, since: lapses)
        core.outboxHasEnded()
      },
      failed: { core, error in
        core.isOutboxBusy = false
        core.workFailed(part, error)
        core.release(claims)
        core.outboxHasEnded()
      })
  }

  private mutating func workFailed(_ part: OutboxTransaction, _ error: any Error) {
    if error.isPassing {
      // This keeps the order of arrival.
      var work = part
      work.append(outbox.work)
      outbox.work = work
      storeFailed(error, part.outcomes.isEmpty ? .deliveriesWait : .resultsAreKept)
      return keepOutbox()
    }
    outbox.ended(part.outcomes, asOf: nil)
    give(part.answers)
    storeFailed(error, part.outcomes.isEmpty ? .deliveriesWait : .resultsAreLost)
    // During shutdown the scheduler gets no more events, so the rest continues here.
    if part.claims.isEmpty || isStopping {
      workOutbox()
    } else {
      handle(.claimFailed(Set(part.claims.map(\.queue))))
    }
  }

  private mutating func didWork(
    _ part: OutboxTransaction, _ commit: OutboxCommit, _ wakeups: NextWakeups, since lapses: Int?
  ) {
    // The next messages leave before anybody is told.
    let claims = hold(commit.claims, asOf: wakeups.sequence, since: lapses)
    for (queue, _) in commit.unreadable { handle(.unreadable(queue)) }
    if part.claims.isEmpty {
      handle(.wakeups(wakeups))
    } else {
      handle(.claimed(Set(part.claims.map(\.queue)), claims, wakeups))
    }
    give(part.answers)
    workOutbox()
    adopt(commit)
    report(.outcomes(part, commit))
    if !part.outcomes.isEmpty || !commit.claims.isEmpty { storeWorks() }
  }

  /// Adopts what recorded outcomes have changed about endpoints.
  private mutating func adopt(_ commit: OutboxCommit) {
    for endpoint in commit.changed { outbox.endpoints[endpoint.queue]?.failingSince = endpoint.failingSince }
    if !commit.disabled.isEmpty { report(.endpointsChanged) }
  }

  /// Takes how attempts ended, and answers that came with them.
  public mutating func take(_ outcomes: [Outcome], _ answers: [OutboxTransaction.Answer]) {
    outbox.work.answers += answers
    guard !outcomes.isEmpty else { return workOutbox() }
    let well = outbox.received(outcomes, at: now)
    outbox.work.outcomes += outcomes
    handle(.ended(outcomes.map { Scheduler.Ending($0.queue, DeliveryQueueOutcome($0.attempt, $0.next)) }))
    workOutbox()
    if !well.isEmpty { wakeQueues { well.contains($0) } }
  }

  /// Whether this daemon's leases are valid. Otherwise another one may have taken over its queues.
  private var holdsQueues: Bool { leases?.holdsQueues ?? true }

  /// Holds claimed messages, and returns the new claims for the scheduler. The leases may have expired since the claim.
  ///
  /// - Parameter lapses: the number of their lapses before the claim.
  private mutating func hold(_ claimed: [ClaimedMessage], asOf number: UInt64?, since lapses: Int?) -> [Claim] {
    let claims = outbox.hold(claimed, asOf: number)
    if holdsQueues, leases?.lapses == lapses { return claims }
    for claim in claims { release(claim) }
    return []
  }

  private mutating func release(_ claim: Claim) {
    let message = outbox.held[claim.id]
    outbox.forget(claim.id)
    if let message, degradedMode.takeBack(message) { return }
    outbox.work.releases.append(claim.id)
  }

  /// Buffers the release of what a transaction has claimed whose answer was lost with the connection to a shared store.
  private mutating func release(_ claims: ClaimsInDoubt) {
    guard leases != nil, !claims.isEmpty else { return }
    degradedMode.keep(releases: claims.ids)
    handle(.buffered)
  }

  /// Drops held messages whose deliveries were cancelled.
  public mutating func drop(_ isCancelled: (OutboundMessage) -> Bool) {
    let dropped = outbox.held.values.filter { isCancelled($0.message) }.map(\.claim)
      .sorted { $0.id.rawValue < $1.id.rawValue }
    guard !dropped.isEmpty else { return }
    for claim in dropped { outbox.forget(claim.id) }
    handle(.dropped(dropped))
  }

  /// Adopts the endpoints from the store, with the policies of all queues.
  public mutating func adopt(_ known: [Endpoint], _ policies: DeliveryQueuePolicies) {
    let former = outbox.endpoints
    outbox.endpoints = Dictionary(known.map { ($0.queue, $0) }) { _, last in last }
    let present = outbox.endpoints
    let renewed = Set(former.keys).union(present.keys).filter { queue in
      var (one, other) = (former[queue], present[queue])
      one?.failingSince = nil
      other?.failingSince = nil
      return one != other
    }
    // Deliveries to a removed endpoint have been cancelled.
    drop { former[$0.delivery.queue] != nil && present[$0.delivery.queue] == nil }
    handle(.policies(policies, renewed: renewed))
  }

  /// Retries the waiting deliveries of these queues at once.
  public mutating func wakeQueues(_ isMeant: @escaping @Sendable (DeliveryQueue) -> Bool) {
    wakeQueues(isMeant, rounds: 3)
  }

  private mutating func wakeQueues(_ isMeant: @escaping @Sendable (DeliveryQueue) -> Bool, rounds: Int) {
    // Deliveries that are being recorded now get a retry time, which may lie in the future after a step back.
    guard !isOutboxBusy || rounds == 0 else { return wakesAfterOutbox.append((isMeant, rounds)) }
    write(
      .wake,
      { transaction, setting in
        for queue in try transaction.wakeups().outbox.keys.sorted() where isMeant(queue) {
          try transaction.wake(queue: queue, now: setting.now)
        }
        try Recompute.noteProgress(in: transaction, now: setting.now)
      },
      then: { core, _, wakeups in
        // Clear the unavailable state of queues, and arm timers that a step of the clock would delay.
        core.handle(.policies(core.scheduler.policies, renewed: []))
        core.handle(.wakeups(wakeups))
      },
      failed: { core, error in
        core.trouble.needsWake = true
        core.effects.append(.armRetry(after: Scheduler.storeRetry))
        core.storeFailed(error, .deliveriesWait)
      })
  }

  private mutating func outboxHasEnded() {
    let waiting = wakesAfterOutbox
    wakesAfterOutbox = []
    for (isMeant, rounds) in waiting { wakeQueues(isMeant, rounds: rounds - 1) }
  }

  // MARK: Answers and other commits

  /// Takes an answer that arrived by a channel, such as a pressed button.
  public mutating func take(_ answer: OutboxTransaction.Answer) { give([answer]) }

  private mutating func give(_ answers: [OutboxTransaction.Answer]) {
    for answer in answers {
      if scheduler.isBuffered { keep(answer) } else { effects.append(.answer(answer)) }
    }
  }

  /// Keeps an answer that the store could not record for a time.
  public mutating func answerFailed(_ answer: OutboxTransaction.Answer, _ error: any Error) {
    storeFailed(error, .answersAreKept)
    keep(answer)
  }

  /// Applies the commit of a request or of an answer.
  ///
  /// - Parameter contextVersion: the version of the context that the transaction used.
  public mutating func committed(_ changes: CommitChanges, _ wakeups: NextWakeups, contextVersion: Int) {
    let withdrawn = changes.withdrawn.filter { id, until in !isSuperseded(id, until: until) }
    for id in changes.changed + changes.removed { degradedMode.forget(id) }
    for id in changes.pinged { for occurrence in degradedMode.awaited(of: id) { degradedMode.forget(occurrence) } }
    for id in withdrawn.keys { degradedMode.forget(id) }
    outbox.callOff(withdrawn.keys, asOf: wakeups.sequence)
    // Degraded mode may have shown a reminder that was removed since. Its messages must not be recorded.
    drop { message in
      let (delivery, id) = (message.delivery, message.delivery.occurrence)
      if changes.cancelled.contains(delivery.id) { return true }
      return delivery.event == nil && (changes.removed.contains(id.reminder) || withdrawn[id] != nil)
    }
    handle(.wakeups(wakeups))
    for queue in changes.opened { handle(.opened(queue)) }
    if changes.changesAnything { storeWorks() }
    // The transaction may have missed a recomputation that followed a change.
    if contextVersion != context.version {
      recompute(Set(changes.reminders + changes.changed).sorted { $0.rawValue < $1.rawValue })
    }
    pruneHistory()
  }

  /// Returns whether a snoozed occurrence has already fired again from memory and is visible.
  public func isSuperseded(_ id: OccurrenceID, until: Instant?) -> Bool {
    until.map { degradedMode.hasFired(id, atEndOfSnoozeUntil: $0) } ?? false
  }

  // MARK: Degraded mode
  //
  // The store allows reading but no writing. Due reminders are shown on the desktop from memory. Their outcomes and
  // answers are buffered, and recorded when the store takes changes again.

  /// Fires due reminders without the store.
  private mutating func fireDegraded(limit: Int) {
    let (query, context) = (degradedMode.query(now: now, limit: limit), context)
    read(
      { transaction, _ in try query.run(in: transaction, context) },
      then: { core, seen in core.didFireDegraded(seen) },
      failed: { core, error in
        core.storeIsUnreadable(error)
        core.handle(.degradedFiringFailed(wake: core.degradedMode.nextWake(after: core.now)))
      })
  }

  private mutating func didFireDegraded(_ seen: DegradedMode.StoreAnswer) {
    guard !isStopping else { return }
    trouble.isReadable()
    let wasFull = degradedMode.isFull
    let work = degradedMode.fire(seen, scheduler.policies, context, uptime, now: now, using: &random)
    report(.firedDegraded(work, isNowFull: degradedMode.isFull && !wasFull))
    supersede(by: work.firings, asOf: nil)
    handle(
      .firedDegraded(
        outbox.hold(work.messages), next: work.next, wake: work.nextWake, isBuffered: !degradedMode.isEmpty))
  }

  /// Buffers the pending writes of the outbox.
  private mutating func keepOutbox() {
    let work = outbox.work
    outbox.work = OutboxTransaction()
    for outcome in work.outcomes { degradedMode.keep(outcome) }
    degradedMode.keep(releases: work.releases)
    for answer in work.answers { keep(answer) }
    if !degradedMode.isEmpty { handle(.buffered) }
    if !work.claims.isEmpty { handle(.claimFailed(Set(work.claims.map(\.queue)))) }
  }

  /// Buffers an answer, and withdraws its occurrence's messages.
  private mutating func keep(_ answer: OutboxTransaction.Answer) {
    let now = now
    read(
      { transaction, _ -> (Occurrence?, Reminder?, [ReminderRecord]) in
        let reminder = try transaction.readableReminder(answer.occurrence.reminder)?.reminder
        let followers = try reminder.map { try Chains.followers(of: $0.id, of: $0.owner, .done, in: transaction) }
        return (try transaction.occurrence(answer.occurrence), reminder, followers ?? [])
      },
      then: { core, found in core.buffer(answer, stored: found.0, found.1, followers: found.2, at: now) },
      failed: { core, _ in
        core.degradedMode.keep(answer, at: now)
        core.handle(.buffered)
      })
  }

  private mutating func buffer(
    _ answer: OutboxTransaction.Answer, stored: Occurrence?, _ reminder: Reminder?, followers: [ReminderRecord],
    at now: Instant
  ) {
    guard let occurrence = degradedMode.current(answer.occurrence, stored: stored), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true
    else { return }
    do {
      let answered = try degradedMode.answer(
        answer, stored ?? occurrence, reminder, followers: followers, context, now: now)
      report(.answeredDegraded(answered, at: now))
      handle(.keptAnswer)
      drop { $0.occurrence.id == answer.occurrence && $0.delivery.event == nil }
    } catch {
      report(.answerRefused(answer.occurrence, error))
    }
  }

  /// Records a part of the buffer in the store.
  private mutating func record() {
    let (policies, seenFailing, renewal) = (scheduler.policies, outbox.seenFailing, renewal)
    let (part, context) = (degradedMode.part(), context)
    let outdated = degradedMode.outdated(in: part, context, now: now)
    isRecording = true
    write(
      .record(part),
      { transaction, setting in
        try renewal.mark(transaction, isOutdated: !outdated.isEmpty, now: setting.now)
        return try DegradedModeCommit.run(
          part, in: transaction, policies, seenFailing: seenFailing, context, now: setting.now, using: &setting.random,
          didRecord: setting.didRecord)
      },
      then: { core, commit, wakeups in
        core.isRecording = false
        core.didRecord(part, commit, wakeups, outdated)
        core.recordingHasEnded()
      },
      failed: { core, error in
        core.isRecording = false
        core.storeFailed(error, .remindersWait)
        core.handle(.recordFailed)
        core.recordingHasEnded()
      })
  }

  private mutating func didRecord(
    _ part: DegradedMode.Part, _ commit: DegradedModeCommit, _ wakeups: NextWakeups, _ known: [ReminderID]
  ) {
    let outdated = Set(known).union(degradedMode.outdated(in: part, context, now: now))
    degradedMode.recorded(part)
    trouble.recorded += commit.firings
    outbox.ended(
      part.entries.compactMap { entry in
        if case .ended(let outcome, _) = entry { outcome } else { nil }
      }, asOf: wakeups.sequence)
    report(.recorded(part, commit))
    handle(.recorded(rest: !degradedMode.isEmpty, wakeups))
    for outcomes in commit.outcomes { adopt(outcomes) }
    storeWorks()
    // A recomputation after a change did not yet know of these firings.
    recompute(outdated.sorted { $0.rawValue < $1.rawValue })
  }

  private mutating func recordingHasEnded() {
    guard !isRecording else { return }
    let waiting = afterRecording
    afterRecording = []
    for body in waiting { body(&self) }
  }

  // MARK: A failing store

  /// Notes that a client's change was refused.
  public mutating func changeRefused(_ error: any Error) { storeFailed(error, .changesAreRefused) }

  /// Notes that a transaction failed.
  public mutating func storeFailed(_ error: any Error, _ consequence: StoreConsequence) {
    let sentence = StoreTrouble.sentence(of: error)
    report(.storeFailed(sentence, consequence, isNew: trouble.writingFailed(sentence)))
    if leases == nil, error.isPassing { handle(.refused) }
  }

  /// Notes that the store cannot even be read.
  public mutating func storeIsUnreadable(_ error: any Error) {
    let sentence = StoreTrouble.sentence(of: error)
    report(.storeUnreadable(sentence, isNew: trouble.readingFailed(sentence)))
  }

  /// Notes the result of a read that no job of the core has made.
  public mutating func storeWasRead(_ error: (any Error)? = nil) {
    if let error { trouble.reading = StoreTrouble.sentence(of: error) } else { trouble.isReadable() }
  }

  /// Ends the store's trouble after a transaction that wrote has committed.
  private mutating func storeWorks() {
    guard trouble.problem != nil, degradedMode.isEmpty else { return }
    let before = trouble
    trouble.end()
    report(.storeWorks(recorded: before.recorded))
    recomputeDueTimes([])
    if before.needsWake { wakeQueues { _ in true } }
  }

  /// Tries whether the store takes changes again. If it does, the buffer is recorded. Reports `storeTried` at its end.
  public mutating func tryStore() {
    guard !isTrying else { return }
    isTrying = true
    write(
      .note, { transaction, setting in try Downtime.noteAlive(in: transaction, now: setting.now) },
      then: { core, _, wakeups in
        core.handle(.wakeups(wakeups))
        core.afterRecording.append { core in
          core.storeWorks()
          core.hasTried()
        }
        core.recordingHasEnded()
      },
      failed: { core, error in
        core.storeFailed(error, .changesAreRefused)
        core.hasTried()
      })
  }

  private mutating func hasTried() {
    isTrying = false
    let waiting = afterTrying
    afterTrying = []
    for body in waiting { body(&self) }
    report(.storeTried)
    retryLater()
  }

  /// Retries a store that refused a recomputation or a wake-up, or that was replaced and could not be read. On an idle
  /// machine nothing else would, and due times would stay wrong. Begins to remove history where that waits for a moment.
  public mutating func retry() {
    if history.isWaiting {
      if history.hasWaited(at: now) { beginPruning() } else { effects.append(.armRetry(after: HistoryUpkeep.delay)) }
    }
    guard !isStopping, needsRetry else { return }
    if isStoreReplaced { start() } else { tryStore() }
  }

  private var needsRetry: Bool { isStoreReplaced || !renewal.pending.isEmpty || trouble.needsWake }

  private mutating func retryLater() {
    if needsRetry { effects.append(.armRetry(after: Scheduler.storeRetry)) }
  }

  // MARK: Other daemons
  //
  // Leases of queues come and go, and other daemons write into queues of this one. Nothing tells of each change, so the
  // store is polled for what they add, fire, answer and release. The poll only reads: an idle fleet writes nothing but
  // heartbeats.

  /// Joins other daemons on the store, which were there to fire earlier due times.
  public mutating func join(_ members: [FleetMember]) { uptime = Uptime(startedAt: startedAt, among: members) }

  /// Takes what has changed in the fleet.
  public mutating func take(_ event: FleetEvent) {
    switch event {
    case .leave(let queues): handOver { queues.contains($0) }
    case .taken: follow(fleet.handle(.taken))
    case .outboxChanged: follow(fleet.handle(.changed))
    case .endpointsChanged:
      report(.endpointsChanged)
      follow(fleet.handle(.changed))
    case .leaseExpired, .endedSessions, .sessionsStay: break
    }
  }

  /// Reads what other daemons have changed, and asks to be called again.
  ///
  /// - Parameter shown: the occurrences with a visible popup.
  public mutating func checkOtherDaemons(shown: [OccurrenceID]) {
    guard leases != nil, !isStopping else { return }
    follow(fleet.handle(.due), shown)
  }

  /// Releases the held claims, and reports `drained` once no attempt is in flight. Call it after `stop`.
  public mutating func drain() {
    handOver { _ in true }
    fleet.isDraining = true
  }

  /// Releases the held claims of queues that another daemon takes over.
  private mutating func handOver(_ isGoing: (DeliveryQueue) -> Bool) {
    outbox.seenFailing = outbox.seenFailing.filter { !isGoing($0.key) }
    let going = outbox.held.values.map(\.claim).filter { isGoing($0.queue) }
    guard !going.isEmpty else { return }
    for claim in going { release(claim) }
    handle(.dropped(going))
    workOutbox()
  }

  private mutating func follow(_ order: FleetCycle.Order?, _ shown: [OccurrenceID] = []) {
    switch order {
    case .wait(let time): if !isStopping { effects.append(.armOthers(after: time)) }
    case .look(releases: false): look(shown)
    case .look(releases: true):
      write(
        .wake, { transaction, _ in try transaction.releaseFormerClaims() },
        then: { core, _, wakeups in
          core.handle(.wakeups(wakeups))
          core.look(shown)
        },
        failed: { core, _ in
          // The next look retries. Writers report the store's trouble.
          core.fleet.releaseHasFailed()
          core.look(shown)
        })
    case nil: break
    }
  }

  /// Reads due times, pending deliveries, held deliveries that were settled, and shown occurrences that were answered.
  private mutating func look(_ shown: [OccurrenceID]) {
    let held = Array(outbox.held.keys)
    // The result counts as of the latest commit known now, so that it overrides no later one.
    let sequence = scheduler.latestWakeups
    read(
      { transaction, _ in
        var wakeups = try transaction.dueWakeups()
        wakeups.sequence = sequence
        return (wakeups, try transaction.settled(among: held), try transaction.answered(among: shown))
      },
      then: { core, found in
        let take: @Sendable (inout LoopCore) -> Void = { core in
          let (wakeups, settled, answered) = found
          if !answered.isEmpty { core.report(.answeredElsewhere(answered)) }
          core.drop { settled.contains($0.delivery.id) }
          core.handle(.looked(wakeups))
          core.hasLooked()
        }
        guard core.trouble.problem != nil else { return take(&core) }
        core.afterTrying.append(take)
        core.tryStore()
      },
      failed: { core, error in
        core.storeIsUnreadable(error)
        core.hasLooked()
      })
  }

  private mutating func hasLooked() {
    // Other daemons can end trouble and settle what is held.
    let isAtRest = trouble.problem == nil && outbox.held.isEmpty && waitingClaims.isEmpty && leases?.isAlone == true
    follow(fleet.handle(.looked(isAtRest: isAtRest)))
  }

  // MARK: Due times

  /// Compares the context with that of an earlier daemon, and recomputes the due times that differ.
  public mutating func reviewContext() {
    read(
      { transaction, setting -> (known: String?, wentBack: Bool) in
        (try Renewal.known(in: transaction), try Recompute.clockWentBack(transaction, now: setting.now))
      },
      then: { core, found in core.review(found.known, wentBack: found.wentBack) },
      failed: { core, error in core.renewalFailed(Recompute.all.union([.backwardStep]), error, .dueTimesMayBeOutdated) }
    )
  }

  private mutating func review(_ known: String?, wentBack: Bool) {
    if wentBack {
      report(.renewal(.clockWentBack))
      recomputeDueTimes([.backwardStep])
      wakeQueues { _ in true }
    } else {
      // A full disk that refuses this note must not prevent the comparison below.
      rememberClock(after: lastSeen)
    }
    guard known != contextText else { return }
    // A store without the note is new.
    guard let known else {
      return noteContext(or: Recompute.all.union([.backwardStep]), .dueTimesMayBeOutdated)
    }
    let before = known.split(separator: "\n")
    let changed = Set(
      contextText.split(separator: "\n").filter { !before.contains($0) }
        .compactMap { $0.split(separator: " ").first.map { String($0) } })
    var reasons: Set<Recompute> = []
    if changed.contains("local") { reasons.insert(.localZone) }
    if changed.contains("database") { reasons.insert(.zoneRules(unchanged: [])) }
    if changed.contains("place") { reasons.insert(.place) }
    if changed.contains("calendars") { reasons.insert(.calendars(nil)) }
    if changed.contains("quiet") { reasons.insert(.quietHours) }
    report(.renewal(renewal.goOn(from: known) ? .wasUnderWay : .changed(changed.sorted())))
    recomputeDueTimes(reasons)
  }

  /// Notes the time in the store, so that the next daemon detects a clock that was set back meanwhile.
  ///
  /// - Parameter before: the time from which the clock came.
  private mutating func rememberClock(after before: Instant?) {
    write(
      .note, { transaction, setting in try Recompute.rememberClock(in: transaction, after: before, now: setting.now) },
      then: { _, _, _ in }, failed: { core, error in core.report(.clockNotNoted(error)) })
  }

  /// Recomputes due times in pages, so that a million reminders need no more memory and block no longer than a hundred.
  /// A reminder that is already due stays due.
  public mutating func recomputeDueTimes(_ reasons: Set<Recompute>) {
    let reasons = renewal.begin(reasons, now: now)
    guard let first = reasons.first else { return }
    let selection = reasons.count == 1 ? first.selection : .all
    let ended: @Sendable (inout LoopCore, (any Error)?) -> Void = { core, error in
      core.renewal.end()
      if let error { return core.renewalFailed(reasons, error) }
      core.noteContext(or: reasons, remembersClock: true)
    }
    let pages: @Sendable (inout LoopCore, (any Error)?) -> Void = { core, error in
      // Quiet hours do not change scheduled times, so no reminder has to be read.
      if error != nil || reasons == [.quietHours] { return ended(&core, error) }
      core.recomputeDueTimes(selection, reasons, after: nil, ended)
    }
    if reasons.contains(where: \.concernsQuiet) { reevaluateHeld(pages) } else { pages(&self, nil) }
  }

  private mutating func recomputeDueTimes(
    _ selection: ReminderSelection, _ reasons: Set<Recompute>, after last: ReminderID?,
    _ done: @escaping @Sendable (inout LoopCore, (any Error)?) -> Void
  ) {
    let limit = pages.read
    read(
      { transaction, _ -> (concerned: [ReminderID], last: ReminderID?) in
        let ids = try transaction.reminderIDs(selection, after: last, limit: limit)
        let concerned = try ids.filter { id in
          guard let record = try transaction.readableReminder(id) else { return false }
          return reasons.contains { $0.concerns(record.reminder) }
        }
        return (concerned, ids.last)
      },
      then: { core, page in
        core.reschedule(page.concerned[...], wentBack: reasons.contains(.backwardStep)) { core, error in
          guard error == nil, let last = page.last else { return done(&core, error) }
          core.recomputeDueTimes(selection, reasons, after: last, done)
        }
      }, failed: { core, error in done(&core, error) })
  }

  /// Recomputes the due times of these reminders.
  private mutating func recompute(_ ids: [ReminderID]) {
    guard !ids.isEmpty else { return }
    renewal.begin(now: now)
    let ended: @Sendable (inout LoopCore, (any Error)?) -> Void = { core, error in
      core.renewal.end()
      // The ids are not kept, so all reminders are recomputed.
      if let error { return core.renewalFailed(Recompute.all, error) }
      core.noteContext(or: Recompute.all)
    }
    // The clock may have gone back after they were decided.
    reschedule(ids[...], wentBack: true) { core, error in
      // A decision made meanwhile may have used the old quiet hours.
      if error == nil { core.reevaluateHeld(ended) } else { ended(&core, error) }
    }
  }

  private mutating func reschedule(
    _ ids: ArraySlice<ReminderID>, wentBack: Bool, _ done: @escaping @Sendable (inout LoopCore, (any Error)?) -> Void
  ) {
    guard !ids.isEmpty else { return done(&self, nil) }
    let (context, renewal, batch) = (context, renewal, ids.prefix(pages.write))
    write(
      .recomputeDueTimes,
      { transaction, setting in
        try renewal.mark(transaction, now: setting.now)
        for id in batch {
          try Recompute.reschedule(id, in: transaction, context, now: setting.now, wentBack: wentBack)
        }
      },
      then: { core, _, wakeups in
        core.handle(.wakeups(wakeups))
        core.reschedule(ids.dropFirst(batch.count), wentBack: wentBack, done)
      }, failed: { core, error in done(&core, error) })
  }

  private mutating func reevaluateHeld(_ done: @escaping @Sendable (inout LoopCore, (any Error)?) -> Void) {
    write(
      .reevaluateHeld, { transaction, setting in try transaction.reevaluateHeld(now: setting.now) },
      then: { core, _, wakeups in
        core.handle(.wakeups(wakeups))
        done(&core, nil)
      }, failed: { core, error in done(&core, error) })
  }

  /// Notes with which context the due times were computed; `reasons` stay pending if the store refuses that.
  private mutating func noteContext(
    or reasons: Set<Recompute>, _ consequence: StoreConsequence = .dueTimesNotRecomputed, remembersClock: Bool = false
  ) {
    let (renewal, text) = (renewal, contextText)
    write(
      .note,
      { transaction, setting in
        try renewal.note(text, in: transaction, now: setting.now)
        if remembersClock { try Recompute.rememberClock(in: transaction, now: setting.now) }
      },
      then: { core, _, _ in core.renewal.noted() },
      failed: { core, error in core.renewalFailed(reasons, error, consequence) })
  }

  private mutating func renewalFailed(
    _ reasons: Set<Recompute>, _ error: any Error, _ consequence: StoreConsequence = .dueTimesNotRecomputed
  ) {
    renewal.owe(reasons, now: now)
    retryLater()
    storeFailed(error, consequence)
  }

  // MARK: History

  /// Removes what is older than the limits, at most once an hour unless these have just changed.
  public mutating func pruneHistory(isAsked: Bool = false) {
    if isAsked {
      history.limitsHaveChanged(at: now)
    } else {
      guard trouble.problem == nil, history.announces(at: now, runningSince: startedAt) else { return }
      return effects.append(.armRetry(after: HistoryUpkeep.delay))
    }
    beginPruning()
  }

  private mutating func beginPruning() {
    guard !isStopping, trouble.problem == nil else { return history.withdraw() }
    guard history.begins(at: now, runningSince: startedAt) else { return }
    let (limits, now) = (historyLimits, now)
    read(
      { transaction, _ in
        (try limits.count.flatMap { try transaction.timeOfOccurrence(after: $0 - 1) }, transaction.restorations)
      },
      then: { core, found in
        let (last, restorations) = found
        let edge = limits.edge(at: now, last: last)
        if core.leases != nil { return core.effects.append(.dropMonths(edge, begunAt: now)) }
        core.prune(edge, rest: edge, restorations: restorations, begunAt: now)
      }, failed: { core, error in core.pruningFailed(error) })
  }

  /// Removes the rest, once whole months are dropped.
  ///
  /// - Parameter restorations: those of the store (`StoreTransaction.restorations`) when `edge` was computed.
  public mutating func prune(_ edge: HistoryEdge?, rest: HistoryEdge?, restorations: Int = 0, begunAt: Instant) {
    goOn(Pruning(begunAt: begunAt, edge, rest: rest, restorations: restorations, batch: pages.history))
  }

  private mutating func goOn(_ pruning: Pruning) {
    guard !isStopping, !pruning.isOver else {
      history.ended()
      return report(.historyPruned(pruning.count, begunAt: pruning.begunAt))
    }
    write(
      .history,
      { transaction, _ in
        var pruning = pruning
        try pruning.goOn(in: transaction)
        return pruning
      }, then: { core, pruning, _ in core.goOn(pruning) }, failed: { core, error in core.pruningFailed(error) })
  }

  /// Leaves old history until the next time.
  public mutating func pruningFailed(_ error: any Error) {
    history.ended()
    report(.historyNotPruned(error))
  }

  // MARK: The clock, and sleep

  /// Handles a step of the clock, or a sleep of the machine.
  public mutating func clockHasStepped(by step: Milliseconds, slept: Milliseconds) {
    if step > .seconds(1) || step < .seconds(-1) {
      outbox.seenFailing = [:]
      history.clockWasSet(at: now)
    }
    if step < .zero { uptime.clockWentBack(to: now) }
    if slept > .seconds(1) {
      sleep(.slept(slept))
    } else {
      handle(step < .zero ? .clockWentBack(by: .zero - step) : .awake)
    }
    if step < .seconds(-1) { recomputeDueTimes([.backwardStep]) }
    if step > .seconds(1) { rememberClock(after: now - step) }
    // Later attempts would otherwise wait longer by the size of the step, or of several small ones.
    setBack = max(.zero, setBack - step)
    if setBack > .minutes(1) {
      setBack = .zero
      wakeQueues { _ in true }
    }
  }

  /// Takes what is known about sleep of the machine.
  public mutating func sleep(_ event: SleepCycle.Event) {
    for order in sleepCycle.handle(event) {
      switch order {
      case .settle:
        report(.sleeps)
        handle(.sleeping)
      case .release: effects.append(.releaseSleep)
      case .inhibit: effects.append(.inhibitSleep)
      case .wait(let time): effects.append(.armSleep(after: time))
      case .goOn: handle(.woke)
      case .resume(let slept): resume(slept.map { .slept($0) } ?? .awake)
      }
    }
  }

  /// Re-evaluates everything once after a time in which no firing was possible.
  public mutating func resume(_ resumption: Resumption) {
    outbox.seenFailing = [:]
    handle(.woke)
    report(.resumed(resumption))
    // Quiet hours may have ended meanwhile.
    reevaluateHeld { core, error in if let error { core.storeFailed(error, .remindersWait) } }
  }
}
