import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

/// A template cannot make the daemon produce too much text, although filters may lengthen a text and a template may use
/// it thousands of times.
@Suite struct TemplateSizeTests {
  private func access(_ template: String?, headers: [EndpointSettings.Header]? = nil) throws -> EndpointAccess {
    EndpointAccess(
      endpoint: Endpoint(
        queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team")), url: "http://127.0.0.1:9/",
        settings: EndpointSettings(headers: headers, template: template), createdAt: scheduled),
      secrets: [SigningSecret(try Secret(SecretTests.text))])
  }

  private func request(_ access: EndpointAccess, _ message: OutboundMessage) throws -> HTTPRequest {
    try SignedRequest(
      access: access, id: "msg_1", version: "1", values: { TemplateValues(message) { _ in "08:30" } },
      usual: { [] }
    ).make(at: scheduled, token: nil)
  }

  /// Doubled forty times, one backslash would be a terabyte.
  @Test func filterChainIsBounded() throws {
    func template(_ count: Int) -> String { #"{"text": "{{title\#(String(repeating: "|markdown", count: count))}}"}"# }
    let error = #expect(throws: DeliveryError.self) { try Template(template(40)) }
    #expect(error?.description == "{{title|…}} has 40 filters; at most 8 are allowed")
    #expect(throws: DeliveryError.self) { try Template(template(9)) }
    let made = try request(try access(template(8)), message("\\"))
    #expect(made.body == [UInt8](repeating: UInt8(ascii: "\\"), count: 256))
  }

  @Test(arguments: [
    #"{"text": "\#(String(repeating: "{{body}}", count: 7_000))"}"#,
    #"{"body": [\#(Array(repeating: #""{{body}}""#, count: 5_000).joined(separator: ","))]}"#,
    #"{"body": {"a": {"{{urgency}}": {"*": "\#(String(repeating: "{{body|markdown|max:9}}", count: 2_500))"}}}}"#,
    #"{"path": "/\#(String(repeating: "{{body}}", count: 7_000))"}"#,
    #"{"text": "{{body|markdown|markdown|markdown|markdown|markdown|markdown|markdown|markdown}}"}"#,
  ])
  func repeatedLongTextIsRefused(_ template: String) throws {
    let access = try access(template)
    #expect(access.fault == nil)
    let long = try message(body: String(repeating: "x", count: 16_384))
    let error = #expect(throws: DeliveryError.self) { try request(access, long) }
    #expect(error?.description.contains("this message longer than 1048576 bytes") == true)
    // A short message is not affected by the limit.
    #expect(throws: Never.self) { try request(access, message(body: "x")) }
  }

  @Test func headersCountTowardTheSizeLimit() throws {
    let value = String(repeating: "{{body}}", count: 500)
    let headers = (0..<32).map { EndpointSettings.Header(name: "X-\($0)", value: value) }
    try HeaderRules.check(headers)
    let access = try access(nil, headers: headers)
    #expect(throws: DeliveryError.self) { try request(access, message(body: String(repeating: "x", count: 16_384))) }
    #expect(try request(access, message(body: "x")).headers.count == 37)
  }

  /// The computed bound is never less than the rendered size.
  @Test(arguments: [
    "line", "slack", "html", "markdown", "percent", "max:3", "bytes:4", "prefix:é", "suffix:!!", "default:none",
  ])
  func computedBoundCoversTheRenderedSize(_ filter: String) throws {
    for text in ["", "a", "<&>\"'\\\n", "é\u{301}💧\u{2028}", String(repeating: "&", count: 100)] {
      let part = try TemplateText("{{title|\(filter)}}")
      var values = TemplateValues()
      values[.title] = .text(text)
      #expect(part.render(values).utf8.count <= part.bound(values), "\(text.debugDescription)")
    }
  }

  /// A message that cannot be rendered is refused with a reason, and so is a test message.
  @Test func tooLargeMessageIsRecordedWithAReason() async throws {
    let access = try access(#"{"text": "\#(String(repeating: "{{body}}{{title}}", count: 3_500))"}"#)
    let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1")) { _ in access }
    let report = try await channel.deliver(message(body: String(repeating: "x", count: 16_384), channel: "team"))
    guard case .ended(let attempt, let next) = report else { throw Failure("the first report is \(report)") }
    #expect(attempt.outcome == .refused && next == .blocked(.minutes(5)))
    #expect(
      attempt.error?.hasPrefix("endpoint \"team\" cannot be used: its template or its headers could make") == true)
    let chain = #"{"text": "{{title\#(String(repeating: "|html", count: 8))}}"}"#
    let test = await channel.test(try self.access(chain))
    #expect(test.attempt.outcome == .refused && test.attempt.error?.hasPrefix("its template or") == true)
    await channel.stop()
  }

  @Test func contentTypeMustBeASCII() {
    let error = #expect(throws: DeliveryError.self) { try Template(#"{"text": "x", "contentType": "text/plaîn"}"#) }
    #expect(error?.description.contains("only ASCII characters") == true)
  }
}

/// Output of notify-send after it could not show a popup is no answer.
@Suite struct UnshownPopupTests {
  @Test func outputOfAFailedPopupIsNoAnswer() {
    var popup = Popup(isPlain: false, snooze: .minutes(10))
    #expect(popup.handle(.output(Array("0\ndone\n".utf8))) == [.end(.leave)])
    let actions = popup.handle(.ended(.status(1)))
    #expect(actions.count == 1)
    guard case .report(.failed, .retry, _, _)? = actions.first else {
      Issue.record("\(actions)")
      return
    }
  }
}
