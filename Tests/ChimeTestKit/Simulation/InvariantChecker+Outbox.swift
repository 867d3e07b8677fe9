import ChimeCore
import ChimeSchedule

// Occurrences, deliveries, and timers.
extension InvariantChecker {
  func checkOccurrence(_ id: OccurrenceID, _ work: Work) {
    let old = occurrences[id]
    guard let new = contents.occurrences[id] else { return fail("the occurrence \(id) is gone") }
    occurrences[id] = new
    let reminder = decided ?? contents.reminders[id.reminder]
    noteReported(old, new, reminder, work)
    if new.isAwaited || old?.isAwaited == true, old?.firedAt == nil {
      checkAwaited(old, new, reminder, work)
    } else if let old, old.firedAt != nil {
      checkKnown(old, new, reminder, work)
    } else if case .missed(let reason) = new.state {
      if old == nil || old?.endedAt != new.endedAt {
        world.figures.misses[reason, default: 0] += new.missedRun?.count ?? 1
      }
      if old?.state != new.state, !mayMiss(work, id) { fail("\(work.kind) has recorded \(id) as missed") }
    } else if new.firedAt != nil {
      checkFirst(new, reminder, work)
    } else if new.state != .done, new.state != .dismissed || !isPing(work, id) && !isPinged(new) {
      fail("\(id) is \(new.state) and has not fired")
    }
    checkOverlap(old, new, work)
  }

  /// Checks that no time has both a record of its own and a place in a run of missed times.
  private func checkOverlap(_ old: Occurrence?, _ new: Occurrence, _ work: Work) {
    let id = new.id
    guard let reminder = contents.reminders[id.reminder], var known = runs[id.reminder], !known.isEmpty else { return }
    // A time recorded later was decided in the former zone, where it may have been no time of the reminder.
    if old != nil { known = [:] }
    func isIts(_ time: Instant) -> Bool {
      timetable(reminder, work.context).next(after: time - .milliseconds(1)) == time
    }
    // A run of a former definition has other times.
    for (first, through) in known
    where first < id.scheduledAt && id.scheduledAt <= through && isIts(id.scheduledAt) && isIts(first) {
      fail("\(id) is \(new.state), and belongs to the run of missed times from \(first.text) to \(through.text)")
    }
    guard let through = new.missedRun?.through, old?.missedRun?.through != through else { return }
    let meanwhile = contents.occurrenceIDs(
      of: id.reminder, from: id.scheduledAt + .milliseconds(1), before: through + .milliseconds(1))
    for other in meanwhile where isIts(other.scheduledAt) {
      fail("the run of missed times from \(id) to \(through.text) counts \(other) too, which has a record")
    }
  }

  func checkFirst(_ new: Occurrence, _ reminder: Reminder?, _ work: Work) {
    let id = new.id
    world.figures.fires += 1
    if fired[id.reminder, default: []].insert(id.scheduledAt).inserted == false { fail("\(id) has fired twice") }
    guard let reminder else { return fail("\(id) fired for a missing reminder") }
    switch work.kind {
    case .fire:
      if id.scheduledAt + reminder.jitterOffset > work.now { fail("\(id) fired before its time, at \(work.now.text)") }
      if !isNotice(reminder), new.firedAt != work.now { fail("\(id) says it fired at \(show(new.firedAt))") }
    case .client(.fire), .outbox, .ping(_, .succeeded), .ping(_, .failed): break
    default: fail("\(work.kind) has fired \(id)")
    }
    if new.rounds != 1 || new.repeats != 0 { fail("\(id) starts with round \(new.rounds), repeat \(new.repeats)") }
    checkPending(new, reminder)
  }

