import ChimeCore

/// The key that an endpoint's messages are signed with (Standard Webhooks 1.0.0, "Signature scheme").
///
/// It signs and compares; its bytes cannot be had from it, and no description, dump or log shows them.
///
///     let secret = try Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
///     print(secret)   // whsec_<redacted>
public struct Secret: Hashable, Sendable {
  /// How it signs.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// HMAC-SHA256: sender and receiver both have the secret. Text `whsec_…`, signatures `v1,…`.
    case hmac
    /// Ed25519: the receiver has the public key only. Text `whsk_…`, public key `whpk_…`, signatures `v1a,…`.
    case ed25519

    var prefix: String {
      switch self {
      case .hmac: "whsec_"
      case .ed25519: "whsk_"
      }
    }
  }

  /// The length of a key of HMAC, in bytes, that Standard Webhooks allows.
  public static let lengths = 24...64
  static let publicPrefix = "whpk_"

  public let kind: Kind
  private let key: SigningKey

  /// Reads the text form: `whsec_` and base64 of 24 to 64 bytes; or `whsk_` and base64 of an Ed25519 seed of 32 bytes,
  /// with the 32 bytes of its public key after it or without. Spaces and line ends around it are passed over, as files
  /// end in one.
  ///
  /// - Throws: `SecretError`, which never repeats any of the text.
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

  /// The text of a new secret.
  public static func make(_ kind: Kind) -> String {
    var bytes = SigningKey.random(32)
    if kind == .ed25519 { bytes += SigningKey(seed: bytes).publicHalf ?? [] }
    return kind.prefix + Base64.encode(bytes[...])
  }

  /// What the receiver verifies with, `whpk_` and base64 of 32 bytes; nil when that is the secret itself.
  public var publicKey: String? { key.publicHalf.map { Self.publicPrefix + Base64.encode($0[...]) } }

  /// One signature of `webhook-signature`: `v1,` or `v1a,` and base64 of the signature of `id.timestamp.body`.
  ///
  /// - Parameter timestamp: whole seconds since the epoch, as in `webhook-timestamp`.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signature = key.sign(Array("\(id).\(timestamp).".utf8) + body)
    let version =
      switch kind {
      case .hmac: "v1,"
      case .ed25519: "v1a,"
      }
    return version + Base64.encode(signature[...])
  }

  /// What the action tokens of one of its endpoints are signed with.
  func tokenKey(of queue: DeliveryQueue) -> TokenKey {
    TokenKey(key.derived(for: "chime action token 1\n\(queue.owner)\n\(queue.channel)"))
  }

  public static func == (left: Secret, right: Secret) -> Bool {
    left.kind == right.kind && left.key.equals(right.key)
  }

  /// By its kind only: a hash of a key would say something of it.
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

/// What is wrong with a secret's text. None of it is repeated.
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

/// What a receiver wants to be shown, such as an API key. It is put into headers and shown nowhere.
public struct Token: Hashable, Sendable {
  /// The longest one, in bytes.
  public static let limit = 4_096

  let text: String
  /// The one that messages are taken back with, where that is another.
  let withdrawing: String?

  /// - Parameter text: a line, or two: a second one is what messages are taken back with.
  /// - Throws: `TokenError`, which repeats none of it, for what cannot stand in a header (RFC 9110, section 5.5).
  public init(_ text: String) throws(TokenError) {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var lines: [String] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let bytes = Array(line.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
      guard !bytes.isEmpty else { continue }
      guard bytes.count <= Self.limit else { throw TokenError("the token has more than \(Self.limit) bytes") }
      guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw TokenError("a token is one line of visible ASCII characters without spaces")
      }
      lines.append(String(decoding: bytes, as: UTF8.self))
    }
    guard let first = lines.first else { throw TokenError("the token is empty") }
    guard lines.count <= 2 else {
      throw TokenError("there are more than two tokens: give one, and below it one that takes messages back")
    }
    self.text = first
    withdrawing = lines.count == 2 ? lines[1] : nil
  }

  /// The text, for the file that it is kept in: in one line.
  public var stored: String { withdrawing.map { "\(text) \($0)" } ?? text }

  /// Whether there is a second one.
  public var isPair: Bool { withdrawing != nil }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { Redaction.mark }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is wrong with a token. None of it is repeated.
public struct TokenError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
