import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch

// What the core decides becomes known: to channels, to watchers, in the log. What happens comes back to the core.
extension EventLoop {
  // MARK: Attempts and answers

  func begin(_ message: OutboundMessage) {
    var message = message
    message.tenant = tenants.names[message.delivery.queue.owner]
    wakeReplies(message.delivery.queue)
    channels.channel(for: message.delivery.queue).send(message) { [weak self, message] report in
      self?.received(report, on: message)
    }
  }

  /// Receives a channel's report. Channels call it from any thread.
  private nonisolated func received(_ report: ChannelReport, on message: OutboundMessage) {
    let wakes: Bool
    switch report {
    case .ended(let attempt, let next): wakes = inbox.put(Outcome(attempt: attempt, next: next, message: message))
    case .answered(let answer):
      wakes = inbox.put(answer, to: message.occurrence.id, way: way(of: message.delivery.queue))
    }
    if wakes { executor.queue.async { self.assumeIsolated { $0.takeReports() } } }
  }

  /// Returns how an answer by this queue's channel is recorded in `Occurrence.answeredBy`.
  private nonisolated func way(of queue: DeliveryQueue) -> String {
    if queue.channel == .desktop { return "desktop" }
    return commands.book.commands[queue.channel] == nil ? "endpoint:\(queue.channel)" : "command:\(queue.channel)"
  }

  func takeReports() {
    let (outcomes, answers) = inbox.take()
    drive { $0.take(outcomes, answers) }
  }

  /// Records an answer that arrived by a channel, such as a pressed button.
  func record(_ answer: OutboxTransaction.Answer) {
    let (store, context, wakeupsReader) = (store, context, wakeupsReader)
    spawn { [self] in
      do {
        let (effects, wakeups) = try await store.write { transaction -> ([PostCommitEffect], NextWakeups) in
          var effects: [PostCommitEffect] = []
          if let occurrence = try transaction.occurrence(answer.occurrence), occurrence.isOpen,
            answer.owner.map({ $0 == occurrence.owner }) ?? true
          {
            let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
            (_, effects) = try Answering.give(
              answer.answer, to: occurrence, reminder: reminder, by: occurrence.owner, way: answer.way,
              in: transaction, context, now: SystemClock.now)
          }
          return (effects, try wakeupsReader.read(transaction))
        }
        committed(wakeups, effects, with: context)
      } catch let failure where failure.isPassing {
        drive { $0.answerFailed(answer, failure) }
      } catch {
        log(.error, "an answer to \(answer.occurrence) could not be recorded; ignoring: \(error)")
      }
    }
  }

  // MARK: Commits of requests

  /// Tells the loop that a transaction of a request has committed. The loop handles this before any later call; nobody
  /// waits for it.
  nonisolated func hasCommitted(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    executor.queue.async { self.assumeIsolated { $0.committed(wakeups, effects, with: context) } }
  }

  /// Applies the commit of a request. `context` is the one that the transaction used.
  func committed(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    let effects = effects.filter { effect in
      if case .withdraw(let id, let until) = effect { !core.isSuperseded(id, until: until) } else { true }
    }
    drive { $0.committed(CommitChanges(effects), wakeups, contextVersion: context.version) }
    apply(effects)
    considerSnapshot()
  }

  /// Carries out the effects of a commit outside the store and the core.
  private func apply(_ effects: [PostCommitEffect]) {
    var daemonEvents: [DaemonEvent] = []
    for effect in effects {
      switch effect {
      case .event(let daemonEvent): daemonEvents.append(daemonEvent)
      case .withdraw(let occurrence, _): channels.withdraw(occurrence)
      case .endpointsChanged: reloadEndpoints()
      case .cancelled, .opened: break
      }
    }
    publish(daemonEvents)
    // The change may concern a reminder whose calendar is missing.
    if sources.lacksCalendars, daemonEvents.contains(where: { [.changed, .removed].contains($0.kind) }) {
      spawn { [self] in await surveyCalendars() }
    }
  }

  /// Publishes events to the log, the counters and the watchers.
  func publish(_ daemonEvents: [DaemonEvent]) {
    guard !daemonEvents.isEmpty else { return }
    count(daemonEvents)
    log(
      daemonEvents.lazy.map { daemonEvent in
        Log.Entry(level: daemonEvent.level, message: daemonEvent.message, id: daemonEvent.id) { daemonEvent.fields }
      })
    streamToWatchers(daemonEvents)
    staleSummary()
  }

  // MARK: Reports of the core

