import CCrypto

/// Certificates in PEM (RFC 7468), as they are given for a receiver whose certificate the system does not trust.
public enum Certificates {
  /// The longest text, in bytes.
  public static let limit = 262_144

  /// How many there are.
  ///
  /// - Throws: `CertificatesError` when there are none, or one cannot be read.
  public static func count(in text: String) throws(CertificatesError) -> Int {
    guard text.utf8.count <= limit else {
      throw CertificatesError("the certificates have \(text.utf8.count) bytes; at most \(limit) are allowed")
    }
    guard !text.contains("PRIVATE KEY-----") else {
      throw CertificatesError("this holds a private key, which nobody else may have; give the certificate alone")
    }
    let bytes = Array(text.utf8)
    guard let input = BIO_new_mem_buf(bytes, Int32(bytes.count)) else {
      throw CertificatesError("no memory to read the certificates")
    }
    defer { BIO_free(input) }
    var count = 0
    while let certificate = PEM_read_bio_X509(input, nil, nil, nil) {
      X509_free(certificate)
      count += 1
    }
    // The end is an error too, and the last one of each thread is kept.
    ERR_clear_error()
    guard count > 0, text.components("-----BEGIN CERTIFICATE-----") == count else {
      throw CertificatesError(
        count == 0
          ? "there is no certificate in it; one begins with -----BEGIN CERTIFICATE-----"
          : "certificate \(count + 1) cannot be read")
    }
    return count
  }
}

extension String {
  fileprivate func components(_ mark: String) -> Int { ranges(of: mark).count }
}

/// What is wrong with certificates, in a sentence.
public struct CertificatesError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
