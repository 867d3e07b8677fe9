public import ChimeSchedule
import ChimeTracking

/// An AnswerTransaction records one answer to an occurrence, with everything that follows from it.
public struct AnswerTransaction: Sendable {
  /// The answered occurrence; unchanged if it had that answer already.
  public var occurrence: Occurrence
  /// The effects of *Done* on the reminder's tracker; nil if nothing was logged.
  public var tracking: TrackingOutcome?
  /// Reminders that got a time, because they count from this one.
  public var chained: [Chains.Step] = []

  /// Records an answer to an occurrence.
  ///
  /// In the same transaction, and so exactly once, *Done* logs an entry to the reminder's tracker, sets the reminder's
  /// next time if that counts from when it was last done, and sets the times of reminders that count from it.
  ///
  /// - Parameters:
  ///   - reminder: the reminder as it stands in `transaction`; nil if it was removed.
  ///   - way: where the answer came from, as in `Occurrence.answeredBy`.
  ///   - person: who answered, as in `DeliveryEvent.by`, if `way` is nil.
  /// - Throws: `AnswerRefused`, or errors of the transaction.
  public static func run(
    _ answer: Occurrence.Answer, to occurrence: Occurrence, reminder: Reminder?, by way: String? = nil,
    or person: String = "cli", in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> AnswerTransaction {
    var answered = try occurrence.answered(answer, at: now)
    guard answered != occurrence else { return AnswerTransaction(occurrence: answered) }
    answered.answeredBy = way
    var work = AnswerTransaction(occurrence: answered)
    if case .snoozed = answered.state, reminder == nil { throw AnswerRefused.removed }
    if answer == .done, let reminder { try checkItem(reminder, in: transaction, context, now: now) }
    try Announcing.change(
      occurrence, to: answered, of: reminder, by: way ?? person, in: transaction, context,
      now: now, using: &generator)
    try transaction.update(answered, now: now)
    guard answered.state == .done, var reminder else { return work }
    // An expectation is also up again once its user has marked the last open alert as done.
    if reminder.isExpectation, occurrence.firedAt != nil, try transaction.readableReminder(reminder.id)?.open == 0 {
      try transaction.setDown(reminder.id, since: nil)
    }
    let end = Chains.End(of: reminder.id, owner: reminder.owner, .done, at: now)
    work.chained = try Chains.follow([end], in: transaction, now: now)
    if let tracking = try log(
      answer, reminder, by: way ?? person, in: transaction, context, now: now, using: &generator)
    {
      // Logging has also set the reminder's next time, where entries do that.
      work.tracking = tracking
    } else if reminder.countsFromDone {
      // The next time counts from now and replaces the one that was to come.
      reminder.lastDone = now
      reminder.generation += 1
      try transaction.upsert(
        reminder, next: try reminder.next(after: now, in: transaction, context), since: now)
    }
    return work
  }

  /// Refuses *Done* without an item if the tracker needs one: it would close the occurrence and log nothing. Allowed if
  /// the day has an entry already, or if there is no item to name.
  private static func checkItem(
    _ reminder: Reminder, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws {
    guard let link = reminder.tracker, link.logsWhenDone,
      let tracker = try transaction.tracker(TrackerKey(owner: reminder.owner, id: link.tracker)), tracker.hasItems
    else { return }
    let day = tracker.day(at: now, in: context.zones.local).day
    guard try transaction.dayTotal(of: tracker.key, on: day) == nil else { return }
    let items = try transaction.likelyItems(of: tracker.key, on: day, limit: 5)
    if !items.isEmpty { throw AnswerRefused.needsItem(tracker.id, items.map(\.id)) }
  }

  /// Logs the entry that *Done* stands for; returns nil if the tracker needs more than the answer says: a measured
  /// value, an amount where none is usual, or an item.
  private static func log(
    _ answer: Occurrence.Answer, _ reminder: Reminder, by way: String, in transaction: any StoreTransaction,
    _ context: ReminderContext, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome? {
    var logs = false
    if case .amount = answer { logs = true }
    guard let link = reminder.tracker, logs || link.logsWhenDone,
      let tracker = try transaction.tracker(TrackerKey(owner: reminder.owner, id: link.tracker))
    else { return nil }
    var draft = EntryDraft(tracker: tracker.id)
    if case .amount(let quantity) = answer {
      draft.quantity = quantity
    } else if case .item(let item) = answer {
      draft.item = ItemID(rawValue: item)
    } else if let portion = tracker.portion(of: link) {
      draft.quantity = portion.quantity
    } else {
      return nil
    }
    return try TrackingOperations(in: transaction, owner: reminder.owner, context, by: way, now: now).log(
      draft, using: &generator)
  }
}

extension StoreTransaction {
  /// Returns the items owned on a day, most used first.
  func likelyItems(of key: TrackerKey, on day: CivilDate, limit: Int) throws -> [Item] {
    let owned = try items(of: key).filter { item in
      item.since.map { $0 <= day } ?? true && item.until.map { $0 > day } ?? true
    }
    let counts = Dictionary(try itemCounts(of: key, in: nil).map { ($0.item, $0.count) }) { first, _ in first }
    return Array(
      owned.sorted {
        (counts[$1.id] ?? 0, $0.title, $0.id.rawValue) < (counts[$0.id] ?? 0, $1.title, $1.id.rawValue)
      }.prefix(limit))
  }
}
