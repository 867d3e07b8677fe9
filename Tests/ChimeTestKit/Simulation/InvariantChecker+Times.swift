import ChimeCore
import ChimeSchedule

// The times of schedules: each is recorded once, as fired or as missed with a reason.
extension InvariantChecker {
  func checkReminder(_ id: ReminderID, _ work: Work) {
    let former = known[id]
    guard let reminder = contents.reminders[id] else {
      // Its pings are gone too, and a backup may bring it back without them and with another definition.
      forgetTimetable(of: id)
      (known[id], pinging.last[id], pinging.lastSuccess[id]) = (nil, nil, nil)
      if !asks(work, .remove, of: id) { fail("\(work.kind) has removed the reminder \(id)") }
      return
    }
    let after = Known(reminder: reminder, regular: contents.regular[id])
    known[id] = after
    guard let former else { return checkNew(after, work) }
    if isNotice(reminder), let next = after.regular?.scheduledAt {
      fail("\"\(reminder.title)\" repeats as a notice at \(next.text)")
    }
    let before = withGivenTimes(former, after, work)
    let (from, to) = (before.regular?.scheduledAt, after.regular?.scheduledAt)
    var timetable: Timetable { self.timetable(reminder, work.context) }
    // A ping at the scheduled time is for that time.
    let isLookedAt = from.map { $0 <= work.now } ?? false && reminder.lastDone == before.reminder.lastDone
    // A ping also counts if later times have been evaluated already.
    let isPinged = if case .ping = work.kind { reminder.countsFromDone && reminder.lastDone == work.now } else { false }
    switch work.kind {
    case .fire: checkAdvance(before, after, work)
    case .ping(id, _) where isLookedAt && from != to: checkAdvance(before, after, work)
    case .client, .apply, .answer, .ping:
      if isReplacing(work) { return checkReplaced(before, after, work) }
      let isMoved =
        reminder.schedule != before.reminder.schedule || reminder.timezone != before.reminder.timezone
        || reminder.gap != before.reminder.gap || reminder.fold != before.reminder.fold
        || reminder.lastDone != before.reminder.lastDone || isPinged
      let right = isMoved ? timetable.next(after: work.now) : from
      if to != right { fail("\(id) is due at \(show(to)) after \(work.kind), and should be at \(show(right))") }
    case .recomputeDueTimes:
      let start = from == nil ? firstKnown(reminder, at: work.now) : work.now
      let right = from.map { $0 <= work.now } ?? false ? from : firstUnfired(reminder, timetable, after: start)
      if to != right { fail("\(id) is due at \(show(to)) after a recomputation, and should be at \(show(right))") }
    case .reevaluateHeld:
      if to != from { fail("a reevaluation has moved \(id) from \(show(from)) to \(show(to))") }
    default: fail("\(work.kind) has changed the reminder \(id)")
    }
    guard !asks(work, .edit, of: id) else { return }
    var definition = reminder
    definition.skipNext = before.reminder.skipNext
    definition.lastDone = before.reminder.lastDone
    definition.generation = before.reminder.generation
    definition.chainedTimes = before.reminder.chainedTimes
    if work.kind == .recomputeDueTimes, reminder.schedule != before.reminder.schedule {
      checkMove(before, after, work)
      definition.schedule = before.reminder.schedule
    }
    if work.kind == .client(.pause) || work.kind == .client(.resume) { definition.pause = before.reminder.pause }
    if definition != before.reminder { fail("\(work.kind) has changed the definition of \(id)") }
  }

  /// Checks a schedule that counts from a time after the present: after the clock went back, it must count from now,
  /// and wait no longer than before.
  private func checkMove(_ before: Known, _ after: Known, _ work: Work) {
    let id = after.reminder.id
    guard let from = before.reminder.schedule.countsFrom, from > work.now else {
      return fail("a recomputation has changed the schedule of \(id), which does not count from a future time")
    }
    if after.reminder.schedule.countsFrom != work.now { fail("the schedule of \(id) does not count from the present") }
    let wait = timetable(before.reminder, work.context).next(after: from).map { $0 - from }
    guard let wait, let next = after.regular?.scheduledAt, after.reminder.schedule.isOneOff else { return }
    // The date moves by whole days, and the UTC offset may differ by hours in another season.
    if next - work.now > wait + .hours(27) { fail("\(id) waits until \(next.text), although the clock went back") }
  }

