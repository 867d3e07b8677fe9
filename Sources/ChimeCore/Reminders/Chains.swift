public import ChimeSchedule

/// Chains sets the times of reminders that count from another one when a time of that one ends, in the same transaction.
///
///     let steps = try Chains.follow([.init(of: id, owner: 1_000, .done, at: now)], in: transaction, now: now)
public enum Chains {
  /// A Step is one reminder that got a time.
  public struct Step: Hashable, Sendable {
    public var before: Reminder
    public var after: Reminder
    /// Its next time before the step.
    public var formerNext: Instant?
    /// Its next time after the step.
    public var next: Instant?
  }

  /// The most times that may wait in one reminder; further ones are recorded as missed (`MissReason.overCap`).
  public static let mostWaiting = 1_000
  /// The most reminders that are evaluated as followers of one.
  public static let mostFollowers = 1_000

  /// Returns whether any reminder counts from another or waits for one; otherwise no follower needs to be looked up.
  static func isInUse(_ transaction: any StoreTransaction) throws -> Bool {
    try [.chained(owner: nil), .conditional].contains {
      try !transaction.reminderIDs($0, after: nil, limit: 1).isEmpty
    }
  }

  /// An End is the end of one time of a reminder, from which others may count.
  public struct End: Hashable, Sendable {
    public var reminder: ReminderID
    public var owner: UInt32
    public var event: Chain.Event
    public var at: Instant

    public init(of reminder: ReminderID, owner: UInt32, _ event: Chain.Event, at instant: Instant) {
      (self.reminder, self.owner, self.event, at) = (reminder, owner, event, instant)
    }

    /// - Returns: nil if the occurrence has not ended in a way that reminders count from.
    public init?(_ occurrence: Occurrence, now: Instant) {
      guard let event = occurrence.chainEvent else { return nil }
      self.init(of: occurrence.id.reminder, owner: occurrence.owner, event, at: occurrence.endedAt ?? now)
    }
  }

  /// Records firings and what follows from them: expectations that alerted are marked as down, and reminders that count
  /// from the times that ended get theirs.
  @discardableResult
  static func record(_ firings: [FiringResult], in transaction: any StoreTransaction, now: Instant) throws -> [Step] {
    let ends = try ends(by: firings, in: transaction, now: now)
    try transaction.record(firings)
    try transaction.noteDown(by: firings)
    return try follow(ends, in: transaction, now: now)
  }

  /// Returns what these firings end, without what had ended that way before. Call this before the firings are recorded.
  private static func ends(by firings: [FiringResult], in transaction: any StoreTransaction, now: Instant) throws
    -> [End]
  {
    let ended = firings.flatMap { firing in
      firing.occurrences.compactMap { occurrence -> (id: OccurrenceID, isExpected: Bool, end: End)? in
        let isExpected = firing.due.reminder.isExpectation
        var end = End(occurrence, now: now)
        // An expectation is missed when it alerts, and not a second time when that alert is deferred.
        if isExpected, occurrence.state == .fired, occurrence.rounds == 1 {
          end = End(of: occurrence.id.reminder, owner: occurrence.owner, .missed, at: occurrence.firedAt ?? now)
        }
        return end.map { (occurrence.id, isExpected, $0) }
      }
    }
    guard !ended.isEmpty, try isInUse(transaction) else { return [] }
    return try ended.compactMap { id, isExpected, end in
      let known = try transaction.occurrence(id)
      let hasNotified = isExpected && end.event == .missed && known?.firedAt != nil
      return hasNotified || known?.chainEvent == end.event ? nil : end
    }
  }

  /// Sets the times of the reminders that count from some others.
  ///
  /// - Parameter ends: times that this transaction has just ended. Equal ones, such as several times of a reminder that
  ///   were missed together, are followed once.
  @discardableResult
  public static func follow(_ ends: [End], in transaction: any StoreTransaction, now: Instant) throws -> [Step] {
    var seen: Set<End> = []
    return try ends.filter { seen.insert($0).inserted }.flatMap { end -> [Step] in
      guard try hasFollowers(end, in: transaction) else { return [] }
      // Another daemon may be about to set a time of the same reminder.
      try transaction.lockTrackers()
      return try followers(of: end.reminder, of: end.owner, end.event, in: transaction).compactMap { record in
        let isDone = end.event == .done
        let released = isDone ? try release(record, by: end.reminder, in: transaction, now: now) : record
        return try give(released, after: end, in: transaction, now: now)
      }
    }
  }

  private static func hasFollowers(_ end: End, in transaction: any StoreTransaction) throws -> Bool {
    let (id, owner) = (end.reminder, end.owner)
    return try !transaction.reminderIDs(.following(id, owner: owner), after: nil, limit: 1).isEmpty
      || end.event == .done && !transaction.reminderIDs(.needing(id, owner: owner), after: nil, limit: 1).isEmpty
  }

  /// Returns the reminders that count from `event` of a reminder, and those that wait until it is done. Unreadable ones
  /// are left out.
  public static func followers(
    of id: ReminderID, of owner: UInt32, _ event: Chain.Event, in transaction: any StoreTransaction
  ) throws -> [ReminderRecord] {
    let followers = try transaction.reminderIDs(.following(id, owner: owner), after: nil, limit: mostFollowers)
    let needing =
      event == .done
      ? try transaction.reminderIDs(.needing(id, owner: owner), after: nil, limit: mostFollowers) : []
    return try (followers + needing.filter { !followers.contains($0) }).compactMap {
      guard let record = try transaction.readableReminder($0) else { return nil }
      let waits = event == .done && record.reminder.onlyIfDone == id
      return waits || record.reminder.counts(from: event, of: id) ? record : nil
    }
  }

