import ChimeCore
import ChimeSchedule

// Expectations, pings, and Chime's own notices.
extension InvariantChecker {
  struct Pinging {
    /// The last successful ping of each reminder since the clock was last set; later records of earlier pings do not count.
    var lastSuccess: [ReminderID: Instant] = [:]
    /// The last ping of each reminder that ended a run.
    var last: [ReminderID: Ping.Kind] = [:]
    /// The expectations reported down without a successful ping or an answer *done* since.
    var down: Set<ReminderID> = []
    /// The occurrences that the current transaction reports.
    var reported: Set<OccurrenceID> = []
    /// The number of notices that it creates.
    var notices = 0
    /// The moment from which a ping counts for an awaited occurrence.
    var from: [OccurrenceID: Instant] = [:]
    /// Times whose ping was awaited and that do not recur.
    var begun: [ReminderID: Set<Instant>] = [:]
    /// How often this daemon reported downtime to each owner.
    var downtimesReported: [UInt32: Int] = [:]
    /// How often the current transaction reports downtime to each owner.
    var downtimesTold: [UInt32: Int] = [:]
    /// The number of firing transactions that this daemon has committed.
    var fires = 0
    /// Until when events may be late, by CLOCK_BOOTTIME in milliseconds.
    var roughUntil: Int64 = 0
  }

  /// The maximum delay of the report about a missing ping, while nothing disturbs the daemon.
  private static let promptness = Milliseconds.seconds(1)

  func isExpectation(_ id: OccurrenceID) -> Bool {
    (decided ?? contents.reminders[id.reminder])?.isExpectation ?? false
  }

  /// Permits late events for so many milliseconds.
  func permitDelays(for length: Int64) { pinging.roughUntil = max(pinging.roughUntil, world.real + length) }

  /// Whether nothing has disturbed the daemon for a while.
  func isCalm(for length: Milliseconds) -> Bool {
    guard let loop = world.loop, loop.isReady, !loop.isStopping, loop.core.degradedMode.isEmpty, world.storeFault == nil
    else {
      return false
    }
    if let failed = loop.storeFailedAt, world.mono - failed < 30_000 + length.rawValue { return false }
    return world.real - pinging.roughUntil > length.rawValue + 30_000
  }

  // MARK: Awaited pings

  func checkAwaited(_ old: Occurrence?, _ new: Occurrence, _ reminder: Reminder?, _ work: Work) {
    let (id, now) = (new.id, work.now)
    var before: Instant?
    if case .awaited(let until)? = old?.state { before = until }
    let quiet = reminder.flatMap { work.context.quiet(of: $0) }
    func wrong(_ why: String) {
      let former = old.map { "\($0.state)" } ?? "nothing"
      fail("\(work.kind) has made \(id) \(new.state) at \(now.text); it was \(former): \(why)")
    }
    switch new.state {
    case .awaited(let until):
      guard let reminder, let within = reminder.within else { return wrong("it expects no ping") }
      let right: Instant?
      switch work.kind {
      case .ping(id.reminder, .started): right = now + within
      case .ping(id.reminder, .failed): right = quiet?.end(at: now)
      case .fire:
        if let before {
          if before > now { wrong("its deadline has not passed") }
          // No ping could arrive while no daemon ran.
          let isAnew = before < work.uptime.runningSince || now - before > Uptime.tolerance
          right = isAnew ? now + within : quiet.flatMap { $0.drops ? nil : $0.end(at: now) }
        } else {
          let isAnew = id.scheduledAt < work.uptime.runningSince || now - id.scheduledAt > Uptime.tolerance
          right = (isAnew ? now : id.scheduledAt) + within
        }
      // The clock went back.
      case .recomputeDueTimes where before.map { $0 > now + within } ?? false: right = now + within
      default: return wrong("only firing or a ping may do that")
      }
      if until != right { wrong("its deadline is \(show(right))") }
      switch work.kind {
      case .ping(id.reminder, .started): pinging.from[id] = now
      // A successful ping in the same millisecond precedes the failure.
      case .ping(id.reminder, .failed): pinging.from[id] = now + .milliseconds(1)
      default: if before == nil { pinging.from[id] = id.scheduledAt }
      }
    case .fired:
      checkFirst(new, reminder, work)
      guard work.kind == .fire else { return }
      guard let before else { return wrong("no ping was awaited") }
      if before > now { wrong("its deadline has not passed") }
      if before < work.uptime.runningSince || now - before > Uptime.tolerance { wrong("no ping could arrive") }
      if reminder?.pause.holds(at: now) ?? false { wrong("it is paused") }
      if quiet?.end(at: now) != nil { wrong("it is in quiet hours") }
      if let heard = pinging.lastSuccess[id.reminder], let from = pinging.from[id], heard >= from, heard <= before {
        wrong("its ping came at \(heard.text)")
      }
      let late = now - before
      if decided == nil, late > Self.promptness, isCalm(for: late) {
        wrong("it is reported \(late) after its deadline")
      }
    case .missed(let reason):
      world.figures.misses[reason, default: 0] += 1
      if !mayMiss(work, id) { wrong("only firing may do that") }
      let isRight =
        switch reason {
        case .paused: reminder?.pause.holds(at: now) ?? false
        case .quiet: quiet.map { $0.drops && $0.end(at: now) != nil } ?? false
        default: false
        }
      if !isRight { wrong("there is no such reason") }
    case .done, .dismissed: if !isAnswer(work.kind) { wrong("there was no answer") }
    case .delivered, .snoozed: wrong("it has not fired")
    }
  }

