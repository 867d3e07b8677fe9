import ChimeCore
import ChimeSchedule

// While the store can be read and not written: as `EventLoop+Standby` has it.
extension SimulatedLoop {
  /// Something was refused.
  func storeFailed() {
    isTroubled.writing = true
    handle(.refused)
  }

  /// A transaction that changed something has committed, and so the store works.
  func storeWorks() {
    guard isTroubled.writing || isTroubled.reading, standby.isEmpty else { return }
    let owes = owesWaking
    (isTroubled, owesWaking) = ((false, false), false)
    rescan([])
    if owes { wakeLanes { _ in true } }
  }

  /// Fires what is due without the store.
  func standIn(limit: Int) {
    let (look, bearings) = (standby.look(now: world.wall, limit: limit), bearings)
    read {
      try look.run(in: $0, bearings)
    } _: { [self] result in
      switch result {
      case .success(let seen): didStandIn(seen)
      case .failure:
        isTroubled.reading = true
        handle(.standInFailed(wake: standby.nextWake(after: world.wall)))
      }
    }
  }

  private func didStandIn(_ seen: Standby.Seen) {
    guard !isStopping else { return }
    isTroubled.reading = false
    var generator = SeededGenerator(seed: world.bits())
    let work = standby.fire(seen, agenda.policies, bearings, absence, now: world.wall, using: &generator)
    noteKept(.fire)
    world.figures.standIns += work.firings.count
    world.note { "\(work.firings.count) due times are worked off without the store, \(work.messages.count) shown" }
    world.ledger.standsIn(work)
    world.ledger.tells(work.firings)
    supersede(by: work.firings)
    handle(.stoodIn(outbox.hold(work.messages), next: work.next, wake: work.nextWake, kept: !standby.isEmpty))
  }

  /// Remembers what the latest entries were decided with.
  private func noteKept(_ kind: Work.Kind) {
    while keptWith.count < standby.entries.count {
      keptWith.append(Work(kind: kind, now: world.wall, bearings: bearings, absence: absence))
    }
  }

  /// Keeps what the outbox would write.
  func keepOutbox() {
    let work = outbox.work
    outbox.work = OutboxWork()
    for outcome in work.outcomes { standby.keep(outcome) }
    noteKept(.outbox)
    standby.keep(releases: work.releases)
    for answer in work.answers { keep(answer) }
    if !standby.isEmpty { handle(.kept) }
    if !work.claims.isEmpty { handle(.claimFailed(Set(work.claims.map(\.lane)))) }
    endIfSettled()
  }

