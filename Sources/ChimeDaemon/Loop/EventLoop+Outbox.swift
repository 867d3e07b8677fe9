import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch

// The outbox: claims, attempts, and their outcomes.
//
// One transaction at a time records the outcomes since the last one and claims new deliveries up to capacity. A commit
// therefore serves all attempts that ended during the previous commit: the faster attempts end, the more of them share one.
extension EventLoop {
  // MARK: Transactions

  func workOutbox() {
    if isStopping { outbox.work.claims = [] }
    guard outboxTask == nil, !outbox.work.isEmpty else { return settleIfIdle() }
    if scheduler.keepsForStore { return keepOutbox() }
    let part = outbox.work.take()
    guard !part.needsNoTransaction else { return record(part.answers) }
    let (store, wakeupsReader, policies, seen) = (store, wakeupsReader, scheduler.policies, outbox.seenFailing)
    let (context, popups, popupsNote) = (context, popupsToKeep(with: part.outcomes), popupsNote)
    outboxTask = Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (commit, wakeups) = try await store.write { transaction in
            var generator = PooledRandom()
            let commit = try OutboxCommit.run(
              part, in: transaction, policies, seenFailing: seen, context, now: SystemClock.now, using: &generator)
            if let popups { try transaction.setNote(popupsNote, popups.isEmpty ? nil : popups) }
            return (commit, try wakeupsReader.read(transaction))
          }
          outboxTask = nil
          if let popups { keptPopups = popups }
          outbox.ended(part.outcomes, asOf: wakeups.sequence)
          didWork(part, commit, wakeups)
          noticeDrained()
        } catch {
          outboxTask = nil
          workFailed(part, error)
        }
      }
    }
  }

  private func workFailed(_ part: OutboxTransaction, _ error: any Error) {
    if (error as? StoreFailure)?.isPassing ?? false {
      // This keeps the order of arrival.
      var work = part
      work.append(outbox.work)
      outbox.work = work
      storeFailed(error, part.outcomes.isEmpty ? "deliveries wait" : "results of deliveries are kept in memory")
      return keepOutbox()
    }
    outbox.ended(part.outcomes, asOf: nil)
    record(part.answers)
    let isLost = !part.outcomes.isEmpty
    storeFailed(error, isLost ? "results could not be recorded; the deliveries will be repeated" : "deliveries wait")
    // During shutdown the scheduler gets no more events, so the rest continues here.
    if part.claims.isEmpty || isStopping {
      workOutbox()
    } else {
      handle(.claimFailed(Set(part.claims.map(\.queue))))
    }
  }

  /// Waits until all reported outcomes are recorded.
  func settleOutbox() async {
    takeOutcomes()
    while let task = outboxTask { await task.value }
  }

  private func didWork(_ part: OutboxTransaction, _ commit: OutboxCommit, _ wakeups: NextWakeups) {
    // The next messages leave before the log is written.
    let claims = outbox.hold(commit.claims, asOf: wakeups.sequence)
    for (queue, _) in commit.unreadable { handle(.unreadable(queue)) }
    if part.claims.isEmpty {
      handle(.wakeups(wakeups))
    } else {
      handle(.claimed(Set(part.claims.map(\.queue)), claims, wakeups))
    }
    record(part.answers)
    workOutbox()
    for (queue, reason) in commit.unreadable {
      log(.error, "what \(queue.channel) is owed cannot be read and waits: \(reason)")
    }
    tell(commit)
    if !part.outcomes.isEmpty || !commit.claims.isEmpty { storeWorks() }
  }

  /// Logs and publishes the results of recorded outcomes.
  func tell(_ commit: OutboxCommit) {
    for endpoint in commit.changed { outbox.endpoints[endpoint.queue]?.failingSince = endpoint.failingSince }
    for outcome in commit.takenOver {
      log(
        .warning,
        "what came of \"\(outcome.message.occurrence.title)\" for \(outcome.queue.channel) is not recorded: another daemon has "
          + "taken it over, and sends it again under the same id", id: .takenOver,
        [(.delivery, outcome.message.delivery.id.rawValue)])
    }
    for reason in commit.refused { log(.error, "an outcome could not be recorded; ignoring: \(reason)") }
    for settled in commit.settled { meters.count(settled.outcome.message, settled.state) }
    publish(commit.settled.compactMap { Self.daemonEvent($0.recorded, $0.state, $0.outcome.message) })
    guard !commit.disabled.isEmpty else { return }
    publish(
      commit.disabled.map { disabled in
        var daemonEvent = DaemonEvent(
          kind: .fired, id: .endpointDisabled, occurrence: disabled.notice, message: disabled.notice.title)
        daemonEvent.channel = disabled.endpoint.queue.channel
        return daemonEvent
      })
    take([.endpointsChanged])
  }

  // MARK: Attempts

  func begin(_ claim: Claim) {
    guard var message = outbox.begin(claim.id) else { return }
    message.tenant = tenants.names[message.delivery.queue.owner]
    wakeReplies(claim.queue)
    channels.channel(for: claim.queue).send(message) { [weak self, message] report in
      self?.heard(report, on: message)
    }
  }

  func giveBack(_ claim: Claim) {
    let message = outbox.held[claim.id]
    outbox.forget(claim.id)
    if let message, degradedMode.takeBack(message) { return }
    outbox.work.releases.append(claim.id)
  }

  /// Drops held messages whose deliveries were cancelled.
  func drop(_ isCancelled: (OutboundMessage) -> Bool) {
    let dropped = outbox.held.values.filter { isCancelled($0.message) }.map(\.claim)
    guard !dropped.isEmpty else { return }
    for claim in dropped { outbox.forget(claim.id) }
    handle(.dropped(dropped))
  }

  /// Receives a channel's report. Channels call it from any thread.
  private nonisolated func heard(_ report: ChannelReport, on message: OutboundMessage) {
    let wakes: Bool
    switch report {
    case .ended(let attempt, let next): wakes = inbox.put(Outcome(attempt: attempt, next: next, message: message))
    case .answered(let answer):
      wakes = inbox.put(answer, to: message.occurrence.id, way: way(of: message.delivery.queue))
    }
    if wakes { executor.queue.async { self.assumeIsolated { $0.takeOutcomes() } } }
  }

  /// Returns how an answer by this queue's channel is recorded in `Occurrence.answeredBy`.
  private nonisolated func way(of queue: DeliveryQueue) -> String {
    if queue.channel == .desktop { return "desktop" }
    return commands.book.commands[queue.channel] == nil ? "endpoint:\(queue.channel)" : "command:\(queue.channel)"
  }

  private func takeOutcomes() {
    let (arrived, answers) = inbox.take()
    outbox.work.answers += answers
    guard !arrived.isEmpty else { return workOutbox() }
    let well = outbox.heard(arrived, at: SystemClock.now)
    outbox.work.outcomes += arrived
    handle(.ended(arrived.map { Scheduler.Ending($0.queue, DeliveryQueueOutcome($0.attempt, $0.next)) }))
    workOutbox()
    if !well.isEmpty { wakeQueues { well.contains($0) } }
  }

  // MARK: Events

  private static func daemonEvent(
    _ attempt: Attempt?, _ state: Delivery.State, _ message: OutboundMessage
  ) -> DaemonEvent? {
    guard let attempt else { return nil }
    // The arrival of an event message is no news to its cause.
    if message.delivery.event != nil, case .delivered = state { return nil }
    // Neither is a withdrawal that had nothing to withdraw.
    if message.delivery.event?.isWithdrawal == true, case .cancelled = state { return nil }
    let title = "\"\(message.occurrence.title)\""
    let channel = message.delivery.queue.channel
    var daemonEvent: DaemonEvent
    switch state {
    case .delivered:
      daemonEvent = DaemonEvent(
        kind: .delivered, occurrence: message.occurrence, message: "\(title) delivered to \(channel)")
      daemonEvent.latenessMicroseconds = (attempt.startedAt - message.occurrence.id.scheduledAt).rawValue * 1_000
    case .waiting(let until):
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      let wait = DurationText.format(.seconds(max(0, (until - SystemClock.now).rawValue / 1_000)))
      daemonEvent = DaemonEvent(
        kind: .failed, occurrence: message.occurrence,
        message: "\(title) not delivered to \(channel): \(why); next attempt in \(wait)")
    case .cancelled:
      daemonEvent = DaemonEvent(
        kind: .failed, id: .leftOut, occurrence: message.occurrence,
        message: "\(title) left out for \(channel): \(attempt.error ?? "no longer wanted")")
    default:
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      daemonEvent = DaemonEvent(
        kind: .failed, id: .givenUp, occurrence: message.occurrence,
        message: "\(title) given up for \(channel): \(why)")
    }
    daemonEvent.delivery = message.delivery.id
    daemonEvent.channel = channel
    return daemonEvent
  }

  private func record(_ answers: [OutboxTransaction.Answer]) {
    for answer in answers { record(answer) }
  }

  /// Records an answer that arrived by a channel, such as a pressed button.
  func record(_ answer: OutboxTransaction.Answer) {
    if scheduler.keepsForStore { return keep(answer) }
    let (store, context, wakeupsReader) = (store, context, wakeupsReader)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (effects, wakeups) = try await store.write { transaction -> ([PostCommitEffect], NextWakeups) in
            var effects: [PostCommitEffect] = []
            if let occurrence = try transaction.occurrence(answer.occurrence), occurrence.isOpen,
              answer.owner.map({ $0 == occurrence.owner }) ?? true
            {
              let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
              (_, effects) = try Answering.give(
                answer.answer, to: occurrence, reminder: reminder, by: occurrence.owner, way: answer.way,
                in: transaction, context, now: SystemClock.now)
            }
            return (effects, try wakeupsReader.read(transaction))
          }
          committed(wakeups, effects, with: context)
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
