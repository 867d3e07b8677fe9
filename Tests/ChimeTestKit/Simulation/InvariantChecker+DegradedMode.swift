import ChimeCore
import ChimeSchedule

// Popups shown in degraded mode, while the store accepts no writes.
extension InvariantChecker {
  /// The decisions of degraded mode that the store does not contain yet.
  struct Buffered {
    /// The next due times of reminders; a nil value means none, or unknown.
    var due: [ReminderID: Instant?] = [:]
    var again: [OccurrenceID: Instant?] = [:]
    /// The scheduled time of each reminder before which nothing repeats any more.
    var repeatsFrom: [ReminderID: Instant] = [:]
    /// The occurrences answered in the store meanwhile.
    var answered: Set<OccurrenceID> = []
    /// The popups that were requested and are not recorded.
    var unrecorded: [DeliveryID: OccurrenceID] = [:]

    var isEmpty: Bool { due.isEmpty && again.isEmpty && unrecorded.isEmpty }
  }

  /// How long the daemon may take to notice that the store refuses writes and to continue degraded, in milliseconds of
  /// the monotonic clock.
  static let degradedBound: Int64 = 6_000

  /// Checks firings in degraded mode.
  func firesDegraded(_ work: DegradedMode.Work) {
    let now = world.wall
    let isEmpty = work.firings.isEmpty && work.messages.isEmpty
    emptyDegradedFirings = isEmpty && degradedAt == world.mono ? emptyDegradedFirings + 1 : 0
    degradedAt = world.mono
    if emptyDegradedFirings > 5 { fail("due times are read again and again without effect") }
    for firing in work.firings {
      let reminder = firing.due.reminder
      if firing.advances {
        buffered.due[reminder.id] = .some(firing.next.map { firing.nextDueAt ?? $0 + reminder.jitterOffset })
      }
      let own = OccurrenceID(reminder: reminder.id, scheduledAt: firing.due.scheduledAt)
      if !firing.advances { buffered.again[own] = .some(nil) }
      for occurrence in firing.occurrences
      where occurrence.firedAt == now || occurrence.isAwaited || !firing.advances {
        buffered.again[occurrence.id] = .some(occurrence.recursAt)
        guard reminder.nag != nil, occurrence.rounds == 1, occurrence.state == .fired else { continue }
        let from = max(buffered.repeatsFrom[reminder.id] ?? .earliest, occurrence.id.scheduledAt)
        buffered.repeatsFrom[reminder.id] = from
        for id in buffered.again.keys where id.reminder == reminder.id && id.scheduledAt < from {
          buffered.again[id] = .some(nil)
        }
      }
    }
    for message in work.messages { checkShown(message.message, now: now) }
  }

  private func checkShown(_ message: OutboundMessage, now: Instant) {
    let (delivery, occurrence) = (message.delivery, message.occurrence)
    let id = occurrence.id
    world.figures.fromMemory += 1
    buffered.unrecorded[delivery.id] = id
    if delivery.queue.channel != .desktop {
      fail("\(id) leaves for \(delivery.queue.channel) before it is recorded")
    }
    let round = Round(occurrence: id, queue: delivery.queue, round: delivery.round)
    if let other = shownAs[round], other != delivery.id {
      fail("round \(delivery.round) of \(id) is shown twice")
    }
    if rounds.contains(round) { fail("round \(delivery.round) of \(id) is recorded, and fires in degraded mode") }
    shownAs[round] = delivery.id
    guard delivery.round == 1, let reminder = message.reminder else { return }
    if id.scheduledAt + reminder.jitterOffset > now {
      fail("\(id) fired in degraded mode before its time, at \(now.text)")
    }
    if fired[id.reminder]?.contains(id.scheduledAt) ?? false {
      fail("\(id) had fired, and fires again in degraded mode")
    }
  }

  /// Records an answer that degraded mode buffers.
  func answeredInDegradedMode(_ occurrence: Occurrence) {
    buffered.again[occurrence.id] = .some(occurrence.recursAt)
    if occurrence.state == .done, contents.reminders[occurrence.id.reminder]?.countsFromDone == true {
      buffered.due[occurrence.id.reminder] = .some(nil)
    }
  }

