import ChimeControl
import ChimeCore
import ChimeSchedule

// Reminders that count from what becomes of another: judged in the transaction that has the other one.
extension Desk {
  /// Has the schedule of a reminder name the one that it counts from by its id, whichever way the client did.
  func chain(_ reminder: inout Reminder, in transaction: any StoreTransaction) throws {
    guard let chain = reminder.schedule.chain else { return }
    let lookup = Lookup(transaction: transaction, owner: reminder.owner, filling: (bearings, now))
    try self.chain(&reminder, to: try lookup.reminder(chain.reminder).reminder.id, in: transaction)
    try requireRoomForChains(of: reminder, in: transaction)
  }

  /// Has a reminder count from the one of that id.
  func chain(_ reminder: inout Reminder, to other: ReminderID, in transaction: any StoreTransaction) throws {
    guard let chain = reminder.schedule.chain else { return }
    reminder.schedule = Schedule(chain.following(other.rawValue))
    guard !reminder.id.rawValue.isEmpty, let path = try Chains.cycle(of: reminder, through: other, in: transaction)
    else { return }
    throw Self.comesBack(path)
  }

  /// A reminder that was just written, with what the store knows of those that it counts from.
  func asKept(_ record: ReminderRecord, in transaction: any StoreTransaction) throws -> ReminderRecord {
    try record.reminder.follows == nil ? record : transaction.reminder(record.reminder.id) ?? record
  }

  static func comesBack(_ path: [String]) -> ControlFailure {
    .invalidValue(
      field: "when",
      "a chain must not come back to itself: \(path.map { TrackerFields.shown($0) }.joined(separator: " → "))")
  }

  /// What waits for another has no time to come, and is not counted with those that have one.
  private func requireRoomForChains(of reminder: Reminder, in transaction: any StoreTransaction) throws {
    guard let limit = caller.tenant?.reminders else { return }
    let known = try transaction.reminderIDs(.chained(owner: reminder.owner), after: nil, limit: limit + 1)
    try caller.requireRoom(for: known.count + (known.contains(reminder.id) ? 0 : 1))
  }

  /// Refuses to leave reminders behind that count from some that are removed, and could not come any more.
  ///
  /// - Parameter removed: are gone already; something could have become of each yet.
  func requireUnfollowed(_ removed: [Reminder], in transaction: any StoreTransaction) throws {
    for reminder in removed {
      let ids = try transaction.reminderIDs(.following(reminder.id, owner: reminder.owner), after: nil, limit: 100)
      let left = try ids.compactMap { try transaction.readableReminder($0)?.reminder }
      guard let first = left.first else { continue }
      let others = left.count > 1 ? " and \(left.count - 1) more" : ""
      throw ControlFailure.conflict(
        "\"\(first.title)\" (\(first.id))\(others) counts from \"\(reminder.title)\": remove that first, or give it another "
          + "schedule (chime edit \(first.id) --when …)")
    }
  }

  /// That what a new reminder counts from has no time to come any more.
  func chainWarnings(about reminder: Reminder, _ transaction: any StoreTransaction) throws -> [String] {
    guard let id = reminder.follows, try transaction.reminder(reminder.id)?.awaitsOther == false,
      let other = try transaction.readableReminder(id)?.reminder
    else { return [] }
    return ["\"\(other.title)\" (\(other.id)) has no further time: nothing more becomes of it, unless it is given one"]
  }

  /// What one Apply knows of the reminders that others of it count from.
  struct AppliedChains {
    /// Of those that it has added, by title.
    var ids: [String: ReminderID] = [:]
    /// Something could have become of each yet.
    var removed: [Reminder] = []
    /// Those that count from another now.
    var chained: [Reminder] = []
  }

  /// Refuses what has come of a set when reminders count from themselves, or from some that it has removed.
  func check(_ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    for reminder in chains.chained {
      guard let other = reminder.follows else { continue }
      if let path = try Chains.cycle(of: reminder, through: other, in: transaction) { throw Self.comesBack(path) }
    }
    try requireUnfollowed(chains.removed, in: transaction)
  }

  /// Has a reminder of a set count from the one that its schedule names: by its id, or by its title where that was added with
  /// the set.
  func chain(_ reminder: inout Reminder, _ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    guard let chain = reminder.schedule.chain else { return }
    let id = chains.ids[chain.reminder] ?? ReminderID(rawValue: chain.reminder)
    guard try transaction.readableReminder(id) != nil else {
      throw ControlFailure.notFound(what: "reminder", id: chain.reminder, near: [])
    }
    reminder.schedule = Schedule(chain.following(id.rawValue))
  }
}
