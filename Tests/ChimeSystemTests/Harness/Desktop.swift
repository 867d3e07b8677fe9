import Foundation

extension Home {
  var bus: String { "unix:path=\(path)/bus" }

  /// A private session bus at the address that everything in this home is given.
  @discardableResult
  func startBus() async throws -> Child {
    let daemon = try await spawn(
      "dbus-daemon", ["--nofork", "--nopidfile", "--config-file", Machine.support("bus.conf"), "--address", bus])
    try await eventually("the bus listens") {
      if let end = daemon.end { throw HarnessFailure("dbus-daemon ended with \(end): \(daemon.errors)") }
      return (try? RawSocket(path: path + "/bus")) != nil
    }
    return daemon
  }

  /// python3-dbusmock's notification daemon: shows nothing, writes down every call, and emits what it is told to.
  func startMockDesktop() async throws -> MockDesktop {
    try await startBus()
    let log = path + "/notifications.log"
    _ = try await spawn(
      Machine.debianPython,
      [
        "-m", "dbusmock", "--session", "--template", "notification_daemon", "-p",
        #"{"capabilities": "body actions persistence icon-static"}"#, "--logfile", log,
      ])
    let desktop = MockDesktop(home: self, log: log)
    try await eventually("the notification daemon answers") {
      try await desktop.busctl("GetServerInformation").status == 0
    }
    return desktop
  }
}

/// The other side of notify-send, and the finger on its buttons.
struct MockDesktop: Sendable {
  let home: Home
  let log: String

  /// The Notify calls so far, as the mock wrote them down.
  var shown: [String] {
    String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
      .split(separator: "\n").map(String.init).filter { $0.contains(" Notify ") }
  }

  /// The server gives out 1, 2, 3 … in the order of the calls.
  func popup(titled title: String, number: Int = 1) async throws -> UInt32 {
    try await eventually("a popup \"\(title)\" (of \(shown))") {
      let all = shown
      let indices = all.indices.filter { all[$0].contains("\"\(title)\"") }
      return indices.count >= number ? UInt32(indices[number - 1] + 1) : nil
    }
  }

  func press(_ action: String, on popup: UInt32) async throws {
    let result = try await busctl(
      "EmitSignal", interface: "org.freedesktop.DBus.Mock",
      ["sssav", "org.freedesktop.Notifications", "ActionInvoked", "us", "2", "u", String(popup), "s", action])
    guard result.status == 0 else { throw HarnessFailure("cannot press: \(result.text)") }
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
