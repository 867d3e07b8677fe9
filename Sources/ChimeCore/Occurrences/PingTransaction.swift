public import ChimeSchedule

/// What a ping changes in the store, in one transaction.
public struct PingTransaction: Sendable {
  /// What it has closed.
  public private(set) var closed: [AnswerTransaction] = []
  /// What it has fired: a failure is told at once.
  public private(set) var told: Occurrence?
  /// Reminders that were given a time, because they count from this one.
  public private(set) var chained: [Chains.Step] = []
  /// That it is up again, as its user is told.
  public private(set) var notice: Occurrence?
  /// How long it was down; nil: it was not.
  public private(set) var wasDown: Milliseconds?

  /// Records a ping and what follows from it: it closes what is awaited or was told, begins the time of a run, or tells a
  /// failure at once. What is told stays told while it fails again and again.
  ///
  /// - Parameters:
  ///   - record: an expectation, as it stands in `transaction`.
  ///   - absence: when nobody could fire.
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

  /// What a ping is for: the times that have come, and a run that ends. A time that came while the clock was ahead is to come
  /// again.
  private static func awaited(
    of id: ReminderID, by ping: Ping, in transaction: any StoreTransaction
  ) throws -> [Occurrence] {
    let awaited = try transaction.awaited(of: id)
    guard let last = awaited.last, last.id.scheduledAt > ping.at else { return awaited }
    let before = ping.kind == .started ? nil : try transaction.lastPing(of: id, among: .all)
    let begun = before?.kind == .started ? before?.at ?? ping.at : ping.at
    return awaited.filter { $0.id.scheduledAt <= max(ping.at, begun) }
  }

  /// A time that has come may not have been looked at yet: the ping is for that one.
  ///
  /// - Returns: the record as it is then.
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
    try Announcing.attend(&firing, in: transaction, context, now: now, using: &generator)
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
      // The first has moved the reminder where its times count from the last ping.
      let current = closed.isEmpty ? reminder : try transaction.readableReminder(reminder.id)?.reminder
      closed.append(
        try AnswerTransaction.run(
          .done, to: occurrence, reminder: current, or: "ping", in: transaction, context, now: ping.at,
          using: &generator))
    }
    // A good run is done also where none was awaited.
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

  /// Those that wait for an answer.
  private static func open(of record: ReminderRecord, in transaction: any StoreTransaction) throws -> [Occurrence] {
    guard record.open > 0 else { return [] }
    var open: [Occurrence] = []
    var found: [Occurrence]
    repeat {
      found = try transaction.occurrences(
        OccurrenceFilter(reminder: record.reminder.id, openOnly: true), page: Page(limit: 1_000, offset: open.count))
      open += found
    } while found.count == 1_000
    return open
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
      told = occurrence
    }
    try Self.record(
      occurrence, deliveries, of: reminder, replacing: awaited.last, in: transaction, context, now: ping.at,
      using: &generator)
    guard told != nil || occurrence.chainEvent == .missed else { return }
    let end = Chains.End(of: reminder.id, owner: reminder.owner, .missed, at: ping.at)
    chained += try Chains.follow([end], in: transaction, now: ping.at)
  }

  /// One run is told of once, however many times wait for it.
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

  /// The next time counts from the ping.
  private func count(
    _ reminder: Reminder, from instant: Instant, in transaction: any StoreTransaction, _ context: ReminderContext
  ) throws {
    var reminder = reminder
    reminder.lastDone = instant
    reminder.generation += 1
    // Its times count from the first one: a definition of which none has come before the next ping is not kept.
    try transaction.upsert(reminder, next: try reminder.next(after: instant, in: transaction, context))
  }

  private static func record(
    _ occurrence: Occurrence, _ deliveries: [Delivery], of reminder: Reminder, replacing known: Occurrence? = nil,
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let due = DueReminder(
      reminder: reminder, scheduledAt: occurrence.id.scheduledAt, dueAt: known?.comesAgain ?? now, isRegular: false,
      occurrence: known)
    var firing = FiringResult(
      due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
      skipNext: reminder.skipNext)
    try Announcing.attend(&firing, in: transaction, context, now: now, using: &generator)
    try transaction.record([firing])
    try transaction.noteDown(by: [firing])
  }

  /// An occurrence for what no time of the schedule stands for. Occurrences stand under whole seconds: it takes the present one, or
  /// the latest before it that has no occurrence and is not the next time of the schedule. None to come is taken: it may be
  /// one of the schedule, whose ping would then be missed by nobody.
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
  /// Notes of the expectations of which firings have told that no good ping came that they are down. What the store passed
  /// over has told nothing.
  func noteDown(by firings: [FiringResult]) throws {
    for firing in firings where firing.due.reminder.isExpectation {
      for told in firing.occurrences where told.state == .fired && told.rounds == 1 {
        guard let since = try occurrence(told.id)?.firedAt, since == told.firedAt else { continue }
        try setDown(told.id.reminder, since: since)
      }
    }
  }
}
