import Foundation
import Testing

/// Events other than firings, and withdrawals.
@Suite(.serialized)
struct EventTests {
  /// A list maintained from events alone.
  private struct ReminderList {
    private(set) var states: [String: String] = [:]
    private var seen: Set<String> = []

    mutating func take(_ request: Receiver.Request) throws {
      guard seen.insert(request.id).inserted else { return }
      let occurrence = try #require(request.body["data"]["occurrence"].string)
      let type = request.body["type"].string ?? ""
      switch type {
      case "reminder.fired", "occurrence.reopened": states[occurrence] = "open"
      case "occurrence.done", "occurrence.snoozed", "occurrence.dismissed", "occurrence.missed":
        states[occurrence] = String(type.dropFirst("occurrence.".count))
      default: Issue.record("\(type) is not an event of a list")
      }
    }
  }

  private func reminderList(_ receiver: Receiver) throws -> [String: String] {
    var list = ReminderList()
    for request in receiver.requests where request.answered == 204 { try list.take(request) }
    return list.states
  }

  private func known(_ home: Home) async throws -> [String: String] {
    var states: [String: String] = [:]
    for occurrence in try await home.json("history")["occurrences"].elements {
      let state = occurrence["state"].string ?? ""
      states[occurrence["id"].string ?? ""] = ["fired", "delivered"].contains(state) ? "open" : state
    }
    return states
  }

  private func isTrue(_ receiver: Receiver, _ home: Home, _ count: Int, _ what: String) async throws {
    try await eventually("the list is true after \(what)", within: .seconds(30)) {
      let known = try await known(home)
      return try known.count == count && reminderList(receiver) == known
    }
  }

