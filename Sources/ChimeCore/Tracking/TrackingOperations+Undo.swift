public import ChimeSchedule
public import ChimeTracking

extension TrackingOperations {
  /// Returns the change that `undo` would revert; nil if there is none in the last 30 days.
  public func undoable() throws -> TrackingChange? {
    try transaction.lastChange(owner: owner, since: now - TrackingChange.keptFor)
  }

  /// Reverts the latest change. Totals are recomputed, linked reminders rescheduled, and a pack's reminders removed or
  /// restored. Unlocked achievements stay unlocked.
  ///
  /// Of a change in parts, only the last part is reverted.
  ///
  /// - Parameter begun: the change whose later parts have been reverted already; nil at first.
  /// - Returns: the change, its outcome, and whether no further parts are left.
  /// - Throws: `TrackingRefused` if there is nothing to revert, or if another change came between the parts.
  public func undo(
    goingOnWith begun: TrackingChange? = nil, using generator: inout some RandomNumberGenerator
  ) throws -> (change: TrackingChange, outcome: TrackingOutcome, isDone: Bool) {
    try transaction.lockTrackers()
    guard let change = try undoable() else { throw TrackingRefused.nothingToUndo }
    guard begun.map(change.isPart) ?? true else {
      throw TrackingRefused.conflict(
        "another change was made during the undo of the import: a part of the import remains; undo the new change "
          + "first, then the rest of the import")
    }
    let before = try transaction.packs(owner: owner)
    var touched = Dictionary(try transaction.takeBack(change.id).map { ($0.key.id, $0.value) }) { $0.union($1) }
    if let tracker = change.tracker { touched[tracker] = touched[tracker] ?? [] }
    var outcome = TrackingOutcome()
    let after = try transaction.packs(owner: owner)
    let kept = Set(after.flatMap(\.reminders.values))
    for pack in before {
      for id in pack.reminders.values.sorted() where !kept.contains(id) {
        try removeReminder(id, &outcome, using: &generator)
      }
    }
    let known = Set(before.flatMap(\.reminders.values))
    for pack in after {
      for reminder in pack.removed where kept.contains(reminder.id) && !known.contains(reminder.id) {
        try bringBack(reminder, &outcome)
      }
      for tracker in pack.pack.trackers where change.kind == .pack && change.subject == pack.pack.id.rawValue {
        touched[tracker.id] = touched[tracker.id] ?? []
      }
    }
    try renew(touched, &outcome, using: &generator)
    try TrackingDay.arm(in: transaction, context, now: now)
    return (change, outcome, isDone: try undoable()?.isPart(of: change) != true)
  }

  /// Recomputes everything that follows from entries whose days were written by other means, without messages about
  /// what that unlocks.
  public func renew(
    _ days: [TrackerID: Set<CivilDate>], _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws {
    var trackers: [(tracker: Tracker, days: Set<CivilDate>)] = []
    for (id, days) in days.sorted(by: { $0.key < $1.key }) {
      if let tracker = try transaction.tracker(key(id)) {
        trackers.append((tracker, days))
      } else {
        try follow(key(id), nil, last: nil, entry: nil, &outcome, using: &generator)
      }
    }
    try settle(trackers, isSilent: true, &outcome, using: &generator)
    try TrackingDay.arm(in: transaction, context, now: now)
  }

  /// Updates the reminders of trackers whose entries and totals were exchanged.
  public func relink(
    _ ids: Set<TrackerID>, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    for id in ids.sorted() {
      let (tracker, summary) = (try transaction.tracker(key(id)), try transaction.summary(of: key(id)))
      if let tracker { try announce(.days([]), of: tracker, summary ?? TrackerSummary(), using: &generator) }
      try follow(key(id), tracker, last: summary?.lastAt, entry: nil, &outcome, using: &generator)
    }
    try TrackingDay.arm(in: transaction, context, now: now)
  }

  /// Restores a removed reminder under its old id.
  private func bringBack(_ reminder: Reminder, _ outcome: inout TrackingOutcome) throws {
    guard try transaction.readableReminder(reminder.id) == nil else { return }
    var reminder = reminder
    reminder.generation += 1
    let next = try reminder.nextUnfired(after: now, in: transaction, context)
    try transaction.upsert(reminder, next: next, since: now)
    outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
  }
}
