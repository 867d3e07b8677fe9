import ChimeCore

/// A Secret signs an endpoint's messages (Standard Webhooks 1.0.0, "Signature scheme").
///
/// Its bytes are inaccessible. No description, dump or log shows them.
///
///     let secret = try Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
///     print(secret)   // whsec_<redacted>
public struct Secret: Hashable, Sendable {
  /// The signature algorithm.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// HMAC-SHA256: sender and receiver share the secret. Text `whsec_…`, signatures `v1,…`.
    case hmac
    /// Ed25519: the receiver has only the public key. Text `whsk_…`, public key `whpk_…`, signatures `v1a,…`.
    case ed25519

    var prefix: String {
      switch self {
      case .hmac: "whsec_"
      case .ed25519: "whsk_"
      }
    }
  }

  /// HMAC key lengths in bytes that Standard Webhooks allows.
  public static let lengths = 24...64
  static let publicPrefix = "whpk_"

  public let kind: Kind
  private let key: SigningKey

  /// Parses the text form. HMAC: `whsec_` and base64 of 24 to 64 bytes. Ed25519: `whsk_` and base64 of the 32-byte
  /// seed, optionally followed by the 32-byte public key. Surrounding white space is ignored, since files end with a
  /// line feed.
  ///
  /// - Throws: `SecretError`, which never contains any of the text.
  public init(_ text: String) throws(SecretError) {
    let trimmed = Self.trimmed(text)
    guard let kind = Kind.allCases.first(where: { trimmed.starts(with: $0.prefix.utf8) }) else {
      throw trimmed.starts(with: Self.publicPrefix.utf8) ? .publicKey : .noPrefix
    }
    guard let bytes = Base64.decode(trimmed.dropFirst(kind.prefix.utf8.count)) else { throw .notBase64(kind) }
    self.kind = kind
    switch kind {
    case .hmac:
      guard bytes.count >= Self.lengths.lowerBound else { throw .tooShort(bytes: bytes.count) }
      guard bytes.count <= Self.lengths.upperBound else { throw .tooLong(bytes: bytes.count) }
      key = SigningKey(hmac: bytes)
    case .ed25519:
      let length = SigningKey.edwardsLength
      guard bytes.count == length || bytes.count == 2 * length else { throw .noKeyPair(bytes: bytes.count) }
      key = SigningKey(seed: bytes.prefix(length))
      guard bytes.count == length || key.publicHalf == Array(bytes.dropFirst(length)) else { throw .halvesDiffer }
    }
  }

  /// Returns the text of a new random secret.
  public static func make(_ kind: Kind) -> String {
    var bytes = SigningKey.random(32)
    if kind == .ed25519 { bytes += SigningKey(seed: bytes).publicHalf ?? [] }
    return kind.prefix + Base64.encode(bytes[...])
  }

  /// The receiver's verification key, `whpk_` and base64 of 32 bytes; nil for HMAC.
  public var publicKey: String? { key.publicHalf.map { Self.publicPrefix + Base64.encode($0[...]) } }

  /// Returns one signature of `webhook-signature`: `v1,` or `v1a,` and base64 of the signature over
  /// `id.timestamp.body`.
  ///
  /// - Parameter timestamp: Seconds since the epoch, equal to `webhook-timestamp`.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signature = key.sign(Array("\(id).\(timestamp).".utf8) + body)
    let version =
      switch kind {
      case .hmac: "v1,"
      case .ed25519: "v1a,"
      }
    return version + Base64.encode(signature[...])
  }

  /// Derives the key that signs the action tokens of an endpoint.
  func tokenKey(of queue: DeliveryQueue) -> TokenKey {
    TokenKey(key.derived(for: "chime action token 1\n\(queue.owner)\n\(queue.channel)"))
  }

  public static func == (left: Secret, right: Secret) -> Bool {
    left.kind == right.kind && left.key.equals(right.key)
  }

  /// Hashes only the kind. A hash of the key would leak information about it.
  public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

  private static func trimmed(_ text: String) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    let bytes = Array(text.utf8)
    guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return bytes[first...last]
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { kind.prefix + Redaction.mark }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error in a secret's text. It never contains any of the text.
public enum SecretError: Error, Hashable, Sendable, CustomStringConvertible {
  case noPrefix
  case publicKey
  case notBase64(Secret.Kind)
  case tooShort(bytes: Int)
  case tooLong(bytes: Int)
  case noKeyPair(bytes: Int)
  case halvesDiffer

  public var description: String {
    switch self {
    case .noPrefix: "a secret begins with whsec_ (HMAC) or whsk_ (Ed25519)"
    case .publicKey: "this is a public key, for the receiver to verify with; the secret begins with whsk_"
    case .notBase64(let kind):
      "the text after \(kind.prefix) is not base64 (A-Z a-z 0-9 + /, filled up with = to a multiple of four)"
    case .tooShort(let bytes): "the secret has \(bytes) bytes; at least \(Secret.lengths.lowerBound) are needed"
    case .tooLong(let bytes): "the secret has \(bytes) bytes; at most \(Secret.lengths.upperBound) are allowed"
    case .noKeyPair(let bytes):
      "the secret has \(bytes) bytes; an Ed25519 secret has 32, or 64 with the public key"
    case .halvesDiffer: "the public key in the secret does not match it"
    }
  }
}

/// A Token is a credential for the receiver, such as an API key. It is sent in headers and never shown.
public struct Token: Hashable, Sendable {
  /// Maximum length in bytes.
  public static let limit = 4_096

  let text: String
  /// The token for withdrawing messages, if it differs.
  let withdrawing: String?

  /// Parses one line, or two lines with the withdrawal token in the second.
  ///
  /// - Throws: `DeliveryError`, which contains none of the text, if a line cannot be a header value (RFC 9110, section
  ///   5.5).
  public init(_ text: String) throws(DeliveryError) {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var lines: [String] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let bytes = Array(line.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
      guard !bytes.isEmpty else { continue }
      try need(bytes.count <= Self.limit, "the token has more than \(Self.limit) bytes")
      try need(
        bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
        "a token is one line of visible ASCII characters without spaces")
      lines.append(String(decoding: bytes, as: UTF8.self))
    }
    guard let first = lines.first else { throw DeliveryError("the token is empty") }
    try need(lines.count <= 2, "there are more than two tokens: give one, and below it one that takes messages back")
    self.text = first
    withdrawing = lines.count == 2 ? lines[1] : nil
  }

  /// The stored form: one line, the two tokens separated by a space.
  public var stored: String { withdrawing.map { "\(text) \($0)" } ?? text }

  /// Whether a separate withdrawal token exists.
  public var isPair: Bool { withdrawing != nil }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { Redaction.mark }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
