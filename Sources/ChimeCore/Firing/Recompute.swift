public import ChimeSchedule

/// Why due times are computed anew.
public enum Recompute: Hashable, Sendable {
  /// The machine's zone changed: what floats with it moves.
  case localZone
  /// The rules of zones changed on disk: what follows any other than these moves.
  case zoneRules(unchanged: Set<String>)
  /// The days of these calendars changed; nil: of any.
  case calendars(Set<String>?)
  /// The configured place changed: what follows the sun there moves.
  case place
  /// The clock went back: what had been passed over comes again.
  case backwardStep
  /// Other quiet hours are configured: what they hold is looked at again, no time of a schedule moves.
  case quietHours

  /// Whatever there is that moves due times.
  public static let all: Set<Recompute> = [.localZone, .zoneRules(unchanged: []), .calendars(nil), .place, .quietHours]

  /// Whether the reminder's times may be others now.
  public func concerns(_ reminder: Reminder) -> Bool {
    switch self {
    case .localZone: reminder.governingZone == .local
    case .zoneRules(let unchanged):
      switch reminder.governingZone {
      case .local: false
      case .named(let name): !unchanged.contains(name)
      }
    case .calendars(let names):
      reminder.schedule.calendarNames.contains { names?.contains($0) ?? true }
    case .place: reminder.schedule.needsPlace && reminder.place == nil
    case .backwardStep: true
    case .quietHours: false
    }
  }

  /// Whether what quiet hours hold may have to be heard at another time: the clock that they are read on is another.
  public var concernsQuiet: Bool {
    switch self {
    case .localZone, .zoneRules, .backwardStep, .quietHours: true
    case .calendars, .place: false
    }
  }

  /// Which reminders are looked at.
  public var selection: ReminderSelection {
    switch self {
    case .localZone: .zone(.local)
    case .calendars: .withExceptions
    case .zoneRules, .place, .backwardStep, .quietHours: .all
    }
  }

  /// Computes the due time of one reminder anew. What is due already stays due, and what has fired is not due again.
  ///
  /// - Parameter wentBack: whether the clock did, so that times of the history may come again.
  public static func reschedule(
    _ id: ReminderID, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    wentBack: Bool = false
  ) throws {
    guard var record = try transaction.readableReminder(id), context.zone(of: record.reminder) != nil else { return }
    var isPreceded = false
    if wentBack {
      let versions = try transaction.versions(of: id)
      // Definitions that were in force until a moment that is still to come give way to the present one now.
      isPreceded = versions.contains { !$0.isInForce && $0.until ?? .latest > now }
      try FiringResult.shortenRuns(of: id, in: transaction, now: now) { first in
        // It may have been changed, or done, while the clock was ahead.
        let version = versions.last { $0.from <= first }
        var walk = context.timetable(of: version?.reminder ?? record.reminder).walk()
        return { walk.next(after: $0) }
      }
      try awaitSooner(record.reminder, in: transaction, now: now)
    }
    if let next = record.next, next <= now { return }
    let isMoved = wentBack && record.moveBack(to: now)
    let next = try record.reminder.nextUnfired(after: now, in: transaction, context)
    guard isMoved || isPreceded || next != record.next else { return }
    record.reminder.generation += 1
    try transaction.upsert(record.reminder, next: next, since: now)
  }

  /// What began to be awaited anew while the clock was ahead would be awaited until then: no ping may take longer than it
  /// ever may. Those of times that are still to come stay.
  private static func awaitSooner(_ reminder: Reminder, in transaction: any StoreTransaction, now: Instant) throws {
    guard let within = reminder.within else { return }
    for var occurrence in try transaction.awaited(of: reminder.id) where occurrence.id.scheduledAt <= now {
      guard let end = occurrence.comesAgain, end > now + within else { continue }
      occurrence.state = .awaited(until: now + within)
      try transaction.update(occurrence, now: now)
    }
  }

  /// The store keeps a note of the time at which a daemon last started, heard of a step forward, or computed due times anew.
  public static func rememberClock(in transaction: any StoreTransaction, now: Instant) throws {
    try transaction.setNote(clockNote, String(now.milliseconds))
  }

  private static let clockNote = "clock"

  /// Whether the store knows of a later moment than `now`: the clock went back while nobody looked, and what was passed
  /// over by the time before comes again.
  ///
  /// Told from the note of `rememberClock`, and from what was recorded last, which is among the latest scheduled times: a run of
  /// missed ones stands under its first.
  public static func clockWentBack(_ transaction: any StoreTransaction, now: Instant) throws -> Bool {
    try latestSeen(in: transaction) ?? now > now + .seconds(1)
  }

  /// The latest moment of which the store knows.
  static func latestSeen(in transaction: any StoreTransaction) throws -> Instant? {
    let note = try transaction.note(clockNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
    let recorded = try transaction.occurrences(OccurrenceFilter(), page: Page(limit: 200)).flatMap { occurrence in
      [occurrence.firedAt, occurrence.endedAt, occurrence.missedRun?.through].compactMap { $0 }
    }
    return ([note].compactMap { $0 } + recorded).max()
  }
}

extension ReminderRecord {
  /// What was made, changed or done while the clock was ahead counts from `now` on, not from a time that may be years away.
  ///
  /// - Returns: whether anything of it did.
  fileprivate mutating func moveBack(to now: Instant) -> Bool {
    // One that is over stays over.
    guard let next else { return false }
    var isMoved = false
    if let schedule = reminder.schedule.moved(backTo: now, next: next) {
      (reminder.schedule, isMoved) = (schedule, true)
    }
    if let done = reminder.lastDone, done > now { (reminder.lastDone, isMoved) = (now, true) }
    if let chain = reminder.schedule.chain, let times = reminder.chainedTimes, let last = times.last,
      last > chain.time(after: now)
    {
      reminder.chainedTimes = Set(times.map { min($0, chain.time(after: now)) }).sorted()
      isMoved = true
    }
    return isMoved
  }
}
