import ChimeCore
import ChimeSchedule
import Dispatch

// While the store can be read and not written: what is due is shown on the desktop from memory, and what comes of that, of
// attempts and of answers is kept, and recorded when the store takes changes again.
extension EventLoop {
  /// Fires what is due without the store.
  func standIn(limit: Int) {
    let (store, look, bearings) = (store, standby.look(now: SystemClock.now, limit: limit), bearings)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          didStandIn(try await store.read { try look.run(in: $0, bearings) })
        } catch {
          readingFailed(error)
          handle(.standInFailed(wake: standby.nextWake(after: SystemClock.now)))
        }
      }
    }
  }

  private func didStandIn(_ seen: Standby.Seen) {
    guard !isStopping else { return }
    trouble.isReadable()
    var generator = PooledRandom()
    let nowMicroseconds = SystemClock.nowMicroseconds
    let wasFull = standby.isFull
    let work = standby.fire(seen, agenda.policies, bearings, absence, now: SystemClock.now, using: &generator)
    supersede(by: work.firings)
    handle(.stoodIn(outbox.hold(work.messages), next: work.next, wake: work.nextWake, kept: !standby.isEmpty))
    publish(work.firings, at: nowMicroseconds)
    warn(of: work.unreadable, withoutZone: work.withoutZone)
    warn(ofGivenUp: work.firings)
    if standby.isFull, !wasFull {
      log(.error, "no more is kept in memory: what is due from now on waits for the store", id: .storeFailed)
    }
  }

  /// Keeps what the outbox would write.
  func keepOutbox() {
    let work = outbox.work
    outbox.work = OutboxWork()
    for outcome in work.outcomes { standby.keep(outcome) }
    standby.keep(releases: work.releases)
    for answer in work.answers { keep(answer) }
    if !standby.isEmpty { handle(.kept) }
    if !work.claims.isEmpty { handle(.claimFailed(Set(work.claims.map(\.lane)))) }
    settleIfIdle()
  }

  /// Keeps an answer, and has what still shows of its occurrence taken down.
  func keep(_ answer: OutboxWork.Answer) {
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
          standby.keep(answer, at: now)
          handle(.kept)
        }
      }
    }
  }

  private func give(
    _ answer: OutboxWork.Answer, stored: Occurrence?, _ reminder: Reminder?, _ followers: [ReminderRecord],
    at now: Instant
  ) {
    guard let occurrence = standby.current(answer.occurrence, stored: stored), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true
    else { return }
    do {
      let answered = try standby.answer(
        answer, stored ?? occurrence, reminder, followers: followers, bearings, now: now)
      handle(.keptAnswer)
      take(Answering.notices(of: answered, now: now))
    } catch {
      log(.notice, "an answer to \(answer.occurrence) cannot be taken; ignoring: \(error)")
    }
  }

  /// Brings a part of what is kept to the store.
  func record() {
    let (store, horizons, policies, seen) = (store, horizons, agenda.policies, outbox.seenFailing)
    let (part, bearings) = (standby.part(), bearings)
    let outdated = standby.outdated(in: part, bearings, now: SystemClock.now)
    let renewal = renewal
    recordTask = Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (commit, horizon) = try await store.write { transaction in
            var generator = PooledRandom()
            try renewal.mark(transaction, isOutdated: !outdated.isEmpty, now: SystemClock.now)
            let commit = try StandbyCommit.run(
              part, in: transaction, policies, seenFailing: seen, bearings, now: SystemClock.now, using: &generator)
            return (commit, try horizons.read(transaction))
          }
          recordTask = nil
          didRecord(part, commit, horizon, outdated)
        } catch {
          recordTask = nil
          storeFailed(error, meanwhile)
          handle(.recordFailed)
        }
      }
    }
  }

  private func didRecord(
    _ part: Standby.Part, _ commit: StandbyCommit, _ horizon: Horizon, _ known: [ReminderID]
  ) {
    let outdated = Set(known).union(standby.outdated(in: part, bearings, now: SystemClock.now))
    standby.recorded(part)
    trouble.recorded += commit.firings
    outbox.ended(
      part.entries.compactMap { entry in
        if case .ended(let outcome, _) = entry { outcome } else { nil }
      }, asOf: horizon.sequence)
    handle(.recorded(rest: !standby.isEmpty, horizon))
    for reason in commit.refused {
      log(.error, "what had happened meanwhile could not be recorded; ignoring: \(reason)")
    }
    for outcomes in commit.outcomes { tell(outcomes) }
    tell(commit.logged)
    storeWorks()
    // The computing anew that followed a change did not know that they had fired.
    recompute(Array(outdated))
  }

  /// Waits for what is being recorded.
  func settleRecord() async {
    while let task = recordTask { await task.value }
  }

  /// Tries once more before the end to record what is kept.
  func recordBeforeTheEnd() async {
    await settleRecord()
    while !standby.isEmpty {
      let before = standby.entries.count
      record()
      await settleRecord()
      if standby.entries.count >= before { break }
    }
    guard !standby.isEmpty else { return }
    let count = standby.unrecorded
    let times = count == 1 ? "1 time that was shown" : "\(count) times that were shown"
    log(.error, "\(times) could not be recorded: what is due comes again at the next start", id: .storeFailed)
  }
}
