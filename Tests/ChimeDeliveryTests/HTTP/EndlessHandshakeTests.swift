import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Receivers whose TLS handshake does not end, with the real channel.
  @Suite(.serialized) final class EndlessHandshakeTests {
    let receivers: Script
    let said: [String: JSON]

    init() async throws {
      receivers = try Script("/usr/bin/python3", [support("handshakes.py")])
      said = try await receivers.lines.next()
    }

    deinit { receivers.end() }

    private func url(_ name: String) throws -> String {
      "https://127.0.0.1:\(try #require(said[name]?.number, "install openssl"))/"
    }

    /// An endless sender is cut off by a size limit, because no timeout is checked while data keeps coming.
    @Test(.timeLimit(.minutes(1)), arguments: ["requests", "tickets"])
    func endlessHandshakeIsCutBySize(_ name: String) async throws {
      let pem = try #require(said["pem"]?.string)
      let (attempt, next) = try await attempted(url(name), certificates: pem) {
        ($0.connectTimeout, $0.totalTimeout) = (.seconds(600), .seconds(600))
      }
      #expect(next == .retry && attempt.outcome == .failed && attempt.status == nil)
      #expect(
        attempt.error
          == "the receiver's TLS handshake does not end: it sent more than 256 KiB or 256 messages", "\(attempt)")
    }

    /// Bounded by OpenSSL itself.
    @Test(
      .timeLimit(.minutes(1)), arguments: ["certificate", "warnings", "empty", "ciphers", "rubbish"])
    func invalidHandshakeIsRefused(_ name: String) async throws {
      let (attempt, next) = try await attempted(url(name)) {
        ($0.connectTimeout, $0.totalTimeout) = (.seconds(600), .seconds(600))
      }
      #expect(next == .retry && attempt.outcome == .failed && attempt.status == nil && attempt.error != nil)
    }

    /// Connecting has its own time limit, however slowly the handshake proceeds.
    @Test(.timeLimit(.minutes(1)), arguments: ["silent", "hello", "chain", "drip"])
    func stalledHandshakeEndsAtTheConnectTimeout(_ name: String) async throws {
      let (attempt, next) = try await attempted(url(name)) {
        ($0.connectTimeout, $0.totalTimeout) = (.milliseconds(400), .seconds(600))
      }
      #expect(next == .retry && attempt.outcome == .failed)
      #expect(
        attempt.error == "the TLS handshake timed out: the receiver did not finish it", "\(attempt)")
    }

    /// Other messages are sent while one endpoint's handshake is flooded repeatedly.
    @Test(.timeLimit(.minutes(1))) func endlessHandshakeDelaysNoOther() async throws {
      let flood = try access(to: url("requests"))
      let channel = try webhooks(to: url("requests")) { $0.concurrentPerEndpoint = 16 }
      let reports = try (1...16).map { channel.reports(of: try message(channel: "team", round: $0)) }
      let good = try Script("/usr/bin/python3", [support("hostile.py")])
      let port = try #require(try await good.lines.next()["port"]?.number)
      for _ in 1...8 { #expect(await channel.test(try access(to: "http://127.0.0.1:\(port)/once")).isDelivered) }
      for report in reports { #expect(try await report.next().next == .retry) }
      #expect(!(await channel.test(flood).isDelivered))
      await channel.stop()
      good.end()
    }

    /// A handshake in progress has no private copy of the system's certificates.
    @Test(.disabled(if: Sanitizer.inflatesMemory, "not under this sanitizer")) func handshakeUsesLittleMemory()
      async throws
    {
      let channel = try webhooks(to: url("silent")) { $0.concurrentPerEndpoint = 64 }
      // Warm up first, so that what the first request loads is not counted.
      var reports = [channel.reports(of: try message(channel: "team", round: 1))]
      #expect(try await receivers.lines.next() == ["begun": "silent"])
      let before = try residentBytes()
      reports += try (2...64).map { channel.reports(of: try message(channel: "team", round: $0)) }
      for _ in 2...64 { #expect(try await receivers.lines.next() == ["begun": "silent"]) }
      let grown = try residentBytes() - before
      #expect(grown < 24 << 20, "\(grown >> 10) KiB more")
      print("EndlessHandshakeTests: \(grown >> 10) KiB more for 63 handshakes under way")
      await channel.stop()
      for report in reports { _ = try await report.next() }
    }
  }
}
