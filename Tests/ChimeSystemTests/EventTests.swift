import Foundation
import Testing

/// What endpoints are told besides that reminders fire, and what they take back.
@Suite(.serialized)
struct EventTests {
  /// A list that is kept from events alone.
  private struct KeptList {
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
      default: Issue.record("\(type) is no event of a list")
      }
    }
  }

  private func kept(_ receiver: Receiver) throws -> [String: String] {
    var list = KeptList()
    for request in receiver.requests where request.answered == 204 { try list.take(request) }
    return list.states
  }

  private func known(_ home: Home) async throws -> [String: String] {
    var states: [String: String] = [:]
    for occurrence in try await home.listed("history")["occurrences"].elements {
      let state = occurrence["state"].string ?? ""
      states[occurrence["id"].string ?? ""] = ["fired", "delivered"].contains(state) ? "open" : state
    }
    return states
  }

  private func isTrue(_ receiver: Receiver, _ home: Home, _ count: Int, _ what: String) async throws {
    try await eventually("the list is true after \(what)", within: .seconds(30)) {
      let known = try await known(home)
      return try known.count == count && kept(receiver) == known
    }
  }

  @Test(.timeLimit(.minutes(3)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func aListIsKeptTrueFromEventsAlone() async throws {
    try await Home.live { home in
      let receiver = try await Receiver.start(in: home, answering: [204, 204, 500])
      try home.configure(Home.heard)
      let first = try await home.start()
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      try await home.did(
        "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
        "all", "--events", "fired,repeated,done,snoozed,dismissed,missed,reopened")
      // None of them names the endpoint.
      let tea = try await home.add("Tea", "in 1s", to: ["desktop"])
      let walk = try await home.add("Walk", "in 1s", to: ["desktop"])
      try await isTrue(receiver, home, 2, "firing")
      try await home.did("snooze", tea, "1h")
      try await home.did("done", walk)
      try await isTrue(receiver, home, 2, "answers")
      try await home.did("undo")
      try await isTrue(receiver, home, 2, "an undo")
      #expect(try kept(receiver).values.sorted() == ["open", "snoozed"])
      try await home.did("snooze", tea, "1s")
      try await eventually("it comes again") { try await home.latestOccurrence(of: tea)["rounds"].int == 2 }
      try await isTrue(receiver, home, 2, "a snooze's end")

      // What was answered is told after all, whenever the daemon dies.
      try await home.did("dismiss", tea)
      try await first.crash()
      let second = try await home.start()
      try await isTrue(receiver, home, 2, "a crash")
      let last = try await home.add("Last", "in 1s", to: ["desktop"])
      try await eventually("it fired") { try await known(home).count == 3 }
      try await second.crash()
      _ = try await home.start()
      try await home.did("remove", last)
      try await home.did("fire", walk)
      try await isTrue(receiver, home, 4, "a removal")

      let done = try #require(receiver.requests.first { $0.body["type"].string == "occurrence.done" })
      #expect(done.verdicts == ["ok", "ok"])
      #expect(done.body["data"]["by"].string == "cli" && done.body["data"]["title"].string == "Walk")
      let snoozed = try #require(receiver.requests.first { $0.body["type"].string == "occurrence.snoozed" })
      #expect(snoozed.body["data"]["until"].string?.isEmpty == false)
      // All are of the outbox, and say what they tell.
      func deliveries() async throws -> [JSON] {
        try await home.listed("deliveries", "--to", "list", "--limit", "all")["deliveries"].elements
      }
      // What has arrived is recorded a moment later.
      try await eventually("all are delivered") {
        try await deliveries().allSatisfy { $0["state"].string == "delivered" }
      }
      #expect(try await deliveries().contains { $0["event"].string == "reopened" })
      #expect(try await home.did("deliveries").contains("Walk (reopened)"))
    }
  }

  /// An endpoint that says nothing is told what it always was, and one that wants no firings gets none.
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func anEndpointIsToldWhatItLists() async throws {
    try await Home.live { home in
      let (usual, other) = (try await Receiver.start(in: home), try await Receiver.start(in: home))
      try home.configure(Home.heard)
      _ = try await home.start()
      try await home.addEndpoint("usual", usual)
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      func add(_ more: String...) async throws -> Home.Output {
        try await home.run(
          Machine.chime,
          ["endpoint", "add", "other", other.url, "--secret-file", home.path + "/secret"] + more)
      }
      let unknown = try await add("--events", "done,finished")
      #expect(unknown.status != 0 && unknown.text.contains("--events takes fired"), "\(unknown.text)")
      let strange = try await add("--reminders", "health")
      #expect(strange.status != 0 && strange.text.contains("tag:health"), "\(strange.text)")
      #expect(try await add("--events", "done", "--reminders", "tag:health").status == 0)
      let shown = try await home.did("endpoint", "show", "other")
      #expect(shown.contains("tag:health"), "\(shown)")
      let export = try await home.did("export")
      #expect(export.contains("events = [\"done\"]") && export.contains("reminders = \"tag:health\""), "\(export)")

      try await home.did("in", "1s", "Run", "--tag", "health", "--to", "usual")
      try await home.did("in", "1s", "Call", "--to", "usual")
      try await home.did("in", "1s", "Named", "--to", "usual,other")
      try await eventually("the usual one has three") { usual.requests.count == 3 }
      for title in ["Run", "Call", "Named"] { try await home.did("done", title) }
      try await eventually("the other has two") { other.requests.count == 2 }
      // Nothing else is owed to anybody.
      try await eventually("all is delivered") {
        try await home.listed("deliveries")["deliveries"].elements.allSatisfy { $0["state"].string == "delivered" }
      }
      #expect(other.requests.allSatisfy { $0.body["type"].string == "occurrence.done" })
      #expect(Set(other.requests.compactMap { $0.body["data"]["title"].string }) == ["Run", "Named"])
      #expect(usual.requests.count == 3)
      let mute = try await home.add("Unheard", "in 1h", to: ["other"])
      let status = try await home.chime("status")
      #expect(status.out.contains("is not told when reminders fire") && status.out.contains(mute), "\(status)")
    }
  }

  private func addPhones(_ home: Home, _ server: TopicServer) async throws {
    for name in ["phone", "tablet"] {
      try await home.did(
        "endpoint", "add", name, server.url(name), "--template", "ntfy", "--replies", server.url("answers"))
    }
  }

  private func screens(_ server: TopicServer, _ text: [String], _ what: String) async throws {
    try await eventually("\(what): \(text) on both") {
      server.screen("phone").sorted() == text && server.screen("tablet").sorted() == text
    }
  }

  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func whatIsAnsweredGoesFromEveryScreen() async throws {
    try await Home.live { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhones(home, server)
      // What arrives just as it is answered is taken back once more.
      func recorded() async throws {
        try await eventually("all is delivered") {
          try await home.listed("deliveries", "--limit", "all")["deliveries"].elements.allSatisfy {
            $0["state"].string == "delivered"
          }
        }
      }
      let tea = try await home.add("Tea", "in 1s", to: ["phone", "tablet"])
      let walk = try await home.add("Walk", "in 1s", to: ["phone", "tablet"])
      try await screens(server, ["Tea", "Walk"], "fired")
      try await recorded()
      // By a button of the phone.
      let button = try #require(
        server.messages("phone").first { $0["message"].string == "Tea" }.map { server.buttons($0)[0] })
      try await server.press(button)
      try await screens(server, ["Walk"], "done on the phone")
      #expect(try await home.latestOccurrence(of: tea)["answeredBy"].string == "endpoint:phone")
      // Put off, it goes; it comes again, and goes when it is dismissed.
      try await home.did("snooze", walk, "1s")
      try await eventually("it went") { server.withdrawals("phone") == 2 && server.withdrawals("tablet") == 2 }
      try await screens(server, ["Walk"], "came again")
      try await recorded()
      try await home.did("dismiss", walk)
      try await screens(server, [], "dismissed")
      // A removed one goes too.
      let last = try await home.add("Last", "in 1s", to: ["phone", "tablet"])
      try await screens(server, ["Last"], "fired")
      try await recorded()
      try await home.did("remove", last)
      try await screens(server, [], "removed")
      try await recorded()
      let deliveries = try await home.listed("deliveries", "--limit", "all")["deliveries"].elements
      #expect(deliveries.count { $0["event"].string == "withdrawal" } == 8)
    }
  }

  /// Of what is repeated, the latest alone is on a screen.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func aRepeatTakesThePlaceOfTheOneBefore() async throws {
    try await Home.live { home in
      let server = try await TopicServer.start(in: home)
      _ = try await home.start()
      try await addPhones(home, server)
      try await home.did("in", "1s", "Pill", "--to", "phone,tablet", "--nag", "10s", "--nag-max", "1")
      try await eventually("all have come", within: .seconds(30)) {
        server.messages("phone").count == 2 && server.messages("tablet").count == 2
      }
      try await screens(server, ["Pill"], "repeated")
      try await home.did("done", "Pill")
      try await screens(server, [], "done")
    }
  }

  /// What was answered while the server was away goes when it is there again, also when the daemon has died meanwhile; what
  /// was never sent is not taken back.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("curl"), "needs curl"))
  func aWithdrawalIsOwedLikeAnyMessage() async throws {
    try await Home.live { home in
      let server = try await TopicServer.start(in: home)
      let first = try await home.start()
      try await addPhones(home, server)
      try await home.did("in", "1s", "Tea", "--to", "phone,tablet")
      try await screens(server, ["Tea"], "fired")
      try await server.stop()
      try await home.did("done", "Tea")
      try await first.crash()
      _ = try await home.start()
      try await server.restart()
      try await eventually("it goes", within: .seconds(40)) {
        server.withdrawals("phone") == 1 && server.withdrawals("tablet") == 1
      }
      try await home.did("endpoint", "disable", "phone")
      try await home.did("endpoint", "disable", "tablet")
      try await home.did("in", "1s", "Never", "--to", "phone,tablet")
      try await eventually("it fired") { try await home.listed("history")["occurrences"].elements.count == 2 }
      try await home.did("done", "Never")
      try await home.did("endpoint", "enable", "phone")
      try await home.did("endpoint", "enable", "tablet")
      let owed = try await home.listed("deliveries")["deliveries"].elements.filter {
        $0["title"].string == "Never" && $0["state"].string != "cancelled"
      }
      #expect(owed.isEmpty, "\(owed)")
      #expect(server.messages("phone").isEmpty && server.withdrawals("phone") == 1)
    }
  }
}
