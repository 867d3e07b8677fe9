public import ChimeSchedule

/// A FiringDecision decides what fires, what quiet hours hold, what is missed and why, and which time comes next.
///
/// It is pure: the same due time, clock and random source give the same decision, in the daemon, in tests and in simulation.
///
///     let decision = FiringDecision(now: now, uptime: Uptime(runningSince: start))
///     let firing = decision.decide(due, timetable: timetable, quiet: quiet, using: &random)
public struct FiringDecision: Sendable {
  public var now: Instant
  public var uptime: Uptime
  /// The silences by owner.
  public var silences: [UInt32: Silence]

  /// The most times of one reminder that a decision evaluates.
  ///
  /// A longer downtime takes several decisions of bounded cost. All but the last record their times as missed, in runs.
  public static let lookahead = 10_000
  /// The search steps after which a decision stops, once it has the times that catching up may need.
  static let lookaheadSteps = 100_000

  /// The number of missed times for one reason up to which each gets a record; more are recorded as one run.
  public static let individually = 24

  public init(now: Instant, uptime: Uptime, silences: [UInt32: Silence] = [:]) {
    self.now = now
    self.uptime = uptime
    self.silences = silences
  }

  /// Returns whether the reminder or its owner is silent at a time.
  func isPaused(_ reminder: Reminder, at time: Instant) -> Bool {
    reminder.pause.holds(at: time) || silences[reminder.owner]?.holds(reminder, at: time) == true
  }

  /// Decides on one due time.
  ///
  /// - Parameters:
  ///   - quiet: the quiet hours that apply to the reminder; nil for none.
  ///   - link: data of the linked tracker, from the day of the due time to that of `now`; nil for none.
  ///   - condition: the state of the reminder that this one waits for; nil if it waits for none.
  public func decide(
    _ due: DueReminder, timetable: Timetable, quiet: Quiet? = nil, link: LinkedTracker? = nil,
    condition: DoneCondition? = nil, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    guard due.isRegular else { return decideAgain(due, quiet: quiet, link: link, using: &generator) }
    // An expectation awaits its ping in quiet hours too. Quiet hours hold only its alerts.
    let quiet = due.reminder.isExpectation ? nil : quiet
    return decideRegular(due, timetable: timetable, quiet: quiet, link: link, condition: condition, using: &generator)
  }

  /// An Outlook has the times from a due one to now, each with its verdict before quiet hours at `now` apply.
  private struct Outlook {
    var times: [Instant]
    var verdicts: [Verdict]
    /// The first time that was not evaluated.
    var next: Instant?
    /// Whether `next` has passed too.
    var remainsBehind: Bool
    /// The number of times that the user skipped.
    var skipped: Int
    /// Whether the search for the next time was given up.
    var isGivenUp: Bool
    /// Until when `next` waits for another reminder to be done; nil if it does not wait.
    var heldUntil: Instant?
  }

  private func outlook(
    _ due: DueReminder, timetable: Timetable, quiet: Quiet?, link: LinkedTracker?, condition: DoneCondition?
  ) -> Outlook {
    var walk = timetable.walk()
    func following(_ time: Instant) -> Instant? {
      if let link { link.next(after: time, &walk) } else { walk.next(after: time) }
    }
    let jitter = due.reminder.jitterOffset
    // A due time further behind its scheduled time was deferred: quiet hours held it until then.
    let heldUntil = due.dueAt > due.scheduledAt + jitter ? due.dueAt : nil
    let latest = now - jitter
    var times: [Instant] = [due.scheduledAt]
    var next = following(due.scheduledAt)
    while let time = next, time <= latest, times.count < Self.lookahead,
      walk.steps < Self.lookaheadSteps || times.count < 2 * CatchUp.cap
    {
      times.append(time)
      next = following(time)
    }
    if let time = next, time <= latest {
      // More than one decision may evaluate: keep back as many as catching up may need, and go on from there.
      next = times[times.count - CatchUp.cap]
      times.removeLast(CatchUp.cap)
    }
    var remainsBehind = next.map { $0 <= latest } ?? false
    // A time that waits for another reminder stays due, together with all that follow.
    var waitsUntil: Instant?
    if let condition, let first = times.firstIndex(where: { condition.holds($0, due.reminder, at: now) }) {
      waitsUntil = condition.end(of: times[first], due.reminder)
      (next, remainsBehind) = (times[first], false)
      times.removeSubrange(first...)
    }

    let skipped = min(due.reminder.skipNext, times.count)
    var verdicts = times.enumerated().map { position, time -> Verdict in
      if position < skipped { return .missed(.skipped) }
      if isPaused(due.reminder, at: time) { return .missed(.paused) }
      // For late times it also counts whether the goal has been met since.
      if let reason = link?.verdict(on: time) { return .missed(reason) }
      if link?.isDone(at: now) == true { return .missed(.doneAlready) }
      guard let condition else { return verdict(on: time + jitter, heldUntil: heldUntil, quiet) }
      guard let done = condition.done(onDayOf: time) else { return .missed(.notDone) }
      return verdict(on: time + jitter, heldUntil: heldUntil, doneAt: done, quiet)
    }
    applyCatchUp(due.reminder, times, jitter, &verdicts, remainsBehind: remainsBehind)
    return Outlook(
      times: times, verdicts: verdicts, next: next, remainsBehind: remainsBehind, skipped: skipped,
      isGivenUp: walk.isGivenUp, heldUntil: waitsUntil)
  }

