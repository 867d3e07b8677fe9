import ChimeSchedule
import ChimeTestKit
import Testing

@testable import ChimeDelivery

struct ReplyLinesTests {
  private static let open = #"{"id":"SLiKI64DOt","time":1635528757,"event":"open","topic":"mytopic"}"#
  private static let message =
    #"{"id":"hwQ2YpKdmg","time":1635528741,"event":"message","topic":"mytopic","message":"Disk \"full\"\nů"}"#
  private static let keepalive = #"{"id":"DGUDShMCsc","time":1635528787,"event":"keepalive","topic":"mytopic"}"#

  /// Lines from ntfy's documentation, and other lines.
  @Test(arguments: [
    (open, ReplyLine.opened), (message, .message(id: "hwQ2YpKdmg", text: "Disk \"full\"\nů")), (keepalive, .other),
    ("", .other),
    (#"{"event":"message_clear","id":"a"}"#, .other), (#"{"event":"poll_request"}"#, .other), ("done", .nonsense),
    ("{", .nonsense), ("[]", .nonsense), ("null", .nonsense), (#"{"id":"a"}"#, .nonsense), (#"{"event":7}"#, .nonsense),
    (#"{"event":"message","message":"x"}"#, .nonsense),
    (#"{"event":"message","id":"a&since=all","message":"x"}"#, .nonsense),
    (#"{"event":"message","id":""}"#, .nonsense), (#"{"event":"message","id":"a"}"#, .message(id: "a", text: "")),
    (#"{"event":"message","id":"a","message":["x"]}"#, .nonsense),
  ])
  func linesAreParsed(_ text: String, _ line: ReplyLine) { #expect(ReplyLine(Array(text.utf8)) == line) }

  /// The network may split the lines anywhere.
  @Test func linesMayArriveInParts() throws {
    let text = [Self.open, Self.message, Self.keepalive, ""].joined(separator: "\r\n") + "\n" + Self.message
    var random = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      var (lines, seen, rest) = (ReplyLines(), [[UInt8]](), Array(text.utf8)[...])
      while !rest.isEmpty {
        let part = rest.prefix(Int.random(in: 1...120, using: &random))
        rest = rest.dropFirst(part.count)
        seen += try lines.take(part, elapsed: .zero)
      }
      #expect(seen.map { String(decoding: $0, as: UTF8.self) } == [Self.open, Self.message, Self.keepalive, ""])
    }
  }

  @Test func lineLengthIsBounded() throws {
    var lines = ReplyLines()
    let longest = [UInt8](repeating: 0x61, count: ReplyLines.longest)
    #expect(try lines.take(longest + [0x0A], elapsed: .zero).count == 1)
    #expect(try lines.take(longest, elapsed: .zero).isEmpty)
    #expect(throws: DeliveryError.self) { try lines.take([0x61], elapsed: .zero) }
    var others = ReplyLines()
    #expect(throws: DeliveryError.self) { try others.take(longest + [0x61, 0x0A], elapsed: .zero) }
  }

  /// A gigabyte is refused, but a stream that lasts for years is read.
  @Test func streamSizeIsBounded() throws {
    let line = [UInt8](repeating: 0x61, count: 999) + [0x0A]
    var lines = ReplyLines()
    var count = 0
    #expect(throws: DeliveryError.self) {
      while count < 1_000_000 {
        _ = try lines.take(line, elapsed: .seconds(1))
        count += 1
      }
    }
    #expect((1_000...1_100).contains(count))
    var slow = ReplyLines()
    for second in 1...20_000 { _ = try slow.take(line, elapsed: .seconds(Int64(second))) }
  }

  @Test(arguments: [
    "https://ntfy.sh/my-replies", "http://127.0.0.1:8080/a_B-9", "https://example.org/ntfy/topic",
    "poll:https://example.org/answers?room=7", "poll:http://127.0.0.1:8099/",
  ])
  func validTopicURLsAreAccepted(_ text: String) throws { try EndpointURL.validate(replies: text) }

  @Test(arguments: [
    "https://ntfy.sh", "https://ntfy.sh/", "https://ntfy.sh/a/", "https://ntfy.sh/a?b", "https://ntfy.sh/a#b",
    "https://ntfy.sh/a,b",
    "https://u:p@ntfy.sh/a", "ftp://ntfy.sh/a", "https://ntfy.sh/a%20b", "https://ntfy.sh/\"a", "ntfy.sh/a",
    "https://ntfy.sh/" + String(repeating: "a", count: 400), "poll:", "poll:example.org",
    "poll:https://u:p@example.org/",
    "poll:https://example.org/#a", "poll:ftp://example.org/",
  ])
  func invalidTopicURLsAreRefused(_ text: String) {
    #expect(throws: DeliveryError.self) { try EndpointURL.validate(replies: text) }
  }

  @Test func sameServerHasTheSameOrigin() {
    #expect(EndpointURL.origin(of: "https://ntfy.sh/a") == EndpointURL.origin(of: "HTTPS://NTFY.SH:443/b?c"))
    #expect(EndpointURL.origin(of: "https://ntfy.sh/a") != EndpointURL.origin(of: "http://ntfy.sh/a"))
    #expect(EndpointURL.origin(of: "https://ntfy.sh/a") != EndpointURL.origin(of: "https://ntfy.sh:8443/a"))
    #expect(EndpointURL.origin(of: "https://ntfy.sh/a") != EndpointURL.origin(of: "https://ntfy.sh.evil/a"))
  }
}
