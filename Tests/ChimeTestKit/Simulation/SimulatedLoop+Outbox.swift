import ChimeCore
import ChimeSchedule

// Firing and the outbox, mirroring `EventLoop+FiringResult` and `EventLoop+Outbox`.
extension SimulatedLoop {
  func fire(limit: Int, capacity: Scheduler.Capacity) {
    let (context, uptime, catchUpSpread, downtime) = (context, uptime, catchUpSpread, downtime)
    var generator = SeededGenerator(seed: world.bits())
    let renewal = renewal
    write(.fire) { transaction, now in
      try renewal.mark(transaction, now: now)
      return try FireTransaction.run(
        in: transaction, limit: limit, capacity: capacity, context: context, uptime: uptime,
        catchUpSpread: catchUpSpread,
        downtime: downtime, now: now, using: &generator)
    } _: { [self] result in
      switch result {
      case .success(let (work, wakeups)):
        self.downtime = nil
        self.catchUpSpread = work.catchUpSpread
        supersede(by: work.firings)
        handle(.fired(claimed: outbox.hold(work.claims, asOf: wakeups.sequence), wakeups))
        world.checker.tells(work.firings)
        if !work.firings.isEmpty { storeWorks() }
        if context.version != self.context.version { recompute(work.firings.map(\.due.reminder.id)) }
      case .failure: handle(.firingFailed)
      }
    }
  }

  func supersede(by firings: [FiringResult]) {
    let superseded = outbox.superseded(by: firings.flatMap(\.deliveries))
    if !superseded.isEmpty { drop { superseded.contains($0.delivery.id) } }
  }

  func workOutbox() {
    if isStopping { outbox.work.claims = [] }
    guard isAlive, !isOutboxBusy, !outbox.work.isEmpty else { return endIfSettled() }
    if scheduler.keepsForStore { return keepOutbox() }
    let part = outbox.work.take()
    guard !part.needsNoTransaction else { return record(part.answers) }
    let (policies, seen, context) = (scheduler.policies, outbox.seenFailing, context)
    var generator = SeededGenerator(seed: world.bits())
    isOutboxBusy = true
    write(.outbox, tells: false) { transaction, now in
      try OutboxCommit.run(
        part, in: transaction, policies, seenFailing: seen, context, now: now, using: &generator)
    } _: { [self] result in
      isOutboxBusy = false
      switch result {
      case .success(let (commit, wakeups)):
        forgetUnderWay(part.outcomes, wakeups)
        didWork(part, commit, wakeups)
      case .failure:
        // Keep the order of arrival.
        var work = part
        work.append(outbox.work)
        outbox.work = work
        storeFailed()
        keepOutbox()
      }
      endIfSettled()
    }
  }

  private func didWork(_ part: OutboxTransaction, _ commit: OutboxCommit, _ wakeups: NextWakeups) {
    let claims = outbox.hold(commit.claims, asOf: wakeups.sequence)
    for (queue, _) in commit.unreadable { handle(.unreadable(queue)) }
    if part.claims.isEmpty {
      handle(.wakeups(wakeups))
    } else {
      handle(.claimed(Set(part.claims.map(\.queue)), claims, wakeups))
    }
    record(part.answers)
    workOutbox()
    // The outcomes of abandoned degraded-mode popups have no row to be recorded in.
    let homeless = part.outcomes.count { world.checker.abandoned.contains($0.message.delivery.id) }
    for reason in commit.refused.dropFirst(homeless) { world.fail("an outcome could not be recorded: \(reason)") }
    tell(commit)
    if !part.outcomes.isEmpty || !commit.claims.isEmpty { storeWorks() }
  }

  func tell(_ commit: OutboxCommit) {
    for endpoint in commit.changed { outbox.endpoints[endpoint.queue]?.failingSince = endpoint.failingSince }
    if !commit.disabled.isEmpty { refreshEndpoints {} }
  }

  // MARK: Sending

  func begin(_ claim: Claim) {
    guard let message = outbox.begin(claim.id) else { return }
    world.send(message, from: self)
    underWay[claim.id] = message
  }

