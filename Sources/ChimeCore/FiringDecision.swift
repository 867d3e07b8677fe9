public import ChimeSchedule

/// Decides what becomes of a due time: what fires, what is recorded as missed and why, and what comes next.
///
/// Pure: the same due time, clock and random source give the same decision, in the daemon, in tests and in simulation.
///
///     let decision = FiringDecision(now: now, absence: Absence(runningSince: start))
///     let firing = decision.decide(due, timetable: due.reminder.timetable(in: zone), using: &random)
public struct FiringDecision: Sendable {
  public var now: Instant
  public var absence: Absence

  /// How many times of one reminder a single decision looks at. A longer absence is worked off in several
  /// decisions, each of bounded cost, whose earlier parts are recorded as runs of missed times.
  public static let lookahead = 10_000

  /// Missed times for one reason are recorded one by one up to this number, and as one run beyond it.
  public static let individually = 24

  public init(now: Instant, absence: Absence) {
    self.now = now
    self.absence = absence
  }

  public func decide(
    _ due: DueReminder, timetable: Timetable, using generator: inout some RandomNumberGenerator
  ) -> Firing {
    // A regular time whose occurrence is snoozed has been heard before: the clock went back.
    if let occurrence = due.occurrence, case .snoozed(let until) = occurrence.state, until == due.dueAt {
      return decideSnoozed(occurrence, due, using: &generator)
    }
    return decideRegular(due, timetable: timetable, using: &generator)
  }

  // A snooze that ends consumes no time of the schedule.
  private func decideSnoozed(
    _ snoozed: Occurrence, _ due: DueReminder, using generator: inout some RandomNumberGenerator
  ) -> Firing {
    var occurrence = snoozed
    var deliveries: [Delivery] = []
    let cause = absence.cause(of: due.dueAt, now: now)
    if due.reminder.pause.holds(at: now) {
      occurrence.state = .missed(.paused)
      occurrence.endedAt = now
    } else if let cause, now - due.dueAt > due.reminder.grace {
      occurrence.state = .missed(cause.missReason)
      occurrence.endedAt = now
    } else {
      occurrence.state = .fired
      occurrence.rounds += 1
      occurrence.late = cause
      deliveries = self.deliveries(of: occurrence, due.reminder, using: &generator)
    }
    return Firing(
      due: due, occurrences: [occurrence], deliveries: deliveries, next: nil, advances: false,
      skipNext: due.reminder.skipNext)
  }

  private func decideRegular(
    _ due: DueReminder, timetable: Timetable, using generator: inout some RandomNumberGenerator
  ) -> Firing {
    var times: [Instant] = [due.scheduledAt]
    var next = timetable.next(after: due.scheduledAt)
    while let time = next, time <= now, times.count < Self.lookahead {
      times.append(time)
      next = timetable.next(after: time)
    }
    if let time = next, time <= now {
      // More than one decision can look at: keep back as many as catching up may need, and go on from there.
      next = times[times.count - CatchUp.cap]
      times.removeLast(CatchUp.cap)
    }
    let remainsBehind = next.map { $0 <= now } ?? false

    let skipped = min(due.reminder.skipNext, times.count)
    var verdicts = times.enumerated().map { position, time -> Verdict in
      if position < skipped { return .missed(.skipped) }
      return due.reminder.pause.holds(at: time) ? .missed(.paused) : .fires(absence.cause(of: time, now: now))
    }
    applyCatchUp(due.reminder, times, &verdicts, remainsBehind: remainsBehind)

    var occurrences: [Occurrence] = []
    var deliveries: [Delivery] = []
    var missed: [(reason: MissReason, times: [Instant])] = []
    for (time, verdict) in zip(times, verdicts) {
      // What the store has already in another state than missed was heard before: the clock went back.
      if time == due.scheduledAt, let known = due.occurrence, known.firedAt != nil { continue }
      switch verdict {
      case .fires(let cause):
        let occurrence = Occurrence(
          id: OccurrenceID(reminder: due.reminder.id, scheduledAt: time), title: due.reminder.title,
          owner: due.reminder.owner, state: .fired, firedAt: now, late: cause, rounds: 1)
        occurrences.append(occurrence)
        deliveries += self.deliveries(of: occurrence, due.reminder, using: &generator)
      case .missed(let reason):
        if missed.last?.reason == reason {
          missed[missed.count - 1].times.append(time)
        } else {
          missed.append((reason, [time]))
        }
      }
    }
    for group in missed { occurrences += record(missed: group.times, group.reason, due.reminder) }
    return Firing(
      due: due, occurrences: occurrences, deliveries: deliveries, next: next, advances: true,
      skipNext: due.reminder.skipNext - skipped)
  }

