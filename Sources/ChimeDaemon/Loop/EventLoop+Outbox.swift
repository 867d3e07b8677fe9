import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch

// The outbox: claiming, sending, and what came of it.
//
// One transaction at a time records what has come since the last and claims what there is room for, so that a commit
// serves as many attempts as ended during the one before: the faster they end, the more share it.
extension EventLoop {
  // MARK: To the store

  func workOutbox() {
    if isStopping { outbox.work.claims = [] }
    guard outboxTask == nil, !outbox.work.isEmpty else { return settleIfIdle() }
    if agenda.keepsForStore { return keepOutbox() }
    let part = outbox.work.take()
    guard !part.needsNoTransaction else { return record(part.answers) }
    let (store, horizons, policies, seen) = (store, horizons, agenda.policies, outbox.seenFailing)
    let (bearings, popups, popupsNote) = (bearings, popupsToKeep(with: part.outcomes), popupsNote)
    outboxTask = Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (commit, horizon) = try await store.write { transaction in
            var generator = PooledRandom()
            let commit = try OutboxCommit.run(
              part, in: transaction, policies, seenFailing: seen, bearings, now: SystemClock.now, using: &generator)
            if let popups { try transaction.setNote(popupsNote, popups.isEmpty ? nil : popups) }
            return (commit, try horizons.read(transaction))
          }
          outboxTask = nil
          if let popups { keptPopups = popups }
          outbox.ended(part.outcomes, asOf: horizon.sequence)
          didWork(part, commit, horizon)
          noticeDrained()
        } catch {
          outboxTask = nil
          workFailed(part, error)
        }
      }
    }
  }

  private func workFailed(_ part: OutboxWork, _ error: any Error) {
    if (error as? StoreFailure)?.isPassing ?? false {
      // In the order in which they came.
      var work = part
      work.append(outbox.work)
      outbox.work = work
      storeFailed(error, part.outcomes.isEmpty ? "deliveries wait" : "what came of deliveries is kept in memory")
      return keepOutbox()
    }
    outbox.ended(part.outcomes, asOf: nil)
    record(part.answers)
    let isLost = !part.outcomes.isEmpty
    storeFailed(error, isLost ? "outcomes could not be recorded; they will be repeated" : "deliveries wait")
    // While it stops the agenda is not asked any more, and what else there is goes on by itself.
    if part.claims.isEmpty || isStopping {
      workOutbox()
    } else {
      handle(.claimFailed(Set(part.claims.map(\.lane))))
    }
  }

  /// Waits until all that channels have reported is recorded.
  func settleOutbox() async {
    takeOutcomes()
    while let task = outboxTask { await task.value }
  }

  private func didWork(_ part: OutboxWork, _ commit: OutboxCommit, _ horizon: Horizon) {
    // What is said first is done first: the next messages leave before the log hears of the last.
    let claims = outbox.hold(commit.claims, asOf: horizon.sequence)
    for (lane, _) in commit.unreadable { handle(.unreadable(lane)) }
    if part.claims.isEmpty {
      handle(.horizon(horizon))
    } else {
      handle(.claimed(Set(part.claims.map(\.lane)), claims, horizon))
    }
    record(part.answers)
    workOutbox()
    for (lane, reason) in commit.unreadable {
      log(.error, "what \(lane.channel) is owed cannot be read and waits: \(reason)")
    }
    tell(commit)
    if !part.outcomes.isEmpty || !commit.claims.isEmpty { storeWorks() }
  }

  /// Tells what outcomes came to.
  func tell(_ commit: OutboxCommit) {
    for endpoint in commit.changed { outbox.endpoints[endpoint.lane]?.failingSince = endpoint.failingSince }
    for outcome in commit.takenOver {
      log(
        .warning,
        "what came of \"\(outcome.message.occurrence.title)\" for \(outcome.lane.channel) is not recorded: another daemon has "
          + "taken it over, and sends it again under the same id", id: .takenOver,
        [(.delivery, outcome.message.delivery.id.rawValue)])
    }
    for reason in commit.refused { log(.error, "an outcome could not be recorded; ignoring: \(reason)") }
    for settled in commit.settled { meters.count(settled.outcome.message, settled.state) }
    publish(commit.settled.compactMap { Self.happening($0.recorded, $0.state, $0.outcome.message) })
    guard !commit.disabled.isEmpty else { return }
    publish(
      commit.disabled.map { disabled in
        var happening = Happening(
          kind: .fired, id: .endpointDisabled, occurrence: disabled.notice, message: disabled.notice.title)
        happening.channel = disabled.endpoint.lane.channel
        return happening
      })
    take([.endpointsChanged])
  }

  // MARK: To the channels

  func begin(_ claim: Claim) {
    guard var message = outbox.begin(claim.id) else { return }
    message.tenant = tenants.names[message.delivery.lane.owner]
    wakeReplies(claim.lane)
    channels.channel(for: claim.lane).send(message) { [weak self, message] report in
      self?.heard(report, on: message)
    }
  }

  func giveBack(_ claim: Claim) {
    let message = outbox.held[claim.id]
    outbox.forget(claim.id)
    if let message, standby.takeBack(message) { return }
    outbox.work.releases.append(claim.id)
  }

  /// Forgets what is held and has been cancelled since.
  func drop(_ isCancelled: (OutboundMessage) -> Bool) {
    let dropped = outbox.held.values.filter { isCancelled($0.message) }.map(\.claim)
    guard !dropped.isEmpty else { return }
    for claim in dropped { outbox.forget(claim.id) }
    handle(.dropped(dropped))
  }

  /// Called by channels, from any thread.
  private nonisolated func heard(_ report: ChannelReport, on message: OutboundMessage) {
    let wakes: Bool
    switch report {
    case .ended(let attempt, let next): wakes = inbox.put(Outcome(attempt: attempt, next: next, message: message))
    case .answered(let answer):
      wakes = inbox.put(answer, to: message.occurrence.id, way: way(of: message.delivery.lane))
    }
    if wakes { executor.queue.async { self.assumeIsolated { $0.takeOutcomes() } } }
  }

  /// By which way an answer comes that is given by a channel.
  private nonisolated func way(of lane: Lane) -> String {
    if lane.channel == .desktop { return "desktop" }
    return commands.book.commands[lane.channel] == nil ? "endpoint:\(lane.channel)" : "command:\(lane.channel)"
  }

  private func takeOutcomes() {
    let (arrived, answers) = inbox.take()
    outbox.work.answers += answers
    guard !arrived.isEmpty else { return workOutbox() }
    let well = outbox.heard(arrived, at: SystemClock.now)
    outbox.work.outcomes += arrived
    handle(.ended(arrived.map { Agenda.Ending($0.lane, LaneOutcome($0.attempt, $0.next)) }))
    workOutbox()
    if !well.isEmpty { wakeLanes { well.contains($0) } }
  }

  // MARK: What is told

  private static func happening(
    _ attempt: Attempt?, _ state: Delivery.State, _ message: OutboundMessage
  ) -> Happening? {
    guard let attempt else { return nil }
    // That an event has arrived is no news to those who brought it about.
    if message.delivery.event != nil, case .delivered = state { return nil }
    // Nor that a server has nothing to take back, as one that cannot.
    if message.delivery.event?.isWithdrawal == true, case .cancelled = state { return nil }
    let title = "\"\(message.occurrence.title)\""
    let channel = message.delivery.lane.channel
    var happening: Happening
    switch state {
    case .delivered:
      happening = Happening(
        kind: .delivered, occurrence: message.occurrence, message: "\(title) delivered to \(channel)")
      happening.latenessMicroseconds = (attempt.startedAt - message.occurrence.id.scheduledAt).rawValue * 1_000
    case .waiting(let until):
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      let wait = DurationText.format(.seconds(max(0, (until - SystemClock.now).rawValue / 1_000)))
      happening = Happening(
        kind: .failed, occurrence: message.occurrence,
        message: "\(title) not delivered to \(channel): \(why); next attempt in \(wait)")
    case .cancelled:
      happening = Happening(
        kind: .failed, id: .leftOut, occurrence: message.occurrence,
        message: "\(title) left out for \(channel): \(attempt.error ?? "no longer wanted")")
    default:
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      happening = Happening(
        kind: .failed, id: .givenUp, occurrence: message.occurrence,
        message: "\(title) given up for \(channel): \(why)")
    }
    happening.delivery = message.delivery.id
    happening.channel = channel
    return happening
  }

  private func record(_ answers: [OutboxWork.Answer]) {
    for answer in answers { record(answer) }
  }

  /// Someone pressed a button.
  func record(_ answer: OutboxWork.Answer) {
    if agenda.keepsForStore { return keep(answer) }
    let (store, bearings, horizons) = (store, bearings, horizons)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (notices, horizon) = try await store.write { transaction -> ([LoopNotice], Horizon) in
            var notices: [LoopNotice] = []
            if let occurrence = try transaction.occurrence(answer.occurrence), occurrence.isOpen,
              answer.owner.map({ $0 == occurrence.owner }) ?? true
            {
              let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
              (_, notices) = try Answering.give(
                answer.answer, to: occurrence, reminder: reminder, by: occurrence.owner, way: answer.way,
                in: transaction, bearings, now: SystemClock.now)
            }
            return (notices, try horizons.read(transaction))
          }
          committed(horizon, notices, with: bearings)
        } catch let failure as StoreFailure where failure.isPassing {
          storeFailed(failure, "answers are kept in memory")
          keep(answer)
        } catch {
          log(.error, "an answer to \(answer.occurrence) could not be recorded; ignoring: \(error)")
        }
      }
    }
  }
}
