import ChimeCore
import ChimeSchedule

/// A ReminderUndo restores reminders, occurrences, endpoints and a silence to their state before a change.
///
/// Things that were changed since stay as they are, and a note says so.
struct ReminderUndo {
  struct Outcome: Sendable {
    /// The number of restored things.
    var count = 0
    var notes: [String] = []
    var effects: [PostCommitEffect] = []
    var removedEndpoints: [DeliveryQueue] = []
  }

  private let work: TrackingOperations
  private let change: TrackingChange
  /// The endpoints whose secrets are lost.
  private let without: Set<DeliveryQueue>
  private(set) var outcome = Outcome()
  private var transaction: any StoreTransaction { work.transaction }

  init(_ work: TrackingOperations, _ change: TrackingChange, _ without: Set<DeliveryQueue>) {
    (self.work, self.change, self.without) = (work, change, without)
  }

  mutating func takeBack(_ detail: ChangeDetail, using generator: inout some RandomNumberGenerator) throws {
    for added in detail.added.reversed() { try remove(added.reminder, using: &generator) }
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
    guard isSame(current, as: added) else {
      return outcome.notes.append("\"\(current.title)\" has been changed since, and stays")
    }
    let open = try transaction.openOccurrences(of: current.id)
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
      // It keeps its id, and what is left of its history.
      reminder.generation += 1
      try Recompute.bringBack(reminder, next: next, in: transaction, work.context, now: work.now)
    } else {
      guard try transaction.readableReminder(reminder.id).map({ isSame($0.reminder, as: removed) }) != true else {
        return outcome.notes.append("\"\(removed.title)\" exists already")
      }
      reminder.generation = 0
      reminder.id = try transaction.insert(reminder, next: next, since: work.now, using: &generator)
      outcome.notes.append("\"\(reminder.title)\" is \(reminder.id) now: another reminder has its old id")
    }
    outcome.count += 1
    outcome.effects.append(.reminder(.added, reminder, "added \"\(reminder.title)\""))
    tell(reminder, next, before)
    let others = try transaction.reminders(
      ReminderFilter(owner: reminder.owner, titles: [reminder.title], includesFinished: false), page: Page(limit: 2))
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
    guard isSame(current, as: after) else {
      return outcome.notes.append("\"\(current.title)\" has been changed since, and stays as it is")
    }
    var reminder = before
    reminder.generation = current.generation + 1
    if change.kind != .reminderSkipped { reminder.skipNext = current.skipNext }
    reminder.chainedTimes = reminder.schedule == current.schedule ? chainedTimes(of: current, without: step) : nil
    if change.kind != .reminderDone { reminder.lastDone = reminder.countsFromDone ? current.lastDone : nil }
    // Held occurrences are evaluated again: the change may release or drop them.
    var nextDueAt = record.isHeld ? work.now : nil
    if !reminder.hasSameTimetable(as: current) {
      record.next = try reminder.nextUnfired(after: work.now, in: transaction, work.context)
      nextDueAt = nil
      if reminder.schedule.chain == nil { tell(reminder, record.next, step.next) }
    }
    try transaction.upsert(reminder, next: record.next, nextDueAt: nextDueAt, since: work.now)
    outcome.count += 1
    outcome.effects.append(.reminder(.changed, reminder, "changed \"\(reminder.title)\""))
  }

  /// Notes that the time of a reminder has passed and none follows.
  private mutating func tell(_ reminder: Reminder, _ next: Instant?, _ before: Instant?) {
    guard next == nil, let before else { return }
    let time = RFC3339.format(before, in: work.context.zone(of: reminder) ?? .utc).prefix(16).replacing("T", with: " ")
    outcome.notes.append(
      "the time of \"\(reminder.title)\", \(time), has passed meanwhile: it will not ring unless you give it a new time"
    )
  }

  /// Returns whether the definition is the same. Fields that firing and entries maintain are ignored.
  private func isSame(_ one: Reminder, as other: Reminder) -> Bool {
    func definition(_ reminder: Reminder) -> Reminder {
      var reminder = reminder
      (reminder.generation, reminder.skipNext, reminder.lastDone, reminder.chainedTimes) = (0, 0, nil, nil)
      return reminder
    }
    return definition(one) == definition(other)
  }

  /// Returns the chained times of a reminder without the ones that a change has added.
  private func chainedTimes(of reminder: Reminder, without step: ChangeDetail.Step<Reminder>) -> [Instant]? {
    let added = Set(step.after?.chainedTimes ?? []).subtracting(step.before?.chainedTimes ?? [])
    return reminder.chainedTimes?.filter { !added.contains($0) }
  }

  /// Returns whether the id is free, and has no history of another owner.
  private func isFree(_ reminder: Reminder) throws -> Bool {
    guard try transaction.readableReminder(reminder.id) == nil, transaction.unreadable.isEmpty else { return false }
    let history = try transaction.occurrences(OccurrenceFilter(reminder: reminder.id), page: Page(limit: 1))
    return history.allSatisfy { $0.owner == reminder.owner }
  }

  // MARK: Occurrences

  private mutating func takeBack(
    _ step: ChangeDetail.Step<Occurrence>, using generator: inout some RandomNumberGenerator
  ) throws {
    guard let id = (step.before ?? step.after)?.id, let current = try transaction.occurrence(id) else { return }
    // Removing the reminder dismissed the occurrence.
    guard current.state == step.after?.state ?? .dismissed else {
      return outcome.notes.append("\"\(current.title)\" has rung or was answered since, and stays as it is")
    }
    guard let reminder = try transaction.readableReminder(id.reminder)?.reminder else {
      return outcome.notes.append("\"\(current.title)\" has been removed since")
    }
    var wanted = step.before ?? current
    if step.before == nil {
      // A moved occurrence rings at its own time again.
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

extension Endpoint {
  /// Fields that deliveries maintain are ignored.
  fileprivate func isSame(as other: Endpoint) -> Bool { url == other.url && settings == other.settings }
}
