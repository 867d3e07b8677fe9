public import ChimeSchedule

/// What a reminder's times should have been, held against what the history says became of them.
///
///     let audit = try ScheduleAudit.of(versions, from: start, before: end, in: transaction, context, log, now: now)
///     audit.unexplained    // 0
///
/// A time is explained when the history has a record of it: it fired, or it was missed for a reason. One that has none is
/// unexplained, which should never be.
public struct ScheduleAudit: Hashable, Sendable {
  /// How many times the schedules had.
  public private(set) var times = 0
  public private(set) var onTime = 0
  public private(set) var late: [LateCause: Int] = [:]
  public private(set) var missed: [MissReason: Int] = [:]
  /// Rang at another time than the schedule's because somebody moved them, or are to.
  public private(set) var moved = 0
  /// Have come, and quiet hours or jitter hold them.
  public private(set) var waiting = 0
  public private(set) var unexplained = 0
  /// The first of them, `named` at most.
  public private(set) var unexplainedTimes: [Instant] = []
  /// Have no record, but what the schedule was read against has changed since: they may never have been its times.
  public private(set) var uncertain = 0
  /// Records of times that no schedule had: fired on request.
  public private(set) var beside = 0
  /// From the scheduled time and its jitter to the firing of what was on time.
  public private(set) var lateness = DurationCounts()
  /// From firing to being done.
  public private(set) var answers = DurationCounts()
  /// Why the times cannot be computed anew; nil: they can.
  public private(set) var unknown: Unknown?

  public enum Unknown: String, Hashable, Sendable, CaseIterable {
    /// The entries of a tracker set the pace of its times.
    case paced
    /// The machine has lost its zone.
    case zone
  }

  /// How many unexplained times are named.
  public static let named = 20

  private var run: Run?

  /// A run of missed times that stands in the history as one record.
  private struct Run: Hashable, Sendable {
    var reason: MissReason
    var first: Instant
    var through: Instant
    /// How many of its times are still to come; nil: its beginning lies before what is audited.
    var left: Int?
  }

  public init() {}

  /// - Parameters:
  ///   - times: with the definition that each came of, ascending, and after those of earlier calls.
  ///   - records: of the reminder, ascending: all from the end of what the last call judged to the end of `times`.
  ///   - isUncertain: whether the schedule may have had another time in place of one that has no record; its last argument is
  ///     when the next time that has one was decided, if there is any.
  public mutating func judge(
    _ times: [(at: Instant, version: ReminderVersion)], against records: [Occurrence],
    isUncertain: (Instant, ReminderVersion, Instant?) -> Bool = { _, _, _ in false }
  ) {
    var next = 0
    for (time, version) in times {
      self.times += 1
      while next < records.count, records[next].id.scheduledAt < time {
        beside += 1
        begin(records[next])
        next += 1
      }
      if next < records.count, records[next].id.scheduledAt == time {
        begin(records[next])
        count(records[next], of: version.reminder)
        next += 1
      } else if let run, time <= run.through, run.left.map({ $0 > 0 }) ?? true {
        missed[run.reason, default: 0] += 1
        self.run?.left = run.left.map { $0 - 1 }
      } else if isUncertain(beginning(of: time), version, next < records.count ? records[next].decidedAt : nil) {
        uncertain += 1
      } else {
        unexplained += 1
        if unexplainedTimes.count < Self.named { unexplainedTimes.append(time) }
      }
    }
    beside += records.count - next
    for record in records[next...] { begin(record) }
  }

  /// Where a run has fewer times than it was to have, it is of them all that their zone has to be known.
  private func beginning(of time: Instant) -> Instant {
    guard let run, time <= run.through else { return time }
    return run.first
  }

  private mutating func begin(_ record: Occurrence) {
    guard let run = record.missedRun, case .missed(let reason) = record.state else { return }
    // Its own time is the first.
    self.run = Run(reason: reason, first: record.id.scheduledAt, through: run.through, left: run.count - 1)
  }

  private mutating func count(_ record: Occurrence, of reminder: Reminder) {
    guard let fired = record.firedAt else {
      switch record.state {
      case .missed(let reason): missed[reason, default: 0] += 1
      // Its ping came, or may still come.
      case .done where reminder.isExpectation: onTime += 1
      case .awaited: onTime += 1
      // It was done although nobody was reminded.
      case .done, .dismissed: missed[.doneAlready, default: 0] += 1
      case .fired, .delivered, .snoozed: moved += 1
      }
      return
    }
    if record.state == .done, let ended = record.endedAt { answers.add(ended - fired) }
    if reminder.isExpectation {
      onTime += 1
      return
    }
    if let cause = record.late {
      late[cause, default: 0] += 1
      return
    }
    let lateness = fired - record.id.scheduledAt
    guard lateness <= reminder.jitterOffset + Uptime.tolerance else {
      moved += 1
      return
    }
    onTime += 1
    self.lateness.add(max(.zero, lateness - reminder.jitterOffset))
  }
}

extension ScheduleAudit {
  private static let keptNote = "history"

  /// History of times before `end` is not kept: what is left of it proves nothing.
  public static func forget(before end: Instant, in transaction: any StoreTransaction) throws {
    try transaction.forgetVersions(before: end)
    try ScheduleContextLog.forget(before: end, in: transaction)
    if try keptSince(in: transaction) ?? .earliest < end {
      try transaction.setNote(keptNote, String(end.milliseconds))
    }
  }

