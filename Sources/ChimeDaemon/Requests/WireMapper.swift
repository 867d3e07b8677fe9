import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A WireMapper turns values of the domain into values of the wire. No other type knows both.
struct WireMapper: Sendable {
  let context: ReminderContext
  let now: Instant
  /// Why the wake-up alarm cannot be set; nil: it is set or not needed.
  var wakeProblem: String?
  /// The names of tenants, by owner.
  var tenants: [UInt32: String] = [:]

  private var zones: any ZoneSource { context.zones }

  func time(_ instant: Instant, in zone: Zone) -> Wire.Time {
    Wire.Time(at: RFC3339.format(instant, in: zone), zone: zone.identifier)
  }

  /// Returns a time in the machine's zone.
  func time(_ instant: Instant) -> Wire.Time { time(instant, in: zones.local) }

  func snapshot(_ snapshot: StoreSnapshot) -> DaemonInterface.StoreSnapshot {
    DaemonInterface.StoreSnapshot(
      takenAt: time(snapshot.takenAt), path: snapshot.path, bytes: Int(snapshot.bytes),
      beforeUpgradeFrom: snapshot.beforeUpgradeFrom)
  }

  /// Returns the zone that governs a reminder.
  func zone(of reminder: Reminder) -> Zone { context.zone(of: reminder) ?? .utc }

  func silence(_ silence: Silence) -> Wire.Silence {
    Wire.Silence(until: time(silence.until), critical: silence.coversCritical)
  }

  func reminder(_ record: ReminderRecord) -> RemindersInterface.Reminder {
    let reminder = record.reminder
    let zone = zone(of: reminder)
    var pausedUntil: Wire.Time?
    if case .until(let end) = reminder.pause, end > now { pausedUntil = time(end, in: zone) }
    let next = nextNotification(record)
    var shown = RemindersInterface.Reminder(
      id: reminder.id.rawValue, title: reminder.title, when: reminder.schedule.canonical,
      timezone: reminder.timezone.text, gap: reminder.gap.flatMap { Wire.Gap(rawValue: $0.rawValue) },
      fold: reminder.fold.flatMap { Wire.Fold(rawValue: $0.rawValue) }, latitude: reminder.place?.latitude,
      longitude: reminder.place?.longitude, channels: reminder.channels.map(\.rawValue),
      tags: reminder.tags, urgency: RemindersInterface.Reminder.Urgency(rawValue: reminder.urgency.rawValue) ?? .normal,
      catchUp: catchUp(reminder.catchUp),
      grace: DurationText.formatISO8601(reminder.grace),
      jitter: reminder.jitter == .zero ? nil : DurationText.formatISO8601(reminder.jitter),
      nag: reminder.nag.map(Self.nag),
      quiet: reminder.quiet.map(Self.quiet), wake: reminder.wake,
      wakeProblem: reminder.wake ? wakeProblem : nil, stay: reminder.stay,
      within: reminder.within.map(DurationText.formatISO8601),
      snooze: reminder.snoozeLengths.map(DurationText.formatISO8601),
      state: state(record), pausedUntil: pausedUntil, skipNext: reminder.skipNext,
      next: next.map { time($0.at, in: zone) }, held: next?.held.map { time($0, in: zone) },
      repeatAt: repeatAt(record).map { time($0, in: zone) },
      last: record.last.map { time($0.id.scheduledAt, in: zone) },
      lastDone: reminder.lastDone.map { time($0, in: zone) }, createdAt: time(reminder.createdAt, in: zone),
      tracker: reminder.tracker.map(link), set: reminder.set, tenant: tenants[reminder.owner])
    for text in ReminderFields.texts { shown[keyPath: text.shown] = reminder[keyPath: text.stored] }
    return shown
  }

  /// Returns the draft that would make this reminder, without its tracker.
  static func draft(of reminder: Reminder) -> RemindersInterface.Draft {
    var draft = RemindersInterface.Draft(
      title: reminder.title, latitude: reminder.place?.latitude, longitude: reminder.place?.longitude,
      channels: reminder.channels.map(\.rawValue), tags: reminder.tags,
      grace: DurationText.formatISO8601(reminder.grace), jitter: DurationText.formatISO8601(reminder.jitter),
      nag: reminder.nag.map(nag), quiet: reminder.quiet.map(quiet),
      within: reminder.within.map(DurationText.formatISO8601),
      snooze: reminder.snoozeLengths.map(DurationText.formatISO8601))
    for text in ReminderFields.texts { draft[keyPath: text.given] = reminder[keyPath: text.stored] }
    return draft
  }

  private func link(_ link: TrackerLink) -> RemindersInterface.TrackerLink {
    RemindersInterface.TrackerLink(
      tracker: link.tracker.rawValue, logs: link.logsWhenDone,
      amount: link.amount.flatMap { amount in link.unit.map { amount.value(in: $0) } }, unit: link.unit?.symbol,
      quietWhenDone: link.quietWhenDone, followsEntries: link.followsEntries, pace: link.pace)
  }

