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

  func removeReminder(
    _ id: ReminderID, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws {
    if let reminder = try transaction.readableReminder(id)?.reminder {
      try Announcing.removal(of: reminder, in: transaction, context, now: now, using: &generator)
    }
    outcome.closed += try transaction.occurrences(
      OccurrenceFilter(reminder: id, openOnly: true), page: Page(limit: 100)
    ).compactMap { try? $0.answered(.dismiss, at: now) }
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
    for attempt in 0..<16 {
      reminder.id = ReminderID(length: 4 + attempt / 4, using: &generator)
      do {
        try transaction.upsert(reminder, next: next, since: now)
        outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
        return reminder.id
      } catch StoreFailure.idTaken { continue }
    }
    throw StoreFailure.internalError("no free id was found for a pack's reminder")
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
      let next = try reminder.next(after: now, in: transaction, context)
      try transaction.upsert(reminder, next: next, since: now)
      outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
      return reminder.id
    }
    (reminder.id, reminder.createdAt, reminder.generation) = (before.id, before.createdAt, before.generation)
    (reminder.skipNext, reminder.lastDone) = (before.skipNext, before.lastDone)
    guard reminder != before else { return before.id }
    reminder.generation += 1
    let next = try reminder.nextUnfired(after: now, in: transaction, context)
    try transaction.upsert(reminder, next: next, since: now)
    outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
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
    reminder.generation += 1
    let next = try reminder.nextUnfired(after: now, in: transaction, context)
    try transaction.upsert(reminder, next: next, since: now)
    outcome.moved.append(MovedReminder(id: reminder.id, title: reminder.title, next: next))
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
}
