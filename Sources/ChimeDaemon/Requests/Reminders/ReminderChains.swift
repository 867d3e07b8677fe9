import ChimeCore
import ChimeSchedule

/// ReminderChains checks reminders that depend on others, in the transaction that reads the others.
///
/// A reminder depends on another if it counts from it, or comes only when it is done.
struct ReminderChains: ReminderPart {
  let requestContext: RequestContext

  /// Replaces names of other reminders by their ids.
  ///
  /// - Parameter wanted: the reminder that must be done first; empty: none; nil: as it is.
  func resolve(
    _ reminder: inout Reminder, waitingFor wanted: String? = nil, in transaction: any StoreTransaction
  ) throws {
    let lookup = reminders(of: reminder.owner, in: transaction)
    if let chain = reminder.schedule.chain {
      reminder.schedule = Schedule(chain.following(try lookup.reminder(chain.reminder).reminder.id.rawValue))
      try requireRoomForChains(of: reminder, in: transaction)
    }
    if let wanted { reminder.onlyIfDone = wanted.isEmpty ? nil : try lookup.reminder(wanted).reminder.id }
    try requireNoCycle(reminder, in: transaction)
  }

  /// Throws if the reminder depends on itself by way of others.
  func requireNoCycle(_ reminder: Reminder, in transaction: any StoreTransaction) throws {
    let others = reminder.dependsOn
    guard !others.isEmpty, !reminder.id.rawValue.isEmpty,
      let path = try Chains.cycle(of: reminder, through: others, in: transaction)
    else { return }
    throw ControlFailure.invalidValue(
      field: reminder.schedule.chain == nil ? "onlyIfDone" : "when",
      "a chain must not lead back to itself: \(path.map { TrackerFields.shown($0) }.joined(separator: " → "))")
  }

  /// Returns a reminder that was just written, with what the store knows of the one that it counts from.
  func asKept(_ record: ReminderRecord, in transaction: any StoreTransaction) throws -> ReminderRecord {
    try record.reminder.follows == nil ? record : transaction.reminder(record.reminder.id) ?? record
  }

  /// Chained reminders have no time to come, so they are counted apart against the tenant's limit.
  private func requireRoomForChains(of reminder: Reminder, in transaction: any StoreTransaction) throws {
    guard let limit = caller.tenant?.reminders else { return }
    let known = try transaction.reminderIDs(.chained(owner: reminder.owner), after: nil, limit: limit + 1)
    try caller.requireRoom(for: known.count + (known.contains(reminder.id) ? 0 : 1))
  }

  /// Throws if reminders are left that depend on removed ones and could never come.
  ///
  /// - Parameter removed: removed reminders that were still alive.
  func requireUnfollowed(_ removed: [Reminder], in transaction: any StoreTransaction) throws {
    for reminder in removed {
      let followers = try transaction.reminderIDs(
        .following(reminder.id, owner: reminder.owner), after: nil, limit: 100)
      let needing = try transaction.reminderIDs(.needing(reminder.id, owner: reminder.owner), after: nil, limit: 100)
      // A reminder without a time to come needs none any more.
      let left = try (followers + needing.filter { !followers.contains($0) }).compactMap { id -> Reminder? in
        guard let record = try transaction.readableReminder(id), followers.contains(id) || record.isAlive else {
          return nil
        }
        return record.reminder
      }
      guard let first = left.first else { continue }
      let others = left.count > 1 ? " and \(left.count - 1) more" : ""
      try need(
        followers.contains(first.id),
        conflict:
          "\"\(first.title)\" (\(first.id))\(others) waits until \"\(reminder.title)\" is done: remove that first, "
          + "or end its wait (chime edit \(first.id) --only-if-done \"\")")
      throw ControlFailure.conflict(
        "\"\(first.title)\" (\(first.id))\(others) counts from \"\(reminder.title)\": remove that first, or give it another "
          + "schedule (chime edit \(first.id) --when …)")
    }
  }

  /// Returns a warning if the reminder that a new one counts from has no time to come.
  func warnings(about reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    guard let id = reminder.follows, try transaction.reminder(reminder.id)?.awaitsOther == false,
      let other = try transaction.readableReminder(id)?.reminder
    else { return [] }
    return [
      "\"\(other.title)\" (\(other.id)) has no further time and will not follow, unless you give it a new schedule"
    ]
  }

  // MARK: Manifests

  /// The dependent reminders of one Apply.
  struct AppliedChains {
    /// The ids of the reminders that it has added, by title.
    var ids: [String: ReminderID] = [:]
    /// The removed reminders that were still alive.
    var removed: [Reminder] = []
    /// The written reminders that depend on others.
    var chained: [Reminder] = []
  }

  /// Throws if an Apply has left cycles, or reminders that depend on removed ones.
  func check(_ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    for reminder in chains.chained { try requireNoCycle(reminder, in: transaction) }
    try requireUnfollowed(chains.removed, in: transaction)
  }

  /// Replaces names of other reminders in a reminder of a manifest by their ids. Names are ids, or titles of reminders that the
  /// manifest has added.
  func resolve(_ reminder: inout Reminder, _ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    func known(_ name: String) throws -> ReminderID {
      let id = chains.ids[name] ?? ReminderID(rawValue: name)
      guard try transaction.readableReminder(id) != nil else {
        throw ControlFailure.notFound(what: "reminder", id: name, similar: [])
      }
      return id
    }
    if let chain = reminder.schedule.chain {
      reminder.schedule = Schedule(chain.following(try known(chain.reminder).rawValue))
    }
    if let other = reminder.onlyIfDone { reminder.onlyIfDone = try known(other.rawValue) }
  }
}
