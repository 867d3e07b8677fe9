import Foundation
import Testing

@testable import ChimeDelivery

/// libcrypto counts certificates in place; no freed memory is read, whatever the size.
@Suite struct CertificatesTests {
  /// All authorities of the system. `Packaging/dependencies` lists ca-certificates.
  private static let bundle = "/etc/ssl/certs/ca-certificates.crt"
  private static let begin = "-----BEGIN CERTIFICATE-----"

  private let text: String
  private let single: [String]

  init() throws {
    text = try String(contentsOfFile: Self.bundle, encoding: .utf8)
    single = text.components(separatedBy: Self.begin).dropFirst().map { Self.begin + $0 }
    try #require(single.count > 50, "install ca-certificates")
  }

  /// The system's file once crashed the daemon.
  @Test func systemsWholeCABundleIsCounted() throws {
    #expect(try Certificates.count(in: text) == single.count)
    #expect(text.utf8.count <= Certificates.limit)
  }

  /// Many sizes, because memory freed too early is reused at once for only some of them.
  @Test func everyNumberOfCertificatesIsCounted() throws {
    for count in Array(1...12) + stride(from: 13, to: single.count, by: 9) {
      let text = single.prefix(count).joined()
      #expect(try Certificates.count(in: text) == count)
    }
  }

  @Test func certificateIsCountedWithAnyTextAround() throws {
    for size in stride(from: 0, through: 9_000, by: 37) {
      let comment = String(repeating: "c", count: size)
      let text = size % 2 == 0 ? "\(comment)\n\(single[0])" : "\(single[0])\(comment)\n"
      #expect(try Certificates.count(in: text) == 1, "\(size) bytes of comment")
    }
  }

  /// Windows line ends, and strings in Foundation's own representation.
  @Test func anyLineEndingIsAccepted() throws {
    let lines = single[0].components(separatedBy: "\n")
    #expect(try Certificates.count(in: lines.joined(separator: "\r\n")) == 1)
    #expect(try Certificates.count(in: NSString(string: single[1] + "# na\u{EF}ve\n") as String) == 1)
  }

  @Test func invalidCertificatesAreRefused() {
    func complaint(_ text: String) -> String {
      do {
        return "\(try Certificates.count(in: text))"
      } catch {
        return error.description
      }
    }
    let none = "there is no certificate in it; one begins with -----BEGIN CERTIFICATE-----"
    #expect(complaint("") == none)
    #expect(complaint("hello") == none)
    #expect(complaint(Self.begin) == none)
    #expect(complaint(single[0] + Self.begin + "\nAAAA\n-----END CERTIFICATE-----\n") == "certificate 2 cannot be read")
    let long = String(repeating: "c", count: Certificates.limit + 1)
    #expect(complaint(long).hasPrefix("the certificates have 262145 bytes; at most 262144 are allowed: give "))
  }

  /// A combining mark forms one `Character` with the hyphen before it, which would hide the mark of a key.
  @Test(arguments: ["", "\u{301}", "\r\n", "\u{600}"]) func privateKeyIsDetected(_ after: String) {
    for before in ["", "\u{600}"] {
      let text = single[0] + "-----BEGIN \(before)PRIVATE KEY-----\(after)\nAAAA\n-----END PRIVATE KEY-----\n"
      #expect(throws: DeliveryError.self) { try Certificates.count(in: text) }
    }
  }

  /// An encrypted certificate has no passphrase here, and OpenSSL does not ask for one on a terminal.
  @Test func encryptedCertificateAsksForNoPassphrase() {
    let lines = single[0].components(separatedBy: "\n")
    let dek = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF", ""]
    let text = ([lines[0]] + dek + lines.dropFirst()).joined(separator: "\n")
    #expect(throws: DeliveryError.self) { try Certificates.count(in: text) }
  }
}
