import Foundation
import Testing

/// A room with Chime's bot; Ann, who may answer; and Bob, who may not.
struct Room {
  let home: Home
  let server: Homeserver
  let bot: Homeserver.Account
  let ann: Homeserver.Account
  let bob: Homeserver.Account
  let id: String

  static func open(_ kind: Homeserver.Kind, in home: Home) async throws -> Room {
    let server = try await Homeserver.start(kind, in: home)
    let (bot, ann, bob) = (
      try await server.register("chime"), try await server.register("ann"), try await server.register("bob")
    )
    let id = try await server.room(by: ann, inviting: [bot, bob])
    try await server.join(bob, id)
    try home.write(bot.token + "\n", to: home.path + "/token")
    return Room(home: home, server: server, bot: bot, ann: ann, bob: bob, id: id)
  }

  func add(_ more: String..., to room: String? = nil) async throws {
    let done = try await home.run(
      Machine.chime,
      [
        "endpoint", "add", "room", "matrix:roomid/\((room ?? id).dropFirst())", "--via", server.url, "--token-file",
        home.path + "/token",
      ] + (more.isEmpty ? ["--senders", ann.user] : more))
    #expect(done.status == 0, "\(done.text)")
  }

  func endpoint() async throws -> JSON { try await home.answer("io.chime.Endpoints.List")["endpoints"][0] }

  func isRead() async throws {
    try await eventually("answers are read", within: .seconds(60)) {
      try await endpoint()["replies"]["state"].string == "connected"
    }
  }

  /// Waits for the message that begins with a title.
  func message(_ title: String) async throws -> (id: String, text: String) {
    try await eventually("the room has \(title)", within: .seconds(60), every: .milliseconds(100)) {
      try await server.screen(ann, id, by: bot).last { $0.text.hasPrefix(title) }
    }
  }

  func becomes(_ title: String, _ end: String) async throws {
    try await eventually("\(title) becomes \(end)", within: .seconds(60), every: .milliseconds(100)) {
      try await server.screen(ann, id, by: bot).last { $0.text.hasPrefix(title) }?.text.contains(end) == true
    }
  }

  func state(_ reminder: String) async throws -> String? {
    try await home.latestOccurrence(of: reminder)["state"].string
  }

  func isDone(_ reminder: String) async throws {
    try await eventually("it is done", within: .seconds(60)) { try await state(reminder) == "done" }
  }

  func count(_ result: String) async throws -> Int {
    let line = try await home.mustRun("metrics").split(separator: "\n").first {
      $0.hasPrefix("chime_replies_total{result=\"\(result)\"}")
    }
    return Int(line?.split(separator: " ").last ?? "") ?? -1
  }

