import ChimeSchedule
public import ChimeTracking

/// A TrackingRestore replaces an owner's trackers and reminders by those of a backup, as one change that can be undone.
///
/// Nobody waits for it, whatever its size. Pieces are staged under a temporary owner in any number of transactions, and
/// derived totals are computed there. `finish` then exchanges the two owners in one transaction. The store keeps the
/// replaced trackers; the result has the replaced reminders.
public struct TrackingRestore {
  private let work: TrackingOperations
  private var transaction: any StoreTransaction { work.transaction }
  private var owner: UInt32 { work.owner }

  public init(_ work: TrackingOperations) { self.work = work }

  /// The state between transactions.
  public struct Plan: Sendable {
    public let stagingOwner: UInt32
    /// The restorations of the store (`StoreTransaction.restorations`) when the staging owner was created.
    fileprivate let restorations: Int
    public fileprivate(set) var trackers: [TrackerID: Tracker] = [:]
    /// The maximum number of days of each tracker.
    public fileprivate(set) var days: [TrackerID: Int] = [:]
    public fileprivate(set) var entries = 0
    fileprivate var packs: [InstalledPack] = []
    fileprivate var reminders: [Reminder] = []
    public fileprivate(set) var endpoints: [Endpoint] = []

    fileprivate func key(_ tracker: TrackerID) -> TrackerKey { TrackerKey(owner: stagingOwner, id: tracker) }
  }

  /// The result of `finish`.
  public struct Finished: Sendable {
    public var outcome: TrackingOutcome
    /// The reminders that were added, changed and removed.
    public var reminders: [ChangedReminder]
    /// The new id of each of the backup's reminders, because another user may have its original one.
    public var names: [ReminderID: ReminderID]
    /// The owner's reminders before.
    public var before: [Reminder]
    /// The endpoints that were added or changed, as they were and are.
    public var endpoints: [(before: Endpoint?, after: Endpoint)]
  }

  /// A reminder that a restore or its undo has added, changed or removed.
  public struct ChangedReminder: Sendable {
    public enum Kind: Sendable { case added, changed, removed }

    public var kind: Kind
    public var reminder: Reminder
  }

  /// Begins a restore of nothing yet.
  public func begin() throws -> Plan {
    Plan(
      stagingOwner: try transaction.makeStagingOwner(for: owner, now: work.now),
      restorations: transaction.restorations)
  }

  /// Stages records in the order of the backup. Throws `TrackingRefused.conflict` if what was staged before is gone.
  public func stage(_ records: [BackupRecord], _ plan: inout Plan) throws {
    try requireStaged(plan)
    var day: (tracker: TrackerID, total: DayTotal)?
    func keepDay() throws {
      if let day { try transaction.setDayTotal(day.total, on: day.total.day, of: plan.key(day.tracker)) }
      day = nil
    }
    for record in records {
      switch record {
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
      case .entry(var entry):
        plan.entries += 1
        entry.owner = plan.stagingOwner
        entry = try transaction.insert(entry)
        if day?.tracker != entry.tracker || day?.total.day != entry.day {
          try keepDay()
          plan.days[entry.tracker, default: 0] += 1
        }
        let known = try day?.total ?? transaction.dayTotal(of: entry.key, on: entry.day)
        guard let tracker = plan.trackers[entry.tracker] else { continue }
        day = (entry.tracker, ProgressAggregator(tracker).total(known, adding: entry))
      case .judged(let id, let day, let goal):
        try keepDay()
        let key = plan.key(id)
        guard var tracker = plan.trackers[id], let total = try transaction.dayTotal(of: key, on: day) else { continue }
        tracker.goal = goal
        try transaction.setDayTotal(ProgressAggregator(tracker).evaluated(total), on: day, of: key)
      case .progress(let progress): try transaction.setProgress(progress, owner: plan.stagingOwner)
      case .experience(let pack, let points):
        try transaction.setExperience(points, of: pack, owner: plan.stagingOwner)
      case .pack(let pack): plan.packs.append(pack)
      case .reminder(let reminder): plan.reminders.append(reminder)
      case .endpoint(let endpoint): plan.endpoints.append(endpoint)
      // `remember` adds the history afterwards.
      case .occurrence, .ping: continue
      }
    }
    try keepDay()
  }

  /// Marks the staging owner as still in use.
  private func requireStaged(_ plan: Plan) throws {
    // An older store may have another staging owner of the same number.
    guard transaction.restorations == plan.restorations,
      try transaction.touchStagingOwner(plan.stagingOwner, now: work.now)
    else {
      throw TrackingRefused.conflict(
        "the restore was interrupted, because the store was damaged or the clock was set: restore the backup again")
    }
  }