  /// Returns when the reminder next rings: at a time of its schedule, or at the end of a snooze. `held` is the time of the
  /// schedule that quiet hours delay until then.
  func nextNotification(_ record: ReminderRecord) -> (at: Instant, held: Instant?)? {
    let scheduled = nextScheduled(record)
    guard let snoozed = record.snoozedUntil, snoozed <= scheduled?.at ?? .latest else { return scheduled }
    return (snoozed, nil)
  }

  /// Returns the next time of the schedule that is not skipped, paused or dropped by quiet hours, with jitter and quiet hours.
  private func nextScheduled(_ record: ReminderRecord) -> (at: Instant, held: Instant?)? {
    // A reminder that waits for another has no known time.
    if waiting(record) != nil { return nil }
    let plan = NotificationTimes(record.reminder, context, now: now)
    return plan.first(of: record).map { ($0.at, $0.at == $0.scheduled + plan.offset ? nil : $0.scheduled) }
  }

  /// Returns the time that has come and waits until another reminder is done; nil: none does.
  func waiting(_ record: ReminderRecord) -> Instant? {
    guard record.reminder.onlyIfDone != nil, let next = record.next, let dueAt = record.nextDueAt,
      next + record.reminder.jitterOffset <= now, dueAt > now, context.quiet(of: record.reminder)?.end(at: now) == nil
    else { return nil }
    return next
  }

  /// Returns when an unanswered reminder is repeated next.
  func repeatAt(_ record: ReminderRecord) -> Instant? {
    record.reminder.nag == nil || record.reminder.pause.holds(at: now) ? nil : record.repeatAt
  }

  func state(_ record: ReminderRecord) -> RemindersInterface.Reminder.State {
    if record.reminder.pause.holds(at: now) { return .paused }
    if record.next != nil { return .active }
    if record.snoozedUntil != nil || record.pingDeadline != nil { return .waiting }
    if record.awaitsOther { return .active }
    // An unanswered one-off reminder is waiting until its grace ends.
    guard record.open > 0, let last = record.last, now - last.id.scheduledAt <= record.reminder.grace else {
      return .finished
    }
    return .waiting
  }

  private static func nag(_ nag: Nag) -> RemindersInterface.Nag {
    RemindersInterface.Nag(
      every: DurationText.formatISO8601(nag.every), max: nag.max,
      escalation: nag.escalation.map { .init(from: $0.from, channels: $0.channels.map(\.rawValue)) })
  }

  private static func quiet(_ rule: QuietRule) -> RemindersInterface.Quiet {
    RemindersInterface.Quiet(rule: rule.handling.flatMap { .init(rawValue: $0.rawValue) }, hours: rule.hours?.texts)
  }

  func catchUp(_ rules: CatchUp) -> RemindersInterface.CatchUp {
    RemindersInterface.CatchUp(
      suspend: RemindersInterface.CatchUp.Rule(rawValue: rules.suspend.rawValue) ?? .latest,
      downtime: RemindersInterface.CatchUp.Rule(rawValue: rules.downtime.rawValue) ?? .latest)
  }

  func occurrence(_ occurrence: Occurrence, zone: Zone? = nil) -> OccurrencesInterface.Occurrence {
    let zone = zone ?? zones.local
    var (snoozedUntil, pingDeadline): (Instant?, Instant?)
    var missed: OccurrencesInterface.Occurrence.Missed?
    let state: OccurrencesInterface.Occurrence.State
    switch occurrence.state {
    case .fired: state = .fired
    case .delivered: state = .delivered
    case .snoozed(let until):
      state = .snoozed
      snoozedUntil = until
    case .awaited(let until):
      state = .awaited
      pingDeadline = until
    case .done: state = .done
    case .dismissed: state = .dismissed
    case .missed(let reason):
      state = .missed
      missed = OccurrencesInterface.Occurrence.Missed(rawValue: reason.rawValue)
    }
    return OccurrencesInterface.Occurrence(
      id: occurrence.id.description, reminder: occurrence.id.reminder.rawValue, title: occurrence.title, state: state,
      scheduledAt: time(occurrence.id.scheduledAt, in: zone), firedAt: occurrence.firedAt.map { time($0, in: zone) },
      deliveredAt: occurrence.deliveredAt.map { time($0, in: zone) },
      endedAt: occurrence.endedAt.map { time($0, in: zone) }, snoozedUntil: snoozedUntil.map { time($0, in: zone) },
      pingDeadline: pingDeadline.map { time($0, in: zone) },
      late: occurrence.late.flatMap { OccurrencesInterface.Occurrence.Late(rawValue: $0.rawValue) },
      latenessMs: occurrence.lateness.map { Int($0.rawValue) }, missed: missed,
      missedCount: occurrence.missedRun.map(\.count), rounds: occurrence.rounds, repeats: occurrence.repeats,
      repeatAt: occurrence.repeatAt.map { time($0, in: zone) }, answeredBy: occurrence.answeredBy)
  }