  /// Checks that no deadline for a ping passes unnoticed while nothing is in flight.
  func checkAwaitedTimes() {
    guard isCalm(for: Self.promptness) else { return }
    for (id, at) in contents.again where at + Self.promptness < world.wall {
      guard contents.occurrences[id]?.isAwaited == true else { continue }
      fail("the ping for \(id) was expected by \(at.text), and its absence is not recorded")
    }
  }

  /// Returns whether a transaction may record the time as missed: in firing, at a ping, or beyond the limit of a chain.
  func mayMiss(_ work: Work, _ id: OccurrenceID) -> Bool {
    if work.kind == .fire || isPing(work, id) { return true }
    return contents.occurrences[id]?.state == .missed(.overCap)
      && contents.reminders[id.reminder]?.schedule.chain != nil
  }

  // MARK: Pings

  func isPing(_ work: Work, _ id: OccurrenceID) -> Bool {
    if case .ping(id.reminder, _) = work.kind { true } else { false }
  }

  /// Returns whether degraded mode has decided to await a ping that had come, perhaps before the clock was set.
  func isPinged(_ new: Occurrence) -> Bool {
    guard decided != nil, let end = new.endedAt, new.id.scheduledAt <= end else { return false }
    return contents.pings[new.id.reminder]?.contains { $0.at == end && $0.kind == .succeeded } ?? false
  }

  func noteReported(_ old: Occurrence?, _ new: Occurrence, _ reminder: Reminder?, _ work: Work) {
    guard reminder?.isExpectation == true else { return }
    // Times dropped by quiet hours are awaited again after the clock goes back.
    if new.wasDelivered {
      pinging.begun[new.id.reminder, default: []].insert(new.id.scheduledAt)
    } else {
      pinging.begun[new.id.reminder]?.remove(new.id.scheduledAt)
    }
    // Firing on request says nothing about the job.
    if new.firedAt != nil, old?.firedAt == nil, work.kind != .client(.fire) {
      pinging.down.insert(new.id.reminder)
      pinging.reported.insert(new.id)
    }
    guard new.state == .done, old?.isOpen == true else { return }
    let isOpen = contents.occurrenceIDs(of: new.id.reminder).contains { contents.occurrences[$0]?.isOpen == true }
    if !isOpen { pinging.down.remove(new.id.reminder) }
  }

  /// Returns whether an expectation is down when its ping arrives.
  func isDown(_ work: Work) -> Bool {
    (pinging.reported, pinging.notices) = ([], 0)
    guard case .ping(let id, _) = work.kind else { return false }
    return pinging.down.contains(id)
  }

