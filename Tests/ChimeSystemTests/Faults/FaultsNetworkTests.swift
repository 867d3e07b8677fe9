import Foundation
import Testing

/// Without a network, webhooks wait, popups and commands are delivered, and all webhooks go out when the network returns.
@Suite(
  .serialized, .enabled(if: Machine.isRoot && Machine.hasClients && Machine.has("nsenter"), "needs root and .venv"))
struct FaultsNetworkTests {
  private func put(_ name: String, _ url: String, _ home: Home) async throws {
    _ = try await home.answer(
      "io.chime.Endpoints.Put", ["name": .string(name), "url": .string(url), "secret": .string(Receiver.secret)])
  }

  /// Returns a reminder's deliveries by channel, once each has been attempted.
  private func results(_ id: String, _ count: Int, _ home: Home) async throws -> [String: JSON] {
    try await eventually("each channel has been tried") {
      let all = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
      let tried = all["deliveries"].elements.filter { ($0["attempts"].int ?? 0) > 0 }
      guard tried.count == count else { return nil }
      return Dictionary(tried.map { ($0["channel"].string ?? "", $0) }) { $1 }
    }
  }

  /// A network namespace with its loopback down: no route, no name server, no proxy.
  @Test(.timeLimit(.minutes(1)))
  func messagesWaitWithoutARouteANameServerOrAProxy() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      var daemon = try await home.start("unshare", ["--net", Machine.chimed])
      try await put("far", "http://203.0.113.5/hook", home)
      try await put("named", "http://receiver.example/hook", home)
      try await put("near", "http://127.0.0.1:9/hook", home)
      let id = try await home.add("Out", "in 1s", to: ["desktop", "far", "named", "near"])
      let first = try await results(id, 4, home)
      #expect(first["desktop"]?["state"].string == "delivered", "\(first)")
      for (name, words) in [("far", "connect"), ("named", "resolve"), ("near", "connect")] {
        #expect(first[name]?["state"].string == "waiting")
        #expect(
          first[name]?["lastResult"].string?.contains(words) == true, "\(name): \(String(describing: first[name]))")
      }
      let listed = try await home.mustRun("endpoint", "list")
      #expect(["far", "named", "near"].allSatisfy(listed.contains))

      // A crash and a start without a network lose nothing.
      try await daemon.crash()
      try home.configure(
        "[desktop]\nprogram = \"true\"\n[webhook]\nproxy = \"http://127.0.0.1:9\"\nnoProxy = [\"127.0.0.1\"]\n")
      daemon = try await home.start("unshare", ["--net", Machine.chimed])
      let far = try #require(first["far"]?["id"].string)
      try await home.mustRun("redeliver", far)
      try await eventually("the dead proxy is said to be dead") {
        let delivery = try await home.answer("io.chime.Deliveries.Get", ["id": .string(far)])
        return delivery["attempts"].elements.last?["error"].string?.contains("127.0.0.1 port 9") == true
      }

      // The network returns: pending messages arrive without a restart, under their original ids.
      let inside = ["nsenter", "--net=/proc/\(daemon.process.pid)/ns/net"]
      let up = try await home.run(
        inside[0], [inside[1], "python3", "-c", Self.loopbackUp])
      try #require(up.status == 0, "\(up.text)")
      let receiver = try await Receiver.start(in: home, behind: inside)
      try await put("near", receiver.url, home)
      // An edited endpoint is tried at once.
      try await eventually("it arrives") { receiver.requests.count == 1 }
      #expect(receiver.requests[0].id == first["near"]?["id"].string && receiver.requests[0].verdicts == ["ok", "ok"])
      try await daemon.stopCleanly()
    }
  }

  /// Sets IFF_UP on the loopback (netdevice(7)).
  private static let loopbackUp = """
    import fcntl, socket, struct
    with socket.socket() as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
    """
}
