import Foundation
import Testing

/// Answers from a phone through an ntfy topic, which the daemon reads.
@Suite(.serialized, .enabled(if: Machine.has("curl"), "needs curl"))
struct ReplyTests {
  private func addPhone(_ home: Home, _ server: TopicServer, replies: String = "answers", _ more: String...)
    async throws
  {
    let done = try await home.run(
      Machine.chime,
      ["endpoint", "add", "phone", server.url("alerts"), "--template", "ntfy", "--replies", server.url(replies)] + more)
    #expect(done.status == 0, "\(done.text)")
  }

  private func phone(_ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Endpoints.List")["endpoints"][0]
  }

  private func isRead(_ home: Home) async throws {
    try await eventually("answers are read") { try await phone(home)["replies"]["state"].string == "connected" }
  }

  private func message(_ server: TopicServer, _ number: Int = 1) async throws -> JSON {
    try await eventually("the phone has \(number)") {
      let all = server.messages("alerts")
      return all.count >= number ? all[number - 1] : nil
    }
  }

  private func state(_ id: String, _ home: Home) async throws -> String? {
    try await home.latestOccurrence(of: id)["state"].string
  }

  private func count(_ result: String, _ home: Home) async throws -> Int {
    let line = try await home.mustRun("metrics").split(separator: "\n").first {
      $0.hasPrefix("chime_replies_total{result=\"\(result)\"}")
    }
    return Int(line?.split(separator: " ").last ?? "") ?? -1
  }

  @Test(.timeLimit(.minutes(2)))
  func doneOnThePhoneClosesTheReminder() async throws { try await doneOnThePhoneClosesTheReminder(.standIn) }

  func doneOnThePhoneClosesTheReminder(_ kind: TopicServer.Kind) async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(kind, in: home)
      let daemon = try await home.start()
      try await addPhone(home, server)
      try await isRead(home)
      let id = try await home.add("Water, \"cold\"", "in 1s", to: ["phone"])
      let first = try await message(server)
      let buttons = server.buttons(first)
      try #require(buttons.count == 3, "\(first)")
      #expect(buttons.map { $0["label"].string } == ["Done", "Snooze 10 min", "Dismiss"])
      #expect(buttons.allSatisfy { $0["url"].string == server.url("answers") && $0["method"].string == "POST" })
      try await server.press(buttons[0])
      try await eventually("the occurrence is done") { try await state(id, home) == "done" }
      let done = try await home.latestOccurrence(of: id)
      #expect(done["answeredBy"].string == "endpoint:phone")
      let history = try await home.mustRun("history")
      #expect(history.contains("done by endpoint:phone"), "\(history)")

      // A repeated button press and invalid messages change nothing.
      let other = try await home.add("Other", "in 1s", to: ["phone"])
      let second = try await message(server, 2)
      try await server.press(buttons[0])
      try await server.press(buttons[1])
      try await server.send("done", to: server.url("answers"))
      let text = server.buttons(second)[0]["body"].string ?? ""
      try await server.send(String(text.dropLast()) + (text.hasSuffix("A") ? "E" : "A"), to: server.url("answers"))
      try await eventually("all were evaluated") { try await phone(home)["replies"]["refused"].int == 4 }
      #expect(try await state(other, home) != "done")
      #expect(try await state(id, home) == "done")
      #expect(try await count("over", home) == 2)
      #expect(try await count("malformed", home) == 1)
      #expect(try await count("forged", home) == 1)
      #expect(try await count("done", home) == 1)
      // After undo, the same button is refused: its token was used.
      try await home.mustRun("undo")
      try await home.mustRun("undo")
      #expect(try await state(id, home) != "done")
      try await server.press(buttons[0])
      try await eventually("it is refused") { try await count("replayed", home) == 1 }
      #expect(try await state(id, home) != "done")
      #expect(daemon.process.errors.components(separatedBy: "changes nothing").count <= 3, "\(daemon.process.errors)")
      // The recorded responses contain no token.
      let kept = try await home.mustRun("deliveries", "--json")
      #expect(!kept.contains("chact_"), "\(kept)")
      let shown = try await home.mustRun("endpoint", "show", "phone")
      #expect(shown.contains("are read; 1 received") && shown.contains("5 refused"), "\(shown)")
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func snoozeAndDismissWorkOnThePhone() async throws { try await snoozeAndDismissWorkOnThePhone(.standIn) }