  @Test(.timeLimit(.minutes(3)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func receiverMaintainsACorrectListFromEventsAlone() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [204, 204, 500])
      try home.configure(Home.popupStub)
      let first = try await home.start()
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      try await home.mustRun(
        "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
        "all", "--events", "fired,repeated,done,snoozed,dismissed,missed,reopened")
      // Neither reminder names the endpoint as a channel.
      let tea = try await home.add("Tea", "in 1s", to: ["desktop"])
      let walk = try await home.add("Walk", "in 1s", to: ["desktop"])
      try await isTrue(receiver, home, 2, "firing")
      try await home.mustRun("snooze", tea, "1h")
      try await home.mustRun("done", walk)
      try await isTrue(receiver, home, 2, "answers")
      try await home.mustRun("undo")
      try await isTrue(receiver, home, 2, "an undo")
      #expect(try reminderList(receiver).values.sorted() == ["open", "snoozed"])
      try await home.mustRun("snooze", tea, "1s")
      try await eventually("it fires again") { try await home.latestOccurrence(of: tea)["rounds"].int == 2 }
      try await isTrue(receiver, home, 2, "a snooze's end")

      // The event of an answer is delivered even if the daemon crashes.
      try await home.mustRun("dismiss", tea)
      try await first.crash()
      let second = try await home.start()
      try await isTrue(receiver, home, 2, "a crash")
      let last = try await home.add("Last", "in 1s", to: ["desktop"])
      try await eventually("it fired") { try await known(home).count == 3 }
      try await second.crash()
      _ = try await home.start()
      try await home.mustRun("remove", last)
      try await home.mustRun("fire", walk)
      try await isTrue(receiver, home, 4, "a removal")

      let done = try #require(receiver.requests.first { $0.body["type"].string == "occurrence.done" })
      #expect(done.verdicts == ["ok", "ok"])
      #expect(done.body["data"]["by"].string == "cli" && done.body["data"]["title"].string == "Walk")
      let snoozed = try #require(receiver.requests.first { $0.body["type"].string == "occurrence.snoozed" })
      #expect(snoozed.body["data"]["until"].string?.isEmpty == false)
      // All are deliveries of the outbox and name their event.
      func deliveries() async throws -> [JSON] {
        try await home.json("deliveries", "--to", "list", "--limit", "all")["deliveries"].elements
      }
      // A delivery is recorded a moment after its arrival. The removal cancels a message that the crash has left pending.
      try await eventually("all are delivered") {
        try await deliveries().allSatisfy {
          $0["state"].string == "delivered" || $0["reminder"].string == last && $0["state"].string == "cancelled"
        }
      }
      #expect(try await deliveries().contains { $0["event"].string == "reopened" })
      #expect(try await home.mustRun("deliveries").contains("Walk (reopened)"))
    }
  }

  /// An endpoint without an event list gets the default events; one without firings gets none.
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func endpointGetsOnlyTheEventsThatItLists() async throws {
    try await Home.run { home in
      let (usual, other) = (try await Receiver.start(in: home), try await Receiver.start(in: home))
      try home.configure(Home.popupStub)
      _ = try await home.start()
      try await home.addEndpoint("usual", usual)
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      func add(_ more: String...) async throws -> Home.Output {
        try await home.run(
          Machine.chime,
          ["endpoint", "add", "other", other.url, "--secret-file", home.path + "/secret"] + more)
      }
      let unknown = try await add("--events", "done,finished")
      #expect(unknown.status != 0 && unknown.text.contains("--events needs fired"), "\(unknown.text)")
      let strange = try await add("--reminders", "health")
      #expect(strange.status != 0 && strange.text.contains("tag:health"), "\(strange.text)")
      #expect(try await add("--events", "done", "--reminders", "tag:health").status == 0)
      let shown = try await home.mustRun("endpoint", "show", "other")
      #expect(shown.contains("tag:health"), "\(shown)")
      let export = try await home.mustRun("export")
      #expect(export.contains("events = [\"done\"]") && export.contains("reminders = \"tag:health\""), "\(export)")

      try await home.mustRun("in", "1s", "Run", "--tag", "health", "--to", "usual")
      try await home.mustRun("in", "1s", "Call", "--to", "usual")
      try await home.mustRun("in", "1s", "Named", "--to", "usual,other")
      try await eventually("the usual one has three") { usual.requests.count == 3 }
      for title in ["Run", "Call", "Named"] { try await home.mustRun("done", title) }
      try await eventually("the other has two") { other.requests.count == 2 }
      // No other delivery is pending.
      try await eventually("all is delivered") {
        try await home.json("deliveries")["deliveries"].elements.allSatisfy { $0["state"].string == "delivered" }
      }
      #expect(other.requests.allSatisfy { $0.body["type"].string == "occurrence.done" })
      #expect(Set(other.requests.compactMap { $0.body["data"]["title"].string }) == ["Run", "Named"])
      #expect(usual.requests.count == 3)
      let mute = try await home.add("Unheard", "in 1h", to: ["other"])
      let status = try await home.chime("status")
      #expect(status.out.contains("does not receive the event fired") && status.out.contains(mute), "\(status)")
    }
  }

  /// Occurrences and trackers, maintained from their last events.
  private struct CompleteState {
    var open: Set<String> = []
    /// The total of each day of a tracker, and its entries if reported singly.
    var days: [String: Double] = [:]
    var entries: [Int: Double] = [:]
    /// Whether several entries were reported together, so that single ones must be requested.
    var areSeveral = false
    var types: Set<String> = []

    init(_ receiver: Receiver) throws {
      var seen: Set<String> = []
      for request in receiver.requests where request.answered == 204 && seen.insert(request.id).inserted {
        let (type, data) = (request.body["type"].string ?? "", request.body["data"])
        types.insert(type)
        let occurrence = data["occurrence"].string ?? ""
        switch type {
        case "reminder.fired", "occurrence.reopened": open.insert(occurrence)
        case "occurrence.done", "occurrence.snoozed", "occurrence.dismissed", "occurrence.missed":
          open.remove(occurrence)
        case "tracker.logged":
          let facts = data["tracker"]
          days["\(facts["id"].string ?? "") \(facts["day"].string ?? "")"] = facts["reached"].number
          if data["change"].string == "several" { areSeveral = true }
          guard let id = data["entry"]["id"].int else { continue }
          entries[id] = data["change"].string == "removed" ? nil : data["entry"]["value"].number
        case "tracker.goal", "tracker.unlocked", "message.givenUp": break
        default: Issue.record("\(type) is not an event")
        }
      }
    }
  }

  /// All kinds of events through crashes: their receiver ends with the daemon's complete state.
  @Test(.timeLimit(.minutes(3)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func allEventsTogetherGiveTheCompleteState() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [204, 500, 204, 500])
      let gone = try await Receiver.start(in: home, answering: [410])
      try home.configure(Home.popupStub)
      let first = try await home.start()
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      try await home.mustRun(
        "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
        "all", "--events",
        "fired,repeated,done,snoozed,dismissed,missed,reopened,given-up,logged,goal,unlocked")
      try await home.addEndpoint("gone", gone)
      try await home.mustRun("pack", "add", "hydration", "--goal", "1000", "--usual", "250")
      func isTrue(_ what: String) async throws {
        try await eventually("all is known after \(what)", within: .seconds(40)) {
          let kept = try CompleteState(receiver)
          let history = try await home.json("history", "--limit", "all")["occurrences"].elements
          let open = history.filter { ["fired", "delivered"].contains($0["state"].string) }
          let standings = try await home.answer("io.chime.Trackers.Day")["view"]["progress"].elements
          let entries = try await home.json("entry", "list")["entries"].elements
          let amounts = Dictionary(entries.map { ($0["id"].int ?? 0, $0["value"].number ?? -1) }) { $1 }
          let pending = try await home.json("deliveries", "--to", "list", "--limit", "all")["deliveries"].elements
          return kept.open == Set(open.compactMap { $0["id"].string }) && (kept.areSeveral || kept.entries == amounts)
            && pending.allSatisfy { $0["state"].string == "delivered" }
            && standings.allSatisfy { standing in
              let day = "\(standing["tracker"]["id"].string ?? "") \(standing["day"].string ?? "")"
              return kept.days[day] ?? 0 == standing["reached"].number ?? 0
            }
        }
      }
      try await home.mustRun("in", "1s", "Tea", "--to", "desktop,gone")
      try await home.mustRun("in", "1s", "Drink", "--to", "desktop", "--tracker", "water")
      try await eventually("both fired") { try CompleteState(receiver).open.count >= 2 }
      try await home.mustRun("log", "water", "250")
      try await isTrue("an entry that unlocks")
      try await home.mustRun("done", "Drink")
      try await home.mustRun("entry", "edit", "1", "330ml")
      try await isTrue("an answer that logs, and an edit")
      try await home.mustRun("log", "water", "600")
      try await first.crash()
      let second = try await home.start()
      try await isTrue("a goal that is met, and a crash")
      // Its time comes when its goal is already met.
      try await home.mustRun("in", "1s", "Missed", "--tracker", "water", "--quiet-when-done")
      try await eventually("it is missed") { try CompleteState(receiver).types.contains("occurrence.missed") }
      try await home.mustRun("entry", "remove", "1", "--yes")
      try await home.mustRun("undo", "--yes")
      try await home.mustRun("log", "water", "100")
      try await home.mustRun("entry", "remove", "3", "--yes")
      try await second.crash()
      _ = try await home.start()
      try await isTrue("removals, an undo and a crash")
      try await home.mustRun("snooze", "Tea", "1h")
      try await home.mustRun("dismiss", "Tea")
      try await isTrue("the end")
      let types = try CompleteState(receiver).types
      #expect(
        types == [
          "reminder.fired", "occurrence.done", "occurrence.missed", "occurrence.snoozed", "occurrence.dismissed",
          "message.givenUp", "tracker.logged", "tracker.goal", "tracker.unlocked",
        ])
      let told = receiver.requests.filter { $0.body["type"].string == "tracker.logged" }
      #expect(told.first?.verdicts == ["ok", "ok"] && told.first?.body["data"]["by"].string == "cli")
      #expect(told.contains { $0.body["data"]["by"].string == "undo" })
      #expect(try await home.mustRun("deliveries", "--limit", "all").contains("(logged)"))
      let audit = try await home.json("audit")["audits"].elements
      #expect(audit.allSatisfy { $0["unexplained"].int == 0 }, "\(audit)")
    }
  }

  /// Events of a tenant go only to its own endpoints, whatever other endpoints subscribe to.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func tenantsEventsReachOnlyItsOwnEndpoints() async throws {
    try await Home.run { home in
      try home.configure("[tenants.acme]\n[tenants.other]\n" + Home.popupStub)
      _ = try await home.start()
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      // The last owner is the user.
      let owners = ["acme", "other", ""]
      var receivers: [Receiver] = []
      for owner in owners {
        let receiver = try await Receiver.start(in: home)
        receivers.append(receiver)
        try await home.mustRun(
          "--tenant", owner, "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret",
          "--reminders", "all", "--events", "fired,done,logged,goal,unlocked")
      }
      for (owner, receiver) in zip(owners, receivers) {
        try await home.mustRun(
          "--tenant", owner, "tracker", "add", "Water of \(owner).", "--id", "water", "--unit", "ml", "--goal", "100")
        try await home.mustRun("--tenant", owner, "log", "water", "100")
        try await home.mustRun("--tenant", owner, "in", "1s", "Tea of \(owner).", "--to", "list")
        try await eventually("it fired") { receiver.requests.count == 3 }
        try await home.mustRun("--tenant", owner, "done", "Tea of \(owner).")
      }
      try await eventually("nothing is pending for anybody") {
        var states: [String?] = []
        for owner in owners {
          states += try await home.json("--tenant", owner, "deliveries", "--to", "list")["deliveries"].elements.map {
            $0["state"].string
          }
        }
        return states.count >= 12 && states.allSatisfy { $0 == "delivered" }
      }
      for (owner, receiver) in zip(owners, receivers) {
        #expect(
          receiver.requests.compactMap { $0.body["type"].string }.sorted()
            == ["occurrence.done", "reminder.fired", "tracker.goal", "tracker.logged"], "\(owner)")
        for request in receiver.requests {
          let data = request.body["data"]
          let title = data["title"].string ?? ""
          #expect(data["tenant"].string ?? "" == owner && title.contains("of \(owner)."), "\(data)")
        }
      }
    }
  }

  private func addPhones(_ home: Home, _ server: TopicServer) async throws {
    for name in ["phone", "tablet"] {
      try await home.mustRun(
        "endpoint", "add", name, server.url(name), "--template", "ntfy", "--replies", server.url("answers"))
    }
  }

  private func screens(_ server: TopicServer, _ text: [String], _ what: String) async throws {
    try await eventually("\(what): \(text) on both") {
      server.screen("phone").sorted() == text && server.screen("tablet").sorted() == text
    }
  }

  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func answeredReminderIsWithdrawnFromEveryScreen() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhones(home, server)
      // A message that arrives while it is answered is withdrawn once more.
      func recorded() async throws {
        try await eventually("all is delivered") {
          try await home.json("deliveries", "--limit", "all")["deliveries"].elements.allSatisfy {
            $0["state"].string == "delivered"
          }
        }
      }
      let tea = try await home.add("Tea", "in 1s", to: ["phone", "tablet"])
      let walk = try await home.add("Walk", "in 1s", to: ["phone", "tablet"])
      try await screens(server, ["Tea", "Walk"], "fired")
      try await recorded()
      // By a button on the phone.
      let button = try #require(
        server.messages("phone").first { $0["message"].string == "Tea" }.map { server.buttons($0)[0] })
      try await server.press(button)
      try await screens(server, ["Walk"], "done on the phone")
      #expect(try await home.latestOccurrence(of: tea)["answeredBy"].string == "endpoint:phone")
      // A snoozed message is withdrawn; it fires again, and is withdrawn when dismissed.
      try await home.mustRun("snooze", walk, "1s")
      try await eventually("it disappeared") { server.withdrawals("phone") == 2 && server.withdrawals("tablet") == 2 }
      try await screens(server, ["Walk"], "came again")
      try await recorded()
      try await home.mustRun("dismiss", walk)
      try await screens(server, [], "dismissed")
      // A removed reminder is withdrawn too.
      let last = try await home.add("Last", "in 1s", to: ["phone", "tablet"])
      try await screens(server, ["Last"], "fired")
      try await recorded()
      try await home.mustRun("remove", last)
      try await screens(server, [], "removed")
      try await recorded()
      let deliveries = try await home.json("deliveries", "--limit", "all")["deliveries"].elements
      #expect(deliveries.count { $0["event"].string == "withdrawal" } == 8)
    }
  }

  /// Of repeated messages, only the latest stays on a screen.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func repeatReplacesTheEarlierMessage() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhones(home, server)
      try await home.mustRun("in", "1s", "Pill", "--to", "phone,tablet", "--nag", "10s", "--nag-max", "1")
      try await eventually("all have come", within: .seconds(30)) {
        server.messages("phone").count == 2 && server.messages("tablet").count == 2
      }
      try await screens(server, ["Pill"], "repeated")
      try await home.mustRun("done", "Pill")
      try await screens(server, [], "done")
    }
  }

  /// A message answered while the server was away is withdrawn later, even after a crash of the daemon; an unsent
  /// message is not withdrawn.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func withdrawalIsRetriedLikeAnyMessage() async throws {
    try await Home.run { home in
      let server = try await TopicServer.start(in: home)
      let first = try await home.start()
      try await addPhones(home, server)
      try await home.mustRun("in", "1s", "Tea", "--to", "phone,tablet")
      try await screens(server, ["Tea"], "fired")
      try await server.stop()
      try await home.mustRun("done", "Tea")
      try await first.crash()
      _ = try await home.start()
      try await server.restart()
      try await eventually("it disappears", within: .seconds(40)) {
        server.withdrawals("phone") == 1 && server.withdrawals("tablet") == 1
      }
      try await home.mustRun("endpoint", "disable", "phone")
      try await home.mustRun("endpoint", "disable", "tablet")
      try await home.mustRun("in", "1s", "Never", "--to", "phone,tablet")
      try await eventually("it fired") { try await home.json("history")["occurrences"].elements.count == 2 }
      try await home.mustRun("done", "Never")
      try await home.mustRun("endpoint", "enable", "phone")
      try await home.mustRun("endpoint", "enable", "tablet")
      let pending = try await home.json("deliveries")["deliveries"].elements.filter {
        $0["title"].string == "Never" && $0["state"].string != "cancelled"
      }
      #expect(pending.isEmpty, "\(pending)")
      #expect(server.messages("phone").isEmpty && server.withdrawals("phone") == 1)
    }
  }
}