  /// The time from which on history is whole; nil: none has been removed yet.
  public static func keptSince(in transaction: any StoreTransaction) throws -> Instant? {
    try transaction.note(keptNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
  }

  /// How many times are judged at once.
  private static let window = 2_000
  /// How many records before what is audited are looked through for a run of missed times that reaches into it.
  private static let nearby = 200

  /// Audits one reminder.
  ///
  /// - Parameters:
  ///   - versions: as the store has them.
  ///   - goOn: asked now and then; ends the audit by throwing.
  public static func of(
    _ versions: [ReminderVersion], from start: Instant, before end: Instant, in transaction: any StoreTransaction,
    _ context: ReminderContext, _ log: ScheduleContextLog, now: Instant, goOn: () throws -> Void = {}
  ) throws -> ScheduleAudit {
    var audit = ScheduleAudit()
    guard let id = versions.last?.reminder.id else { return audit }
    if versions.contains(where: { $0.reminder.tracker?.pace == true }) {
      audit.unknown = .paced
      return audit
    }
    let before = OccurrenceFilter(reminder: id, before: start)
    for record in try transaction.occurrences(before, page: Page(limit: nearby)).reversed() { audit.begin(record) }
    audit.run?.left = nil

    var (place, times): (Instant, [(at: Instant, version: ReminderVersion)]) = (start, [])
    func judge(upTo last: Instant) throws {
      try goOn()
      var records: [Occurrence] = []
      let filter = OccurrenceFilter(reminder: id, from: place, before: last)
      var page = Page(limit: 10_000)
      repeat {
        let found = try transaction.occurrences(filter, page: page)
        records += found
        page = Page(limit: page.limit, offset: records.count)
        if found.count < page.limit { break }
      } while true
      audit.judge(times, against: records.reversed()) { isUncertain($0, $1, decidedAt: $2 ?? now, log) }
      (place, times) = (last, [])
    }

    for version in versions {
      for stretch in stretches(of: version, before: min(end, now + .milliseconds(1)), now: now, context, log) {
        guard let zone = stretch.zone else {
          audit.unknown = .zone
          return audit
        }
        var walk = context.timetable(of: version.reminder, in: zone).walk()
        var time = walk.next(after: max(stretch.from, start) - .seconds(1))
        while let at = time, at < stretch.before {
          if at >= max(stretch.from, start) {
            if stretch.isWaiting {
              audit.times += 1
              audit.waiting += 1
            } else {
              times.append((at, version))
              if times.count == window { try judge(upTo: at + .milliseconds(1)) }
            }
          }
          time = walk.next(after: at)
        }
      }
    }
    try judge(upTo: end)
    return audit
  }

  /// A part of a version's times that were computed in one zone.
  private struct Stretch {
    var from: Instant
    var before: Instant
    /// Nil: the machine has lost it.
    var zone: Zone?
    var isWaiting = false
  }

  private static func stretches(
    of version: ReminderVersion, before end: Instant, now: Instant, _ context: ReminderContext,
    _ log: ScheduleContextLog
  ) -> [Stretch] {
    // What has come and is held is not decided yet. A daemon that leaves it alone for longer has forgotten it.
    let isHeld = version.isInForce && version.dueAt.map { now - $0 <= Uptime.tolerance } ?? false
    let decided = version.isInForce && !isHeld ? end : min(version.until ?? end, end)
    var result: [Stretch] = []
    if version.reminder.governingZone == .local, !log.localZones.isEmpty {
      let zones = log.localZones
      for (index, zone) in zones.enumerated() {
        let from = index == 0 ? Instant.earliest : zone.from
        let next = index + 1 < zones.count ? zones[index + 1].from : .latest
        result.append(
          Stretch(
            from: max(from, version.from), before: min(next, decided),
            zone: context.zones.local.identifier == zone.name ? context.zones.local : context.zones.zone(zone.name)))
      }
      result.removeAll { $0.from >= $0.before }
    } else if version.from < decided {
      result = [Stretch(from: version.from, before: decided, zone: context.zone(of: version.reminder))]
    }
    if isHeld, let until = version.until, until < end {
      result.append(Stretch(from: until, before: end, zone: context.zone(of: version.reminder), isWaiting: true))
    }
    return result
  }

  /// Whether what the schedule is read against has changed since, or the zone did before the time was decided: what passed
  /// while nobody could fire is computed in the zone of whoever comes to it.
  private static func isUncertain(
    _ time: Instant, _ version: ReminderVersion, decidedAt decision: Instant, _ log: ScheduleContextLog
  ) -> Bool {
    let reminder = version.reminder
    var things: Set<ScheduleContextLog.Thing> = [.database]
    if reminder.schedule.needsPlace, reminder.place == nil { things.insert(.place) }
    if !reminder.schedule.calendarNames.isEmpty { things.insert(.calendars) }
    if let change = log.lastChange(of: things), time <= change + Uptime.tolerance { return true }
    guard reminder.governingZone == .local else { return false }
    if let back = log.lastSetBack, time <= back { return true }
    let span = (time - Uptime.tolerance)...max(time, decision + Uptime.tolerance)
    return log.zoneChanges.contains { span.overlaps($0) }
  }
}

extension Occurrence {
  /// When it fired, or was found to be missed.
  fileprivate var decidedAt: Instant? { firedAt ?? endedAt }
}
