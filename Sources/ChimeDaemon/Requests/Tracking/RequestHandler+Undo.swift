import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Taking back what was changed.
extension RequestHandler {
  func handle(_ request: Tracking.Undo) async throws -> Tracking.Undo.Reply {
    let (change, detail, later) = try await store.read { [self] transaction in
      guard let change = try tracking(transaction).undoable() else { throw TrackingRefused.nothingToUndo }
      let act = try transaction.note(LastAct.note(of: caller.owner)).flatMap(LastAct.init(text:))
      return (change, try self.detail(of: change, transaction), act.flatMap { $0.at >= change.at ? $0 : nil })
    }
    if request.dryRun == true {
      return Tracking.Undo.Reply(
        undone: wire.undoable(change),
        later: later.map { .init(at: wire.time($0.at), kind: $0.kind, subject: $0.subject) })
    }
    guard request.change.map({ Int64($0) == change.id }) ?? true else {
      throw ControlFailure.conflict("something has changed meanwhile: see chime undo --list")
    }
    if request.skip == true { return try await passOver(change) }
    // The secret first: an endpoint that exists has one.
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

  /// What stands beside a change of which the store keeps no versions.
  func detail(of change: TrackingChange, _ transaction: any StoreTransaction) throws -> ChangeDetail? {
    try transaction.detail(of: change.id).flatMap { try? ChangeDetail(reading: $0) }
  }

  /// - Returns: the endpoints that are left without a secret.
  private func bringBackSecrets(_ queues: [DeliveryQueue], of change: TrackingChange) async throws -> Set<DeliveryQueue>
  {
    guard !queues.isEmpty else { return [] }
    let known = try await store.read { transaction in Set(try queues.filter { try transaction.endpoint($0) != nil }) }
    return await Task(executorPreference: loop.requestExecutor) { [secrets] in
      // One that is there again has a secret of its own.
      Set(queues.filter { !known.contains($0) && !secrets.bringBack($0, from: change.id) })
    }.value
  }

  private struct Taken: Sendable {
    var change: TrackingChange
    var undo: ReminderUndo.Outcome
    var isDone: Bool
  }

  /// Takes back the last change, or the last part of it: others write between the parts.
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
          effects += try TrackingRestore(work).complete(all, &outcome, using: &generator)
        }
        try undo.takeBack(detail, using: &generator)
        try requireRoomForEndpoints(transaction)
        // What an entry or a pack has brought back is more than nothing.
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
      let told = TrackingNotices.of(outcome, owner: caller.owner, saying: words)
      return (Taken(change: change, undo: undo.outcome, isDone: isDone), told + effects + undo.outcome.effects)
    }
  }

  /// Leaves what a change did, and lets it go from what can be taken back.
  private func passOver(_ change: TrackingChange) async throws -> Tracking.Undo.Reply {
    try await commit { [self] transaction in
      try transaction.lockTrackers()
      guard try tracking(transaction).undoable()?.id == change.id else {
        throw ControlFailure.conflict("something has changed meanwhile: see chime undo --list")
      }
      let detail = try detail(of: change, transaction)
      guard let detail, detail.all == nil, detail.parts.isEmpty, change.kind != .logged else {
        throw ControlFailure.conflict(
          "only a change of reminders or endpoints can be skipped: chime undo undoes it")
      }
      // No tracker was changed by it: without its detail nothing is left to take back.
      _ = try transaction.takeBack(change.id)
      return (Tracking.Undo.Reply(undone: wire.undoable(change)), [])
    }
  }
}

extension TrackingOutcome {
  /// What the taking back of several changes brings about.
  fileprivate mutating func merge(_ other: TrackingOutcome) {
    moved += other.moved
    closed += other.closed
    notices += other.notices
  }
}

extension Array {
  var nilIfEmpty: [Element]? { isEmpty ? nil : self }
}

/// Brings reminders, their occurrences, endpoints and a silence to what they were before a change. What somebody has changed
/// since stays as it is, and a sentence says so.
struct ReminderUndo {
  struct Outcome: Sendable {
    /// How many things were brought back.
    var count = 0
    var notes: [String] = []
    var effects: [PostCommitEffect] = []
    var removedEndpoints: [DeliveryQueue] = []
  }

  private let work: TrackingOperations
  private let change: TrackingChange
  /// Endpoints whose secret is not kept.
  private let without: Set<DeliveryQueue>
  private(set) var outcome = Outcome()
  private var transaction: any StoreTransaction { work.transaction }

  init(_ work: TrackingOperations, _ change: TrackingChange, _ without: Set<DeliveryQueue>) {
    (self.work, self.change, self.without) = (work, change, without)
  }

  mutating func takeBack(_ detail: ChangeDetail, using generator: inout some RandomNumberGenerator) throws {
    for step in detail.reminders.reversed() { try takeBack(step, using: &generator) }
    for step in detail.occurrences.reversed() { try takeBack(step, using: &generator) }
    for step in detail.endpoints.reversed() { try takeBack(step, changesSecret: detail.changesSecret) }
    if let step = detail.silence { try takeBack(step) }
  }

  // MARK: Reminders

