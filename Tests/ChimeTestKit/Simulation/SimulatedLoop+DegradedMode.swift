import ChimeCore
import ChimeSchedule

// Degraded mode, mirroring `EventLoop+DegradedMode`.
extension SimulatedLoop {
  /// Reacts to a refused write.
  func storeFailed() {
    isTroubled.writing = true
    handle(.refused)
  }

  /// Reacts to a commit with changes, which proves that the store works.
  func storeWorks() {
    guard isTroubled.writing || isTroubled.reading, degradedMode.isEmpty else { return }
    let owes = owesWaking
    (isTroubled, owesWaking) = ((false, false), false)
    recomputeDueTimes([])
    if owes { wakeQueues { _ in true } }
  }

  /// Fires due reminders in degraded mode.
  func fireDegraded(limit: Int) {
    let (look, context) = (degradedMode.look(now: world.wall, limit: limit), context)
    read {
      try look.run(in: $0, context)
    } _: { [self] result in
      switch result {
      case .success(let seen): didFireDegraded(seen)
      case .failure:
        isTroubled.reading = true
        handle(.standInFailed(wake: degradedMode.nextWake(after: world.wall)))
      }
    }
  }

  private func didFireDegraded(_ seen: DegradedMode.StoreAnswer) {
    guard !isStopping else { return }
    isTroubled.reading = false
    var generator = SeededGenerator(seed: world.bits())
    let work = degradedMode.fire(seen, scheduler.policies, context, uptime, now: world.wall, using: &generator)
    noteKept(.fire)
    world.figures.degradedFirings += work.firings.count
    world.note { "\(work.firings.count) due times are worked off without the store, \(work.messages.count) shown" }
    world.checker.standsIn(work)
    world.checker.tells(work.firings)
    supersede(by: work.firings)
    handle(.stoodIn(outbox.hold(work.messages), next: work.next, wake: work.nextWake, kept: !degradedMode.isEmpty))
  }

  /// Remembers the context in which the latest buffered entries were decided.
  private func noteKept(_ kind: Work.Kind) {
    while keptWith.count < degradedMode.entries.count {
      keptWith.append(Work(kind: kind, now: world.wall, context: context, uptime: uptime))
    }
  }

  /// Buffers the outbox's pending writes.
  func keepOutbox() {
    let work = outbox.work
    outbox.work = OutboxTransaction()
    for outcome in work.outcomes { degradedMode.keep(outcome) }
    noteKept(.outbox)
    degradedMode.keep(releases: work.releases)
    for answer in work.answers { keep(answer) }
    if !degradedMode.isEmpty { handle(.kept) }
    if !work.claims.isEmpty { handle(.claimFailed(Set(work.claims.map(\.queue)))) }
    endIfSettled()
  }

  /// Buffers an answer, and withdraws the messages of its occurrence.
  func keep(_ answer: OutboxTransaction.Answer) {
    let now = world.wall
    read { transaction in
      let reminder = try transaction.readableReminder(answer.occurrence.reminder)?.reminder
      let followers = try reminder.map { try Chains.followers(of: $0.id, of: $0.owner, .done, in: transaction) }
      return (try transaction.occurrence(answer.occurrence), reminder, followers ?? [])
    } _: { [self] result in
      switch result {
      case .success(let (stored, reminder, followers)):
        give(answer, stored: stored, reminder, followers, at: now)
      case .failure:
        degradedMode.keep(answer, at: now)
        noteKept(.answer)
        handle(.kept)
      }
    }
  }

  private func give(
    _ answer: OutboxTransaction.Answer, stored: Occurrence?, _ reminder: Reminder?, _ followers: [ReminderRecord],
    at now: Instant
  ) {
    guard let occurrence = degradedMode.current(answer.occurrence, stored: stored), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true,
      let answered = try? degradedMode.answer(
        answer, stored ?? occurrence, reminder, followers: followers, context, now: now)
    else { return }
    noteKept(.answer)
    world.checker.answeredAside(answered)
    handle(.keptAnswer)
    drop { $0.occurrence.id == answer.occurrence }
  }

