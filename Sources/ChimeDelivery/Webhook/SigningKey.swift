import CCrypto

/// A SigningKey holds key bytes in its own memory and overwrites them on release.
///
/// Unchecked: the memory is written once, before the key is shared, and only read afterwards. libcrypto counts
/// references to an EVP_PKEY atomically, and signing does not change it.
final class SigningKey: @unchecked Sendable {
  /// Length of an Ed25519 seed and of a public key in bytes (RFC 8032, section 5.1.5).
  static let edwardsLength = 32

  private let bytes: UnsafeMutableBufferPointer<UInt8>
  /// The Ed25519 key pair; nil for an HMAC key.
  private let pair: OpaquePointer?

  /// Creates an HMAC-SHA256 key.
  init(hmac key: some Collection<UInt8>) {
    bytes = .allocate(capacity: key.count)
    _ = bytes.initialize(from: key)
    pair = nil
  }

  /// Creates the key pair of an Ed25519 seed.
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

  /// Returns cryptographically random bytes (RAND_priv_bytes(3)).
  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // RAND_priv_bytes fails only if the system has no entropy. Nothing may be signed then.
    precondition(RAND_priv_bytes(&bytes, Int32(count)) == 1, "libcrypto has no random bytes")
    return bytes
  }

  /// Compares two keys in constant time.
  func equals(_ other: SigningKey) -> Bool {
    bytes.count == other.bytes.count && CRYPTO_memcmp(bytes.baseAddress, other.bytes.baseAddress, bytes.count) == 0
  }

  /// The public half of a key pair; nil for an HMAC key.
  var publicHalf: [UInt8]? {
    guard let pair else { return nil }
    var half = [UInt8](repeating: 0, count: Self.edwardsLength)
    var length = half.count
    let known = EVP_PKEY_get_raw_public_key(pair, &half, &length)
    precondition(known == 1 && length == half.count, "libcrypto cannot tell an Ed25519 public key")
    return half
  }

  /// Derives an HMAC-SHA256 key for another purpose, by HMAC over the label. It does not reveal this key.
  func derived(for label: String) -> SigningKey { SigningKey(hmac: hmac(Array(label.utf8))) }

  /// Signs with HMAC-SHA256 (RFC 2104), or with Ed25519 (RFC 8032) if the key is a pair.
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
