public import ChimeSchedule

/// A Recompute is a reason to compute due times anew.
public enum Recompute: Hashable, Sendable {
  /// The machine's zone changed: schedules in local time move.
  case localZone
  /// Zone rules changed on disk: schedules in zones other than `unchanged` move.
  case zoneRules(unchanged: Set<String>)
  /// The days of these calendars changed; nil stands for all.
  case calendars(Set<String>?)
  /// The configured location changed: solar schedules move.
  case place
  /// The clock went back: times that had passed come again.
  case backwardStep
  /// The configured quiet hours changed: held times are evaluated again, no schedule moves.
  case quietHours

  /// Everything that may have changed while no daemon ran.
  public static let all: Set<Recompute> = [.localZone, .zoneRules(unchanged: []), .calendars(nil), .place, .quietHours]

  /// Returns whether the reminder's times may have changed.
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

  /// Whether held times may end at another moment, because the clock that quiet hours are read on changed.
  public var concernsQuiet: Bool {
    switch self {
    case .localZone, .zoneRules, .backwardStep, .quietHours: true
    case .calendars, .place: false
    }
  }

  /// The reminders to check.
  public var selection: ReminderSelection {
    switch self {
    case .localZone: .zone(.local)
    case .calendars: .withExceptions
    case .zoneRules, .place, .backwardStep, .quietHours: .all
    }
  }

  /// Computes the due time of one reminder anew. Due times stay due, and what has fired is not due again.
  ///
  /// - Parameter wentBack: whether the clock went back, so that recorded times may come again.
  public static func reschedule(
    _ id: ReminderID, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    wentBack: Bool = false
  ) throws {
    guard var record = try transaction.readableReminder(id), context.zone(of: record.reminder) != nil else { return }
    var isPreceded = false
    if wentBack {
      let versions = try transaction.versions(of: id)
      // Definitions that were in force until a future moment give way to the current one now.
      isPreceded = versions.contains { !$0.isInForce && $0.until ?? .latest > now }
      try shortenRuns(of: record.reminder, versions, in: transaction, context, now: now)
      try awaitSooner(record.reminder, in: transaction, now: now)
    }
    if let next = record.next, next <= now { return }
    let isMoved = wentBack && record.moveBack(to: now)
    let start = record.next == nil ? try firstKnown(of: record.reminder, in: transaction, now: now) : now
    let next = try record.reminder.nextUnfired(after: start, in: transaction, context)
    // A time that is still to come is held by nothing: it was put off while the clock was ahead.
    let isHeld = record.isHeld && next == record.next
    guard isMoved || isPreceded || isHeld || next != record.next else { return }
    record.reminder.generation += 1
    try transaction.upsert(record.reminder, next: next, since: now)
  }

