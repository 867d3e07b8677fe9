import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

@Suite struct WebhookAnswerTests {
  private func read(_ text: String, _ type: String? = "application/json") -> WebhookAnswer {
    WebhookAnswer(Array(text.utf8), contentType: type)
  }

  @Test(arguments: [
    (#"{"action":"done"}"#, Occurrence.Answer.done), (#" {"action" : "dismiss"} "#, .dismiss),
    (#"{"action":"snooze","for":"10m"}"#, .snooze(for: .minutes(10))),
    (#"{"for":"PT10M","action":"snooze"}"#, .snooze(for: .minutes(10))),
    (#"{"action":"snooze","for":"1h30m"}"#, .snooze(for: .minutes(90))),
    (#"{"action":"snooze","for":"366d"}"#, .snooze(for: .days(366))),
    (#"{"action":"snooze","for":"1m"}"#, .snooze(for: .minutes(1))),
    (#"{"for":"1h","action":"snooze"}"#, .snooze(for: .hours(1))),
    (#"{"action":"\u0064one"}"#, .done),
    (#"{"action":"done","item":"speedmaster-2"}"#, .item("speedmaster-2")),
  ])
  func answersAreParsed(_ text: String, _ answer: Occurrence.Answer) {
    #expect(read(text) == .answer(answer))
    #expect(read(text, nil) == .answer(answer))
    #expect(read(text, "Application/JSON; charset=utf-8") == .answer(answer))
    #expect(read(text, "text/plain") == .nothing)
    #expect(read(text, "application/json-seq") == .nothing)
  }

  /// Ordinary answers of receivers.
  @Test(arguments: [
    "", "ok", "null", "[]", "{}", #"{"ok":true}"#, #"["action"]"#, #""done""#, #"{"Action":"done"}"#, "{",
    #"{"action":"done""#, #"{"action":"done"} x"#, "\u{0}", #"{"data":{"action":"done"}}"#,
    String(repeating: "[", count: 4_000), #"{"a":"# + String(repeating: "{\"a\":", count: 600),
    #"{"action":"done"}"# + String(repeating: " ", count: 4_096),
  ])
  func ordinaryResponsesAreNoAnswer(_ text: String) { #expect(read(text) == .nothing) }

  @Test func invalidUTF8IsNoAnswer() {
    #expect(WebhookAnswer([0xFF, 0xFE, 0x7B], contentType: nil) == .nothing)
    if case .answer = WebhookAnswer(
      Array(#"{"action":"done"#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8), contentType: nil)
    {
      Issue.record("acted on bytes that are no text")
    }
  }

  @Test(arguments: [
    (#"{"action":"remove"}"#, "\"remove\" is not an action"), (#"{"action":"Done"}"#, "\"Done\" is not an action"),
    (#"{"action":""}"#, "\"\" is not an action"), (#"{"action":null}"#, "not a text"),
    (#"{"action":["done"]}"#, "not a text"),
    (#"{"action":"done","item":"Speed master"}"#, "is not the id of an item"),
    (#"{"action":"done","item":7}"#, "item is not a text"),
    (#"{"action":"dismiss","item":"skx"}"#, "\"item\" cannot be used"),
    (#"{"action":1}"#, "not a text"), (#"{"action":"done","for":"10m"}"#, "\"for\" cannot be used"),
    (#"{"action":"done","occurrence":"r1@1"}"#, "\"occurrence\" cannot be used"),
    (#"{"action":"snooze"}"#, "needs its length"), (#"{"action":"snooze","for":10}"#, "needs its length"),
    (#"{"action":"snooze","for":"soon"}"#, "needs its length"),
    (#"{"action":"snooze","for":"0s"}"#, "1 min to 366 days"),
    (#"{"action":"snooze","for":"-PT10M"}"#, "1 min to 366 days"),
    (#"{"action":"snooze","for":"367d"}"#, "1 min to 366 days"),
    (#"{"action":"snooze","for":"1s"}"#, "1 min to 366 days"),
    (#"{"action":"snooze","for":"59s"}"#, "1 min to 366 days"),
    (#"{"action":"dismiss","action":"done"}"#, "twice"), (#"{"action":"done","action":"done"}"#, "twice"),
    (#"{"action":"snooze","for":"1h","f\u006fr":"2h"}"#, "twice"),
    (#"{"a\u0063tion":"dismiss","action":"done"}"#, "twice"),
    (#"{"x":{"action":1,"action":2},"action":"done","x":[]}"#, "twice"),
    (#"{"x":{"a":1,"a":2},"action":"done"}"#, "twice"),
    (#"{"x":{"a":1},"y":[{"a":2}],"action":"done"}"#, "\"x\" cannot be used"),
    (#"{"action":"snooze","for":"9999999999w"}"#, "needs its length"),
  ])
  func invalidAnswersHaveAReason(_ text: String, _ why: String) {
    guard case .misunderstood(let sentence) = read(text) else {
      Issue.record("\(read(text))")
      return
    }
    #expect(sentence.contains(why), "\(sentence)")
  }

  /// Endless snoozes are not honored forever: a limited number of rounds, at least a minute apart.
  @Test func snoozesByAReceiverAreBounded() {
    let body = Array(#"{"action":"snooze","for":"1m"}"#.utf8)
    var (round, requests) = (1, 0)
    while case .answer(.snooze(let length)) = WebhookAnswer(body, contentType: nil, round: round) {
      #expect(length >= .minutes(1))
      (round, requests) = (round + 1, requests + 1)
    }
    #expect(requests == 30)
    guard case .misunderstood(let sentence) = WebhookAnswer(body, contentType: nil, round: round) else {
      Issue.record("round \(round)")
      return
    }
    #expect(sentence == "this is round 31, and answers can snooze only the first 30")
    // Done still works.
    #expect(WebhookAnswer(Array(#"{"action":"done"}"#.utf8), contentType: nil, round: 31) == .answer(.done))
    let result = HTTPResult(status: 200, answer: body)
    let verdict = WebhookVerdict(result, channel: ChannelName(rawValue: "team"), round: 31)
    #expect(verdict.answer == nil && verdict.outcome == .delivered && verdict.next == .settled)
    #expect(verdict.error?.hasPrefix("delivered, but its answer is invalid: this is round 31") == true)
  }

  @Test func answersCountOnlyInASuccessfulResponse() {
    let name = ChannelName(rawValue: "team")
    var result = HTTPResult(status: 200, answer: Array(#"{"action":"done"}"#.utf8))
    #expect(WebhookVerdict(result, channel: name).answer == .done)
    for status in [100, 302, 404, 410, 429, 500] {
      result.status = status
      #expect(WebhookVerdict(result, channel: name).answer == nil)
    }
    (result.status, result.isWhole) = (200, false)
    #expect(WebhookVerdict(result, channel: name).answer == nil)
    (result.isWhole, result.failure) = (true, "broke off")
    #expect(WebhookVerdict(result, channel: name).answer == nil)
    (result.failure, result.answer) = (nil, Array(#"{"action":"explode"}"#.utf8))
    let verdict = WebhookVerdict(result, channel: name)
    #expect(verdict.answer == nil && verdict.next == .settled && verdict.outcome == .delivered)
    #expect(
      verdict.error
        == "delivered, but its answer is invalid: \"explode\" is not an action; write done, dismiss or snooze")
  }
}
