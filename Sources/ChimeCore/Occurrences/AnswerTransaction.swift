public import ChimeSchedule
public import ChimeTracking

/// What an answer changes in the store.
public struct AnswerTransaction: Sendable {
  /// The occurrence as it is then; unchanged when it had that answer already.
  public var occurrence: Occurrence
  /// What *Done* brought about in the reminder's tracker; nil when nothing was logged.
  public var tracking: TrackingOutcome?
  /// Reminders that were given a time, because they count from this one.
  public var chained: [Chains.Step] = []

  /// Records an answer to an occurrence. *Done* logs an entry of the reminder's tracker, in the same transaction and so once; a
  /// reminder whose times are counted from when it was last done gets its next, and those that count from it get theirs.
  ///
  /// - Parameters:
  ///   - reminder: as it stands in `transaction`; nil when it has been removed.
  ///   - way: by which it came, as `Occurrence.answeredBy` has it.
  ///   - person: who it was, as `DeliveryEvent.by` has it, where it came by none of these ways.
  /// - Throws: `AnswerRefused`, or what the transaction throws.
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
    // What was told is in order as well when its user says so of the last of it.
    if reminder.isExpectation, occurrence.firedAt != nil, try transaction.readableReminder(reminder.id)?.open == 0 {
      try transaction.setDown(reminder.id, since: nil)
    }
    let end = Chains.End(of: reminder.id, owner: reminder.owner, .done, at: now)
    work.chained = try Chains.follow([end], in: transaction, now: now)
    if let tracking = try log(
      answer, reminder, by: way ?? person, in: transaction, context, now: now, using: &generator)
    {
      // It has moved the reminder too, where entries do.
      work.tracking = tracking
    } else if reminder.countsFromDone {
      // The next time is counted from now, whatever was to come.
      reminder.lastDone = now
      reminder.generation += 1
      try transaction.upsert(
        reminder, next: try reminder.next(after: now, in: transaction, context), since: now)
    }
    return work
  }

  /// A collection's *Done* without an item would end the reminder and log nothing, unless an item of the day is known already,
  /// or there is none to name.
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

  /// Logs what the reminder's tracker has for *Done*; nil when that asks for more than an answer says: a value that was
  /// measured, an amount where none is usual, an item.
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
  /// The items that are owned on a day, those most often used first.
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

extension Tracker {
  /// What *Done* logs of it.
  public enum Portion: Hashable, Sendable {
    /// That it was done.
    case check
    case amount(Quantity)

    public var quantity: Quantity? { if case .amount(let quantity) = self { quantity } else { nil } }
  }

  /// Nil when an answer does not say enough.
  public func portion(of link: TrackerLink) -> Portion? {
    guard !hasItems else { return nil }
    switch kind {
    case .check: return .check
    case .amount: return (link.amount ?? usual).flatMap { $0 > .zero ? .amount($0) : nil }
    case .measure: return nil
    }
  }
}
