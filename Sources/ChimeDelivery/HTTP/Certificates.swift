import CCrypto

/// Certificates in PEM (RFC 7468) for a receiver that the system does not trust.
public enum Certificates {
  /// Maximum length in bytes, enough for a distribution's authorities (`ca-certificates.crt` has about 220,000).
  public static let limit = 262_144

  /// Counts the certificates.
  ///
  /// - Throws: `DeliveryError` if there are none or one is unreadable.
  public static func count(in text: String) throws(DeliveryError) -> Int {
    try need(
      text.utf8.count <= limit,
      "the certificates have \(text.utf8.count) bytes; at most \(limit) are allowed: give only those of the "
        + "receiver's authority")
    var text = text
    let found = text.withUTF8 { Found(in: $0) }
    try need(!found.hasPrivateKey, "this holds a private key, which must stay secret; give only the certificate")
    try need(found.hasMemory, "there is not enough memory to read the certificates")
    try need(
      found.read > 0 && found.read == found.begun,
      found.read == 0
        ? "there is no certificate in it; one begins with -----BEGIN CERTIFICATE-----"
        : "certificate \(found.read + 1) cannot be read")
    return found.read
  }

  /// The result of scanning a PEM text.
  private struct Found {
    /// Certificates read by libcrypto before the first unreadable one.
    var read = 0
    /// Number of begin marks.
    var begun = 0
    var hasPrivateKey = false
    var hasMemory = true

    /// Scans a text. A memory BIO keeps the address of the bytes, so it must not outlive this call.
    init(in bytes: UnsafeBufferPointer<UInt8>) {
      begun = Self.occurrences(of: "-----BEGIN CERTIFICATE-----", in: bytes)
      hasPrivateKey = Self.occurrences(of: "PRIVATE KEY-----", in: bytes) > 0
      // An empty buffer may have no address, which libcrypto reports as an error.
      guard !hasPrivateKey, !bytes.isEmpty else { return }
      guard let input = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
        hasMemory = false
        return
      }
      defer { BIO_free(input) }
      // The callback refuses to supply a pass phrase. The default callback asks on the terminal.
      while let certificate = PEM_read_bio_X509(input, nil, { _, _, _, _ in -1 }, nil) {
        X509_free(certificate)
        read += 1
      }
      // Reaching the end is an error too, and libcrypto keeps the last error of each thread.
      ERR_clear_error()
    }

    /// Counts by bytes, because a following combining mark would hide a match by characters.
    private static func occurrences(of mark: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
      let mark = UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
      var count = 0
      var place = bytes.startIndex
      while let start = bytes[place...].firstIndex(of: mark[0]) {
        let isMark = bytes[start...].starts(with: mark)
        if isMark { count += 1 }
        place = start + (isMark ? mark.count : 1)
      }
      return count
    }
  }
}
