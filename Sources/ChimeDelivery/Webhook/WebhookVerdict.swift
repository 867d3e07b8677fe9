package import ChimeCore
import ChimeSchedule

/// A WebhookVerdict maps the result of an HTTP exchange to the delivery's next step. It is pure, so tests cover it by a
/// table.
///
///     2xx → settled · 410 → disable · 429, 503 with Retry-After → that long · all else → the retry schedule
///     nothing can be sent at all (no libcurl, no descriptor) → blocked
///     cut short by a stop or a reload → blocked for 1 s, and not counted
package struct WebhookVerdict: Hashable, Sendable {
  package var outcome: Attempt.Outcome
  package var next: ChannelReport.NextStep
  /// One sentence; nil if the message arrived without remarks.
  package var error: String?
  /// The action that the receiver requests for the occurrence; nil for none.
  package var answer: Occurrence.Answer?
  private var status: Int?

  /// - Parameter round: The round of the occurrence that was sent.
  package init(_ result: HTTPResult, channel: ChannelName, round: Int = 1) {
    outcome = .failed
    next = .retry
    status = result.status
    guard let status = result.status else {
      error = result.failure ?? "no answer"
      if result.isCutShort { (outcome, next) = (.refused, .blocked(.seconds(1))) }
      if result.isStarved { (outcome, next) = (.refused, .blocked(.seconds(30))) }
      if result.isImpossible { (outcome, next) = (.refused, .blocked(.minutes(5))) }
      return
    }
    if let stage = result.stage {
      judge(reply: status, isAboutMessage: stage == .message)
      return
    }
    switch status {
    case 200..<300 where result.failure == nil:
      outcome = .delivered
      next = .settled
      let said =
        result.isWhole
        ? WebhookAnswer(
          result.answer, contentType: result.contentType, round: round, redaction: result.redaction) : .nothing
      switch said {
      case .nothing: break
      case .answer(let answer): self.answer = answer
      case .misunderstood(let why): error = "delivered, but its answer is invalid: \(why)"
      }
    case 410:
      next = .disable("endpoint \"\(channel)\" answered 410 Gone")
      error = "answered 410 Gone"
    case 300..<400:
      error = "answered \(status), a redirect, which Chime does not follow: give the endpoint the target address"
    case 429, 503:
      if let wait = result.retryAfter { next = .retryAfter(wait) }
      error = "answered \(status)"
    default:
      error = "answered \(status)" + (result.failure.map { ", then: \($0)" } ?? "")
    }
  }

  /// Adapts the verdict to a delivery that reports an event. Such a delivery takes no answer. A withdrawal is canceled
  /// if the receiver answers that the message is gone or cannot be withdrawn.
  mutating func tells(_ event: DeliveryEvent) {
    answer = nil
    guard event.isWithdrawal, let status else { return }
    if [404, 405, 410].contains(status) {
      (outcome, next) = (.refused, .cancel)
      error = "answered \(status): there is nothing to take back"
    }
  }
}
