import CCrypto
package import ChimeCore
package import ChimeSchedule

/// An ActionToken authorizes one action, once, for anyone who has its text. Only the endpoint's secret can create one.
///
///     chact_MTpvOnI3azJAMTc3NDg1OTQwMDoxOmRvbmU6OjE3NzU0NjQyMDA.3q2-7wABAgM…
///
/// The text is `chact_`, the base64url payload, a full stop, and the payload's HMAC-SHA256 in base64url. The payload is
/// separated by colons: version, `o`, occurrence, round, action, its argument and the expiry in seconds since the
/// epoch; or version, `p`, expectation and ping kind.
package struct ActionToken: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    case done
    /// Completes with this item of the reminder's tracker.
    case item(String)
    case snooze(Milliseconds)
    case dismiss
    /// Completes and logs this amount in the reminder's tracker, in fixed-point units.
    case log(grains: Int64)
  }

  package enum Subject: Hashable, Sendable {
    /// An answer to one round of an occurrence, valid before `expiry`.
    case answer(Action, OccurrenceID, round: Int, expiry: Instant)
    /// A job's report of itself. Such a token may be used repeatedly.
    case ping(Ping.Kind, ReminderID)
  }

  package var subject: Subject
  /// The signature, which identifies the token; empty before it is signed.
  package private(set) var signature = ""

  package init(_ subject: Subject) { self.subject = subject }

  /// Lifetime of an answer token, counted from the creation of its message.
  package static let life = Milliseconds.days(7)
  package static let prefix = "chact_"
  private static let version = "1"
  /// Maximum length of a token in bytes.
  private static let limit = 512

  // MARK: Text

  /// Returns the signed text; nil if the subject cannot be encoded. The expiry is truncated to seconds.
  package func text(_ key: TokenKey) -> String? {
    let payload = Array(payload.utf8)
    guard Self.subject(payload) != nil else { return nil }
    let body = Base64.encodeURL(payload)
    let text = "\(Self.prefix)\(body).\(Base64.encodeURL(key.sign(body)))"
    return text.utf8.count <= Self.limit ? text : nil
  }

  /// Parses and verifies a token.
  ///
  /// - Parameters:
  ///   - keys: Keys of the endpoint's current and recently replaced secrets.
  ///   - now: Current time; a token is refused from its `expiry` on.
  package init(_ text: String, keys: [TokenKey], at now: Instant) throws(TokenFault) {
    let bytes = text.utf8
    guard bytes.count <= Self.limit, text.hasPrefix(Self.prefix) else { throw .malformed }
    let parts = text.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let payload = Base64.decodeURL(parts[0].utf8),
      let signature = Base64.decodeURL(parts[1].utf8)
    else { throw .malformed }
    // The signature is checked before the payload is parsed.
    guard keys.contains(where: { $0.verifies(signature, of: String(parts[0])) }) else { throw .forged }
    guard let subject = Self.subject(payload) else { throw .malformed }
    self.subject = subject
    self.signature = String(parts[1])
    if case .answer(_, _, _, let expiry) = subject, now >= expiry { throw .expired }
  }

  private var payload: String {
    switch subject {
    case .answer(let action, let occurrence, let round, let expiry):
      let (name, argument) = Self.words(action)
      return "\(Self.version):o:\(occurrence):\(round):\(name):\(argument):\(expiry.seconds)"
    case .ping(let kind, let reminder): return "\(Self.version):p:\(reminder):\(kind.rawValue)"
    }
  }

  private static func words(_ action: Action) -> (String, String) {
    switch action {
    case .done: ("done", "")
    case .item(let item): ("item", item)
    case .snooze(let length): ("snooze", String(length.rawValue))
    case .dismiss: ("dismiss", "")
    case .log(let grains): ("log", String(grains))
    }
  }

  /// Returns nil unless the text is exactly what `payload` would write.
  private static func subject(_ payload: [UInt8]) -> Subject? {
    guard let text = String(validating: payload, as: UTF8.self) else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1, parts[0] == version, let subject = subject(parts) else { return nil }
    return ActionToken(subject).payload == text ? subject : nil
  }

  private static func subject(_ parts: [String]) -> Subject? {
    switch (parts[1], parts.count) {
    case ("o", 7):
      guard let occurrence = OccurrenceID(parts[2]), let round = Int(parts[3]), round > 0,
        let action = action(parts[4], parts[5]), let expiry = Int64(parts[6]),
        (0...Instant.latest.seconds).contains(expiry)
      else { return nil }
      return .answer(action, occurrence, round: round, expiry: Instant(seconds: expiry))
    case ("p", 4):
      guard !parts[2].isEmpty, let kind = Ping.Kind(rawValue: parts[3]) else { return nil }
      return .ping(kind, ReminderID(rawValue: parts[2]))
    default: return nil
    }
  }

  private static func action(_ name: String, _ argument: String) -> Action? {
    switch name {
    case "done": return argument.isEmpty ? .done : nil
    case "dismiss": return argument.isEmpty ? .dismiss : nil
    case "item": return Occurrence.Answer(item: argument).map { _ in .item(argument) }
    case "snooze":
      guard let length = Int64(argument), (1_000...Milliseconds.days(366).rawValue).contains(length) else { return nil }
      return .snooze(.milliseconds(length))
    case "log": return Int64(argument).flatMap { $0 > 0 ? .log(grains: $0) : nil }
    default: return nil
    }
  }
}

/// Why an action token has no effect.
package enum TokenFault: String, Error, Hashable, Sendable, CaseIterable {
  /// The text is not a token.
  case malformed
  /// No secret of the endpoint signed it.
  case forged
  /// It has expired.
  case expired
  /// Its round is over: it was answered, or the occurrence fired again.
  case over
  /// It was used before.
  case replayed
  /// Its occurrence does not belong to the endpoint's owner.
  case foreign
  /// The requested action is impossible.
  case impossible
}

/// The signing key of an endpoint's action tokens. It is derived from the endpoint's secret and from the endpoint, so a
/// token of one endpoint is invalid for another even if both share a secret. It does not reveal the secret.
package struct TokenKey: Sendable {
  private let key: SigningKey

  init(_ key: SigningKey) { self.key = key }

  func sign(_ text: String) -> [UInt8] { key.sign(Array(text.utf8)) }

  /// Verifies a signature in constant time.
  func verifies(_ signature: [UInt8], of text: String) -> Bool {
    let right = sign(text)
    return signature.count == right.count && CRYPTO_memcmp(signature, right, right.count) == 0
  }
}

extension EndpointAccess {
  /// Keys of the endpoint's action tokens, newest secret first; empty while no secret is readable.
  package func tokenKeys(at now: Instant) -> [TokenKey] {
    secrets(at: now).map { $0.tokenKey(of: endpoint.queue) }
  }

  /// Returns the text of a token; nil while no secret is readable.
  package func actionToken(_ subject: ActionToken.Subject, at now: Instant) -> String? {
    tokenKeys(at: now).first.flatMap { ActionToken(subject).text($0) }
  }
}