  /// Makes a time due that waits until a reminder is done.
  ///
  /// - Returns: the record afterwards.
  private static func release(
    _ record: ReminderRecord, by id: ReminderID, in transaction: any StoreTransaction, now: Instant
  ) throws -> ReminderRecord {
    guard let next = record.next, let released = record.reminder.released(next: next, by: id, now: now) else {
      return record
    }
    try transaction.upsert(released, next: next, nextDueAt: now, since: now)
    var record = record
    (record.reminder, record.nextDueAt) = (released, now)
    return record
  }

  private static func give(
    _ record: ReminderRecord, after end: End, in transaction: any StoreTransaction, now: Instant
  ) throws -> Step? {
    let reminder = record.reminder
    guard reminder.counts(from: end.event, of: end.reminder), var time = reminder.schedule.chain?.time(after: end.at)
    else { return nil }
    while try transaction.occurrence(OccurrenceID(reminder: reminder.id, scheduledAt: time)) != nil {
      time = time + .seconds(1)
    }
    guard let chained = reminder.chained(at: time, next: record.next) else {
      try pass(over: time, of: reminder, in: transaction, now: now)
      return nil
    }
    guard chained.reminder != reminder else { return nil }
    let isSame = chained.next == record.next
    try transaction.upsert(
      chained.reminder, next: chained.next, nextDueAt: isSame ? record.nextDueAt : nil, since: now)
    return Step(before: reminder, after: chained.reminder, formerNext: record.next, next: chained.next)
  }

  private static func pass(
    over time: Instant, of reminder: Reminder, in transaction: any StoreTransaction, now: Instant
  ) throws {
    let missed = Occurrence(
      id: OccurrenceID(reminder: reminder.id, scheduledAt: time), title: reminder.title, owner: reminder.owner,
      state: .missed(.overCap), endedAt: now)
    let due = DueReminder(reminder: reminder, scheduledAt: time, dueAt: time, isRegular: false)
    try transaction.record([
      FiringResult(
        due: due, occurrences: [missed], deliveries: [], next: nil, advances: false, skipNext: reminder.skipNext)
    ])
  }

  /// Returns the titles along a cycle from a reminder back to itself, through the reminders that each depends on. The
  /// first and the last title are its own.
  ///
  /// - Parameter targets: the reminders that it is to count from or wait for.
  /// - Returns: nil if there is no cycle.
  public static func cycle(
    of reminder: Reminder, through targets: [ReminderID], in transaction: any StoreTransaction
  ) throws -> [String]? {
    var ways = targets.map { (id: $0, path: [reminder.title]) }
    var seen: Set<ReminderID> = []
    while let (id, path) = ways.popLast() {
      if id == reminder.id { return path + [reminder.title] }
      guard seen.insert(id).inserted, let other = try transaction.readableReminder(id)?.reminder else { continue }
      ways += other.dependsOn.map { ($0, path + [other.title]) }
    }
    return nil
  }
}

extension Reminder {
  /// The reminder that its schedule counts from, if any.
  public var follows: ReminderID? { schedule.chain.map { ReminderID(rawValue: $0.reminder) } }

  /// Returns whether its times count from this event of a reminder.
  func counts(from event: Chain.Event, of id: ReminderID) -> Bool { follows == id && schedule.chain?.event == event }

  /// The reminders that it counts from or waits for.
  public var dependsOn: [ReminderID] { [follows, onlyIfDone].compactMap { $0 } }

  /// Returns the reminder for a new decision if its due time waited for `other`, which was just done; otherwise nil.
  ///
  /// - Parameter next: its next time.
  func released(next: Instant, by other: ReminderID, now: Instant) -> Reminder? {
    guard onlyIfDone == other, next + jitterOffset <= now else { return nil }
    var reminder = self
    // The new generation makes a decision in flight stale, which did not know about the answer.
    reminder.generation += 1
    return reminder
  }

  /// Returns the reminder with one more chained time.
  ///
  /// - Parameter next: its next time; earlier times have been decided.
  /// - Returns: the reminder and its new next time, unchanged if it has that time already; nil if too many times wait.
  func chained(at time: Instant, next: Instant?) -> (reminder: Reminder, next: Instant?)? {
    let waiting = next.map { next in (chainedTimes ?? []).filter { $0 >= next } } ?? []
    if waiting.contains(time) { return (self, next) }
    guard waiting.count < Chains.mostWaiting else { return nil }
    var reminder = self
    reminder.chainedTimes = (waiting + [time]).sorted()
    reminder.generation += 1
    return (reminder, next.map { min($0, time) } ?? time)
  }
}

extension Occurrence {
  /// The event that others may count from; nil if the occurrence has not ended, or was paused, skipped or dismissed.
  public var chainEvent: Chain.Event? {
    switch state {
    case .done, .missed(.doneAlready): .done
    case .missed(.suspend), .missed(.downtime), .missed(.overCap), .missed(.quiet), .missed(.notDone): .missed
    case .missed(.paused), .missed(.skipped), .fired, .delivered, .snoozed, .awaited, .dismissed: nil
    }
  }
}