  /// Returns the times from the due one on that passed during downtime: the missed ones, and those that fire late.
  ///
  /// Times that the catch-up rule `skip` leaves out count as neither. Nor do times of an expectation, whose ping is
  /// awaited from now on.
  public func passedDuringDowntime(
    _ due: DueReminder, timetable: Timetable, quiet: Quiet?, link: LinkedTracker?, condition: DoneCondition?
  ) -> (missed: [Instant], late: [Instant]) {
    let (reminder, jitter) = (due.reminder, due.reminder.jitterOffset)
    guard !reminder.isExpectation else { return ([], []) }
    guard due.isRegular else {
      guard let occurrence = due.occurrence, case .snoozed(let until) = occurrence.state,
        uptime.cause(of: until, now: now) == .downtime, !isPaused(reminder, at: now),
        link?.isDone(at: due.scheduledAt) != true, link?.isDone(at: now) != true
      else { return ([], []) }
      return now - until > reminder.grace ? ([until], []) : ([], [until])
    }
    guard due.scheduledAt + jitter <= now else { return ([], []) }
    let outlook = outlook(due, timetable: timetable, quiet: quiet, link: link, condition: condition)
    var (missed, late): ([Instant], [Instant]) = ([], [])
    for (time, verdict) in zip(outlook.times, outlook.verdicts).dropFirst(due.occurrence?.wasDelivered == true ? 1 : 0)
    {
      switch verdict {
      case .fires(.downtime): late.append(time)
      case .missed(.downtime) where rule(.downtime, reminder, time) != .skip: missed.append(time)
      case .missed(.overCap) where time + jitter < uptime.runningSince: missed.append(time)
      default: break
      }
    }
    return (missed, late)
  }

  private func decideRegular(
    _ due: DueReminder, timetable: Timetable, quiet: Quiet?, link: LinkedTracker?, condition: DoneCondition?,
    using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    let jitter = due.reminder.jitterOffset
    // The reminder may have changed since this time was made due.
    guard due.scheduledAt + jitter <= now else { return deferred(due, to: due.scheduledAt + jitter) }
    let outlook = outlook(due, timetable: timetable, quiet: quiet, link: link, condition: condition)
    if let end = outlook.heldUntil, outlook.times.isEmpty { return deferred(due, to: end) }
    var verdicts = outlook.verdicts

    // Whether the due time already fired before the clock went back.
    let isKnown = due.occurrence?.wasDelivered ?? false
    if let quiet, let end = quiet.end(at: now),
      verdicts.indices.contains(where: { verdicts[$0].isFiring && !(isKnown && $0 == 0) })
    {
      if !quiet.drops { return deferred(due, to: end) }
      for position in verdicts.indices where verdicts[position].isFiring { verdicts[position] = .missed(.quiet) }
    }
    var firing = record(
      due, Array(zip(outlook.times, verdicts).dropFirst(isKnown ? 1 : 0)), next: outlook.next, skipped: outlook.skipped,
      using: &generator)
    firing.isGivenUp = outlook.next == nil && outlook.isGivenUp
    firing.remainsBehind = outlook.remainsBehind
    firing.nextDueAt = outlook.heldUntil
    return firing
  }

  /// Defers the due time; all times that have passed by then are evaluated together.
  private func deferred(_ due: DueReminder, to time: Instant) -> FiringResult {
    FiringResult(
      due: due, occurrences: [], deliveries: [], next: due.scheduledAt, nextDueAt: time, advances: true,
      skipNext: due.reminder.skipNext)
  }

  private enum Verdict {
    case fires(LateCause?), missed(MissReason)

    var isFiring: Bool { if case .fires = self { true } else { false } }
  }

