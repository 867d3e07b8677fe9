import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Real TLS receivers, with certificates signed by a CA made with openssl.
  @Suite(.serialized) final class TLSTests {
    let receivers: Script
    let said: [String: JSON]
    let ca: String

    init() async throws {
      receivers = try Script("/usr/bin/python3", ["-W", "ignore", support("tls.py")])
      said = try await receivers.lines.next()
      ca = try #require(said["ca"]?.string, "install openssl")
    }

    deinit { receivers.end() }

    private func url(_ name: String, host: String = "localhost") throws -> String {
      "https://\(host):\(try #require(said[name]?.number))/"
    }

    private func contents(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test(arguments: ["good", "twelve"])
    func privateCAIsTrustedByFileOrEndpoint(_ name: String) async throws {
      let ca = ca
      #expect(try await attempted(url(name)) { $0.certificateFile = ca }.next == .settled)
      #expect(try await attempted(url(name, host: "127.0.0.1")) { $0.certificateFile = ca }.next == .settled)
      #expect(try await attempted(url(name), certificates: contents(ca)).next == .settled)
      for _ in 1...3 { #expect(try await receivers.lines.next() == ["received": .string(name)]) }
    }

    /// A receiver's self-signed certificate may be trusted, but only for its own name.
    @Test func selfSignedCertificateCanBeTrusted() async throws {
      let own = try #require(said["alone.pem"]?.string)
      #expect(try await attempted(url("alone"), certificates: contents(own)).next == .settled)
      #expect(try await attempted(url("alone")) { $0.certificateFile = own }.next == .settled)
    }

    @Test(arguments: [
      ("expired", "the receiver's certificate has expired on 2021-02-03: renew it there"),
      (
        "future",
        "the receiver's certificate is not valid before 2098-01-02: either the certificate or this machine's clock is wrong"
      ),
      ("elsewhere", "the receiver's certificate is for another name: "),
      (
        "alone",
        "the receiver's certificate is self-signed: to trust it, name the authority's certificate in caFile"
      ),
      ("old", "the receiver does not support TLS 1.2 or later: "),
    ])
    func invalidCertificateIsRefusedWithAReason(_ name: String, _ sentence: String) async throws {
      let ca = ca
      for certificates in [nil, try contents(ca)] {
        let (attempt, next) = try await attempted(url(name), certificates: certificates) { $0.certificateFile = ca }
        #expect(next == .retry && attempt.outcome == .failed && attempt.status == nil)
        #expect(attempt.error?.hasPrefix(sentence) == true, "\(attempt)")
      }
      #expect(receivers.lines.isEmpty)
    }

    @Test func unknownCAIsRefused() async throws {
      let (attempt, next) = try await attempted(url("good"))
      #expect(next == .retry)
      #expect(
        attempt.error?.hasPrefix("no trusted authority signed the receiver's certificate: ") == true,
        "\(attempt)")
      // An endpoint's certificates apply to that endpoint only: its handle serves no other.
      let channel = try webhooks(to: url("good"))
      #expect(await channel.test(try access(to: url("good"), certificates: contents(ca))).isDelivered)
      #expect(!(await channel.test(try access(to: url("good"))).isDelivered))
      // They are the only ones trusted there.
      let own = try contents(try #require(said["alone.pem"]?.string))
      #expect(!(await channel.test(try access(to: url("good"), certificates: own)).isDelivered))
      await channel.stop()
      #expect(try await receivers.lines.next() == ["received": "good"])
      #expect(receivers.lines.isEmpty)
    }

    /// This is nobody's failure: messages wait until the file exists.
    @Test(arguments: ["/nonexistent/ca.pem", "/dev/null", "/etc/hostname"])
    func fileWithoutCertificatesBlocksDeliveries(_ path: String) async throws {
      let (attempt, next) = try await attempted(url("good")) { $0.certificateFile = path }
      #expect(next == .blocked(.minutes(5)) && attempt.outcome == .refused)
      #expect(attempt.error?.contains("caFile in [webhook] cannot be read: \(path) must be") == true, "\(attempt)")
    }

    @Test func invalidCertificatesOfAnEndpointAreItsFailure() async throws {
      let (attempt, next) = try await attempted(url("good"), certificates: "nonsense")
      #expect(
        next == .retry && attempt.error?.contains("endpoint's own certificates cannot be read") == true, "\(attempt)")
    }

    @Test func testShowsTheTLSTime() async throws {
      let channel = try webhooks(to: url("good"))
      let details = await channel.test(try access(to: url("good"), certificates: contents(ca))).details
      #expect(try #require(details).timing.tls > 0 && details?.timing.tls ?? 0 >= details?.timing.connect ?? 0)
      await channel.stop()
    }
  }
}