  private mutating func takeBack(
    _ step: ChangeDetail.Step<Reminder>, using generator: inout some RandomNumberGenerator
  ) throws {
    switch (step.before, step.after) {
    case (nil, let added?): try remove(added, using: &generator)
    case (let removed?, nil): try bringBack(removed, next: step.next, using: &generator)
    case (let before?, let after?): try restore(before, from: after, step)
    case (nil, nil): break
    }
  }

  private mutating func remove(_ added: Reminder, using generator: inout some RandomNumberGenerator) throws {
    guard let current = try transaction.readableReminder(added.id)?.reminder else {
      return outcome.notes.append("\"\(added.title)\" is removed already")
    }
    guard current.isSame(as: added) else {
      return outcome.notes.append("\"\(current.title)\" has been changed since, and stays")
    }
    let open = try transaction.occurrences(
      OccurrenceFilter(reminder: current.id, openOnly: true), page: Page(limit: 100))
    try Announcing.removal(of: current, in: transaction, work.context, now: work.now, using: &generator)
    try transaction.remove(current.id, now: work.now)
    outcome.effects.append(.reminder(.removed, current, "removed \"\(current.title)\""))
    outcome.effects += open.map { .withdraw($0.id) }
    outcome.count += 1
  }

  private mutating func bringBack(
    _ removed: Reminder, next before: Instant?, using generator: inout some RandomNumberGenerator
  ) throws {
    var reminder = removed
    let next = try reminder.nextUnfired(after: work.now, in: transaction, work.context)
    if try isFree(reminder) {
      // It goes on under its name, with what is left of its history.
      reminder.generation += 1
      try transaction.upsert(reminder, next: next, since: work.now)
    } else {
      guard try transaction.readableReminder(reminder.id)?.reminder.isSame(as: removed) != true else {
        return outcome.notes.append("\"\(removed.title)\" exists already")
      }
      reminder.generation = 0
      try insert(&reminder, next: next, using: &generator)
      outcome.notes.append("\"\(reminder.title)\" is \(reminder.id) now: another reminder has its old id")
    }
    outcome.count += 1
    outcome.effects.append(.reminder(.added, reminder, "added \"\(reminder.title)\""))
    tell(reminder, next, before)
    let others = try transaction.reminders(
      ReminderFilter(owner: reminder.owner, title: reminder.title, includesFinished: false), page: Page(limit: 2))
    if let other = others.first(where: { $0.reminder.id != reminder.id })?.reminder {
      outcome.notes.append("there is another \"\(reminder.title)\" now: \(other.id)")
    }
  }

  private mutating func restore(
    _ before: Reminder, from after: Reminder, _ step: ChangeDetail.Step<Reminder>
  ) throws {
    guard var record = try transaction.readableReminder(after.id) else {
      return outcome.notes.append("\"\(before.title)\" has been removed since")
    }
    let current = record.reminder
    guard current.isSame(as: after) else {
      return outcome.notes.append("\"\(current.title)\" has been changed since, and stays as it is")
    }
    var reminder = before
    reminder.generation = current.generation + 1
    if change.kind != .reminderSkipped { reminder.skipNext = current.skipNext }
    reminder.chainedTimes = reminder.schedule == current.schedule ? current.chainedTimes(without: step) : nil
    if change.kind != .reminderDone { reminder.lastDone = reminder.countsFromDone ? current.lastDone : nil }
    // What quiet hours hold is looked at again: the change may let it come, or pass.
    var nextDueAt = record.isHeld ? work.now : nil
    if !reminder.hasSameTimes(as: current) {
      record.next = try reminder.nextUnfired(after: work.now, in: transaction, work.context)
      nextDueAt = nil
      if reminder.schedule.chain == nil { tell(reminder, record.next, step.next) }
    }
    try transaction.upsert(reminder, next: record.next, nextDueAt: nextDueAt, since: work.now)
    outcome.count += 1
    outcome.effects.append(.reminder(.changed, reminder, "changed \"\(reminder.title)\""))
  }

  /// Says of one that had a time to come that it has none any more.
  private mutating func tell(_ reminder: Reminder, _ next: Instant?, _ before: Instant?) {
    guard next == nil, let before else { return }
    let time = RFC3339.format(before, in: work.context.zone(of: reminder) ?? .utc).prefix(16).replacing("T", with: " ")
    outcome.notes.append(
      "the time of \"\(reminder.title)\", \(time), has passed meanwhile: it will not ring unless you give it a new "
        + "time")
  }

  /// Whether its name is nobody's, nor was somebody else's of whom there is history.
  private func isFree(_ reminder: Reminder) throws -> Bool {
    guard try transaction.readableReminder(reminder.id) == nil, transaction.unreadable.isEmpty else { return false }
    let history = try transaction.occurrences(OccurrenceFilter(reminder: reminder.id), page: Page(limit: 1))
    return history.allSatisfy { $0.owner == reminder.owner }
  }

