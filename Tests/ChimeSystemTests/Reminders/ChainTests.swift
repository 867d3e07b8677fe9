import Foundation
import Testing

/// Reminders that follow others, with the real daemon and command.
@Suite(.serialized) struct ChainTests {
  @Test(.timeLimit(.minutes(1)))
  func doneFiresTheFollowerOnceDespiteAKill() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      var daemon = try await home.start()
      let figures = try await home.add("Check the figures", "every 1h")
      let added = try await home.mustRun("add", "Send the report", "after", "done", "of", "Check the figures")
      #expect(added.contains("after done of \"Check the figures\""), "\(added)")
      #expect(added.contains("comes when \"Check the figures\" is done"), "\(added)")
      let later = try await home.add("Ask about the report", "2h after done of Check the figures")
      let report = try await home.answer("io.chime.Reminders.Get", ["id": "Send the report"])["reminder"]
      #expect(report["when"].string == "after done of \(figures)" && report["next"] == .null)
      #expect(report["state"].string == "active" && report["follows"]["title"].string == "Check the figures")

      let list = try await home.mustRun("list")
      #expect(list.contains("waits") && !list.contains("finished"), "\(list)")
      let next = try await home.mustRun("next")
      #expect(next.contains("comes 2h after \"Check the figures\" is done"), "\(next)")
      #expect(try await home.json("next")["awaiting"].elements.count == 2)

