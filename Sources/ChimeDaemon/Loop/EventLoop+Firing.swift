import ChimeCore
import ChimeSchedule
import Dispatch

extension EventLoop {
  /// Runs one firing transaction: claims due times, decides, records, and claims deliveries up to the queues' capacity.
  func fire(limit: Int, capacity: Scheduler.Capacity) {
    let (store, context, uptime, wakeupsReader, catchUpSpread) = (store, context, uptime, wakeupsReader, catchUpSpread)
    let downtime = configuration.tellsDowntime ? downtime : nil
    let renewal = renewal
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (fired, wakeups) = try await store.write { transaction in
            var generator = PooledRandom()
            try renewal.mark(transaction, now: SystemClock.now)
            let work = try FireTransaction.run(
              in: transaction, limit: limit, capacity: capacity, context: context, uptime: uptime,
              catchUpSpread: catchUpSpread,
              downtime: downtime, now: SystemClock.now, using: &generator)
            return (work, try wakeupsReader.read(transaction))
          }
          didFire(fired, wakeups)
          // The firing may have missed a recomputation that followed a change.
          if context.version != self.context.version { recompute(fired.firings.map(\.due.reminder.id)) }
        } catch {
          storeFailed(error, meanwhile)
          handle(.firingFailed)
        }
      }
    }
  }

  private func didFire(_ fired: FireTransaction, _ wakeups: NextWakeups) {
    // The first firing has reported the downtime.
    downtime = nil
    catchUpSpread = fired.catchUpSpread
    catchUpSpread.span = configuration.lateSpread
    let nowMicroseconds = SystemClock.nowMicroseconds
    supersede(by: fired.firings)
    // Messages leave before the log and the watchers are told.
    handle(.fired(claimed: outbox.hold(fired.claims, asOf: wakeups.sequence), wakeups, isEmpty: fired.isEmpty))
    pruneHistory()
    considerSnapshot()
    publish(fired.told.map { DaemonEvent(kind: .fired, occurrence: $0, message: $0.title) })
    publish(fired.firings, at: nowMicroseconds)
    warn(of: fired.unreadable, withoutZone: fired.withoutZone)
    warn(ofGivenUp: fired.firings)
    tell(fired.begun)
    take(Answering.effects(of: fired.chained))
    if !fired.firings.isEmpty { storeWorks() }
  }

  /// Drops held messages of earlier rounds that these firings replace.
  func supersede(by firings: [FiringResult]) {
    let superseded = outbox.superseded(by: firings.flatMap(\.deliveries))
    if !superseded.isEmpty { drop { superseded.contains($0.delivery.id) } }
  }

  func publish(_ firings: [FiringResult], at nowMicroseconds: Int64) {
    publish(
      firings.flatMap { firing in
        firing.occurrences.compactMap { Self.daemonEvent($0, firing, nowMicroseconds) }
      })
    // A repeat may find its reminder already done by an entry of the linked tracker.
    take(firings.flatMap(\.occurrences).filter { $0.state == .done }.map { .withdraw($0.id) })
  }

  /// Publishes the outcomes of trackers.
  func tell(_ tracked: [(owner: UInt32, outcome: TrackingOutcome)]) {
    guard !tracked.isEmpty else { return }
    take(tracked.flatMap { TrackingNotices.of($0.outcome, owner: $0.owner) })
  }

  func warn(of unreadable: [UnreadableReminder], withoutZone: [Reminder]) {
    for reminder in unreadable {
      log(.error, reminder.reason, id: .reminderUnreadable, [(.reminder, reminder.id.rawValue)])
    }
    for reminder in withoutZone {
      log(
        .warning,
        "\"\(reminder.title)\": this machine has no time zone \(reminder.governingZone.text) any more; UTC is used",
        id: .reminderZoneGone, [(.reminder, reminder.id.rawValue)])
    }
  }

  /// Warns of reminders whose next time is not searched for, because the search exceeds its budget. Only an older
  /// version or another program can have stored such a schedule.
  func warn(ofGivenUp firings: [FiringResult]) {
    for firing in firings where firing.isGivenUp {
      let reminder = firing.due.reminder
      log(
        .warning,
        "\"\(reminder.title)\" has no next time: looking for it takes too long; give it a simpler schedule "
          + "(chime edit \(reminder.id.rawValue) --when …)", id: .reminderTooCostly, [(.reminder, reminder.id.rawValue)]
      )
    }
  }

  /// Returns the event of an occurrence. Returns nil if nothing is delivered: a repeat is deferred or was the last, or
  /// a run of missed times continues.
  private static func daemonEvent(_ occurrence: Occurrence, _ firing: FiringResult, _ nowMicroseconds: Int64)
    -> DaemonEvent?
  {
    let due = firing.due
    if case .missed(let reason) = occurrence.state {
      // The decision that ends the run reports all of it.
      if occurrence.missedRun != nil, firing.remainsBehind { return nil }
      let count = occurrence.missedRun.map { " (\($0.count) times)" } ?? ""
      let why =
        switch reason {
        case .doneAlready: "done already"
        case .notDone: "the other reminder is not done"
        default: reason.rawValue
        }
      var daemonEvent = DaemonEvent(
        kind: .missed, occurrence: occurrence, message: "\"\(occurrence.title)\" missed: \(why)\(count)")
      daemonEvent.missed = (reason, occurrence.missedRun?.count ?? 1)
      return daemonEvent
    }
    if occurrence.state == .done {
      return DaemonEvent(kind: .done, occurrence: occurrence, message: "\"\(occurrence.title)\" done")
    }
    guard firing.deliveries.contains(where: { $0.occurrence == occurrence.id }) else { return nil }
    let isPlain = due.isRegular && occurrence.late != .quiet
    let dueAt = isPlain ? occurrence.id.scheduledAt + due.reminder.jitterOffset : due.dueAt
    if occurrence.repeats > 0 {
      let count = "\(occurrence.repeats) of \(due.reminder.nag?.max ?? occurrence.repeats)"
      return DaemonEvent(
        kind: .fired, id: .firedAgain, occurrence: occurrence, message: "\"\(occurrence.title)\" repeated (\(count))")
    }
    let late = occurrence.late.map { " late (\($0.rawValue))" } ?? ""
    var daemonEvent = DaemonEvent(
      kind: .fired, id: occurrence.late == nil ? .fired : .firedLate, occurrence: occurrence,
      message: "\"\(occurrence.title)\" fired\(late)")
    daemonEvent.latenessMicroseconds = nowMicroseconds - dueAt.milliseconds * 1_000
    return daemonEvent
  }
}
