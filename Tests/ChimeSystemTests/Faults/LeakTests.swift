import Foundation
import Testing

/// Resource leaks of a long-running daemon.
@Suite(.serialized) struct LeakTests {
  // A sanitizer makes two hundred starts of a program take minutes.
  @Test(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.keepsAChild, "a sanitizer's child would be counted"))
  func nothingLeaksOverTwoHundredReminders() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"/bin/true\"\n")
      let daemon = try await home.start()
      let socket = home.socket
      let before = try await settled(daemon, home)
      try await blocking {
        let connection = try RawSocket(path: socket)
        for number in 1...200 {
          let answer = try connection.call(
            "io.chime.Reminders.Add", ["reminder": ["title": .string("Number \(number)"), "when": "in 1s"]])
          guard answer.error == nil else { throw HarnessFailure("\(answer)") }
        }
      }
      try await eventually("all have fired and nothing is pending") {
        let status = try await home.answer("io.chime.Daemon.Status")["status"]
        return status["openOccurrences"].int == 200 && status["pendingDeliveries"].int == 0
      }
      try await eventually(
        "descriptors and children are back to \(before); now \(String(describing: try? facts(daemon)))",
        within: .seconds(20)
      ) {
        let now = try facts(daemon)
        return now.descriptors.count <= before.descriptors.count + 1 && now.children.isEmpty
      }
    }
  }

  private struct Facts {
    /// What each open descriptor leads to.
    let descriptors: [String]
    let children: String
  }

  private func facts(_ daemon: Daemon) throws -> Facts {
    let folder = "/proc/\(daemon.process.pid)"
    let manager = FileManager.default
    return Facts(
      descriptors: try manager.contentsOfDirectory(atPath: "\(folder)/fd").map {
        (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")) ?? "closed"
      }.sorted(),
      children: (try? String(contentsOfFile: "\(folder)/task/\(daemon.process.pid)/children", encoding: .utf8)) ?? "")
  }

  /// After one complete delivery, all permanent descriptors are open.
  private func settled(_ daemon: Daemon, _ home: Home) async throws -> Facts {
    let id = try await home.add("Warm-up", "in 1s")
    try await eventually("it arrives") { try await home.latestOccurrence(of: id)["state"].string == "delivered" }
    _ = try await home.answer("io.chime.Occurrences.Done", ["id": .string(id)])
    try await eventually("only the asker is connected") {
      try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int == 1
    }
    return try facts(daemon)
  }
}
