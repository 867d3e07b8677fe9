import ChimeCore
import ChimeSchedule
import Dispatch

/// How long a claimed delivery stays hidden: longer than any attempt takes, so that only one lost in a crash is seen
/// again.
let claimSpan = Milliseconds.minutes(2)

// The outbox: claiming, sending, and what came of it.
extension EventLoop {
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
          for message in messages { dispatch(message) }
          handle(.claimed(lane, count: messages.count, horizon))
        } catch {
          storeFailed(error, "deliveries wait")
          handle(.claimFailed(lane))
        }
      }
    }
  }

  func dispatch(_ message: OutboundMessage) {
    channels.channel(for: message.delivery.lane).send(message) { [weak self] report in
      guard let self else { return }
      Task(executorPreference: executor) { await self.reported(report, on: message) }
    }
  }

  private func reported(_ report: ChannelReport, on message: OutboundMessage) {
    switch report {
    case .ended(let attempt, let next): record(attempt, next, message)
    case .answered(let answer): record(answer, to: message.occurrence.id)
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
              endpoint.disabled = Endpoint.Disabled(reason: reason, at: now)
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
  ///
  /// - Parameter owner: when given, whose the occurrence has to be; an answer to anybody else's is passed over.
  func record(_ answer: Occurrence.Answer, to id: OccurrenceID, of owner: UInt32? = nil) {
    let (store, bearings, horizons) = (store, bearings, horizons)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (notices, horizon) = try await store.write { transaction -> ([LoopNotice], Horizon) in
            var notices: [LoopNotice] = []
            if let occurrence = try transaction.occurrence(id), occurrence.isOpen,
              owner.map({ $0 == occurrence.owner }) ?? true
            {
              let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
              (_, notices) = try Answering.give(
                answer, to: occurrence, reminder: reminder, in: transaction, bearings, now: SystemClock.now)
            }
            return (notices, try horizons.read(transaction))
          }
          committed(horizon, notices, with: bearings)
        } catch {
          log(.error, "an answer to \(id) could not be recorded; ignoring: \(error)")
        }
      }
    }
  }
}
