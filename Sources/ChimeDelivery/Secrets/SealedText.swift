import CCrypto

/// A SealedText is encrypted with a passphrase: scrypt (RFC 7914) derives the key for AES-256-GCM (NIST SP 800-38D).
///
///     let sealed = try SealedText(sealing: Array("token".utf8), with: "correct horse battery")
///     try sealed.open(with: "correct horse battery")
///
/// The scrypt cost is fixed at 32 MiB and about a third of a second. A text with other parameters is refused, so that a
/// foreign file cannot demand more.
package struct SealedText: Codable, Hashable, Sendable {
  package enum Failure: Error { case anotherPassphrase, unknownSealing, noCrypto }

  /// Allowed passphrase lengths in bytes.
  package static let lengths = 8...1_024
  private static let way = "scrypt-32768-8-3/aes-256-gcm"
  private static let tagLength = 16

  private var sealing = Self.way
  private var salt: String
  private var nonce: String
  /// The ciphertext followed by the tag.
  private var data: String

  package init(sealing bytes: [UInt8], with passphrase: String) throws(Failure) {
    let (salt, nonce) = (SigningKey.random(16), SigningKey.random(12))
    let cipher = try Cipher(key: try Self.key(passphrase, salt), nonce: nonce, encrypts: true)
    let sealed = try cipher.run(bytes) + cipher.tag()
    (self.salt, self.nonce, data) = (Base64.encode(salt[...]), Base64.encode(nonce[...]), Base64.encode(sealed[...]))
  }

  /// Decrypts the text.
  ///
  /// - Throws: `.anotherPassphrase` for a wrong passphrase or modified text. GCM cannot tell the two apart.
  package func open(with passphrase: String) throws(Failure) -> [UInt8] {
    guard sealing == Self.way, let salt = Base64.decode(Array(salt.utf8)[...]), salt.count == 16,
      let nonce = Base64.decode(Array(nonce.utf8)[...]), nonce.count == 12,
      let sealed = Base64.decode(Array(data.utf8)[...]), sealed.count >= Self.tagLength
    else { throw .unknownSealing }
    let cipher = try Cipher(key: try Self.key(passphrase, salt), nonce: nonce, encrypts: false)
    let bytes = try cipher.run(Array(sealed.dropLast(Self.tagLength)))
    guard cipher.accepts(Array(sealed.suffix(Self.tagLength))) else { throw .anotherPassphrase }
    return bytes
  }

  private static func key(_ passphrase: String, _ salt: [UInt8]) throws(Failure) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    let length = passphrase.utf8.count
    guard EVP_PBE_scrypt(passphrase, length, salt, salt.count, 32_768, 8, 3, 64 << 20, &key, key.count) == 1 else {
      throw .noCrypto
    }
    return key
  }

  /// A cipher context for one text.
  private struct Cipher: ~Copyable {
    private let context: OpaquePointer?

    init(key: [UInt8], nonce: [UInt8], encrypts: Bool) throws(Failure) {
      context = EVP_CIPHER_CTX_new()
      guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1 else {
        throw .noCrypto
      }
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func run(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
      var output = [UInt8](repeating: 0, count: bytes.count)
      var count: Int32 = 0
      guard bytes.isEmpty || EVP_CipherUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1 else {
        throw .noCrypto
      }
      return output
    }

    func tag() throws(Failure) -> [UInt8] {
      var tag = [UInt8](repeating: 0, count: SealedText.tagLength)
      guard finish(), EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1 else {
        throw .noCrypto
      }
      return tag
    }

    func accepts(_ tag: [UInt8]) -> Bool {
      var tag = tag
      return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 && finish()
    }

    private func finish() -> Bool {
      // GCM is a counter mode, so the final call writes nothing.
      var (rest, count): ([UInt8], Int32) = ([UInt8](repeating: 0, count: 16), 0)
      return EVP_CipherFinal_ex(context, &rest, &count) == 1
    }
  }
}
