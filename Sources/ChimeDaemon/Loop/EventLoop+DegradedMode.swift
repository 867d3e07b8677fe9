import ChimeCore
import ChimeSchedule
import Dispatch

// Degraded mode: the store allows reading but no writing. Due reminders are shown on the desktop from memory. Their
// outcomes and answers are buffered, and recorded when the store takes changes again.
extension EventLoop {
  /// Fires due reminders without the store.
  func fireDegraded(limit: Int) {
    let (store, look, context) = (store, degradedMode.look(now: SystemClock.now, limit: limit), context)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          didFireDegraded(try await store.read { try look.run(in: $0, context) })
        } catch {
          readingFailed(error)
          handle(.standInFailed(wake: degradedMode.nextWake(after: SystemClock.now)))
        }
      }
    }
  }

  private func didFireDegraded(_ seen: DegradedMode.StoreAnswer) {
    guard !isStopping else { return }
    trouble.isReadable()
    var generator = PooledRandom()
    let nowMicroseconds = SystemClock.nowMicroseconds
    let wasFull = degradedMode.isFull
    let work = degradedMode.fire(seen, scheduler.policies, context, uptime, now: SystemClock.now, using: &generator)
    supersede(by: work.firings)
    handle(.stoodIn(outbox.hold(work.messages), next: work.next, wake: work.nextWake, kept: !degradedMode.isEmpty))
    publish(work.firings, at: nowMicroseconds)
    warn(of: work.unreadable, withoutZone: work.withoutZone)
    warn(ofGivenUp: work.firings)
    if degradedMode.isFull, !wasFull {
      log(.error, "no more is kept in memory: what is due from now on waits for the store", id: .storeFailed)
    }
  }

  /// Buffers the pending writes of the outbox.
  func keepOutbox() {
    let work = outbox.work
    outbox.work = OutboxTransaction()
    for outcome in work.outcomes { degradedMode.keep(outcome) }
    degradedMode.keep(releases: work.releases)
    for answer in work.answers { keep(answer) }
    if !degradedMode.isEmpty { handle(.kept) }
    if !work.claims.isEmpty { handle(.claimFailed(Set(work.claims.map(\.queue)))) }
    settleIfIdle()
  }

  /// Buffers an answer, and withdraws its occurrence's messages.
  func keep(_ answer: OutboxTransaction.Answer) {
    let (store, now) = (store, SystemClock.now)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (stored, reminder, followers) = try await store.read { transaction in
            let reminder = try transaction.readableReminder(answer.occurrence.reminder)?.reminder
            let followers = try reminder.map {
              try Chains.followers(of: $0.id, of: $0.owner, .done, in: transaction)
            }
            return (try transaction.occurrence(answer.occurrence), reminder, followers ?? [])
          }
          give(answer, stored: stored, reminder, followers, at: now)
        } catch {
          degradedMode.keep(answer, at: now)
          handle(.kept)
        }
      }
    }
  }

  private func give(
    _ answer: OutboxTransaction.Answer, stored: Occurrence?, _ reminder: Reminder?, _ followers: [ReminderRecord],
    at now: Instant
  ) {
    guard let occurrence = degradedMode.current(answer.occurrence, stored: stored), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true
    else { return }
    do {
      let answered = try degradedMode.answer(
        answer, stored ?? occurrence, reminder, followers: followers, context, now: now)
      handle(.keptAnswer)
      take(Answering.effects(of: answered, now: now))
    } catch {
      log(.notice, "an answer to \(answer.occurrence) cannot be taken; ignoring: \(error)")
    }
  }

  /// Records a part of the buffer in the store.
  func record() {
    let (store, wakeupsReader, policies, seen) = (store, wakeupsReader, scheduler.policies, outbox.seenFailing)
    let (part, context) = (degradedMode.part(), context)
    let outdated = degradedMode.outdated(in: part, context, now: SystemClock.now)
    let renewal = renewal
    recordTask = Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (commit, wakeups) = try await store.write { transaction in
            var generator = PooledRandom()
            try renewal.mark(transaction, isOutdated: !outdated.isEmpty, now: SystemClock.now)
            let commit = try DegradedModeCommit.run(
              part, in: transaction, policies, seenFailing: seen, context, now: SystemClock.now, using: &generator)
            return (commit, try wakeupsReader.read(transaction))
          }
          recordTask = nil
          didRecord(part, commit, wakeups, outdated)
        } catch {
          recordTask = nil
          storeFailed(error, meanwhile)
          handle(.recordFailed)
        }
      }
    }
  }

  private func didRecord(
    _ part: DegradedMode.Part, _ commit: DegradedModeCommit, _ wakeups: NextWakeups, _ known: [ReminderID]
  ) {
    let outdated = Set(known).union(degradedMode.outdated(in: part, context, now: SystemClock.now))
    degradedMode.recorded(part)
    trouble.recorded += commit.firings
    outbox.ended(
      part.entries.compactMap { entry in
        if case .ended(let outcome, _) = entry { outcome } else { nil }
      }, asOf: wakeups.sequence)
    handle(.recorded(rest: !degradedMode.isEmpty, wakeups))
    for reason in commit.refused {
      log(.error, "what had happened meanwhile could not be recorded; ignoring: \(reason)")
    }
    for outcomes in commit.outcomes { tell(outcomes) }
    tell(commit.logged)
    storeWorks()
    // A recomputation after a change did not yet know of these firings.
    recompute(Array(outdated))
  }

  /// Waits for the recording in flight.
  func settleRecord() async {
    while let task = recordTask { await task.value }
  }

  /// Tries to record the buffer before shutdown.
  func recordBeforeTheEnd() async {
    await settleRecord()
    while !degradedMode.isEmpty {
      let before = degradedMode.entries.count
      record()
      await settleRecord()
      if degradedMode.entries.count >= before { break }
    }
    guard !degradedMode.isEmpty else { return }
    let count = degradedMode.unrecorded
    let times = count == 1 ? "1 time that was shown" : "\(count) times that were shown"
    log(.error, "\(times) could not be recorded: what is due comes again at the next start", id: .storeFailed)
  }
}
