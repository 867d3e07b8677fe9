import CCrypto
package import ChimeCore
package import ChimeSchedule

/// One thing that somebody may do from anywhere, once: whoever has the text may do it, and nobody can make one without the
/// endpoint's secret.
///
///     chact_MTpvOnI3azJAMTc3NDg1OTQwMDoxOmRvbmU6OjE3NzU0NjQyMDA.3q2-7wABAgM…
///
/// The text is `chact_`, base64url of what it allows, a full stop, and base64url of that one's HMAC-SHA256. What it allows is
/// written with colons between: the version, `o`, occurrence, round, action, its argument and the second from which on it is
/// refused; or the version, `p`, an expectation and the ping.
package struct ActionToken: Hashable, Sendable {
  package enum Action: Hashable, Sendable {
    case done
    /// With this item of the reminder's tracker.
    case item(String)
    case snooze(Milliseconds)
    case dismiss
    /// It is done, and so much of the reminder's tracker, in grains.
    case log(grains: Int64)
  }

  package enum Subject: Hashable, Sendable {
    /// An answer to one round of an occurrence, before `expiry`.
    case answer(Action, OccurrenceID, round: Int, expiry: Instant)
    /// What a job says of itself. It may be used again and again.
    case ping(Ping.Kind, ReminderID)
  }

  package var subject: Subject
  /// What tells it from all others: its signature. Empty for one that has not been signed.
  package private(set) var signature = ""

  package init(_ subject: Subject) { self.subject = subject }

  /// How long an answer may be given after its message was made.
  package static let life = Milliseconds.days(7)
  package static let prefix = "chact_"
  private static let version = "1"
  /// The longest text that is looked at, in bytes.
  private static let limit = 512

  // MARK: Text

  /// The text, signed, with its expiry in whole seconds; nil when what it is about cannot be written so.
  package func text(_ key: TokenKey) -> String? {
    let payload = Array(payload.utf8)
    guard Self.subject(payload) != nil else { return nil }
    let body = Base64.encodeURL(payload)
    let text = "\(Self.prefix)\(body).\(Base64.encodeURL(key.sign(body)))"
    return text.utf8.count <= Self.limit ? text : nil
  }

  /// Reads a text that somebody has sent.
  ///
  /// - Parameters:
  ///   - keys: those that the endpoint signs with, or has signed with until a while ago.
  ///   - now: after `expiry` it is refused.
  package init(_ text: String, keys: [TokenKey], at now: Instant) throws(TokenFault) {
    let bytes = text.utf8
    guard bytes.count <= Self.limit, text.hasPrefix(Self.prefix) else { throw .malformed }
    let parts = text.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let payload = Base64.decodeURL(parts[0].utf8),
      let signature = Base64.decodeURL(parts[1].utf8)
    else { throw .malformed }
    // Before anything else of it is looked at.
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

  /// Nil unless it is written just as `payload` writes it.
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

/// Why an action token changes nothing.
package enum TokenFault: String, Error, Hashable, Sendable, CaseIterable {
  /// It is no token.
  case malformed
  /// No secret of the endpoint has signed it.
  case forged
  /// Its time is over.
  case expired
  /// Its round is over: it was answered, or has come again since.
  case over
  /// It was used before.
  case replayed
  /// It is about nothing that the endpoint's owner has.
  case foreign
  /// What it asks for cannot be done.
  case impossible
}

/// What the action tokens of one endpoint are signed with. It follows from a secret of the endpoint's, which cannot be had
/// from it, and from whose endpoint it is: a token of one is of no use to another, though both have one secret.
package struct TokenKey: Sendable {
  private let key: SigningKey

  init(_ key: SigningKey) { self.key = key }

  func sign(_ text: String) -> [UInt8] { key.sign(Array(text.utf8)) }

  /// Takes as long whether it does or not.
  func verifies(_ signature: [UInt8], of text: String) -> Bool {
    let right = sign(text)
    return signature.count == right.count && CRYPTO_memcmp(signature, right, right.count) == 0
  }
}

extension EndpointAccess {
  /// The keys of its action tokens, that of its newest secret first; empty while no secret can be read.
  package func tokenKeys(at now: Instant) -> [TokenKey] {
    secrets(at: now).map { $0.tokenKey(of: endpoint.queue) }
  }

  /// The text of a token; nil while no secret can be read.
  package func actionToken(_ subject: ActionToken.Subject, at now: Instant) -> String? {
    tokenKeys(at: now).first.flatMap { ActionToken(subject).text($0) }
  }
}
