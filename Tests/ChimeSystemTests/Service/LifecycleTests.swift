import Foundation
import Testing

/// Start, reload and stop of the daemon, and obstacles to them.
@Suite(.serialized) struct LifecycleTests {
  @Test(.timeLimit(.minutes(1)))
  func reloadRecreatesTheChannels() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"/nonexistent/notify-send\"\n")
      let daemon = try await home.start()
      func state(of title: String) async throws -> String? {
        let id = try await home.add(title, "in 1s")
        try await eventually("an attempt at \(title)") {
          let found = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
          return (found["deliveries"][0]["attempts"].int ?? 0) > 0
        }
        let found = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
        return found["deliveries"][0]["state"].string
      }
      #expect(try await state(of: "Before") == "waiting")
      // A program that accepts every option.
      try home.configure("[desktop]\nprogram = \"true\"\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is reported") { daemon.process.errors.contains("the configuration was reloaded") }
      #expect(try await state(of: "After") == "delivered")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func daemonStopsCleanlyAndLosesNothing() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let id = try await home.add("Kept", "daily at 9:00")
      try await daemon.stopCleanly()
      #expect(daemon.notifications.lines.contains("STOPPING=1"))
      #expect(!FileManager.default.fileExists(atPath: home.socket))
      _ = try await home.start()
      #expect(
        try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["title"].string == "Kept")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func filesOfTheDaemonArePrivate() async throws {
    try await Home.run { home in
      _ = try await home.start()
      _ = try await home.add("Private", "in 1h")
      let loose = try await home.run("find", [home.state, home.runtime + "/chime", "-perm", "/077"])
      #expect(loose.out.isEmpty, "others may look: \(loose.out)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func reloadAppliesAValidConfigurationAndRejectsAnInvalidOne() async throws {
    try await Home.run { home in
      try home.configure("[defaults]\ngrace = \"1h\"\n")
      let daemon = try await home.start()
      let first = try await home.add("First", "in 1h")
      #expect(try await grace(first, home) == "PT1H")

      try home.configure("[defaults]\ngrace = \"2h\"\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is ready again") { daemon.notifications.count(of: "READY=1") == 2 }
      let words = daemon.notifications.lines
      let reloading = try #require(words.firstIndex(of: "RELOADING=1"))
      #expect(words[reloading...].contains { $0.hasPrefix("MONOTONIC_USEC=") })
      #expect(try await grace(home.add("Second", "in 1h"), home) == "PT2H")

      try home.configure("[defaults]\ngrase = \"3h\"\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is ready again") { daemon.notifications.count(of: "READY=1") == 3 }
      #expect(try await grace(home.add("Third", "in 1h"), home) == "PT2H", "the old configuration stays")
      #expect(daemon.process.errors.contains("grase"))
      let refused = try await home.call("io.chime.Daemon.Reload")
      #expect(refused.error == "io.chime.Daemon.InvalidConfiguration")
      #expect(refused.parameters["message"].string?.contains("grase") == true)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func secondDaemonIsRefusedAndTheFirstGoesOn() async throws {
    try await Home.run { home in
      let first = try await home.start()
      _ = try await home.add("Mine", "in 1h")
      let second = try await home.run(Machine.chimed, [])
      #expect(second.status == 75, "\(second.text)")
      #expect(second.err.contains(String(first.process.pid)), "it says who has the store: \(second.err)")
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func damagedStoreIsMovedAsideAndNeverOverwritten() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      for number in 1...50 { _ = try await home.add("Reminder \(number)", "in 1h") }
      _ = try await daemon.stop()
      let store = home.state + "/chime.db"
      var bytes = try #require(FileManager.default.contents(atPath: store))
      bytes.replaceSubrange(0..<min(4_096, bytes.count), with: Data(repeating: 0x5A, count: min(4_096, bytes.count)))
      try bytes.write(to: URL(filePath: store))

      let output = try await home.run(Machine.chimed, [])
      #expect(output.status == 78, "no good snapshot, so a person is asked: \(output.text)")
      let left = try FileManager.default.contentsOfDirectory(atPath: home.state)
      let moved = left.filter {
        $0.hasPrefix("chime.db") && $0 != "chime.db"
          && FileManager.default.contents(atPath: "\(home.state)/\($0)") == bytes
      }
      #expect(moved.count == 1, "the damaged file, byte for byte: \(left)")
      #expect(moved.contains { output.err.contains($0) }, "and it says where: \(output.err)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func logLinesCarryTheirPriority() async throws {
    try await Home.run { home in
      try home.configure("[log]\nlevel = \"debug\"\n")
      let daemon = try await home.start()
      let id = try await home.add("Logged", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
      _ = try await daemon.stop()
      let lines = daemon.process.errors.split(separator: "\n")
      #expect(!lines.isEmpty)
      for line in lines { #expect(line.wholeMatch(of: /<[0-7]>\S.*/) != nil, "\(line)") }
    }
  }

  private func grace(_ id: String, _ home: Home) async throws -> String? {
    try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["grace"].string
  }
}