  func giveBack(_ claim: Claim) {
    let message = outbox.held[claim.id]
    outbox.forget(claim.id)
    if let message, degradedMode.takeBack(message) { return }
    outbox.work.releases.append(claim.id)
  }

  func drop(_ isCancelled: (OutboundMessage) -> Bool) {
    let dropped = outbox.held.values.filter { isCancelled($0.message) }.map(\.claim)
      .sorted { $0.id.rawValue < $1.id.rawValue }
    guard !dropped.isEmpty else { return }
    for claim in dropped { outbox.forget(claim.id) }
    handle(.dropped(dropped))
  }

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
    if isFirst { later(world.chance(0...1)) { $0.takeOutcomes() } }
  }

  private func takeOutcomes() {
    let (arrived, answers) = inbox
    inbox = ([], [])
    outbox.work.answers += answers
    guard !arrived.isEmpty else { return workOutbox() }
    let well = outbox.heard(arrived, at: world.wall)
    outbox.work.outcomes += arrived
    handle(.ended(arrived.map { Scheduler.Ending($0.queue, DeliveryQueueOutcome($0.attempt, $0.next)) }))
    workOutbox()
    if !well.isEmpty { wakeQueues { well.contains($0) } }
  }

  private func record(_ answers: [OutboxTransaction.Answer]) {
    for answer in answers { record(answer) }
  }

  private func record(_ given: OutboxTransaction.Answer) {
    if scheduler.keepsForStore { return keep(given) }
    let (answer, id, context) = (given.answer, given.occurrence, context)
    write(.answer) { transaction, now -> Notices in
      guard let occurrence = try transaction.occurrence(id), occurrence.isOpen else { return Notices() }
      let reminder = try transaction.reminder(id.reminder)?.reminder
      do {
        var generator = SeededGenerator(seed: 0)
        let work = try AnswerTransaction.run(
          answer, to: occurrence, reminder: reminder, in: transaction, context, now: now, using: &generator)
        return Notices(work)
      } catch is AnswerRefused {
        return Notices()
      }
    } _: { [self] result in
      switch result {
      case .success(let (notices, wakeups)): committed(wakeups, notices, with: context)
      case .failure: keep(given)
      }
    }
  }

  // The effects of other transactions' commits.

  /// What the transaction of a request reports to the loop.
  struct Notices {
    var reminders: [ReminderID] = []
    /// The reminders whose definition has changed or is gone.
    var changed: [ReminderID] = []
    var removed: ReminderID?
    var pinged: ReminderID?
    var withdrawn: Set<OccurrenceID> = []
    /// Of those, the snoozed ones with their new times.
    var snoozed: [OccurrenceID: Instant] = [:]
    var cancelled: Set<DeliveryID> = []
    var changesEndpoints = false
  }

  func committed(_ wakeups: NextWakeups, _ notices: Notices, with context: ReminderContext) {
    var notices = notices
    for (id, until) in notices.snoozed where degradedMode.hasFired(id, atEndOfSnoozeUntil: until) {
      notices.withdrawn.remove(id)
    }
    for id in notices.changed {
      degradedMode.forget(id)
      world.checker.forgetAside(id)
    }
    for id in notices.withdrawn.union(notices.pinged.map(degradedMode.awaited) ?? []) {
      degradedMode.forget(id)
      world.checker.forgetAside(id)
    }
    if let id = notices.removed { drop { $0.delivery.occurrence.reminder == id } }
    handle(.wakeups(wakeups))
    if !notices.withdrawn.isEmpty { drop { notices.withdrawn.contains($0.occurrence.id) } }
    if !notices.cancelled.isEmpty { drop { notices.cancelled.contains($0.delivery.id) } }
    storeWorks()
    guard context.version != self.context.version else { return }
    recompute(notices.reminders + notices.changed + notices.withdrawn.map(\.reminder))
  }
}

extension SimulatedLoop.Notices {
  /// Describes the effects of an answer.
  init(_ work: AnswerTransaction) {
    let answered = work.occurrence
    self.init(changed: work.chained.map(\.after.id), withdrawn: [answered.id])
    if case .snoozed(let until) = answered.state { snoozed[answered.id] = until }
  }
}