  /// Handles a reminder that the store has changed or removed.
  func forgetBuffered(_ id: ReminderID) {
    buffered.due[id] = nil
    if contents.reminders[id] == nil { buffered.again = buffered.again.filter { $0.key.reminder != id } }
  }

  /// Handles an answer recorded in the store, which does not know the buffered decisions.
  func forgetBuffered(_ id: OccurrenceID) {
    guard !buffered.isEmpty else { return }
    buffered.again[id] = nil
    buffered.answered.insert(id)
    shownAs = shownAs.filter { $0.key.occurrence != id }
    settled = settled.filter { $0.occurrence != id }
    reportedRounds = reportedRounds.filter { $0.occurrence != id }
  }

  /// Checks that nothing buffered is lost when the buffer is reported empty.
  func bufferIsEmpty() {
    for id in buffered.unrecorded.values { fail("\(id) was shown in degraded mode, and its record is lost") }
    buffered = Buffered()
  }

  // MARK: Recording the buffer

  /// Checks a transaction that has recorded buffered events, in their order.
  func recorded(_ steps: [Step]) {
    world.figures.commits += 1
    for step in steps {
      (decided, decidedDueAt) = (nil, nil)
      if case .fired(let firing) = step.entry {
        decided = firing.due.reminder
        if firing.advances { decidedDueAt = firing.due.dueAt }
      }
      look(at: step.contents) {
        judge(step.changed, step.work)
        checkRecorded(step)
      }
    }
    (decided, decidedDueAt) = (nil, nil)
  }

  private func checkRecorded(_ step: Step) {
    switch step.entry {
    case .fired(let firing):
      let isGone = contents.reminders[firing.due.reminder.id] == nil
      for delivery in firing.deliveries {
        guard let id = buffered.unrecorded.removeValue(forKey: delivery.id) else { continue }
        if contents.outbox[delivery.id] == nil {
          abandoned.insert(delivery.id)
          // An answer that the daemon did not hear of yet may have closed it before.
          let wasClosed = !step.changed.occurrences.contains(id) && contents.occurrences[id]?.state == .done
          if !isGone, !wasClosed, !buffered.answered.contains(id) {
            fail("\(id) was shown in degraded mode at \(step.work.now.text), and is not recorded")
          }
        } else if delivery.createdAt != step.work.now {
          fail("\(id) was shown at \(step.work.now.text), and is recorded as of \(delivery.createdAt.text)")
        }
      }
      if !isGone, !step.refused.isEmpty { fail("a buffered firing could not be recorded: \(step.refused)") }
    case .ended(let outcome, _):
      let id = outcome.message.delivery.id
      if !step.refused.isEmpty, !abandoned.contains(id) { fail("an outcome could not be recorded: \(step.refused)") }
    case .answered, .superseded, nil:
      if !step.refused.isEmpty { fail("an answer could not be recorded: \(step.refused)") }
    }
  }

  /// Checks that a daemon that ends while the store works leaves nothing unrecorded.
  func ends(_ loop: SimulatedDaemon) {
    if !loop.core.degradedMode.isEmpty, loop.storeFailedAt.map({ $0 < loop.stopsSince }) ?? true {
      fail("the daemon ended without an attempt to record what is buffered")
    }
    if let failed = loop.storeFailedAt, world.mono - failed < Self.degradedBound { return }
    if let id = buffered.unrecorded.values.first {
      fail("\(id) was shown in degraded mode, and the daemon ended without recording or reporting it")
    }
  }

  // MARK: While nothing is in flight

  /// Checks that due reminders are shown although the store refuses writes, and recorded once it works.
  func checkDegradedMode(_ loop: SimulatedDaemon, _ wakeups: NextWakeups) {
    let failed = loop.storeFailedAt ?? -Self.degradedBound
    if world.storeFault == nil, !loop.core.degradedMode.isEmpty, world.mono - failed > Self.degradedBound {
      if let since = unrecordedSince, world.mono - since > Self.degradedBound {
        fail("buffered events are not recorded although the store works")
      }
      unrecordedSince = unrecordedSince ?? world.mono
    } else {
      unrecordedSince = nil
    }
    guard !buffered.isEmpty || wakeups.nextDue.map({ $0 <= world.wall }) ?? false, world.storeFault != .gone,
      !loop.core.degradedMode.isFull, let late = overdue()
    else { return overdueSince = nil }
    guard let since = overdueSince, since.id == late else { return overdueSince = (late, world.mono) }
    let waits = world.mono - since.at
    if waits > Self.degradedBound { fail("\(late) has been due for \(waits) ms, and the store can be read") }
  }