      try await home.mustRun("fire", figures)
      try await home.mustRun("done", figures)
      // The answer and its consequences are durable.
      try await daemon.crash()
      daemon = try await home.start()
      let id = report["id"].string ?? ""
      try await eventually("it has fired") { try await home.latestOccurrence(of: id)["firedAt"] != .null }
      let due = try await home.answer("io.chime.Reminders.Get", ["id": .string(later)])["reminder"]["next"]["at"].string
      #expect(due != nil)
      try await daemon.crash()
      daemon = try await home.start()
      let found = try await home.answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(id)]])
      #expect(found["occurrences"].elements.count == 1)
      #expect(
        try await home.answer("io.chime.Reminders.Get", ["id": .string(later)])["reminder"]["next"]["at"].string == due)
      let audit = try await home.json("audit")
      #expect(audit["audits"].elements.allSatisfy { $0["unexplained"].int == 0 }, "\(audit)")
      _ = try await daemon.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func dueReminderWaitsUntilAnotherIsDone() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      var daemon = try await home.start()
      let figures = try await home.add("Check the figures", "every 1h")
      try await home.mustRun(
        "add", "Send the report", "in", "1s", "--only-if-done", "Check the figures", "--grace", "12h")
      func report() async throws -> JSON {
        try await home.answer("io.chime.Reminders.Get", ["id": "Send the report"])["reminder"]
      }
      let id = try await report()["id"].string ?? ""
      try await eventually("its time has come and waits") { try await report()["onlyIfDone"]["since"] != .null }
      #expect(try await report()["next"] == .null)
      let shown = try await home.mustRun("show", id)
      #expect(shown.contains("waits until \"Check the figures\" is done"), "\(shown)")
      #expect(try await home.mustRun("next").contains("waits until \"Check the figures\" is done"))
      // The sentence is broken into lines of the screen's width.
      let why = try await home.mustRun("why", id).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(why.contains("deferred until \"Check the figures\" is done"), "\(why)")
      let removed = try await home.chime("remove", figures, "--yes")
      #expect(removed.status != 0 && removed.err.contains("waits until"), "\(removed.text)")
      let cycle = try await home.chime("edit", figures, "--only-if-done", "Send the report")
      #expect(cycle.err.contains("must not lead back to itself: Check the figures → Send the report"), "\(cycle.text)")
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.latestOccurrence(of: id) == .null)
      try await home.mustRun("fire", figures)
      try await home.mustRun("done", figures)
      try await eventually("it has fired") { try await home.latestOccurrence(of: id)["firedAt"] != .null }
      let audit = try await home.json("audit", id)
      #expect(audit["audits"][0]["unexplained"].int == 0, "\(audit)")
      // The condition survives an export, and can be removed.
      let exported = try await home.mustRun("export")
      #expect(exported.contains("onlyIfDone = \"\(figures)\""), "\(exported)")
      try await home.mustRun("edit", id, "--only-if-done", "")
      #expect(try await report()["onlyIfDone"] == .null)
      _ = try await daemon.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func undoRemovesTheFollowersTime() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      var daemon = try await home.start()
      let figures = try await home.add("Check the figures", "every 1h")
      let later = try await home.add("Ask", "2h after done of \(figures)")
      func next() async throws -> JSON {
        try await home.answer("io.chime.Reminders.Get", ["id": .string(later)])["reminder"]["next"]
      }
      try await home.mustRun("fire", figures)
      try await home.mustRun("done", figures)
      #expect(try await next() != .null)
      try await daemon.crash()
      daemon = try await home.start()
      try await home.mustRun("undo", "--yes")
      #expect(try await next() == .null)
      #expect(try await home.latestOccurrence(of: figures)["state"].string != "done")
      try await home.mustRun("done", figures)
      #expect(try await next() != .null)
      _ = try await daemon.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func impossibleChainsAreRefused() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let first = try await home.add("A", "every 1h")
      _ = try await home.add("B", "after done of A")
      _ = try await home.add("C", "30m after missed of B")
      let cycle = try await home.chime("edit", first, "--when", "after done of C")
      #expect(
        cycle.status == 1 && cycle.err.contains("a chain must not lead back to itself: A → C → B → A"), "\(cycle.text)")
      let itself = try await home.chime("edit", first, "--when", "after done of A")
      #expect(itself.err.contains("A → A"), "\(itself.text)")
      let nobody = try await home.chime("add", "D", "after", "done", "of", "Nobody")
      #expect(nobody.status != 0 && nobody.err.contains("Nobody"), "\(nobody.text)")
      let removed = try await home.chime("remove", first, "--yes")
      #expect(removed.status != 0 && removed.err.contains("\"B\""), "\(removed.text)")
      #expect(removed.err.contains("counts from \"A\""), "\(removed.text)")
      try await home.mustRun("remove", "C", "--yes")
      try await home.mustRun("remove", "B", "--yes")
      try await home.mustRun("remove", first, "--yes")
      _ = try await daemon.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func manifestNamesFollowedRemindersByTitleAndAnExportByID() async throws {
    let set = """
      [[reminder]]
      title = "Send the report"
      when = "30m after done of \\"Check the figures\\""

      [[reminder]]
      title = "Check the figures"
      when = "weekdays at 9:00"

      [[reminder]]
      title = "Close the books"
      when = "weekdays at 17:00"
      onlyIfDone = "Send the report"

      """
    let exported = try await Home.run { home in
      let daemon = try await home.start()
      let file = home.path + "/home.toml"
      try home.write(set, to: file)
      let first = try await home.chime("apply", file)
      #expect(first.err == "3 added, 0 unchanged\n", "\(first.text)")
      let again = try await home.chime("apply", file)
      #expect(again.err == "nothing to change: all 3 match the files\n", "\(again.text)")
      try home.write(set.replacing("\"weekdays at 9:00\"", with: "\"after done of \\\"Send the report\\\"\""), to: file)
      let cycle = try await home.chime("apply", file)
      #expect(
        cycle.status == 1 && cycle.err.contains("must not lead back to itself: Send the report → Check the figures"),
        "\(cycle.text)")
      try home.write(set.replacing("Check the figures\\", with: "Nobody\\"), to: file)
      let nobody = try await home.chime("apply", file)
      #expect(nobody.status == 1 && nobody.err.contains("there is no such reminder"), "\(nobody.text)")
      // A reminder cannot be pruned while another follows it.
      try home.write(String(set.components(separatedBy: "\n\n")[0]), to: file)
      let pruned = try await home.chime("apply", file, "--prune", "--yes")
      #expect(pruned.status != 0, "\(pruned.text)")
      let calendar = try await home.chime("export", "--format", "ics")
      #expect(calendar.err.contains("follows another reminder"), "\(calendar.text)")
      let text = try await home.mustRun("export")
      _ = try await daemon.stop()
      return text
    }
    try await Home.run { home in
      let daemon = try await home.start()
      let file = home.path + "/home.toml"
      try home.write(exported, to: file)
      let applied = try await home.chime("apply", file)
      #expect(applied.status == 0, "\(applied.text)")
      #expect(try await home.mustRun("export") == exported)
      _ = try await daemon.stop()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func whenExplainsAChain() async throws {
    try await Home.run { home in
      let said = try await home.mustRun("when", "30m after done of \"Check the figures\"")
      #expect(said.contains("comes 30m after \"Check the figures\" is done"), "\(said)")
      let json = try await home.json("when", "after missed of backup")
      #expect(json["canonical"].string == "after missed of backup" && json["next"].elements.isEmpty)
    }
  }
}