  func snoozeAndDismissWorkOnThePhone(_ kind: TopicServer.Kind) async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(kind, in: home)
      _ = try await home.start()
      try await addPhone(home, server)
      try await isRead(home)
      let id = try await home.add("Tea", "in 1s", to: ["phone"])
      let first = server.buttons(try await message(server))
      try await server.press(first[1])
      try await eventually("it is snoozed") { try await state(id, home) == "snoozed" }
      let until = try await home.latestOccurrence(of: id)["snoozedUntil"]["at"].string
      try await server.press(first[1])
      try await eventually("once") { try await count("over", home) == 1 }
      #expect(try await home.latestOccurrence(of: id)["snoozedUntil"]["at"].string == until)
      try await home.mustRun("snooze", id, "1s")
      let second = server.buttons(try await message(server, 2))
      // Buttons of the first round are refused.
      try await server.press(first[0])
      try await eventually("it is refused") { try await count("over", home) == 2 }
      #expect(try await state(id, home) != "done")
      try await server.press(second[2])
      try await eventually("it is dismissed") { try await state(id, home) == "dismissed" }
    }
  }

  /// Answers given without a daemon or a server are applied once when both are back.
  @Test(.timeLimit(.minutes(3)))
  func answersDuringAnOutageAreAppliedOnce() async throws { try await answersDuringAnOutageAreAppliedOnce(.standIn) }

  func answersDuringAnOutageAreAppliedOnce(_ kind: TopicServer.Kind) async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(kind, in: home)
      let first = try await home.start()
      try await addPhone(home, server)
      try await isRead(home)
      try await home.mustRun("expect", "backup", "at 2096-12-01 09:00", "--within", "1h")
      let tokens = try JSON(parsing: try await home.mustRun("expect", "token", "backup", "--json"))
      let ping = tokens["succeeded"].string ?? ""
      #expect(tokens["address"].string == server.url("answers") && tokens["endpoint"].string == "phone")
      func pings() async throws -> Int {
        try await home.answer("io.chime.Expectations.Get", ["id": "backup"])["pings"].elements.count
      }
      var ids: [String] = []
      for number in 1...3 {
        ids.append(try await home.add("Task \(number)", "in 1s", to: ["phone"]))
        _ = try await message(server, number)
      }
      let messages = server.messages("alerts")
      func done(_ id: String) -> JSON? {
        messages.first { message in
          ids.firstIndex(of: id).map { message["message"].string == "Task \($0 + 1)" } ?? false
        }.map { server.buttons($0)[0] }
      }
      try await server.send(ping, to: server.url("answers"))
      try await eventually("the ping is there") { try await pings() == 1 }
      try await server.press(try #require(done(ids[0])))
      try await eventually("the first is done") { try await state(ids[0], home) == "done" }
      try await first.crash()

      // Nobody reads.
      try await server.press(try #require(done(ids[1])))
      try await server.send(ping, to: server.url("answers"))
      try await server.stop()
      let second = try await home.start()
      try await eventually("it is printed") { try await phone(home)["replies"]["state"].string == "retrying" }
      try await server.restart()
      try await eventually("the second is done") { try await state(ids[1], home) == "done" }
      try await eventually("the ping is there") { try await pings() == 2 }
      if kind == .standIn {
        // It resumes after the last answer.
        #expect(
          server.readers("answers").first.map { $0 != "all" && $0 != "none" } == true, "\(server.readers("answers"))")
      }

      // Kill the daemon repeatedly while answers arrive.
      for _ in 1...5 { try await server.send(ping, to: server.url("answers")) }
      try await second.crash()
      let third = try await home.start()
      try await server.press(try #require(done(ids[2])))
      try await eventually("the third is done") { try await state(ids[2], home) == "done" }
      #expect(try await pings() == 7)
      try await third.crash()
      _ = try await home.start()
      try await isRead(home)
      try await server.send(ping, to: server.url("answers"))
      try await eventually("the last ping is there") { try await pings() == 8 }
      #expect(
        try await home.answer("io.chime.Expectations.Get", ["id": "backup"])["pings"][0]["endpoint"].string == "phone")
      #expect(try await count("over", home) == 0)

      // Tokens of a replaced secret are invalid.
      try await home.mustRun("endpoint", "rotate", "phone", "--show", "--overlap", "0s")
      try await server.send(ping, to: server.url("answers"))
      try await eventually("it is refused") { try await count("forged", home) == 1 }
      #expect(try await pings() == 8)
    }
  }

  /// Faulty servers are reported, and cause few connections.
  @Test(
    .timeLimit(.minutes(2)),
    arguments: [
      ("flood", "a line of more than 32 KiB"), ("away", "status 503"), ("moved", "redirects"),
      ("private", "status 403"),
    ])
  func faultyServersAreReportedWithFewConnections(_ topic: String, _ word: String) async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhone(home, server, replies: topic)
      try await eventually("it is printed") {
        try await phone(home)["replies"]["problem"].string?.contains(word) == true
      }
      // A server that opens the stream before its fault is well for that moment.
      try await eventually("the command shows it") {
        try await home.mustRun("endpoint", "show", "phone").contains("cannot be read since")
      }
      try await eventually("doctor finds it") {
        try await home.chime("doctor").text.contains("Chime cannot read answers from phone since")
      }
    }
  }

  /// The endpoint's token gives access to a protected topic on its own server.
  @Test(.timeLimit(.minutes(1)))
  func tokenGivesAccessToAProtectedTopic() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try home.write("tk_reader", to: home.path + "/token")
      try await addPhone(home, server, replies: "private-answers", "--token-file", home.path + "/token")
      try await isRead(home)
      let export = try await home.mustRun("export")
      #expect(export.contains("replies = \"\(server.url("private-answers"))\""), "\(export)")
      try await home.mustRun("endpoint", "edit", "phone", "--reset", "replies")
      try await eventually("nobody reads") { try await phone(home)["replies"] == .null }
      let id = try await home.add("Tea", "in 1s", to: ["phone"])
      #expect(server.buttons(try await message(server)).isEmpty)
      #expect(try await state(id, home) != nil)
      let refused = try await home.chime("endpoint", "edit", "phone", "--replies", server.url("a/b?c"))
      #expect(refused.status != 0 && refused.text.contains("ntfy topic"), "\(refused.text)")
    }
  }

  /// A server that repeats one message endlessly: it is applied once, and no more requests are made than needed.
  @Test(.timeLimit(.minutes(1)))
  func messageRepeatedEndlesslyIsAppliedOnce() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhone(home, server, replies: "parrot")
      try await isRead(home)
      let id = try await home.add("Tea", "in 1s", to: ["phone"])
      try await server.press(server.buttons(try await message(server))[0])
      try await eventually("it is done") { try await state(id, home) == "done" }
      let other = try await home.add("Other", "in 1s", to: ["phone"])
      _ = try await message(server, 2)
      #expect(try await state(other, home) != "done")
      #expect(try await count("done", home) == 1)
    }
  }
}

