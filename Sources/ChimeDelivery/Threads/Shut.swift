import ChimeCore
import ChimeSchedule

/// The reason why an endpoint is unavailable for an attempt.
struct EndpointUnavailable: Error {
  let reason: String
  /// Delay before the next attempt.
  let wait: Milliseconds

  init(_ reason: String, wait: Milliseconds = .minutes(5)) {
    self.reason = reason
    self.wait = wait
  }

  /// Returns a report of the refused attempt that blocks its queue for `wait`.
  func report(of delivery: Delivery, at now: Instant) -> ChannelReport {
    let attempt = Attempt(
      number: delivery.attempts + 1, startedAt: now, took: .zero, outcome: .refused, error: reason)
    return .ended(attempt, next: .blocked(wait))
  }
}

extension EndpointAccess? {
  /// Delay before unreadable secrets are read again.
  private static let secretRetry = Milliseconds.seconds(30)

  /// Returns the endpoint of a queue if it can be used.
  func open(_ queue: DeliveryQueue, at now: Instant) throws(EndpointUnavailable) -> EndpointAccess {
    let name = queue.channel
    guard let access = self else {
      throw EndpointUnavailable(
        "there is no channel \"\(name)\": add an endpoint with chime endpoint add \(name) URL, or a command in "
          + "[commands.\(name)] of the configuration")
    }
    if let reason = access.endpoint.disabled?.reason {
      throw EndpointUnavailable("endpoint \"\(name)\" is disabled: \(reason)")
    }
    guard !access.needsSecret || !access.secrets(at: now).isEmpty else {
      let sentence =
        access.problem.map { "endpoint \"\(name)\" cannot be used: \($0)" }
        ?? "endpoint \"\(name)\" has no readable secret: give it one with chime endpoint rotate \(name) --secret-file FILE"
      throw EndpointUnavailable(sentence, wait: Self.secretRetry)
    }
    if let fault = access.fault {
      throw EndpointUnavailable(
        "endpoint \"\(name)\" cannot be used: \(fault)", wait: access.lacksSecrets ? Self.secretRetry : .minutes(5))
    }
    return access
  }
}