  /// Keeps an answer, and has what still shows of its occurrence taken down.
  func keep(_ answer: OutboxWork.Answer) {
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
        standby.keep(answer, at: now)
        noteKept(.answer)
        handle(.kept)
      }
    }
  }

  private func give(
    _ answer: OutboxWork.Answer, stored: Occurrence?, _ reminder: Reminder?, _ followers: [ReminderRecord],
    at now: Instant
  ) {
    guard let occurrence = standby.current(answer.occurrence, stored: stored), occurrence.isOpen,
      answer.owner.map({ $0 == occurrence.owner }) ?? true,
      let answered = try? standby.answer(
        answer, stored ?? occurrence, reminder, followers: followers, bearings, now: now)
    else { return }
    noteKept(.answer)
    world.ledger.answeredAside(answered)
    handle(.keptAnswer)
    drop { $0.occurrence.id == answer.occurrence }
  }

  /// Brings a part of what is kept to the store.
  func record() {
    let (policies, seen, bearings) = (agenda.policies, outbox.seenFailing, bearings)
    let part = standby.part()
    let pieces = pieces(of: part)
    var generator = SeededGenerator(seed: world.bits())
    isRecording = true
    let outdated = standby.outdated(in: part, bearings, now: world.wall)
    let renewal = renewal
    write(.record) { [self] transaction, now in
      // An entry at a time, so that the ledger can judge each as of its own time.
      recorded = []
      try renewal.mark(transaction, isOutdated: !outdated.isEmpty, now: now)
      return try pieces.map { piece in
        world.store.transaction.changed = MemoryTransaction.Changes()
        let commit = try StandbyCommit.run(
          piece.part, in: transaction, policies, seenFailing: seen, bearings, now: now, using: &generator)
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
      case .success(let (commits, horizon)): didRecord(part, commits, horizon, outdated)
      case .failure: handle(.recordFailed)
      }
      whenRecorded()
      endIfSettled()
    }
  }

  private func pieces(of part: Standby.Part) -> [(part: Standby.Part, work: Work)] {
    var nothing = part
    (nothing.entries, nothing.releases, nothing.owesStart) = ([], [], false)
    var pieces: [(part: Standby.Part, work: Work)] = []
    func add(_ kind: Work.Kind, _ change: (inout Standby.Part) -> Void) {
      var piece = nothing
      change(&piece)
      pieces.append((piece, Work(kind: kind, now: world.wall, bearings: bearings, absence: absence)))
    }
    if part.owesStart { add(.start) { $0.owesStart = true } }
    for (entry, work) in zip(part.entries, keptWith) {
      var work = work
      switch entry {
      case .fired, .overtaken: break
      case .ended(_, let time): work.now = time
      // What follows from it follows when it is recorded.
      case .answered(_, let time): (work.now, work.bearings) = (time, bearings)
      }
      var piece = nothing
      piece.entries = [entry]
      pieces.append((piece, work))
    }
    if !part.releases.isEmpty { add(.outbox) { $0.releases = part.releases } }
    return pieces
  }

  private func didRecord(
    _ part: Standby.Part, _ commits: [StandbyCommit], _ horizon: Horizon, _ known: [ReminderID]
  ) {
    let outdated = Set(known).union(standby.outdated(in: part, bearings, now: world.wall))
    standby.recorded(part)
    keptWith.removeFirst(part.entries.count)
    let outcomes = part.entries.compactMap { entry in
      if case .ended(let outcome, _) = entry { outcome } else { nil }
    }
    forgetUnderWay(outcomes, horizon)
    if standby.entries.isEmpty { world.ledger.nothingIsAside() }
    handle(.recorded(rest: !standby.isEmpty, horizon))
    for outbox in commits.flatMap(\.outcomes) { tell(outbox) }
    storeWorks()
    recompute(outdated.sorted { $0.rawValue < $1.rawValue })
  }

  func forgetUnderWay(_ outcomes: [Outcome], _ horizon: Horizon) {
    for outcome in outcomes {
      underWay[outcome.message.delivery.id] = nil
      reported.remove(outcome.message.delivery.id)
    }
    outbox.ended(outcomes, asOf: horizon.sequence)
  }

  private func whenRecorded() {
    guard !isRecording else { return }
    let waiting = recordWaiters
    recordWaiters = []
    for body in waiting { body() }
  }

  /// Finds out whether the store takes changes again, and if so brings what is kept to it.
  func tryStore(_ done: @escaping () -> Void) {
    write(.note) { transaction, now in
      try Downtime.noteAlive(in: transaction, now: now)
    } _: { [self] result in
      guard case .success(let (_, horizon)) = result else { return done() }
      handle(.horizon(horizon))
      let works = { [self] in
        storeWorks()
        done()
      }
      if isRecording { recordWaiters.append(works) } else { works() }
    }
  }

  /// Tries once more before the end to record what is kept.
  ///
  /// - Returns: whether that is under way.
  func recordsBeforeTheEnd() -> Bool {
    if isRecording { return true }
    guard !standby.isEmpty, lastTried.map({ standby.entries.count < $0 }) ?? true else { return false }
    lastTried = standby.entries.count
    record()
    return true
  }
}

/// One thing that a recording transaction has brought to the store.
struct Step {
  var work: Work
  /// Nil: claims that go back.
  var entry: Standby.Entry?
  var changed: MemoryTransaction.Changes
  /// The store after it.
  var contents: MemoryContents
  /// What the store would not have, and why.
  var refused: [String]
}
