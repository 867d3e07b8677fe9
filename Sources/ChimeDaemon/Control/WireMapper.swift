import ChimeControl
import ChimeCore
import ChimeSchedule

/// Turns the domain's values into the wire's. The two change separately; this is the one place that knows both.
struct WireMapper: Sendable {
  let bearings: Bearings
  let now: Instant

  private var zones: ZoneCatalog { bearings.zones }

  func time(_ instant: Instant, in zone: Zone) -> Wire.Time {
    Wire.Time(at: RFC3339.format(instant, in: zone), zone: zone.identifier)
  }

  /// In the machine's zone.
  func time(_ instant: Instant) -> Wire.Time { time(instant, in: zones.local) }

  /// The one that governs it.
  func zone(of reminder: Reminder) -> Zone { bearings.zone(of: reminder) ?? .utc }

  func reminder(_ record: ReminderRecord) -> RemindersInterface.Reminder {
    let reminder = record.reminder
    let zone = zone(of: reminder)
    var pausedUntil: Wire.Time?
    if case .until(let end) = reminder.pause, end > now { pausedUntil = time(end, in: zone) }
    let next = nextHeard(record)
    return RemindersInterface.Reminder(
      id: reminder.id.rawValue, title: reminder.title, body: reminder.body, when: reminder.schedule.canonical,
      timezone: reminder.timezone.text, gap: reminder.gap.flatMap { Wire.Gap(rawValue: $0.rawValue) },
      fold: reminder.fold.flatMap { Wire.Fold(rawValue: $0.rawValue) }, latitude: reminder.place?.latitude,
      longitude: reminder.place?.longitude, channels: reminder.channels.map(\.rawValue),
      tags: reminder.tags, urgency: Wire.Urgency(rawValue: reminder.urgency.rawValue) ?? .normal, icon: reminder.icon,
      sound: reminder.sound, url: reminder.url, catchUp: catchUp(reminder.catchUp),
      grace: DurationText.formatISO8601(reminder.grace), snooze: reminder.snoozeLengths.map(DurationText.formatISO8601),
      state: state(record), pausedUntil: pausedUntil, skipNext: reminder.skipNext,
      next: next.map { time($0, in: zone) }, last: record.last.map { time($0.id.scheduledAt, in: zone) },
      lastDone: reminder.lastDone.map { time($0, in: zone) }, createdAt: time(reminder.createdAt, in: zone))
  }

  /// When the reminder will next be heard: its next time that is neither skipped nor falls into a pause, or the end of
  /// a snooze when that comes first.
  func nextHeard(_ record: ReminderRecord) -> Instant? {
    var next = record.next
    if next != nil, record.reminder.skipNext > 0 || record.reminder.pause != .none {
      let timetable = bearings.timetable(of: record.reminder)
      for _ in 0..<record.reminder.skipNext { next = next.flatMap { timetable.next(after: $0) } }
      if case .until(let end) = record.reminder.pause, let time = next, time < end {
        next = timetable.next(after: end - .milliseconds(1))
      }
    }
    return [next, record.snoozedUntil].compactMap { $0 }.min()
  }

  func state(_ record: ReminderRecord) -> RemindersInterface.State {
    if record.reminder.pause.holds(at: now) { return .paused }
    if record.next != nil { return .active }
    if record.snoozedUntil != nil { return .waiting }
    // A one-off that nobody answers is waited for as long as it is useful.
    guard record.open > 0, let last = record.last, now - last.id.scheduledAt <= record.reminder.grace else {
      return .finished
    }
    return .waiting
  }

  private func catchUp(_ rules: CatchUp) -> Wire.CatchUp {
    Wire.CatchUp(
      suspend: Wire.CatchUpRule(rawValue: rules.suspend.rawValue) ?? .latest,
      downtime: Wire.CatchUpRule(rawValue: rules.downtime.rawValue) ?? .latest)
  }

  func occurrence(_ occurrence: Occurrence, zone: Zone? = nil) -> OccurrencesInterface.Occurrence {
    let zone = zone ?? zones.local
    var snoozedUntil: Instant?
    var missed: OccurrencesInterface.Missed?
    let state: OccurrencesInterface.State
    switch occurrence.state {
    case .fired: state = .fired
    case .delivered: state = .delivered
    case .snoozed(let until):
      state = .snoozed
      snoozedUntil = until
    case .done: state = .done
    case .dismissed: state = .dismissed
    case .missed(let reason):
      state = .missed
      missed = OccurrencesInterface.Missed(rawValue: reason.rawValue)
    }
    return OccurrencesInterface.Occurrence(
      id: occurrence.id.description, reminder: occurrence.id.reminder.rawValue, title: occurrence.title, state: state,
      scheduledAt: time(occurrence.id.scheduledAt, in: zone), firedAt: occurrence.firedAt.map { time($0, in: zone) },
      deliveredAt: occurrence.deliveredAt.map { time($0, in: zone) },
      endedAt: occurrence.endedAt.map { time($0, in: zone) }, snoozedUntil: snoozedUntil.map { time($0, in: zone) },
      late: occurrence.late.flatMap { OccurrencesInterface.Late(rawValue: $0.rawValue) },
      latenessMs: occurrence.lateness.map { Int($0.rawValue) }, missed: missed,
      missedCount: occurrence.missedRun.map(\.count), rounds: occurrence.rounds)
  }

  func delivery(_ delivery: Delivery, title: String, lastAttempt: Attempt?) -> DeliveriesInterface.Delivery {
    var next: Instant?
    var ended: Instant?
    let state: DeliveriesInterface.State
    switch delivery.state {
    case .pending: state = .pending
    case .waiting(let until): (state, next) = (.waiting, until)
    case .delivered(let at): (state, ended) = (.delivered, at)
    case .dead(let at): (state, ended) = (.dead, at)
    case .cancelled(let at): (state, ended) = (.cancelled, at)
    }
    return DeliveriesInterface.Delivery(
      id: delivery.id.rawValue, reminder: delivery.occurrence.reminder.rawValue,
      occurrence: delivery.occurrence.description, title: title, channel: delivery.lane.channel.rawValue, state: state,
      round: delivery.round, attempts: delivery.attempts, createdAt: time(delivery.createdAt),
      nextAttempt: next.map { time($0) }, endedAt: ended.map { time($0) },
      lastResult: lastAttempt.map { $0.error ?? $0.status.map { "status \($0)" } ?? $0.outcome.rawValue })
  }

  func attempt(_ attempt: Attempt) -> DeliveriesInterface.Attempt {
    DeliveriesInterface.Attempt(
      number: attempt.number, startedAt: time(attempt.startedAt), tookMs: Int(attempt.took.rawValue),
      outcome: DeliveriesInterface.Outcome(rawValue: attempt.outcome.rawValue) ?? .failed, status: attempt.status,
      answer: attempt.answer, error: attempt.error)
  }

  func endpoint(_ endpoint: Endpoint, owed: Int) -> EndpointsInterface.Endpoint {
    EndpointsInterface.Endpoint(
      name: endpoint.lane.channel.rawValue, url: endpoint.url, createdAt: time(endpoint.createdAt),
      disabled: endpoint.disabled?.reason, owed: owed)
  }
}
