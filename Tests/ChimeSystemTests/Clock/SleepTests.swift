import Glibc
import Testing

/// logind's sleep signals, from python3-dbusmock on a private system bus.
@Suite(.serialized, .enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and python3-dbusmock"))
struct SleepTests {
  @Test(.timeLimit(.minutes(1)))
  func wakeUpIsLoggedAndDueTimesAreEvaluated() async throws {
    try await Home.run { home in
      try await home.startBus()
      let system = ["DBUS_SYSTEM_BUS_ADDRESS": home.bus]
      _ = try await home.spawn(
        Machine.debianPython, ["-m", "dbusmock", "--system", "--template", "logind"], environment: system)
      try await eventually("logind's stand-in answers") { try await Self.call(home, "CanSuspend", []).status == 0 }

      try home.configure("[log]\nlevel = \"debug\"\n")
      let daemon = try await home.start(environment: system)
      // The daemon's query to logind follows its subscriptions on the same connection.
      try await eventually("it finds logind") {
        let said = daemon.process.errors
        return said.contains("logind delays sleep") || said.contains("logind does not delay sleep")
      }
      let before = try await home.clockEvents()
      // Falling asleep is not a clock event, waking is.
      try await Self.prepareForSleep(home, true)
      try await Self.prepareForSleep(home, false)
      try await eventually("waking is noticed") { try await home.clockEvents() == before + 1 }
      try await eventually("and reported") { daemon.process.errors.contains("the machine is awake again") }

      // A reminder added afterwards fires.
      let id = try await home.add("After waking", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func remindersFireAfterTheSystemBusIsLost() async throws {
    try await Home.run { home in
      let bus = try await home.startBus()
      let daemon = try await home.start(environment: ["DBUS_SYSTEM_BUS_ADDRESS": home.bus])
      bus.send(SIGKILL)
      try await eventually("it is reported") {
        daemon.process.errors.contains("the connection to the system bus is lost")
      }
      let id = try await home.add("Without a bus", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
      try await daemon.stopCleanly()
    }
  }

  /// 13 s: shorter stops count as load.
  @Test(.proof(.patience), .timeLimit(.minutes(1)))
  func stoppedDaemonLogsTheStopAndCatchesUp() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let id = try await home.add("While stopped", "in 1s")
      let before = try await home.clockEvents()
      daemon.process.send(SIGSTOP)
      let end = ContinuousClock.now + .seconds(12.5)
      try await eventually("it was stopped for long enough", within: .seconds(30)) { ContinuousClock.now >= end }
      daemon.process.send(SIGCONT)
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
      try await eventually("and reports it") { daemon.process.errors.contains("the daemon was stopped for ") }
      #expect(try await home.clockEvents() == before + 1)
    }
  }

  private static func prepareForSleep(_ home: Home, _ begins: Bool) async throws {
    let result = try await call(
      home, "EmitSignal",
      ["sssav", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "1", "b", begins ? "true" : "false"],
      interface: "org.freedesktop.DBus.Mock")
    guard result.status == 0 else { throw HarnessFailure("cannot emit: \(result.text)") }
  }

  private static func call(
    _ home: Home, _ method: String, _ arguments: [String], interface: String = "org.freedesktop.login1.Manager"
  ) async throws -> Home.Output {
    try await home.run(
      "busctl",
      ["--address=\(home.bus)", "call", "org.freedesktop.login1", "/org/freedesktop/login1", interface, method]
        + arguments)
  }
}
