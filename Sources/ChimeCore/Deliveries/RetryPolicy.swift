public import ChimeSchedule

/// RetryPolicy says when a failed delivery is retried (the example schedule of Standard Webhooks 1.0.0 plus one step).
///
/// At once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each up to a tenth longer, so that
/// deliveries that failed together are not retried together.
public enum RetryPolicy {
  /// The waits after attempt 1, 2, 3 …
  public static let waits: [Milliseconds] = [
    .zero, .seconds(5), .minutes(5), .minutes(30), .hours(2), .hours(5), .hours(10), .hours(14), .hours(20), .hours(24),
  ]

  /// Returns the wait after `attempts` failures; nil to give up the delivery.
  public static func wait(afterAttempts attempts: Int, using generator: inout some RandomNumberGenerator)
    -> Milliseconds?
  {
    guard attempts >= 1, attempts <= waits.count else { return nil }
    let wait = waits[attempts - 1]
    guard wait > .zero else { return .zero }
    return wait + .milliseconds(Int64.random(in: 0...(wait.rawValue / 10), using: &generator))
  }

  /// Returns how many attempts count for the schedule: not those that found the channel unavailable, and not those
  /// before a manual replay.
  ///
  /// - Parameter attempts: all ended attempts, oldest first.
  public static func counted(_ attempts: [Attempt], of delivery: Delivery) -> Int {
    attempts.dropFirst(delivery.attemptsBefore).count { $0.outcome != .refused }
  }

  /// Returns the state of a delivery after an attempt.
  ///
  /// - Parameter attempts: the number of attempts that count, including this one.
  public static func state(
    after next: ChannelReport.NextStep, attempts: Int, now: Instant, using generator: inout some RandomNumberGenerator
  ) -> Delivery.State {
    switch next {
    case .settled: return .delivered(at: now)
    case .disable, .giveUp: return .dead(at: now)
    case .cancel: return .cancelled(at: now)
    case .blocked(let wait): return .waiting(until: now + max(wait, .seconds(1)))
    case .retry:
      guard let wait = wait(afterAttempts: attempts, using: &generator) else { return .dead(at: now) }
      return .waiting(until: now + wait)
    case .retryAfter(let asked):
      guard let wait = wait(afterAttempts: attempts, using: &generator) else { return .dead(at: now) }
      return .waiting(until: now + max(wait, min(asked, .days(1))))
    }
  }
}