  private func checkKnown(_ old: Occurrence, _ new: Occurrence, _ reminder: Reminder?, _ work: Work) {
    let (id, now) = (new.id, work.now)
    if new.firedAt == work.now, old.firedAt != work.now { return fail("\(id) has fired twice") }
    if new.rounds == old.rounds + 1 {
      guard work.kind == .fire, let reminder else { return fail("\(work.kind) has fired \(id) again") }
      if old.recursAt.map({ $0 > now }) ?? true {
        fail("\(id) fired again at \(now.text), and should have at \(show(old.recursAt))")
      }
      if decided == nil,
        [id.scheduledAt, now].contains(where: { trackers.isDone(reminder, at: $0, contents, work.context) })
      {
        fail("\(id) fired again, and the goal of its tracker is met")
      }
      if reminder.pause.holds(at: now) { fail("\(id) fired again while its reminder was paused") }
      world.figures.repeats += 1
      if case .snoozed = old.state {
        if new.repeats != 0 { fail("\(id) counts repeats before its snooze") }
      } else {
        if new.repeats != old.repeats + 1 { fail("\(id) goes from repeat \(old.repeats) to \(new.repeats)") }
        if new.repeats > reminder.nag?.max ?? 0 { fail("\(id) is repeated \(new.repeats) times") }
        if work.context.quiet(of: reminder)?.end(at: now) != nil { fail("\(id) is repeated in quiet hours") }
      }
      return checkPending(new, reminder)
    }
    if new.rounds != old.rounds || new.repeats != old.repeats {
      return fail("\(id) counts \(old.rounds), then \(new.rounds)")
    }
    let isRight: Bool =
      switch (old.state, new.state) {
      case let (one, other) where one == other: true
      case (.fired, .delivered): work.kind == .outbox
      case (.fired, .done), (.fired, .dismissed), (.fired, .snoozed), (.delivered, .done), (.delivered, .dismissed),
        (.delivered, .snoozed), (.snoozed, .done), (.snoozed, .dismissed), (.snoozed, .snoozed), (.missed, .done):
        isAnswer(work.kind) || new.state == .done && isDoneByTracker(new, reminder, work)
      case (.snoozed(let until), .missed): work.kind == .fire && until <= now
      default: false
      }
    if !isRight { fail("\(work.kind) has made \(id) \(new.state); it was \(old.state)") }
  }

  /// Returns whether a firing transaction finds the goal of the tracker met.
  private func isDoneByTracker(_ new: Occurrence, _ reminder: Reminder?, _ work: Work) -> Bool {
    guard work.kind == .fire, let reminder else { return false }
    return decided != nil
      || [new.id.scheduledAt, work.now].contains { trackers.isDone(reminder, at: $0, contents, work.context) }
  }

  func isAnswer(_ kind: Work.Kind) -> Bool {
    switch kind {
    case .answer, .client, .apply, .ping: true
    default: false
    }
  }

  /// Checks that a round has exactly one delivery for each of its channels.
  private func checkPending(_ occurrence: Occurrence, _ reminder: Reminder) {
    let round = (contents.deliveriesOf[occurrence.id] ?? []).compactMap { contents.outbox[$0]?.delivery }
      .filter { $0.round == occurrence.rounds }
    let queues = round.map(\.queue.channel)
    let wanted = reminder.channels(atRepeat: occurrence.repeats)
    if queues.sorted() != wanted.sorted() {
      fail("round \(occurrence.rounds) of \(occurrence.id) is pending for \(queues), and should be for \(wanted)")
    }
  }

  // MARK: Deliveries

  func checkDelivery(_ id: DeliveryID, _ work: Work) {
    guard let entry = contents.outbox[id] else { return fail("the delivery \(id) is gone") }
    let new = entry.delivery
    if hidden[id]?.until != entry.visibleAt {
      // Small steps back while the transaction was under way count like those after it.
      hidden[id] = Hidden(until: entry.visibleAt, wait: entry.visibleAt - min(work.now, world.wall))
    }
    defer { deliveries[id] = new }
    let attempts = contents.attempts[id] ?? []
    if attempts.count != new.attempts || attempts.map(\.number) != Array(1..<(attempts.count + 1)) {
      fail("the attempts of \(id) are numbered \(attempts.map(\.number)), and it counts \(new.attempts)")
    }
    guard let old = deliveries[id] else {
      pendingSince[id] = world.mono
      if !rounds.insert(Round(occurrence: new.occurrence, queue: new.queue, round: new.round)).inserted {
        fail("round \(new.round) of \(new.occurrence) is pending twice for \(new.queue.channel)")
      }
      return
    }
    guard old.state != new.state else { return }
    func wrong(_ why: String) {
      fail("\(work.kind) has made the delivery \(id) \(new.state); it was \(old.state): \(why)")
    }
    switch new.state {
    case .pending: wrong("it was attempted before")
    case .delivered:
      if !old.isPending { wrong("it had ended") }
      if arrived[id] ?? 0 == 0 { wrong("no channel accepted it") }
    case .dead:
      if !old.isPending { wrong("it had ended") }
      let failures = attempts.dropFirst(new.attemptsBefore).count { $0.outcome == .failed }
      if failures < 11, attempts.last?.status != 410 { wrong("it has failed \(failures) times") }
    case .cancelled: checkCancelled(new, old, work, wrong)
    case .waiting(let until):
      if !old.isPending, work.kind != .client(.redeliver) { wrong("it had ended") }
      if until - work.now > .hours(27) { wrong("that is too long") }
    }
  }