/// Events of several daemons with one database: each is sent once and in order, whichever daemon owns the endpoint's
/// queue. About 20 s.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct FleetEventTests {
  @Test(.timeLimit(.minutes(3))) func eachEventIsSentOnceThoughDaemonsAreKilled() async throws {
    let server = try await PostgresServer.begin()
    let database = try await server.makeDatabase()
    try await Home.run { home in
      try home.configure(
        "[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n" + Home.popupStub)
      func startAnother() async throws -> Daemon {
        try await home.start(
          Machine.chimed, ["--state-dir", home.path + "/other", "--socket", home.runtime + "/other"])
      }
      let receiver = try await Receiver.start(in: home, answering: [204, 500, 204, 500])
      var first = try await home.start()
      try FileManager.default.createDirectory(atPath: home.path + "/other", withIntermediateDirectories: true)
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      try await home.mustRun(
        "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
        "all", "--events", "fired,done,snoozed,dismissed,missed,reopened")
      // Each daemon signs with the secrets in its own folder.
      try FileManager.default.copyItem(atPath: home.state + "/secrets", toPath: home.path + "/other/secrets")
      var other = try await startAnother()
      var ends: [String: String] = [:]
      for round in 1...6 {
        for (number, verb) in [("done", "done"), ("dismiss", "dismissed")].enumerated() {
          let title = "Task \(round).\(number)"
          let id = try await home.add(title, "in 1s")
          try await eventually("\(title) fires", within: .seconds(30)) {
            ["fired", "delivered"].contains(try await home.latestOccurrence(of: id)["state"].string)
          }
          // Alternate between the daemons.
          try await home.mustRun(
            verb.0, id, "--socket", (round + number) % 2 == 0 ? home.socket : home.runtime + "/other")
          ends[title] = "occurrence." + verb.1
        }
        if round % 2 == 0 {
          try await first.crash()
          first = try await home.start()
        } else {
          try await other.crash()
          other = try await startAnother()
        }
      }
      // An occurrence answered before its firing was sent needs no firing event.
      try await eventually("all is told: \(receiver.told)", within: .seconds(60)) {
        receiver.told.count == ends.count
          && receiver.told.allSatisfy { title, types in
            [["reminder.fired", ends[title] ?? ""], [ends[title] ?? ""]].contains(types)
          }
      }
    }
  }
}