  /// Logs and publishes what the core reports.
  func tell(_ report: LoopCore.Report) {
    switch report {
    case .fired(let fired):
      considerSnapshot()
      publish(fired.downtimeNotices.map { DaemonEvent(kind: .fired, occurrence: $0, message: $0.title) })
      publish(fired.firings)
      warn(of: fired.unreadable, withoutZone: fired.withoutZone)
      tell(fired.begun)
      apply(Answering.effects(of: fired.chained))
    case .firedDegraded(let work, let isNowFull):
      publish(work.firings)
      warn(of: work.unreadable, withoutZone: work.withoutZone)
      if isNowFull {
        log(.error, "the buffer is full: reminders that are due from now on wait for the store", id: .storeFailed)
      }
    case .answeredDegraded(let occurrence, let now): apply(Answering.effects(of: occurrence, now: now))
    case .answerRefused(let id, let error):
      log(.notice, "an answer to \(id) cannot be applied; ignoring: \(error)")
    case .recorded(_, let commit):
      for reason in commit.refused {
        log(.error, "the store rejected a buffered record; ignoring: \(reason)")
      }
      for outcomes in commit.outcomes { tell(outcomes) }
      tell(commit.logged)
    case .outcomes(_, let commit):
      for (queue, reason) in commit.unreadable {
        log(.error, "the pending messages of \(queue.channel) cannot be read, and wait: \(reason)")
      }
      tell(commit)
    case .storeFailed(let sentence, let consequence, let isNew):
      if isNew {
        publish([DaemonEvent(kind: .store, message: "the store failed: \(sentence); \(text(of: consequence))")])
      }
      ServiceManager.status(troubleSummary)
    case .storeUnreadable(let sentence, let isNew):
      if isNew {
        publish([
          DaemonEvent(kind: .store, message: "the store cannot be read: \(sentence); nothing can fire until it can")
        ])
      }
      ServiceManager.status(troubleSummary)
    case .storeWorks(let recorded):
      let times =
        switch recorded {
        case 0: "changes are accepted"
        case 1: "1 time that fired in degraded mode was recorded"
        default: "\(recorded) times that fired in degraded mode were recorded"
        }
      publish([DaemonEvent(kind: .store, id: .storeRecovered, message: "the store can be written again: \(times)")])
    case .renewal(let inherited):
      let what =
        switch inherited {
        case .clockWentBack: "the clock was set back since the last run; due times are recomputed"
        case .wasUnderWay: "the last run ended while it recomputed due times; all are recomputed"
        case .changed(let items):
          "due times are recomputed; changed since the last run: \(items.joined(separator: ", "))"
        }
      log(.notice, what, id: .dueTimesRecomputed)
    case .clockNotNoted(let error): log(.info, "cannot record the current time; ignoring: \(error)")
    case .historyPruned(let count, let begunAt): historyWasPruned(count, begunAt: begunAt)
    case .historyNotPruned(let error): historyWasNotPruned(error)
    case .sleeps: log(.info, "the machine is about to sleep")
    case .started, .startFailed, .storeTried, .finished, .resumed, .endpointsChanged, .answeredElsewhere, .drained:
      break
    }
  }

  private func text(of consequence: LoopCore.StoreConsequence) -> String {
    switch consequence {
    case .remindersWait:
      store.isShared
        ? "due reminders wait, and changes are refused"
        : "reminders are shown on the desktop from memory, and changes are refused"
    case .deliveriesWait: "deliveries wait"
    case .resultsAreKept: "results of deliveries are buffered in memory"
    case .resultsAreLost: "results could not be recorded; the deliveries will be repeated"
    case .answersAreKept: "answers are buffered in memory"
    case .answersWait: "answers wait at the server to which they were sent"
    case .dueTimesMayBeOutdated: "due times may be outdated"
    case .dueTimesNotRecomputed: "due times could not be recomputed"
    case .changesAreRefused: "changes are refused"
    }
  }

  func warn(ofUnrecorded count: Int) {
    let times = count == 1 ? "1 time that fired" : "\(count) times that fired"
    log(.error, "\(times) could not be recorded, and may fire again after the next start", id: .storeFailed)
  }

  /// Logs and publishes the results of recorded outcomes.
  private func tell(_ commit: OutboxCommit) {
    for outcome in commit.takenOver {
      log(
        .warning,
        "the result of \"\(outcome.message.occurrence.title)\" for \(outcome.queue.channel) is not recorded: another daemon has "
          + "taken over the message, and sends it again with the same id", id: .takenOver,
        [(.delivery, outcome.message.delivery.id.rawValue)])
    }
    for reason in commit.refused { log(.error, "the result of a delivery could not be recorded; ignoring: \(reason)") }
    for settled in commit.settled { meters.count(settled.outcome.message, settled.state) }
    publish(commit.settled.compactMap { Self.daemonEvent($0.recorded, $0.state, $0.outcome.message) })
    publish(
      commit.disabled.map { disabled in
        var daemonEvent = DaemonEvent(
          kind: .fired, id: .endpointDisabled, occurrence: disabled.notice, message: disabled.notice.title)
        daemonEvent.channel = disabled.endpoint.queue.channel
        return daemonEvent
      })
  }