/// The same tests with a real ntfy server.
@Suite(.serialized, .proof(.ntfy), .enabled(if: TopicServer.real != nil, "needs a server: Tests/Ntfy/run has one"))
struct NtfyTests {
  @Test(.timeLimit(.minutes(3))) func doneOnThePhoneClosesTheReminder() async throws {
    try await ReplyTests().doneOnThePhoneClosesTheReminder(.real)
  }

  @Test(.timeLimit(.minutes(3)))
  func snoozeAndDismissWorkOnThePhone() async throws { try await ReplyTests().snoozeAndDismissWorkOnThePhone(.real) }

  @Test(.timeLimit(.minutes(5)))
  func answersDuringAnOutageAreAppliedOnce() async throws {
    try await ReplyTests().answersDuringAnOutageAreAppliedOnce(.real)
  }

  /// Servers before 2.16 cannot withdraw messages, which is not reported as an error.
  @Test(.timeLimit(.minutes(2))) func missingSupportForWithdrawalsIsNoError() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(.real, in: home)
      let daemon = try await home.start()
      try await home.mustRun("endpoint", "add", "phone", server.url("alerts"), "--template", "ntfy")
      for number in 1...20 {
        let id = try await home.add("Task \(number)", "in 1s", to: ["phone"])
        try await eventually("it is there") { server.messages("alerts").count == number }
        try await home.mustRun("done", id)
      }
      try await eventually("nothing is pending", within: .seconds(60)) {
        try await home.json("deliveries", "--limit", "all")["deliveries"].elements.allSatisfy {
          ["delivered", "cancelled"].contains($0["state"].string)
        }
      }
      #expect(try await home.mustRun("endpoint", "show", "phone").contains("in use"))
      #expect(!daemon.process.errors.contains("<4>\""), "\(daemon.process.errors)")
    }
  }
}
