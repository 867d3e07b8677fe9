public import ChimeSchedule

/// A FireTransaction claims due times, decides, records, and claims as many deliveries as its queues have capacity for.
///
///     let work = try FireTransaction.run(
///       in: transaction, limit: 500, capacity: capacity, context: context, uptime: uptime, now: now, using: &random)
public struct FireTransaction: Sendable {
  public private(set) var firings: [FiringResult] = []
  public private(set) var claims: [ClaimedMessage] = []
  /// Reminders whose zone the machine no longer has.
  public private(set) var withoutZone: [Reminder] = []
  /// Reminders that the store could not read.
  public private(set) var unreadable: [UnreadableReminder] = []
  /// Achievements unlocked by the start of a day, by owner.
  public private(set) var begun: [(owner: UInt32, outcome: TrackingOutcome)] = []
  /// The notices about a downtime.
  public private(set) var downtimeNotices: [Occurrence] = []
  /// Reminders that got a time because another one was done or missed.
  public private(set) var chained: [Chains.Step] = []
  /// Whether nothing could be claimed: nothing is due, or other daemons are about to fire it.
  public var isEmpty: Bool { firings.isEmpty && begun.isEmpty && unreadable.isEmpty }
  /// The spread to pass to the next firing transaction.
  public private(set) var catchUpSpread = CatchUpSpread()

  /// Runs the transaction.
  ///
  /// - Parameters:
  ///   - downtime: the downtime to report before anything fires; nil for none.
  ///   - now: the daemon's time. The store's time takes precedence if it has one; nothing fires early by that clock.
  /// - Throws: errors of the transaction, which then must not be committed.
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
      work.downtimeNotices = try downtime.tell(in: transaction, context, decision, using: &generator)
    }
    work.begun = try TrackingDay.begin(in: transaction, context, now: now, using: &generator)
    let claimed = try transaction.claimDue(now: now, limit: limit)
    let decision = FiringDecision(
      now: now, uptime: uptime, silences: claimed.isEmpty ? [:] : try transaction.silences())
    var repeatsFrom: [ReminderID: Instant] = [:]
    for due in claimed {
      // A time that fires ends the repeats of earlier times. The store would delete this repeat's due time as well.
      if let from = repeatsFrom[due.reminder.id], due.scheduledAt < from, due.isRepeat { continue }
      // UTC replaces a zone that the machine has lost, and the log says so.
      let zone = context.zone(of: due.reminder)
      if zone == nil { work.withoutZone.append(due.reminder) }
      var firing = try decision.decide(due, in: transaction, context, zone, using: &generator)
      try Announcing.addEvents(&firing, in: transaction, context, now: now, using: &generator)
      if let fired = firing.endsRepeatsBefore {
        repeatsFrom[due.reminder.id] = max(repeatsFrom[due.reminder.id] ?? fired, fired)
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
  /// Decides on a due time with the data that the store has about it.
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
    try firing.skipDelivered(in: transaction)
    var walk = timetable.walk()
    try firing.settleMissed(in: transaction) { time in
      if let link { link.next(after: time, &walk) } else { walk.next(after: time) }
    }
    // History stays readable when the tracker and the pings are gone.
    firing.say(
      try ExpectationWords.title(of: firing, in: transaction, context)
        ?? due.reminder.filledTitle(in: transaction, context, now: now))
    return firing
  }
}

extension DueReminder {
  /// Whether the due time is a repeat of an unanswered occurrence.
  fileprivate var isRepeat: Bool {
    switch occurrence?.state {
    case .snoozed, .awaited: false
    default: !isRegular
    }
  }
}

extension FiringResult {
  /// The scheduled time before which this firing ends repeats of its reminder; nil if it ends none.
  fileprivate var endsRepeatsBefore: Instant? {
    guard due.reminder.nag != nil else { return nil }
    return occurrences.filter { $0.state == .fired && $0.rounds == 1 }.map(\.id.scheduledAt).max()
  }

  /// Sets the filled-in title of the occurrences.
  mutating func say(_ title: String) {
    guard title != due.reminder.title else { return }
    for index in occurrences.indices { occurrences[index].title = title }
  }

  /// Drops times that already fired before the clock went back.
  ///
  /// The store would not record them again, and no message may be sent for them again.
  mutating func skipDelivered(in transaction: any StoreTransaction) throws {
    try passOver { try transaction.occurrence($0)?.wasDelivered ?? false }
  }

  /// Drops the times for which `wasDelivered` returns true.
  mutating func passOver(_ wasDelivered: (OccurrenceID) throws -> Bool) rethrows {
    guard advances else { return }
    // The decision already took the due time itself into account.
    let others = occurrences.filter { $0.id.scheduledAt != due.scheduledAt && $0.missedRun == nil }.map(\.id)
    let delivered = try Set(others.filter(wasDelivered))
    guard !delivered.isEmpty else { return }
    occurrences.removeAll { delivered.contains($0.id) }
    deliveries.removeAll { delivered.contains($0.occurrence) }
  }
}
