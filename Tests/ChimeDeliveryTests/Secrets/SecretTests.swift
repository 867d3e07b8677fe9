import Testing

@testable import ChimeDelivery

@Suite struct SecretTests {
  static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// The worked example of the Standard Webhooks libraries.
  @Test func hmacMatchesTheStandardsExample() throws {
    let signature = try Secret(Self.text).signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  /// The key pair and the signature in Standard Webhooks' specification and Svix's server.
  static let pair =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="

  @Test func ed25519MatchesTheStandardsExample() throws {
    let seed = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc="
    for text in [Self.pair, seed] {
      let secret = try Secret(text)
      #expect(secret.kind == .ed25519 && secret.publicKey == "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=")
      let signature = secret.signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
      #expect(
        signature
          == "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==")
    }
    #expect(try Secret(Self.pair) == Secret(seed))
  }

  @Test func mismatchedKeyHalvesAreRefused() throws {
    var bytes = try #require(Base64.decode(Array(Self.pair.utf8.dropFirst(5))[...]))
    bytes[63] ^= 1
    let text = "whsk_" + Base64.encode(bytes[...])
    #expect(throws: SecretError.halvesDiffer) { try Secret(text) }
    #expect(throws: SecretError.noKeyPair(bytes: 63)) { try Secret("whsk_" + Base64.encode(bytes.dropLast())) }
  }

  @Test(arguments: Secret.Kind.allCases)
  func generatedSecretsReadBack(_ kind: Secret.Kind) throws {
    let texts = Set((0..<20).map { _ in Secret.make(kind) })
    #expect(texts.count == 20)
    for text in texts {
      let secret = try Secret(text)
      #expect(secret.kind == kind && (secret.publicKey != nil) == (kind == .ed25519))
      #expect(try secret != Secret(Secret.make(kind)) && secret == Secret(text))
    }
  }

  @Test func tokensAreNeverPrinted() throws {
    let token = try Token(" tk_abcdef\r\n")
    #expect(token.stored == "tk_abcdef")
    var dumped = ""
    dump(["token": token], to: &dumped)
    for shown in ["\(token)", String(reflecting: token), dumped] { #expect(!shown.contains("abcdef")) }
    for text in ["", " \n", "a b", "a\nb c", "a\nb\nc", "é", String(repeating: "a", count: 4_097)] {
      let error = #expect(throws: DeliveryError.self) { try Token(text) }
      if text.count > 2, text.count < 100 { #expect(error?.description.contains(text) == false) }
    }
  }

  /// A second line is the token for withdrawing messages; both are stored as one.
  @Test func secondLineIsTheWithdrawalToken() throws {
    let pair = try Token(" tk_one \n\r\ntk_two\n")
    #expect(pair.text == "tk_one" && pair.withdrawing == "tk_two" && pair.isPair && pair.stored == "tk_one tk_two")
    #expect(try !Token("tk_one\n\n").isPair)
  }

  @Test func spaceAroundASecretIsIgnored() throws {
    #expect(try Secret("  \(Self.text)\n") == Secret(Self.text))
    #expect(try Secret("\(Self.text)\r\n") == Secret(Self.text))
  }

  @Test(arguments: [
    ("", SecretError.noPrefix), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", .noPrefix), ("whsk_MfKQ", .noKeyPair(bytes: 3)),
    ("whpk_MfKQ", .publicKey),
    ("whsec_", .tooShort(bytes: 0)), ("whsec_MfKQ9r8G", .tooShort(bytes: 6)),
    ("whsec_" + String(repeating: "A", count: 28) + "AAA=", .tooShort(bytes: 23)),
    ("whsec_" + String(repeating: "A", count: 84) + "AAA=", .tooLong(bytes: 65)),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", .notBase64(.hmac)),
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-", .notBase64(.hmac)),
    ("whsec_MfKQ9r8GKYqr TwjUPD8ILPZIo2LaLaS", .notBase64(.hmac)), ("whsec_A===", .notBase64(.hmac)),
    ("whsec_AA=A", .notBase64(.hmac)),
    ("whsec_AB==", .notBase64(.hmac)), ("whsec_ÄÄÄÄ", .notBase64(.hmac)),
  ])
  func invalidSecretIsRefusedWithAReason(_ text: String, _ error: SecretError) {
    #expect(throws: error) { try Secret(text) }
    if text.count > 10 { #expect(!"\(error)".contains(text.dropFirst(6))) }
  }

  @Test func everyAllowedLengthIsAccepted() throws {
    for length in Secret.lengths {
      _ = try Secret("whsec_" + Base64.encode([UInt8](repeating: 0xA5, count: length)[...]))
    }
  }

  @Test func secretsAreNeverPrinted() throws {
    let secret = try Secret(Self.text)
    var dumped = ""
    dump(secret, to: &dumped)
    dump(["secret": secret], to: &dumped)
    for shown in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
      #expect(shown.contains("whsec_<redacted>"))
      // 49 is the first byte of the key.
      #expect(!shown.contains("MfKQ") && !shown.contains("49"))
    }
    #expect("\(try Secret(Self.pair))" == "whsk_<redacted>")
  }

  @Test func base64RoundTrips() {
    for length in 0...67 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      #expect(Base64.decode(Array(Base64.encode(bytes[...]).utf8)[...]) == bytes)
    }
  }
}
