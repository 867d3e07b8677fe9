import Foundation
import Testing

/// How a daemon dies.
enum CrashDeath: String, CaseIterable, Sendable {
  /// At any moment.
  case anywhen
  /// At a call to the system: a synchronisation, a write, an answer to a client, a change of a name.
  case atCall
  /// At a request that reaches the receiver.
  case atRequest
  /// At a command that it runs.
  case atCommand
  case whileStarting
  case whileStopping
  case whileReloading
  /// Not at all: it is stopped, for once.
  case stopped

  static func random(using random: inout SeededGenerator) -> CrashDeath {
    let weighed: [CrashDeath] = [
      .anywhen, .anywhen, .anywhen, .atCall, .atCall, .atCall, .atCall, .atCall, .atRequest, .atRequest, .atCommand,
      .whileStarting, .whileStarting, .whileStopping, .whileReloading, .stopped,
    ]
    return weighed.randomElement(using: &random) ?? .anywhen
  }
}

/// One short life of the real daemon under load.
struct CrashLife: Sendable {
  let home: Home
  let clients: [CrashClient]
  let death: CrashDeath
  /// The library that ends a program at a call.
  let library: String
  let killFile: String
  var random: SeededGenerator

  /// - Throws: when the daemon ends otherwise than it was to, or a client finds something amiss.
  mutating func live() async throws {
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
    let loads = clients.map { client in Task { try await blocking { try client.live(socket, most: 12) } } }
    try await end(daemon)
    for load in loads { try await load.value }
    let ending = try await daemon.ended()
    unlink(killFile)
    unlink(home.path + "/kill-parent")
    let isRight = death == .stopped ? ending == .exited(0) : ending == .signalled(SIGKILL) || mayStop(ending)
    if !isRight { throw HarnessFailure("chimed ended with \(ending) (\(death)): \(daemon.errors.suffix(3_000))") }
  }

  /// One that is stopping may be done with it before it is killed.
  private func mayStop(_ ending: Child.Ending) -> Bool { death == .whileStopping && ending == .exited(0) }

  private mutating func end(_ daemon: Child) async throws {
    // What does not happen within this time is not waited for.
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

  /// Lets time pass until the moment to kill, unless the daemon has ended: the moment is what is tested.
  private func pass(_ time: Duration, or daemon: Child) async throws {
    let moment = ContinuousClock.now + time
    try await eventually("the moment", every: .microseconds(500)) {
      ContinuousClock.now >= moment || !daemon.isRunning
    }
  }
}