  /// Returns whether a transaction may replace all of an owner's reminders.
  private func isReplacing(_ work: Work) -> Bool {
    work.kind == .client(.restore) || work.kind == .client(.undo) && world.undoesRestore
  }

  /// Checks that an owner has the reminders of the backup, or after an undo those of before it, and no others.
  func checkReplacement(_ work: Work) {
    guard isReplacing(work), let owner = world.asking else { return }
    for wanted in world.replacement {
      guard var found = contents.reminders[wanted.id] else {
        fail("\(work.kind) leaves \(wanted.id) out")
        continue
      }
      (found.owner, found.generation) = (0, 0)
      // Its tracker says when it was last done.
      if found.tracker != nil { found.lastDone = wanted.lastDone }
      // A goal that is met now ends what it follows.
      if chains.given[found.id] != nil { found.chainedTimes = wanted.chainedTimes }
      if found != wanted { fail("\(work.kind) has made \(wanted.id) another reminder: \(found), not \(wanted)") }
    }
    let names = Set(world.replacement.map(\.id))
    for (id, reminder) in contents.reminders where reminder.owner == owner && !names.contains(id) {
      if contents.regular[id] != nil || contents.again.keys.contains(where: { $0.reminder == id }) {
        fail("\(work.kind) leaves \(id), which is not in the backup")
      }
    }
  }

  /// Returns whether a client asks for this to be done with a reminder.
  func asks(_ work: Work, _ verb: PlannedAction.Verb, of id: ReminderID) -> Bool {
    work.kind.asks(verb, of: id) || isReplacing(work)
  }

  /// Checks a reminder that a restore, or its undo, has replaced by another definition.
  private func checkReplaced(_ before: Known, _ after: Known, _ work: Work) {
    let (from, to) = (before.regular?.scheduledAt, after.regular?.scheduledAt)
    let isMoved = !after.reminder.hasSameTimetable(as: before.reminder)
    let right =
      isMoved ? firstUnfired(after.reminder, timetable(after.reminder, work.context), after: work.now) : from
    if to != right {
      fail("\(after.reminder.id) is due at \(show(to)) after \(work.kind), and should be at \(show(right))")
    }
  }

  private func checkNew(_ new: Known, _ work: Work) {
    // Notices about disabled endpoints, downtime and recovered jobs fire at once and never again.
    if isNotice(new.reminder) { return checkNotice(new.reminder, work) }
    guard asks(work, .add, of: new.reminder.id) else {
      return fail("\(work.kind) has created the reminder \(new.reminder.id)")
    }
    let timetable = timetable(new.reminder, work.context)
    let right =
      isReplacing(work)
      ? firstUnfired(new.reminder, timetable, after: work.now) : timetable.next(after: work.now)
    if new.regular?.scheduledAt != right {
      fail("\(new.reminder.id) is due first at \(show(new.regular?.scheduledAt)), and should be at \(show(right))")
    }
  }

  /// The time after which a reminder that has ended may come again. Before it, the history says nothing.
  private func firstKnown(_ reminder: Reminder, at now: Instant) -> Instant {
    (try? Recompute.firstKnown(of: reminder, in: source, now: now)) ?? now
  }

  func show(_ time: Instant?) -> String { time?.text ?? "never" }

  // MARK: Firing

