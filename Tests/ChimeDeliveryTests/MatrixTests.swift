import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

/// Messages to Matrix rooms, and the parsing of replies: values in, values out.
@Suite struct MatrixRulesTests {
  private func endpoint(_ change: (inout Endpoint) -> Void = { _ in }) -> Endpoint {
    var endpoint = Endpoint(
      queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "room")), url: "matrix:roomid/abc:example.org",
      createdAt: scheduled)
    endpoint.settings.via = "https://matrix.example.org/"
    endpoint.settings.senders = ["@ann:example.org"]
    change(&endpoint)
    return endpoint
  }

  @Test(arguments: [
    ("matrix:roomid/abc:example.org", "!abc:example.org"), ("matrix:!abc:example.org:8448", "!abc:example.org:8448"),
    ("MATRIX:roomid/a-_.~=b", "!a-_.~=b"),
  ])
  func parsesRooms(_ text: String, _ room: String) throws {
    #expect(Endpoint.Kind(of: text) == .matrix)
    #expect(try MatrixAddress(text).room == room)
  }

  @Test(arguments: [
    "matrix:", "matrix:!", "matrix:roomid/", "matrix:abc:example.org", "matrix:#a:example.org",
    "matrix:r/a:example.org",
    "matrix:u/ann:example.org", "matrix:!a/b:example.org", "matrix:!a:example.org?via=b", "matrix:!a%2Fb:example.org",
    "matrix:!a b:example.org", "matrix:!é:example.org", "matrix:!\(String(repeating: "a", count: 255))", "matrix:!!a",
  ])
  func refusesInvalidRooms(_ text: String) {
    #expect(throws: DeliveryError.self) { try MatrixAddress(text) }
  }

  @Test func validatesServersAndUsers() throws {
    #expect(try MatrixServer("https://m.org/").url == "https://m.org")
    for text in ["https://m.org?a", "https://m.org/_matrix/client/v3", "https://a:b@m.org", "https://", "m.org"] {
      #expect(throws: DeliveryError.self) { try MatrixServer(text) }
    }
    try MatrixUser.check(["@ann:example.org", "@a/b=+:[::1]:8448"])
    for name in [
      "ann", "@ann", "@:a", "@ann:", "@a b:c", "@é:c", "@a,b:c", "@\(String(repeating: "a", count: 250)):b.org",
    ] {
      #expect(throws: DeliveryError.self) { try MatrixUser.check([name]) }
    }
    #expect(throws: DeliveryError.self) { try MatrixUser.check(["@a:b", "@a:b"]) }
    #expect(throws: DeliveryError.self) { try MatrixUser.check((0...20).map { "@a\($0):b" }) }
    #expect(
      Matrix.path("rooms", "!a:b", "send", "m.room.message", "x/y")
        == "/_matrix/client/v3/rooms/%21a%3Ab/send/m.room.message/x%2Fy")
    // Without senders there are no answers; another server is another address.
    #expect(endpoint { $0.settings.senders = nil }.answersAddress == nil)
    #expect(endpoint().answersAddress != endpoint { $0.settings.via = "https://b.org" }.answersAddress)
  }

  @Test(arguments: [
    ("✅", ChatAnswer.What.done), ("👍🏿", .done), ("✔️", .done), ("☑︎", .done), ("💤", .snooze), ("❌", .dismiss),
    ("👎", .dismiss),
  ])
  func parsesReactions(_ key: String, _ what: ChatAnswer.What) {
    #expect(ChatAnswer.What(reaction: key) == what)
    #expect(ChatAnswer.What(reply: key) == what)
    for other in ["", "❤️", "ok", "✅✅", "done"] { #expect(ChatAnswer.What(reaction: other) == nil) }
  }

  @Test(arguments: [
    ("done", ChatAnswer.What.done), (" Done! ", .done), ("DISMISS", .dismiss), ("snooze", .snooze),
    ("done speedmaster", .item("speedmaster")),
    ("20m", .words("20m")), ("Snooze for 2  Hours", .words("2 hours")),
    ("until tomorrow 9:00", .words("tomorrow 9:00")),
    ("> <@chime:b> Tea\n> more\n\ndone", .done), ("> done", .words("")),
    ("done it tomorrow", .words("done it tomorrow")),
    (String(repeating: "x", count: 300), .words("")),
  ])
  func parsesReplies(_ text: String, _ what: ChatAnswer.What) {
    #expect(ChatAnswer.What(reply: text) == what)
  }

  private func event(_ text: String) throws -> MatrixEvent {
    try JSONDecoder().decode(MatrixEvent.self, from: Data(text.utf8))
  }

  @Test func answerRefersToItsMessage() throws {
    func answer(_ type: String, _ content: String) throws -> String? {
      let event = try event(
        #"{"event_id":"$e","sender":"@a:b","type":"\#(type)","origin_server_ts":5,"content":\#(content)}"#)
      #expect(event.id == "$e" && event.sender == "@a:b" && event.at == Instant(milliseconds: 5))
      return event.answer.map { "\($0.to) \($0.what)" }
    }
    func relation(_ text: String, _ more: String = "") -> String { #"{"body":"done"\#(more),"m.relates_to":\#(text)}"# }
    let (reaction, message) = ("m.reaction", "m.room.message")
    #expect(try answer(reaction, relation(#"{"rel_type":"m.annotation","event_id":"$t","key":"✅"}"#)) == "$t done")
    #expect(try answer(message, relation(#"{"m.in_reply_to":{"event_id":"$t"}}"#)) == "$t done")
    let thread = #"{"rel_type":"m.thread","event_id":"$t","is_falling_back":true,"m.in_reply_to":{"event_id":"$u"}}"#
    #expect(try answer(message, relation(thread)) == "$t done")
    #expect(try answer(message, relation(thread.replacing("true", with: "false"))) == "$u done")
    for (type, content) in [
      (reaction, relation(#"{"rel_type":"m.annotation","event_id":"$t","key":"❤️"}"#)),
      (reaction, relation(#"{"rel_type":"m.annotation","event_id":"t","key":"✅"}"#)),
      (reaction, relation(#"{"rel_type":"m.annotation","event_id":7,"key":"✅"}"#)),
      (reaction, relation(#"{"rel_type":"m.replace","event_id":"$t","key":"✅"}"#)), (reaction, "{}"), (reaction, "[]"),
      (message, relation(#"{"rel_type":"m.replace","event_id":"$t"}"#)),
      (message, relation(#"{"rel_type":"m.replace","event_id":"$t","m.in_reply_to":{"event_id":"$t"}}"#)),
      // Chime's own message, in case its account is among those who may answer.
      (message, relation(#"{"m.in_reply_to":{"event_id":"$t"}}"#, #","io.chime.delivery":"msg_1""#)),
      (message, #"{"body":"done"}"#), (message, #"{"body":7,"m.relates_to":{"m.in_reply_to":{"event_id":"$t"}}}"#),
      ("m.sticker", relation(#"{"m.in_reply_to":{"event_id":"$t"}}"#)),
    ] { #expect(try answer(type, content) == nil, "\(content)") }
    for text in ["7", "[]", "{}", #"{"event_id":"e","type":7}"#, #"{"event_id":"$a|b"}"#, "null"] {
      #expect((try? event(text))?.id == nil)
      #expect((try? event(text))?.answer == nil)
    }
  }

  @Test func positionReadsBack() {
    for place in [
      MatrixPlace(since: nil), MatrixPlace(since: "s1_2|3"), MatrixPlace(since: "s1", after: "$a:b"),
      MatrixPlace(since: nil, after: "$a"),
    ] { #expect(MatrixPlace(place.text) == place, "\(place)") }
    #expect(MatrixPlace(nil) == MatrixPlace(since: nil))
    #expect(
      !MatrixReply.isPlace("") && !MatrixReply.isPlace("a b")
        && !MatrixReply.isPlace(String(repeating: "a", count: 2_000)))
  }

  @Test func filterNamesRoomAndUsers() throws {
    let text = MatrixFilter.text(room: "!a:b", senders: ["@\"x:b"])
    let filter = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let room = try #require(filter["room"] as? [String: Any])
    #expect(room["rooms"] as? [String] == ["!a:b"])
    #expect((room["timeline"] as? [String: Any])?["senders"] as? [String] == ["@\"x:b"])
    #expect(filter["presence"] as? [String: [String]] == ["not_types": ["*"]])
  }

  /// The long-poll timeout grows until something in between closes the connection.
  @Test func pollTimeoutGrowsUntilAConnectionIsClosed() {
    var patience = MatrixPatience()
    var waits: [Milliseconds] = []
    for _ in 0..<6 {
      waits.append(patience.wait)
      patience.answered(after: patience.wait)
    }
    #expect(waits == [.seconds(50), .seconds(100), .seconds(200), .seconds(400), .minutes(10), .minutes(10)])
    patience.answered(after: .seconds(3))
    #expect(patience.wait == .minutes(10))
    func wasCut(_ time: Milliseconds) -> Bool { patience.wasCut(after: time) }
    #expect(!wasCut(.seconds(10)))
    for expected in [300, 150, 75, 50] {
      #expect(wasCut(.seconds(60)))
      #expect(patience.wait == .seconds(Int64(expected)))
    }
    #expect(!wasCut(.seconds(60)))
    patience.answered(after: .seconds(50))
    #expect(patience.wait == .seconds(50))
  }

  @Test func pollsOfABusyServerAreRateLimited() {
    var pace = MatrixPace()
    let now = SuspendingClock.now
    var allowed = 0
    for _ in 0..<70 where pace.allows(at: now) { allowed += 1 }
    #expect(allowed == 60)
    let later = pace.allows(at: now + .seconds(120))
    #expect(later)
  }

  // MARK: Messages

  private func message(
    _ occurrence: Occurrence? = nil, event: DeliveryEvent? = nil, change: (inout Reminder) -> Void = { _ in }
  ) throws -> OutboundMessage {
    var reminder = Reminder(
      id: ReminderID(rawValue: "rem"), owner: 1_000, title: "Tea & <co>",
      schedule: try .parse("daily at 9", now: scheduled, zone: .utc),
      channels: [ChannelName(rawValue: "room")], createdAt: scheduled)
    change(&reminder)
    let occurrence =
      occurrence
      ?? Occurrence(
        id: OccurrenceID(reminder: reminder.id, scheduledAt: scheduled), title: "Tea & <co>", owner: 1_000,
        state: .fired,
        firedAt: scheduled, rounds: 1)
    let delivery = Delivery(
      id: DeliveryID(rawValue: "msg_2"), occurrence: occurrence.id,
      queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "room")), round: 1,
      createdAt: scheduled, event: event)
    return OutboundMessage(delivery: delivery, occurrence: occurrence, reminder: reminder)
  }

  private func content(_ message: OutboundMessage, _ change: (inout Endpoint) -> Void = { _ in }) -> MatrixContent {
    MatrixContent(message, to: EndpointAccess(endpoint: endpoint(change), secrets: [])) { _ in "08:05" }
  }

  @Test func messageListsItsAnswers() throws {
    let plain = content(try message { $0.body = "Two\nlines" })
    #expect(plain.text == "Tea & <co>\nTwo\nlines\n✅ Done · 💤 10 min · ❌ Dismiss")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(plain.bytes)) as? [String: Any])
    #expect(
      json["formatted_body"] as? String
        == "<strong>Tea &amp; &lt;co&gt;</strong><br>Two<br>lines<br>✅ Done · 💤 10 min · ❌ Dismiss")
    #expect(json["msgtype"] as? String == "m.text" && json["io.chime.delivery"] as? String == "msg_2")
    #expect((json["m.mentions"] as? [String: Any])?.isEmpty == true)
    #expect(content(try message()) { $0.settings.senders = nil }.text == "Tea & <co>")
    #expect(content(try message { $0.urgency = .critical }).mentions == ["@ann:example.org"])
    #expect(content(try message { $0.urgency = .low }).isNotice)
  }

  @Test func editOfAnAnsweredMessageStatesTheAnswer() throws {
    func end(_ state: Occurrence.State) throws -> String? {
      var occurrence = try message().occurrence
      (occurrence.state, occurrence.endedAt) = (state, scheduled)
      let taken = DeliveryID(rawValue: "msg_1")
      let content = MatrixContent(insteadOf: try message(occurrence, event: .init(.withdrawal, message: taken))) { _ in
        "08:05"
      }
      guard let content else { return nil }
      #expect(content.delivery == taken)
      let json = try #require(
        try JSONSerialization.jsonObject(with: Data(content.bytes(replacing: "$e"))) as? [String: Any])
      #expect(json["m.relates_to"] as? [String: String] == ["rel_type": "m.replace", "event_id": "$e"])
      #expect((json["m.new_content"] as? [String: Any])?["io.chime.delivery"] as? String == "msg_1")
      #expect(json["body"] as? String == "* " + content.text)
      return content.text
    }
    #expect(try end(.done) == "Tea & <co>\n✔ done at 08:05")
    #expect(try end(.dismissed) == "Tea & <co>\n✖ dismissed at 08:05")
    #expect(try end(.snoozed(until: scheduled)) == "Tea & <co>\n💤 until 08:05")
    #expect(try end(.missed(.skipped)) == "Tea & <co>\nmissed")
    #expect(try end(.fired) == nil)
  }

  @Test(arguments: [
    (200, #"{"event_id":"$a"}"#, ChannelReport.NextStep.settled, Attempt.Outcome.delivered),
    (200, "{}", .retry, .failed), (200, "<html>", .retry, .failed), (200, #"{"event_id":"a"}"#, .retry, .failed),
    (429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1500}"#, .retryAfter(.milliseconds(1_500)), .failed),
    (429, #"{"errcode":"M_LIMIT_EXCEEDED"}"#, .retry, .failed),
    (429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":-1e99}"#, .retry, .failed),
    (400, #"{"errcode":"M_BAD_JSON"}"#, .giveUp, .failed), (400, "nginx", .retry, .failed),
    (413, #"{"errcode":"M_TOO_LARGE"}"#, .giveUp, .failed), (401, #"{"errcode":"M_UNKNOWN_TOKEN"}"#, .retry, .failed),
    (403, #"{"errcode":"M_FORBIDDEN"}"#, .retry, .failed), (404, "", .retry, .failed), (410, "", .retry, .failed),
    (502, "", .retry, .failed),
  ])
  func responseDecidesTheOutcome(
    _ status: Int, _ body: String, _ next: ChannelReport.NextStep, _ outcome: Attempt.Outcome
  ) throws {
    let result = HTTPResult(
      answering: status, Array(body.utf8), isWhole: true, contentType: "application/json", retryAfter: nil,
      redaction: Redaction())
    let delivery = try message().delivery
    let verdict = WebhookVerdict(matrix: result, of: delivery)
    #expect(verdict.next == next && verdict.outcome == outcome && verdict.answer == nil)
    #expect((verdict.error == nil) == (next == .settled))
    guard status == 404 else { return }
    let missing = HTTPResult(
      answering: 404, Array(#"{"errcode":"M_NOT_FOUND"}"#.utf8), isWhole: true, contentType: nil, retryAfter: nil,
      redaction: Redaction())
    let withdrawal = try message(event: .init(.withdrawal, message: DeliveryID(rawValue: "msg_1"))).delivery
    #expect(WebhookVerdict(matrix: missing, of: withdrawal).next == .cancel)
  }

  /// The token is in one header and nowhere else.
  @Test func tokenIsInOneHeaderOnly() throws {
    let token = try Token("tk_1")
    let access = EndpointAccess(endpoint: endpoint(), secrets: [], token: token)
    #expect(access.fault == nil && !access.needsSecret)
    let request = try MatrixClient.request(
      access, "PUT", Matrix.path("join", "!a:b"), query: [("a", "b c")], body: [1], version: "1")
    #expect(request.url == "https://matrix.example.org/_matrix/client/v3/join/%21a%3Ab?a=b%20c")
    #expect(request.headers.filter { $0.contains("tk_1") } == ["authorization: Bearer tk_1"])
    #expect(EndpointAccess(endpoint: endpoint(), secrets: []).fault?.contains("--token-file") == true)
  }
}
