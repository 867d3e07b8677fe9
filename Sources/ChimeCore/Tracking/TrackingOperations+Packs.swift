public import ChimeSchedule
public import ChimeTracking

extension TrackingOperations {
  /// Installs a pack or updates an installed one.
  ///
  /// Existing trackers keep their entries, which unlock achievements silently. Reminders whose schedule the user has
  /// changed keep it.
  ///
  /// - Parameter pack: the pack with the chosen goals and usual amounts.
  public func install(
    _ pack: Pack, _ wishes: PackWishes = PackWishes(), using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let before = try transaction.pack(pack.id, owner: owner)
    let languages = wishes.languages ?? before?.languages ?? context.wording.languages
    var installed = InstalledPack(
      pack: pack, owner: owner, installedAt: before?.installedAt ?? now, languages: languages,
      set: wishes.set ?? before?.set)
    let unwanted = (before?.reminders ?? [:]).filter { key, _ in
      wishes.reminders[key] == false || !pack.reminders.contains { $0.key == key }
    }
    if let before, !unwanted.isEmpty { try keep(before, unwanted.values.sorted()) }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.pack, nil, pack.id.rawValue)
    for tracker in pack.trackers { try install(tracker, of: pack.id) }
    for id in unwanted.values.sorted() { try removeReminder(id, &outcome, using: &generator) }
    for declared in pack.reminders where wishes.reminders[declared.key] != false {
      let known = try before?.reminders[declared.key].flatMap { try transaction.readableReminder($0) }
      if let whole = wishes.whole[declared.key] {
        installed.reminders[declared.key] = try put(whole, over: known, &outcome, using: &generator)
      } else if let record = known {
        let old = before?.pack.reminders.first { $0.key == declared.key }
        try update(record, declared, old, wishes, languages, &outcome)
        installed.reminders[declared.key] = record.reminder.id
      } else if wishes.reminders[declared.key] ?? !declared.isOptional {
        installed.reminders[declared.key] = try make(declared, wishes, languages, &outcome, using: &generator)
      }
    }
    try transaction.put(installed)
    for tracker in pack.trackers {
      guard let tracker = try transaction.tracker(key(tracker.id)) else { continue }
      let tallied = try tally(tracker, .definition)
      try follow(tracker.key, tracker, last: tallied.summary.lastAt, entry: nil, &outcome, using: &generator)
      try recordMilestones(of: tracker, tallied.summary, in: allTotals(of: tracker.key))
    }
    try praise(in: pack.id, .anew, isSilent: true, &outcome, using: &generator)
    try TrackingDay.arm(in: transaction, context, now: now)
    return outcome
  }

  /// Removes a pack with its reminders. Its trackers become the user's own, unless they are removed with their entries.
  /// Unlocked achievements stay unlocked.
  public func removePack(
    _ id: PackID, withEntries: Bool = false, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    guard let installed = try transaction.pack(id, owner: owner) else { throw TrackingRefused.noPack(id) }
    try keep(installed, installed.reminders.values.sorted())
    var outcome = TrackingOutcome()
    outcome.change = try begin(.pack, nil, id.rawValue)
    for reminder in installed.reminders.values.sorted() { try removeReminder(reminder, &outcome, using: &generator) }
    for tracker in try transaction.trackers(owner: owner) where tracker.pack == id {
      if withEntries {
        try transaction.removeTracker(tracker.key)
        try follow(tracker.key, nil, last: nil, entry: nil, &outcome, using: &generator)
      } else {
        var tracker = tracker
        tracker.pack = nil
        tracker.generation += 1
        try transaction.put(tracker)
      }
    }
    try transaction.removePack(id, owner: owner)
    try TrackingDay.arm(in: transaction, context, now: now)
    return outcome
  }

  /// Saves reminders in the pack that is about to lose them, before the change begins, so that undoing it finds them there.
  private func keep(_ pack: InstalledPack, _ reminders: [ReminderID]) throws {
    var pack = pack
    pack.removed = try reminders.compactMap { try transaction.readableReminder($0)?.reminder }
    try transaction.put(pack)
  }

  private func removeReminder(
    _ id: ReminderID, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    if let reminder = try transaction.readableReminder(id)?.reminder {
      try Announcing.removal(of: reminder, in: transaction, context, now: now, using: &generator)
    }
    outcome.closed += try transaction.openOccurrences(of: id).compactMap { try? $0.answered(.dismiss, at: now) }
    try transaction.remove(id, now: now)
  }

  private func install(_ declared: Tracker, of pack: PackID) throws {
    var tracker = declared
    tracker.owner = owner
    tracker.pack = pack
    let beginsByItself = declared.startedOn == Pack.unbegun
    if beginsByItself { tracker.startedOn = today(of: tracker) }
    tracker.createdAt = now
    tracker.generation = 0
    tracker.beginStock(at: now)
    if let known = try transaction.tracker(tracker.key) {
      guard known.pack == nil || known.pack == pack else {
        throw TrackingRefused.conflict(
          "the pack \(known.pack?.rawValue ?? "") has a tracker \(tracker.id) already: remove that pack first")
      }
      guard known.kind == tracker.kind, known.unit == tracker.unit || canShow(known, in: tracker.unit) else {
        throw TrackingRefused.conflict(
          "there is a tracker \(tracker.id) of another kind or unit already: remove it first, or give it another name")
      }
      if beginsByItself { tracker.startedOn = known.startedOn }
      (tracker.createdAt, tracker.generation) = (known.createdAt, known.generation)
      (tracker.pauses, tracker.skips) = (known.pauses, known.skips)
      tracker.keepWeekdays(of: known, until: today(of: tracker))
      guard tracker != known else { return }
      tracker.generation += 1
    }
    try transaction.put(tracker)
  }

  private func canShow(_ known: Tracker, in unit: Unit?) -> Bool {
    guard let old = known.unit, let unit else { return false }
    return old.converts(to: unit)
  }

  private func make(
    _ declared: PackReminder, _ wishes: PackWishes, _ languages: [String], _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws -> ReminderID {
    let plain = Reminder(
      id: ReminderID(rawValue: ""), owner: owner, title: "", schedule: try Schedule(canonical: "daily at 09:00"),
      channels: context.channels, createdAt: now)
    var reminder = wishes.prototype ?? plain
    (reminder.owner, reminder.createdAt, reminder.generation) = (owner, now, 0)
    reminder.schedule = try wishes.schedules[declared.key] ?? schedule(declared, in: reminder)
    try describe(&reminder, as: declared, languages)
    return try insert(reminder, &outcome, using: &generator)
  }

  private func insert(
    _ reminder: Reminder, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> ReminderID {
    var reminder = reminder
    let next = try reminder.next(after: now, in: transaction, context)
    reminder.id = try transaction.insert(reminder, next: next, since: now, using: &generator)
    outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
    return reminder.id
  }

  /// Adds or replaces a reminder with the wanted one. Its id, creation, skips and last answer stay.
  private func put(
    _ wanted: Reminder, over known: ReminderRecord?, _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws -> ReminderID {
    var reminder = wanted
    reminder.owner = owner
    guard let before = known?.reminder else {
      reminder.createdAt = now
      guard !reminder.id.rawValue.isEmpty else { return try insert(reminder, &outcome, using: &generator) }
      reminder.generation = 1
      try write(reminder, next: try reminder.next(after: now, in: transaction, context), &outcome)
      return reminder.id
    }
    (reminder.id, reminder.createdAt, reminder.generation) = (before.id, before.createdAt, before.generation)
    (reminder.skipNext, reminder.lastDone) = (before.skipNext, before.lastDone)
    guard reminder != before else { return before.id }
    try replace(reminder, &outcome)
    return before.id
  }

  private func update(
    _ record: ReminderRecord, _ declared: PackReminder, _ old: PackReminder?, _ wishes: PackWishes,
    _ languages: [String], _ outcome: inout TrackingOutcome
  ) throws {
    var reminder = record.reminder
    try describe(&reminder, as: declared, languages)
    if let chosen = wishes.schedules[declared.key] {
      reminder.schedule = chosen
    } else if old.flatMap({ try? schedule($0, in: reminder) }) == reminder.schedule {
      reminder.schedule = try schedule(declared, in: reminder)
    }
    guard reminder != record.reminder else { return }
    try replace(reminder, &outcome)
  }

  private func describe(
    _ reminder: inout Reminder, as declared: PackReminder, _ languages: [String]
  ) throws {
    describe(&reminder, as: declared, languages, unit: try transaction.tracker(key(declared.tracker))?.unit)
  }

  private func describe(_ reminder: inout Reminder, as declared: PackReminder, _ languages: [String], unit: Unit?) {
    reminder.title = declared.title.text(in: languages)
    reminder.body = declared.body?.text(in: languages)
    reminder.tracker = TrackerLink(
      tracker: declared.tracker, amount: declared.logs, unit: unit, quietWhenDone: declared.quietWhenDone,
      followsEntries: declared.followsEntries, pace: declared.pace)
  }

  /// Returns a pack's reminder with the pack's own settings.
  ///
  /// - Parameters:
  ///   - prototype: supplies everything that the pack does not define.
  ///   - unit: the unit of its tracker, which need not exist yet.
  public func reminder(
    _ declared: PackReminder, over prototype: Reminder, languages: [String], unit: Unit?
  ) throws -> Reminder {
    var reminder = prototype
    reminder.schedule = try schedule(declared, in: reminder)
    describe(&reminder, as: declared, languages, unit: unit)
    return reminder
  }

  /// Returns the schedule that a pack defines for one of its reminders.
  public func schedule(_ declared: PackReminder, in reminder: Reminder) throws -> Schedule {
    let zone = context.zones.zone(for: reminder.timezone) ?? zone
    let when = context.place == nil ? declared.whenWithoutPlace ?? declared.when : declared.when
    do throws(ScheduleError) {
      return try Schedule.parse(
        when, now: now, in: context.scheduleContext(in: zone, at: reminder.place))
    } catch {
      throw TrackingRefused.invalid(field: "when", "reminder \(declared.key): \(error.message)")
    }
  }

  // MARK: Undo

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
    try replace(reminder, &outcome)
  }

  /// Writes a reminder as its next generation.
  private func replace(_ reminder: Reminder, _ outcome: inout TrackingOutcome) throws {
    var reminder = reminder
    reminder.generation += 1
    try write(reminder, next: try reminder.nextUnfired(after: now, in: transaction, context), &outcome)
  }

  private func write(_ reminder: Reminder, next: Instant?, _ outcome: inout TrackingOutcome) throws {
    try transaction.upsert(reminder, next: next, since: now)
    outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
  }
}
