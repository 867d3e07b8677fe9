import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Synchronization

/// Returns the number of webhooks per second that the channel alone sends. Each is encoded as JSON, signed, and
/// evaluated by its response, without a store: a fair comparison for a bare libcurl loop.
func channelRate(port: String, count: Int) async throws -> Double {
  let queue = DeliveryQueue(owner: 0, channel: ChannelName(rawValue: "bench"))
  let now = Instant(seconds: wallClock() / 1_000_000)
  let secret = try Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
  let access = EndpointAccess(
    endpoint: Endpoint(queue: queue, url: "http://127.0.0.1:\(port)/", createdAt: now), secrets: [SigningSecret(secret)]
  )
  let channel = WebhookChannel(configuration: EndpointConfiguration(version: "bench")) { _ in access }
  var generator = SystemRandomNumberGenerator()
  let reminder = Reminder(
    id: ReminderID(length: 8, using: &generator), owner: 0, title: "channel \(now.seconds) 0",
    schedule: try Schedule.parse("daily at 8", now: now, zone: .utc), channels: [queue.channel], createdAt: now)
  let occurrence = Occurrence(
    id: OccurrenceID(reminder: reminder.id, scheduledAt: now), title: reminder.title, owner: 0, state: .fired,
    firedAt: now, rounds: 1)
  let messages = (0..<count).map { _ in
    OutboundMessage(
      delivery: Delivery(
        id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id, queue: queue, round: 1, createdAt: now),
      occurrence: occurrence, reminder: reminder)
  }
  let tally = Tally(of: count)
  channel.prepare()
  let clock = ContinuousClock()
  let begin = clock.now
  await withCheckedContinuation { continuation in
    tally.whenDone { continuation.resume() }
    for message in messages {
      channel.send(message) { report in
        if case .ended(let attempt, _) = report { tally.add(attempt) }
      }
    }
  }
  let took = begin.duration(to: clock.now)
  await channel.stop()
  guard tally.arrived == count else {
    throw BenchFailure("the channel delivered \(tally.arrived) of \(count): \(tally.error ?? "no error")")
  }
  return Double(count) / (Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18)
}

/// Counts the reports from the channel's thread, and signals the last one.
private final class Tally: Sendable {
  private struct State {
    var left: Int
    var arrived = 0
    var error: String?
    var done: (@Sendable () -> Void)?
  }

  /// A lock, because one thread reports and a task waits.
  private let state: Mutex<State>

  init(of count: Int) { state = Mutex(State(left: count)) }

  var arrived: Int { state.withLock { $0.arrived } }

  /// The error of the first failed attempt.
  var error: String? { state.withLock { $0.error } }

  func whenDone(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.done = body } }

  func add(_ attempt: Attempt) {
    let done = state.withLock { state -> (@Sendable () -> Void)? in
      state.left -= 1
      if attempt.outcome == .delivered { state.arrived += 1 } else { state.error = state.error ?? attempt.error }
      return state.left == 0 ? state.done : nil
    }
    done?()
  }
}
