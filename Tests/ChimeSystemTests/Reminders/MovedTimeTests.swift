import Testing

/// `chime move` changes only the next time.
struct MovedTimeTests {
  @Test(.timeLimit(.minutes(1))) func movedTimeSurvivesAKill() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let id = try await home.add("Stand-up", "daily at 09:25")
      let before = try await home.json("show", id)["reminder"]["next"].string
      let said = try await home.mustRun("move", "Stand-up", "+36h")
      #expect(said.contains("moved to"), "\(said)")
      try await daemon.crash()
      _ = try await home.start()
      let moved = try await home.json("history", id)["occurrences"][0]
      #expect(moved["scheduledAt"].string == before && moved["rounds"].int == 0 && moved["state"].string == "snoozed")
      // The following time stays, and comes first.
      let next = try await home.json("show", id)["reminder"]["next"].string
      #expect(next != before && next != moved["snoozedUntil"].string)
      #expect(try await home.mustRun("history", id).contains("moved to"))
      #expect(try await home.mustRun("why", id).contains("was moved to"))
      // It is done before it fires.
      _ = try await home.mustRun("done", moved["id"].string ?? "")
      #expect(try await home.json("history", id)["occurrences"][0]["state"].string == "done")
    }
  }
}
