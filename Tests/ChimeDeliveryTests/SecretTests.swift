import Testing

@testable import ChimeDelivery

@Suite struct SecretTests {
  static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// The worked example of the Standard Webhooks libraries.
  @Test func signsAsTheStandardsExample() throws {
    let signature = try Secret(Self.text).signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func isTheSameSecretWithSpaceAroundIt() throws {
    #expect(try Secret("  \(Self.text)\n") == Secret(Self.text))
    #expect(try Secret("\(Self.text)\r\n") == Secret(Self.text))
  }

  @Test(arguments: [
    ("", SecretError.noPrefix), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", .noPrefix), ("whsk_MfKQ", .noPrefix),
    ("whsec_", .tooShort(bytes: 0)), ("whsec_MfKQ9r8G", .tooShort(bytes: 6)),
    ("whsec_" + String(repeating: "A", count: 28) + "AAA=", .tooShort(bytes: 23)),
    ("whsec_" + String(repeating: "A", count: 84) + "AAA=", .tooLong(bytes: 65)),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", .notBase64), ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-", .notBase64),
    ("whsec_MfKQ9r8GKYqr TwjUPD8ILPZIo2LaLaS", .notBase64), ("whsec_A===", .notBase64), ("whsec_AA=A", .notBase64),
    ("whsec_AB==", .notBase64), ("whsec_ÄÄÄÄ", .notBase64),
  ])
  func refusesWithItsReason(_ text: String, _ error: SecretError) {
    #expect(throws: error) { try Secret(text) }
    if text.count > 10 { #expect(!"\(error)".contains(text.dropFirst(6))) }
  }

  @Test func acceptsEveryAllowedLength() throws {
    for length in Secret.lengths {
      _ = try Secret("whsec_" + Base64.encode([UInt8](repeating: 0xA5, count: length)[...]))
    }
  }

  @Test func isNeverShown() throws {
    let secret = try Secret(Self.text)
    var dumped = ""
    dump(secret, to: &dumped)
    dump(["secret": secret], to: &dumped)
    for shown in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
      #expect(shown.contains("whsec_<redacted>"))
      // 49 is the first byte of the key.
      #expect(!shown.contains("MfKQ") && !shown.contains("49"))
    }
  }

  @Test func base64RoundTrips() {
    for length in 0...67 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      #expect(Base64.decode(Array(Base64.encode(bytes[...]).utf8)[...]) == bytes)
    }
  }
}
