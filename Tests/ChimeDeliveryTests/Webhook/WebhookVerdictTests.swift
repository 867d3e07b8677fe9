import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

@Suite struct WebhookVerdictTests {
  private func verdict(_ status: Int?, retryAfter: Milliseconds? = nil, failure: String? = nil) -> WebhookVerdict {
    WebhookVerdict(
      HTTPResult(status: status, retryAfter: retryAfter, failure: failure), channel: ChannelName(rawValue: "team"))
  }

  @Test(arguments: [200, 201, 202, 204, 299])
  func successStatusSettles(_ status: Int) {
    #expect(verdict(status).next == .settled)
    #expect(verdict(status).outcome == .delivered)
    #expect(verdict(status).error == nil)
    // An incomplete answer may mean that the receiver failed.
    #expect(verdict(status, failure: "timed out").next == .retry)
  }

  @Test(arguments: [100, 300, 301, 302, 304, 307, 308, 400, 401, 404, 413, 500, 502, 504, 599])
  func failureStatusIsRetried(_ status: Int) {
    #expect(verdict(status, retryAfter: .seconds(9)).next == .retry)
    #expect(verdict(status).outcome == .failed)
    #expect(verdict(status).error?.contains("\(status)") == true)
  }

  /// A lack of descriptors is not the endpoint's failure: retry soon without counting an attempt.
  @Test func missingDescriptorIsRetriedSoon() {
    let verdict = WebhookVerdict(
      HTTPResult(failure: "no file descriptor is free", isStarved: true), channel: ChannelName(rawValue: "team"))
    #expect(verdict.outcome == .refused && verdict.next == .blocked(.seconds(30)))
  }

  @Test func retryAfterIsObeyed() {
    for status in [429, 503] {
      #expect(verdict(status, retryAfter: .seconds(9)).next == .retryAfter(.seconds(9)))
      #expect(verdict(status).next == .retry)
    }
  }

  /// A reload under load must neither use up attempts nor open the circuit breaker nor look like a failure.
  @Test func abortedAttemptIsNobodysFailure() {
    let result = HTTPResult(failure: "cancelled because the daemon is stopping", isCutShort: true)
    let verdict = WebhookVerdict(result, channel: ChannelName(rawValue: "team"))
    #expect(verdict.outcome == .refused)
    #expect(verdict.next == .blocked(.seconds(1)))
    #expect(verdict.error == "cancelled because the daemon is stopping")
  }

  /// Events cannot be answered, and a message that is gone needs no withdrawal.
  @Test func eventNeedsNoAnswerAndNoSecondWithdrawal() {
    func delivered(_ status: Int, _ kind: DeliveryEvent.Kind) -> WebhookVerdict {
      var verdict = WebhookVerdict(
        HTTPResult(
          status: status, answer: Array(#"{"action":"done"}"#.utf8), contentType: "application/json"),
        channel: ChannelName(rawValue: "team"))
      verdict.tells(DeliveryEvent(kind))
      return verdict
    }
    #expect(delivered(200, .event(.snoozed)).next == .settled && delivered(200, .event(.snoozed)).answer == nil)
    #expect(delivered(404, .event(.done)).next == .retry)
    for status in [404, 405, 410] { #expect(delivered(status, .withdrawal).next == .cancel) }
    #expect(delivered(500, .withdrawal).next == .retry && delivered(200, .withdrawal).next == .settled)
  }

  @Test func statusGoneDisablesTheEndpoint() {
    #expect(verdict(410).next == .disable("endpoint \"team\" answered 410 Gone"))
    #expect(verdict(nil, failure: "no route").next == .retry)
    #expect(verdict(nil, failure: "no route").error == "no route")
  }
}