  /// Resets the deadlines, because the daemon was suspended.
  func daemonWasStopped() {
    (overdueSince, unrecordedSince) = (nil, nil)
    history.daemonWasStopped()
    permitDelays(for: 0)
  }

  /// Returns the earliest overdue occurrence, including buffered decisions.
  private func overdue() -> OccurrenceID? {
    let now = world.wall
    var late: (at: Instant, id: OccurrenceID)?
    func look(_ at: Instant, _ id: OccurrenceID) {
      guard at <= now else { return }
      if late.map({ (at, id.reminder.rawValue) < ($0.at, $0.id.reminder.rawValue) }) ?? true { late = (at, id) }
    }
    for (id, regular) in contents.regular {
      if let at = buffered.due[id] ?? regular.dueAt {
        look(at, OccurrenceID(reminder: id, scheduledAt: regular.scheduledAt))
      }
    }
    for (id, at) in contents.again where buffered.again[id] == nil {
      if let from = buffered.repeatsFrom[id.reminder], id.scheduledAt < from { continue }
      look(at, id)
    }
    for case (let id, let at?) in buffered.again where contents.reminders[id.reminder] != nil { look(at, id) }
    return late?.id
  }

  // MARK: Waking the machine

  /// Checks that the wake-up alarm is set for the earliest future time that asks for it.
  func checkWake(_ loop: SimulatedDaemon) {
    guard buffered.isEmpty else { return checkWakeInDegradedMode(loop) }
    let seen = (world.figures.commits, world.figures.clockSteps, loop.wakeAt)
    guard wakeSeen != seen else { return }
    wakeSeen = seen
    var earliest: Instant?
    func look(_ id: ReminderID, _ at: Instant, isRegular: Bool) {
      guard earliest.map({ at < $0 }) ?? true, let reminder = contents.reminders[id], reminder.wake,
        !reminder.pause.holds(at: at), !isRegular || reminder.skipNext == 0
      else { return }
      earliest = at
    }
    for (id, regular) in contents.regular { look(id, regular.dueAt, isRegular: true) }
    for (id, at) in contents.again { look(id.reminder, at, isRegular: false) }
    func toCome(_ at: Instant?) -> Instant? { at.flatMap { $0 > world.wall ? $0 : nil } }
    let (right, armed) = (toCome(earliest), toCome(loop.wakeAt))
    if armed != right {
      fail("the wake-up alarm is set for \(armed?.text ?? "no time"), and should be for \(right?.text ?? "none")")
    }
  }

  /// Checks the alarm in degraded mode: it covers buffered times, and may fire needlessly for times known only to the store.
  private func checkWakeInDegradedMode(_ loop: SimulatedDaemon) {
    let failed = loop.storeFailedAt ?? -Self.degradedBound
    guard world.storeFault != .gone, world.mono - failed < Self.degradedBound, loop.core.scheduler.isBuffered,
      !loop.core.degradedMode.isFull
    else { return }
    // After a suspension during the alarm, the timer is late and fires next.
    if let due = loop.dueAt, due <= world.wall { return }
    let armed = loop.wakeAt ?? .latest
    func look(_ id: ReminderID, _ at: Instant, isRegular: Bool) {
      guard at > world.wall, at < armed, contents.reminders[id]?.wakes(at: at, isRegular: isRegular) == true else {
        return
      }
      fail("the wake-up alarm is set for \(loop.wakeAt?.text ?? "no time"), and \(id) is due at \(at.text)")
    }
    for case (let id, let at?) in buffered.due { look(id, at, isRegular: true) }
    for case (let id, let at?) in buffered.again { look(id.reminder, at, isRegular: false) }
  }
}
