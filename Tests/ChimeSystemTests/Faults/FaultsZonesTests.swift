import Foundation
import Testing

/// Broken local-time links under a running daemon.
@Suite(.serialized) struct FaultsZonesTests {
  private func next(_ home: Home) async throws -> String? {
    try await home.answer("io.chime.Reminders.Get", ["id": "Local"])["reminder"]["next"]["at"].string
  }

  @Test(.timeLimit(.minutes(1)))
  func brokenLocaltimeLinkMeansUTCAndIsReported() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next(home) == "2096-12-01T09:00:00+01:00")

      func attention() async throws -> [String] {
        try await home.answer("io.chime.Daemon.Status")["status"]["attention"].elements.compactMap(\.string)
      }
      try home.setZone("Europe/Nowhere")
      try await eventually("the reminder moves") { try await next(home) == "2096-12-01T09:00:00Z" }
      let sentence = "\(home.localtime) is not a valid time zone"
      #expect(try await attention().contains { $0.contains(sentence) && $0.contains("UTC") })
      try await eventually("STATUS tells: \(daemon.status ?? "")") { daemon.status?.contains(sentence) == true }
      #expect(daemon.process.errors.contains(sentence))
      // Reminders keep firing.
      let id = try await home.add("Meanwhile", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }

      try home.setZone("Asia/Tokyo")
      try await eventually("the reminder moves") { try await next(home) == "2096-12-01T09:00:00+09:00" }
      #expect(try await attention() == [])

      // No link means UTC (localtime(5)), which is valid.
      unlink(home.localtime)
      try await eventually("the reminder moves") { try await next(home) == "2096-12-01T09:00:00Z" }
      #expect(try await attention() == [])

      // A file that is no zone is invalid.
      try home.write("Europe/Prague\n", to: home.localtime)
      try await eventually("it is reported") {
        try await attention().contains { $0.contains(sentence) }
      }
      try home.setZone("Europe/Prague")
      try await eventually("the reminder moves back") { try await next(home) == "2096-12-01T09:00:00+01:00" }
      try await daemon.stopCleanly()
    }
  }

  /// TZ affects printed times only; reminders follow the machine's zone.
  @Test(.timeLimit(.minutes(1)), arguments: ["Nonsense/Zone", ":/etc/passwd", "Asia/Tokyo"])
  func remindersIgnoreTheVariableTZ(_ value: String) async throws {
    try await Home.run { home in
      _ = try await home.start(environment: ["TZ": value])
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next(home) == "2096-12-01T09:00:00+01:00")
      // The command honors TZ for its output, and reports an invalid value.
      let when = try await home.chime("when", "at 2096-12-01 09:00", environment: ["TZ": value])
      #expect(when.status == (value == "Asia/Tokyo" ? 0 : 1))
      #expect(when.text.contains(value == "Asia/Tokyo" ? "Asia/Tokyo" : String(value.drop { $0 == ":" })))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func crashWhileTheLinkIsBrokenIsRepairedAtTheNextStart() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      try home.setZone("Europe/Nowhere")
      try await eventually("the reminder moves") { try await next(home) == "2096-12-01T09:00:00Z" }
      try await daemon.crash()
      try home.setZone("Europe/Prague")
      _ = try await home.start()
      try await eventually("the reminder moves back") { try await next(home) == "2096-12-01T09:00:00+01:00" }
    }
  }
}
