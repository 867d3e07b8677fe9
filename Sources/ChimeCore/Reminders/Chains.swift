public import ChimeSchedule

/// What follows when a time of a reminder has ended: the reminders that count from it are given a time, in the same
/// transaction.
///
///     let steps = try Chains.follow([.init(of: id, owner: 1_000, .done, at: now)], in: transaction, now: now)
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

  /// That a time of a reminder has ended, as others may count from it.
  public struct End: Hashable, Sendable {
    public var reminder: ReminderID
    public var owner: UInt32
    public var event: Chain.Event
    public var at: Instant

    public init(of reminder: ReminderID, owner: UInt32, _ event: Chain.Event, at instant: Instant) {
      (self.reminder, self.owner, self.event, at) = (reminder, owner, event, instant)
    }

    /// - Returns: nil when it has not come to anything that a reminder counts from.
    public init?(_ occurrence: Occurrence, now: Instant) {
      guard let event = occurrence.chainEvent else { return nil }
      self.init(of: occurrence.id.reminder, owner: occurrence.owner, event, at: occurrence.endedAt ?? now)
    }
  }

  /// Records firings with what follows from them: expectations that have told that no good ping came are down, and the
  /// reminders that count from what has ended are given their times.
  @discardableResult
  static func record(_ firings: [FiringResult], in transaction: any StoreTransaction, now: Instant) throws -> [Step] {
    let ends = try ends(by: firings, in: transaction, now: now)
    try transaction.record(firings)
    try transaction.noteDown(by: firings)
    return try follow(ends, in: transaction, now: now)
  }

  /// What some firings end. Asked before the firings are recorded: what had ended so before is not in it.
  private static func ends(by firings: [FiringResult], in transaction: any StoreTransaction, now: Instant) throws
    -> [End]
  {
    let ended = firings.flatMap { firing in
      firing.occurrences.compactMap { occurrence -> (id: OccurrenceID, isExpected: Bool, end: End)? in
        let isExpected = firing.due.reminder.isExpectation
        var end = End(occurrence, now: now)
        // A time of an expectation is missed when it tells that no good ping came, and not again when that is put off.
        if isExpected, occurrence.state == .fired, occurrence.rounds == 1 {
          end = End(of: occurrence.id.reminder, owner: occurrence.owner, .missed, at: occurrence.firedAt ?? now)
        }
        return end.map { (occurrence.id, isExpected, $0) }
      }
    }
    guard !ended.isEmpty, try isInUse(transaction) else { return [] }
    return try ended.compactMap { id, isExpected, end in
      let known = try transaction.occurrence(id)
      let hasTold = isExpected && end.event == .missed && known?.firedAt != nil
      return hasTold || known?.chainEvent == end.event ? nil : end
    }
  }

  /// Gives the reminders that count from some others their times.
  ///
  /// - Parameter ends: of what has just been recorded as ended, and was not before: each is followed once. Several of a
  ///   reminder that were missed together are followed once.
  @discardableResult
  public static func follow(_ ends: [End], in transaction: any StoreTransaction, now: Instant) throws -> [Step] {
    var seen: Set<End> = []
    return try ends.filter { seen.insert($0).inserted }.flatMap { end -> [Step] in
      guard try hasFollowers(end, in: transaction) else { return [] }
      // Another daemon may be about to give one of them another time.
      try transaction.lockTrackers()
      return try followers(of: end.reminder, of: end.owner, end.event, in: transaction).compactMap { record in
        let released = try release(record, by: end.reminder, in: transaction, now: now)
        return try give(released, to: end.reminder, at: end.at, in: transaction, now: now)
      }
    }
  }

  private static func hasFollowers(_ end: End, in transaction: any StoreTransaction) throws -> Bool {
    let (id, owner) = (end.reminder, end.owner)
    return try !transaction.reminderIDs(.following(id, owner: owner), after: nil, limit: 1).isEmpty
      || end.event == .done && !transaction.reminderIDs(.needing(id, owner: owner), after: nil, limit: 1).isEmpty
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
      FiringResult(
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
