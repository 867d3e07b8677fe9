import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A TrackingRestore replaces an owner's trackers and reminders by those of a backup, as one change that can be undone.
///
/// Nobody waits for it, whatever its size. Pieces are staged under a temporary owner in any number of transactions, and
/// derived totals are computed there. `finish` then exchanges the two owners in one transaction. The store keeps the
/// replaced trackers; the change's detail has the replaced reminders.
struct TrackingRestore {
  let work: TrackingOperations
  private var transaction: any StoreTransaction { work.transaction }
  private var owner: UInt32 { work.owner }

  init(_ work: TrackingOperations) { self.work = work }

  /// The state between transactions.
  struct Plan: Sendable {
    let stagingOwner: UInt32
    fileprivate(set) var trackers: [TrackerID: Tracker] = [:]
    /// The maximum number of days of each tracker.
    fileprivate(set) var days: [TrackerID: Int] = [:]
    fileprivate(set) var entries = 0
    fileprivate(set) var packs: [InstalledPack] = []
    fileprivate(set) var reminders: [Reminder] = []
    fileprivate(set) var endpoints: [Endpoint] = []

    init(stagingOwner: UInt32) { self.stagingOwner = stagingOwner }

    func key(_ tracker: TrackerID) -> TrackerKey { TrackerKey(owner: stagingOwner, id: tracker) }
  }

  /// Stages pieces in the order of the backup.
  func stage(_ pieces: [BackupPiece], _ plan: inout Plan) throws {
    var day: (tracker: TrackerID, total: DayTotal)?
    func keepDay() throws {
      if let day { try transaction.setDayTotal(day.total, on: day.total.day, of: plan.key(day.tracker)) }
      day = nil
    }
    for piece in pieces {
      switch piece {
      case .tracker(let tracker):
        let staged = tracker.owned(by: plan.stagingOwner)
        plan.trackers[tracker.id] = staged
        try transaction.put(staged)
      case .item(var item):
        item.owner = plan.stagingOwner
        try transaction.put(item)
      case .milestone(var milestone):
        (milestone.owner, milestone.id) = (plan.stagingOwner, 0)
        try transaction.put(milestone)
      case .entry(let line):
        plan.entries += 1
        let entry = try transaction.insert(line.entry(of: plan.stagingOwner))
        if day?.tracker != entry.tracker || day?.total.day != entry.day {
          try keepDay()
          plan.days[entry.tracker, default: 0] += 1
        }
        let known = try day?.total ?? transaction.dayTotal(of: entry.key, on: entry.day)
        guard let tracker = plan.trackers[entry.tracker] else { continue }
        day = (entry.tracker, ProgressAggregator(tracker).total(known, adding: entry))
      case .judged(let judged):
        try keepDay()
        let key = plan.key(judged.tracker)
        guard var tracker = plan.trackers[judged.tracker], let total = try transaction.dayTotal(of: key, on: judged.day)
        else { continue }
        tracker.goal = judged.goal
        try transaction.setDayTotal(ProgressAggregator(tracker).evaluated(total), on: judged.day, of: key)
      case .progress(let progress): try transaction.setProgress(progress, owner: plan.stagingOwner)
      case .experience(let experience):
        try transaction.setExperience(experience.points, of: experience.pack, owner: plan.stagingOwner)
      case .pack(let pack): plan.packs.append(pack)
      case .reminder(let reminder): plan.reminders.append(reminder)
      case .endpoint(let endpoint): plan.endpoints.append(endpoint)
      // Their data is in folders beside the store.
      case .photo, .secrets, .configuration: continue
      // `remember` adds the history afterwards.
      case .occurrence, .ping: continue
      }
    }
    try keepDay()
  }

  /// Computes the summaries of trackers after all entries are staged.
  func sumUp(_ trackers: [TrackerID], _ plan: Plan) throws {
    for id in trackers {
      guard let tracker = plan.trackers[id] else { continue }
      let totals = try transaction.dayTotals(of: plan.key(id), in: .earliest ... .latest)
      try transaction.setSummary(ProgressAggregator(tracker).summary(of: totals), of: plan.key(id))
    }
  }