  private func checkAdvance(_ before: Known, _ after: Known, _ work: Work) {
    let (reminder, now) = (before.reminder, work.now)
    let id = reminder.id
    guard let regular = before.regular else {
      if after.regular != nil { fail("firing has given \(id) another time: \(show(after.regular?.scheduledAt))") }
      return
    }
    let (first, jitter) = (regular.scheduledAt, reminder.jitterOffset)
    let next = after.regular?.scheduledAt
    // The time of an expectation notifies nobody yet.
    let quiet = reminder.isExpectation ? nil : work.context.quiet(of: reminder)
    let dueAt = after.regular?.dueAt
    // What degraded mode has decided is recorded later, and releases others then.
    let releasedAt = decided == nil ? now : world.wall
    let isReleased =
      dueAt == releasedAt && chains.ends.contains { $0.event == .done && $0.reminder == reminder.onlyIfDone }
    if next == first {
      checkSkips(before, after, passed: 0)
      if waits(reminder, first, work) != .no { return }
      if !isReleased, dueAt != regular.dueAt, dueAt != first + jitter, dueAt != quiet?.end(at: now) {
        fail("\(id) is deferred to \(show(dueAt)) without a reason")
      }
      return
    }
    if first + jitter > now { return fail("\(id) was decided at \(now.text), before its time \(first.text)") }
    let timetable = timetable(reminder, work.context)
    var times: [Instant] = []
    var time: Instant? = first
    while let this = time, next.map({ this < $0 }) ?? true, times.count < 100_000 {
      if this + jitter > now { return fail("\(id) skipped \(this.text), which is in the future at \(now.text)") }
      times.append(this)
      time = timetable.next(after: this)
    }
    if time != next {
      return fail("\(id) is due next at \(show(next)), which is not one of its times: \(show(time)) is")
    }
    checkSkips(before, after, passed: times.count)
    let waiting = next.map { waits(reminder, $0, work) } ?? .no
    // A time that another firing of this transaction has just given, or released, is decided by the next one.
    let isJustGiven = next.map { chains.given[id]?.contains($0) == true } ?? false
    let remains = waiting != .yes && !isJustGiven && !isReleased && next.map { $0 + jitter <= now } ?? false
    if remains, waiting == .no, times.count < 1_000 {
      fail("\(id) stops at \(show(next)) although the time is \(now.text)")
    }
    checkFolds(reminder, times + [next].compactMap { $0 }, work)
    let judged = verdicts(of: times, reminder, work)
    guard world.storyIsSound else { return }
    if isConditional(reminder) { return checkConditional(judged, before, work) }
    checkVerdicts(judged, before, work, quiet: quiet, remains: remains)
  }

  /// Checks that each past time uses up one of the times to skip.
  private func checkSkips(_ before: Known, _ after: Known, passed: Int) {
    let left = max(0, before.reminder.skipNext - passed)
    guard after.reminder.skipNext != left else { return }
    fail("\(after.reminder.id) has \(after.reminder.skipNext) times to skip after \(passed), and should have \(left)")
  }

  struct Judged {
    var time: Instant
    /// Nil if it had fired before.
    var state: Occurrence.State?
    var late: LateCause?
  }

  /// Returns the outcome of each time; fails if one has no record.
  private func verdicts(of times: [Instant], _ reminder: Reminder, _ work: Work) -> [Judged] {
    var runs: [(run: Occurrence.MissedRun, state: Occurrence.State, left: Int)] = []
    var judged: [Judged] = []
    // A run from an earlier decision continues.
    for id in changed where id.reminder == reminder.id {
      guard let new = contents.occurrences[id] else { continue }
      guard let run = new.missedRun, new.endedAt == work.now, let first = times.first, id.scheduledAt < first,
        run.through >= first
      else { continue }
      runs.append((run, new.state, run.count - (occurrences[id]?.missedRun?.count ?? 1)))
    }
    for time in times {
      let id = OccurrenceID(reminder: reminder.id, scheduledAt: time)
      if hasFired(reminder.id, time) {
        judged.append(Judged(time: time))
        continue
      }
      if let new = contents.occurrences[id], new.endedAt == work.now || new.firedAt == work.now {
        judged.append(Judged(time: time, state: new.state, late: new.late))
        if let run = new.missedRun { runs.append((run, new.state, run.count - 1)) }
        continue
      }
      if contents.occurrences[id] != nil || isInFormerRun(id) {
        // The time has an earlier record, because the clock went back or the definition changed.
        judged.append(Judged(time: time))
        continue
      }
      guard let run = runs.lastIndex(where: { $0.left > 0 && $0.run.through >= time }) else {
        fail("the time \(time.text) of \(reminder.id) has passed without a record")
        return judged
      }
      runs[run].left -= 1
      judged.append(Judged(time: time, state: runs[run].state))
    }
    if runs.contains(where: { $0.left > 0 }) {
      fail("a run of missed times of \(reminder.id) counts too many times")
    }
    return judged
  }

