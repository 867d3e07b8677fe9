public import ChimeSchedule

/// A firing transaction: claim what is due, decide, record, and claim at once what the queues have room for.
///
///     let work = try FireTransaction.run(
///       in: transaction, limit: 500, capacity: capacity, context: context, uptime: uptime, now: now, using: &random)
public struct FireTransaction: Sendable {
  public private(set) var firings: [FiringResult] = []
  public private(set) var claims: [ClaimedMessage] = []
  /// Reminders whose zone the machine does not have any more.
  public private(set) var withoutZone: [Reminder] = []
  /// Reminders that the store could not read.
  public private(set) var unreadable: [UnreadableReminder] = []
  /// What the begin of a day has unlocked, by owner.
  public private(set) var begun: [(owner: UInt32, outcome: TrackingOutcome)] = []
  /// What was told of a time in which no daemon ran.
  public private(set) var told: [Occurrence] = []
  /// Reminders that were given a time because of what has fired, or has not.
  public private(set) var chained: [Chains.Step] = []
  /// Whether there was nothing to be had: nothing is due, or others are about to fire it.
  public var isEmpty: Bool { firings.isEmpty && begun.isEmpty && unreadable.isEmpty }
  /// What the next firing transaction is to spread late messages with.
  public private(set) var catchUpSpread = CatchUpSpread()

  /// - Parameters:
  ///   - downtime: what is to be told before anything fires; nil: nothing is.
  ///   - now: the daemon's time. That of the store counts where it has one: nothing fires before its time by that.
  /// - Throws: what the transaction throws; then nothing of it may be committed.
  public static func run(
    in transaction: any StoreTransaction, limit: Int, capacity: Scheduler.Capacity, context: ReminderContext,
    uptime: Uptime,
    catchUpSpread: CatchUpSpread = CatchUpSpread(), downtime: Downtime? = nil, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> FireTransaction {
    var work = FireTransaction()
    let now = transaction.time?.instant ?? now
    if let downtime {
      let decision = FiringDecision(now: now, uptime: uptime, silences: try transaction.silences())
      work.told = try downtime.tell(in: transaction, context, decision, using: &generator)
    }
    work.begun = try TrackingDay.begin(in: transaction, context, now: now, using: &generator)
    let claimed = try transaction.claimDue(now: now, limit: limit)
    let decision = FiringDecision(
      now: now, uptime: uptime, silences: claimed.isEmpty ? [:] : try transaction.silences())
    var insistsFrom: [ReminderID: Instant] = [:]
    for due in claimed {
      // A time that fires leaves nothing to insist on for those before it: the store ends their repeats, and would not have
      // this one.
      if let from = insistsFrom[due.reminder.id], due.scheduledAt < from, due.isRepeat { continue }
      // A zone that the machine has lost is stood in for, and the log says so.
      let zone = context.zone(of: due.reminder)
      if zone == nil { work.withoutZone.append(due.reminder) }
      var firing = try decision.decide(due, in: transaction, context, zone, using: &generator)
      try Announcing.attend(&firing, in: transaction, context, now: now, using: &generator)
      if let fired = firing.endsRepeatsBefore {
        insistsFrom[due.reminder.id] = max(insistsFrom[due.reminder.id] ?? fired, fired)
      }
      work.firings.append(firing)
    }
    work.catchUpSpread = catchUpSpread
    work.catchUpSpread.spread(&work.firings, capacity.policies, now: now)
    work.chained = try Chains.record(work.firings, in: transaction, now: now)
    for queue in Set(work.firings.flatMap { $0.deliveries.map(\.queue) }).sorted() {
      let left = capacity.left(in: queue)
      guard left > 0 else { continue }
      work.claims += try ClaimedMessage.claim(queue, limit: left, in: transaction, capacity.policies, context, now: now)
    }
    work.unreadable = transaction.unreadable
    return work
  }
}

extension FiringDecision {
  /// Decides on a due time with what the store knows about it.
  func decide(
    _ due: DueReminder, in transaction: any StoreTransaction, _ context: ReminderContext, _ zone: Zone?,
    using generator: inout some RandomNumberGenerator
  ) throws -> FiringResult {
    let timetable = context.timetable(of: due.reminder, in: zone)
    let link = try LinkedTracker.read(for: due.reminder, from: due.scheduledAt, to: now, in: transaction, context)
    let condition = try DoneCondition.read(
      for: due.reminder, from: due.scheduledAt, in: transaction, context)
    var firing = decide(
      due, timetable: timetable, quiet: context.quiet(of: due.reminder), link: link, condition: condition,
      using: &generator)
    try firing.passOverHeard(in: transaction)
    var walk = timetable.walk()
    try firing.settleMissed(in: transaction, now: now) { time in
      if let link { link.next(after: time, &walk) } else { walk.next(after: time) }
    }
    // History is to be readable without the tracker, and without the pings.
    firing.say(
      try ExpectationWords.title(of: firing, in: transaction, context)
        ?? due.reminder.filledTitle(in: transaction, context, now: now))
    return firing
  }
}

extension DueReminder {
  /// Whether it is repeated because nobody has answered.
  fileprivate var isRepeat: Bool {
    switch occurrence?.state {
    case .snoozed, .awaited: false
    default: !isRegular
    }
  }
}

extension FiringResult {
  /// Before which time of its reminder nothing is repeated any more once this has fired; nil: it ends no repeats.
  fileprivate var endsRepeatsBefore: Instant? {
    guard due.reminder.nag != nil else { return nil }
    return occurrences.filter { $0.state == .fired && $0.rounds == 1 }.map(\.id.scheduledAt).max()
  }

  /// Gives the occurrences a title that is filled in.
  mutating func say(_ title: String) {
    guard title != due.reminder.title else { return }
    for index in occurrences.indices { occurrences[index].title = title }
  }

  /// Times behind the due one may have been heard before the clock went back. The store would record none of them again;
  /// nor is one of them to be told of again.
  mutating func passOverHeard(in transaction: any StoreTransaction) throws {
    try passOver { try transaction.occurrence($0)?.wasHeard ?? false }
  }

  /// The same, with what is known of them.
  mutating func passOver(_ wasHeard: (OccurrenceID) throws -> Bool) rethrows {
    guard advances else { return }
    // Of the due time itself the decision knew.
    let others = occurrences.filter { $0.id.scheduledAt != due.scheduledAt && $0.missedRun == nil }.map(\.id)
    let heard = try Set(others.filter(wasHeard))
    guard !heard.isEmpty else { return }
    occurrences.removeAll { heard.contains($0.id) }
    deliveries.removeAll { heard.contains($0.occurrence) }
  }
}
