import ChimeControl
import ChimeCore
import ChimeSchedule

/// Reverts changes, and lists the ones that can be reverted.
extension TrackersHandler {
  func handle(_ request: Tracking.Undo) async throws -> Tracking.Undo.Reply {
    let (change, detail, later) = try await store.read { [self] transaction in
      guard let change = try tracking(transaction).undoable() else { throw TrackingRefused.nothingToUndo }
      let act = try transaction.note(LastAction.note(of: caller.owner)).flatMap(LastAction.init(text:))
      return (change, try self.detail(of: change, transaction), act.flatMap { $0.at >= change.at ? $0 : nil })
    }
    if request.dryRun == true {
      return Tracking.Undo.Reply(
        undone: wire.undoable(change),
        later: later.map { .init(at: wire.time($0.at), kind: $0.kind, subject: $0.subject) })
    }
    try need(
      request.change.map({ Int64($0) == change.id }) ?? true,
      conflict: "something has changed meanwhile: see chime undo --list")
    if request.skip == true { return try await passOver(change) }
    // Secrets come first, because an endpoint that exists must have one.
    let removed = detail?.endpoints.filter { $0.after == nil }.compactMap { $0.before?.queue } ?? []
    let without = try await bringBackSecrets(removed, of: change)
    var begun: TrackingChange?
    while true {
      let taken = try await takeBack(request.change == nil ? nil : change.id, without: without, goingOnWith: begun)
      if taken.isDone {
        try await onRequestExecutor { [self] in
          for queue in removed { secrets.forgetAside(queue, change.id) }
          for queue in taken.undo.removedEndpoints { secrets.remove(queue) }
        }
        if !removed.isEmpty { await loop.refreshEndpoints() }
        return Tracking.Undo.Reply(undone: wire.undoable(taken.change), notes: taken.undo.notes.nilIfEmpty)
      }
      begun = taken.change
    }
  }

  func handle(_ request: Tracking.Changes) async throws -> Tracking.Changes.Reply {
    let limit = request.limit ?? 20
    try need((1...1_000).contains(limit), "limit", "give a number from 1 to 1000")
    return try await store.read { [self] transaction in
      let since = now - TrackingChange.keptFor
      var (whole, read, wanted): ([TrackingChange], Int, Int) = ([], 0, limit)
      // A change in parts counts as one: more are read until there are enough.
      repeat {
        let changes = try transaction.changes(owner: caller.owner, since: since, limit: wanted)
        var applied: Set<Int64> = []
        whole = try changes.reduce(into: []) { whole, change in
          if change.kind == .setApplied { applied.formUnion(try detail(of: change, transaction)?.parts ?? []) }
          if whole.last.map(change.isPart) != true, !applied.contains(change.id) { whole.append(change) }
        }
        (read, wanted) = (changes.count, wanted * 4)
      } while whole.count < limit && read == wanted / 4
      return Tracking.Changes.Reply(changes: whole.prefix(limit).map(wire.undoable))
    }
  }

  /// Returns the detail of a change of what has no versions in the store.
  private func detail(of change: TrackingChange, _ transaction: any StoreTransaction) throws -> ChangeDetail? {
    try transaction.detail(of: change.id).flatMap { try? ChangeDetail(reading: $0) }
  }

  /// - Returns: the endpoints whose secrets are lost.
  private func bringBackSecrets(_ queues: [DeliveryQueue], of change: TrackingChange) async throws -> Set<DeliveryQueue>
  {
    guard !queues.isEmpty else { return [] }
    let known = try await store.read { transaction in Set(try queues.filter { try transaction.endpoint($0) != nil }) }
    return await Task(executorPreference: loop.requestExecutor) { [secrets] in
      // An endpoint that was added again has its own secret.
      Set(queues.filter { !known.contains($0) && !secrets.bringBack($0, from: change.id) })
    }.value
  }

  private struct Taken: Sendable {
    var change: TrackingChange
    var undo: ReminderUndo.Outcome
    var isDone: Bool
  }

