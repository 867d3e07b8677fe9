import Glibc

/// Counts certificates of many sizes under AddressSanitizer: libcrypto must read a text's bytes only while they exist.
/// Prints the number of texts, or ends with the sanitizer's report.
@main struct SanitizedCertificates {
  static func main() throws {
    let file = read("/etc/ssl/certs/ca-certificates.crt")
    let mark = "-----END CERTIFICATE-----\n"
    let certificates = file.split(separator: "-----BEGIN").map { "-----BEGIN" + $0 }.filter { $0.hasSuffix(mark) }
    precondition(certificates.count > 20, "ca-certificates is not installed")
    var texts = certificates + [file]
    texts += stride(from: 2, to: certificates.count, by: 7).map { certificates.prefix($0).joined() }
    for text in texts {
      let wanted = text.split(separator: mark).count
      let found = try Certificates.count(in: text)
      precondition(found == wanted, "\(found) certificates of \(wanted) in \(text.utf8.count) bytes")
    }
    // A text truncated anywhere is refused, and not read beyond its end.
    let whole = certificates[0] + certificates[1]
    var refused = 0
    for length in stride(from: 0, to: whole.utf8.count, by: 13) {
      let text = String(decoding: Array(whole.utf8.prefix(length)), as: UTF8.self)
      if (try? Certificates.count(in: text)) == nil { refused += 1 }
    }
    precondition(refused > 0, "a text that is cut is refused")
    print("AddressSanitizer: \(texts.count) texts of certificates read, \(refused) refused, no report")
  }

  private static func read(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
