import Foundation

extension Home {
  var bus: String { "unix:path=\(path)/bus" }

  /// A private session bus at the address that everything in this home is given.
  ///
  /// - Parameter services: a folder with what the bus may start; by default it starts nothing.
  @discardableResult
  func startBus(services: String? = nil) async throws -> Child {
    var configuration = Machine.support("bus.conf")
    if let services {
      let text = try String(contentsOfFile: configuration, encoding: .utf8)
      configuration = path + "/bus.conf"
      try write(text.replacing("<auth>", with: "<servicedir>\(services)</servicedir><auth>"), to: configuration)
    }
    let daemon = try await spawn(
      "dbus-daemon", ["--nofork", "--nopidfile", "--config-file", configuration, "--address", bus])
    try await eventually("the bus listens") {
      if let end = daemon.end { throw HarnessFailure("dbus-daemon ended with \(end): \(daemon.errors)") }
      return (try? RawSocket(path: path + "/bus")) != nil
    }
    return daemon
  }

  /// A bus, and on it python3-dbusmock's notification daemon.
  func startMockDesktop() async throws -> MockDesktop {
    let bus = try await startBus()
    return try await startMockServer(on: bus)
  }

  /// python3-dbusmock's notification daemon: shows nothing, writes down every call, and emits what it is told to.
  func startMockServer(
    on bus: Child, capabilities: String = "body actions persistence icon-static"
  ) async throws -> MockDesktop {
    let log = "\(path)/notifications-\(UUID().uuidString).log"
    let server = try await spawn(
      Machine.debianPython,
      [
        "-m", "dbusmock", "--session", "--template", "notification_daemon", "-p",
        #"{"capabilities": "\#(capabilities)"}"#, "--logfile", log,
      ])
    let desktop = MockDesktop(home: self, log: log, bus: bus, server: server)
    try await eventually("the notification daemon answers; it said \(server.errors)") {
      try await desktop.busctl("GetServerInformation").status == 0
    }
    return desktop
  }
}

/// The other side of a transport, and the finger on its buttons.
struct MockDesktop: Sendable {
  let home: Home
  let log: String
  let bus: Child
  let server: Child

  /// Ends the server as a crash would.
  func stopServer() async throws {
    server.destroy()
    _ = try await server.ended()
  }

  /// All calls so far of a method, as the mock wrote them down.
  func calls(_ method: String) -> [String] {
    written.split(separator: "\n").map(String.init).filter { $0.contains(" \(method)") }
  }

  /// All that the mock wrote down.
  var written: String { String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self) }

  /// The Notify calls so far, as the mock wrote them down.
  var shown: [String] { calls("Notify ") }

  /// The server gives out 1, 2, 3 … in the order of the calls.
  func popup(titled title: String, number: Int = 1) async throws -> UInt32 {
    try await eventually("a popup \"\(title)\" (of \(shown))") {
      let all = shown
      let indices = all.indices.filter { all[$0].contains("\"\(title)\"") }
      return indices.count >= number ? UInt32(indices[number - 1] + 1) : nil
    }
  }

  /// The key of a popup's button: the word itself, or the word with what it is about.
  func key(_ action: String, of popup: UInt32) throws -> String {
    let words = shown[Int(popup) - 1].split(separator: "\"").map(String.init)
    guard let key = words.first(where: { $0 == action || $0.hasPrefix(action + ":") }) else {
      throw HarnessFailure("no button \(action): \(words)")
    }
    return key
  }

  /// Presses a button, on a popup of this server's.
  func press(_ action: String, on popup: UInt32) async throws {
    try await invoke(try key(action, of: popup), on: popup)
  }

  /// Says that a button was pressed.
  func invoke(_ key: String, on popup: UInt32) async throws {
    try await emit("ActionInvoked", ["us", "2", "u", String(popup), "s", key])
  }

  func close(_ popup: UInt32, reason: UInt32) async throws {
    try await emit("NotificationClosed", ["uu", "2", "u", String(popup), "u", String(reason)])
  }

  private func emit(_ signal: String, _ arguments: [String]) async throws {
    let result = try await busctl(
      "EmitSignal", interface: "org.freedesktop.DBus.Mock",
      ["sssav", "org.freedesktop.Notifications", signal] + arguments)
    guard result.status == 0 else { throw HarnessFailure("cannot emit \(signal): \(result.text)") }
  }

  func busctl(
    _ method: String, interface: String = "org.freedesktop.Notifications", _ arguments: [String] = []
  ) async throws -> Home.Output {
    try await home.run(
      "busctl",
      [
        "--address=\(home.bus)", "call", "org.freedesktop.Notifications", "/org/freedesktop/Notifications", interface,
        method,
      ] + arguments)
  }
}
