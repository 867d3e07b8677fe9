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
    // What is no secret stays as it is, a part of one at the very end of a whole answer too.
    ("a secret begins with whsec_ or whsk_", "a secret begins with whsec_ or whsk_"),
    ("whpk_AAAA tk/\"a\\b", "whpk_AAAA tk/\"a\\b"), ("", ""), ("čaj 🫖", "čaj 🫖"),
  ])
  func takesOutWhatIsSecret(_ text: String, _ expected: String) {
    #expect(Redaction(token: Self.token).clean(text) == expected)
  }

  @Test func knowsATokenThatIsCut() {
    let redaction = Redaction(token: "tk_0123456789")
    for length in 1...13 {
      let cut = Array("saw ".utf8) + Array("tk_0123456789".utf8.prefix(length))
      #expect(String(decoding: redaction.clean(cut, isWhole: false), as: UTF8.self) == "saw <redacted>")
    }
    #expect(redaction.clean(Array("saw tk_1".utf8), isWhole: false) == Array("saw tk_1".utf8))
  }

  @Test func withoutATokenOnlySecretsGo() {
    #expect(Redaction().clean("tk_1 whsec_a") == "tk_1 <redacted>")
    #expect(Redaction(token: "").clean("tk_1") == "tk_1")
  }
}

extension RealThings {
  /// Receivers that send back what they were sent.
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
          lane: Lane(owner: 1_000, channel: ChannelName(rawValue: "team")),
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
        "delivered, but what it answers is not understood: \"<redacted>\" is no action; write done, dismiss or snooze"
      ),
    ])
    func keepsNoToken(_ path: String, _ answer: String, _ error: String?) async throws {
      let (access, clock) = (try access(path), ManualTime())
      let channel = WebhookChannel(configuration: WebhookConfiguration(version: "1.2.3"), clock: { clock.now }) { _ in
        access
      }
      let attempt = try #require(try await channel.deliver(message(channel: "team")).attempt)
      #expect(try await receiver.lines.next()["headers"]?["authorization"]?.string == "Bearer \(Self.token)")
      #expect(attempt.answer == answer)
      #expect(attempt.error == error)
      await channel.stop()
    }

    @Test func aTestShowsNoToken() async throws {
      let channel = WebhookChannel(configuration: WebhookConfiguration(version: "1.2.3")) { _ in nil }
      let test = await channel.test(try access("401/plain"))
      #expect(test.attempt.answer == "not Bearer <redacted>, <redacted> nor <redacted>")
      #expect(test.details?.headers.contains("www-authenticate: Bearer error=\"Bearer <redacted>") == true)
      await channel.stop()
    }
  }
}
