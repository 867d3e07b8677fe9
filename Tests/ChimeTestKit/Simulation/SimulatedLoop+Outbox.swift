import ChimeCore
import ChimeSchedule

// Firing, and the outbox: as `EventLoop+Firing` and `EventLoop+Outbox` have them.
extension SimulatedLoop {
  func fire(limit: Int, room: Agenda.Room) {
    let (bearings, absence, stagger, downtime) = (bearings, absence, stagger, downtime)
    var generator = SeededGenerator(seed: world.bits())
    let renewal = renewal
    write(.fire) { transaction, now in
      try renewal.mark(transaction, now: now)
      return try FiringWork.run(
        in: transaction, limit: limit, room: room, bearings: bearings, absence: absence, stagger: stagger,
        downtime: downtime, now: now, using: &generator)
    } _: { [self] result in
      switch result {
      case .success(let (work, horizon)):
        self.downtime = nil
        self.stagger = work.stagger
        supersede(by: work.firings)
        handle(.fired(claimed: outbox.hold(work.claims, asOf: horizon.sequence), horizon))
        world.ledger.tells(work.firings)
        if !work.firings.isEmpty { storeWorks() }
        if bearings.version != self.bearings.version { recompute(work.firings.map(\.due.reminder.id)) }
      case .failure: handle(.firingFailed)
      }
    }
  }

  func supersede(by firings: [Firing]) {
    let superseded = outbox.superseded(by: firings.flatMap(\.deliveries))
    if !superseded.isEmpty { drop { superseded.contains($0.delivery.id) } }
  }

  func workOutbox() {
    if isStopping { outbox.work.claims = [] }
    guard isAlive, !isOutboxBusy, !outbox.work.isEmpty else { return endIfSettled() }
    if agenda.keepsForStore { return keepOutbox() }
    let part = outbox.work.take()
    guard !part.needsNoTransaction else { return record(part.answers) }
    let (policies, seen, bearings) = (agenda.policies, outbox.seenFailing, bearings)
    var generator = SeededGenerator(seed: world.bits())
    isOutboxBusy = true
    write(.outbox, tells: false) { transaction, now in
      try OutboxCommit.run(
        part, in: transaction, policies, seenFailing: seen, bearings, now: now, using: &generator)
    } _: { [self] result in
      isOutboxBusy = false
      switch result {
      case .success(let (commit, horizon)):
        forgetUnderWay(part.outcomes, horizon)
        didWork(part, commit, horizon)
      case .failure:
        // In the order in which they came.
        var work = part
        work.append(outbox.work)
        outbox.work = work
        storeFailed()
        keepOutbox()
      }
      endIfSettled()
    }
  }

  private func didWork(_ part: OutboxWork, _ commit: OutboxCommit, _ horizon: Horizon) {
    let claims = outbox.hold(commit.claims, asOf: horizon.sequence)
    for (lane, _) in commit.unreadable { handle(.unreadable(lane)) }
    if part.claims.isEmpty {
      handle(.horizon(horizon))
    } else {
      handle(.claimed(Set(part.claims.map(\.lane)), claims, horizon))
    }
    record(part.answers)
    workOutbox()
    // What was shown without the store and could not be recorded has nowhere to put what came of it.
    let homeless = part.outcomes.count { world.ledger.abandoned.contains($0.message.delivery.id) }
    for reason in commit.refused.dropFirst(homeless) { world.fail("an outcome could not be recorded: \(reason)") }
    tell(commit)
    if !part.outcomes.isEmpty || !commit.claims.isEmpty { storeWorks() }
  }

  func tell(_ commit: OutboxCommit) {
    for endpoint in commit.changed { outbox.endpoints[endpoint.lane]?.failingSince = endpoint.failingSince }
    if !commit.disabled.isEmpty { refreshEndpoints {} }
  }

  // MARK: To the channels

  func begin(_ claim: Claim) {
    guard let message = outbox.begin(claim.id) else { return }
    world.send(message, from: self)
    underWay[claim.id] = message
  }

  func giveBack(_ claim: Claim) {
    let message = outbox.held[claim.id]
    outbox.forget(claim.id)
    if let message, standby.takeBack(message) { return }
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
      // One that has ended with its channel is heard of once.
      guard underWay[message.delivery.id] != nil, reported.insert(message.delivery.id).inserted else { return }
      world.ledger.ends(message, attempt, next)
      inbox.outcomes.append(Outcome(attempt: attempt, next: next, message: message))
    case .answered(let answer):
      inbox.answers.append(OutboxWork.Answer(answer: answer, occurrence: message.occurrence.id))
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
    handle(.ended(arrived.map { Agenda.Ending($0.lane, LaneOutcome($0.attempt, $0.next)) }))
    workOutbox()
    if !well.isEmpty { wakeLanes { well.contains($0) } }
  }

  private func record(_ answers: [OutboxWork.Answer]) {
    for answer in answers { record(answer) }
  }

  private func record(_ given: OutboxWork.Answer) {
    if agenda.keepsForStore { return keep(given) }
    let (answer, id, bearings) = (given.answer, given.occurrence, bearings)
    write(.answer) { transaction, now -> Notices in
      guard let occurrence = try transaction.occurrence(id), occurrence.isOpen else { return Notices() }
      let reminder = try transaction.reminder(id.reminder)?.reminder
      do {
        var generator = SeededGenerator(seed: 0)
        let work = try AnswerWork.run(
          answer, to: occurrence, reminder: reminder, in: transaction, bearings, now: now, using: &generator)
        return Notices(work)
      } catch is AnswerRefused {
        return Notices()
      }
    } _: { [self] result in
      switch result {
      case .success(let (notices, horizon)): committed(horizon, notices, with: bearings)
      case .failure: keep(given)
      }
    }
  }

  // MARK: What follows from commits of others

  /// What a request's transaction tells the loop.
  struct Notices {
    var reminders: [ReminderID] = []
    /// Those whose definition is another, or gone.
    var changed: [ReminderID] = []
    var removed: ReminderID?
    var pinged: ReminderID?
    var withdrawn: Set<OccurrenceID> = []
    /// Of those, which were put off, and until when.
    var snoozed: [OccurrenceID: Instant] = [:]
    var cancelled: Set<DeliveryID> = []
    var changesEndpoints = false
  }

  func committed(_ horizon: Horizon, _ notices: Notices, with bearings: Bearings) {
    var notices = notices
    for (id, until) in notices.snoozed where standby.hasFired(id, atEndOfSnoozeUntil: until) {
      notices.withdrawn.remove(id)
    }
    for id in notices.changed {
      standby.forget(id)
      world.ledger.forgetAside(id)
    }
    for id in notices.withdrawn.union(notices.pinged.map(standby.awaited) ?? []) {
      standby.forget(id)
      world.ledger.forgetAside(id)
    }
    if let id = notices.removed { drop { $0.delivery.occurrence.reminder == id } }
    handle(.horizon(horizon))
    if !notices.withdrawn.isEmpty { drop { notices.withdrawn.contains($0.occurrence.id) } }
    if !notices.cancelled.isEmpty { drop { notices.cancelled.contains($0.delivery.id) } }
    storeWorks()
    guard bearings.version != self.bearings.version else { return }
    recompute(notices.reminders + notices.changed + notices.withdrawn.map(\.reminder))
  }
}

extension SimulatedLoop.Notices {
  /// Of an answer.
  init(_ work: AnswerWork) {
    let answered = work.occurrence
    self.init(changed: work.chained.map(\.after.id), withdrawn: [answered.id])
    if case .snoozed(let until) = answered.state { snoozed[answered.id] = until }
  }
}