  /// Stores a removed reminder again, with what is left of its history.
  ///
  /// If the clock went back since it was removed, its times after `now` come again.
  public static func bringBack(
    _ reminder: Reminder, next: Instant?, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws {
    let versions = try transaction.versions(of: reminder.id)
    if !versions.isEmpty { try shortenRuns(of: reminder, versions, in: transaction, context, now: now) }
    try transaction.upsert(reminder, next: next, since: now)
  }

  /// Shortens the runs of missed times that reach beyond `now`, because the clock went back.
  private static func shortenRuns(
    of reminder: Reminder, _ versions: [ReminderVersion], in transaction: any StoreTransaction,
    _ context: ReminderContext, now: Instant
  ) throws {
    try FiringResult.shortenRuns(of: reminder.id, in: transaction, now: now) { first in
      func has(_ version: ReminderVersion) -> Bool {
        context.timetable(of: version.reminder).next(after: first - .milliseconds(1)) == first
      }
      // The reminder may have been changed, or done, while the clock was ahead.
      let version = versions.last { $0.from <= first }
      // If it was changed since the clock went back, none of the former times follow.
      if let version, !has(version), versions.contains(where: has) { return { _ in nil } }
      var walk = context.timetable(of: version?.reminder ?? reminder).walk()
      return { walk.next(after: $0) }
    }
  }

  /// Shortens waits for a ping that began while the clock was ahead, so that none exceeds its limit counted from `now`.
  ///
  /// Waits of times that are still to come stay.
  private static func awaitSooner(_ reminder: Reminder, in transaction: any StoreTransaction, now: Instant) throws {
    guard let within = reminder.within else { return }
    for var occurrence in try transaction.awaited(of: reminder.id) where occurrence.id.scheduledAt <= now {
      guard let end = occurrence.recursAt, end > now + within else { continue }
      occurrence.state = .awaited(until: now + within)
      try transaction.update(occurrence, now: now)
    }
  }

  /// Returns the time after which a reminder that has ended may come again.
  ///
  /// That is not before history begins: a time of which no record is kept may have fired. Nobody has lived the times
  /// over which the clock jumped, however, so they come whatever has become of their records. What was added while the
  /// clock was ahead has ended.
  public static func firstKnown(
    of reminder: Reminder, in transaction: any StoreTransaction, now: Instant
  ) throws -> Instant {
    guard let kept = try ScheduleAudit.keptSince(in: transaction), kept > now else { return now }
    let isJumpedOver = try reminder.createdAt <= now && jump(in: transaction)?.contains(now) == true
    return isJumpedOver ? now : kept - .milliseconds(1)
  }

  /// Records the time at which a daemon last started, saw a step forward, or computed due times anew.
  ///
  /// - Parameter before: the time from which the clock came; nil if it came from nowhere else.
  public static func rememberClock(
    in transaction: any StoreTransaction, after before: Instant? = nil, now: Instant
  ) throws {
    try transaction.setNote(clockNote, String(now.milliseconds))
    guard var start = before, start + .days(1) < now else { return }
    // A clock that is far ahead may jump further, as when the machine is off for a weekend.
    if let jump = try jump(in: transaction), jump.upperBound <= start, start < jump.upperBound + .days(30) {
      start = jump.lowerBound
    }
    try transaction.setNote(jumpNote, "\(start.milliseconds) \(now.milliseconds)")
  }

  /// Records that the clock has reached `now`, at most once a minute.
  ///
  /// Call it where a delivery is put off. A daemon that starts after the clock went back then finds out that the delivery
  /// waits too long, even if nothing has fired lately and the daemon before could not record the step.
  static func noteProgress(in transaction: any StoreTransaction, now: Instant) throws {
    let known = try transaction.note(clockNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
    // A later note stays until the due times are computed anew.
    if let known, now < known + .minutes(1) { return }
    try transaction.setNote(clockNote, String(now.milliseconds))
  }

  /// Returns the last time over which the clock jumped by more than a day: it was set, or no daemon ran.
  private static func jump(in transaction: any StoreTransaction) throws -> Range<Instant>? {
    let ends = try transaction.note(jumpNote)?.split(separator: " ").compactMap { Int64($0) } ?? []
    guard ends.count == 2, ends[0] < ends[1] else { return nil }
    return Instant(milliseconds: ends[0])..<Instant(milliseconds: ends[1])
  }

  private static let clockNote = "clock"
  private static let jumpNote = "clock.jump"

  /// Returns whether the store knows a moment later than `now`: the clock went back while no daemon ran.
  ///
  /// The moment comes from the note of `rememberClock` and `noteProgress`, and from the latest occurrences. Several of
  /// these are read, because a run of missed times is ordered by its first one.
  public static func clockWentBack(_ transaction: any StoreTransaction, now: Instant) throws -> Bool {
    try latestSeen(in: transaction) ?? now > now + .seconds(1)
  }

  /// Returns the latest moment that the store knows.
  static func latestSeen(in transaction: any StoreTransaction) throws -> Instant? {
    let note = try transaction.note(clockNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
    let recorded = try transaction.occurrences(OccurrenceFilter(), page: Page(limit: 200)).flatMap { occurrence in
      [occurrence.firedAt, occurrence.endedAt, occurrence.missedRun?.through].compactMap { $0 }
    }
    return ([note].compactMap { $0 } + recorded).max()
  }
}

extension ReminderRecord {
  /// Moves everything that was created, changed or done while the clock was ahead back to `now`.
  ///
  /// - Returns: whether anything moved.
  fileprivate mutating func moveBack(to now: Instant) -> Bool {
    // A reminder that has ended stays ended.
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
