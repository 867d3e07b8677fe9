import CCrypto

/// An incremental SHA-256 digest (FIPS 180-4), by libcrypto.
///
///     var digest = SHA256()
///     digest.add(first)
///     digest.add(second)
///     digest.finish()    // 64 hexadecimal digits
package struct SHA256: ~Copyable {
  private let context: OpaquePointer?

  package init() {
    context = EVP_MD_CTX_new()
    let begun = EVP_DigestInit_ex(context, EVP_sha256(), nil)
    precondition(begun == 1, "libcrypto has no SHA-256")
  }

  deinit { EVP_MD_CTX_free(context) }

  package func add(_ bytes: some Collection<UInt8>) {
    let known: Void? = bytes.withContiguousStorageIfAvailable { buffer in
      _ = EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
    }
    if known == nil { add(Array(bytes)) }
  }

  /// Returns the digest as lowercase hexadecimal digits.
  package consuming func finish() -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = EVP_DigestFinal_ex(context, &digest, &length)
    return digest.prefix(Int(length)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  package static func digest(of bytes: some Collection<UInt8>) -> String {
    let digest = SHA256()
    digest.add(bytes)
    return digest.finish()
  }
}
