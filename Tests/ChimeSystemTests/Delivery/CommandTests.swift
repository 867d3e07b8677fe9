import Foundation
import Testing

/// Reminders that run programs.
@Suite(.serialized) struct CommandTests {
  /// A program that records its input, and exits as configured.
  private static let script = """
    #!/bin/sh
    cat > "$HOME/input.json"
    echo "$CHIME_DELIVERY $CHIME_ATTEMPT $CHIME_TITLE" >> "$HOME/runs"
    while [ -e "$HOME/hold" ]; do sleep 0.02; done
    echo "noted $CHIME_OCCURRENCE"
    echo "a remark" >&2
    exit "$(cat "$HOME/status" 2>/dev/null || echo 0)"
    """

  private func prepare(_ home: Home, _ more: String = "") throws {
    try home.write(Self.script, to: home.path + "/note", mode: 0o700)
    try home.configure("[commands.note]\nprogram = \"\(home.path)/note\"\ntimeLimit = \"20s\"\n" + more)
  }

  private func runs(_ home: Home) -> [[String]] {
    let text = (try? String(contentsOfFile: home.path + "/runs", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
  }

  private func delivery(_ home: Home, _ state: String) async throws -> JSON {
    try await eventually("the delivery is \(state)") {
      let first = try await home.json("deliveries")["deliveries"][0]
      return first["state"].string == state ? first : nil
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func reminderRunsAProgramAndRecordsTheRun() async throws {
    try await Home.run { home in
      try prepare(home)
      let daemon = try await home.start(environment: ["SECRET_OF_THE_DAEMON": "x"])
      let added = try await home.chime("in", "1s", "Stand up; $(touch pwned)", "--to", "note")
      #expect(added.status == 0 && added.err.isEmpty, "a command is a known channel: \(added.text)")
      let delivery = try await delivery(home, "delivered")
      #expect(runs(home).map { $0[2] } == ["Stand up; $(touch pwned)"])
      #expect(runs(home)[0].prefix(2) == [delivery["id"].string ?? "", "1"])
      let given = try JSON(parsing: String(contentsOfFile: home.path + "/input.json", encoding: .utf8))
      #expect(given["type"].string == "reminder.fired" && given["data"]["channel"].string == "note")
      #expect(given["data"]["title"].string == "Stand up; $(touch pwned)")

      let record = try await home.answer("io.chime.Deliveries.Get", ["id": delivery["id"]])
      let attempt = record["attempts"][0]
      #expect(record["attempts"].elements.count == 1)
      #expect(attempt["outcome"].string == "delivered" && attempt["status"].int == 0)
      let answer = attempt["response"].string ?? ""
      #expect(answer.contains("noted \(delivery["occurrence"].string ?? "?")\n") && answer.contains("a remark\n"))
      #expect(try await home.json("history")["occurrences"][0]["state"].string == "delivered")

      let listed = try await home.json("command", "list")["commands"][0]
      #expect(listed["name"].string == "note" && listed["pending"].int == 0 && listed["running"].int == 0)
      #expect(listed["timeLimit"].string == "PT20S" && listed["overlap"].string == "queue")
      let test = try await home.json("command", "test", "note")["result"]
      #expect(test["ok"].bool == true && test["status"].int == 0)
      #expect(!"\(test["variables"])".contains("SECRET"))
      #expect(runs(home).last?[2] == "A test")
      let refused = try await home.chime(
        "endpoint", "add", "note", "http://127.0.0.1:9/", "--new-secret", home.path + "/s")
      #expect(refused.status == 1 && refused.err.contains("is the name of a command"), "\(refused.text)")
      try await daemon.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func programOfACrashedDaemonRunsAgainWithTheSameID() async throws {
    try await Home.run { home in
      try prepare(home)
      try home.write("", to: home.path + "/hold")
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Held", "--to", "note")
      try await eventually("it runs") { runs(home).count == 1 }
      try await daemon.crash()
      unlink(home.path + "/hold")
      let next = try await home.start()
      let delivery = try await delivery(home, "delivered")
      #expect(runs(home).map { $0[0] } == [delivery["id"].string, delivery["id"].string])
      try await next.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func programEndedByADaemonStopRunsAgain() async throws {
    try await Home.run { home in
      try prepare(home)
      try home.write("", to: home.path + "/hold")
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Held", "--to", "note")
      try await eventually("it runs") { runs(home).count == 1 }
      try await daemon.stopCleanly()
      #expect(try await home.run("pgrep", ["-f", home.path + "/note"]).status == 1, "nothing of it is left")
      unlink(home.path + "/hold")
      let next = try await home.start()
      let delivery = try await delivery(home, "delivered")
      #expect(runs(home).map { $0[0] } == [delivery["id"].string, delivery["id"].string])
      try await next.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func failedProgramIsRetriedAndAReloadStartsWaitingOnes() async throws {
    try await Home.run { home in
      try prepare(home)
      try home.write("3", to: home.path + "/status")
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Failing", "--to", "note")
      // Immediately, then after slightly more than five seconds.
      let waiting = try await eventually("it was tried twice") {
        try await home.deliveries("waiting").first { ($0["attempts"].int ?? 0) >= 2 }
      }
      unlink(home.path + "/status")
      #expect(runs(home).prefix(2).map { $0[1] } == ["1", "2"])
      #expect(waiting["lastResult"].string?.contains("it ended with status 3: a remark") == true, "\(waiting)")
      _ = try await delivery(home, "delivered")

      // A missing program is retried after five minutes, or when the configuration names another.
      try home.configure("[commands.note]\nprogram = \"\(home.path)/gone\"\n")
      daemon.process.send(SIGHUP)
      let added = try await eventually("the new definition is in force") {
        let output = try await home.chime("in", "1s", "Lost", "--to", "note")
        return output.err.contains("cannot be run") ? output : nil
      }
      #expect(added.err.contains("there is no executable program \(home.path)/gone"), "\(added.text)")
      let blocked = try await eventually("it is blocked") {
        try await home.json("deliveries", "--state", "waiting")["deliveries"].elements.first
      }
      if !Sanitizer.forksForVfork {
        #expect(blocked["lastResult"].string?.contains("there is no program") == true, "\(blocked)")
      }
      let check = try await home.run(Machine.chimed, ["--check"])
      #expect(
        check.status == 78 && check.err.contains("commands.note.program: there is no executable program"),
        "\(check.text)")
      try prepare(home)
      daemon.process.send(SIGHUP)
      try await eventually("nothing waits any more") {
        try await home.json("deliveries", "--state", "waiting")["deliveries"].elements.isEmpty
      }
      try await daemon.stopCleanly()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func systemDaemonRunsCommandsOnlyIfEnabled() async throws {
    try await Home.run { home in
      try prepare(home)
      let options = [
        "--system", "--config", home.configuration, "--state-dir", home.state, "--socket", home.socket,
      ]
      let daemon = try await home.start(Machine.chimed, options)
      let added = try await home.chime("in", "1s", "Not yet", "--to", "note")
      #expect(added.err.contains("enabled = true under [commands] in \(home.configuration)"), "\(added.text)")
      let waiting = try await delivery(home, "waiting")
      #expect(waiting["lastResult"].string?.contains("commands are switched off") == true, "\(waiting)")
      #expect(runs(home).isEmpty)
      let test = try await home.chime("command", "test", "note")
      #expect(test.status == 1 && test.err.contains("commands are switched off"), "\(test.text)")
      try prepare(home, "[commands]\nenabled = true\n")
      daemon.process.send(SIGHUP)
      _ = try await delivery(home, "delivered")
      #expect(runs(home).count == 1)
      try await daemon.stopCleanly()
    }
  }
}