  func delivery(_ delivery: Delivery, title: String, lastAttempt: Attempt?) -> DeliveriesInterface.Delivery {
    var next: Instant?
    var ended: Instant?
    let state: DeliveriesInterface.Delivery.State
    switch delivery.state {
    case .pending: state = .pending
    case .waiting(let until): (state, next) = (.waiting, until)
    case .delivered(let at): (state, ended) = (.delivered, at)
    case .dead(let at): (state, ended) = (.dead, at)
    case .cancelled(let at): (state, ended) = (.cancelled, at)
    }
    return DeliveriesInterface.Delivery(
      id: delivery.id.rawValue, reminder: delivery.occurrence.reminder.rawValue,
      occurrence: delivery.occurrence.description, title: title, channel: delivery.queue.channel.rawValue, state: state,
      round: delivery.round, attempts: delivery.attempts, createdAt: time(delivery.createdAt),
      nextAttempt: next.map { time($0) }, endedAt: ended.map { time($0) },
      lastResult: lastAttempt.map { $0.error ?? $0.status.map { "status \($0)" } ?? $0.outcome.rawValue },
      event: delivery.event?.kind.name)
  }

  func attempt(_ attempt: Attempt) -> DeliveriesInterface.Attempt {
    DeliveriesInterface.Attempt(
      number: attempt.number, startedAt: time(attempt.startedAt), durationMs: Int(attempt.took.rawValue),
      outcome: DeliveriesInterface.Attempt.Outcome(rawValue: attempt.outcome.rawValue) ?? .failed,
      status: attempt.status,
      response: attempt.answer, error: attempt.error)
  }

  func ping(_ ping: Ping, zone: Zone) -> ExpectationsInterface.PingRecord {
    ExpectationsInterface.PingRecord(
      at: time(ping.at, in: zone), kind: .init(rawValue: ping.kind.rawValue) ?? .succeeded, uid: Int(ping.uid),
      tenant: ping.endpoint == nil ? ping.via : nil, endpoint: ping.endpoint,
      durationMs: ping.took.map { Int($0.rawValue) }, status: ping.status, output: ping.output)
  }
}

extension WireMapper {
  /// Returns why a time to come will not ring, as things stand.
  ///
  /// - Parameter isAgain: whether it is the end of a snooze or a repeat. Only a met goal ends those.
  func skipReason(_ link: LinkedTracker?, at time: Instant, isAgain: Bool) -> Wire.SkipReason? {
    switch link?.verdict(on: time) {
    case .doneAlready: .doneAlready
    case .paused: isAgain ? nil : .paused
    case .skipped: isAgain ? nil : .skipped
    default: nil
    }
  }

  /// Returns a reminder with its texts filled in, and whether its next time will be passed over.
  func reminder(_ record: ReminderRecord, in transaction: any StoreTransaction) throws -> RemindersInterface.Reminder {
    var filled = record
    filled.reminder = try record.reminder.filled(in: transaction, context, now: now)
    var reminder = reminder(filled)
    reminder.follows = try chain(of: record.reminder, in: transaction)
    reminder.onlyIfDone = try condition(of: record, in: transaction)
    guard record.reminder.tracker?.quietWhenDone == true, let at = nextNotification(record)?.at else { return reminder }
    let link = try LinkedTracker.read(for: record.reminder, from: at, to: at, in: transaction, context)
    reminder.skipReason = skipReason(link, at: at, isAgain: at == record.snoozedUntil)
    return reminder
  }

  /// Returns the other reminder from which this one counts; nil: it has times of its own.
  func chain(of reminder: Reminder, in transaction: any StoreTransaction) throws -> Wire.Chain? {
    guard let chain = reminder.schedule.chain else { return nil }
    return Wire.Chain(
      event: .init(rawValue: chain.event.rawValue) ?? .done, reminder: chain.reminder,
      title: try title(of: ReminderID(rawValue: chain.reminder), owner: reminder.owner, in: transaction),
      delay: chain.delay == .zero ? nil : DurationText.formatISO8601(chain.delay))
  }

  /// Returns the other reminder that must be done first; nil: none.
  func condition(of record: ReminderRecord, in transaction: any StoreTransaction) throws -> Wire.Condition? {
    guard let id = record.reminder.onlyIfDone else { return nil }
    return Wire.Condition(
      reminder: id.rawValue, title: try title(of: id, owner: record.reminder.owner, in: transaction),
      since: waiting(record).map { time($0, in: zone(of: record.reminder)) })
  }

  private func title(
    of id: ReminderID, owner: UInt32, in transaction: any StoreTransaction
  ) throws -> String? {
    guard let other = try transaction.readableReminder(id)?.reminder, other.owner == owner else { return nil }
    return try other.filledTitle(in: transaction, context, now: now)
  }

  /// Returns the names of a day of a calendar, by language; nil: unknown.
  func dayNames(_ calendar: String, _ date: CivilDate) -> [String: String]? {
    calendar == PublicHolidays.calendarName ? context.holidays?.names(on: date) : nil
  }

  /// - Returns: nil if there are none.
  func excludedDays(_ days: [ExcludedDay]) -> [Wire.ExcludedDay]? {
    days.isEmpty
      ? nil
      : days.map { Wire.ExcludedDay(date: "\($0.date)", calendar: $0.calendar, names: dayNames($0.calendar, $0.date)) }
  }
}
