public import ChimeSchedule

// When an endpoint is disabled for failing.
extension Endpoint {
  /// How long an endpoint must fail before it is disabled (Standard Webhooks 1.0.0 suggests days).
  public static let patience = Milliseconds.days(5)
  /// How long this daemon must have seen it fail without a break, because a machine that slept for a week has not tried
  /// for a week.
  public static let watched = Milliseconds.hours(1)

  /// Returns the endpoint after an attempt; nil if nothing changes.
  ///
  ///     failure: `failingSince` is set, once · success: it is cleared · 410, or failing for `patience`: disabled
  ///
  /// - Parameter seenSince: the first failure that this daemon has seen since the last success, its start or the
  ///   machine's last wake-up; nil if there was none.
  public func after(
    _ attempt: Attempt, _ next: ChannelReport.NextStep, seenSince: Instant?, at now: Instant
  ) -> Endpoint? {
    guard disabled == nil else { return nil }
    var result = self
    if case .disable(let reason) = next {
      result.disabled = Disabled(reason: reason, at: now)
      return result
    }
    switch attempt.outcome {
    case .refused: return nil
    case .delivered: result.failingSince = nil
    case .failed:
      // After the clock was set back, the count begins anew.
      let since = failingSince.flatMap { $0 <= now ? $0 : nil } ?? now
      result.failingSince = since
      if now - since >= Self.patience, let seenSince, now - seenSince >= Self.watched {
        result.disabled = Disabled(reason: "it has failed for 5 days", at: now)
      }
    }
    return result == self ? nil : result
  }
}
