import ChimeCore
import ChimeSchedule
import Dispatch

/// What a firing transaction has committed.
private struct Fired: Sendable {
  var firings: [Firing]
  var messages: [OutboundMessage]
  var horizon: Horizon
  /// Reminders whose zone the machine does not have any more.
  var withoutZone: [Reminder]
  /// Reminders that the store could not read.
  var unreadable: [UnreadableReminder]
}

/// How long a claimed delivery stays hidden: longer than any attempt takes, so that only one lost in a crash is seen
/// again.
private let claimSpan = Milliseconds.minutes(2)

extension EventLoop {
  // MARK: Firing

  /// One transaction: claim what is due, decide, record, and claim at once what the lanes have room for.
  func fire(limit: Int, room: Agenda.Room) {
    let (store, bearings, absence, horizons) = (store, bearings, absence, horizons)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let fired = try await store.write { transaction in
            try Self.fire(transaction, limit: limit, room: room, bearings: bearings, absence: absence, horizons)
          }
          didFire(fired)
          // It may have missed the computing anew that followed a change.
          if bearings.version != self.bearings.version { recompute(fired.firings.map(\.due.reminder.id)) }
        } catch {
          storeFailed(error, "due reminders wait")
          handle(.firingFailed)
        }
      }
    }
  }

  private static func fire(
    _ transaction: any StoreTransaction, limit: Int, room: Agenda.Room, bearings: Bearings, absence: Absence,
    _ horizons: HorizonReader
  ) throws -> Fired {
    let now = SystemClock.now
    var generator = SystemRandomNumberGenerator()
    let decision = FiringDecision(now: now, absence: absence)
    var withoutZone: [Reminder] = []
    let firings = try transaction.claimDue(now: now, limit: limit).map { due in
      // A zone that the machine has lost is stood in for, and the log says so.
      let zone = bearings.zone(of: due.reminder)
      if zone == nil { withoutZone.append(due.reminder) }
      return decision.decide(due, timetable: bearings.timetable(of: due.reminder, in: zone), using: &generator)
    }
    try transaction.record(firings)
    var messages: [OutboundMessage] = []
    for lane in Set(firings.flatMap { $0.deliveries.map(\.lane) }).sorted() {
      let left = room.left(in: lane)
      guard left > 0 else { continue }
      messages += try transaction.claimDeliveries(lane: lane, now: now, visibleAgain: now + claimSpan, limit: left)
    }
    return Fired(
      firings: firings, messages: messages, horizon: try horizons.read(transaction), withoutZone: withoutZone,
      unreadable: transaction.unreadable)
  }

  private func didFire(_ fired: Fired) {
    let nowMicroseconds = SystemClock.nowMicroseconds
    var claimed: [Lane: Int] = [:]
    for message in fired.messages { claimed[message.delivery.lane, default: 0] += 1 }
    // What is said first is done first: messages leave before the log and the watchers hear of them.
    for message in fired.messages { send(message) }
    handle(.fired(claimed: claimed, fired.horizon))
    var happenings: [Happening] = []
    for firing in fired.firings {
      for occurrence in firing.occurrences {
        happenings.append(Self.happening(occurrence, due: firing.due, nowMicroseconds))
      }
    }
    publish(happenings)
    for reminder in fired.unreadable { log(.error, reminder.reason, [(.reminder, reminder.id.rawValue)]) }
    for reminder in fired.withoutZone {
      log(
        .warning,
        "\"\(reminder.title)\": this machine has no time zone \(reminder.governingZone.text) any more; UTC is used",
        [(.reminder, reminder.id.rawValue)])
    }
  }

  private static func happening(_ occurrence: Occurrence, due: DueReminder, _ nowMicroseconds: Int64) -> Happening {
    if case .missed(let reason) = occurrence.state {
      let count = occurrence.missedRun.map { " (\($0.count) times)" } ?? ""
      return Happening(
        kind: .missed, occurrence: occurrence, message: "\"\(occurrence.title)\" missed: \(reason.rawValue)\(count)")
    }
    let dueAt = occurrence.rounds > 1 ? due.dueAt : occurrence.id.scheduledAt
    let late = occurrence.late.map { " late (\($0.rawValue))" } ?? ""
    var happening = Happening(kind: .fired, occurrence: occurrence, message: "\"\(occurrence.title)\" fired\(late)")
    happening.latenessMicroseconds = nowMicroseconds - dueAt.milliseconds * 1_000
    return happening
  }

  // MARK: The outbox

  func claim(_ lane: Lane, limit: Int) {
    let (store, horizons) = (store, horizons)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (messages, horizon) = try await store.write { transaction in
            let now = SystemClock.now
            let messages = try transaction.claimDeliveries(
              lane: lane, now: now, visibleAgain: now + claimSpan, limit: limit)
            return (messages, try horizons.read(transaction))
          }
          for message in messages { send(message) }
          handle(.claimed(lane, count: messages.count, horizon))
        } catch {
          storeFailed(error, "deliveries wait")
          handle(.claimFailed(lane))
        }
      }
    }
  }

  private func send(_ message: OutboundMessage) {
    channels.channel(for: message.delivery.lane).send(message) { [weak self] report in
      guard let self else { return }
      Task(executorPreference: executor) { await self.reported(report, on: message) }
    }
  }

  private func reported(_ report: ChannelReport, on message: OutboundMessage) {
    switch report {
    case .ended(let attempt, let next): record(attempt, next, message)
    case .answered(let answer): record(answer, message)
    }
  }

  private func record(_ attempt: Attempt, _ next: ChannelReport.NextStep, _ message: OutboundMessage) {
    let (store, horizons) = (store, horizons)
    let delivery = message.delivery
    var attempt = attempt
    attempt.number = delivery.attempts + 1
    let now = SystemClock.now
    // A way that is shut is recorded once, not every half minute of a weekend without a session.
    let isRepeatedBlock = if case .blocked = next { delivery.attempts > 0 } else { false }
    let (ended, recorded) = (attempt, isRepeatedBlock ? nil : attempt)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (state, horizon, endpointsChanged) = try await store.write { transaction in
            var generator = SystemRandomNumberGenerator()
            let counted = RetryPolicy.counted(try transaction.attempts(of: delivery.id) + [ended])
            let state = RetryPolicy.state(after: next, attempts: counted, now: now, using: &generator)
            try transaction.acknowledge(delivery.id, attempt: recorded, state: state)
            if case .delivered = state, let occurrence = try transaction.occurrence(delivery.occurrence),
              occurrence.isOpen, occurrence.deliveredAt == nil
            {
              try transaction.update(occurrence.delivered(at: now), now: now)
            }
            var changed = false
            if case .disable(let reason) = next, var endpoint = try transaction.endpoint(delivery.lane) {
              endpoint.disabled = reason
              try transaction.put(endpoint)
              changed = true
            }
            return (state, try horizons.read(transaction), changed)
          }
          handle(.ended(delivery.lane))
          handle(.horizon(horizon))
          if endpointsChanged { take([.endpointsChanged]) }
          publishOutcome(of: recorded, state, message)
        } catch {
          // The outcome is lost and the delivery comes back by itself: at least once, with the same id.
          storeFailed(error, "an outcome could not be recorded; the delivery will be repeated")
          handle(.ended(delivery.lane))
        }
      }
    }
  }

  private func publishOutcome(of attempt: Attempt?, _ state: Delivery.State, _ message: OutboundMessage) {
    guard let attempt else { return }
    let title = "\"\(message.occurrence.title)\""
    let channel = message.delivery.lane.channel
    var happening: Happening
    switch state {
    case .delivered:
      happening = Happening(
        kind: .delivered, occurrence: message.occurrence, message: "\(title) delivered to \(channel)")
      happening.latenessMicroseconds = (attempt.startedAt - message.occurrence.id.scheduledAt).rawValue * 1_000
    case .waiting(let until):
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      let wait = DurationText.format(.seconds(max(0, (until - SystemClock.now).rawValue / 1_000)))
      happening = Happening(
        kind: .failed, occurrence: message.occurrence,
        message: "\(title) not delivered to \(channel): \(why); next attempt in \(wait)")
    default:
      let why = attempt.error ?? attempt.status.map { "status \($0)" } ?? "failed"
      happening = Happening(
        kind: .failed, occurrence: message.occurrence, message: "\(title) given up for \(channel): \(why)")
    }
    happening.delivery = message.delivery.id
    happening.channel = channel
    publish([happening])
  }

  /// Someone pressed a button.
  private func record(_ answer: Occurrence.Answer, _ message: OutboundMessage) {
    let (store, bearings, horizons) = (store, bearings, horizons)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (notices, horizon) = try await store.write { transaction -> ([LoopNotice], Horizon) in
            var notices: [LoopNotice] = []
            if let occurrence = try transaction.occurrence(message.occurrence.id), occurrence.isOpen {
              let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
              (_, notices) = try Answering.give(
                answer, to: occurrence, reminder: reminder, in: transaction, bearings, now: SystemClock.now)
            }
            return (notices, try horizons.read(transaction))
          }
          committed(horizon, notices, with: bearings)
        } catch {
          log(.error, "an answer to \"\(message.occurrence.title)\" could not be recorded; ignoring: \(error)")
        }
      }
    }
  }

  func storeFailed(_ error: any Error, _ consequence: String) {
    let sentence = (error as? StoreFailure)?.sentence ?? "\(error)"
    if storeProblem != sentence {
      publish([Happening(kind: .store, message: "the store failed: \(sentence); \(consequence)")])
    }
    storeProblem = sentence
    ServiceManager.status("the store failed: \(sentence)")
  }
}
