import Foundation
import Testing

/// Messages in Gotify, which are deleted when they are answered elsewhere.
@Suite(.serialized) struct GotifyTests {
  private func add(_ home: Home, _ server: PushServer, _ tokens: String) async throws {
    try home.write(tokens, to: home.path + "/tokens")
    try await home.mustRun(
      "endpoint", "add", "push", server.url, "--template", "gotify", "--token-file", home.path + "/tokens")
  }

  private func recorded(_ home: Home) async throws {
    try await eventually("nothing is pending", within: .seconds(40)) {
      try await home.json("deliveries", "--limit", "all")["deliveries"].elements.allSatisfy {
        ["delivered", "cancelled"].contains($0["state"].string)
      }
    }
  }

  @Test(.timeLimit(.minutes(2))) func answeredMessageIsDeleted() async throws {
    try await Home.run { home in
      let server = try await PushServer.start(in: home)
      let first = try await home.start()
      try await add(home, server, "\(PushServer.application)\n\(PushServer.client)\n")
      #expect(try await home.mustRun("endpoint", "show", "push").contains("what is answered"))
      func shows(_ texts: [String], _ what: String) async throws {
        try await eventually("\(what): \(texts)", within: .seconds(40)) { server.screen == texts }
        try await recorded(home)
      }
      try await home.mustRun("in", "1s", "Tea", "--to", "push")
      try await home.mustRun("in", "1s", "Walk", "--to", "push")
      try await shows(["Tea", "Walk"], "fired")
      try await home.mustRun("done", "Tea")
      try await shows(["Walk"], "done")
      // Snoozed, it is deleted, and comes back as another message.
      try await home.mustRun("snooze", "Walk", "1s")
      try await eventually("it fires again", within: .seconds(20)) { server.sent == 3 }
      try await shows(["Walk"], "snoozed")
      // The message id survives a crash, and a pending deletion runs when the server is back.
      try await server.stop()
      try await home.mustRun("dismiss", "Walk")
      try await first.crash()
      let second = try await home.start()
      try await server.restart()
      try await shows([], "dismissed")
      // A message with an unknown id cannot be deleted, and delays nothing.
      #expect(server.deletions == 3 && server.denials == 0)
      let told =
        try await home.mustRun("endpoint", "show", "push") + home.mustRun("deliveries", "--json")
        + home.mustRun("export")
      for text in [told, second.process.errors] {
        #expect(!text.contains(PushServer.application) && !text.contains(PushServer.client))
      }
    }
  }

  /// A message answered in flight is deleted once its id is known, exactly once.
  @Test(.timeLimit(.minutes(1))) func messageAnsweredInFlightIsDeletedOnce() async throws {
    try await Home.run { home in
      let server = try await PushServer.start(in: home)
      _ = try await home.start()
      try await add(home, server, "\(PushServer.application)\n\(PushServer.client)\n")
      try await home.mustRun("in", "1s", "Slow", "--to", "push")
      try await eventually("it is there") { server.sent == 1 }
      try await home.mustRun("done", "Slow")
      try await eventually("it disappears", within: .seconds(10)) { server.screen.isEmpty }
      try await recorded(home)
      #expect(server.deletions == 1)
    }
  }

  /// An application token alone cannot delete: nothing is tried, and the endpoint says so.
  @Test(.timeLimit(.minutes(1))) func applicationTokenAloneDeletesNothing() async throws {
    try await Home.run { home in
      let server = try await PushServer.start(in: home)
      _ = try await home.start()
      try await add(home, server, PushServer.application + "\n")
      #expect(try await home.mustRun("endpoint", "show", "push").contains("a second token"))
      #expect(try await home.json("endpoint", "show", "push")["endpoint"]["canWithdraw"] == .bool(false))
      try await home.mustRun("in", "1s", "Tea", "--to", "push")
      try await eventually("it is there") { server.screen == ["Tea"] }
      try await home.mustRun("done", "Tea")
      // Later messages are deleted once a second token is given.
      try home.write("\(PushServer.application)\n\(PushServer.client)\n", to: home.path + "/tokens")
      try await home.mustRun("endpoint", "edit", "push", "--token-file", home.path + "/tokens")
      try await home.mustRun("in", "1s", "Walk", "--to", "push")
      try await eventually("both are there") { server.screen == ["Tea", "Walk"] }
      try await recorded(home)
      try await home.mustRun("done", "Walk")
      try await eventually("the later one disappears") { server.screen == ["Tea"] }
      #expect(server.deletions == 1 && server.denials == 0)
      // A mail password has no second line.
      let mail = try await home.chime(
        "endpoint", "add", "me", "mailto:ann@example.org", "--via", "smtps://127.0.0.1:1", "--from",
        "chime@example.org", "--user", "ann", "--token-file", home.path + "/tokens")
      #expect(mail.status != 0 && mail.text.contains("a password has one line"), "\(mail.text)")
    }
  }
}