  static func reminderIsAnsweredInTheRoom(_ kind: Homeserver.Kind) async throws {
    try await Home.run { home in
      let room = try await open(kind, in: home)
      let (server, ann, bob) = (room.server, room.ann, room.bob)
      let daemon = try await home.start()
      try await room.add("--senders", ann.user, "--events", "fired,repeated,reopened")
      try await room.isRead()
      let test = try await home.mustRun("endpoint", "test", "room")
      #expect(
        test.contains("PUT \(server.url)/_matrix/client/v3/rooms/") && test.contains("Bearer <redacted>"), "\(test)")

      let tea = try await home.add("Tea <b>&amp;", "in 1s", to: ["room"])
      let first = try await room.message("Tea <b>&amp;")
      #expect(first.text.contains("✅ Done · 💤 10 min · ❌ Dismiss"), "\(first)")
      let html = try await server.messages(ann, room.id, by: room.bot).last?["content"]["formatted_body"].string
      #expect(html?.hasPrefix("<strong>Tea &lt;b&gt;&amp;amp;</strong>") == true, "\(html ?? "")")
      // Messages from other users are ignored, and so are Ann's unrelated messages.
      try await server.react(bob, room.id, to: first.id, "✅")
      try await server.reply(bob, room.id, to: first.id, "done")
      let chat = try await server.send(ann, room.id, "m.room.message", ["msgtype": "m.text", "body": "done"])
      try await server.react(ann, room.id, to: chat, "✅")
      try await server.react(ann, room.id, to: first.id, "❤️")
      // An unintelligible answer gets one reply, and answers to that reply count.
      try await server.reply(ann, room.id, to: first.id, "maybe next year or so")
      let why = try await room.message("I do not understand that")
      #expect(try await room.state(tea) == "delivered")
      try await server.react(ann, room.id, to: why.id, "👍🏽")
      try await room.isDone(tea)
      #expect(try await home.latestOccurrence(of: tea)["answeredBy"].string == "endpoint:room")
      try await room.becomes("Tea", "✔ done at ")
      #expect(try await room.count("malformed") == 1)
      #expect(try await room.count("done") == 1)
      // Tokens are single-use: after undo the reminder is open again, and old answers do not apply.
      try await home.mustRun("undo")
      _ = try await room.message("Tea <b>&amp;\nwaits for an answer again")

      // An answer in words.
      let plants = try await home.add("Plants", "in 1s", to: ["room"])
      try await server.reply(
        ann, room.id, to: try await room.message("Plants").id, "> <@chime:stand.in> Plants\n\nTomorrow 9:00")
      try await eventually("it is snoozed") { try await room.state(plants) == "snoozed" }
      try await room.becomes("Plants", "💤 until 09:00")
      let until = try await home.latestOccurrence(of: plants)["snoozedUntil"]["at"].string ?? ""
      #expect(until.contains("T09:00:00"), "\(until)")
      let call = try await home.add("Call", "in 1s", to: ["room"])
      let second = try await room.message("Call")
      try await server.reply(ann, room.id, to: second.id, "20m")
      try await eventually("it is snoozed") { try await room.state(call) == "snoozed" }
      // Answers to the former round are refused.
      try await home.mustRun("snooze", call, "1s")
      try await eventually("it fires again", within: .seconds(60), every: .milliseconds(100)) {
        try await server.screen(ann, room.id, by: room.bot).count { $0.text.hasPrefix("Call") } == 2
      }
      try await server.react(ann, room.id, to: second.id, "✅")
      try await eventually("it is refused", within: .seconds(60)) { try await room.count("over") >= 1 }
      try await server.react(ann, room.id, to: try await room.message("Call").id, "❌")
      try await eventually("it is dismissed", within: .seconds(60)) { try await room.state(call) == "dismissed" }
      try await room.becomes("Call", "✖ dismissed at ")

      // Answered elsewhere, a message is redacted; of repeats, only the last stays.
      let bins = try await home.add("Bins", "in 1s", to: ["room"])
      _ = try await room.message("Bins")
      try await home.mustRun("done", bins)
      try await room.becomes("Bins", "✔ done at ")
      #expect(try await home.mustRun("metrics").contains("transport=\"matrix\",outcome=\"delivered\"}"))
      let shown = try await home.mustRun("endpoint", "show", "room")
      #expect(shown.contains("are read; ") && shown.contains(ann.user), "\(shown)")
      for text in [
        daemon.process.errors, daemon.process.output, try await home.mustRun("deliveries", "--json"),
        try await home.mustRun("endpoint", "list", "--json"), try await home.mustRun("export"),
      ] { #expect(!text.contains(room.bot.token)) }
    }
  }

  /// Creates reminders and returns their ids with the events of their messages.
  func tasks(_ count: Int) async throws -> [(id: String, event: String)] {
    var tasks: [(id: String, event: String)] = []
    for number in 1...count {
      let id = try await home.add("Task \(number)", "in 1s", to: ["room"])
      tasks.append((id, try await message("Task \(number)").id))
    }
    return tasks
  }

