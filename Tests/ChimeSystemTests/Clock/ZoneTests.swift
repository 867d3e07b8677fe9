import Foundation
import Testing

/// The machine's zone changes under a running daemon.
@Suite(.serialized) struct ZoneTests {
  @Test(.timeLimit(.minutes(1)))
  func zoneChangeMovesLocalRemindersOnly() async throws {
    try await Home.run { home in
      try home.setZone("Europe/Prague")
      let daemon = try await home.start()
      try await home.mustRun("add", "Local", "daily", "at", "9:00")
      try await home.mustRun("add", "Fixed", "daily", "at", "9:00", "--tz", "Europe/Prague")
      let before = try await nextTimes(home)
      #expect(before["Local"] == before["Fixed"])
      #expect(try await zone(home) == "Europe/Prague")

      try home.setZone("Asia/Tokyo")
      try await eventually("the daemon notices the new zone") { try await zone(home) == "Asia/Tokyo" }
      let after = try await eventually("the local reminder moves") {
        let times = try await nextTimes(home)
        return times["Local"] != before["Local"] ? times : nil
      }
      #expect(after["Fixed"] == before["Fixed"])
      let local = try #require(after["Local"])
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
      #expect(calendar.dateComponents([.hour, .minute], from: local) == DateComponents(hour: 9, minute: 0))
      #expect(local > Date.now)

      // Back again, to check more than one notification.
      try home.setZone("Europe/Prague")
      try await eventually("the daemon notices the old zone") { try await zone(home) == "Europe/Prague" }
      try await eventually("and it moves back") { try await nextTimes(home)["Local"] == after["Fixed"] }
      #expect(daemon.process.isRunning)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func zoneChangeFiresNothingTwice() async throws {
    try await Home.run { home in
      try home.setZone("Europe/Prague")
      _ = try await home.start()
      let id = try await home.add("Once", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
      // West: local time goes back over the time that has fired.
      try home.setZone("America/New_York")
      try await eventually("the daemon notices") { try await zone(home) == "America/New_York" }
      let all = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
      #expect(all["occurrences"].elements.count == 1)
    }
  }

  private func zone(_ home: Home) async throws -> String? {
    try await home.answer("io.chime.Daemon.Status")["status"]["zone"].string
  }

  private func nextTimes(_ home: Home) async throws -> [String: Date] {
    var times: [String: Date] = [:]
    for reminder in try await home.answer("io.chime.Reminders.List")["reminders"].elements {
      let title = reminder["title"].string ?? ""
      times[title] = try Date(reminder["next"]["at"].string ?? "", strategy: .iso8601)
    }
    return times
  }
}
