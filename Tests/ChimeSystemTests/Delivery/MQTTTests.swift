import Foundation
import Testing

/// Topics of a real broker (mosquitto): published messages and answers.
@Suite(.serialized, .enabled(if: Broker.isThere, "needs mosquitto: Packaging/dependencies test"))
struct MQTTTests {
  private func add(_ broker: Broker, in home: Home, _ more: String...) async throws {
    let done = try await home.run(Machine.chime, ["endpoint", "add", "home", broker.url()] + more)
    #expect(done.status == 0, "\(done.text)")
  }

  private func endpoint(_ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Endpoints.List")["endpoints"][0]
  }

  private func isRead(_ home: Home) async throws {
    try await eventually("answers are read", within: .seconds(30)) {
      try await endpoint(home)["replies"]["state"].string == "connected"
    }
  }

  private func state(_ id: String, _ home: Home) async throws -> String? {
    try await home.latestOccurrence(of: id)["state"].string
  }

  private func areDone(_ ids: [String], _ home: Home) async throws -> Bool {
    for id in ids where try await state(id, home) != "done" { return false }
    return true
  }

  private func count(_ result: String, _ home: Home) async throws -> Int {
    let line = try await home.mustRun("metrics").split(separator: "\n").first {
      $0.hasPrefix("chime_replies_total{result=\"\(result)\"}")
    }
    return Int(line?.split(separator: " ").last ?? "") ?? -1
  }

  private func delivery(_ state: String, of title: String? = nil, in home: Home) async throws -> JSON {
    try await eventually("a message is \(state)", within: .seconds(30)) {
      try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first {
        $0["state"].string == state && (title == nil || $0["title"].string == title)
      }
    }
  }

