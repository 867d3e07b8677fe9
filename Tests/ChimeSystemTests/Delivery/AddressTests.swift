import Foundation
import Testing

/// The addresses to which the daemon may connect by its configuration.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct AddressTests {
  /// Returns the error of `chime endpoint test`; nil if the message was delivered.
  private func fault(_ home: Home, _ name: String) async throws -> String? {
    let output = try await home.chime("endpoint", "test", name, "--json")
    return output.status == 0 ? nil : output.text
  }

  private func reload(_ home: Home, _ daemon: Daemon, _ toml: String) async throws {
    let before = daemon.notifications.lines.count { $0 == "READY=1" }
    try home.configure(toml)
    daemon.process.send(SIGHUP)
    try await eventually("it has read the configuration again") {
      daemon.notifications.lines.count { $0 == "READY=1" } > before
    }
  }

  /// A changed rule applies from the next message on, despite open connections.
  @Test(.timeLimit(.minutes(1)))
  func changedAddressRuleAppliesAtOnce() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      #expect(try await fault(home, "team") == nil)
      try await reload(home, daemon, "[webhook]\ndeny = [\"127.0.0.0/8\"]\n")
      let refused = try await fault(home, "team")
      #expect(refused?.contains("Chime may not connect to 127.0.0.1") == true, "\(refused ?? "")")
      try await reload(home, daemon, "")
      #expect(try await fault(home, "team") == nil)
      #expect(receiver.requests.count == 2)
    }
  }

  @Test(.enabled(if: Machine.isRoot, "needs root, whom the system's daemon serves"), .timeLimit(.minutes(1)))
  func systemDaemonDialsLocalAddressesOnlyIfAllowed() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      try home.configure("")
      let daemon = try await home.start(
        Machine.chimed,
        ["--system", "--socket", home.socket, "--state-dir", home.state, "--config", home.configuration])
      try await home.addEndpoint("team", receiver)
      let refused = try await fault(home, "team")
      #expect(
        refused?.contains("127.0.0.1 is a loopback address, to which Chime may not connect") == true, "\(refused ?? "")"
      )
      let id = try await home.add("Tea", "in 1s", to: ["team"])
      let waiting = try await eventually("the delivery waits for its next attempt") {
        let first = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])[
          "deliveries"][0]
        return first["state"].string == "waiting" ? first : nil
      }
      #expect(waiting["lastResult"].string?.contains("to allow of [webhook]") == true)
      #expect(receiver.requests.isEmpty)
      try await reload(home, daemon, "[webhook]\nallow = [\"127.0.0.1\"]\n")
      #expect(try await fault(home, "team") == nil)
    }
  }

  /// The daemon ignores the proxy variables of the environment, whatever their names.
  @Test(.timeLimit(.minutes(1)))
  func proxyVariablesOfTheEnvironmentAreIgnored() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let proxy = try await home.spawn(
        Machine.debianPython, [Machine.package + "Tests/ChimeDeliveryTests/Support/proxy.py"], withInput: true)
      let port = try await eventually("the proxy says its port") {
        try proxy.lines.first.flatMap { try JSON(parsing: $0)["port"].int }
      }
      var environment = ["no_proxy": "*", "NO_PROXY": "*"]
      for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] { environment[name] = "http://127.0.0.1:9" }
      let daemon = try await home.start(environment: environment)
      try await home.addEndpoint("team", receiver)
      #expect(try await fault(home, "team") == nil)
      try await reload(home, daemon, "[webhook]\nproxy = \"http://127.0.0.1:\(port)\"\n")
      // A name that only the proxy can resolve.
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        [
          "name": "far", "url": .string("http://receiver.test:\(receiver.port)/hook"),
          "secret": .string(Receiver.secret),
        ])
      #expect(try await fault(home, "far") == nil)
      #expect(proxy.output.contains("POST http://receiver.test:\(receiver.port)/hook"), "\(proxy.output)")
      #expect(receiver.requests.count == 2)
    }
  }

  /// A host name that resolves differently the second time, as from a hostile name server; /etc/hosts simulates this.
  @Test(.enabled(if: Machine.canManage, "needs root and mount namespaces"), .timeLimit(.minutes(1)))
  func reboundHostNameIsCheckedAtEachConnection() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let hosts = home.path + "/hosts"
      try home.write("127.0.0.2 moving.test\n", to: hosts, mode: 0o644)
      try home.configure("[webhook]\ndeny = [\"127.0.0.1\"]\n")
      let daemon = try await home.start(
        "unshare", ["-m", "sh", "-c", "mount --bind \(hosts) /etc/hosts && exec \(Machine.chimed)"])
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        [
          "name": "moving", "url": .string("http://moving.test:\(receiver.port)/hook"),
          "secret": .string(Receiver.secret),
        ])
      // The address is allowed, but nobody listens.
      let absent = try await fault(home, "moving")
      #expect(absent?.contains("connect") == true && absent?.contains("may not connect") == false, "\(absent ?? "")")
      // Write in place: a renamed file would not be the mounted one.
      let file = try #require(FileHandle(forWritingAtPath: hosts))
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: Data("127.0.0.1 moving.test\n".utf8))
      try file.close()
      // A changed timeout creates a new channel, which has no cached names.
      try await reload(home, daemon, "[webhook]\ndeny = [\"127.0.0.1\"]\ntimeout = \"14s\"\n")
      let refused = try await fault(home, "moving")
      #expect(refused?.contains("Chime may not connect to 127.0.0.1") == true, "\(refused ?? "")")
      #expect(receiver.requests.isEmpty)
    }
  }

  /// Without a resolver of its own, libcurl would wait half a minute for the resolver when it gives up a request, and
  /// delay all others.
  @Test(.proof(.patience), .enabled(if: Machine.canManage, "needs root and mount namespaces"), .timeLimit(.minutes(1)))
  func hangingNameServerDelaysNoOtherRequest() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let server = try await home.spawn(
        Machine.debianPython,
        [
          "-u", "-c",
          "import socket\ns = socket.socket(type=socket.SOCK_DGRAM)\ns.bind(('127.0.0.9', 53))\nprint('ready')\n"
            + "while True: s.recv(512); print('asked')",
        ])
      try await eventually("it listens: \(server.errors)") { server.output.contains("ready") }
      let resolver = home.path + "/resolv.conf"
      try home.write("nameserver 127.0.0.9\noptions timeout:30 attempts:1\n", to: resolver, mode: 0o644)
      try home.configure("[webhook]\ntimeout = \"3s\"\n")
      _ = try await home.start(
        "unshare", ["-m", "sh", "-c", "mount --bind \(resolver) /etc/resolv.conf && exec \(Machine.chimed)"])
      try await home.addEndpoint("here", receiver)
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        ["name": "hung", "url": "http://hung.test/", "secret": .string(Receiver.secret)])
      let begin = ContinuousClock.now
      let hung = try await fault(home, "hung")
      #expect(hung?.contains("Resolving timed out") == true, "\(hung ?? "")")
      try await eventually("it was asked") { server.output.contains("asked") }
      #expect(try await fault(home, "here") == nil)
      #expect(begin.duration(to: .now) < .seconds(25))
    }
  }
}
