import ChimeSchedule

// Due times outside the schedule: the end of a snooze, the deadline of a ping, and the repeats of unanswered
// occurrences. None of them consumes a scheduled time.
extension FiringDecision {
  func decideAgain(
    _ due: DueReminder, quiet: Quiet?, link: LinkedTracker?, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    if var occurrence = due.occurrence, occurrence.isOpen,
      link?.isDone(at: due.scheduledAt) == true || link?.isDone(at: now) == true
    {
      // It was done in the meantime through its tracker, without an answer.
      occurrence.state = .done
      occurrence.endedAt = now
      occurrence.repeatAt = nil
      return firing(due, occurrence, [])
    }
    return switch due.occurrence?.state {
    case .snoozed(let until): decideSnoozed(due, until: until, using: &generator)
    case .awaited(let until): decideAwaited(due, until: until, quiet: quiet, using: &generator)
    case .fired, .delivered: decideRepeat(due, quiet: quiet, using: &generator)
    // It was answered in the meantime: only the due time is left to remove.
    case .done, .dismissed, .missed, nil: firing(due, nil, [])
    }
  }

  // The user asked for this very time, so it fires in quiet hours too.
  private func decideSnoozed(
    _ due: DueReminder, until: Instant, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    guard var occurrence = due.occurrence else { return firing(due, nil, []) }
    let cause = uptime.cause(of: until, now: now)
    if isPaused(due.reminder, at: now) {
      occurrence.state = .missed(.paused)
      occurrence.endedAt = now
    } else if let cause, now - until > due.reminder.grace {
      occurrence.state = .missed(cause.missReason)
      occurrence.endedAt = now
    } else {
      occurrence.tell(at: now, repeatAt: firstRepeat(due.reminder))
      occurrence.late = cause
      return firing(due, occurrence, deliveries(of: occurrence, due.reminder, using: &generator))
    }
    return firing(due, occurrence, [])
  }

  /// Decides on an occurrence whose ping did not come in time.
  private func decideAwaited(
    _ due: DueReminder, until: Instant, quiet: Quiet?, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    guard var occurrence = due.occurrence else { return firing(due, nil, []) }
    if isPaused(due.reminder, at: now) {
      occurrence.state = .missed(.paused)
      occurrence.endedAt = now
    } else if let cause = uptime.whyNoPingCame(at: until, now: now), let within = due.reminder.within {
      // While no daemon ran, no ping could arrive, and perhaps the job that pings did not run either.
      occurrence.state = .awaited(until: now + within)
      occurrence.late = cause
    } else if let quiet, let end = quiet.end(at: now) {
      occurrence.state = quiet.drops ? .missed(.quiet) : .awaited(until: end)
      if quiet.drops { occurrence.endedAt = now }
    } else {
      occurrence.tell(at: now, repeatAt: firstRepeat(due.reminder))
      return firing(due, occurrence, deliveries(of: occurrence, due.reminder, using: &generator))
    }
    return firing(due, occurrence, [])
  }

  private func decideRepeat(
    _ due: DueReminder, quiet: Quiet?, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    guard var occurrence = due.occurrence, let planned = occurrence.repeatAt else { return firing(due, nil, []) }
    occurrence.repeatAt = nil
    let isUseless = uptime.cause(of: planned, now: now) != nil && now - planned > due.reminder.grace
    guard let nag = due.reminder.nag, occurrence.repeats < nag.max, !isPaused(due.reminder, at: now), !isUseless
    else { return firing(due, occurrence, []) }
    if let end = quiet?.end(at: now) {
      occurrence.repeatAt = end
      return firing(due, occurrence, [])
    }
    occurrence.state = .fired
    occurrence.rounds += 1
    occurrence.repeats += 1
    // Counted from now, not from the planned time, so that repeats missed during sleep come once.
    if occurrence.repeats < nag.max { occurrence.repeatAt = now + nag.every }
    return firing(due, occurrence, deliveries(of: occurrence, due.reminder, using: &generator))
  }

  /// Returns the time of the first repeat of what fires now; nil if the reminder does not repeat.
  func firstRepeat(_ reminder: Reminder) -> Instant? { reminder.nag.map { now + $0.every } }

  private func firing(_ due: DueReminder, _ occurrence: Occurrence?, _ deliveries: [Delivery]) -> FiringResult {
    FiringResult(
      due: due, occurrences: occurrence.map { [$0] } ?? [], deliveries: deliveries, next: nil, advances: false,
      skipNext: due.reminder.skipNext)
  }

  func deliveries(
    of occurrence: Occurrence, _ reminder: Reminder, using generator: inout some RandomNumberGenerator
  ) -> [Delivery] {
    reminder.channels(atRepeat: occurrence.repeats).map { channel in
      Delivery(
        id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id,
        queue: DeliveryQueue(owner: reminder.owner, channel: channel), round: occurrence.rounds, createdAt: now)
    }
  }

  /// Fires a reminder outside its schedule, at the current second, in quiet hours too.
  public func fireNow(
    _ reminder: Reminder, using generator: inout some RandomNumberGenerator
  ) -> (occurrence: Occurrence, deliveries: [Delivery]) {
    // Scheduled times are whole seconds. The current one serves as both scheduled time and firing time.
    let second = Instant(seconds: now.seconds)
    let occurrence = Occurrence(
      id: OccurrenceID(reminder: reminder.id, scheduledAt: second), title: reminder.title, owner: reminder.owner,
      state: .fired, firedAt: second, rounds: 1, repeatAt: firstRepeat(reminder))
    return (occurrence, deliveries(of: occurrence, reminder, using: &generator))
  }
}