  /// Answers given without a daemon, or while it is killed, are applied once; a gap in a long sync response is fetched.
  static func answersDuringACrashAreAppliedOnce(_ kind: Homeserver.Kind) async throws {
    try await Home.run { home in
      let room = try await open(kind, in: home)
      let first = try await home.start()
      try await room.add()
      try await room.isRead()
      let tasks = try await room.tasks(3)
      try await first.crash()
      try await room.server.react(room.ann, room.id, to: tasks[0].event, "✅")
      for _ in 0..<120 {
        try await room.server.send(room.ann, room.id, "m.room.message", ["msgtype": "m.text", "body": "chat"])
      }
      try await room.server.reply(room.ann, room.id, to: tasks[1].event, "done")
      let second = try await home.start()
      try await room.isDone(tasks[0].id)
      try await room.isDone(tasks[1].id)
      try await room.isRead()

      // Kill the daemon while an answer arrives.
      try await room.server.react(room.ann, room.id, to: tasks[2].event, "✅")
      try await second.crash()
      let third = try await home.start()
      try await room.isDone(tasks[2].id)
      try await room.isRead()
      let done = try await home.json("history")["occurrences"].elements.count { $0["state"].string == "done" }
      #expect(done == 3)

      // An undone answer is not applied again, although the room still contains it.
      try await home.mustRun("undo")
      _ = try await third.stop()
      _ = try await home.start()
      try await room.isRead()
      #expect(try await room.state(tasks[2].id) == "delivered")
    }
  }

  /// The server goes away and returns; nothing is sent twice.
  static func serverOutageSendsNothingTwice(_ kind: Homeserver.Kind) async throws {
    try await Home.run { home in
      let room = try await open(kind, in: home)
      _ = try await home.start()
      try await room.add()
      try await room.isRead()
      let tasks = try await room.tasks(2)
      try await room.server.stop()
      try await eventually("answers cannot be read", within: .seconds(60)) {
        try await room.endpoint()["replies"]["problem"].string != nil
      }
      try await room.server.restart()
      try await room.isRead()
      try await room.server.reply(room.ann, room.id, to: tasks[0].event, "Done!")
      try await room.server.react(room.ann, room.id, to: tasks[1].event, "✅")
      for task in tasks { try await room.isDone(task.id) }
      let sent = try await room.server.messages(room.ann, room.id, by: room.bot).filter {
        $0["content"]["m.relates_to"] == .null
      }
      #expect(sent.count == 2, "\(sent)")
    }
  }

  static func unusableRoomsAreRefused(_ kind: Homeserver.Kind) async throws {
    try await Home.run { home in
      let room = try await open(kind, in: home)
      let (server, ann, bot) = (room.server, room.ann, room.bot)
      _ = try await home.start()
      func refused(_ sentence: String) async throws {
        let done = try await home.chime("endpoint", "test", "room")
        #expect(done.status == 1 && done.text.contains(sentence), "\(done.text)")
      }
      let secret = try await server.room(by: ann, inviting: [bot], isEncrypted: true)
      try await room.add(to: secret)
      try await refused("the room is encrypted")
      try await eventually("it is printed", within: .seconds(60)) {
        try await room.endpoint()["replies"]["problem"].string?.contains("encrypted") == true
      }
      let alone = try await server.room(by: ann)
      try await room.add(to: alone)
      try await refused("is not in the room: invite it there")
      try home.write("wrong", to: home.path + "/token")
      try await room.add()
      try await refused("rejects the access token")
      try home.write(bot.token, to: home.path + "/token")
      // Without authorized users there are no answers, but all messages are sent.
      try await room.add("--events", "fired")
      try await home.mustRun("endpoint", "test", "room")
      let tea = try await home.add("Tea", "in 1s", to: ["room"])
      let message = try await room.message("Tea")
      #expect(message.text == "Tea")
      try await server.react(ann, room.id, to: message.id, "✅")
      #expect(try await room.endpoint()["replies"] == .null)
      #expect(try await room.state(tea) == "delivered")
    }
  }
}

/// Rooms of a stand-in homeserver.
@Suite(.serialized, .enabled(if: Machine.has("curl"), "needs curl"))
struct MatrixTests {
  @Test(.timeLimit(.minutes(3))) func reminderIsAnsweredInTheRoom() async throws {
    try await Room.reminderIsAnsweredInTheRoom(.standIn)
  }
  @Test(.timeLimit(.minutes(3))) func answersDuringACrashAreAppliedOnce() async throws {
    try await Room.answersDuringACrashAreAppliedOnce(.standIn)
  }
  @Test(.timeLimit(.minutes(3))) func serverOutageSendsNothingTwice() async throws {
    try await Room.serverOutageSendsNothingTwice(.standIn)
  }
  @Test(.timeLimit(.minutes(2))) func unusableRoomsAreRefused() async throws {
    try await Room.unusableRoomsAreRefused(.standIn)
  }

