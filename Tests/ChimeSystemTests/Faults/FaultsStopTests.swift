import Foundation
import Testing

/// The daemon is stopped (SIGSTOP, a debugger, a frozen container) while reminders become due.
@Suite(.serialized) struct FaultsStopTests {
  @Test(.timeLimit(.minutes(1)))
  func remindersDueDuringAStopFireAtOnceAndOnce() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start()
      let stream = try await home.spawn(Machine.chime, ["watch", "--json"])
      try await eventually("it watches") {
        try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int == 2
      }
      let drafts = (0..<20).map { number -> JSON in
        ["title": .string("Number \(number)"), "when": .string("in \(5 + number % 2)s"), "channels": ["desktop"]]
      }
      let added = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(drafts)])
      let ids = added["ids"].elements.compactMap(\.string)
      try #require(ids.count == 20)
      daemon.process.send(SIGSTOP)
      try await eventually("it is stopped") { daemon.process.runState == "T" }
      let until = Date(timeIntervalSinceNow: 7)
      try await eventually("the times have passed") { Date() > until }
      #expect(!stream.output.contains("\"fired\""))

      daemon.process.send(SIGCONT)
      try await eventually("all have fired") { stream.lines.count { $0.contains("\"fired\"") } == 20 }
      for id in ids {
        let all = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
        #expect(all["occurrences"].elements.count == 1)
        // Two seconds do not count as late: a popup is still useful a minute later.
        #expect(all["occurrences"][0]["late"] == .null)
      }
      // A stop without late reminders is not reported; a service manager sends SIGCONT with each SIGTERM.
      #expect(!stream.lines.contains { $0.contains("\"resumed\"") })
      #expect(!daemon.process.errors.contains("the daemon was stopped"), "\(daemon.process.errors)")
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["clockEvents"].int == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func crashWhileStoppedLosesNothing() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start()
      let id = try await home.add("Due", "in 1s")
      daemon.process.send(SIGSTOP)
      try await eventually("it is stopped") { daemon.process.runState == "T" }
      try await daemon.crash()
      _ = try await home.start()
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
      let all = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
      #expect(all["occurrences"].elements.count == 1)
    }
  }
}