  /// Returns whether a run of missed times that this decision has not touched contains the time.
  private func isInFormerRun(_ id: OccurrenceID) -> Bool {
    runs[id.reminder]?.contains { first, through in
      first <= id.scheduledAt && id.scheduledAt <= through
        && !changed.contains(OccurrenceID(reminder: id.reminder, scheduledAt: first))
    } ?? false
  }

  private func checkVerdicts(
    _ judged: [Judged], _ before: Known, _ work: Work, quiet: Quiet?, remains: Bool
  ) {
    let (reminder, now) = (before.reminder, work.now)
    let jitter = reminder.jitterOffset
    let isQuietNow = quiet?.end(at: now) != nil
    // A degraded-mode decision may have been held by quiet hours that have changed since.
    let heldUntil = before.regular.flatMap { regular in
      let dueAt = decidedDueAt ?? regular.dueAt
      return dueAt > regular.scheduledAt + jitter ? dueAt : nil
    }
    var (later, caughtUp) = (remains, remains ? CatchUp.cap : 0)
    var (laterKnown, knownCount) = (false, 0)
    for (position, one) in judged.enumerated().reversed() {
      guard let state = one.state else {
        (laterKnown, knownCount) = (true, knownCount + 1)
        continue
      }
      let moment = one.time + jitter
      func wrong(_ why: String) { fail("\(reminder.id) at \(one.time.text) is \(state) at \(now.text): \(why)") }
      let isFired = if case .missed = state { false } else { true }
      if position < reminder.skipNext {
        if state != .missed(.skipped) { wrong("it should be skipped") }
        continue
      }
      if reminder.pause.holds(at: one.time) {
        if state != .missed(.paused) { wrong("the reminder was paused") }
        continue
      }
      // Days longer ago than 400 are not read (`LinkedTracker`).
      let isRead = now - one.time < .days(390) || state != .missed(.doneAlready)
      let asked = now - one.time < .days(390) ? [one.time, now] : [now]
      let isDone = !isRead || asked.contains { trackers.isDone(reminder, at: $0, contents, work.context) }
      // What was decided without the store may have known less, or more.
      if decided == nil ? isDone : state == .missed(.doneAlready) {
        if state != .missed(.doneAlready) { wrong("the goal of its tracker is met") }
        continue
      }
      if let quiet, quiet.drops, quiet.end(at: moment) != nil {
        if state != .missed(.quiet) { wrong("quiet hours drop it") }
        continue
      }
      var heard = quiet?.end(at: moment) ?? moment
      if let heldUntil, moment <= heldUntil { heard = max(heard, heldUntil) }
      let isLate = now - heard > .seconds(60)
      let cause: LateCause? =
        isLate ? (heard < work.uptime.runningSince ? .downtime : .suspend) : heard > moment ? .quiet : nil
      if isFired, isQuietNow { wrong("it is in quiet hours") }
      if isFired, one.late != cause {
        wrong("its cause of lateness is \(show(one.late)), and should be \(show(cause))")
      }
      if state == .missed(.quiet), quiet?.drops == true, isQuietNow {
        // It would have fired, so earlier ones gave way to it.
        (laterKnown, knownCount) = (true, knownCount + 1)
        continue
      }
      guard let cause else {
        if !isFired { wrong("it was on time") }
        later = true
        continue
      }
      var rule: CatchUpRule =
        switch cause {
        case .suspend: reminder.catchUp.suspend
        case .downtime: reminder.catchUp.downtime
        case .quiet, .waited: .latest
        }
      // Times before the reminder's creation are not caught up one by one.
      if rule == .all, one.time < reminder.createdAt, reminder.createdAt <= now { rule = .latest }
      let isUseless = !reminder.isExpectation && now - moment > reminder.grace
      if isFired {
        if rule == .skip { wrong("the catch-up rule skips late times") }
        if isUseless { wrong("it is later than its grace") }
        if rule == .latest, later { wrong("a later one fires") }
        caughtUp += 1
        if caughtUp > CatchUp.cap { wrong("more than \(CatchUp.cap) are caught up") }
        later = true
      } else if state == .missed(.overCap) {
        if rule != .all || isUseless || caughtUp + knownCount < CatchUp.cap {
          wrong("fewer than the cap were caught up")
        }
      } else {
        let reason: MissReason = cause == .suspend ? .suspend : cause == .downtime ? .downtime : .quiet
        if state != .missed(reason) { wrong("the reason is \(reason)") }
        let isRight = rule == .skip || isUseless || (rule == .latest && (later || laterKnown))
        if !isRight { wrong("it should be caught up") }
      }
    }
  }