  /// Returns the verdict on a time that was to fire at `moment`, regardless of the other times.
  ///
  /// - Parameter doneAt: when the reminder that it waited for was done.
  private func verdict(
    on moment: Instant, heldUntil: Instant?, doneAt: Instant = .earliest, _ quiet: Quiet?
  ) -> Verdict {
    let awaited = max(moment, doneAt)
    var ringsAt = awaited
    if let quiet, let end = quiet.end(at: awaited) {
      if quiet.drops { return .missed(.quiet) }
      ringsAt = end
    }
    if let heldUntil, awaited <= heldUntil { ringsAt = max(ringsAt, heldUntil) }
    // A held time fires at the end of the quiet hours, unless no daemon could fire it then either.
    let held: LateCause? = ringsAt > awaited ? .quiet : awaited > moment ? .waited : nil
    return .fires(uptime.cause(of: ringsAt, now: now) ?? held)
  }

  /// Turns late times into missed ones where the reminder's catch-up rules say so.
  private func applyCatchUp(
    _ reminder: Reminder, _ times: [Instant], _ jitter: Milliseconds, _ verdicts: inout [Verdict], remainsBehind: Bool
  ) {
    // From the latest backwards: whether a later time fires, and how many late ones do.
    var laterFires = remainsBehind
    var caughtUp = remainsBehind ? CatchUp.cap : 0
    for position in times.indices.reversed() {
      guard case .fires(let cause) = verdicts[position] else { continue }
      guard let cause else {
        laterFires = true
        continue
      }
      let rule = rule(cause, reminder, times[position])
      // An expectation is never too late: its ping is awaited from now on.
      let tooLate = !reminder.isExpectation && now - (times[position] + jitter) > reminder.grace
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

  private func rule(_ cause: LateCause, _ reminder: Reminder, _ time: Instant) -> CatchUpRule {
    let rule =
      switch cause {
      case .downtime: reminder.catchUp.downtime
      case .suspend: reminder.catchUp.suspend
      // One popup in the morning, whatever the catch-up rules are.
      case .quiet, .waited: CatchUpRule.latest
      }
    // The clock went back before the creation of the reminder, and forward again: nobody expected those times.
    return rule == .all && time < reminder.createdAt && reminder.createdAt <= now ? .latest : rule
  }

  private func record(
    _ due: DueReminder, _ judged: [(time: Instant, verdict: Verdict)], next: Instant?, skipped: Int,
    using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    var occurrences: [Occurrence] = []
    var deliveries: [Delivery] = []
    var missed: [(reason: MissReason, times: [Instant])] = []
    // Of several times that fire together, only the latest repeats.
    let insists = judged.last { $0.verdict.isFiring }?.time
    var isRun = false
    for (time, verdict) in judged {
      // A run of missed times ends at a time that fires.
      defer { isRun = !verdict.isFiring }
      switch verdict {
      case .fires(let cause) where due.reminder.isExpectation:
        occurrences.append(awaited(due.reminder, at: time, late: cause))
      case .fires(let cause):
        let occurrence = Occurrence(
          id: OccurrenceID(reminder: due.reminder.id, scheduledAt: time), title: due.reminder.title,
          owner: due.reminder.owner, state: .fired, firedAt: now, late: cause, rounds: 1,
          repeatAt: time == insists ? firstRepeat(due.reminder) : nil)
        occurrences.append(occurrence)
        deliveries += self.deliveries(of: occurrence, due.reminder, using: &generator)
      case .missed(let reason):
        if isRun, missed.last?.reason == reason {
          missed[missed.count - 1].times.append(time)
        } else {
          missed.append((reason, [time]))
        }
      }
    }
    for group in missed { occurrences += record(missed: group.times, group.reason, due.reminder) }
    return FiringResult(
      due: due, occurrences: occurrences, deliveries: deliveries, next: next, advances: true,
      skipNext: due.reminder.skipNext - skipped)
  }

  /// Returns an occurrence of an expectation, which begins to await its ping.
  ///
  /// If no daemon could receive a ping at `time`, the ping is awaited from now on.
  private func awaited(_ reminder: Reminder, at time: Instant, late cause: LateCause?) -> Occurrence {
    let cause = cause ?? uptime.whyNoPingCame(at: time, now: now)
    return Occurrence(
      id: OccurrenceID(reminder: reminder.id, scheduledAt: time), title: reminder.title, owner: reminder.owner,
      state: .awaited(until: (cause == nil ? time : now) + (reminder.within ?? .zero)), late: cause)
  }

  private func record(missed times: [Instant], _ reason: MissReason, _ reminder: Reminder) -> [Occurrence] {
    guard let first = times.first else { return [] }
    return FiringResult.missed(
      times,
      like: Occurrence(
        id: OccurrenceID(reminder: reminder.id, scheduledAt: first), title: reminder.title, owner: reminder.owner,
        state: .missed(reason), endedAt: now))
  }
}

extension LateCause {
  /// The reason that is recorded for a time that this cause made too late to fire.
  public var missReason: MissReason {
    switch self {
    case .suspend: .suspend
    case .downtime: .downtime
    case .quiet: .quiet
    case .waited: .notDone
    }
  }
}