  private func shows(_ title: String?, _ broker: Broker) async throws -> JSON {
    try await eventually("the broker shows \(title ?? "nothing")") {
      let state = broker.state()
      guard state != .null else { return nil }
      return state["newest"]["title"].string == title ? state : nil
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func reminderIsPublishedAndAnsweredOverMQTT() async throws {
    try await Home.run { home in
      let broker = try await Broker.start(in: home)
      _ = try await home.start()
      try await add(broker, in: home, "--events", "fired,repeated,done,snoozed,reopened")
      try await isRead(home)
      try await broker.listen()
      #expect(broker.messages("chime/availability").map(\.payload) == ["online"])
      let discovery = try #require(broker.messages.first { $0.topic.hasPrefix("homeassistant/device/chime-") })
      #expect(discovery.isRetained && discovery.body["components"]["done"]["command_topic"].string == "chime/command")

      let id = try await home.add("Čaj \"silný\"", "in 1s", to: ["home"])
      let first = try await shows("Čaj \"silný\"", broker)
      #expect(first["open"].int == 1 && first["newest"]["reminder"].string == id)
      let event = try #require(broker.messages("chime/event").first)
      let delivered = try await delivery("delivered", in: home)
      #expect(!event.isRetained && event.body["type"].string == "reminder.fired")
      #expect(event.body["id"].string == delivered["id"].string && event.body["data"]["repeat"].int == 0)
      // The newest reminder is on the topic; the earlier one returns when it is done.
      let other = try await home.add("Other", "in 1s", to: ["home"])
      let second = try await shows("Other", broker)
      #expect(second["open"].int == 2)
      try await broker.send(second["done"].string ?? "")
      try await eventually("it is done") { try await state(other, home) == "done" }
      #expect(try await home.latestOccurrence(of: other)["answeredBy"].string == "endpoint:home")
      let third = try await shows("Čaj \"silný\"", broker)
      try await broker.send(third["snooze"].string ?? "")
      try await eventually("it is snoozed") { try await state(id, home) == "snoozed" }
      let none = try await shows(nil, broker)
      #expect(none["open"].int == 0 && none["done"].string == nil)

      // Invalid messages change nothing, and empty ones are ignored.
      for text in [second["done"].string ?? "", "done", "", String(repeating: "x", count: 100_000), "chact_a.b"] {
        try await broker.send(text)
      }
      try await broker.send(third["done"].string ?? "", to: "chime/event")
      try await eventually("all were evaluated") { try await endpoint(home)["replies"]["refused"].int == 4 }
      #expect(try await state(id, home) == "snoozed")
      #expect(try await count("done", home) == 2)

      // Answered locally, it disappears from the topic.
      try await home.mustRun("snooze", id, "1s")
      _ = try await shows("Čaj \"silný\"", broker)
      try await home.mustRun("done", id)
      _ = try await shows(nil, broker)
      try await eventually("all is reported") {
        broker.messages("chime/event").compactMap { $0.body["type"].string }.suffix(2)
          == ["reminder.fired", "occurrence.done"]
      }
      let shown = try await home.mustRun("endpoint", "show", "home")
      #expect(shown.contains("are read; 2 received") && shown.contains("4 refused"), "\(shown)")
      #expect(try await home.mustRun("metrics").contains("transport=\"mqtt\",outcome=\"delivered\"}"))
      let test = try await home.mustRun("endpoint", "test", "home")
      #expect(test.contains("MQTT mqtt://127.0.0.1") && test.contains("chime.test"), "\(test)")
      #expect(broker.messages("chime/availability").map(\.payload) == ["online"])
      #expect(!(try await home.mustRun("deliveries", "--json")).contains("chact_"))

      // A removed endpoint leaves no retained messages.
      try await home.mustRun("endpoint", "remove", "home", "--yes")
      try await eventually("nothing is retained") {
        ["chime/state", "chime/availability", discovery.topic].allSatisfy { broker.messages($0).last?.payload == "" }
      }
    }
  }

  /// Answers given without a daemon or a broker are applied once when both are back; messages due meanwhile arrive.
  @Test(.timeLimit(.minutes(3)))
  func answersDuringAnOutageAreAppliedOnce() async throws {
    try await Home.run { home in
      try home.configure("[webhook]\nconnectTimeout = \"2s\"\n")
      let broker = try await Broker.start(in: home)
      let first = try await home.start()
      try await add(broker, in: home)
      try await isRead(home)
      try await broker.listen()
      var tokens: [String] = []
      var ids: [String] = []
      for number in 1...4 {
        ids.append(try await home.add("Task \(number)", "in 1s", to: ["home"]))
        tokens.append(try await shows("Task \(number)", broker)["done"].string ?? "")
      }
      try await first.crash()
      try await eventually("the broker says so") { broker.messages("chime/availability").last?.payload == "offline" }

      // Nobody reads.
      try await broker.send(tokens[0])
      try await broker.send(tokens[1])
      try await broker.send(tokens[0])
      let second = try await home.start()
      try await eventually("both are done") { try await areDone([ids[0], ids[1]], home) }
      try await isRead(home)
      try await eventually("each once") { try await count("over", home) == 1 }
      #expect(try await count("done", home) == 2)

      // Kill the daemon while answers arrive.
      try await broker.send(tokens[2])
      try await second.crash()
      let third = try await home.start()
      try await eventually("the third is done") { try await state(ids[2], home) == "done" }
      try await isRead(home)
      #expect(try await home.json("history")["occurrences"].elements.count { $0["state"].string == "done" } == 3)

      // The broker is killed and restarts with its data.
      try await broker.stop(SIGKILL)
      let id = try await home.add("Away", "in 1s", to: ["home"])
      // The withdrawal of another may wait too, since the broker was killed.
      let failed = try await delivery("waiting", of: "Away", in: home)
      #expect(failed["lastResult"].string?.contains("onnection refused") == true, "\(failed)")
      try await broker.restart()
      try await home.mustRun("redeliver", failed["id"].string ?? "")
      try await isRead(home)
      let away = try await shows("Away", broker)
      #expect(away["open"].int == 2)
      try await broker.send(away["done"].string ?? "")
      try await broker.send(tokens[3])
      try await eventually("all are done") { try await areDone([id, ids[3]], home) }
      _ = try await shows(nil, broker)
      _ = try await third.stop()
      try await eventually("it has said goodbye") { broker.messages("chime/availability").last?.payload == "offline" }
    }
  }

  /// A wrong password sends nothing; refused permissions are reported without details.
  @Test(.timeLimit(.minutes(2)))
  func brokerLoginUsesTLS() async throws {
    try await Home.run { home in
      let broker = try await Broker.start(in: home, login: "ann:s3cret-password", names: "IP:127.0.0.1")
      let daemon = try await home.start()
      let (file, wrong) = (home.path + "/password", home.path + "/wrong")
      try home.write("s3cret-password\n", to: file)
      try home.write("other-password\n", to: wrong)
      let certificate = broker.certificate ?? ""
      try await add(broker, in: home, "--user", "ann", "--token-file", file, "--ca-file", certificate)
      try await isRead(home)
      try await home.mustRun("endpoint", "test", "home")
      _ = try await home.add("Tea", "in 1s", to: ["home"])
      _ = try await delivery("delivered", in: home)

      func refused(_ sentence: String) async throws {
        let done = try await home.chime("endpoint", "test", "home")
        #expect(done.status == 1 && done.out.contains(sentence), "\(done.text)")
      }
      try await home.mustRun("endpoint", "edit", "home", "--token-file", wrong)
      try await refused("rejects the log-in")
      _ = try await home.add("Later", "in 1s", to: ["home"])
      // Messages in flight are aborted when the connection is renewed.
      try await eventually("the message is refused") {
        try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.contains {
          $0["lastResult"].string?.contains("rejects the log-in") == true
        }
      }
      try await eventually("answers cannot be read") {
        try await endpoint(home)["replies"]["problem"].string?.contains("rejects the log-in") == true
      }
      try await home.mustRun("endpoint", "edit", "home", "--token-file", file, "--reset", "certificates")
      try await refused("self-signed")
      try await home.mustRun(
        "endpoint", "edit", "home", "--ca-file", certificate, "--url", "mqtts://localhost:\(broker.port)/chime")
      try await refused("is for another name than localhost")
      try await home.mustRun("endpoint", "edit", "home", "--url", "mqtt://127.0.0.1:\(broker.port)/chime")
      let plain = try await home.chime("endpoint", "test", "home")
      #expect(plain.status == 1, "\(plain.text)")
      for secret in ["s3cret-password", "other-password"] {
        #expect(!daemon.process.errors.contains(secret) && !daemon.process.output.contains(secret))
        #expect(!(try await home.mustRun("deliveries", "--json")).contains(secret))
        #expect(!(try await home.mustRun("endpoint", "list", "--json")).contains(secret))
      }
    }
  }

  /// A delivery counts only when the broker has acknowledged it.
  @Test(.timeLimit(.minutes(2)))
  func messageRefusedByTheBrokerIsNotDelivered() async throws {
    try await Home.run { home in
      let broker = try await Broker.start(
        in: home, login: "ann:pass", rules: "user ann\ntopic write chime/availability\ntopic read chime/command")
      _ = try await home.start()
      try home.write("pass", to: home.path + "/password")
      try await add(broker, in: home, "--user", "ann", "--token-file", home.path + "/password")
      _ = try await home.add("Tea", "in 1s", to: ["home"])
      let waiting = try await delivery("waiting", in: home)
      #expect(waiting["lastResult"].string?.contains("does not permit it") == true, "\(waiting)")
      try await isRead(home)
    }
  }

  /// A broker without acknowledgments is rejected with a remedy.
  @Test(.timeLimit(.minutes(2)))
  func brokerWithoutAcknowledgmentsIsRefused() async throws {
    try await Home.run { home in
      let broker = try await Broker.start(in: home, qualityUpTo: 0)
      _ = try await home.start()
      try await add(broker, in: home)
      _ = try await home.add("Tea", "in 1s", to: ["home"])
      let waiting = try await delivery("waiting", in: home)
      #expect(waiting["lastResult"].string?.contains("rejects QoS 1") == true, "\(waiting)")
      try await eventually("so it is of answers") {
        try await endpoint(home)["replies"]["problem"].string?.contains("rejects QoS 1") == true
      }
      let test = try await home.chime("endpoint", "test", "home")
      #expect(test.status == 1 && test.text.contains("rejects QoS 1"), "\(test.text)")
    }
  }

  /// Faulty brokers are reported, cause few connections, and delay no other.
  @Test(.timeLimit(.minutes(2)))
  func faultyBrokersDelayNoOther() async throws {
    try await Home.run { home in
      try home.configure("[webhook]\nconnectTimeout = \"2s\"\ntimeout = \"3s\"\n")
      let broker = try await Broker.start(in: home)
      let silent = try Loopback.listen(backlog: 16)
      defer { close(silent.descriptor) }
      let other = try await Receiver.start(in: home)
      _ = try await home.start()
      try await add(broker, in: home)
      for (name, url) in [
        ("silent", "mqtt://127.0.0.1:\(silent.port)"), ("mute", "mqtts://127.0.0.1:\(silent.port)"),
        ("web", "mqtt://127.0.0.1:\(other.port)/a"), ("nobody", "mqtt://no-such-host.invalid"),
      ] {
        try await home.mustRun("endpoint", "add", name, url)
      }
      _ = try await home.add("Tea", "in 1s", to: ["silent", "mute", "web", "nobody", "home"])
      let delivered = try await delivery("delivered", in: home)
      #expect(delivered["channel"].string == "home")
      for (name, sentence) in [
        ("silent", "the broker did not answer within 3s"), ("mute", "the broker did not answer within 3s"),
        ("web", ""), ("nobody", "no-such-host.invalid has no address"),
      ] {
        let waiting = try await eventually("\(name) has failed", within: .seconds(30)) {
          try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first {
            $0["channel"].string == name && $0["state"].string == "waiting"
          }
        }
        #expect(sentence.isEmpty || waiting["lastResult"].string?.contains(sentence) == true, "\(waiting)")
      }
      let doctor = try await home.chime("doctor")
      #expect(doctor.text.contains("Chime cannot read answers from silent since"), "\(doctor.text)")
    }
  }

  /// Contradictory settings are rejected with a remedy; an export can be applied.
  @Test(.timeLimit(.minutes(1)))
  func contradictorySettingsAreRefused() async throws {
    try await Home.run { home in
      _ = try await home.start()
      for (words, sentence) in [
        (["mqtt://broker.lan/a", "--via", "smtps://x.org"], "does not have this"),
        (["mqtt://broker.lan/a", "--replies", "https://ntfy.sh/answers"], "use the endpoint's own topic"),
        (["mqtt://broker.lan/a", "--template", "slack"], "does not have this"),
        (["mqtt://broker.lan/a", "--user", "ann"], "--token-file"),
        (["mqtt://broker.lan/a", "--new-secret", home.path + "/secret"], "not signed"),
        (["mqtt://ann:pw@broker.lan/a"], "--user"), (["mqtt://broker.lan/a/#"], "the prefix of its topics"),
        (["mqtt://broker.lan//a"], "the prefix of its topics"), (["mqtt:broker.lan"], "must begin with mqtts://"),
      ] {
        let done = try await home.run(Machine.chime, ["endpoint", "add", "home"] + words)
        #expect(done.status == 1 && done.err.contains(sentence), "\(words): \(done.text)")
      }
      #expect(try await home.json("endpoint", "list")["endpoints"].elements.isEmpty)
      try await home.mustRun("endpoint", "add", "home", "mqtts://broker.invalid/house/chime", "--reminders", "all")
      try await home.mustRun("endpoint", "rotate", "home")
      let other = try await home.chime("endpoint", "edit", "home", "--url", "https://example.org/")
      #expect(other.status == 1 && other.err.contains("chime endpoint add"), "\(other.text)")
      let exported = try await home.mustRun("export")
      #expect(
        exported.contains("url = \"mqtts://broker.invalid/house/chime\"") && !exported.contains("secretFile"),
        "\(exported)")
      try await home.mustRun("endpoint", "remove", "home", "--yes")
      try home.write(exported, to: home.path + "/set.toml")
      try await home.mustRun("apply", home.path + "/set.toml", "--yes")
      #expect(try await home.mustRun("export") == exported)
    }
  }
}