  /// Reverts the last change, or the last part of it. Others write between the parts.
  private func takeBack(
    _ expected: Int64?, without: Set<DeliveryQueue>, goingOnWith begun: TrackingChange?
  ) async throws -> Taken {
    try await commit(isLarge: true) { [self] transaction in
      try transaction.lockTrackers()
      var generator = PooledRandom()
      var work = tracking(transaction)
      work.way = "undo"
      guard let last = try work.undoable() else { throw TrackingRefused.nothingToUndo }
      if begun == nil, let expected, last.id != expected {
        throw ControlFailure.conflict("something has changed meanwhile: see chime undo --list")
      }
      let detail = try self.detail(of: last, transaction)
      var (change, outcome, isDone) = try work.undo(goingOnWith: begun, using: &generator)
      var effects: [PostCommitEffect] = []
      var undo = ReminderUndo(work, change, without)
      if let detail {
        if let all = detail.all {
          let before = try all.map { try $0.reminder }
          effects += try TrackingRestore(work).complete(before, &outcome, using: &generator).map(\.effect)
        }
        try undo.takeBack(detail, using: &generator)
        try caller.requireRoomForEndpoints(in: transaction)
        // Entries and packs of the change count as reverted too.
        if undo.outcome.count == 0, detail.all == nil, detail.parts.isEmpty, change.kind != .logged,
          let note = undo.outcome.notes.first
        {
          throw ControlFailure.conflict("\(note): chime undo --skip skips it")
        }
        for part in detail.parts.reversed() {
          guard try work.undoable()?.id == part else { continue }
          outcome.merge(try work.undo(using: &generator).outcome)
        }
      }
      let words =
        isDone ? "undone: \(change.kind.rawValue)\(change.subject.isEmpty ? "" : " \(change.subject)")" : nil
      let notices = TrackingNotices.of(outcome, owner: caller.owner, saying: words)
      return (Taken(change: change, undo: undo.outcome, isDone: isDone), notices + effects + undo.outcome.effects)
    }
  }

  /// Keeps the effects of a change, and removes it from what can be undone.
  private func passOver(_ change: TrackingChange) async throws -> Tracking.Undo.Reply {
    try await commit { [self] transaction in
      try transaction.lockTrackers()
      try need(
        tracking(transaction).undoable()?.id == change.id,
        conflict: "something has changed meanwhile: see chime undo --list")
      let detail = try detail(of: change, transaction)
      guard let detail, detail.all == nil, detail.parts.isEmpty, change.kind != .logged else {
        throw ControlFailure.conflict(
          "only a change of reminders or endpoints can be skipped: chime undo undoes it")
      }
      // The change touched no tracker. Without its detail nothing is left to revert.
      _ = try transaction.takeBack(change.id)
      return (Tracking.Undo.Reply(undone: wire.undoable(change)), [])
    }
  }
}

extension TrackingOutcome {
  /// Adds the effects of reverting another change.
  fileprivate mutating func merge(_ other: TrackingOutcome) {
    moved += other.moved
    closed += other.closed
    notices += other.notices
  }
}

extension Array {
  var nilIfEmpty: [Element]? { isEmpty ? nil : self }
}

/// Removes all that a user has.
extension TrackersHandler {
  func handle(_ request: Tracking.StartOver) async throws -> Tracking.StartOver.Reply {
    if request.dryRun == true { return try await store.read { [self] in try possessions($0) } }
    let (reply, queues, change) = try await commit(isLarge: true) { [self] transaction in
      try transaction.lockTrackers()
      let reply = try possessions(transaction)
      let queues = try transaction.endpoints(owner: caller.owner)
      var detail = ChangeDetail()
      if let silence = try transaction.silence(of: caller.owner) {
        detail.silence = .init(before: silence, after: nil)
        try transaction.setSilence(nil, of: caller.owner)
      }
      for endpoint in queues { try detail.remove(endpoint, in: transaction, now: now) }
      var generator = PooledRandom()
      // This is a restore of an empty backup.
      let restore = TrackingRestore(tracking(transaction))
      let done = try restore.finish(restore.begin(), as: .startedOver, using: &generator)
      let effects = try done.effects(
        owner: caller.owner, detail, from: [:], in: transaction, saying: "started over: everything was removed")
      // A backup has no finished reminders. They are removed too.
      try transaction.eachPage(of: ReminderFilter(owner: caller.owner)) { left in
        for record in left { try transaction.remove(record.reminder.id, now: now) }
      }
      try transaction.setNote(LastAction.note(of: caller.owner), nil)
      return ((reply, queues.map(\.queue), done.outcome.change), effects)
    }
    try await onRequestExecutor { [secrets] in for queue in queues { secrets.layAside(queue, change: change) } }
    while try await store.write({ [owner = caller.owner] in
      try $0.eraseHistory(ofRemoved: owner, limit: HistoryLimits.batch)
    }) {}
    return reply
  }

  /// Counts what the caller has.
  private func possessions(_ transaction: any StoreTransaction) throws -> Tracking.StartOver.Reply {
    var reminders = 0
    try transaction.eachPage(of: ReminderFilter(owner: caller.owner)) { reminders += $0.count }
    return Tracking.StartOver.Reply(
      reminders: reminders, trackers: try transaction.trackers(owner: caller.owner).count,
      entries: try transaction.entryCount(EntryFilter(owner: caller.owner)),
      packs: try transaction.packs(owner: caller.owner).count,
      endpoints: try transaction.endpoints(owner: caller.owner).count)
  }
}
