import Foundation
import Testing

/// Repetition (nagging) and quiet hours with the real daemon.
@Suite(.serialized)
struct RepeatAndQuietHoursTests {
  /// One popup, the same after ten seconds with a webhook in addition, and nothing after *done*.
  @Test(.enabled(if: Machine.hasMockBus && Machine.hasClients), .timeLimit(.minutes(1)))
  func unansweredReminderRepeatsAndEscalates() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      try await home.mustRun(
        "in", "1s", "Pills", "--nag", "10s", "--nag-max", "3", "--escalate", "1:team", "--category", "x-chime.health")
      let popup = try await desktop.popup(titled: "Pills")
      #expect(desktop.shown[0].contains("x-chime.health"))
      let id = try #require(try await home.json("list", "--all")["reminders"][0]["id"].string)
      let waiting = try await home.json("show", id)
      #expect(waiting["reminder"]["repeatAt"] != .null)
      #expect(waiting["reminder"]["nag"]["max"].int == 3)
      #expect(receiver.requests.isEmpty)

      let request = try await eventually("the repeat reaches the team", within: .seconds(30)) {
        receiver.requests.first
      }
      #expect(request.body["data"]["repeat"].int == 1)
      #expect(request.body["data"]["round"].int == 2)
      // It replaces the first popup.
      _ = try await desktop.popup(titled: "Pills", number: 2)
      #expect(desktop.shown[1].contains("\"Chime\" \(popup) "), "\(desktop.shown[1])")
      let open = try await home.latestOccurrence(of: id)
      #expect(open["repeats"].int == 1)
      #expect(open["repeatAt"] != .null)
      try await home.mustRun("done", id)
      let done = try await home.latestOccurrence(of: id)
      #expect(done["state"].string == "done")
      #expect(done["repeatAt"] == .null)
      let status = try await home.answer("io.chime.Daemon.Status", [:])
      #expect(status["status"]["nextDue"] == .null, "nothing is armed any more")
    }
  }

  /// A global pause silences all but critical reminders, including new ones. It survives a restart, and ends on request.
  @Test(.timeLimit(.minutes(1)))
  func globalPauseSilencesAllButCriticalReminders() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let before = try await home.add("Laundry", "in 2s")
      // "tomorrow" could begin too early, depending on the hour.
      try await home.mustRun("pause", "--all", "until", "3 days")
      let added = try await home.answer("io.chime.Reminders.Add", ["reminder": ["title": "Tea", "when": "in 1s"]])
      #expect(added["warnings"][0].string?.contains("nothing rings until") == true, "\(added)")
      let loud = try await home.answer(
        "io.chime.Reminders.Add", ["reminder": ["title": "Fire", "when": "in 1s", "urgency": "critical"]])
      #expect(loud["warnings"].elements.isEmpty, "\(loud)")
      let critical = try #require(loud["reminder"]["id"].string)
      try await eventually("critical reminders fire") {
        try await home.latestOccurrence(of: critical)["firedAt"] != .null
      }
      for id in [before, try #require(added["reminder"]["id"].string)] {
        try await eventually("the others are missed") {
          try await home.latestOccurrence(of: id)["missed"].string == "paused"
        }
      }
      try await daemon.crash()
      _ = try await home.start()
      let told = try await home.chime("status").out
      #expect(told.contains("silent") && told.contains("critical reminders ring"), "\(told)")
      let later = try await home.add("Bread", "in 1h")
      let next = try await home.answer("io.chime.Occurrences.Upcoming", [:])["upcoming"]
      #expect(next.elements.first { $0["reminder"].string == later }?["paused"] == true, "\(next)")
      try await home.mustRun("resume", "--all")
      let loudAgain = try await home.add("Rice", "in 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: loudAgain)["firedAt"] != .null }
      #expect(try await home.answer("io.chime.Daemon.Status", [:])["status"]["silence"] == .null)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func globalPauseEndsAtItsTime() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let end = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3)
      _ = try await home.answer("io.chime.Reminders.PauseAll", ["until": .string(end.ISO8601Format())])
      let id = try await home.add("Tick", "every 1s")
      try await eventually("it fires") { try await home.latestOccurrence(of: id)["firedAt"] != .null }
      let record = try await home.record(of: id)
      for one in record {
        let isSilent = try Date(one.at, strategy: .iso8601) < end
        #expect((one.state == "missed") == isSilent, "\(one)")
      }
      #expect(record.contains { $0.state == "missed" })
    }
  }

  /// A reminder is held in quiet hours, shown as held, and fires when a reload removes them.
  @Test(.timeLimit(.minutes(1)))
  func reminderHeldInQuietHoursFiresWhenAReloadRemovesThem() async throws {
    try await Home.run { home in
      let now = Date()
      try home.configure("[quiet]\nhours = [\"\(Self.clock(now - 3_600))-\(Self.clock(now + 7_200))\"]\n")
      let daemon = try await home.start()
      let held = try await home.add("Laundry", "in 1s")
      let loud = try await home.answer(
        "io.chime.Reminders.Add", ["reminder": ["title": "Fire", "when": "in 1s", "urgency": "critical"]])
      let critical = try #require(loud["reminder"]["id"].string)
      try await eventually("critical reminders fire") {
        try await home.latestOccurrence(of: critical)["firedAt"] != .null
      }
      try await eventually("the other is held") {
        try await home.answer("io.chime.Daemon.Status", [:])["status"]["nextTitle"].string == "Laundry"
      }
      #expect(try await home.latestOccurrence(of: held) == .null)
      let shown = try await home.answer("io.chime.Reminders.Get", ["id": .string(held)])["reminder"]
      #expect(shown["held"] != .null)
      #expect(shown["next"]["at"].string?.dropFirst(11).hasPrefix(Self.clock(now + 7_200)) == true, "\(shown)")
      let told = try await home.mustRun("next")
      #expect(told.contains("Laundry (held by quiet hours)"), "\(told)")
      // A restart does not release it.
      _ = try await daemon.stop()
      _ = try await home.start()
      #expect(try await home.latestOccurrence(of: held) == .null)

      try home.configure("[quiet]\nhours = []\n")
      _ = try await home.answer("io.chime.Daemon.Reload", [:])
      let heard = try await eventually("it comes") {
        let occurrence = try await home.latestOccurrence(of: held)
        return occurrence["firedAt"] == .null ? nil : occurrence
      }
      #expect(heard["late"].string == "quiet")
    }
  }

  /// Held reminders follow changes of quiet hours during downtime, and changes of their own rule.
  @Test(.timeLimit(.minutes(1)))
  func heldReminderFollowsChangedQuietHours() async throws {
    try await Home.run { home in
      let now = Date()
      try home.configure("[quiet]\nhours = [\"\(Self.clock(now - 3_600))-\(Self.clock(now + 7_200))\"]\n")
      let daemon = try await home.start()
      let (first, second) = (try await home.add("One", "in 1s"), try await home.add("Two", "in 1s"))
      try await eventually("both are held") {
        let listed = try await home.answer("io.chime.Reminders.List", [:])["reminders"].elements
        let firing = try await home.latestOccurrence(of: second)
        return listed.count == 2 && listed.allSatisfy { $0["held"] != .null } && firing == .null
      }
      try await home.mustRun("edit", "One", "--quiet-rule", "off")
      let edited = try await eventually("the edited one comes") {
        let occurrence = try await home.latestOccurrence(of: first)
        return occurrence["firedAt"] == .null ? nil : occurrence
      }
      #expect(["quiet", nil].contains(edited["late"].string))
      #expect(try await home.latestOccurrence(of: second) == .null)
      _ = try await daemon.stop()
      try home.configure("")
      _ = try await home.start()
      try await eventually("the other comes") { try await home.latestOccurrence(of: second)["firedAt"] != .null }
    }
  }

  /// The examples in the manual are valid.
  @Test(.timeLimit(.minutes(1)))
  func examplesOfTheManualAreAccepted() async throws {
    let page = URL(filePath: Package.folder).appending(path: "docs/reminders.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let toml = try #require(text.split(separator: "```toml\n").dropFirst().first?.split(separator: "```").first)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("    chime add") }
    #expect(lines.count >= 6)
    try await Home.run { home in
      try home.configure(String(toml))
      _ = try await home.start()
      // The tracker and reminders that some examples refer to.
      try await home.mustRun("tracker", "add", "water", "--unit", "ml", "--goal", "2500")
      for title in ["Check the figures", "backup"] { _ = try await home.add(title, "daily at 3:00") }
      for line in lines {
        let told = try await home.run("/bin/sh", ["-c", "chime() { '\(Machine.chime)' \"$@\"; }; \(line)"])
        #expect(told.status == 0, "\(line): \(told.text)")
      }
      let printed = try await home.run(Machine.chimed, ["--print-config"])
      #expect(printed.out.contains(#"hours = ["22:00-07:00", "sat,sun 07:00-09:00"]"#), "\(printed.text)")
    }
  }

  /// Returns the time of day in the home's zone.
  static func clock(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Prague") ?? .gmt
    let parts = calendar.dateComponents([.hour, .minute], from: date)
    func two(_ number: Int?) -> String { (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)" }
    return "\(two(parts.hour)):\(two(parts.minute))"
  }
}
