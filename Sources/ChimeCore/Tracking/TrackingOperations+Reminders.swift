import ChimeSchedule
import ChimeTracking

// The effects of an entry on the reminders that are linked to its tracker.
extension TrackingOperations {
  /// The most linked reminders that are updated per tracker.
  static let mostReminders = 1_000

  /// Recomputes the next times of a tracker's reminders, and closes occurrences that need no answer any more.
  ///
  /// - Parameters:
  ///   - last: the time of the tracker's last entry; nil if there is none.
  ///   - entry: the entry just logged; nil if entries were changed or removed.
  func follow(
    _ key: TrackerKey, _ tracker: Tracker?, last: Instant?, entry: Entry?, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    for id in try transaction.reminderIDs(.linked(key), after: nil, limit: Self.mostReminders) {
      guard let record = try transaction.readableReminder(id) else { continue }
      if let tracker { try close(record, tracker, entry, &outcome, using: &generator) }
      try move(record, last: last, &outcome)
    }
  }

  private func move(_ record: ReminderRecord, last: Instant?, _ outcome: inout TrackingOutcome) throws {
    var reminder = record.reminder
    // Capped at `now`, so that an entry made by a wrong clock does not postpone the next time by years.
    if reminder.countsFromDone { reminder.lastDone = last.map { min($0, now) } }
    let isOther = reminder.lastDone != record.reminder.lastDone
    guard isOther || reminder.tracker?.pace == true, context.zone(of: reminder) != nil else { return }
    // A due time stays due. The decision to fire it comes later.
    let isDue = record.next.map { $0 <= now } ?? false
    let next = isDue ? record.next : try reminder.nextUnfired(after: now, in: transaction, context)
    guard isOther || next != record.next else { return }
    reminder.generation += 1
    try transaction.upsert(reminder, next: next, nextDueAt: isDue ? record.nextDueAt : nil, since: now)
    if next != record.next { outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next)) }
  }

  /// Closes open occurrences if the goal of their day is met, or if the reminder counts from entries and one followed.
  private func close(
    _ record: ReminderRecord, _ tracker: Tracker, _ entry: Entry?, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard record.open > 0, let link = record.reminder.tracker else { return }
    let open = try transaction.occurrences(
      OccurrenceFilter(reminder: record.reminder.id, openOnly: true), page: Page(limit: 100))
    guard let first = open.map(\.id.scheduledAt).min() else { return }
    let linked = try LinkedTracker.read(
      for: record.reminder, from: first, to: now, in: transaction, context, tracker: tracker)
    for occurrence in open {
      let isDone = linked?.isDone(at: occurrence.id.scheduledAt) == true
      let comesToday = occurrence.recursAt != nil && linked?.isDone(at: now) == true
      let isFollowed =
        (link.followsEntries || link.pace) && entry.map { $0.at >= occurrence.firedAt ?? .latest } ?? false
      guard isDone || comesToday || isFollowed, let done = try? occurrence.answered(.done, at: now) else { continue }
      try Announcing.change(
        occurrence, to: done, of: record.reminder, by: "tracker", in: transaction, context, now: now,
        using: &generator)
      try transaction.update(done, now: now)
      outcome.closed.append(done)
      let end = Chains.End(of: done.id.reminder, owner: done.owner, .done, at: now)
      outcome.moved += try Chains.follow([end], in: transaction, now: now).map {
        MovedReminder(id: $0.after.id, title: $0.after.title, next: $0.next)
      }
    }
  }
}
