import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials

/// Puts what a backup has in the place of all that an owner has of trackers and reminders, as one change that can be taken
/// back.
///
/// However much that is, nobody waits for it: its pieces go onto a shelf in as many transactions as one likes, and what
/// follows from them is added up there; `finish` exchanges the two in one. The store keeps what trackers had; of the
/// reminders the change's detail tells.
struct TrackingRestore {
  let work: TrackingOperations
  private var transaction: any StoreTransaction { work.transaction }
  private var owner: UInt32 { work.owner }

  init(_ work: TrackingOperations) { self.work = work }

  /// What is known from one transaction to the next.
  struct Plan: Sendable {
    let shelf: UInt32
    fileprivate(set) var trackers: [TrackerID: Tracker] = [:]
    /// How many days each tracker has at most.
    fileprivate(set) var days: [TrackerID: Int] = [:]
    fileprivate(set) var entries = 0
    fileprivate(set) var packs: [InstalledPack] = []
    fileprivate(set) var reminders: [Reminder] = []
    fileprivate(set) var endpoints: [Endpoint] = []

    init(shelf: UInt32) { self.shelf = shelf }

    func key(_ tracker: TrackerID) -> TrackerKey { TrackerKey(owner: shelf, id: tracker) }
  }

  /// Puts pieces onto the plan's shelf, in the order in which a backup has them.
  func stage(_ pieces: [BackupPiece], _ plan: inout Plan) throws {
    var day: (tracker: TrackerID, total: DayTotal)?
    func keepDay() throws {
      if let day { try transaction.setDayTotal(day.total, on: day.total.day, of: plan.key(day.tracker)) }
      day = nil
    }
    for piece in pieces {
      switch piece {
      case .tracker(let tracker):
        let staged = tracker.owned(by: plan.shelf)
        plan.trackers[tracker.id] = staged
        try transaction.put(staged)
      case .item(var item):
        item.owner = plan.shelf
        try transaction.put(item)
      case .milestone(var milestone):
        (milestone.owner, milestone.id) = (plan.shelf, 0)
        try transaction.put(milestone)
      case .entry(let line):
        plan.entries += 1
        let entry = try transaction.insert(line.entry(of: plan.shelf))
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
        try transaction.setDayTotal(ProgressAggregator(tracker).evaluator(total), on: judged.day, of: key)
      case .progress(let progress): try transaction.setProgress(progress, owner: plan.shelf)
      case .experience(let experience):
        try transaction.setExperience(experience.points, of: experience.pack, owner: plan.shelf)
      case .pack(let pack): plan.packs.append(pack)
      case .reminder(let reminder): plan.reminders.append(reminder)
      case .endpoint(let endpoint): plan.endpoints.append(endpoint)
      // Their bytes are in folders beside the store.
      case .photo, .secrets, .configuration: continue
      // What has come is put into the history afterwards, by `remember`.
      case .occurrence, .ping: continue
      }
    }
    try keepDay()
  }

  /// Adds up the days of some trackers, once all entries are on the shelf.
  func sumUp(_ trackers: [TrackerID], _ plan: Plan) throws {
    for id in trackers {
      guard let tracker = plan.trackers[id] else { continue }
      let totals = try transaction.dayTotals(of: plan.key(id), in: .earliest ... .latest)
      try transaction.setSummary(ProgressAggregator(tracker).summary(of: totals), of: plan.key(id))
    }
  }

