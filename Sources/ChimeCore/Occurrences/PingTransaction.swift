public import ChimeSchedule

/// A PingTransaction records one ping of an expectation, with everything that follows from it.
public struct PingTransaction: Sendable {
  /// The occurrences that the ping closed.
  public private(set) var closed: [AnswerTransaction] = []
  /// The occurrence that a failure fired at once.
  public private(set) var fired: Occurrence?
  /// Reminders that got a time, because they count from this one.
  public private(set) var chained: [Chains.Step] = []
  /// The notice to the user that the expectation is up again.
  public private(set) var notice: Occurrence?
  /// How long the expectation was down; nil if it was up.
  public private(set) var wasDown: Milliseconds?

  /// Records a ping: it closes awaited and alerted occurrences, starts the time limit of a run, or alerts of a failure.
  ///
  /// Further failures do not alert again while the first alert is open.
  ///
  /// - Parameters:
  ///   - record: an expectation, as it stands in `transaction`.
  ///   - uptime: when a daemon could receive pings.
  public static func run(
    _ ping: Ping, of record: ReminderRecord, in transaction: any StoreTransaction, _ context: ReminderContext,
    uptime: Uptime, using generator: inout some RandomNumberGenerator
  ) throws -> PingTransaction {
    var work = PingTransaction()
    let record = try work.awaitWhatHasCome(
      record, in: transaction, context, uptime, now: ping.at, using: &generator)
    let reminder = record.reminder
    let awaited = try Self.awaited(of: reminder.id, by: ping, in: transaction)
    switch ping.kind {
    case .started: try work.begin(ping, record, awaited, in: transaction, context, using: &generator)
    case .succeeded: try work.close(ping, record, awaited, in: transaction, context, using: &generator)
    case .failed: try work.fail(ping, record, awaited, in: transaction, context, using: &generator)
    }
    if ping.kind != .started, work.closed.isEmpty, reminder.countsFromDone {
      try work.count(reminder, from: ping.at, in: transaction, context)
    }
    return work
  }

  /// Returns the occurrences that a ping is for: the times that have come, and a run that it ends. A time that came
  /// while the clock was ahead will come again and is left out.
  private static func awaited(
    of id: ReminderID, by ping: Ping, in transaction: any StoreTransaction
  ) throws -> [Occurrence] {
    let awaited = try transaction.awaited(of: id)
    guard let last = awaited.last, last.id.scheduledAt > ping.at else { return awaited }
    let before = ping.kind == .started ? nil : try transaction.lastPing(of: id, among: .all)
    let begun = before?.kind == .started ? before?.at ?? ping.at : ping.at
    return awaited.filter { $0.id.scheduledAt <= max(ping.at, begun) }
  }

  /// Fires a time that has come but was not evaluated yet, because the ping is for that one.
  ///
  /// - Returns: the record afterwards.
  private mutating func awaitWhatHasCome(
    _ record: ReminderRecord, in transaction: any StoreTransaction, _ context: ReminderContext, _ uptime: Uptime,
    now: Instant, using generator: inout some RandomNumberGenerator
  ) throws -> ReminderRecord {
    guard let next = record.next, next <= now, let dueAt = record.nextDueAt, dueAt <= now else { return record }
    let reminder = record.reminder
    let occurrence = try transaction.occurrence(OccurrenceID(reminder: reminder.id, scheduledAt: next))
    var firing = try FiringDecision(now: now, uptime: uptime, silences: transaction.silences()).decide(
      DueReminder(reminder: reminder, scheduledAt: next, dueAt: dueAt, occurrence: occurrence), in: transaction,
      context, context.zone(of: reminder), using: &generator)
    try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
    chained += try Chains.record([firing], in: transaction, now: now)
    return try transaction.readableReminder(reminder.id) ?? record
  }

  private mutating func begin(
    _ ping: Ping, _ record: ReminderRecord, _ awaited: [Occurrence], in transaction: any StoreTransaction,
    _ context: ReminderContext, using generator: inout some RandomNumberGenerator
  ) throws {
    let reminder = record.reminder
    try transaction.add(ping, to: reminder.id)
    let end = ping.at + (reminder.within ?? .zero)
    try Self.dismiss(awaited.dropLast(), of: reminder, in: transaction, context, now: ping.at, using: &generator)
    if var latest = awaited.last {
      latest.state = .awaited(until: end)
      try transaction.update(latest, now: ping.at)
    } else if !reminder.pause.holds(at: ping.at) {
      let id = try Self.freeTime(of: record, at: ping.at, in: transaction)
      let occurrence = Occurrence(id: id, title: reminder.title, owner: reminder.owner, state: .awaited(until: end))
      try Self.record(
        occurrence, [], of: reminder, in: transaction, context, now: ping.at, using: &generator)
    }
  }

  private mutating func close(
    _ ping: Ping, _ record: ReminderRecord, _ awaited: [Occurrence], in transaction: any StoreTransaction,
    _ context: ReminderContext, using generator: inout some RandomNumberGenerator
  ) throws {
    let reminder = record.reminder
    let open = try Self.open(of: record, in: transaction)
    try transaction.add(ping, to: reminder.id)
    for occurrence in awaited + open {
      // The first answer has changed the reminder, if its times count from the last ping.
      let current = closed.isEmpty ? reminder : try transaction.readableReminder(reminder.id)?.reminder
      closed.append(
        try AnswerTransaction.run(
          .done, to: occurrence, reminder: current, or: "ping", in: transaction, context, now: ping.at,
          using: &generator))
    }
    // A successful run counts as done even if none was awaited.
    chained +=
      closed.isEmpty
      ? try Chains.follow(
        [.init(of: reminder.id, owner: reminder.owner, .done, at: ping.at)], in: transaction, now: ping.at)
      : closed.flatMap(\.chained)
    guard let since = record.downSince else { return }
    try transaction.setDown(reminder.id, since: nil)
    wasDown = max(.zero, ping.at - since)
    let words = context.wording.upAgain(reminder.title, after: wasDown ?? .zero)
    notice = try DesktopNotice.record(
      words.title, words.body, to: reminder.owner, in: transaction, context, channels: reminder.channels,
      tags: reminder.tags, icon: reminder.icon, now: ping.at, using: &generator)
  }