  private func insert(
    _ reminder: inout Reminder, next: Instant?, using generator: inout some RandomNumberGenerator
  ) throws {
    for attempt in 0..<16 {
      reminder.id = ReminderID(length: 4 + attempt / 4, using: &generator)
      do {
        return try transaction.upsert(reminder, next: next, since: work.now)
      } catch StoreFailure.idTaken { continue }
    }
    throw ControlFailure.limitExceeded("ids")
  }

  // MARK: Occurrences

  private mutating func takeBack(
    _ step: ChangeDetail.Step<Occurrence>, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let id = (step.before ?? step.after)?.id, let current = try transaction.occurrence(id) else { return }
    // A removed reminder has dismissed it.
    guard current.state == step.after?.state ?? .dismissed else {
      return outcome.notes.append("\"\(current.title)\" has rung or was answered since, and stays as it is")
    }
    guard let reminder = try transaction.readableReminder(id.reminder)?.reminder else {
      return outcome.notes.append("\"\(current.title)\" has been removed since")
    }
    var wanted = step.before ?? current
    if step.before == nil {
      // One that was moved rings at its own time again.
      guard id.scheduledAt > work.now else {
        return outcome.notes.append(
          "the time from which \"\(current.title)\" was moved has passed: it stays where it is")
      }
      wanted.state = .snoozed(until: id.scheduledAt)
    }
    wanted.deliveredAt = wanted.deliveredAt ?? current.deliveredAt
    try Announcing.change(
      current, to: wanted, of: reminder, by: "undo", in: transaction, work.context, now: work.now, using: &generator)
    try transaction.update(wanted, now: work.now)
    outcome.count += 1
    if case .snoozed = wanted.state {
      outcome.effects.append(.occurrence(.snoozed, wanted, "\"\(wanted.title)\" is deferred again"))
    }
  }

  // MARK: Endpoints

  private mutating func takeBack(_ step: ChangeDetail.Step<Endpoint>, changesSecret: Bool) throws {
    guard let queue = (step.before ?? step.after)?.queue else { return }
    let (current, name) = (try transaction.endpoint(queue), queue.channel)
    switch (step.before, step.after) {
    case (nil, let added?):
      guard let current else { return outcome.notes.append("the endpoint \(name) is removed already") }
      guard current.isSame(as: added) else {
        return outcome.notes.append("the endpoint \(name) has been changed since, and stays")
      }
      try transaction.removeEndpoint(queue, now: work.now)
      _ = try ReplyTransaction.takeMark(of: queue, in: transaction)
      outcome.removedEndpoints.append(queue)
    case (let removed?, nil):
      guard current == nil else {
        return outcome.notes.append("there is a new endpoint \(name), which stays as it is")
      }
      try put(removed)
      try ReplyTransaction.putMark(step.mark, of: queue, in: transaction)
      if without.contains(queue) {
        outcome.notes.append(
          "the daemon no longer has the secret of \(name): give it again with chime endpoint add \(name) "
            + "\(removed.url) --secret-file FILE")
      }
    case (let before?, let after?):
      guard var current else { return outcome.notes.append("the endpoint \(name) has been removed since") }
      guard current.isSame(as: after) else {
        return outcome.notes.append("the endpoint \(name) has been changed since, and stays as it is")
      }
      (current.url, current.settings, current.disabled) = (before.url, before.settings, before.disabled)
      try put(current)
      if changesSecret { outcome.notes.append("the new secret or token of \(name) stays") }
    case (nil, nil): return
    }
    outcome.count += 1
    outcome.effects.append(.endpointsChanged)
  }

  private func put(_ endpoint: Endpoint) throws {
    try transaction.put(endpoint)
    if endpoint.disabled == nil { try transaction.wake(queue: endpoint.queue, now: work.now) }
  }

  private mutating func takeBack(_ step: ChangeDetail.Step<Silence>) throws {
    guard try transaction.silence(of: work.owner) == step.after else {
      return outcome.notes.append("the silence has been changed since, and stays as it is")
    }
    try transaction.setSilence(step.before, of: work.owner)
    outcome.count += 1
  }
}

extension Reminder {
  /// Whether nobody has changed it since: what firing and entries keep up in it does not count.
  fileprivate func isSame(as other: Reminder) -> Bool {
    func definition(_ reminder: Reminder) -> Reminder {
      var reminder = reminder
      (reminder.generation, reminder.skipNext, reminder.lastDone, reminder.chainedTimes) = (0, 0, nil, nil)
      return reminder
    }
    return definition(self) == definition(other)
  }

  fileprivate func hasSameTimes(as other: Reminder) -> Bool {
    schedule == other.schedule && timezone == other.timezone && gap == other.gap && fold == other.fold
      && place == other.place && tracker == other.tracker && lastDone == other.lastDone
      && chainedTimes == other.chainedTimes
  }

  /// Its chained times but for those that came with a change.
  fileprivate func chainedTimes(without step: ChangeDetail.Step<Reminder>) -> [Instant]? {
    let added = Set(step.after?.chainedTimes ?? []).subtracting(step.before?.chainedTimes ?? [])
    return chainedTimes?.filter { !added.contains($0) }
  }
}

extension Endpoint {
  /// What deliveries keep up in it does not count.
  fileprivate func isSame(as other: Endpoint) -> Bool { url == other.url && settings == other.settings }
}
