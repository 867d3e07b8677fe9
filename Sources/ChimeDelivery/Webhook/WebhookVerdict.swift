package import ChimeCore
import ChimeSchedule

/// What an exchange means for its delivery: pure, so that every answer can be laid out in a table of tests.
///
///     2xx → settled · 410 → disable · 429, 503 with Retry-After → that long · all else → the retry schedule
///     nothing can be sent at all (no libcurl, no descriptor) → blocked
///     cut short by a stop or a reload → at once, and not counted
package struct WebhookVerdict: Hashable, Sendable {
  package var outcome: Attempt.Outcome
  package var next: ChannelReport.NextStep
  /// One sentence; nil when it arrived and nothing is to be said about it.
  package var error: String?
  /// What the receiver wants to become of the occurrence; nil when it says nothing of it.
  package var answer: Occurrence.Answer?
  private var status: Int?

  /// - Parameter round: which round of its occurrence was sent.
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

  /// What it means for a delivery that tells an event: there is nothing to answer to. What takes a message back has done so
  /// where the message is not there, or cannot be taken back.
  mutating func tells(_ event: DeliveryEvent) {
    answer = nil
    guard event.isWithdrawal, let status else { return }
    if [404, 405, 410].contains(status) {
      (outcome, next) = (.refused, .cancel)
      error = "answered \(status): there is nothing to take back"
    }
  }
}
