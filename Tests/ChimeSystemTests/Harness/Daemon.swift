import Foundation
import Testing

/// A running chimed, with its sd_notify(3) messages.
struct Daemon: Sendable {
  let process: Child
  let notifications: NotifySocket

  /// The status line of `systemctl status`.
  var status: String? {
    notifications.lines.last { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst("STATUS=".count)) }
  }

  /// Stops it as a service manager does.
  func stop(within limit: Duration = .seconds(20)) async throws -> Child.Ending {
    process.send(SIGTERM)
    let ending = try await process.ended(within: limit)
    notifications.close()
    return ending
  }

  /// Stops it as a service manager does, and expects that it ends with 0. A failure says how it ended and
  /// what it said last.
  func stopCleanly(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let ending = try await stop()
    #expect(ending == .exited(0), "\(process.errors.suffix(4_000))", sourceLocation: sourceLocation)
  }

  /// Kills it, as a power cut does.
  func crash() async throws {
    process.send(SIGKILL)
    _ = try await process.ended()
    notifications.close()
  }
}

extension Home {
  /// Starts chimed and waits for READY=1.
  func start(
    _ program: String = Machine.chimed, _ arguments: [String] = [], environment more: [String: String] = [:],
    within limit: Duration = .seconds(20)
  ) async throws -> Daemon {
    let path = self.path + "/notify"
    unlink(path)
    let notifications = try NotifySocket(path: path)
    let process = try await spawn(
      program, arguments, environment: more.merging(["NOTIFY_SOCKET": path]) { $1 })
    try await eventually("chimed is ready; it said: \(process.errors.suffix(2_000))", within: limit) {
      if let end = process.end { throw HarnessFailure("chimed ended with \(end): \(process.errors)") }
      return notifications.lines.contains("READY=1")
    }
    return Daemon(process: process, notifications: notifications)
  }
}
