import Foundation
import Testing

/// Upcoming times: all of the next days, and which of them will notify nobody.
@Suite struct UpcomingTests {
  private func upcoming(_ home: Home, before: String? = nil, limit: Int? = nil) async throws -> [JSON] {
    try await home.answer(
      "io.chime.Occurrences.Upcoming",
      ["before": before.map { .string($0) } ?? .null, "limit": .number(Double(limit ?? 1_000))])["upcoming"]
      .elements
  }

  /// Returns a time some hours from now, in wire format.
  private func ahead(hours: Double) -> String {
    Date(timeIntervalSinceNow: hours * 3_600).formatted(.iso8601)
  }

  @Test(.timeLimit(.minutes(2)))
  func upcomingListsAllTimesBeforeAMoment() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await home.mustRun("add", "Water", "every 90m from 8:00 to 22:00")
      try await home.mustRun("add", "Stretch", "every 25m")
      try await home.mustRun("add", "Far", "daily at 9:00 starting 2096-01-01")
      let end = ahead(hours: 50)
      let limit = try Date(end, strategy: .iso8601)
      for (title, when) in [("Water", "every 90m from 8:00 to 22:00")] {
        let expected = try await home.answer(
          "io.chime.Schedules.Explain", ["when": .string(when), "count": 60])["next"].elements.compactMap {
            $0["at"].string
          }
          .filter { try Date($0, strategy: .iso8601) < limit }
        let got = try await upcoming(home, before: end).filter { $0["title"].string == title }.compactMap {
          $0["at"]["at"].string
        }
        #expect(got == expected && got.count > 15, "\(got)")
      }
      let all = try await upcoming(home, before: end)
      try #require(all.count > 4, "\(all)")
      let times = try all.map { try Date($0["at"]["at"].string ?? "", strategy: .iso8601) }
      #expect(times == times.sorted())
      #expect(!all.contains { $0["title"] == "Far" })
      // The limit counts all times, not those of each reminder.
      let few = try await upcoming(home, before: end, limit: 4)
      #expect(few == Array(all.prefix(4)))
      // Without an end there is one time per reminder.
      #expect(try await upcoming(home).compactMap { $0["title"].string }.sorted() == ["Far", "Stretch", "Water"])

      // Skipped and paused times are left out.
      func water() async throws -> [String] {
        try await upcoming(home, before: end).filter { $0["title"] == "Water" }.compactMap { $0["at"]["at"].string }
      }
      let known = try await water()
      try #require(known.count > 1, "\(known)")
      try await home.mustRun("skip", "Water")
      #expect(try await water() == Array(known.dropFirst()))
      let drawn = try await home.mustRun("next", "--timeline", "--ascii", "--before", "2 days")
      #expect(drawn.contains("Stretch") && drawn.contains("* comes"), "\(drawn)")
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func upcomingMarksTimesSilencedByTodaysGoal() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      _ = try await home.start()
      try await home.mustRun("tracker", "add", "Read", "--kind", "check")
      try await home.mustRun("add", "Read a page", "every 1h", "--tracker", "read", "--quiet-when-done")
      func first() async throws -> JSON { try #require(try await upcoming(home).first) }
      #expect(try await first()["skipReason"] == .null)
      try await home.mustRun("log", "read")
      // The next time may be on a new day, which is not done yet; those of today are.
      let soon = try await upcoming(home, before: ahead(hours: 30))
      let today = soon.filter { $0["skipReason"] == "doneAlready" }.compactMap { $0["at"]["at"].string?.prefix(10) }
      let later = soon.filter { $0["skipReason"] == .null }.compactMap { $0["at"]["at"].string?.prefix(10) }
      #expect(Set(today).count <= 1 && !later.isEmpty)
      #expect(Set(today).isDisjoint(with: Set(later)), "\(soon)")
      let isToday = try await first()["skipReason"] == "doneAlready"
      let list = try await home.json("list")["reminders"][0]
      #expect((list["skipReason"] == "doneAlready") == isToday)
      #expect(try await home.mustRun("next").contains("(skipped: done already)") == isToday)
      #expect(try await home.mustRun("list").contains("skipped: done already") == isToday)
    }
  }
}