  private func show(_ cause: LateCause?) -> String { cause?.rawValue ?? "nothing" }

  /// Checks that civil times increase across a DST fold, for schedules that count a fold once.
  private func checkFolds(_ reminder: Reminder, _ times: [Instant], _ work: Work) {
    guard Self.countsFoldsOnce(reminder), times.count > 1, let zone = work.context.zone(of: reminder) else { return }
    var last = zone.civil(at: times[0])
    for time in times.dropFirst() {
      let reading = zone.civil(at: time)
      if reading <= last { fail("\(reminder.id) fires twice in one fold: \(last.date) \(last.time), \(reading.time)") }
      last = reading
    }
  }

  private static func countsFoldsOnce(_ reminder: Reminder) -> Bool {
    guard reminder.fold != .both else { return false }
    let text = reminder.schedule.canonical
    switch reminder.schedule.dialect {
    case .phrase: return text.contains(" at ") && !text.contains("from") && !text.contains("after done")
    case .cron:
      if reminder.fold != nil { return true }
      let fields = text.split(separator: " ")
      return fields.count == 6 && !fields[1].hasPrefix("*") && !fields[2].hasPrefix("*")
    case .rrule: return text.contains("FREQ=DAILY") || text.contains("FREQ=WEEKLY") || text.contains("FREQ=MONTHLY")
    case .calendar, .solar: return false
    }
  }

  // MARK: Between transactions

  /// Checks, while nothing is in flight, that a reminder's next time is its first future time that has not fired.
  func audit(_ id: ReminderID, _ loop: SimulatedDaemon) {
    guard let known = known[id], let reminder = contents.reminders[id] else { return }
    if reminder != known.reminder || contents.regular[id] != known.regular {
      return fail("the reminder \(id) has changed without a cause")
    }
    // Allow time to catch up after a store failure.
    if world.storeFault != nil { return }
    if let failed = loop.storeFailedAt, world.mono - failed < 600_000 { return }
    checkHold(known, loop)
    let timetable = timetable(reminder, loop.core.context)
    let next = known.regular?.scheduledAt
    if let next, next <= world.wall { return }
    let start = next == nil ? firstKnown(reminder, at: world.wall) : world.wall
    var right = firstUnfired(reminder, timetable, after: start)
    // One whose record was removed while the clock was behind it may come again, and need not.
    while let time = right, time != next, prunedAhead[id]?.contains(time) == true {
      right = firstUnfired(reminder, timetable, after: time)
    }
    guard let right else {
      // One that has fired may wait to be found so.
      if let next, !hasFired(id, next) { fail("\(id) waits for \(next.text), which is no longer one of its times") }
      return
    }
    if let next, next < right, hasFired(id, next) { return }
    // One that had ended has come again from where history begins. The checker has forgotten what it fired before.
    if let next, next == firstUnfired(reminder, timetable, after: firstKnown(reminder, at: world.wall)) { return }
    if next != right { fail("\(id) waits for \(show(next)), and its next time is \(right.text)") }
  }

  /// Checks that a time that has come is put off only until the end of present quiet hours.
  private func checkHold(_ known: Known, _ loop: SimulatedDaemon) {
    guard let regular = known.regular, !isConditional(known.reminder) else { return }
    let moment = regular.scheduledAt + known.reminder.jitterOffset
    guard moment <= world.wall, regular.dueAt > world.wall else { return }
    let end = loop.core.context.quiet(of: known.reminder)?.end(at: world.wall)
    if end != regular.dueAt {
      fail("\(known.reminder.id) is put off until \(regular.dueAt.text), and the quiet hours end at \(show(end))")
    }
  }
}
