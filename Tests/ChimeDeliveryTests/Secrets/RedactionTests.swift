import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

@Suite struct RedactionTests {
  static let token = "tk/\"a\\b\"<c>&d+1="

  @Test(arguments: [
    ("plain \(token)\(token).", "plain <redacted><redacted>."),
    (#"{"key":"tk/\"a\\b\"<c>&d+1="}"#, #"{"key":"<redacted>"}"#),
    (#"{"key":"tk\/\"a\\b\"<c>&d+1="}"#, #"{"key":"<redacted>"}"#),
    ("<p>tk/&quot;a\\b&quot;&lt;c&gt;&amp;d+1=</p>", "<p><redacted></p>"),
    ("?key=tk%2F%22a%5Cb%22%3Cc%3E%26d%2B1%3D&x", "?key=<redacted>&x"),
    ("two: whsec_MfKQ9r8GKYqrTwjU/+==, whsk_AAAA", "two: <redacted>, <redacted>"),
    (#"["whsec_Mf\/KQ"]"#, #"["<redacted>"]"#),
    // Other text is unchanged, including a partial secret at the very end of a complete answer.
    ("a secret begins with whsec_ or whsk_", "a secret begins with whsec_ or whsk_"),
    ("whpk_AAAA tk/\"a\\b", "whpk_AAAA tk/\"a\\b"), ("", ""), ("čaj 🫖", "čaj 🫖"),
  ])
  func secretsAreRedacted(_ text: String, _ expected: String) {
    #expect(Redaction(token: Self.token).clean(text) == expected)
  }

  @Test func truncatedTokenIsRedacted() {
    let redaction = Redaction(token: "tk_0123456789")
    for length in 1...13 {
      let cut = Array("saw ".utf8) + Array("tk_0123456789".utf8.prefix(length))
      #expect(String(decoding: redaction.clean(cut, isWhole: false), as: UTF8.self) == "saw <redacted>")
    }
    #expect(redaction.clean(Array("saw tk_1".utf8), isWhole: false) == Array("saw tk_1".utf8))
  }

  /// The record of an answer leaves control characters out, which would put such a token together.
  @Test(arguments: ["\u{7F}\u{7F}", "\0", "\u{1B}", "\u{80}", "\u{9F}"])
  func tokenWithControlCharactersIsRedacted(_ control: String) {
    let redaction = Redaction(token: "tk_0123456789")
    #expect(redaction.clean("saw tk_01\(control)2345\(control)6789.") == "saw <redacted>.")
    #expect(Redaction().clean("saw wh\(control)sec_\(control)AAAA, then") == "saw <redacted>, then")
    let answer = #"{"action":"tk_01\u007F2345\u00806789"}"#
    #expect(
      WebhookAnswer(Array(answer.utf8), contentType: nil, redaction: redaction)
        == .misunderstood("\"<redacted>\" is not an action; write done, dismiss or snooze"))
  }

  /// A token in the encodings that receivers' frameworks use for echoed text.
  @Test func encodedTokenIsRedacted() throws {
    let token = "tk_Ab/\"c\\d\"<e>&f+1%9="
    let bytes = Array(token.utf8)
    let redaction = Redaction(token: token)
    func hex(_ byte: UInt8, _ width: Int = 2) -> String {
      let text = String(byte, radix: 16)
      return String(repeating: "0", count: width - text.count) + text
    }
    let forms: [String: String] = [
      "backwards": String(decoding: bytes.reversed(), as: UTF8.self),
      "hex": bytes.map { hex($0) }.joined(), "HEX": bytes.map { hex($0).uppercased() }.joined(),
      "\\u": bytes.map { "\\u" + hex($0, 4) }.joined(), "\\U": bytes.map { "\\u" + hex($0, 4).uppercased() }.joined(),
      "\\x": bytes.map { "\\x" + hex($0) }.joined(), "octal": bytes.map { "\\" + String($0, radix: 8) }.joined(),
      "%": bytes.map { "%" + hex($0) }.joined(), "&#": bytes.map { "&#\($0);" }.joined(),
      "&#x": bytes.map { "&#x" + hex($0) + ";" }.joined(), "&#X": bytes.map { "&#X00" + hex($0) + ";" }.joined(),
      "shell": bytes.map { "\\" + String(decoding: [$0], as: UTF8.self) }.joined(),
      "mixed": bytes.enumerated().map { index, byte in
        index % 3 == 0 ? "\\u" + hex(byte, 4) : index % 3 == 1 ? "%" + hex(byte) : "&#\(byte);"
      }.joined(),
    ]
    for (name, form) in forms {
      #expect(redaction.clean("saw [\(form)]") == "saw [<redacted>]", "\(name): \(form)")
      #expect(redaction.clean("\(form)\(form)") == "<redacted><redacted>", "\(name)")
    }
  }

  /// Also in Base64, at any position in the encoded text and in both alphabets.
  @Test func tokenInBase64IsRedacted() {
    for token in [
      "tk_0123456789", "AbCdEfGh1234567", "??>>~~??>>~~", "tk/" + String(repeating: "0123456789", count: 200),
    ] {
      let redaction = Redaction(token: token)
      for before in ["", "a", "ab", "Bearer ", "user:", "{\"x\":\""] {
        for after in ["", "z", "\"}", "\n..."] {
          let plain = Base64.encode(Array((before + token + after).utf8)[...])
          let other = plain.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
          for text in [plain, other, plain.replacing("/", with: "\\/")] {
            let cleaned = redaction.clean("<\(text)>")
            #expect(cleaned.hasSuffix("<redacted>>"), "\(text) became \(cleaned)")
            // What is left says no more than the text before the token.
            let left = cleaned.dropFirst().prefix { $0 != "<" }
            #expect(left.count <= before.utf8.count * 4 / 3, "\(text) became \(cleaned)")
          }
        }
      }
    }
  }

  /// A short token resembles too much when encoded, so only its literal form is recognized.
  @Test func similarTextIsNotRedacted() {
    let text = "saw 6162 YWI= ba, 0x6162"
    #expect(Redaction(token: "ab").clean(text) == text)
    let long = Redaction(token: "tk_0123456789")
    for text in ["9876543210_k", "746b5f", "dGtf", "&amp; &#116; %74 \\u0074k", "\\", "%", "&", "&#", "\\u", "%7"] {
      #expect(long.clean(text) == text)
    }
  }

  /// The number of comparisons is bounded: a naive search would rescan this answer from each position.
  @Test func longRunOfOneLetterIsSearchedInBoundedTime() {
    let token = String(repeating: "a", count: 2_000)
    let text = String(repeating: "a", count: 1_999) + "b" + String(repeating: "a", count: 2_000)
    #expect(Redaction(token: token).clean(text) == String(repeating: "a", count: 1_999) + "b<redacted>")
  }

  @Test func withoutATokenOnlySecretsAreRedacted() {
    #expect(Redaction().clean("tk_1 whsec_a") == "tk_1 <redacted>")
    #expect(Redaction(token: "").clean("tk_1") == "tk_1")
  }
}

extension SerialTests {
  /// Receivers that echo what they were sent.
  @Suite(.serialized) final class EchoTests {
    let receiver: Script
    let port: Int
    /// So long that neither a quotation nor an excerpt has room for it.
    static let token = "tk/" + String(repeating: "0123456789", count: 200)

    init() async throws {
      receiver = try Script("/usr/bin/python3", [support("receiver.py")])
      port = try #require(try await receiver.lines.next()["port"]?.number)
    }

    deinit { receiver.end() }

    func access(_ path: String) throws -> EndpointAccess {
      EndpointAccess(
        endpoint: Endpoint(
          queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team")),
          url: "http://127.0.0.1:\(port)/echo/\(path)", createdAt: scheduled),
        secrets: [SigningSecret(try Secret(SecretTests.text))], token: try Token(Self.token))
    }

    @Test(arguments: [
      ("500/plain", "not Bearer <redacted>, <redacted> nor <redacted>", "answered 500"),
      ("200/plain", "not Bearer <redacted>, <redacted> nor <redacted>", nil),
      ("500/escaped", "{\"saw\": \"Bearer <redacted>\"}", "answered 500"),
      ("500/long/500", String(repeating: ".", count: 500) + "Bearer <redacted>", "answered 500"),
      (
        "200/action", "{\"action\": \"<redacted>\"}",
        "delivered, but its answer is invalid: \"<redacted>\" is not an action; write done, dismiss or snooze"
      ),
    ])
    func recordContainsNoToken(_ path: String, _ answer: String, _ error: String?) async throws {
      let (access, clock) = (try access(path), ManualTime())
      let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3"), clock: { clock.now }) { _ in
        access
      }
      let attempt = try #require(try await channel.deliver(message(channel: "team")).attempt)
      #expect(try await receiver.lines.next()["headers"]?["authorization"]?.string == "Bearer \(Self.token)")
      #expect(attempt.answer == answer)
      #expect(attempt.error == error)
      await channel.stop()
    }

    @Test func testShowsNoToken() async throws {
      let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3")) { _ in nil }
      let test = await channel.test(try access("401/plain"))
      #expect(test.attempt.answer == "not Bearer <redacted>, <redacted> nor <redacted>")
      #expect(test.details?.headers.contains("www-authenticate: Bearer error=\"Bearer <redacted>") == true)
      await channel.stop()
    }
  }
}