  private func publish(_ firings: [FiringResult]) {
    publish(
      firings.flatMap { firing in
        firing.occurrences.compactMap { Self.daemonEvent($0, firing, resumedAtMicroseconds) }
      })
    for firing in firings {
      // A repeat may find its reminder already done by an entry of the linked tracker.
      for occurrence in firing.occurrences where occurrence.state == .done { channels.withdraw(occurrence.id) }
      // The search for the next time exceeds its budget. Only an older version or another program can have stored such a
      // schedule.
      guard firing.isGivenUp else { continue }
      let reminder = firing.due.reminder
      log(
        .warning,
        "\"\(reminder.title)\" has no next time: its schedule takes too long to compute; give it a simpler one "
          + "(chime edit \(reminder.id.rawValue) --when …)", id: .reminderTooCostly, [(.reminder, reminder.id.rawValue)]
      )
    }
  }

  /// Publishes the outcomes of trackers.
  private func tell(_ tracked: [(owner: UInt32, outcome: TrackingOutcome)]) {
    apply(tracked.flatMap { TrackingNotices.of($0.outcome, owner: $0.owner) })
  }

  private func warn(of unreadable: [UnreadableReminder], withoutZone: [Reminder]) {
    for reminder in unreadable {
      log(.error, reminder.reason, id: .reminderUnreadable, [(.reminder, reminder.id.rawValue)])
    }
    for reminder in withoutZone {
      log(
        .warning,
        "\"\(reminder.title)\": this machine has no time zone \(reminder.governingZone.text) any more; UTC is used",
        id: .reminderZoneMissing, [(.reminder, reminder.id.rawValue)])
    }
  }

  // MARK: Events

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

  /// Returns the event of a recorded outcome; nil if it is no news.
  private static func daemonEvent(
    _ attempt: Attempt?, _ state: Delivery.State, _ message: OutboundMessage
  ) -> DaemonEvent? {
    guard let attempt else { return nil }
    // The arrival of an event message is no news to its cause.
    if message.delivery.event != nil, case .delivered = state { return nil }
    // Neither is a withdrawal that had nothing to withdraw.
    if message.delivery.event?.isWithdrawal == true, case .cancelled = state { return nil }
    let title = "\"\(message.occurrence.title)\""
    let channel = message.delivery.queue.channel
    var daemonEvent: DaemonEvent
    switch state {
    case .delivered:
      daemonEvent = DaemonEvent(
        kind: .delivered, occurrence: message.occurrence, message: "\(title) delivered to \(channel)")
      daemonEvent.latenessMicroseconds = (attempt.startedAt - message.occurrence.id.scheduledAt).rawValue * 1_000
    case .waiting(let until):
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      let wait = DurationText.format(.seconds(max(0, (until - SystemClock.now).rawValue / 1_000)))
      daemonEvent = DaemonEvent(
        kind: .failed, occurrence: message.occurrence,
        message: "\(title) not delivered to \(channel): \(why); next attempt in \(wait)")
    case .cancelled:
      daemonEvent = DaemonEvent(
        kind: .failed, id: .messageCancelled, occurrence: message.occurrence,
        message: "\(title) cancelled for \(channel): \(attempt.error ?? "no longer needed")")
    default:
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      daemonEvent = DaemonEvent(
        kind: .failed, id: .givenUp, occurrence: message.occurrence,
        message: "\(title) given up for \(channel): \(why)")
    }
    daemonEvent.delivery = message.delivery.id
    daemonEvent.channel = channel
    return daemonEvent
  }
}

extension CommitChanges {
  /// The changes that effects describe.
  init(_ effects: [PostCommitEffect]) {
    self.init()
    changesAnything = !effects.isEmpty
    for effect in effects {
      switch effect {
      case .event(let daemonEvent):
        guard let id = daemonEvent.reminder else { break }
        reminders.append(id)
        switch daemonEvent.kind {
        case .changed: changed.append(id)
        case .removed: removed.append(id)
        case .pinged: pinged.append(id)
        default: break
        }
      case .withdraw(let id, let until): withdrawn[id] = .some(until)
      case .cancelled(let ids): cancelled.formUnion(ids)
      case .opened(let queue): opened.append(queue)
      case .endpointsChanged: break
      }
    }
  }
}
