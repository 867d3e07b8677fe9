import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

@testable import ChimeDelivery

@Suite struct ActionTokenTests {
  static let now = Instant(seconds: 1_774_859_400)
  static let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "phone"))
  static let occurrence = OccurrenceID(reminder: ReminderID(rawValue: "r7k2"), scheduledAt: now)

  static func key(_ secret: String = SecretTests.text, of queue: DeliveryQueue = queue) throws -> TokenKey {
    try Secret(secret).tokenKey(of: queue)
  }

  static let actions: [ActionToken.Action] = [
    .done, .item("speedmaster"), .snooze(.minutes(10)), .dismiss, .log(grains: 250_000_000),
  ]

  static var subjects: [ActionToken.Subject] {
    actions.map { .answer($0, occurrence, round: 3, expiry: now + .days(7)) }
      + Ping.Kind.allCases.map { .ping($0, ReminderID(rawValue: "r7k2")) }
  }

  private func fault(_ text: String, _ keys: [TokenKey], at now: Instant = now) -> TokenFault? {
    do throws(TokenFault) {
      _ = try ActionToken(text, keys: keys, at: now)
      return nil
    } catch { return error }
  }

  @Test func tokenReadsBack() throws {
    let key = try Self.key()
    for subject in Self.subjects {
      let text = try #require(ActionToken(subject).text(key))
      #expect(text.hasPrefix("chact_") && text.utf8.count < 180, "\(text)")
      #expect(text.utf8.allSatisfy { ReplyLine.isID(String(UnicodeScalar($0))) || $0 == UInt8(ascii: ".") })
      let token = try ActionToken(text, keys: [key], at: Self.now)
      #expect(token.subject == subject && token.signature.utf8.count == 43)
      #expect(ActionToken(subject).text(key) == text, "all attempts of a message send the same")
    }
  }

  /// Messages are created at any millisecond.
  @Test func expiryIsInWholeSeconds() throws {
    let key = try Self.key()
    let expiry = Self.now + .milliseconds(1_700)
    let text = try #require(ActionToken(.answer(.done, Self.occurrence, round: 1, expiry: expiry)).text(key))
    let token = try ActionToken(text, keys: [key], at: Self.now)
    #expect(token.subject == .answer(.done, Self.occurrence, round: 1, expiry: Self.now + .seconds(1)))
  }

  @Test func unencodableIDGetsNoToken() throws {
    let odd = OccurrenceID(reminder: ReminderID(rawValue: "a:b"), scheduledAt: Self.now)
    #expect(ActionToken(.answer(.done, odd, round: 1, expiry: Self.now)).text(try Self.key()) == nil)
    #expect(ActionToken(.ping(.failed, ReminderID(rawValue: "a:b"))).text(try Self.key()) == nil)
  }

  /// A token of another endpoint, another owner or another secret is refused.
  @Test func tokenOfAnotherEndpointIsRefused() throws {
    let queues = [
      Self.queue, DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "phone2")),
      DeliveryQueue(owner: 1_001, channel: ChannelName(rawValue: "phone")),
      DeliveryQueue(owner: 100, channel: ChannelName(rawValue: "0phone")),
    ]
    var keys = try queues.map { try Self.key(of: $0) }
    keys.append(try Self.key(Secret.make(.hmac)))
    keys.append(try Self.key(Secret.make(.ed25519)))
    for (index, key) in keys.enumerated() {
      let text = try #require(ActionToken(Self.subjects[0]).text(key))
      for (other, one) in keys.enumerated() {
        #expect(fault(text, [one]) == (index == other ? nil : .forged))
      }
    }
  }

  /// The token key is derived from the secret but differs from it, so signing with the secret cannot create tokens.
  @Test func tokenKeyDiffersFromTheSecret() throws {
    let secret = try Secret(SecretTests.text)
    let text = try #require(ActionToken(Self.subjects[0]).text(try Self.key()))
    let body = String(try #require(text.dropFirst(6).split(separator: ".").first))
    let signed = secret.signature(id: body, timestamp: 0, body: [])
    #expect(!signed.contains(text.suffix(43)))
  }

  @Test func expiredTokenIsRefused() throws {
    let key = try Self.key()
    let text = try #require(ActionToken(.answer(.done, Self.occurrence, round: 1, expiry: Self.now)).text(key))
    #expect(fault(text, [key], at: Self.now - .milliseconds(1)) == nil)
    #expect(fault(text, [key], at: Self.now) == .expired)
    #expect(fault(text, [], at: Self.now) == .forged)
    let ping = try #require(ActionToken(.ping(.succeeded, ReminderID(rawValue: "r7k2"))).text(key))
    #expect(fault(ping, [key], at: Self.now + .days(10_000)) == nil)
  }

  /// A replaced secret signs no new tokens, but its old ones remain valid while it still signs messages.
  @Test func tokensOfAReplacedSecretStayValid() throws {
    let (old, new) = (try Secret(SecretTests.text), try Secret(Secret.make(.hmac)))
    let endpoint = Endpoint(queue: Self.queue, url: "http://a/", createdAt: Self.now)
    let before = EndpointAccess(endpoint: endpoint, secrets: [SigningSecret(old)])
    let access = EndpointAccess(
      endpoint: endpoint, secrets: [SigningSecret(new), SigningSecret(old, until: Self.now + .hours(1))])
    let ping = ActionToken.Subject.ping(.succeeded, ReminderID(rawValue: "r7k2"))
    let text = try #require(before.actionToken(ping, at: Self.now))
    #expect(access.actionToken(ping, at: Self.now) != text)
    #expect(fault(text, access.tokenKeys(at: Self.now)) == nil)
    #expect(fault(text, access.tokenKeys(at: Self.now + .hours(1))) == .forged)
  }

  /// Text that is not a token is refused.
  @Test func textThatIsNoTokenIsRefused() throws {
    let key = try Self.key()
    for text in [
      "", "chact_", "chact_.AAA=", "chact_a.b.c", "done", "chact_!!.!!", String(repeating: "chact_", count: 1_000),
      "chact_" + String(repeating: "A", count: 600), "chact_\u{0}.\u{0}", "CHACT_AAAA.AAAA", "chact_AB.AB",
    ] { #expect(fault(text, [key]) == .malformed, "\(text.prefix(40))") }
    // Signed, but not in the form that this version writes: each meaning has exactly one text.
    for payload in [
      "", ":", "1", "2:o:r7k2@1:1:done::9", "1:o:r7k2@1:0:done::9", "1:o:r7k2@1:1:done:x:9", "1:o:r7k2@1:01:done::9",
      "1:o:r7k2@1:1:snooze:1:9", "1:o:r7k2@1:1:snooze:+600000:9", "1:o:r7k2@1:1:log:-5:9", "1:o:r7k2@1:1:log:0:9",
      "1:o:r7k2@1:1:done::9:", "1:o:@1:1:done::9", "1:o:r7k2@01:1:done::9", "1:o:r7k2@1:1:explode::9",
      "1:p:r7k2:killed",
      "1:p::failed", "1:o:r7k2@1:1:item:Two Words:9", "1:o:r7k2@1:99999999999999999999:done::9",
    ] {
      let body = Base64.encodeURL(Array(payload.utf8))
      #expect(fault("chact_\(body).\(Base64.encodeURL(key.sign(body)))", [key]) == .malformed, "\(payload)")
    }
  }

  /// A changed bit or character or a mixture of two tokens is refused.
  @Test(arguments: [ProofTier.amount(quick: 5_000, proof: 1_000_000)]) func forgedTokensAreRefused(count: Int)
    throws
  {
    var random = SeededGenerator(seed: 7)
    let keys = [try Self.key(), try Self.key(Secret.make(.ed25519))]
    let real = try Self.subjects.map { try #require(ActionToken($0).text(keys[0])) }
    let known = Set(real)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
    var taken = 0
    for _ in 0..<count {
      var bytes = Array((real.randomElement(using: &random) ?? "").utf8)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = alphabet.randomElement(using: &random) ?? 0
      case 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      case 2: bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<7, using: &random)
      case 3:
        bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: Int.random(in: 0...bytes.count, using: &random))
      default:
        let other = Array((real.randomElement(using: &random) ?? "").utf8)
        let (one, two) = (bytes.split(separator: UInt8(ascii: ".")), other.split(separator: UInt8(ascii: ".")))
        bytes = Array(one[0]) + [UInt8(ascii: ".")] + Array(two[1])
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if !known.contains(text), fault(text, keys) == nil { taken += 1 }
    }
    #expect(taken == 0)
  }

  /// A server may echo what it was sent, and the record keeps the answer.
  @Test func echoedTokenIsRedacted() throws {
    let text = try #require(ActionToken(Self.subjects[0]).text(try Self.key()))
    let cleaned = Redaction().clean(#"{"actions":[{"body":"\#(text)","method":"POST"}]}"#)
    #expect(cleaned == #"{"actions":[{"body":"<redacted>","method":"POST"}]}"#)
  }
}
