import Foundation

/// Many clients in one process (see `Support/crowd`), connected until they are dismissed.
struct Crowd: Sendable {
  enum Behavior: String, Sendable, CaseIterable {
    case idle, ask, loris, half, large, deep, noise, flood, watch, eager, list
  }

  let process: Child

  /// The crowd's latest report.
  var facts: JSON {
    process.output.split(separator: "\n").last.flatMap { try? JSON(parsing: String($0)) } ?? .null
  }

  /// The number of open connections.
  var open: Int { facts["open"].int ?? 0 }
  /// The number of connections that the daemon has closed.
  var closed: Int { facts["closed"].int ?? 0 }
  var replies: Int { facts["replies"].int ?? 0 }
  /// The number of connects that wait in the backlog.
  var waiting: Int { facts["waiting"].int ?? 0 }

  /// Returns how often an error was received.
  func errors(_ name: String) -> Int { facts["errors"][name].int ?? 0 }

  /// Disconnects all at once.
  func leave() async throws {
    process.destroy()
    _ = try await process.ended()
  }
}

extension Home {
  /// - Parameter pace: seconds between two bytes of a `loris`; the seed of `noise`.
  func crowd(_ count: Int, _ way: Crowd.Behavior, pace: Double = 1) async throws -> Crowd {
    // The held pipe keeps standard input open until the test ends.
    let process = try await spawn(
      Machine.debianPython, [Machine.support("crowd"), socket, String(count), String(pace), way.rawValue],
      withInput: true)
    return Crowd(process: process)
  }
}

extension Home {
  /// Triggers all waiting deliveries; attempts in flight are left alone.
  func retryDeliveries() async throws {
    for delivery in try await deliveries("waiting") { _ = try await chime("redeliver", delivery["id"].string ?? "") }
  }
}