  /// Returns the occurrences that wait for an answer.
  private static func open(of record: ReminderRecord, in transaction: any StoreTransaction) throws -> [Occurrence] {
    guard record.open > 0 else { return [] }
    return try transaction.allOccurrences(OccurrenceFilter(reminder: record.reminder.id, openOnly: true))
  }

  private mutating func fail(
    _ ping: Ping, _ record: ReminderRecord, _ awaited: [Occurrence], in transaction: any StoreTransaction,
    _ context: ReminderContext, using generator: inout some RandomNumberGenerator
  ) throws {
    let reminder = record.reminder
    let before = try transaction.lastPing(of: reminder.id, among: .ends)
    try transaction.add(ping, to: reminder.id)
    let isKnown = before?.kind == .failed && record.open > 0
    let decision = FiringDecision(
      now: ping.at, uptime: Uptime(runningSince: ping.at), silences: try transaction.silences())
    let isSilent = isKnown || decision.isPaused(reminder, at: ping.at)
    try Self.dismiss(
      isSilent ? awaited[...] : awaited.dropLast(), of: reminder, in: transaction, context, now: ping.at,
      using: &generator)
    guard !isSilent else { return }
    var occurrence =
      try awaited.last
      ?? Occurrence(
        id: Self.freeTime(of: record, at: ping.at, in: transaction), title: reminder.title, owner: reminder.owner,
        state: .awaited(until: ping.at))
    var deliveries: [Delivery] = []
    if let quiet = context.quiet(of: reminder), let end = quiet.end(at: ping.at) {
      occurrence.state = quiet.drops ? .missed(.quiet) : .awaited(until: end)
      if quiet.drops { occurrence.endedAt = ping.at }
    } else {
      occurrence.tell(at: ping.at, repeatAt: decision.firstRepeat(reminder))
      occurrence.title = try ExpectationWords.words(of: occurrence, reminder, in: transaction, context).title
      deliveries = decision.deliveries(of: occurrence, reminder, using: &generator)
      fired = occurrence
    }
    try Self.record(
      occurrence, deliveries, of: reminder, replacing: awaited.last, in: transaction, context, now: ping.at,
      using: &generator)
    guard fired != nil || occurrence.chainEvent == .missed else { return }
    let end = Chains.End(of: reminder.id, owner: reminder.owner, .missed, at: ping.at)
    chained += try Chains.follow([end], in: transaction, now: ping.at)
  }

  /// Dismisses awaited occurrences without an alert, so that one run causes only one.
  private static func dismiss(
    _ awaited: ArraySlice<Occurrence>, of reminder: Reminder, in transaction: any StoreTransaction,
    _ context: ReminderContext, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws {
    for before in awaited {
      var occurrence = before
      (occurrence.state, occurrence.endedAt) = (.dismissed, now)
      try Announcing.change(
        before, to: occurrence, of: reminder, by: "ping", in: transaction, context, now: now, using: &generator)
      try transaction.update(occurrence, now: now)
    }
  }

  /// Computes the next time, counted from the ping.
  private func count(
    _ reminder: Reminder, from instant: Instant, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws {
    var reminder = reminder
    reminder.lastDone = instant
    reminder.generation += 1
    // The definition counts from its first time: one that is replaced before that leaves no version.
    try transaction.upsert(reminder, next: try reminder.next(after: instant, in: transaction, context))
  }

  private static func record(
    _ occurrence: Occurrence, _ deliveries: [Delivery], of reminder: Reminder, replacing known: Occurrence? = nil,
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let due = DueReminder(
      reminder: reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: known?.recursAt ?? now, isRegular: false,
      occurrence: known)
    var firing = FiringResult(
      due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
      skipNext: reminder.skipNext)
    try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
    try transaction.record([firing])
    try transaction.noteDown(by: [firing])
  }

  /// Returns an id for an occurrence outside the schedule.
  ///
  /// Occurrence times are whole seconds: this takes the current one, or the latest earlier one that is unused and not
  /// the next scheduled time. A future second might be a scheduled time, whose missing ping would then go unnoticed.
  private static func freeTime(
    of record: ReminderRecord, at now: Instant, in transaction: any StoreTransaction
  ) throws -> OccurrenceID {
    var free = OccurrenceID(reminder: record.reminder.id, scheduledAt: Instant(seconds: now.seconds))
    while try free.scheduledAt == record.next || transaction.occurrence(free) != nil {
      free = OccurrenceID(reminder: record.reminder.id, scheduledAt: free.scheduledAt - .seconds(1))
    }
    return free
  }
}

extension StoreTransaction {
  /// Marks expectations as down whose firings reported a missing or failed ping, unless the store ignored the firing.
  func noteDown(by firings: [FiringResult]) throws {
    for firing in firings where firing.due.reminder.isExpectation {
      for fired in firing.occurrences where fired.state == .fired && fired.rounds == 1 {
        guard let since = try occurrence(fired.id)?.firedAt, since == fired.firedAt else { continue }
        try setDown(fired.id.reminder, since: since)
      }
    }
  }
}
