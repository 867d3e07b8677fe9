import Testing

/// The transport of popups, as in the configuration.
enum Transport: String, CaseIterable, Sendable {
  case program = "notify-send"
  case bus = "dbus"

  var toml: String { "[desktop]\ntransport = \"\(rawValue)\"\n" }
}

/// Both transports, with an independent notification server and simulated button presses.
@Suite(.serialized, .enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"))
struct DesktopTests {
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func doneOnThePopupEndsTheOccurrence(_ transport: Transport) async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(transport.toml)
      _ = try await home.start()
      try await home.mustRun("in", "1s", "Tea is ready")
      let popup = try await desktop.popup(titled: "Tea is ready")
      #expect(desktop.shown[0].contains("done"))
      #expect(desktop.shown[0].contains("snooze"))

      let id = try #require(try await home.json("list", "--all")["reminders"][0]["id"].string)
      try await eventually("the record says that it arrived") {
        try await home.latestOccurrence(of: id)["state"].string == "delivered"
      }
      try await desktop.press("done", on: popup)
      let closed = try await eventually("the occurrence is done") {
        let occurrence = try await home.latestOccurrence(of: id)
        return occurrence["state"].string == "done" ? occurrence : nil
      }
      #expect(closed["endedAt"] != .null)
      #expect(try #require(closed["latenessMs"].int) >= 0)
      #expect(desktop.shown.count == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func doneOnThePopupMovesAScheduleThatCountsFromDone(_ transport: Transport) async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(transport.toml)
      _ = try await home.start()
      let id = try await home.add("Water plants", "every 3 days after done at 9 starting tomorrow")
      func reminder() async throws -> JSON {
        try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]
      }
      let before = try await reminder()
      #expect(before["lastDone"] == .null)
      _ = try await home.answer("io.chime.Occurrences.Fire", ["id": .string(id)])
      try await desktop.press("done", on: desktop.popup(titled: "Water plants"))
      let after = try await eventually("it counts from there") {
        let found = try await reminder()
        return found["lastDone"] == .null ? nil : found
      }
      #expect(after["next"] != before["next"])
      #expect(try await home.latestOccurrence(of: id)["endedAt"]["at"] == after["lastDone"]["at"])
    }
  }

  /// The popup for a collection has buttons for likely items; a click logs one.
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func popupOfACollectionHasAButtonForEachItem(_ transport: Transport) async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(transport.toml)
      _ = try await home.start()
      try await home.mustRun("pack", "add", "watches")
      for title in ["Speedmaster", "Submariner", "Tank", "Casio"] {
        try await home.mustRun("item", "add", "watches", title)
      }
      for (title, day) in [
        ("Tank", "2 days ago"), ("Tank", "3 days ago"), ("Submariner", "4 days ago"), ("Casio", "yesterday"),
      ] {
        try await home.mustRun("log", "watches", title, "--at", day)
      }
      try await home.mustRun("fire", "What is on your wrist today?")
      let popup = try await desktop.popup(titled: "What is on your wrist today?")
      // The body has two lines; `shown` contains the first.
      let shown = try await eventually("all of it is written down") {
        desktop.written.contains("item:") ? desktop.written : nil
      }
      for title in ["Tank", "Casio", "Submariner"] { #expect(shown.contains("\"\(title)\""), "\(shown)") }
      #expect(!shown.contains("\"Speedmaster\""), "it was never worn: \(shown)")
      #expect(shown.contains("chime log watches NAME"), "\(shown)")
      let key = try #require(shown.firstMatch(of: /"(item:submariner[^"]*)"/)).output.1
      try await desktop.invoke(String(key), on: popup)
      let worn = try await eventually("the click has logged the watch") {
        let day = try await home.answer("io.chime.Trackers.Day")["view"]
        let items = day["progress"].elements.first { $0["tracker"]["id"].string == "watches" }?["items"].elements ?? []
        return items.isEmpty ? nil : items.map { $0["id"].string }
      }
      #expect(worn == ["submariner"])
      let record = try await home.json("history")["occurrences"].elements
      #expect(record.contains { $0["state"].string == "done" })
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func snoozeOnThePopupShowsItAgain(_ transport: Transport) async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(transport.toml + "[defaults]\nsnooze = [\"4s\", \"1h\"]\n")
      _ = try await home.start()
      let id = try await home.add("Stretch", "in 1s")
      let first = try await desktop.popup(titled: "Stretch")
      try await desktop.press("snooze", on: first)
      let snoozed = try await eventually("it is snoozed") {
        let occurrence = try await home.latestOccurrence(of: id)
        return occurrence["state"].string == "snoozed" ? occurrence : nil
      }
      #expect(snoozed["snoozedUntil"] != .null)

      let second = try await desktop.popup(titled: "Stretch", number: 2)
      #expect(second != first)
      let again = try await home.latestOccurrence(of: id)
      #expect(again["rounds"].int == 2, "the same occurrence fires again: \(again)")
      try await desktop.press("done", on: second)
      try await eventually("it is done") { try await home.latestOccurrence(of: id)["state"].string == "done" }
      let all = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
      #expect(all["occurrences"].elements.count == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func deliveryWithoutABusWaitsAndCanBeAnswered() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let id = try await home.add("Patience", "in 1s")
      try await eventually("it fires all the same") {
        try await home.latestOccurrence(of: id)["state"].string == "fired"
      }
      let pending = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
      let state = try #require(pending["deliveries"][0]["state"].string)
      #expect(["pending", "waiting"].contains(state))
      // Answered by the command, long before any popup.
      try await home.mustRun("done")
      #expect(try await home.latestOccurrence(of: id)["state"].string == "done")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func reloadOfOtherSettingsKeepsOpenPopups() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.program.toml)
      let daemon = try await home.start()
      let id = try await home.add("Tea", "in 1s")
      let popup = try await desktop.popup(titled: "Tea")
      func waiting() async throws -> String {
        try await home.run("pgrep", ["-P", "\(daemon.process.pid)", "notify-send"]).out
      }
      let program = try await waiting()
      #expect(!program.isEmpty)
      try home.configure(Transport.program.toml + "[webhook]\ntimeout = \"7s\"\n")
      _ = try await home.answer("io.chime.Daemon.Reload")
      #expect(try await waiting() == program)
      try await desktop.press("done", on: popup)
      try await eventually("it is done") { try await home.latestOccurrence(of: id)["state"].string == "done" }
    }
  }
}