  /// Exchanges the staged data with the owner's, and replaces the owner's reminders.
  ///
  /// - Parameters:
  ///   - detail: other things that the same change exchanges.
  /// - Returns: the outcome with the change's id, the effects, and the new names of the backup's reminders.
  func finish(
    _ plan: Plan, as kind: TrackingChange.Kind = .restored, _ detail: ChangeDetail = ChangeDetail(),
    using generator: inout some RandomNumberGenerator
  ) throws -> (TrackingOutcome, [PostCommitEffect], names: [ReminderID: ReminderID]) {
    try transaction.lockTrackers()
    var detail = detail
    // Endpoints that the backup lacks stay: they do no harm, and their secrets exist here only.
    for endpoint in plan.endpoints.map({ $0.owned(by: owner) }) {
      let known = try transaction.endpoint(endpoint.queue)
      guard known?.unowned != endpoint.unowned else { continue }
      try transaction.put(endpoint)
      detail.endpoints.append(.init(before: known, after: endpoint))
    }
    try need(
      transaction.endpoints(owner: owner).count <= EndpointFields.maxEndpoints,
      limit: "endpoints: at most \(EndpointFields.maxEndpoints), including those that exist here")
    detail.all = try BackupRecords.reminders(owner, transaction).map(\.unowned)
    let old = try transaction.trackers(owner: owner)
    // The new generation tells clients that the tracker was replaced.
    for known in old {
      guard var staged = plan.trackers[known.id] else { continue }
      staged.generation = known.generation + 1
      try transaction.put(staged)
    }
    let change = try transaction.exchange(
      TrackingChange(owner: owner, at: work.now, kind: kind, subject: kind == .restored ? String(plan.entries) : ""),
      with: plan.stagingOwner)
    try transaction.setDetail(detail.text(), of: change)
    var outcome = TrackingOutcome()
    outcome.change = change
    var (names, effects) = try replaceReminders(by: plan.reminders, &outcome, using: &generator)
    if !detail.endpoints.isEmpty { effects.append(.endpointsChanged) }
    for installed in plan.packs {
      var installed = installed
      installed.owner = owner
      installed.reminders = installed.reminders.compactMapValues { names[$0] }
      installed.pack.trackers = installed.pack.trackers.map { $0.owned(by: 0) }
      try transaction.put(installed)
    }
    try work.relink(Set(old.map(\.id)).union(plan.trackers.keys), &outcome, using: &generator)
    return (outcome, effects, names)
  }

