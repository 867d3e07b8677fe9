public import ChimeSchedule

/// Decides what becomes of a due time: what fires, what is held, what is recorded as missed and why, and what comes next.
///
/// Pure: the same due time, clock and random source give the same decision, in the daemon, in tests and in simulation.
///
///     let decision = FiringDecision(now: now, uptime: Uptime(runningSince: start))
///     let firing = decision.decide(due, timetable: timetable, quiet: quiet, using: &random)
public struct FiringDecision: Sendable {
  public var now: Instant
  public var uptime: Uptime
  /// Until when everything of an owner is silent.
  public var silences: [UInt32: Silence]

  /// How many times of one reminder a single decision looks at. A longer absence is worked off in several
  /// decisions, each of bounded cost, whose earlier parts are recorded as runs of missed times.
  public static let lookahead = 10_000
  /// The steps of searches after which it looks no further either, once it has what catching up may need.
  static let lookaheadSteps = 100_000

  /// Missed times for one reason are recorded one by one up to this number, and as one run beyond it.
  public static let individually = 24

  public init(now: Instant, uptime: Uptime, silences: [UInt32: Silence] = [:]) {
    self.now = now
    self.uptime = uptime
    self.silences = silences
  }

  /// Whether it keeps silent at a time, by itself or with all others.
  func isPaused(_ reminder: Reminder, at time: Instant) -> Bool {
    reminder.pause.holds(at: time) || silences[reminder.owner]?.holds(reminder, at: time) == true
  }

  /// - Parameters:
  ///   - quiet: the quiet hours that the reminder is under; nil for none.
  ///   - link: what is known of the tracker that it is linked to, from the day of the due time to that of `now`; nil for none.
  ///   - condition: what is known of the reminder that it waits for; nil when it waits for none.
  public func decide(
    _ due: DueReminder, timetable: Timetable, quiet: Quiet? = nil, link: LinkedTracker? = nil,
    condition: DoneCondition? = nil, using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    guard due.isRegular else { return decideAgain(due, quiet: quiet, link: link, using: &generator) }
    // An expectation awaits its ping in quiet hours too: they hold what it tells.
    let quiet = due.reminder.isExpectation ? nil : quiet
    return decideRegular(due, timetable: timetable, quiet: quiet, link: link, condition: condition, using: &generator)
  }

  /// The times from a due one to now, and what becomes of each unless quiet hours hold it now.
  private struct Outlook {
    var times: [Instant]
    var verdicts: [Verdict]
    /// The first time that was not looked at.
    var next: Instant?
    /// Whether that has come too.
    var remainsBehind: Bool
    /// How many were skipped by hand.
    var skipped: Int
    /// Whether the search for the next time was given up.
    var isGivenUp: Bool
    /// Until when `next` waits for another reminder to be done; nil: it does not.
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
    // A due time that lies further behind its scheduled time has been put off: quiet hours held it until then.
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
      // More than one decision can look at: keep back as many as catching up may need, and go on from there.
      next = times[times.count - CatchUp.cap]
      times.removeLast(CatchUp.cap)
    }
    var remainsBehind = next.map { $0 <= latest } ?? false
    // What waits for another reminder stays due with all that follow it.
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
      // Of what comes late it also counts whether it has been done since.
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

  /// The times behind a due one that passed during downtime: those that are missed for it, and those that come late. What its
  /// catch-up rule leaves out as a matter of course (`skip`) is neither; nor is a time of an expectation, whose ping is
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
    for (time, verdict) in zip(outlook.times, outlook.verdicts).dropFirst(due.occurrence?.wasHeard == true ? 1 : 0) {
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
    // Its definition may have changed since it was made due.
    guard due.scheduledAt + jitter <= now else { return putOff(due, to: due.scheduledAt + jitter) }
    let outlook = outlook(due, timetable: timetable, quiet: quiet, link: link, condition: condition)
    if let end = outlook.heldUntil, outlook.times.isEmpty { return putOff(due, to: end) }
    var verdicts = outlook.verdicts

    // Of what was heard before the clock went back.
    let isKnown = due.occurrence?.wasHeard ?? false
    if let quiet, let end = quiet.end(at: now),
      verdicts.indices.contains(where: { verdicts[$0].isFiring && !(isKnown && $0 == 0) })
    {
      if !quiet.drops { return putOff(due, to: end) }
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

  /// Lets the due time stand and looks at it later. What has passed by then is looked at together.
  private func putOff(_ due: DueReminder, to time: Instant) -> FiringResult {
    FiringResult(
      due: due, occurrences: [], deliveries: [], next: due.scheduledAt, nextDueAt: time, advances: true,
      skipNext: due.reminder.skipNext)
  }

  private enum Verdict {
    case fires(LateCause?), missed(MissReason)

    var isFiring: Bool { if case .fires = self { true } else { false } }
  }

  /// What becomes of a time that was to ring at `moment`, as far as it stands alone.
  ///
  /// - Parameter doneAt: when that was done which it waited for.
  private func verdict(
    on moment: Instant, heldUntil: Instant?, doneAt: Instant = .earliest, _ quiet: Quiet?
  ) -> Verdict {
    let awaited = max(moment, doneAt)
    var heard = awaited
    if let quiet, let end = quiet.end(at: awaited) {
      if quiet.drops { return .missed(.quiet) }
      heard = end
    }
    if let heldUntil, awaited <= heldUntil { heard = max(heard, heldUntil) }
    // What was held is heard when the quiet hours end, unless nobody could fire it then either.
    let held: LateCause? = heard > awaited ? .quiet : awaited > moment ? .waited : nil
    return .fires(uptime.cause(of: heard, now: now) ?? held)
  }

  /// Turns late times that the reminder's rules do not let fire into missed ones.
  private func applyCatchUp(
    _ reminder: Reminder, _ times: [Instant], _ jitter: Milliseconds, _ verdicts: inout [Verdict], remainsBehind: Bool
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
      let rule = rule(cause, reminder, times[position])
      // A run that was due is due still: its ping is awaited from now on.
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
      // One popup in the morning, whatever the rules for absence are.
      case .quiet, .waited: CatchUpRule.latest
      }
    // The clock went back behind the making of the reminder, and forward again: those times were nobody's to wait for.
    return rule == .all && time < reminder.createdAt && reminder.createdAt <= now ? .latest : rule
  }

  private func record(
    _ due: DueReminder, _ judged: [(time: Instant, verdict: Verdict)], next: Instant?, skipped: Int,
    using generator: inout some RandomNumberGenerator
  ) -> FiringResult {
    var occurrences: [Occurrence] = []
    var deliveries: [Delivery] = []
    var missed: [(reason: MissReason, times: [Instant])] = []
    // Of several that fire together only the latest insists.
    let insists = judged.last { $0.verdict.isFiring }?.time
    var isRun = false
    for (time, verdict) in judged {
      // No run goes on over a time that fires.
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

  /// At a time of an expectation its ping begins to be awaited. What came while nobody could fire is awaited from now on: no
  /// ping could come before.
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
  /// The reason under which a time that came too late for this cause is recorded as missed.
  public var missReason: MissReason {
    switch self {
    case .suspend: .suspend
    case .downtime: .downtime
    case .quiet: .quiet
    case .waited: .notDone
    }
  }
}
