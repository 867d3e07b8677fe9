import Foundation
import Testing

/// Retries of messages that fail at first.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct OutboxTests {
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"))
  func goneEndpointIsDisabledAndItsOwnerNotified() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [410])
      let desktop = try await home.startMockDesktop()
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      let first = try await home.add("First", "in 1s", to: ["team"])
      _ = try await desktop.popup(titled: #"Webhook "team" is off: it answered 410 Gone"#)
      let dead = try #require(try await home.deliveries("dead").first?["id"].string)
      #expect(try await home.answer("io.chime.Endpoints.List")["endpoints"][0]["disabled"].string != nil)

      // New messages wait without attempts.
      let second = try await home.add("Second", "in 1s", to: ["team"])
      try await eventually("it has fired") { try await home.latestOccurrence(of: second) != .null }
      let waiting = try await home.deliveries("pending")
      #expect(waiting.map { $0["reminder"].string } == [second])
      let told = try await home.mustRun("redeliver", "--to", "team", "--all", "--dry-run")
      #expect(told.contains("1 message would be sent again"), "\(told)")
      #expect(told.contains(dead))

      // After the endpoint is enabled, waiting messages leave at once, and failed ones on request.
      try await home.mustRun("endpoint", "enable", "team")
      try await eventually("the one that waited arrives") { try await home.deliveries("delivered").count == 2 }
      let output = try await home.chime("redeliver", "--to", "team", "--since", "1 hour", "--json")
      #expect(try output.json["count"].int == 1, "\(output.text)")
      try await eventually("the dead one arrives") { try await home.deliveries("dead").isEmpty }
      try await eventually("and is recorded") { try await home.deliveries("delivered").count == 3 }
      #expect(receiver.requests.map(\.answered) == [410, 204, 204])
      #expect(receiver.requests.first?.id == dead)
      #expect(receiver.requests.last?.id == dead, "under the same id")

      // A delivered message is sent again if named by its id; in bulk, only failed ones are, without those answered since.
      try await home.mustRun("redeliver", dead)
      try await eventually("it fires once more") { receiver.requests.count == 4 }
      #expect(receiver.requests.last?.id == dead)
      try await eventually("and is recorded") { try await home.deliveries("delivered").count == 3 }
      #expect(try await home.attempts(of: first).map { $0["number"].int } == [1, 2, 3])
      let nothing = try await home.chime("redeliver", "--all")
      #expect(nothing.status == 0 && nothing.err.contains("No given-up message matches"), "\(nothing.text)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func failingEndpointOpensItsCircuitBreaker() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: Array(repeating: 503, count: 100))
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      for number in 1...20 { _ = try await home.add("Number \(number)", "in 2s", to: ["team"]) }
      let sentence = try await eventually("the status reports the open circuit breaker") { () -> String? in
        let attention = try await home.answer("io.chime.Daemon.Status")["status"]["attention"]
        return attention.elements.compactMap(\.string).first { $0.contains("\"team\" is paused until") }
      }
      #expect(sentence.contains("in a row"))
      let status = try await home.chime("status")
      #expect(status.status == 1 && status.out.contains("is paused until"), "\(status.text)")
      #expect(try await home.mustRun("endpoint", "show", "team").contains("backing off until "))
      let listed = try await home.answer("io.chime.Endpoints.List")["endpoints"][0]
      #expect(listed["backoffUntil"]["at"].string != nil && listed["failingSince"]["at"].string != nil, "\(listed)")
      // Five failures in a row, plus at most the attempts in flight beside the fifth.
      #expect((5...12).contains(receiver.requests.count), "\(receiver.requests.count)")
      try await eventually("all have fired") {
        try await home.answer("io.chime.Daemon.Status")["status"]["pendingDeliveries"].int == 20
      }
      // Untried messages have used no attempt.
      let untried = try await home.deliveries("pending")
      #expect(untried.count >= 8 && untried.allSatisfy { $0["attempts"].int == 0 }, "\(untried.count)")
      // A message that is sent again by hand does not wait for the end of the back-off.
      let before = receiver.requests.count
      try await home.mustRun("redeliver", untried[0]["id"].string ?? "")
      try await eventually("one is tried, and its failure is recorded") {
        let deliveries = try await home.answer("io.chime.Deliveries.List")["deliveries"].elements
        return receiver.requests.count == before + 1
          && deliveries.compactMap { $0["attempts"].int }.reduce(0, +) == before + 1
      }
      let discarded = try await home.mustRun("discard", "--to", "team")
      #expect(discarded.contains("20 messages are given up"), "\(discarded)")
      #expect(try await home.deliveries("cancelled").count == 20)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func orderedEndpointKeepsItsOrderThroughFailures() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [500, 500])
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      try await home.mustRun("endpoint", "edit", "team", "--in-order")
      let titles = ["First", "Second", "Third", "Fourth"]
      for title in titles { _ = try await home.add(title, "in 1s", to: ["team"]) }
      try await eventually("all have fired, and the first has failed twice") {
        let occurrences = try await home.answer("io.chime.Occurrences.List")["occurrences"].elements
        let deliveries = try await home.answer("io.chime.Deliveries.List")["deliveries"].elements
        return occurrences.count == 4 && deliveries.contains { ($0["attempts"].int ?? 0) >= 2 }
      }
      // Otherwise the next attempt is five seconds later.
      try await home.mustRun("endpoint", "enable", "team")
      try await eventually("all arrive") { try await home.deliveries("delivered").count == 4 }
      #expect(receiver.requests.map { $0.body["data"]["title"].string } == ["First", "First"] + titles)
      #expect(receiver.requests.map(\.answered) == [500, 500, 204, 204, 204, 204])
      #expect(Set(receiver.requests.prefix(3).map(\.id)).count == 1)
    }
  }

  /// Five days of failures disable an endpoint only after an hour of running time, which the unit tests of
  /// `Endpoint.after` simulate.
  @Test(.timeLimit(.minutes(1)))
  func endpointIsNotDisabledAfterDaysWithoutADaemon() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: Array(repeating: 500, count: 100))
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("First", "in 1s", to: ["team"])
      try await eventually("it has failed") {
        try await home.deliveries("waiting").contains { ($0["attempts"].int ?? 0) >= 2 }
      }
      _ = try await daemon.stop()
      // Pretend that the first failure was six days ago.
      let moved = try await home.run(
        "sqlite3",
        [
          home.state + "/chime.db",
          "UPDATE endpoint SET failing_since = failing_since - 6 * 86400000 WHERE failing_since IS NOT NULL; SELECT changes()",
        ])
      #expect(moved.out == "1\n", "\(moved.text)")

      let gone = try await Receiver.start(in: home, answering: [500])
      _ = try await home.start()
      let before = try await home.attempts(of: id).count
      try await home.mustRun("endpoint", "edit", "team", "--url", gone.url)
      try await eventually("it has failed once more") {
        let attempts = try await home.attempts(of: id).count
        return gone.requests.count == 1 && attempts > before
      }
      let endpoint = try await home.answer("io.chime.Endpoints.List")["endpoints"][0]
      #expect(endpoint["disabled"] == .null && endpoint["failingSince"]["at"].string != nil, "\(endpoint)")

      try await home.mustRun("endpoint", "enable", "team")
      try await eventually("it arrives") { try await home.deliveries("delivered").count == 1 }
      #expect(gone.requests.map(\.answered) == [500, 204])
      #expect(try await home.answer("io.chime.Endpoints.List")["endpoints"][0]["failingSince"] == .null)
    }
  }

  /// The daemon is killed while it holds claimed messages.
  @Test(.proof(.floods), .timeLimit(.minutes(2)))
  func crashWithClaimedMessagesLosesNothing() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      let count = 1_500
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(identifier: "Europe/Prague")
      format.dateFormat = "'at' yyyy-MM-dd HH:mm:ss"
      let when = format.string(from: Date(timeIntervalSinceNow: 8))
      // In one call: single calls might take too long on a busy machine.
      let drafts = (1...count).map { number -> JSON in
        ["title": .string("Number \(number)"), "when": .string(when), "channels": ["team"]]
      }
      let added = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(drafts)])
      #expect(added["ids"].elements.count == count)
      try await eventually("the flood has begun") { receiver.requests.count >= 20 }
      try await daemon.crash()
      let before = receiver.requests.count
      #expect(before < count, "in the middle of it: \(before)")
      _ = try await home.start()
      try await eventually("all have arrived", within: .seconds(60)) {
        try await home.answer("io.chime.Daemon.Status")["status"]["pendingDeliveries"].int == 0
      }
      let requests = receiver.requests
      #expect(Set(requests.map(\.id)).count == count)
      // Duplicates can be: messages in flight, messages delivered but not yet recorded (a transaction of 512), and
      // those claimed ahead (512 plus 8).
      #expect(requests.count <= count + 2 * 512 + 8, "\(requests.count)")
      // A message recorded as delivered is not sent again, which would add an attempt.
      let listed = try await home.answer("io.chime.Deliveries.List", ["limit": .number(Double(count) * 2)])
      #expect(listed["deliveries"].elements.count == count)
      #expect(listed["deliveries"].elements.allSatisfy { $0["attempts"].int == 1 })
      #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
    }
  }

  /// A reload does not affect what it does not change.
  @Test(.timeLimit(.minutes(1)))
  func reloadOfOtherSettingsAbortsNoAttempt() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, isHeld: true)
      try home.configure("[webhook]\ntimeout = \"50s\"\n")
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("Held", "in 1s", to: ["team"])
      try await eventually("it is in flight") { receiver.requests.count == 1 }
      // Change unrelated settings repeatedly, as an attacker would to keep others' messages from arriving.
      for program in ["true", "false", "true"] {
        try home.configure("[webhook]\ntimeout = \"50s\"\n[desktop]\nprogram = \"\(program)\"\n")
        let before = daemon.notifications.count(of: "READY=1")
        daemon.process.send(SIGHUP)
        try await eventually("it is reloaded") { daemon.notifications.count(of: "READY=1") > before }
      }
      home.releaseReceiver()
      try await eventually("it is delivered") { try await home.latestOccurrence(of: id)["state"].string == "delivered" }
      #expect(receiver.requests.count == 1, "one attempt alone")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func historyIsPrunedToItsLimits() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      for number in 1...4 { _ = try await home.add("Number \(number)", "in 1s") }
      func fired(_ count: Int) async throws -> [JSON] {
        try await eventually("all have fired") { () -> [JSON]? in
          let listed = try await home.answer("io.chime.Occurrences.List")["occurrences"].elements
          return listed.count == count ? listed : nil
        }
      }
      let old = try await fired(4)
      for number in 5...6 { _ = try await home.add("Number \(number)", "in 1s") }
      let unanswered = old[0]["id"]
      for occurrence in try await fired(6) where occurrence["id"] != unanswered {
        try await home.mustRun("dismiss", occurrence["id"].string ?? "")
      }
      try home.configure("[history]\nmaxOccurrences = 2\n")
      daemon.process.send(SIGHUP)
      // Two occurrences are kept, and the unanswered one.
      try await eventually("the oldest are gone") {
        let left = try await home.answer("io.chime.Occurrences.List")["occurrences"].elements
        return left.count == 3 && left.contains { $0["id"] == unanswered }
      }
      try await daemon.stopCleanly()
      let check = try await home.run(
        "sqlite3", [home.state + "/chime.db", "PRAGMA integrity_check; PRAGMA foreign_key_check"])
      #expect(check.out == "ok\n", "\(check.text)")
    }
  }
}