  /// Completes the undo of a restore, after `TrackingOperations.undo`.
  ///
  /// - Parameter before: the reminders before the restore.
  func complete(
    _ before: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> [PostCommitEffect] {
    let (_, effects) = try replaceReminders(by: before, &outcome, using: &generator)
    try work.relink(Set(try transaction.trackers(owner: owner).map(\.id)), &outcome, using: &generator)
    return effects
  }

  // MARK: History

  /// Adds occurrences to the history. Existing ones are not changed.
  ///
  /// - Parameter names: the new names of the backup's reminders.
  /// - Returns: the number of occurrences that were refused, because their reminder is gone and another user has its name.
  func remember(_ occurrences: [Occurrence], _ names: [ReminderID: ReminderID]) throws -> Int {
    var refused = 0
    for (known, times) in Dictionary(grouping: occurrences, by: \.id.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      let found = try transaction.readableReminder(id)?.reminder
      let isGone = found == nil
      guard try isGone ? transaction.isFree(id, for: owner) : found?.owner == owner else {
        refused += times.count
        continue
      }
      var reminder = try found ?? past(id, titled: times.last?.title ?? "")
      if isGone { try transaction.upsert(reminder, next: nil) }
      // A past occurrence must not end a present repeat.
      reminder.nag = nil
      let due = DueReminder(reminder: reminder, scheduledAt: .earliest, dueAt: .earliest, isRegular: false)
      let own = times.map { time in
        Occurrence(
          id: OccurrenceID(reminder: id, scheduledAt: time.id.scheduledAt), title: time.title, owner: owner,
          state: time.state, firedAt: time.firedAt, deliveredAt: time.deliveredAt, endedAt: time.endedAt,
          late: time.late, rounds: time.rounds, repeats: time.repeats, repeatAt: time.repeatAt,
          missedRun: time.missedRun, answeredBy: time.answeredBy)
      }
      try transaction.record([
        FiringResult(
          due: due, occurrences: own, deliveries: [], next: nil, advances: false, skipNext: reminder.skipNext)
      ])
      let reportedAt = own.filter(\.isOpen).compactMap(\.firedAt).min()
      if reminder.isExpectation, let reportedAt { try transaction.setDown(id, since: reportedAt) }
      if isGone { try transaction.remove(id, now: work.now) }
    }
    return refused
  }

  /// Adds pings that are newer than existing ones, so that a repeated restore adds none.
  ///
  /// - Parameter pings: the pings, oldest first for each reminder.
  func remember(_ pings: [BackupFormat.PingLine], _ names: [ReminderID: ReminderID]) throws {
    for (known, lines) in Dictionary(grouping: pings, by: \.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      guard try transaction.readableReminder(id)?.reminder.owner == owner else { continue }
      let newest = try transaction.lastPing(of: id, among: .all)?.at ?? .earliest
      for line in lines where line.ping.at > newest { try transaction.add(line.ping.pinged(by: owner), to: id) }
    }
  }

  /// A placeholder for a removed reminder while its history is written.
  private func past(_ id: ReminderID, titled title: String) throws -> Reminder {
    let schedule = try Schedule(canonical: "daily at 0:00")
    return Reminder(id: id, owner: owner, title: title, schedule: schedule, createdAt: work.now, generation: 1)
  }

  // MARK: Reminders

  /// Replaces the owner's reminders. Equal ones stay, others are removed, changed or added.
  ///
  /// - Returns: the new name of each reminder, because another user may have its original one.
  private func replaceReminders(
    by wanted: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> ([ReminderID: ReminderID], [PostCommitEffect]) {
    var effects: [PostCommitEffect] = []
    let names = Set(wanted.map(\.id))
    for reminder in try BackupRecords.reminders(owner, transaction) where !names.contains(reminder.id) {
      outcome.closed += try transaction.openOccurrences(of: reminder.id).compactMap {
        try? $0.answered(.dismiss, at: work.now)
      }
      try Announcing.removal(of: reminder, in: transaction, work.context, now: work.now, using: &generator)
      try transaction.remove(reminder.id, now: work.now)
      effects.append(.reminder(.removed, reminder, "removed \"\(reminder.title)\""))
    }
    var known: [ReminderID: ReminderID] = [:]
    for reminder in wanted {
      let (kept, kind) = try put(reminder, using: &generator)
      known[reminder.id] = kept.id
      guard let kind else { continue }
      effects.append(.reminder(kind, kept, "\(kind == .added ? "added" : "changed") \"\(kept.title)\""))
    }
    try relinkChains(known)
    return (known, effects)
  }

  /// Updates the references of chained and conditional reminders to reminders with new names.
  private func relinkChains(_ names: [ReminderID: ReminderID]) throws {
    for id in names.values.sorted() {
      guard var record = try transaction.readableReminder(id), !record.reminder.dependsOn.isEmpty else { continue }
      let before = record.reminder
      if let chain = before.schedule.chain, let name = names[ReminderID(rawValue: chain.reminder)] {
        record.reminder.schedule = Schedule(chain.following(name.rawValue))
      }
      if let other = before.onlyIfDone { record.reminder.onlyIfDone = names[other] ?? other }
      guard record.reminder != before else { continue }
      record.reminder.generation += 1
      try transaction.upsert(record.reminder, next: record.next, nextDueAt: record.nextDueAt, since: work.now)
    }
  }

  /// Stores a reminder. Returns it with the kind of change; nil if it was equal already.
  private func put(
    _ wanted: Reminder, using generator: inout some RandomNumberGenerator
  ) throws -> (Reminder, PostCommitEffect.Kind?) {
    var reminder = wanted
    reminder.owner = owner
    let next = try reminder.next(after: work.now, in: transaction, work.context)
    if let known = try transaction.readableReminder(reminder.id)?.reminder, known.owner == owner {
      guard known.unowned != wanted.unowned else { return (known, nil) }
      reminder.generation = known.generation + 1
      try transaction.upsert(reminder, next: next, since: work.now)
      return (reminder, .changed)
    }
    if try transaction.isFree(reminder.id, for: owner) {
      // The reminder keeps its name and the rest of its history.
      reminder.generation = 1
      try transaction.upsert(reminder, next: next, since: work.now)
      return (reminder, .added)
    }
    reminder.generation = 0
    for attempt in 0..<16 {
      do {
        try transaction.upsert(reminder, next: next, since: work.now)
        return (reminder, .added)
      } catch StoreFailure.idTaken {
        reminder.id = ReminderID(length: 4 + attempt / 4, using: &generator)
      }
    }
    throw ControlFailure.limitExceeded("ids")
  }
}

extension BackupFormat.EntryLine {
  /// Returns the entry without an id.
  func entry(of owner: UInt32) throws -> Entry {
    Entry(
      id: EntryID(rawValue: 0), tracker: tracker, owner: owner, at: try RFC3339.parse(at), day: day, minute: minute,
      quantity: quantity, fields: fields ?? [:], item: item, note: note, photo: photo)
  }
}
