import CCrypto

/// Certificates in PEM (RFC 7468), as they are given for a receiver whose certificate the system does not trust.
public enum Certificates {
  /// The longest text, in bytes: all of a distribution's authorities (`ca-certificates.crt` has about 220,000) and some.
  public static let limit = 262_144

  /// Counts the certificates.
  ///
  /// - Throws: `CertificatesError` when there are none, or one cannot be read.
  public static func count(in text: String) throws(CertificatesError) -> Int {
    guard text.utf8.count <= limit else {
      throw CertificatesError(
        "the certificates have \(text.utf8.count) bytes; at most \(limit) are allowed: give only those of the "
          + "receiver's authority")
    }
    var text = text
    let found = text.withUTF8 { Found(in: $0) }
    guard !found.hasPrivateKey else {
      throw CertificatesError("this holds a private key, which must stay secret; give only the certificate")
    }
    guard found.hasMemory else { throw CertificatesError("there is not enough memory to read the certificates") }
    guard found.read > 0, found.read == found.begun else {
      throw CertificatesError(
        found.read == 0
          ? "there is no certificate in it; one begins with -----BEGIN CERTIFICATE-----"
          : "certificate \(found.read + 1) cannot be read")
    }
    return found.read
  }

  /// What libcrypto and the marks between the certificates say of a text.
  private struct Found {
    /// Certificates that libcrypto has read, up to the first that it cannot read.
    var read = 0
    /// Certificates that begin.
    var begun = 0
    var hasPrivateKey = false
    var hasMemory = true

    /// A BIO of memory reads where the bytes stand and keeps their address, so all of its life is in here.
    init(in bytes: UnsafeBufferPointer<UInt8>) {
      begun = Self.occurrences(of: "-----BEGIN CERTIFICATE-----", in: bytes)
      hasPrivateKey = Self.occurrences(of: "PRIVATE KEY-----", in: bytes) > 0
      // Without bytes there may be no address, which libcrypto takes for a fault.
      guard !hasPrivateKey, !bytes.isEmpty else { return }
      guard let input = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
        hasMemory = false
        return
      }
      defer { BIO_free(input) }
      // Asked for a pass phrase, it has none: libcrypto's own way of asking is the terminal.
      while let certificate = PEM_read_bio_X509(input, nil, { _, _, _, _ in -1 }, nil) {
        X509_free(certificate)
        read += 1
      }
      // The end is an error too, and the last one of each thread is kept.
      ERR_clear_error()
    }

    /// By bytes: as characters, a mark that a combining one follows is not there.
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

/// What is wrong with certificates, in a sentence.
public struct CertificatesError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
