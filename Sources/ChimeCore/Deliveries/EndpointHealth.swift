public import ChimeSchedule

// When an endpoint is given up.
extension Endpoint {
  /// An endpoint that has failed for so long is disabled (Standard Webhooks 1.0.0 leaves the time to the sender and names
  /// days).
  public static let patience = Milliseconds.days(5)
  /// ... if it has failed for so long without a break under the daemon's eyes: a machine that slept for a week has not
  /// tried for a week.
  public static let watched = Milliseconds.hours(1)

  /// How the endpoint stands after an attempt; nil when that changes nothing.
  ///
  ///     failure: `failingSince` is set, once · success: it is cleared · 410, or failing for `patience`: disabled
  ///
  /// - Parameter seenSince: when the first failure came that this daemon has seen since the last success, its start or the
  ///   machine's last waking; nil when there was none.
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
      // A clock that was set back begins anew.
      let since = failingSince.flatMap { $0 <= now ? $0 : nil } ?? now
      result.failingSince = since
      if now - since >= Self.patience, let seenSince, now - seenSince >= Self.watched {
        result.disabled = Disabled(reason: "it has failed for 5 days", at: now)
      }
    }
    return result == self ? nil : result
  }
}