  /// A message whose response was lost is sent once; a rate limit delays; a permanent refusal fails.
  @Test(.timeLimit(.minutes(2)))
  func messageWithALostResponseIsSentOnce() async throws {
    try await Home.run { home in
      let room = try await Room.open(.standIn, in: home)
      let (server, ann) = (room.server, room.ann)
      _ = try await home.start()
      try await room.add()
      try await room.isRead()
      for (mode, title) in [("lost", "Lost"), ("often", "Often")] {
        try await server.misbehave(send: mode)
        _ = try await home.add(title, "in 1s", to: ["room"])
        _ = try await room.message(title)
        let waiting = try await eventually("it is there", within: .seconds(60)) {
          try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first { $0["attempts"].int ?? 0 > 0 }
        }
        try await home.mustRun("redeliver", waiting["id"].string ?? "")
        try await eventually("it is delivered", within: .seconds(60)) {
          try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.allSatisfy {
            $0["state"].string == "delivered"
          }
        }
        #expect(try await server.screen(ann, room.id, by: room.bot).count { $0.text.hasPrefix(title) } == 1)
      }
      try await server.misbehave(send: "large")
      _ = try await home.add("Large", "in 1s", to: ["room"])
      let dead = try await eventually("it fails for good", within: .seconds(60)) {
        try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first { $0["state"].string == "dead" }
      }
      #expect(dead["lastResult"].string?.contains("413 M_TOO_LARGE") == true, "\(dead)")
    }
  }

  /// Faulty servers are reported, and answers given meanwhile are applied after recovery.
  @Test(
    .timeLimit(.minutes(2)),
    arguments: [
      ("flood", "the server sends too much"), ("nonsense", "is not Matrix"), ("parrot", ""),
      ("refuse", "rejects the access token"),
      ("away", "answered 503"), ("often", "429 M_LIMIT_EXCEEDED"), ("hang", "imed out"),
    ])
  func faultyServersAreReportedAndRecoveredFrom(_ mode: String, _ sentence: String) async throws {
    try await Home.run { home in
      try home.configure("[webhook]\nconnectTimeout = \"1s\"\ntimeout = \"2s\"\n")
      let room = try await Room.open(.standIn, in: home)
      let server = room.server
      _ = try await home.start()
      try await room.add()
      try await room.isRead()
      let id = try await home.add("Tea", "in 1s", to: ["room"])
      let message = try await room.message("Tea")
      try await server.misbehave(sync: mode)
      if mode == "parrot" {
        // It repeats the answer again and again, which is applied once.
        try await server.react(room.ann, room.id, to: message.id, "✅")
        try await room.isDone(id)
        try await eventually("it has reached its limit", within: .seconds(60)) {
          try await room.endpoint()["replies"]["problem"].string?.contains("answers too often") == true
        }
      } else {
        // The edit makes the daemon renew its request. The open one, which began before, would bring the answer.
        try await home.mustRun("endpoint", "edit", "room", "--concurrency", "2")
        try await eventually("it is printed", within: .seconds(60)) {
          try await room.endpoint()["replies"]["problem"].string?.contains(sentence) == true
        }
        try await server.react(room.ann, room.id, to: message.id, "✅")
        #expect(try await room.state(id) == "delivered")
      }
      // Sending works meanwhile.
      let other = try await home.add("Other", "in 1s", to: ["room"])
      let second = try await room.message("Other")
      try await server.misbehave()
      try await room.isRead()
      try await server.react(room.ann, room.id, to: second.id, "✅")
      try await room.isDone(id)
      try await room.isDone(other)
      #expect(try await room.count("done") == 2)
    }
  }

  /// An idle connection has one open request, and only if answers are enabled.
  @Test(.timeLimit(.minutes(1)))
  func idleConnectionHasOneOpenRequest() async throws {
    try await Home.run { home in
      let room = try await Room.open(.standIn, in: home)
      _ = try await home.start()
      try await room.add()
      try await room.isRead()
      let held = try await eventually("one is held") { room.server.requests("/sync").dropFirst().first }
      #expect(held["query"]["timeout"].string == "50000" && held["query"]["set_presence"].string == "offline")
      for number in 1...20 {
        try await room.server.send(
          room.bob, room.id, "m.room.message", ["msgtype": "m.text", "body": .string("\(number)")])
      }
      #expect(room.server.requests("/sync").count == 2)
    }
  }