  /// Records a part of the buffer in the store.
  func record() {
    let (policies, seen, context) = (scheduler.policies, outbox.seenFailing, context)
    let part = degradedMode.part()
    let pieces = pieces(of: part)
    var generator = SeededGenerator(seed: world.bits())
    isRecording = true
    let outdated = degradedMode.outdated(in: part, context, now: world.wall)
    let renewal = renewal
    write(.record) { [self] transaction, now in
      // Record one entry at a time, so that the checker can evaluate each at its own time.
      recorded = []
      try renewal.mark(transaction, isOutdated: !outdated.isEmpty, now: now)
      return try pieces.map { piece in
        world.store.transaction.changed = MemoryTransaction.Changes()
        let commit = try DegradedModeCommit.run(
          piece.part, in: transaction, policies, seenFailing: seen, context, now: now, using: &generator)
        let (changed, contents) = (world.store.transaction.changed, world.store.contents)
        recorded.append(
          Step(
            work: piece.work, entry: piece.part.entries.first, changed: changed, contents: contents,
            refused: commit.refused))
        return commit
      }
    } _: { [self] result in
      isRecording = false
      switch result {
      case .success(let (commits, wakeups)): didRecord(part, commits, wakeups, outdated)
      case .failure: handle(.recordFailed)
      }
      whenRecorded()
      endIfSettled()
    }
  }

  private func pieces(of part: DegradedMode.Part) -> [(part: DegradedMode.Part, work: Work)] {
    var nothing = part
    (nothing.entries, nothing.releases, nothing.needsStart) = ([], [], false)
    var pieces: [(part: DegradedMode.Part, work: Work)] = []
    func add(_ kind: Work.Kind, _ change: (inout DegradedMode.Part) -> Void) {
      var piece = nothing
      change(&piece)
      pieces.append((piece, Work(kind: kind, now: world.wall, context: context, uptime: uptime)))
    }
    if part.needsStart { add(.start) { $0.needsStart = true } }
    for (entry, work) in zip(part.entries, keptWith) {
      var work = work
      switch entry {
      case .fired, .superseded: break
      case .ended(_, let time): work.now = time
      // The answer's side effects run when the buffer is recorded.
      case .answered(_, let time): (work.now, work.context) = (time, context)
      }
      var piece = nothing
      piece.entries = [entry]
      pieces.append((piece, work))
    }
    if !part.releases.isEmpty { add(.outbox) { $0.releases = part.releases } }
    return pieces
  }

  private func didRecord(
    _ part: DegradedMode.Part, _ commits: [DegradedModeCommit], _ wakeups: NextWakeups, _ known: [ReminderID]
  ) {
    let outdated = Set(known).union(degradedMode.outdated(in: part, context, now: world.wall))
    degradedMode.recorded(part)
    keptWith.removeFirst(part.entries.count)
    let outcomes = part.entries.compactMap { entry in
      if case .ended(let outcome, _) = entry { outcome } else { nil }
    }
    forgetUnderWay(outcomes, wakeups)
    if degradedMode.entries.isEmpty { world.checker.nothingIsAside() }
    handle(.recorded(rest: !degradedMode.isEmpty, wakeups))
    for outbox in commits.flatMap(\.outcomes) { tell(outbox) }
    storeWorks()
    recompute(outdated.sorted { $0.rawValue < $1.rawValue })
  }

  func forgetUnderWay(_ outcomes: [Outcome], _ wakeups: NextWakeups) {
    for outcome in outcomes {
      underWay[outcome.message.delivery.id] = nil
      reported.remove(outcome.message.delivery.id)
    }
    outbox.ended(outcomes, asOf: wakeups.sequence)
  }

  private func whenRecorded() {
    guard !isRecording else { return }
    let waiting = recordWaiters
    recordWaiters = []
    for body in waiting { body() }
  }

  /// Tests whether the store accepts writes again; if so, records the buffer.
  func tryStore(_ done: @escaping () -> Void) {
    write(.note) { transaction, now in
      try Downtime.noteAlive(in: transaction, now: now)
    } _: { [self] result in
      guard case .success(let (_, wakeups)) = result else { return done() }
      handle(.wakeups(wakeups))
      let works = { [self] in
        storeWorks()
        done()
      }
      if isRecording { recordWaiters.append(works) } else { works() }
    }
  }

  /// Tries once more before the end to record the buffer.
  ///
  /// - Returns: whether recording is in progress.
  func recordsBeforeTheEnd() -> Bool {
    if isRecording { return true }
    guard !degradedMode.isEmpty, lastTried.map({ degradedMode.entries.count < $0 }) ?? true else { return false }
    lastTried = degradedMode.entries.count
    record()
    return true
  }
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