  /// Releases what a restore that has not finished has staged.
  public static func abandon(_ plan: Plan, in transaction: any StoreTransaction) throws {
    guard transaction.restorations == plan.restorations else { return }
    try transaction.abandonStagingOwner(plan.stagingOwner)
  }

  /// Computes the summaries of trackers after all entries are staged. Throws as `stage` does.
  public func sumUp(_ trackers: [TrackerID], _ plan: Plan) throws {
    try requireStaged(plan)
    for id in trackers {
      guard let tracker = plan.trackers[id] else { continue }
      let totals = try transaction.dayTotals(of: plan.key(id), in: .earliest ... .latest)
      try transaction.setSummary(ProgressAggregator(tracker).summary(of: totals), of: plan.key(id))
    }
  }

  /// Exchanges the staged data with the owner's, and replaces the owner's reminders. Throws as `stage` does.
  ///
  /// Endpoints that the backup lacks stay: they do no harm, and their secrets exist here only.
  public func finish(
    _ plan: Plan, as kind: TrackingChange.Kind = .restored, using generator: inout some RandomNumberGenerator
  ) throws -> Finished {
    try requireStaged(plan)
    try transaction.lockTrackers()
    var endpoints: [(before: Endpoint?, after: Endpoint)] = []
    for endpoint in plan.endpoints.map({ $0.owned(by: owner) }) {
      let known = try transaction.endpoint(endpoint.queue)
      guard known?.unowned != endpoint.unowned else { continue }
      try transaction.put(endpoint)
      endpoints.append((known, endpoint))
    }
    let before = try BackupRecords.reminderRecords(owner, transaction)
    let old = try transaction.trackers(owner: owner)
    // The new generation tells clients that the tracker was replaced.
    for known in old {
      guard var staged = plan.trackers[known.id] else { continue }
      staged.generation = known.generation + 1
      try transaction.put(staged)
    }
    var outcome = TrackingOutcome()
    outcome.change = try transaction.exchange(
      TrackingChange(owner: owner, at: work.now, kind: kind, subject: kind == .restored ? String(plan.entries) : ""),
      with: plan.stagingOwner)
    let (names, reminders) = try replace(before, by: plan.reminders, &outcome, using: &generator)
    for installed in plan.packs {
      var installed = installed
      installed.owner = owner
      installed.reminders = installed.reminders.compactMapValues { names[$0] }
      installed.pack.trackers = installed.pack.trackers.map { $0.owned(by: 0) }
      try transaction.put(installed)
    }
    try work.relink(Set(old.map(\.id)).union(plan.trackers.keys), &outcome, using: &generator)
    return Finished(
      outcome: outcome, reminders: reminders, names: names, before: before.map(\.reminder.unowned), endpoints: endpoints
    )
  }

