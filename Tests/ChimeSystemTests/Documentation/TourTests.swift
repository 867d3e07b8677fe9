import Foundation
import Testing

/// Every command of the README's tour, as a user would type it.
@Suite(.serialized) struct TourTests {
  @Test(.timeLimit(.minutes(1)))
  func remindersAreAddedShownAndChanged() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let added = try await home.mustRun(
        "add", "Drink water", "every", "90m", "from", "8:00", "to", "22:00")
      #expect(added.contains("every 90m from 08:00 to 22:00"), "the answer says what was understood: \(added)")
      #expect(added.contains("Europe/Prague"), "and in which zone: \(added)")
      try await home.mustRun(
        "add", "Stand-up", "weekdays", "at", "9:25", "--to", "desktop", "--to", "team", "--tz", "Europe/Prague")
      try await home.mustRun("in", "25m", "Tea")
      try await home.mustRun("at", "18:30", "Call home")

      let reminders = try await home.json("list")["reminders"].elements
      #expect(Set(reminders.compactMap { $0["title"].string }) == ["Drink water", "Stand-up", "Tea", "Call home"])
      let standUp = try #require(reminders.first { $0["title"].string == "Stand-up" })
      #expect(standUp["channels"] == ["desktop", "team"])
      #expect(standUp["timezone"].string == "Europe/Prague")
      let id = try #require(standUp["id"].string)

      let coming = try await home.mustRun("next")
      for column in ["NEXT", "LEFT", "LAST", "PASSED", "REMINDER"] { #expect(coming.contains(column)) }
      #expect(try await home.mustRun("show", id).contains("Stand-up"))
      #expect(try await home.mustRun("show", "Stand-up").contains(id), "a title serves as well as an id")

      try await home.mustRun("edit", id, "--title", "Stand-up, standing")
      #expect(try await home.mustRun("show", id).contains("Stand-up, standing"))
      try await home.mustRun("pause", id, "--until", "2099-01-04")
      #expect(try await shown(id, home)["state"].string == "paused")
      try await home.mustRun("resume", id)
      #expect(try await shown(id, home)["state"].string == "active")
      try await home.mustRun("skip", id)
      #expect(try await shown(id, home)["skipNext"].int == 1)
      try await home.mustRun("skip", id, "-n", "0")
      #expect(try await shown(id, home)["skipNext"].int == 0)
      try await home.mustRun("remove", id, "--yes")
      #expect(try await home.json("list")["reminders"].elements.count == 3)
      #expect(try await home.chime("show", id).status == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func firedRemindersAreAnswered() async throws {
    try await Home.run { home in
      _ = try await home.start()
      for (title, answer, state) in [
        ("One", ["done"], "done"), ("Two", ["snooze", "20m"], "snoozed"), ("Three", ["dismiss"], "dismissed"),
      ] {
        let id = try await home.add(title, "in 1s")
        try await eventually("\(title) fires") { try await home.latestOccurrence(of: id) != .null }
        let output = try await home.run(Machine.chime, answer)
        #expect(output.status == 0, "\(output.text)")
        #expect(try await home.latestOccurrence(of: id)["state"].string == state)
      }
      let history = try await home.mustRun("history")
      for title in ["One", "Two", "Three"] { #expect(history.contains(title)) }
      let ended = try await home.json("history")["occurrences"]
      try await home.mustRun("done", "One")
      #expect(try await home.json("history")["occurrences"] == ended, "twice is the same as once")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func everyListingHasJSONAndPlainOutput() async throws {
    try await Home.run { home in
      _ = try await home.start()
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        ["name": "team", "url": "http://127.0.0.1:9/hook", "secret": .string(Receiver.secret)])
      let id = try await home.add("Listed", "in 1s", to: ["desktop", "team"])
      _ = try await home.add("To come", "every 90m from 8:00 to 22:00")
      try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }

      let listings: [([String], String)] = [
        (["list", "--all"], "reminders"), (["history"], "occurrences"), (["deliveries"], "deliveries"),
        (["endpoint", "list"], "endpoints"),
      ]
      for (words, name) in listings {
        let output = try await home.run(Machine.chime, words + ["--json"])
        #expect(output.status == 0, "\(words): \(output.text)")
        #expect(
          try !output.json[name].elements.isEmpty, "\(words): one object with a list named \(name): \(output.out)")
      }
      for words in listings.map(\.0) + [["next"], ["when", "daily at 9:00"], ["status"], ["show", id]] {
        let json = try await home.run(Machine.chime, words + ["--json"])
        // There is no bus here: popups notify nobody, which the status reports.
        let status: Int32 = words == ["status"] ? 1 : 0
        #expect(json.status == status, "\(words) --json: \(json.text)")
        #expect(throws: Never.self, "\(words) --json") { try json.json }
        let plain = try await home.run(Machine.chime, words + ["--plain"])
        #expect(plain.status == status, "\(words) --plain: \(plain.text)")
        let lines = plain.out.split(separator: "\n")
        #expect(!lines.isEmpty)
        #expect(lines.contains { $0.contains("\t") }, "\(words) --plain: \(plain.out)")
        // No box drawing, and no escape sequences.
        #expect(!plain.out.unicodeScalars.contains { (0x2500...0x257F).contains($0.value) || $0.value == 0x1B })
      }
    }
  }

  @Test func schedulesAreExplainedWithoutADaemon() async throws {
    try await Home.run { home in
      let output = try await home.chime("when", "every 45m from 9 to 17 on mon-fri", "-n", "8", "--json")
      #expect(output.status == 0, "\(output.text)")
      #expect("\(try output.json)".contains("every 45m from 09:00 to 17:00 on weekdays"), "\(output.out)")
      let text = try await home.mustRun("when", "every 45m from 9 to 17 on mon-fri", "-n", "8")
      #expect(text.split(separator: "\n").count >= 8)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func watchPrintsEvents() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let watch = try await home.spawn(Machine.chime, ["watch", "--json"])
      // The stream's first reply is an empty list; the daemon's connection count shows the watcher.
      try await eventually("the watcher is connected") {
        try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int ?? 0 >= 2
      }
      try await home.mustRun("in", "1s", "Watched")
      try await eventually("it is seen to fire; so far: \(watch.output) \(watch.errors)") {
        let events = watch.lines.compactMap { try? JSON(parsing: $0) }
        return events.contains { "\($0)".contains("fired") && "\($0)".contains("Watched") }
      }
      let status = try await home.chime("status", "--json")
      #expect(status.out.contains("Europe/Prague"))
      watch.send(SIGINT)
      #expect(try await watch.ended() != .signalled(SIGKILL))
    }
  }

  @Test func commandWithoutADaemonSaysHowToStartOne() async throws {
    try await Home.run { home in
      let output = try await home.chime("list")
      #expect(output.status == 69)
      #expect(output.out.isEmpty)
      #expect(output.err.contains("chimed"), "\(output.err)")
    }
  }

  @Test func misspelledWordsGetTheNearestSuggestion() async throws {
    try await Home.run { home in
      _ = try await home.start()
      _ = try await home.add("Watering", "in 1h")
      let verb = try await home.chime("lsit")
      #expect(verb.status == 64)
      #expect(verb.err.contains("list"))
      let title = try await home.chime("show", "Waterign")
      #expect(title.status == 1)
      #expect(title.err.contains("Watering"), "\(title.err)")
    }
  }

  private func shown(_ id: String, _ home: Home) async throws -> JSON {
    let shown = try await home.json("show", id)
    return shown["reminder"] == .null ? shown : shown["reminder"]
  }
}
