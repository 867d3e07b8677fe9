public import ChimeSchedule

/// A ScheduleAudit compares the times that a reminder's schedule had with the recorded history.
///
///     let audit = try ScheduleAudit.of(versions, from: start, before: end, in: transaction, context, log, now: now)
///     audit.unexplained    // 0
///
/// A time is explained if it has a record: it fired, or was missed for a reason. Unexplained times indicate a bug.
public struct ScheduleAudit: Hashable, Sendable {
  /// The number of scheduled times.
  public private(set) var times = 0
  public private(set) var onTime = 0
  public private(set) var late: [LateCause: Int] = [:]
  public private(set) var missed: [MissReason: Int] = [:]
  /// Times that fired, or will fire, at another moment than scheduled because a user moved them.
  public private(set) var moved = 0
  /// Times that have come and that quiet hours or jitter hold.
  public private(set) var waiting = 0
  public private(set) var unexplained = 0
  /// The first unexplained times, at most `named`.
  public private(set) var unexplainedTimes: [Instant] = []
  /// Times without a record whose context changed since, so that the schedule may never have had them.
  public private(set) var uncertain = 0
  /// Records of times that no schedule had: fired on request.
  public private(set) var beside = 0
  /// From scheduled time plus jitter to firing, for times that fired on time.
  public private(set) var lateness = DurationCounts()
  /// From firing to *Done*.
  public private(set) var answers = DurationCounts()
  /// Why the times cannot be recomputed; nil if they can.
  public private(set) var unknown: Unknown?

  public enum Unknown: String, Hashable, Sendable, CaseIterable {
    /// Entries of a tracker pace its times.
    case paced
    /// The machine no longer has its zone.
    case zone
  }

  /// The most unexplained times that are listed.
  public static let named = 20

  private var run: Run?

  /// A Run is a run of missed times recorded as one occurrence.
  private struct Run: Hashable, Sendable {
    var reason: MissReason
    var first: Instant
    var through: Instant
    var decidedAt: Instant?
    /// The number of its times still to come; nil if it began before the audited range.
    var left: Int?
  }

  public init() {}

  /// Compares a batch of times with the records of the same range.
  ///
  /// - Parameters:
  ///   - times: ascending, each with its definition, after those of earlier calls.
  ///   - records: the reminder's occurrences, ascending, from the end of the last call's range to the end of `times`.
  ///   - isUncertain: whether the schedule may not have had a time that lacks a record; the last argument is when the run
  ///     that should include it, or the next recorded time, was decided, if there is one.
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
      } else {
        let (first, decision) = decision(on: time, next: records[next...].first)
        guard !isUncertain(first, version, decision) else {
          uncertain += 1
          continue
        }
        unexplained += 1
        if unexplainedTimes.count < Self.named { unexplainedTimes.append(time) }
      }
    }
    beside += records.count - next
    for record in records[next...] { begin(record) }
  }

  /// Returns the first time that was decided together with `time`, and when: the zone must be known for all of a run.
  private func decision(on time: Instant, next: Occurrence?) -> (first: Instant, at: Instant?) {
    guard let run, time <= run.through else { return (time, next.flatMap { $0.firedAt ?? $0.endedAt }) }
    return (run.first, run.decidedAt)
  }

  private mutating func begin(_ record: Occurrence) {
    guard let run = record.missedRun, case .missed(let reason) = record.state else { return }
    // The record itself stands for the first time.
    self.run = Run(
      reason: reason, first: record.id.scheduledAt, through: run.through, decidedAt: record.endedAt, left: run.count - 1
    )
  }

  private mutating func count(_ record: Occurrence, of reminder: Reminder) {
    guard let fired = record.firedAt else {
      switch record.state {
      case .missed(let reason): missed[reason, default: 0] += 1
      // The ping came, or may still come.
      case .done where reminder.isExpectation: onTime += 1
      case .awaited: onTime += 1
      // It was done before the reminder fired.
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

  /// Drops the audit's data before `end`, because partial history proves nothing.
  public static func forget(before end: Instant, in transaction: any StoreTransaction) throws {
    try transaction.forgetVersions(before: end)
    try ScheduleContextLog.forget(before: end, in: transaction)
    if try keptSince(in: transaction) ?? .earliest < end {
      try transaction.setNote(keptNote, String(end.milliseconds))
    }
  }

  /// Returns the time from which on history is complete; nil if none was removed yet.
  public static func keptSince(in transaction: any StoreTransaction) throws -> Instant? {
    try transaction.note(keptNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
  }

  /// The number of times compared in one batch.
  private static let window = 2_000
  /// The number of earlier records that are searched for a run of missed times that reaches into the audited range.
  private static let nearby = 200

  /// Audits one reminder.
  ///
  /// - Parameters:
  ///   - versions: the reminder's definitions, as the store returns them.
  ///   - goOn: called between batches; throws to end the audit.
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
      let records = try transaction.allOccurrences(OccurrenceFilter(reminder: id, from: place, before: last))
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

  /// A Stretch is a part of a version's times that were computed in one zone.
  private struct Stretch {
    var from: Instant
    var before: Instant
    /// The zone; nil if the machine no longer has it.
    var zone: Zone?
    var isWaiting = false
  }

  private static func stretches(
    of version: ReminderVersion, before end: Instant, now: Instant, _ context: ReminderContext,
    _ log: ScheduleContextLog
  ) -> [Stretch] {
    // A held time is not decided yet. If it stays undecided for longer than the tolerance, it counts as forgotten.
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

  /// Returns whether the schedule's context changed since `time`, or its zone changed before the time was decided.
  ///
  /// Times that pass during downtime are computed in the zone at the next start.
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