  func checkPing(_ changes: MemoryTransaction.Changes, _ work: Work, wasDown: Bool) {
    guard case .ping(let id, let kind) = work.kind, let reminder = contents.reminders[id], let within = reminder.within
    else { return }
    world.figures.pings += 1
    let now = work.now
    func wrong(_ why: String) { fail("the ping of \(id) (\(kind)) at \(now.text): \(why)") }
    let all = contents.occurrences(of: id)
    // Future occurrences were awaited while the clock was ahead, and count only for the end of a run.
    let former = contents.pings[id]?.dropFirst().first
    let begun = former?.kind == .started && kind != .started ? former?.at ?? now : now
    let awaited = all.filter { $0.isAwaited && $0.id.scheduledAt <= max(now, begun) }
    let notices = pinging.notices
    if contents.pings[id]?.first != Ping(at: now, kind: kind, uid: Simulation.owner) { wrong("it is not stored") }
    if kind != .started, reminder.countsFromDone, reminder.lastDone != now {
      wrong("the next time does not count from it")
    }
    switch kind {
    case .started:
      if awaited.compactMap(\.recursAt).max() != now + within, !(awaited.isEmpty && reminder.pause.holds(at: now)) {
        wrong("the deadline of the run is \(show(awaited.compactMap(\.recursAt).max()))")
      }
      if !pinging.reported.isEmpty || notices > 0 { wrong("something is reported") }
    case .succeeded:
      if let left = awaited.first ?? all.first(where: \.isOpen) { wrong("\(left.id) is still \(left.state)") }
      if notices != (wasDown ? 1 : 0) { wrong("its recovery is reported \(notices) times") }
      if !pinging.reported.isEmpty { wrong("something is reported") }
      if notices > 0 { world.figures.recoveries += 1 }
      pinging.down.remove(id)
    case .failed:
      let quietEnd = work.context.quiet(of: reminder)?.end(at: now)
      if let left = awaited.first(where: { $0.recursAt != quietEnd }) { wrong("\(left.id) is still \(left.state)") }
      let isKnown = pinging.last[id] == .failed && all.contains { $0.isOpen && !pinging.reported.contains($0.id) }
      let isTold = !isKnown && !reminder.pause.holds(at: now) && quietEnd == nil
      if pinging.reported.count != (isTold ? 1 : 0) { wrong("the failure is reported \(pinging.reported.count) times") }
      if notices > 0 { wrong("a recovery is reported") }
    }
    // The start of a run supersedes earlier pings, even in the same millisecond.
    guard kind != .started else { return pinging.lastSuccess[id] = nil }
    pinging.last[id] = kind
    // A failure held by quiet hours is reported at their end.
    if kind == .succeeded, now <= world.wall { pinging.lastSuccess[id] = now }
  }

  // MARK: Notices

  func isNotice(_ reminder: Reminder) -> Bool { reminder.tags.contains("chime") }

  func checkNotice(_ reminder: Reminder, _ work: Work) {
    pinging.notices += 1
    if reminder.tags.contains("downtime") { pinging.downtimesTold[reminder.owner, default: 0] += 1 }
    let isRight =
      switch work.kind {
      case .outbox: true
      case .fire: reminder.tags.contains("downtime")
      case .ping(_, .succeeded): true
      default: false
      }
    if !isRight { fail("\(work.kind) creates the notice \"\(reminder.title)\"") }
  }

  /// Checks that downtime is reported once, with the first firing, if occurrences were missed or late because of it.
  func checkDowntime(_ changes: MemoryTransaction.Changes, _ work: Work) {
    pinging.fires += 1
    let told = pinging.downtimesTold
    pinging.downtimesTold = [:]
    let seen = changes.occurrences.compactMap { id -> UInt32? in
      guard let new = contents.occurrences[id], let reminder = contents.reminders[id.reminder],
        !reminder.isExpectation
      else { return nil }
      switch new.state {
      case .fired: return new.firedAt == work.now && new.late == .downtime && new.rounds == 1 ? new.owner : nil
      case .missed(.downtime):
        return new.endedAt == work.now && reminder.catchUp.downtime != .skip ? new.owner : nil
      default: return nil
      }
    }
    if !told.isEmpty { world.figures.downtimes += 1 }
    for (owner, count) in told {
      pinging.downtimesReported[owner, default: 0] += count
      let all = pinging.downtimesReported[owner] ?? 0
      if all > 1 { fail("one daemon reports downtime \(all) times to \(owner)") }
    }
    if !told.isEmpty, pinging.fires > 1 { fail("downtime is reported after the first firing") }
    guard pinging.fires == 1, world.loop?.startedAt == work.uptime.runningSince else { return }
    for owner in Set(seen).sorted() where told[owner] == nil {
      fail("times of \(owner) were missed or late because of downtime, which is not reported")
    }
  }
}
