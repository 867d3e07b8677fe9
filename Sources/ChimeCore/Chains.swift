public import ChimeSchedule

/// What follows when a time of a reminder has ended: the reminders that count from it are given a time, in the same
/// transaction.
///
///     let steps = try Chains.follow([done], in: transaction, now: now)
public enum Chains {
  /// A reminder that was given a time.
  public struct Step: Hashable, Sendable {
    public var before: Reminder
    public var after: Reminder
    /// Its next time as it was before.
    public var formerNext: Instant?
    /// Its next time since.
    public var next: Instant?
  }

  /// How many times wait for one reminder; further ones are recorded as missed (`MissReason.overCap`).
  public static let mostWaiting = 1_000
  /// How many reminders count from one.
  public static let mostFollowers = 1_000

  /// Whether any reminder counts from another, or waits for one: where none does, nothing needs to be asked of each that ends.
  static func isInUse(_ transaction: any StoreTransaction) throws -> Bool {
    try [.chained(owner: nil), .conditional].contains {
      try !transaction.reminderIDs($0, after: nil, limit: 1).isEmpty
    }
  }

  /// The occurrences that some firings end. Asked before the firings are recorded: what had ended so before is not in it.
  static func ended(by firings: [Firing], in transaction: any StoreTransaction) throws -> [Occurrence] {
    let ended = firings.flatMap { firing in
      // A time of an expectation is missed when it tells that no good ping came.
      firing.occurrences.filter {
        $0.chainEvent != nil || firing.due.reminder.isExpectation && $0.state == .fired && $0.rounds == 1
      }
    }
    guard !ended.isEmpty, try isInUse(transaction) else { return [] }
    return try ended.filter { occurrence in
      let known = try transaction.occurrence(occurrence.id)
      return occurrence.state == .fired
        ? known?.firedAt == nil : known?.chainEvent != occurrence.chainEvent
    }
  }

  /// Gives the reminders that count from some occurrences their times.
  ///
  /// - Parameter ended: have just been recorded as ended, and were not before: each is followed once. Several of a reminder
  ///   that were missed together are followed once. One that has fired is of an expectation, and missed.
  @discardableResult
  public static func follow(
    _ ended: [Occurrence], in transaction: any StoreTransaction, now: Instant
  ) throws -> [Step] {
    var seen: Set<End> = []
    let ends = ended.compactMap { occurrence in
      (occurrence.chainEvent ?? (occurrence.state == .fired ? .missed : nil)).map {
        End(reminder: occurrence.id.reminder, owner: occurrence.owner, event: $0, at: occurrence.endedAt ?? now)
      }
    }.filter { seen.insert($0).inserted }
    return try ends.flatMap { end in
      try follow(end.reminder, of: end.owner, end.event, at: end.at, in: transaction, now: now)
    }
  }

  private struct End: Hashable {
    var reminder: ReminderID
    var owner: UInt32
    var event: Chain.Event
    var at: Instant
  }

  /// Gives the reminders a time that count from `event` of a reminder.
  ///
  /// - Parameter time: when it came to that.
  public static func follow(
    _ id: ReminderID, of owner: UInt32, _ event: Chain.Event, at time: Instant, in transaction: any StoreTransaction,
    now: Instant
  ) throws -> [Step] {
    guard try hasFollowers(id, owner, event, in: transaction) else { return [] }
    // Another daemon may be about to give one of them another time.
    try transaction.lockTrackers()
    return try followers(of: id, of: owner, event, in: transaction).compactMap { record in
      try give(
        try release(record, by: id, in: transaction, now: now), to: id, at: time, in: transaction, now: now)
    }
  }

  private static func hasFollowers(
    _ id: ReminderID, _ owner: UInt32, _ event: Chain.Event, in transaction: any StoreTransaction
  ) throws -> Bool {
    try !transaction.reminderIDs(.following(id, owner: owner), after: nil, limit: 1).isEmpty
      || event == .done && !transaction.reminderIDs(.needing(id, owner: owner), after: nil, limit: 1).isEmpty
  }

  /// The reminders that count from `event` of a reminder, and those of which a time waits until it is done. Those that cannot
  /// be read are passed over.
  public static func followers(
    of id: ReminderID, of owner: UInt32, _ event: Chain.Event, in transaction: any StoreTransaction
  ) throws -> [ReminderRecord] {
    let followers = try transaction.reminderIDs(.following(id, owner: owner), after: nil, limit: mostFollowers)
    let needing =
      event == .done
      ? try transaction.reminderIDs(.needing(id, owner: owner), after: nil, limit: mostFollowers) : []
    return try (followers + needing.filter { !followers.contains($0) }).compactMap {
      guard let record = try transaction.readableReminder($0) else { return nil }
      let counts = record.reminder.follows == id && record.reminder.schedule.chain?.event == event
      return counts || record.reminder.onlyIfDone == id ? record : nil
    }
  }

  /// Lets a time come that waits until a reminder is done.
  ///
  /// - Returns: the record as it is then.
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
    _ record: ReminderRecord, to id: ReminderID, at end: Instant, in transaction: any StoreTransaction, now: Instant
  ) throws -> Step? {
    let reminder = record.reminder
    guard reminder.follows == id, var time = reminder.schedule.chain?.time(after: end) else { return nil }
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
      Firing(
        due: due, occurrences: [missed], deliveries: [], next: nil, advances: false, skipNext: reminder.skipNext)
    ])
  }

  /// The way from a reminder back to itself, by the reminders that each counts from or waits for: what they are called, with
  /// the one itself at both ends.
  ///
  /// - Parameter targets: those that it is to count from, or to wait for.
  /// - Returns: nil when there is none.
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
  /// The reminder that its schedule counts from; nil: none.
  public var follows: ReminderID? { schedule.chain.map { ReminderID(rawValue: $0.reminder) } }

  /// The reminders that it counts from, or waits for.
  public var dependsOn: [ReminderID] { [follows, onlyIfDone].compactMap { $0 } }

  /// The reminder as it is decided upon anew, because a time of it waits until another is done and that is; nil when none
  /// does.
  ///
  /// - Parameter next: its next time.
  func released(next: Instant, by other: ReminderID, now: Instant) -> Reminder? {
    guard onlyIfDone == other, next + jitterOffset <= now else { return nil }
    var reminder = self
    // A decision that is under way knows of nothing.
    reminder.generation += 1
    return reminder
  }

  /// The reminder with one more chained time.
  ///
  /// - Parameter next: its next time; times before it have been decided.
  /// - Returns: with its next time then; unchanged where it has that time already; nil when too many wait.
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
  /// What has become of it, as a reminder may count from it; nil: nothing that one does.
  ///
  /// What was passed over because somebody wanted it so is not missed.
  public var chainEvent: Chain.Event? {
    switch state {
    case .done, .missed(.doneAlready): .done
    case .missed(.suspend), .missed(.downtime), .missed(.overCap), .missed(.quiet), .missed(.notDone): .missed
    case .missed(.paused), .missed(.skipped), .fired, .delivered, .snoozed, .awaited, .dismissed: nil
    }
  }
}
