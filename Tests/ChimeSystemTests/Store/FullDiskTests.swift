import Foundation
import Testing

/// Disks that fill up or become read-only under the real daemon. About 35 s in all.
@Suite(
  .serialized,
  .enabled(if: SmallDisk.isPossible && Machine.hasMockBus, "needs root, mount, dbus-daemon, busctl and notify-send"))
struct FullDiskTests {
  private static let toml = "[desktop]\ntransport = \"dbus\"\n"

  private func health(_ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Daemon.Status")["status"]
  }

  private func occurrences(_ home: Home, _ reminder: String) async throws -> [JSON] {
    try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)]])["occurrences"]
      .elements
  }

  private func popups(_ desktop: MockDesktop, _ title: String) -> Int {
    desktop.shown.count { $0.contains("\"\(title)\"") }
  }

  /// Waits until everything is recorded and the store works.
  private func recovered(_ home: Home) async throws {
    try await eventually("the store works again", within: .seconds(15)) {
      let health = try await health(home)
      return health["storeProblem"] == .null && health["unrecorded"].int == 0
    }
  }

  @Test(.enabled(if: Machine.hasClients, "needs the webhook libraries"), .timeLimit(.minutes(1)))
  func fullDiskFiresFromMemoryAndRecordsOnce() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        let desktop = try await home.startMockDesktop()
        let receiver = try await Receiver.start(in: home)
        try home.configure(Self.toml)
        let daemon = try await home.start()
        try await home.addEndpoint("team", receiver)
        let drink = try await home.add("Drink", "every 2s", to: ["desktop", "team"])
        let tea = try await home.add("Tea", "in 7s")
        _ = try await desktop.popup(titled: "Drink")
        try await eventually("the first has been sent") { receiver.requests.count >= 1 }
        try disk.fill()
        let (sent, before) = (receiver.requests.count, popups(desktop, "Drink"))

        let popup = try await desktop.popup(titled: "Tea")
        try await eventually("it continues at its times") { popups(desktop, "Drink") >= before + 2 }
        let refused = try await home.chime("add", "Milk", "in", "1h")
        #expect(refused.status == 75)
        #expect(refused.err.contains("the disk is full: free some space"), "\(refused.err)")
        let health = try await health(home)
        #expect((health["unrecorded"].int ?? 0) >= 2, "\(health)")
        #expect(health["storeProblem"].string?.contains("the disk is full") == true)
        #expect(daemon.status?.contains("shown on the desktop from memory") == true, "\(daemon.status ?? "")")
        #expect(daemon.status?.contains("changes are refused") == true)
        // Buttons work, and the popup closes.
        try await desktop.press("done", on: popup)
        try await eventually("its popup closes") {
          desktop.calls("CloseNotification").contains { $0.contains("\(popup)") }
        }
        #expect(receiver.requests.count <= sent + 1, "no webhook leaves before it is recorded")

        disk.free()
        try await recovered(home)
        #expect(try await home.latestOccurrence(of: tea)["state"].string == "done")
        _ = try await home.answer("io.chime.Reminders.Pause", ["id": .string(drink)])
        let times = try await eventually("all have been delivered") {
          let found = try await occurrences(home, drink).filter { $0["state"].string != "missed" }
          return found.allSatisfy { $0["state"].string == "delivered" } ? found : nil
        }
        #expect(Set(times.map { $0["scheduledAt"]["at"] }).count == times.count)
        #expect(times.allSatisfy { (0..<1_500).contains($0["latenessMs"].int ?? -1) }, "at their times: \(times)")
        try await eventually("each is sent") { receiver.requests.count >= times.count }
        #expect(popups(desktop, "Drink") == times.count && popups(desktop, "Tea") == 1)
        #expect(Set(receiver.requests.map(\.id)).count == times.count && receiver.requests.count == times.count)
        let said = daemon.process.errors
        #expect(said.components(separatedBy: "the store failed").count == 2, "once at the begin")
        #expect(said.components(separatedBy: "the store can be written again").count == 2, "once at the end")
        try await home.mustRun("add", "Milk", "in", "1h")
      }
    }
  }

  /// The store may have room for an answer, but not for the buffered events before it, which would violate the order.
  @Test(.timeLimit(.minutes(1)))
  func occurrenceRepeatedFromMemoryIsAnsweredOnlyAtItsPopup() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        _ = try await home.startMockDesktop()
        try home.configure(Self.toml)
        _ = try await home.start()
        _ = try await home.add("Tea", "in 1s")
        try await eventually("it is recorded") { try await home.deliveries("delivered").count == 1 }
        _ = try await home.answer("io.chime.Occurrences.Snooze", ["length": "PT3S"])
        try disk.fill()
        try await eventually("it fires again") { try await health(home)["unrecorded"].int ?? 0 > 0 }
        let refused = try await home.chime("snooze")
        #expect(refused.status == 75)
        #expect(
          refused.err.contains("from the time when the store rejected changes is not recorded yet"), "\(refused.err)")
        disk.free()
        try await recovered(home)
        try await home.mustRun("snooze")
        let deliveries = try await home.answer("io.chime.Deliveries.List")["deliveries"].elements
        let rounds = deliveries.map { $0["round"].int ?? 0 }
        #expect(rounds.sorted() == Array(1...rounds.count), "each round is on record once")
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func popupShownBeforeACrashIsRepeatedAndRecordedOnce() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        let desktop = try await home.startMockDesktop()
        try home.configure(Self.toml)
        let daemon = try await home.start()
        let tea = try await home.add("Tea", "in 2s")
        try disk.fill()
        _ = try await desktop.popup(titled: "Tea")
        try await daemon.crash()
        // The disk is still full, but its files exist, so the next daemon can use them.
        let again = try await home.start()
        _ = try await desktop.popup(titled: "Tea", number: 2)
        try await eventually("it reports that") { again.status?.contains("from memory, 1 not yet recorded") ?? false }
        #expect(try await occurrences(home, tea).isEmpty)
        disk.free()
        try await recovered(home)
        try await eventually("it is recorded") {
          try await occurrences(home, tea).map { $0["state"].string } == ["delivered"]
        }
        #expect(popups(desktop, "Tea") == 2)
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func stopRecordsBufferedEvents() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        let desktop = try await home.startMockDesktop()
        try home.configure(Self.toml)
        let daemon = try await home.start()
        let tea = try await home.add("Tea", "in 2s")
        try disk.fill()
        _ = try await desktop.popup(titled: "Tea")
        try await eventually("it is buffered") { try await health(home)["unrecorded"].int == 1 }
        disk.free()
        try await daemon.stopCleanly()
        _ = try await home.start()
        #expect(try await occurrences(home, tea).count == 1)
        #expect(popups(desktop, "Tea") == 1)
      }
    }
  }

  /// A clean stop removes SQLite's auxiliary files, and there is no room to create them again.
  @Test(.timeLimit(.minutes(1)))
  func startOnAFullDiskSaysWhatToDo() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        let daemon = try await home.start()
        _ = try await home.add("Tea", "in 1h")
        _ = try await daemon.stop()
        try disk.fill()
        let output = try await home.run(Machine.chimed, [])
        #expect(output.status == 74)
        #expect(output.err.contains("the disk is full: free some space"), "\(output.err)")
        disk.free()
        _ = try await home.start()
        #expect(try await health(home)["reminders"].int == 1)
      }
    }
  }

  /// A quota, or a limit on file size: only the log cannot grow.
  @Test(.enabled(if: Machine.has("prlimit")), .timeLimit(.minutes(1)))
  func fileSizeLimitIsTreatedAsAFullDisk() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Self.toml)
      let daemon = try await home.start()
      let tea = try await home.add("Tea", "in 6s")
      let limit = { (bytes: String) in
        _ = try await home.run("prlimit", ["--pid", "\(daemon.process.pid)", "--fsize=\(bytes)"])
      }
      try await limit("4096:unlimited")
      _ = try await desktop.popup(titled: "Tea")
      let problem = try await health(home)["storeProblem"].string ?? ""
      #expect(problem.contains("chime.db"), "\(problem)")
      try await limit("unlimited")
      try await recovered(home)
      #expect(try await occurrences(home, tea).count == 1 && popups(desktop, "Tea") == 1)
    }
  }

  /// As the kernel does at the first disk error.
  @Test(.enabled(if: ReadOnlyDisk.isPossible, "needs a loop device and mkfs.ext4"), .timeLimit(.minutes(1)))
  func fileSystemThatBecomesReadOnlyIsTreatedAsAFullDisk() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Self.toml)
      let disk = try await ReadOnlyDisk.mount(in: home)
      defer { disk.detach() }
      let daemon = try await home.start()
      let tea = try await home.add("Tea", "in 6s")
      try await disk.becomeReadOnly(home)
      _ = try await desktop.popup(titled: "Tea")
      let refused = try await home.chime("add", "Milk", "in", "1h")
      #expect(refused.status == 75 && refused.err.contains("cannot be"), "\(refused.text)")
      let health = try await health(home)
      #expect(health["unrecorded"].int == 1 && health["storeProblem"] != .null)
      _ = try await daemon.stop()
      #expect(daemon.process.errors.contains("1 time that fired could not be recorded"))
      // A daemon cannot start here either, and says why.
      let output = try await home.run(Machine.chimed, [])
      #expect(output.status == 74 || output.status == 73, "\(output.text)")
      #expect(output.err.contains("Read-only"), "\(output.err)")
      try await disk.mend(home)
      _ = try await home.start()
      _ = try await desktop.popup(titled: "Tea", number: 2)
      try await eventually("it is recorded") { try await occurrences(home, tea).count == 1 }
    }
  }

  /// Writes to an unlinked file would be lost with the daemon: none is acknowledged.
  @Test(.timeLimit(.minutes(1)))
  func removedStateFolderRefusesChanges() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Self.toml)
      _ = try await home.start()
      let tea = try await home.add("Tea", "in 2s")
      let aside = home.path + "/aside"
      try FileManager.default.moveItem(atPath: home.state, toPath: aside)
      let refused = try await home.chime("add", "Milk", "in", "1h")
      #expect(refused.status == 75 && refused.err.contains("put it back"), "\(refused.text)")
      #expect(refused.err.contains("restart chimed with an empty store"), "\(refused.text)")
      _ = try await desktop.popup(titled: "Tea")
      try FileManager.default.moveItem(atPath: aside, toPath: home.state)
      try await recovered(home)
      #expect(try await occurrences(home, tea).count == 1)
      // Losing access to the folder does no harm, because the files are open.
      chmod(home.state, 0)
      defer { chmod(home.state, 0o700) }
      try await home.mustRun("add", "Milk", "in", "1h")
    }
  }
}
