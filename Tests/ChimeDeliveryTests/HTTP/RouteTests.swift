import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Which addresses are really dialed, and through which proxy.
  @Suite(.serialized) final class RouteTests {
    let receiver: Script
    let port: Int
    let hasBoth: Bool

    init() async throws {
      receiver = try Script("/usr/bin/python3", [support("hostile.py")])
      let first = try await receiver.lines.next()
      port = try #require(first["port"]?.number)
      hasBoth = first["both"] == .bool(true)
    }

    deinit { receiver.end() }

    static func system(_ allow: [String] = [], _ deny: [String] = []) -> NetworkPolicy {
      NetworkPolicy(
        isPersonal: false, allow: allow.compactMap(AddressBlock.init), deny: deny.compactMap(AddressBlock.init))
    }

    /// The dialed address is what counts, however it is written.
    @Test(arguments: [
      "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "localhost",
      "LOCALHOST", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::1]", "0",
      "0.0.0.0", "[::]", "127.8.8.8", "%31%32%37.0.0.1",
    ])
    func systemDaemonReachesNoLocalAddress(_ host: String) async throws {
      let (attempt, next) = try await attempted("http://\(host):\(port)/") { $0.network = Self.system() }
      #expect(next == .retry && attempt.outcome == .failed && attempt.status == nil)
      // To the resolver of Debian 12, the address with a trailing dot is not a valid name.
      let error = attempt.error ?? ""
      #expect(
        error.contains(", to which Chime may not connect; to allow it, add \"") || error.contains("resolve"),
        "\(attempt)")
      #expect(receiver.lines.isEmpty)
    }

    @Test func allowedAddressIsDialed() async throws {
      let (attempt, next) = try await attempted("http://127.0.0.1:\(port)/") { $0.network = Self.system(["127.0.0.1"]) }
      #expect(next == .settled && attempt.error == nil)
      let (mapped, after) = try await attempted("http://[::ffff:127.0.0.1]:\(port)/") {
        $0.network = Self.system(["127.0.0.0/8"])
      }
      #expect(after == .settled, "\(mapped)")
      let (denied, next2) = try await attempted("http://127.0.0.1:\(port)/") {
        $0.network = Self.system(["127.0.0.1"], ["127.0.0.0/8"])
      }
      #expect(next2 == .retry)
      #expect(denied.error == "Chime may not connect to 127.0.0.1: \"127.0.0.0/8\" is in deny of [webhook]")
    }

    /// A name with several addresses: each is checked, and only the allowed ones are dialed.
    @Test func everyAddressOfANameIsChecked() async throws {
      try #require(hasBoth, "there is no ::1 here")
      for allowed in ["::1", "127.0.0.1"] {
        let (attempt, next) = try await attempted("http://localhost:\(port)/") { $0.network = Self.system([allowed]) }
        #expect(next == .settled, "\(attempt)")
        #expect(try await receiver.lines.next()["client"]?.string == allowed)
      }
      let (attempt, next) = try await attempted("http://localhost:\(port)/") {
        $0.network = Self.system(["127.0.0.1"], ["127.0.0.0/8"])
      }
      #expect(next == .retry && attempt.error?.contains("may not connect") == true)
      #expect(receiver.lines.isEmpty)
    }

    /// A redirect is not followed, and so cannot lead to a forbidden address.
    @Test func redirectReachesNoForbiddenAddress() async throws {
      let (attempt, next) = try await attempted("http://127.0.0.1:\(port)/loop") {
        $0.network = Self.system(["127.0.0.1"])
      }
      #expect(next == .retry && attempt.status == 307)
    }

    /// A channel keeps its connections, and a changed rule creates a new channel: no old connection is reused.
    @Test func changedRuleReusesNoOldConnection() async throws {
      let url = "http://127.0.0.1:\(port)/"
      let before = try webhooks(to: url) { $0.network = Self.system(["127.0.0.1"]) }
      for round in 1...2 {
        #expect(try await before.deliver(message(channel: "team", round: round)).next == .settled)
      }
      let (first, second) = (try await receiver.lines.next(), try await receiver.lines.next())
      #expect(first["port"] == second["port"])
      let after = try webhooks(to: url) { $0.network = Self.system() }
      #expect(try await after.deliver(message(channel: "team")).next == .retry)
      await before.stop()
      await after.stop()
      #expect(receiver.lines.isEmpty)
    }

    // MARK: The proxy

    private func proxy(_ arguments: String...) async throws -> (Script, Int) {
      let proxy = try Script("/usr/bin/python3", [support("proxy.py")] + arguments)
      return (proxy, try #require(try await proxy.lines.next()["port"]?.number))
    }

    @Test func proxyForwardsTheRequestAndLearnsNoSecret() async throws {
      let (proxy, proxyPort) = try await proxy()
      defer { proxy.end() }
      let server = try ProxyServer("http://127.0.0.1:\(proxyPort)")
      // The proxy resolves the name, which is unknown here.
      let (plain, next) = try await attempted("http://receiver.test:\(port)/hook") { $0.proxy = server }
      #expect(next == .settled, "\(plain)")
      #expect(try await proxy.lines.next()["asked"]?.string == "POST http://receiver.test:\(port)/hook")
      #expect(try await receiver.lines.next()["path"] == "/hook")

      let tls = try Script("/usr/bin/python3", ["-W", "ignore", support("tls.py")])
      defer { tls.end() }
      let ports = try await tls.lines.next()
      let (good, from) = (try #require(ports["good"]?.number), try #require(ports["ca"]?.string))
      let (secure, after) = try await attempted("https://localhost:\(good)/") {
        $0.proxy = server
        $0.certificateFile = from
      }
      #expect(after == .settled, "\(secure)")
      let seen = try await proxy.lines.next()
      #expect(seen["asked"]?.string == "CONNECT localhost:\(good)")
      #expect(!"\(seen)".contains("webhook-"))
      #expect(try await tls.lines.next()["received"] == "good")
    }

    @Test func socksProxyForwardsTheRequest() async throws {
      let (proxy, proxyPort) = try await proxy("--socks")
      defer { proxy.end() }
      let server = try ProxyServer("socks5h://127.0.0.1:\(proxyPort)")
      let (attempt, next) = try await attempted("http://receiver.test:\(port)/hook") { $0.proxy = server }
      #expect(next == .settled, "\(attempt)")
      #expect(try await proxy.lines.next()["asked"]?.string == "SOCKS receiver.test:\(port)")
    }

    @Test func exceptionsAreDialedDirectly() async throws {
      let (proxy, proxyPort) = try await proxy()
      defer { proxy.end() }
      for exceptions in [["localhost"], [".localhost"], ["example.org", "localhost"]] {
        let server = try ProxyServer("http://127.0.0.1:\(proxyPort)", except: exceptions)
        #expect(try await attempted("http://localhost:\(port)/") { $0.proxy = server }.next == .settled)
      }
      let blocks = try ProxyServer("http://127.0.0.1:\(proxyPort)", except: ["127.0.0.0/8"])
      #expect(try await attempted("http://127.0.0.1:\(port)/") { $0.proxy = blocks }.next == .settled)
      #expect(proxy.lines.isEmpty)
    }

    /// The proxy is what is dialed, so its address is checked; exceptions to the proxy are checked as usual.
    @Test func proxysAddressIsChecked() async throws {
      let (proxy, proxyPort) = try await proxy()
      defer { proxy.end() }
      let server = try ProxyServer("http://127.0.0.1:\(proxyPort)", except: ["localhost"])
      for host in ["receiver.test", "localhost"] {
        let (attempt, next) = try await attempted("http://\(host):\(port)/") {
          $0.proxy = server
          $0.network = Self.system()
        }
        #expect(next == .retry)
        #expect(attempt.error?.contains("Chime connects to the proxy's address") == true, "\(attempt)")
      }
      #expect(proxy.lines.isEmpty && receiver.lines.isEmpty)
    }

    @Test func refusingProxyIsAFailure() async throws {
      let (proxy, proxyPort) = try await proxy("--refuse")
      defer { proxy.end() }
      let server = try ProxyServer("http://127.0.0.1:\(proxyPort)")
      let (attempt, next) = try await attempted("https://receiver.test:\(port)/") { $0.proxy = server }
      #expect(next == .retry && attempt.error?.contains("403") == true, "\(attempt)")
    }
  }
}
