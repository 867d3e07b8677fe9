import Foundation
import Testing

/// How a daemon ends in a crash test.
enum CrashDeath: String, CaseIterable, Sendable {
  /// Killed at a random moment.
  case anywhen
  /// Killed at a system call: fsync, a write, a reply, a rename.
  case atCall
  /// Killed at a request that reaches the receiver.
  case atRequest
  /// Killed at a command that it runs.
  case atCommand
  case whileStarting
  case whileStopping
  case whileReloading
  /// Stopped cleanly.
  case stopped

  static func random(using random: inout SeededGenerator) -> CrashDeath {
    let weighed: [CrashDeath] = [
      .anywhen, .anywhen, .anywhen, .atCall, .atCall, .atCall, .atCall, .atCall, .atRequest, .atRequest, .atCommand,
      .whileStarting, .whileStarting, .whileStopping, .whileReloading, .stopped,
    ]
    return weighed.randomElement(using: &random) ?? .anywhen
  }
}

/// A CrashRun runs the real daemon under load and ends it in one way.
struct CrashRun: Sendable {
  let home: Home
  let clients: [CrashClient]
  let death: CrashDeath
  /// The preloaded library that kills the process at a call.
  let library: String
  let killFile: String
  var random: SeededGenerator

  /// - Throws: if the daemon ends in another way than intended, or a client finds a violation.
  mutating func run() async throws {
    let notify = home.path + "/notify"
    unlink(notify)
    let notifications = try NotifySocket(path: notify)
    defer { notifications.close() }
    var environment = ["NOTIFY_SOCKET": notify]
    if death == .atCall {
      let kind = ["sync", "write", "send", "name", "any"][Int.random(in: 0..<5, using: &random)]
      let most = ["sync": 150, "write": 900, "send": 500, "name": 8][kind] ?? 1_500
      let after = Bool.random(using: &random) ? " after" : ""
      environment["CHIME_DIE_AT"] = "\(kind) \(Int.random(in: 1...most, using: &random))\(after)"
      environment["LD_PRELOAD"] = library
    }
    let daemon = try await home.spawn(Machine.programs + "/chimed", environment: environment)
    if death == .whileStarting {
      try await pass(.microseconds(Int.random(in: 0...60_000, using: &random)), or: daemon)
      daemon.send(SIGKILL)
    }
    try await eventually("chimed is ready, or has ended; it said: \(daemon.errors.suffix(2_000))") {
      notifications.lines.contains("READY=1") || !daemon.isRunning
    }
    let socket = home.socket
    let loads = clients.map { client in Task { try await blocking { try client.run(socket, most: 12) } } }
    try await end(daemon)
    for load in loads { try await load.value }
    let ending = try await daemon.ended()
    unlink(killFile)
    unlink(home.path + "/kill-parent")
    let isRight = death == .stopped ? ending == .exited(0) : ending == .signalled(SIGKILL) || mayStop(ending)
    if !isRight { throw HarnessFailure("chimed ended with \(ending) (\(death)): \(daemon.errors.suffix(3_000))") }
  }

  /// Whether the daemon may have stopped cleanly before the kill.
  private func mayStop(_ ending: Child.Ending) -> Bool { death == .whileStopping && ending == .exited(0) }

  private mutating func end(_ daemon: Child) async throws {
    // Kill after this time even if the chosen event has not come.
    let limit = Duration.milliseconds(Int.random(in: 20...700, using: &random))
    switch death {
    case .atRequest:
      let phase = Bool.random(using: &random) ? "before" : "after"
      try home.write("\(daemon.pid) \(Int.random(in: 1...12, using: &random)) \(phase)", to: killFile)
    case .atCommand: try home.write("", to: home.path + "/kill-parent")
    case .anywhen, .atCall, .whileStarting, .whileStopping, .whileReloading, .stopped: break
    }
    try await pass(death == .atCall || death == .atRequest || death == .atCommand ? limit * 2 : limit, or: daemon)
    switch death {
    case .whileStopping:
      daemon.send(SIGTERM)
      try await pass(.microseconds(Int.random(in: 0...30_000, using: &random)), or: daemon)
    case .whileReloading:
      daemon.send(SIGHUP)
      try await pass(.microseconds(Int.random(in: 0...30_000, using: &random)), or: daemon)
    case .stopped:
      daemon.send(SIGTERM)
      return
    case .anywhen, .atCall, .atRequest, .atCommand, .whileStarting: break
    }
    daemon.send(SIGKILL)
  }

  /// Waits until the moment of the kill, or until the daemon has ended.
  private func pass(_ time: Duration, or daemon: Child) async throws {
    let moment = ContinuousClock.now + time
    try await eventually("the moment", every: .microseconds(500)) {
      ContinuousClock.now >= moment || !daemon.isRunning
    }
  }
}
