import Foundation
import Glibc
import Testing

/// Webhooks over HTTP, checked by two independent verifiers.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct WebhookTests {
  @Test(.timeLimit(.minutes(1)))
  func signatureIsAcceptedByIndependentVerifiers() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try home.write(Receiver.secret + "\n", to: home.path + "/secret")
      try await home.mustRun("endpoint", "add", "team", receiver.url, "--secret-file", home.path + "/secret")
      try await home.mustRun("in", "1s", "Stand-up", "--to", "team")
      let request = try await eventually("the receiver gets it") { receiver.requests.first }
      #expect(request.verdicts == ["ok", "ok"])
      #expect(request.answered == 204)
      #expect(request.id.hasPrefix("msg_"))
      #expect(request.headers["content-type"].string?.hasPrefix("application/json") == true)
      #expect(request.body["type"].string?.isEmpty == false)
      #expect(request.body["timestamp"].string?.isEmpty == false)
      #expect("\(request.body["data"])".contains("Stand-up"))

      let delivery = try await eventually("the record says that it arrived") {
        let first = try await home.json("deliveries")["deliveries"][0]
        return first["state"].string == "delivered" ? first : nil
      }
      #expect(delivery["id"].string == request.id)
      #expect(delivery["attempts"].int == 1)
      #expect(receiver.requests.count == 1)
    }
  }

  /// A firing begins a moment ahead, and nothing leaves before its second: neither a message nor its record.
  @Test(.timeLimit(.minutes(1)))
  func nothingLeavesBeforeItsSecond() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      for seconds in 2...4 { _ = try await home.add("Tea \(seconds)", "in \(seconds)s", to: ["team"]) }
      try await eventually("three messages arrive") { receiver.requests.count >= 3 }
      for request in receiver.requests {
        let due = try #require(request.body["data"]["scheduledAt"].string)
        let sent = try #require(request.headers["webhook-timestamp"].string.flatMap(Double.init))
        let time = try Date(due, strategy: .iso8601).timeIntervalSince1970
        #expect(sent >= time && request.at >= time, "\(due)")
        #expect(request.verdicts == ["ok", "ok"])
      }
      let listed = try await home.answer("io.chime.Occurrences.List")["occurrences"].elements
      #expect(listed.count == 3)
      for occurrence in listed {
        #expect(try #require(occurrence["firedAt"]["at"].string) >= occurrence["scheduledAt"]["at"].string ?? "~")
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func failedMessageIsSentAgainWithTheSameID() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [500, 503])
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("Stubborn", "in 1s", to: ["team"])
      // Immediately, then after slightly more than five seconds.
      try await eventually("the third attempt arrives", within: .seconds(30)) { receiver.requests.count >= 3 }
      let requests = receiver.requests
      #expect(Set(requests.map(\.id)).count == 1, "one id for all attempts")
      #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
      #expect(requests.map(\.answered) == [500, 503, 204])

      let delivery = try await eventually("the record says that it arrived") {
        let listed = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])
        let first = listed["deliveries"][0]
        return first["state"].string == "delivered" ? first : nil
      }
      #expect(delivery["attempts"].int == 3)
      let record = try await home.answer("io.chime.Deliveries.Get", ["id": delivery["id"]])
      #expect(record["attempts"].elements.map { $0["status"].int } == [500, 503, 204])
      #expect(record["attempts"].elements.map { $0["outcome"].string } == ["failed", "failed", "delivered"])
      #expect(record["attempts"].elements.map { $0["number"].int } == [1, 2, 3])
    }
  }

  /// Redirects do not open the circuit breaker; once the endpoint accepts a message, those that have waited for minutes
  /// leave at once.
  @Test(.timeLimit(.minutes(1)))
  func waitingMessagesLeaveWhenTheEndpointRecovers() async throws {
    try await Home.run { home in
      let count = 12
      let receiver = try await Receiver.start(in: home, answering: Array(repeating: 302, count: 3 * count))
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      for number in 1...count { _ = try await home.add("Early \(number)", "in 1s", to: ["team"]) }
      // Each is tried twice, and again after five seconds; the next attempt would be five minutes later.
      try await eventually("all have been refused three times", within: .seconds(30)) {
        receiver.requests.count { $0.answered == 302 } == 3 * count
      }
      _ = try await home.add("Late", "in 1s", to: ["team"])
      try await eventually("all have arrived") { receiver.requests.count { $0.answered == 204 } == count + 1 }
      #expect(Set(receiver.requests.map(\.id)).count == count + 1)
      try await eventually("all are delivered") { try await home.deliveries("delivered").count == count + 1 }
    }
  }

  /// Messages that could not be signed leave when the secret file is back.
  @Test(.timeLimit(.minutes(1)))
  func restoredSecretFileReleasesWaitingMessages() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let first = try await home.start()
      try await home.addEndpoint("team", receiver)
      _ = try await first.stop()
      let (secrets, away) = (home.state + "/secrets", home.state + "/away")
      try FileManager.default.moveItem(atPath: secrets, toPath: away)
      let daemon = try await home.start()
      let tea = try await home.add("Tea", "in 1s", to: ["team"])
      let waiting = try await eventually("it waits") {
        try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first {
          $0["state"].string == "waiting"
        }
      }
      #expect("\(waiting)".contains("has no readable secret"), "\(waiting)")
      // The status reports the fault with a remedy.
      let status = try await home.chime("status")
      #expect(status.status == 1 && status.out.contains("Chime cannot send to endpoint team"), "\(status)")
      let doctor = try await home.chime("doctor")
      #expect(doctor.out.contains("Chime cannot send to team"), "\(doctor)")
      #expect(receiver.requests.isEmpty)
      try FileManager.default.moveItem(atPath: away, toPath: secrets)
      daemon.process.send(SIGHUP)
      try await eventually("it arrives") { receiver.requests.count == 1 }
      try await eventually("it is delivered") {
        try await home.latestOccurrence(of: tea)["state"].string == "delivered"
      }
      let well = try await home.chime("status")
      #expect(!well.out.contains("nothing can be sent"), "\(well)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func testMessageShowsTheRequestWithoutTheSecret() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      let output = try await home.chime("endpoint", "test", "team", "--json")
      #expect(output.status == 0, "\(output.text)")
      #expect(receiver.requests.map(\.verdicts) == [["ok", "ok"]])
      let told =
        output.text + (try await home.mustRun("endpoint", "list"))
        + (try await home.mustRun("endpoint", "list", "--json"))
      let bare = String(Receiver.secret.dropFirst("whsec_".count))
      #expect(!told.contains(bare))
      #expect(!daemon.process.errors.contains(bare))
      _ = try await daemon.stop()
      // The secret is in one file, readable only by its owner, and not in the store.
      let files = try await home.run("grep", ["-rlF", bare, home.state])
      let holders = files.out.split(separator: "\n").map(String.init)
      #expect(holders.count == 1, "\(holders)")
      for holder in holders {
        let attributes = try FileManager.default.attributesOfItem(atPath: holder)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func unreachableEndpointDelaysNoOther() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try await home.addEndpoint("here", receiver)
      // Port 9 of the loopback, where nobody listens.
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        ["name": "away", "url": "http://127.0.0.1:9/hook", "secret": .string(Receiver.secret)])
      let id = try await home.add("Both", "in 1s", to: ["away", "here"])
      try await eventually("the other one arrives") { receiver.requests.count == 1 }
      let waiting = try await eventually("the first one waits for its next attempt") {
        let listed = try await home.answer(
          "io.chime.Deliveries.List", ["filter": ["reminder": .string(id), "channel": "away"]])
        let first = listed["deliveries"][0]
        return first["state"].string == "waiting" && first["lastResult"].string?.isEmpty == false ? first : nil
      }
      #expect(waiting["nextAttempt"] != .null)
      #expect(waiting["lastResult"].string?.isEmpty == false)
    }
  }
}
