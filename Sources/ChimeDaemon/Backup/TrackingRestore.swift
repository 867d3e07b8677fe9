import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials

/// Puts what a backup has in the place of all that an owner has of trackers and reminders, as one change that can be taken
/// back.
///
/// The store keeps what trackers had; of the reminders, and of the goals that past days were judged by, a note of the change
/// tells (`Before`).
struct TrackingRestore {
  let work: TrackingWork
  private var transaction: any StoreTransaction { work.transaction }
  private var owner: UInt32 { work.owner }

  init(_ work: TrackingWork) { self.work = work }

  /// What `undo` cannot find in the store.
  private struct Before: Codable {
    var reminders: [Reminder]
    var judged: [BackupFormat.Judged]
  }

  private func note(_ change: Int64) -> String { "restored.\(owner).\(change)" }

  /// Lets the notes go of restores that cannot be taken back any more.
  private func keepAccount(of change: Int64) throws {
    let name = "restored.\(owner)"
    let earlier = try transaction.note(name).map { $0.split(separator: " ").compactMap { Int64($0) } } ?? []
    let kept = Set(
      try transaction.changes(owner: owner, since: work.now - TrackingChange.keptFor, limit: .max).map(\.id))
    for gone in earlier where !kept.contains(gone) { try transaction.setNote(note(gone), nil) }
    let left = earlier.filter(kept.contains) + [change]
    try transaction.setNote(name, left.map(String.init).joined(separator: " "))
  }

  func run(
    _ contents: BackupContents, using generator: inout some RandomNumberGenerator
  ) throws -> (TrackingOutcome, [LoopNotice]) {
    var outcome = TrackingOutcome()
    let old = try transaction.trackers(owner: owner)
    let before = Before(
      reminders: try BackupRecords.reminders(owner, transaction).map(\.unowned),
      judged: try old.flatMap { try BackupRecords.judged($0, transaction) })
    let change = try transaction.begin(
      TrackingChange(owner: owner, at: work.now, kind: .restored, subject: String(contents.entries.count)))
    outcome.change = change
    let encoded = try BackupFormat.encoder().encode(before)
    try transaction.setNote(note(change), String(decoding: encoded, as: UTF8.self))
    try keepAccount(of: change)
    try transaction.removeTracking(owner: owner)
    try put(contents, generations: Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0.generation) }))
    let (names, notices) = try replaceReminders(by: contents.reminders, &outcome, using: &generator)
    for installed in contents.packs {
      var installed = installed
      installed.owner = owner
      installed.reminders = installed.reminders.compactMapValues { names[$0] }
      installed.pack.trackers = installed.pack.trackers.map { $0.owned(by: 0) }
      try transaction.put(installed)
    }
    for progress in contents.progress { try transaction.setProgress(progress, owner: owner) }
    for experience in contents.experience {
      try transaction.setExperience(experience.points, of: experience.pack, owner: owner)
    }
    try work.renew(Set(old.map(\.id)).union(contents.trackers.map(\.id)), &outcome, using: &generator)
    return (outcome, notices)
  }

  private func put(_ contents: BackupContents, generations: [TrackerID: Int64]) throws {
    for tracker in contents.trackers {
      var tracker = tracker.owned(by: owner)
      tracker.generation = (generations[tracker.id] ?? -1) + 1
      try transaction.put(tracker)
    }
    for item in contents.items {
      var item = item
      item.owner = owner
      try transaction.put(item)
    }
    for milestone in contents.milestones {
      var milestone = milestone
      (milestone.owner, milestone.id) = (owner, 0)
      _ = try transaction.put(milestone)
    }
    for line in contents.entries { _ = try transaction.insert(try line.entry(of: owner)) }
    try judge(contents.judged)
  }

  /// Has days judged by the goals that they had.
  private func judge(_ judged: [BackupFormat.Judged]) throws {
    for day in judged {
      let key = TrackerKey(owner: owner, id: day.tracker)
      guard var tracker = try transaction.tracker(key) else { continue }
      tracker.goal = day.goal
      let total = Tallying(tracker).total(of: try transaction.entries(of: key, on: day.day))
      try transaction.setDayTotal(total, on: day.day, of: key)
    }
  }

  /// Completes taking back a restore, after `TrackingWork.undo` has.
  func complete(
    _ change: TrackingChange, _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> [LoopNotice] {
    guard change.kind == .restored, let text = try transaction.note(note(change.id)) else { return [] }
    let before = try JSONDecoder().decode(Before.self, from: Data(text.utf8))
    let (_, notices) = try replaceReminders(by: before.reminders, &outcome, using: &generator)
    try judge(before.judged)
    let trackers = Set(try transaction.trackers(owner: owner).map(\.id))
    try work.renew(trackers, &outcome, using: &generator)
    try transaction.setNote(note(change.id), nil)
    return notices
  }

  // MARK: Reminders

  /// Has the owner's reminders be these: what is the same stays, the others go and come.
  ///
  /// - Returns: by which name each is known here, as somebody else may have its own.
  private func replaceReminders(
    by wanted: [Reminder], _ outcome: inout TrackingOutcome, using generator: inout some RandomNumberGenerator
  ) throws -> ([ReminderID: ReminderID], [LoopNotice]) {
    var notices: [LoopNotice] = []
    let names = Set(wanted.map(\.id))
    for reminder in try BackupRecords.reminders(owner, transaction) where !names.contains(reminder.id) {
      let open = try transaction.occurrences(
        OccurrenceFilter(reminder: reminder.id, openOnly: true), page: Page(limit: 100))
      outcome.closed += open.compactMap { try? $0.answered(.dismiss, at: work.now) }
      try transaction.remove(reminder.id, now: work.now)
      notices.append(.reminder(.removed, reminder, "removed \"\(reminder.title)\""))
    }
    var known: [ReminderID: ReminderID] = [:]
    for reminder in wanted {
      let (kept, kind) = try put(reminder, using: &generator)
      known[reminder.id] = kept.id
      guard let kind else { continue }
      notices.append(.reminder(kind, kept, "\(kind == .added ? "added" : "changed") \"\(kept.title)\""))
    }
    return (known, notices)
  }

  /// - Returns: the reminder as it is here, and what was done for that; nil when it was so already.
  private func put(
    _ wanted: Reminder, using generator: inout some RandomNumberGenerator
  ) throws -> (Reminder, LoopNotice.Kind?) {
    var reminder = wanted
    reminder.owner = owner
    let next = try reminder.next(after: work.now, in: transaction, work.bearings)
    if let known = try transaction.readableReminder(reminder.id)?.reminder, known.owner == owner {
      guard known.unowned != wanted.unowned else { return (known, nil) }
      reminder.generation = known.generation + 1
      try transaction.upsert(reminder, next: next)
      return (reminder, .changed)
    }
    if try isFree(reminder.id) {
      // It goes on under its name, with what is left of its history.
      reminder.generation = 1
      try transaction.upsert(reminder, next: next)
      return (reminder, .added)
    }
    reminder.generation = 0
    for attempt in 0..<16 {
      do {
        try transaction.upsert(reminder, next: next)
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