  private func checkCancelled(_ new: Delivery, _ old: Delivery, _ work: Work, _ wrong: (String) -> Void) {
    if !old.isPending { wrong("it had ended") }
    let occurrence = contents.occurrences[new.occurrence]
    let isClosed = occurrence.map { !$0.isOpen } ?? true
    let isSnoozed = if case .snoozed = occurrence?.state { true } else { false }
    let isPast =
      rounds.contains(Round(occurrence: new.occurrence, queue: new.queue, round: new.round + 1))
      || (occurrence?.rounds ?? 0) > new.round
    let isAsked = work.kind == .client(.discard) || work.kind == .client(.forget)
    let isOmitted = work.kind == .outbox && contents.attempts[new.id]?.last?.outcome == .refused
    if !isClosed, !isSnoozed, !isPast, !isAsked, !isOmitted { wrong("it was still needed") }
  }

  // MARK: Log and watchers

  /// Checks that each round is logged and reported to watchers once.
  func checkReportedOnce(_ firings: [FiringResult]) {
    for firing in firings {
      let heard = Set(firing.deliveries.filter { !lost.contains($0.id) }.map(\.occurrence))
      for occurrence in firing.occurrences where heard.contains(occurrence.id) {
        if !reportedRounds.insert(ReportedRound(occurrence: occurrence.id, round: occurrence.rounds)).inserted {
          fail("the firing of round \(occurrence.rounds) of \(occurrence.id) is reported twice")
        }
      }
    }
  }

  // MARK: Sending

  /// Notes that the daemon knows of rounds that replace earlier ones.
  func learns(of rounds: [Delivery]) {
    for round in rounds where round.round > 1 {
      for id in contents.deliveriesOf[round.occurrence] ?? [] {
        guard let other = contents.outbox[id]?.delivery, other.queue == round.queue, other.round < round.round else {
          continue
        }
        if case .cancelled = other.state { calledOff.insert(id) }
      }
    }
  }

  /// Notes that the daemon knows that these occurrences have ended or were snoozed.
  func learns(of ids: [OccurrenceID]) {
    for id in ids.flatMap({ contents.deliveriesOf[$0] ?? [] }) {
      if case .cancelled? = contents.outbox[id]?.delivery.state { calledOff.insert(id) }
    }
  }

  func sends(_ message: OutboundMessage, _ daemon: SimulatedDaemon) {
    let (id, queue) = (message.delivery.id, message.delivery.queue)
    // Until the daemon learns that the store was restored, it sends what was recorded in the former one.
    let isOfFormerStore = !world.isRestorationTold && lost.contains(id)
    if contents.outbox[id] == nil, !isOfFormerStore, queue.channel != .desktop || buffered.unrecorded[id] == nil {
      fail("\(message.occurrence.id) leaves for \(queue.channel) and is not recorded")
    }
    if calledOff.contains(id) { fail("\(message.occurrence.id) leaves for \(queue.channel) after it was called off") }
    if settled.contains(Round(message.delivery)) { fail("\(message.occurrence.id) is shown twice by one daemon") }
    if daemon.underWay[id] != nil { fail("\(id) is sent twice at the same time") }
    if case .delivered? = contents.outbox[id]?.delivery.state { fail("\(id) is sent again after it arrived") }
    let policy = daemon.core.scheduler.policies[queue]
    let others = daemon.underWay.values.count {
      $0.delivery.queue == queue && !daemon.reported.contains($0.delivery.id)
    }
    if others >= min(policy.concurrency, world.commandConcurrency(queue.channel) ?? .max) {
      fail("\(others + 1) attempts at \(queue.channel) are in flight at once")
    }
    if policy.isOrdered, others > 0 { fail("\(queue.channel) is ordered, and has several messages in flight") }
    if policy.isClosed { fail("\(queue.channel) is closed and is sent \(id)") }
    guard let rate = policy.rate else { return begins[queue] = nil }
    var at = begins[queue]?.rate == rate ? begins[queue]?.at ?? [] : []
    at.removeAll { $0 + rate.span.rawValue <= world.real }
    if at.count >= rate.count { fail("\(queue.channel) is sent more than \(rate.count) in \(rate.span)") }
    begins[queue] = (rate, at + [world.real])
  }

  func takes(_ message: OutboundMessage) { arrived[message.delivery.id, default: 0] += 1 }