  /// Contradictory settings are rejected with a remedy; an export can be applied.
  @Test(.timeLimit(.minutes(1)))
  func contradictorySettingsAreRefused() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try home.write("tk_secret", to: home.path + "/token")
      let token = ["--token-file", home.path + "/token"]
      let via = ["--via", "https://matrix.invalid"]
      for (words, sentence) in [
        (["matrix:roomid/a:b.org"] + token, "--via"), (["matrix:roomid/a:b.org"] + via, "--token-file"),
        (["matrix:roomid/a:b.org", "--via", "smtps://b.org"] + token, "the homeserver"),
        (["matrix:r/alias:b.org"] + via + token, "alias"), (["matrix:b.org"] + via + token, "names no room"),
        (["matrix:roomid/a:b.org?via=c"] + via + token, "nothing after it"),
        (["matrix:roomid/a:b.org", "--senders", "ann"] + via + token, "not a Matrix user"),
        (
          ["matrix:roomid/a:b.org", "--replies", "https://ntfy.sh/a"] + via + token,
          "reads answers from the room itself"
        ),
        (["matrix:roomid/a:b.org", "--user", "ann"] + via + token, "the access token alone"),
        (["matrix:roomid/a:b.org", "--template", "slack"] + via + token, "does not have this"),
        (["matrix:roomid/a:b.org", "--new-secret", home.path + "/secret"] + via + token, "not signed"),
        (["matrix:roomid/a:b.org", "--via", "https://b.org/_matrix/client"] + token, "must end with its host"),
        (["https://b.org/", "--senders", "@a:b.org", "--template", "slack"], "only a Matrix room"),
        (["mailto:a@b.org", "--via", "https://b.org", "--from", "a@b.org"], "smtps://mail.example.org"),
      ] {
        let done = try await home.run(Machine.chime, ["endpoint", "add", "room"] + words)
        #expect(done.status == 1 && done.err.contains(sentence), "\(words): \(done.text)")
      }
      #expect(try await home.json("endpoint", "list")["endpoints"].elements.isEmpty)
      let done = try await home.run(
        Machine.chime,
        ["endpoint", "add", "room", "matrix:!a:b.org", "--senders", "@ann:b.org,@bob:b.org"] + via + token)
      #expect(done.status == 0, "\(done.text)")
      let rotated = try await home.chime("endpoint", "rotate", "room")
      #expect(rotated.status == 1 && rotated.err.contains("--token-file"), "\(rotated.text)")
      let exported = try await home.mustRun("export")
      #expect(
        exported.contains("senders = [\"@ann:b.org\", \"@bob:b.org\"]") && !exported.contains("tk_secret"),
        "\(exported)")
      try await home.mustRun("endpoint", "edit", "room", "--reset", "senders")
      #expect(try await home.json("endpoint", "list")["endpoints"][0]["replies"] == .null)
      try home.write(exported, to: home.path + "/set.toml")
      try await home.mustRun("apply", home.path + "/set.toml", "--yes")
      #expect(try await home.mustRun("export") == exported)
    }
  }
}

/// The same tests with Synapse.
@Suite(
  .serialized, .proof(.matrix), .enabled(if: Homeserver.synapse != nil, "needs Synapse: Tests/Matrix/run installs it"))
struct SynapseTests {
  @Test(.timeLimit(.minutes(5))) func reminderIsAnsweredInTheRoom() async throws {
    try await Room.reminderIsAnsweredInTheRoom(.synapse)
  }
  @Test(.timeLimit(.minutes(5))) func answersDuringACrashAreAppliedOnce() async throws {
    try await Room.answersDuringACrashAreAppliedOnce(.synapse)
  }
  @Test(.timeLimit(.minutes(5))) func serverOutageSendsNothingTwice() async throws {
    try await Room.serverOutageSendsNothingTwice(.synapse)
  }
  @Test(.timeLimit(.minutes(5))) func unusableRoomsAreRefused() async throws {
    try await Room.unusableRoomsAreRefused(.synapse)
  }
}
