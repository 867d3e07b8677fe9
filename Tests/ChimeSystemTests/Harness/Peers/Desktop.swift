import Foundation

extension Home {
  var bus: String { "unix:path=\(path)/bus" }

  /// Starts a private session bus at the address in this home's environment.
  ///
  /// - Parameter services: a folder with service files; by default the bus activates nothing.
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

  /// Starts a bus with python3-dbusmock's notification daemon.
  func startMockDesktop() async throws -> MockDesktop {
    let bus = try await startBus()
    return try await startMockServer(on: bus)
  }

  /// Starts python3-dbusmock's notification daemon, which shows nothing, logs every call, and emits signals on request.
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

/// A mock desktop: the notification server, and a user who presses buttons.
struct MockDesktop: Sendable {
  let home: Home
  let log: String
  let bus: Child
  let server: Child

  /// Kills the server, as a crash does.
  func stopServer() async throws {
    server.destroy()
    _ = try await server.ended()
  }

  /// Returns all calls of a method so far, from the mock's log.
  func calls(_ method: String) -> [String] {
    written.split(separator: "\n").map(String.init).filter { $0.contains(" \(method)") }
  }

  /// The mock's log.
  var written: String { String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self) }

  /// The Notify calls so far.
  var shown: [String] { calls("Notify ") }

  /// Returns the id of a popup; the server counts 1, 2, 3 … in the order of the calls.
  func popup(titled title: String, number: Int = 1) async throws -> UInt32 {
    try await eventually("a popup \"\(title)\" (of \(shown))") {
      let all = shown
      let indices = all.indices.filter { all[$0].contains("\"\(title)\"") }
      return indices.count >= number ? UInt32(indices[number - 1] + 1) : nil
    }
  }

  /// Returns the key of a popup's button: the action, or the action with its target.
  func key(_ action: String, of popup: UInt32) throws -> String {
    let words = shown[Int(popup) - 1].split(separator: "\"").map(String.init)
    guard let key = words.first(where: { $0 == action || $0.hasPrefix(action + ":") }) else {
      throw HarnessFailure("no button \(action): \(words)")
    }
    return key
  }

  /// Presses a button on a popup of this server.
  func press(_ action: String, on popup: UInt32) async throws {
    try await invoke(try key(action, of: popup), on: popup)
  }

  /// Emits the signal of a button press.
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
