import Foundation

/// Many clients from one process (`Support/crowd` says what they can do), there until they are sent away.
struct Crowd: Sendable {
  enum Way: String, Sendable, CaseIterable {
    case idle, ask, loris, half, large, deep, noise, flood, watch, eager, list
  }

  let process: Child

  /// What the crowd said last.
  var facts: JSON {
    process.output.split(separator: "\n").last.flatMap { try? JSON(parsing: String($0)) } ?? .null
  }

  /// Connections that stand.
  var open: Int { facts["open"].int ?? 0 }
  /// Connections that the daemon has closed.
  var closed: Int { facts["closed"].int ?? 0 }
  var replies: Int { facts["replies"].int ?? 0 }
  /// Connects that wait in the backlog.
  var waiting: Int { facts["waiting"].int ?? 0 }

  /// How often an error was given.
  func errors(_ name: String) -> Int { facts["errors"][name].int ?? 0 }

  /// All of them go at once.
  func leave() async throws {
    process.destroy()
    _ = try await process.ended()
  }
}

extension Home {
  /// - Parameter pace: seconds between two bytes of a `loris`; the seed of `noise`.
  func crowd(_ count: Int, _ way: Crowd.Way, pace: Double = 1) async throws -> Crowd {
    // Standard input is kept open by the pipe that the child holds on to: it goes with the test.
    let process = try await spawn(
      Machine.debianPython, [Machine.support("crowd"), socket, String(count), String(pace), way.rawValue],
      withInput: true)
    return Crowd(process: process)
  }
}

extension Home {
  /// Has all that waits tried now; what is being tried at this moment is left alone.
  func hurry() async throws {
    for delivery in try await deliveries("waiting") { _ = try await chime("redeliver", delivery["id"].string ?? "") }
  }
}