  /// Completes the undo of a restore, after `TrackingOperations.undo`.
  ///
  /// - Parameter before: the reminders before the restore.
  public func complete(
    _ before: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> [ChangedReminder] {
    let present = try BackupRecords.reminderRecords(owner, transaction)
    let (_, changed) = try replace(present, by: before, &outcome, using: &generator)
    try work.relink(Set(try transaction.trackers(owner: owner).map(\.id)), &outcome, using: &generator)
    return changed
  }

  // MARK: History

  /// Adds occurrences to the history. Existing ones are not changed. What pings have ended since the backup is not added.
  ///
  /// - Parameter names: the new names of the backup's reminders.
  /// - Returns: the number of occurrences that were refused, because their reminder is gone and another user has its name.
  public func remember(_ occurrences: [Occurrence], _ names: [ReminderID: ReminderID]) throws -> Int {
    var refused = 0
    for (known, times) in Dictionary(grouping: occurrences, by: \.id.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      let found = try transaction.readableReminder(id)?.reminder
      let isGone = found == nil
      guard try isGone ? transaction.isFree(id, for: owner) : found?.owner == owner else {
        refused += times.count
        continue
      }
      let missing = try times.filter(isMissing(among: times.map(\.id.scheduledAt), of: id))
      guard !missing.isEmpty else { continue }
      var reminder = try found ?? past(id, titled: times.last?.title ?? "")
      if isGone { try transaction.upsert(reminder, next: nil) }
      // A past occurrence must not end a present repeat.
      reminder.nag = nil
      let due = DueReminder(reminder: reminder, scheduledAt: .earliest, dueAt: .earliest, isRegular: false)
      let own = missing.map { time in
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

  /// Returns which occurrences of a reminder are to be added: those without a record, and without a ping since that has
  /// ended them.
  private func isMissing(among times: [Instant], of id: ReminderID) throws -> (Occurrence) -> Bool {
    guard let first = times.min(), let last = times.max() else { return { _ in false } }
    let filter = OccurrenceFilter(reminder: id, from: first, before: last + .milliseconds(1))
    let known = Set(try transaction.allOccurrences(filter).map(\.id.scheduledAt))
    let pinged = try transaction.lastPing(of: id, among: [.succeeded, .failed])?.at ?? .earliest
    let recovered = try transaction.lastPing(of: id, among: [.succeeded])?.at ?? .earliest
    return { one in
      guard !known.contains(one.id.scheduledAt) else { return false }
      return one.isAwaited ? one.id.scheduledAt > pinged : !one.isOpen || one.firedAt ?? .latest > recovered
    }
  }

  /// Adds pings that are newer than existing ones, so that a repeated restore adds none.
  ///
  /// - Parameter pings: the pings, oldest first for each reminder.
  public func remember(
    _ pings: [(ping: Ping, reminder: ReminderID)], _ names: [ReminderID: ReminderID]
  ) throws {
    for (known, found) in Dictionary(grouping: pings, by: \.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      guard try transaction.readableReminder(id)?.reminder.owner == owner else { continue }
      let newest = try transaction.lastPing(of: id, among: .all)?.at ?? .earliest
      for (ping, _) in found where ping.at > newest { try transaction.add(ping.pinged(by: owner), to: id) }
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
  /// - Returns: the new id of each reminder, because another user may have its original one.
  private func replace(
    _ present: [ReminderRecord], by wanted: [Reminder], _ outcome: inout TrackingOutcome,
    using generator: inout some RandomNumberGenerator
  ) throws -> ([ReminderID: ReminderID], [ChangedReminder]) {
    var changed: [ChangedReminder] = []
    var records = Dictionary(present.map { ($0.reminder.id, $0) }) { $1 }
    let kept = Set(wanted.map(\.id))
    for reminder in present.map(\.reminder) where !kept.contains(reminder.id) {
      outcome.closed += try transaction.openOccurrences(of: reminder.id).compactMap {
        try? $0.answered(.dismiss, at: work.now)
      }
      try Announcing.removal(of: reminder, in: transaction, work.context, now: work.now, using: &generator)
      try transaction.remove(reminder.id, now: work.now)
      changed.append(ChangedReminder(kind: .removed, reminder: reminder))
    }
    var names: [ReminderID: ReminderID] = [:]
    for reminder in wanted {
      // A finished reminder is not among those present.
      let record = try records.removeValue(forKey: reminder.id) ?? transaction.readableReminder(reminder.id)
      let (kept, kind) = try put(reminder, over: record, using: &generator)
      names[reminder.id] = kept.id
      if let kind { changed.append(ChangedReminder(kind: kind, reminder: kept)) }
    }
    try relinkChains(wanted, names)
    return (names, changed)
  }

  /// Updates the references of chained and conditional reminders to reminders with new names.
  private func relinkChains(_ wanted: [Reminder], _ names: [ReminderID: ReminderID]) throws {
    let renamed = Set(names.filter { $0 != $1 }.keys)
    for reminder in wanted where !renamed.isDisjoint(with: reminder.dependsOn) {
      guard let id = names[reminder.id], var record = try transaction.readableReminder(id) else { continue }
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
    _ wanted: Reminder, over record: ReminderRecord?, using generator: inout some RandomNumberGenerator
  ) throws -> (Reminder, ChangedReminder.Kind?) {
    var reminder = wanted
    reminder.owner = owner
    if let record, record.reminder.owner == owner {
      guard record.reminder.unowned != wanted.unowned else { return (record.reminder, nil) }
      reminder.generation = record.reminder.generation + 1
      // A time that is due stays due, unless the times change.
      if reminder.hasSameTimetable(as: record.reminder) {
        try transaction.upsert(
          reminder, next: record.next, nextDueAt: record.isHeld ? work.now : nil, since: work.now)
        return (reminder, .changed)
      }
    }
    let next = try reminder.nextUnfired(after: work.now, in: transaction, work.context)
    if record?.reminder.owner == owner {
      try transaction.upsert(reminder, next: next, since: work.now)
      return (reminder, .changed)
    }
    guard try transaction.isFree(reminder.id, for: owner) else {
      reminder.id = try transaction.insert(reminder, next: next, since: work.now, using: &generator)
      return (reminder, .added)
    }
    // The reminder keeps its name and the rest of its history.
    reminder.generation = 1
    try Recompute.bringBack(reminder, next: next, in: transaction, work.context, now: work.now)
    return (reminder, .added)
  }
}