  private enum Verdict { case fires(LateCause?), missed(MissReason) }

  /// Turns late times that the reminder's rules do not let fire into missed ones.
  private func applyCatchUp(
    _ reminder: Reminder, _ times: [Instant], _ verdicts: inout [Verdict], remainsBehind: Bool
  ) {
    // From the latest backwards: whether something later fires, and how many late ones do.
    var laterFires = remainsBehind
    var caughtUp = remainsBehind ? CatchUp.cap : 0
    for position in times.indices.reversed() {
      guard case .fires(let cause) = verdicts[position] else { continue }
      guard let cause else {
        laterFires = true
        continue
      }
      let rule = cause == .downtime ? reminder.catchUp.downtime : reminder.catchUp.suspend
      let tooLate = now - times[position] > reminder.grace
      switch rule {
      case .skip: verdicts[position] = .missed(cause.missReason)
      case .latest where laterFires || tooLate: verdicts[position] = .missed(cause.missReason)
      case .all where tooLate: verdicts[position] = .missed(cause.missReason)
      case .all where caughtUp >= CatchUp.cap: verdicts[position] = .missed(.overCap)
      case .latest, .all:
        laterFires = true
        caughtUp += 1
      }
    }
  }

  private func record(missed times: [Instant], _ reason: MissReason, _ reminder: Reminder) -> [Occurrence] {
    func occurrence(_ time: Instant, run: Occurrence.MissedRun?) -> Occurrence {
      Occurrence(
        id: OccurrenceID(reminder: reminder.id, scheduledAt: time), title: reminder.title, owner: reminder.owner,
        state: .missed(reason), endedAt: now, missedRun: run)
    }
    guard times.count > Self.individually, let first = times.first, let last = times.last else {
      return times.map { occurrence($0, run: nil) }
    }
    return [occurrence(first, run: Occurrence.MissedRun(count: times.count, through: last))]
  }

  private func deliveries(
    of occurrence: Occurrence, _ reminder: Reminder, using generator: inout some RandomNumberGenerator
  ) -> [Delivery] {
    reminder.channels.map { channel in
      Delivery(
        id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id,
        lane: Lane(owner: reminder.owner, channel: channel), round: occurrence.rounds, createdAt: now)
    }
  }
}

extension LateCause {
  /// The reason under which a time that came too late for this cause is recorded as missed.
  public var missReason: MissReason {
    switch self {
    case .suspend: .suspend
    case .downtime: .downtime
    }
  }
}

extension FiringDecision {
  /// Fires a reminder beside its schedule, at the present second.
  public func fireNow(
    _ reminder: Reminder, using generator: inout some RandomNumberGenerator
  ) -> (occurrence: Occurrence, deliveries: [Delivery]) {
    // Scheduled times are whole seconds: the present one is both when it was to fire and when it did.
    let second = Instant(seconds: now.seconds)
    let occurrence = Occurrence(
      id: OccurrenceID(reminder: reminder.id, scheduledAt: second), title: reminder.title, owner: reminder.owner,
      state: .fired, firedAt: second, rounds: 1)
    return (occurrence, deliveries(of: occurrence, reminder, using: &generator))
  }
}
