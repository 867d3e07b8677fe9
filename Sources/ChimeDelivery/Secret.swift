import CCrypto

/// The key that an endpoint's messages are signed with (Standard Webhooks 1.0.0, "Signature scheme").
///
/// It signs and compares; its bytes cannot be had from it, and no description, dump or log shows them.
///
///     let secret = try Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
///     print(secret)   // whsec_<redacted>
public struct Secret: Hashable, Sendable {
  /// The key's length, in bytes, that Standard Webhooks allows.
  public static let lengths = 24...64

  static let prefix = "whsec_"

  private let key: [UInt8]

  /// Reads the text form, `whsec_` and base64 of 24 to 64 bytes. Spaces and line ends around it are passed over, as
  /// files end in one.
  ///
  /// - Throws: `SecretError`, which never repeats any of the text.
  public init(_ text: String) throws(SecretError) {
    let trimmed = Self.trimmed(text)
    guard trimmed.starts(with: Self.prefix.utf8) else { throw .noPrefix }
    guard let key = Base64.decode(trimmed.dropFirst(Self.prefix.utf8.count)) else { throw .notBase64 }
    guard key.count >= Self.lengths.lowerBound else { throw .tooShort(bytes: key.count) }
    guard key.count <= Self.lengths.upperBound else { throw .tooLong(bytes: key.count) }
    self.key = key
  }

  /// The value of `webhook-signature` for one attempt: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.
  ///
  /// - Parameter timestamp: whole seconds since the epoch, as in `webhook-timestamp`.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    let made = HMAC(EVP_sha256(), key, Int32(key.count), signed, signed.count, &digest, &length)
    precondition(made != nil, "libcrypto has no HMAC-SHA256")
    return "v1," + Base64.encode(digest.prefix(Int(length)))
  }

  private static func trimmed(_ text: String) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    let bytes = Array(text.utf8)
    guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return bytes[first...last]
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { Self.prefix + "<redacted>" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is wrong with a secret's text. None of it is repeated.
public enum SecretError: Error, Hashable, Sendable, CustomStringConvertible {
  case noPrefix
  case notBase64
  case tooShort(bytes: Int)
  case tooLong(bytes: Int)

  public var description: String {
    switch self {
    case .noPrefix: "a secret begins with whsec_"
    case .notBase64: "what follows whsec_ is not base64 (A-Z a-z 0-9 + /, filled up with = to a multiple of four)"
    case .tooShort(let bytes): "the secret has \(bytes) bytes; at least \(Secret.lengths.lowerBound) are needed"
    case .tooLong(let bytes): "the secret has \(bytes) bytes; at most \(Secret.lengths.upperBound) are allowed"
    }
  }
}
