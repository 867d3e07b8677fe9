import CCrypto

/// The bytes of a key in memory of their own, which is overwritten when nobody holds the key any more.
///
/// Unchecked: written once, before anybody else can see it, and only read after that. libcrypto counts the references
/// to an EVP_PKEY atomically, and signing does not change it.
final class SigningKey: @unchecked Sendable {
  /// The length of an Ed25519 seed and of a public key (RFC 8032, section 5.1.5).
  static let edwardsLength = 32

  private let bytes: UnsafeMutableBufferPointer<UInt8>
  /// Ed25519's; nil for a key of HMAC.
  private let pair: OpaquePointer?

  /// A key of HMAC-SHA256.
  init(hmac key: some Collection<UInt8>) {
    bytes = .allocate(capacity: key.count)
    _ = bytes.initialize(from: key)
    pair = nil
  }

  /// The key pair that an Ed25519 seed stands for.
  init(seed: some Collection<UInt8>) {
    bytes = .allocate(capacity: seed.count)
    _ = bytes.initialize(from: seed)
    pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes.baseAddress, bytes.count)
    precondition(pair != nil, "libcrypto has no Ed25519, or the seed is not 32 bytes long")
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
    EVP_PKEY_free(pair)
  }

  /// As many bytes as are asked for that nobody can foresee (RAND_priv_bytes(3)).
  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // It fails only when the system has no randomness to give, and then nothing may be signed.
    precondition(RAND_priv_bytes(&bytes, Int32(count)) == 1, "libcrypto has no random bytes")
    return bytes
  }

  /// Whether the bytes are the same; takes as long whether they are or not.
  func equals(_ other: SigningKey) -> Bool {
    bytes.count == other.bytes.count && CRYPTO_memcmp(bytes.baseAddress, other.bytes.baseAddress, bytes.count) == 0
  }

  /// The public half of a key pair; nil for a key of HMAC.
  var publicHalf: [UInt8]? {
    guard let pair else { return nil }
    var half = [UInt8](repeating: 0, count: Self.edwardsLength)
    var length = half.count
    let known = EVP_PKEY_get_raw_public_key(pair, &half, &length)
    precondition(known == 1 && length == half.count, "libcrypto cannot tell an Ed25519 public key")
    return half
  }

  /// A key of HMAC-SHA256 for another use, from which this one cannot be had: the label's own HMAC.
  func derived(for label: String) -> SigningKey { SigningKey(hmac: hmac(Array(label.utf8))) }

  /// HMAC-SHA256 (RFC 2104) or, by a key pair, Ed25519 (RFC 8032).
  func sign(_ message: [UInt8]) -> [UInt8] {
    if let pair { return Self.sign(message, with: pair) }
    return hmac(message)
  }

  private func hmac(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    let made = HMAC(EVP_sha256(), bytes.baseAddress, Int32(bytes.count), message, message.count, &digest, &length)
    precondition(made != nil, "libcrypto has no HMAC-SHA256")
    return Array(digest.prefix(Int(length)))
  }

  private static func sign(_ message: [UInt8], with pair: OpaquePointer) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: 64)
    var length = signature.count
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let made =
      EVP_DigestSignInit(context, nil, nil, nil, pair) == 1
      && EVP_DigestSign(context, &signature, &length, message, message.count) == 1
    precondition(made && length == signature.count, "libcrypto cannot sign with Ed25519")
    return signature
  }
}