  func ends(_ message: OutboundMessage, _ attempt: Attempt, _ next: ChannelReport.NextStep) {
    if attempt.outcome == .delivered, !lost.contains(message.delivery.id) { settled.insert(Round(message.delivery)) }
    if next != .settled { troubled[message.delivery.queue] = world.mono }
  }

  // MARK: Timers

  /// Checks that no delivery waits longer than it was to, after the clock went back.
  func checkWaits(_ loop: SimulatedDaemon) {
    let seen = (world.figures.commits, world.figures.clockSteps)
    guard waitsSeen != seen, loop.core.degradedMode.isEmpty else { return }
    waitsSeen = seen
    checkClaims(loop)
    guard world.storeFault == nil, loop.storeFailedAt.map({ world.mono - $0 > 6_000 }) ?? true else { return }
    for id in contents.pending.values.joined().map(\.id) {
      guard let entry = contents.outbox[id], let known = hidden[id], loop.core.outbox.held[id] == nil,
        loop.underWay[id] == nil
      else { continue }
      let wait = entry.visibleAt - world.wall
      if wait > max(known.wait, .zero) + .minutes(1) {
        fail("the delivery \(id) waits for \(wait), and was to wait for \(known.wait) at most")
      }
    }
  }

  /// Checks that what is claimed is held or under way.
  func checkClaims(_ loop: SimulatedDaemon) {
    guard loop.core.degradedMode.isEmpty else { return }
    for id in contents.pending.values.joined().map(\.id) {
      guard let entry = contents.outbox[id], entry.delivery.ownTime < entry.visibleAt,
        loop.core.outbox.held[id] == nil, loop.underWay[id] == nil
      else { continue }
      fail("the delivery \(id) is claimed until \(entry.visibleAt.text), and nobody holds it")
    }
  }

  /// Checks that the timers match the store while nothing is in flight.
  func checkTimers(_ loop: SimulatedDaemon, _ wakeups: NextWakeups) {
    let sinceFailure = loop.storeFailedAt.map { world.mono - $0 } ?? .max
    let patience = sinceFailure < 6_000 ? Milliseconds.seconds(6) : .zero
    if let due = wakeups.nextDue {
      guard let armed = loop.dueAt else { return fail("no timer is armed for the time due at \(due.text)") }
      // A firing that began before the clock was set may find nothing, as if others had locked what is due.
      let isSet = world.real - pinging.roughUntil < Scheduler.mostLeft.rawValue
      let late = max(patience, isSet ? Scheduler.mostLeft : .zero)
      // A timer that is late because the daemon was suspended fires next.
      if armed > due, armed > world.wall, armed - world.wall > late || late == .zero {
        fail("the timer is armed for \(armed.text), and something is due at \(due.text)")
      }
      if armed < due, armed > world.wall, patience == .zero {
        fail("the timer is armed for \(armed.text), before what is due at \(due.text)")
      }
    } else if let armed = loop.dueAt, armed > world.wall, patience == .zero {
      fail("the timer is armed for \(armed.text), and nothing is due")
    }
    // Buffered events are recorded before anything else is claimed.
    guard loop.core.degradedMode.isEmpty else { return }
    let sending = Set(loop.underWay.values.map(\.delivery.queue))
    let holding = Set(loop.core.outbox.held.values.map(\.claim.queue))
    // Claimed messages wait for an attempt of their queue to end, or for the rate limit.
    for queue in holding where !sending.contains(queue) {
      let span = loop.core.scheduler.policies[queue].rate?.span.rawValue
      guard let span, let armed = loop.outboxAt, armed - world.mono <= span + patience.rawValue else {
        return fail("a message to \(queue.channel) is claimed, and never attempted")
      }
    }
    for (queue, earliest) in wakeups.outbox {
      let policy = loop.core.scheduler.policies[queue]
      guard !sending.contains(queue), !holding.contains(queue), !policy.isClosed else { continue }
      guard let armed = loop.outboxAt else {
        return fail("no timer is armed for the message pending for \(queue.channel) at \(earliest.text)")
      }
      var rest = patience.rawValue
      if let trouble = troubled[queue], world.mono - trouble < 720_000 { rest += 720_000 }
      rest += policy.rate?.span.rawValue ?? 0
      let wait = armed - world.mono
      if wait > max((earliest - world.wall).rawValue, rest) {
        fail(
          "the outbox waits for \(wait / 1_000) s, and a message for \(queue.channel) is pending at \(earliest.text)")
      }
    }
  }
}

extension InvariantChecker.Round {
  init(_ delivery: Delivery) {
    self.init(occurrence: delivery.occurrence, queue: delivery.queue, round: delivery.round)
  }
}