  /// Has what is on the shelf take the place of what there is, and the backup's reminders that of the owner's.
  ///
  /// - Parameters:
  ///   - detail: what else is exchanged by the same change.
  /// - Returns: with the change's id in the outcome; and by which name each of the backup's reminders is known here.
  func finish(
    _ plan: Plan, as kind: TrackingChange.Kind = .restored, _ detail: ChangeDetail = ChangeDetail(),
    using generator: inout some RandomNumberGenerator
  ) throws -> (TrackingOutcome, [PostCommitEffect], names: [ReminderID: ReminderID]) {
    try transaction.lockTrackers()
    var detail = detail
    // Those that the backup does not have stay: they cost nothing, and their secrets are here alone.
    for endpoint in plan.endpoints.map({ $0.owned(by: owner) }) {
      let known = try transaction.endpoint(endpoint.queue)
      guard known?.unowned != endpoint.unowned else { continue }
      try transaction.put(endpoint)
      detail.endpoints.append(.init(before: known, after: endpoint))
    }
    guard try transaction.endpoints(owner: owner).count <= RequestHandler.maxEndpoints else {
      throw ControlFailure.limitExceeded(
        "endpoints: at most \(RequestHandler.maxEndpoints), including those that exist here")
    }
    detail.all = try BackupRecords.reminders(owner, transaction).map(\.unowned)
    let old = try transaction.trackers(owner: owner)
    // Whoever has seen a tracker is to see that it is another one now.
    for known in old {
      guard var staged = plan.trackers[known.id] else { continue }
      staged.generation = known.generation + 1
      try transaction.put(staged)
    }
    let change = try transaction.exchange(
      TrackingChange(owner: owner, at: work.now, kind: kind, subject: kind == .restored ? String(plan.entries) : ""),
      with: plan.shelf)
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

  /// Completes taking back a restore, after `TrackingOperations.undo` has.
  ///
  /// - Parameter before: the reminders as they were.
  func complete(
    _ before: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> [PostCommitEffect] {
    let (_, effects) = try replaceReminders(by: before, &outcome, using: &generator)
    try work.relink(Set(try transaction.trackers(owner: owner).map(\.id)), &outcome, using: &generator)
    return effects
  }

  // MARK: History

  /// Puts times that have come into the history, where they are not there yet. What is known here stays as it is.
  ///
  /// - Parameter names: by which name each reminder of the backup is known here.
  /// - Returns: how many could not be put there, because their reminder is gone and its name is somebody else's now.
  func remember(_ occurrences: [Occurrence], _ names: [ReminderID: ReminderID]) throws -> Int {
    var refused = 0
    for (known, times) in Dictionary(grouping: occurrences, by: \.id.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      let found = try transaction.readableReminder(id)?.reminder
      let isGone = found == nil
      guard try isGone ? isFree(id) : found?.owner == owner else {
        refused += times.count
        continue
      }
      var reminder = try found ?? past(id, titled: times.last?.title ?? "")
      if isGone { try transaction.upsert(reminder, next: nil) }
      // What came then ends no repeat of now.
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
      let told = own.filter(\.isOpen).compactMap(\.firedAt).min()
      if reminder.isExpectation, let told { try transaction.setDown(id, since: told) }
      if isGone { try transaction.remove(id, now: work.now) }
    }
    return refused
  }

  /// Keeps pings that are newer than those that are here: of a backup that is restored again none is.
  ///
  /// - Parameter pings: the oldest of each expectation first.
  func remember(_ pings: [BackupFormat.PingLine], _ names: [ReminderID: ReminderID]) throws {
    for (known, lines) in Dictionary(grouping: pings, by: \.reminder).sorted(by: { $0.key < $1.key }) {
      let id = names[known] ?? known
      guard try transaction.readableReminder(id)?.reminder.owner == owner else { continue }
      let newest = try transaction.lastPing(of: id, among: .all)?.at ?? .earliest
      for line in lines where line.ping.at > newest { try transaction.add(line.ping.pinged(by: owner), to: id) }
    }
  }

  /// What the history of a removed reminder is written under, for as long as that takes.
  private func past(_ id: ReminderID, titled title: String) throws -> Reminder {
    let schedule = try Schedule(canonical: "daily at 0:00")
    return Reminder(id: id, owner: owner, title: title, schedule: schedule, createdAt: work.now, generation: 1)
  }

  // MARK: Reminders

  /// Has the owner's reminders be these: what is the same stays, the others go and come.
  ///
  /// - Returns: by which name each is known here, as somebody else may have its own.
  private func replaceReminders(
    by wanted: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> ([ReminderID: ReminderID], [PostCommitEffect]) {
    var effects: [PostCommitEffect] = []
    let names = Set(wanted.map(\.id))
    for reminder in try BackupRecords.reminders(owner, transaction) where !names.contains(reminder.id) {
      let open = try transaction.occurrences(
        OccurrenceFilter(reminder: reminder.id, openOnly: true), page: Page(limit: 100))
      outcome.closed += open.compactMap { try? $0.answered(.dismiss, at: work.now) }
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

  /// Has those that count from a reminder that goes by another name here, or wait for one, know it by that.
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

  /// - Returns: the reminder as it is here, and what was done for that; nil when it was so already.
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
    if try isFree(reminder.id) {
      // It goes on under its name, with what is left of its history.
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

  /// Whether a name is nobody's, nor was somebody else's of whom there is history.
  private func isFree(_ id: ReminderID) throws -> Bool {
    guard try transaction.readableReminder(id) == nil, transaction.unreadable.isEmpty else { return false }
    let history = try transaction.occurrences(OccurrenceFilter(reminder: id), page: Page(limit: 1))
    return history.allSatisfy { $0.owner == owner }
  }
}

extension Tracker {
  func owned(by owner: UInt32) -> Tracker {
    var tracker = self
    tracker.owner = owner
    return tracker
  }
}

extension BackupFormat.EntryLine {
  /// Under no number yet.
  func entry(of owner: UInt32) throws -> Entry {
    Entry(
      id: EntryID(rawValue: 0), tracker: tracker, owner: owner, at: try RFC3339.parse(at), day: day, minute: minute,
      quantity: quantity, fields: fields ?? [:], item: item, note: note, photo: photo)
  }
}
