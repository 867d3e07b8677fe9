import ChimeControl
import ChimeCore
import ChimeSchedule

// Reminders that count from what becomes of another: judged in the transaction that has the other one.
extension RequestHandler {
  /// Has a reminder name those that it counts from, or waits for, by their ids, whichever way the client did.
  ///
  /// - Parameter wanted: the one that it is to wait for; nil: as it is.
  func chain(_ reminder: inout Reminder, waitingFor wanted: String? = nil, in transaction: any StoreTransaction) throws
  {
    let lookup = lookup(of: reminder.owner, in: transaction)
    if let chain = reminder.schedule.chain {
      reminder.schedule = Schedule(chain.following(try lookup.reminder(chain.reminder).reminder.id.rawValue))
      try requireRoomForChains(of: reminder, in: transaction)
    }
    if let wanted { reminder.onlyIfDone = wanted.isEmpty ? nil : try lookup.reminder(wanted).reminder.id }
    try requireNoCycle(reminder, in: transaction)
  }

  /// Finds the reminders of an owner, whoever asks.
  func lookup(of owner: UInt32, in transaction: any StoreTransaction) -> Lookup {
    Lookup(transaction: transaction, owner: owner, filling: (context, now))
  }

  /// Refuses a reminder that counts from itself, or waits for itself, by way of others.
  func requireNoCycle(_ reminder: Reminder, in transaction: any StoreTransaction) throws {
    let others = reminder.dependsOn
    guard !others.isEmpty, !reminder.id.rawValue.isEmpty,
      let path = try Chains.cycle(of: reminder, through: others, in: transaction)
    else { return }
    throw ControlFailure.invalidValue(
      field: reminder.schedule.chain == nil ? "onlyIfDone" : "when",
      "a chain must not lead back to itself: \(path.map { TrackerFields.shown($0) }.joined(separator: " → "))")
  }

  /// A reminder that was just written, with what the store knows of those that it counts from.
  func asKept(_ record: ReminderRecord, in transaction: any StoreTransaction) throws -> ReminderRecord {
    try record.reminder.follows == nil ? record : transaction.reminder(record.reminder.id) ?? record
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
      let followers = try transaction.reminderIDs(
        .following(reminder.id, owner: reminder.owner), after: nil, limit: 100)
      let needing = try transaction.reminderIDs(.needing(reminder.id, owner: reminder.owner), after: nil, limit: 100)
      // One that waits for it and has no time to come is over.
      let left = try (followers + needing.filter { !followers.contains($0) }).compactMap { id -> Reminder? in
        guard let record = try transaction.readableReminder(id), followers.contains(id) || record.isAlive else {
          return nil
        }
        return record.reminder
      }
      guard let first = left.first else { continue }
      let others = left.count > 1 ? " and \(left.count - 1) more" : ""
      guard followers.contains(first.id) else {
        throw ControlFailure.conflict(
          "\"\(first.title)\" (\(first.id))\(others) waits until \"\(reminder.title)\" is done: remove that first, "
            + "or end its wait (chime edit \(first.id) --only-if-done \"\")")
      }
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
    return [
      "\"\(other.title)\" (\(other.id)) has no further time and will not follow, unless you give it a new schedule"
    ]
  }

  /// What one Apply knows of the reminders that others of it count from.
  struct AppliedChains {
    /// Of those that it has added, by title.
    var ids: [String: ReminderID] = [:]
    /// Something could have become of each yet.
    var removed: [Reminder] = []
    /// Those that count from another now, or wait for one.
    var chained: [Reminder] = []
  }

  /// Refuses what has come of a set when reminders count from themselves, or from some that it has removed.
  func check(_ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    for reminder in chains.chained { try requireNoCycle(reminder, in: transaction) }
    try requireUnfollowed(chains.removed, in: transaction)
  }

  /// Has a reminder of a set count from, or wait for, the ones that it names: by their ids, or by their titles where they
  /// were added with the set.
  func chain(_ reminder: inout Reminder, _ chains: AppliedChains, in transaction: any StoreTransaction) throws {
    func known(_ name: String) throws -> ReminderID {
      let id = chains.ids[name] ?? ReminderID(rawValue: name)
      guard try transaction.readableReminder(id) != nil else {
        throw ControlFailure.notFound(what: "reminder", id: name, near: [])
      }
      return id
    }
    if let chain = reminder.schedule.chain {
      reminder.schedule = Schedule(chain.following(try known(chain.reminder).rawValue))
    }
    if let other = reminder.onlyIfDone { reminder.onlyIfDone = try known(other.rawValue) }
  }
}
