import Foundation
import Testing

/// Endpoints: secrets, templates and switches, with the real daemon and independent verifiers.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct EndpointTests {
  @Test(.timeLimit(.minutes(1)))
  func bothSecretsSignDuringARotation() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)

      // Without a place for the new secret, nothing happens.
      let refused = try await home.chime("endpoint", "rotate", "team")
      #expect(refused.status == 64 && refused.text.contains("--new-secret FILE") && refused.text.contains("--show"))
      try await home.mustRun("endpoint", "rotate", "team", "--new-secret", home.path + "/new", "--overlap", "1h")
      let new = try String(contentsOfFile: home.path + "/new", encoding: .utf8).trimmingCharacters(in: .newlines)
      #expect(try await home.json("endpoint", "list")["endpoints"][0]["rotationEnds"].string != nil)
      for secret in [Receiver.secret, new] {
        try home.verify(with: secret)
        try await home.mustRun("endpoint", "test", "team")
      }
      #expect(receiver.requests.map(\.verdicts) == [["ok", "ok"], ["ok", "ok"]])
      #expect(receiver.requests.last?.headers["webhook-signature"].string?.split(separator: " ").count == 2)

      // Printed once, alone on standard output. Without an overlap, this secret ends at once; older ones keep their hour.
      let shown = try await home.chime("endpoint", "rotate", "team", "--show", "--overlap", "0s")
      let newest = shown.out.trimmingCharacters(in: .newlines)
      #expect(newest.hasPrefix("whsec_") && newest.split(separator: "\n").count == 1)
      try home.verify(with: newest)
      try await home.mustRun("endpoint", "test", "team")
      try home.verify(with: new)
      #expect(try await home.chime("endpoint", "test", "team").status == 1)
      let files = try await home.run("grep", ["-rlF", String(new.dropFirst(6)), home.state])
      #expect(files.out.isEmpty, "forgotten: \(files.out)")
    }
  }

  /// A regression test: all of the system's certificate authorities at once crashed a release build by a use after free.
  @Test(.timeLimit(.minutes(1)))
  func systemsWholeCABundleIsAccepted() async throws {
    let bundle = "/etc/ssl/certs/ca-certificates.crt"
    try #require(FileManager.default.isReadableFile(atPath: bundle), "install ca-certificates")
    try await Home.run { home in
      let daemon = try await home.start()
      for name in ["one", "two", "three"] {
        try await home.mustRun(
          "endpoint", "add", name, "https://example.test/", "--new-secret", "\(home.path)/\(name)", "--ca-file", bundle)
      }
      #expect(try await home.json("endpoint", "list")["endpoints"].elements.count == 3)
      #expect(daemon.process.isRunning)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func ed25519KeySignsAndOnlyItsPublicHalfIsShown() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      let added = try await home.mustRun("endpoint", "add", "team", receiver.url, "--ed25519")
      let first = try await home.json("endpoint", "list")["endpoints"][0]["publicKeys"][0].string ?? ""
      #expect(first.hasPrefix("whpk_") && added.contains(first))
      let second = try await home.mustRun("endpoint", "rotate", "team").trimmingCharacters(in: .newlines)
      #expect(second.hasPrefix("whpk_") && second != first)
      for key in [first, second] {
        try home.verify(with: key)
        let count = receiver.requests.count
        _ = try await home.add("Stand-up", "in 1s", to: ["team"])
        try await eventually("a delivery arrives") { receiver.requests.count > count }
      }
      #expect(receiver.requests.map(\.verdicts) == [["ok", "ok"], ["ok", "ok"]])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func credentialSignsAndCannotBeRotated() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let credentials = home.path + "/credentials"
      try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
      try home.write(Receiver.secret + "\n", to: credentials + "/endpoint.team", mode: 0o400)
      _ = try await home.start(environment: ["CREDENTIALS_DIRECTORY": credentials])
      try await home.mustRun("endpoint", "add", "team", receiver.url)
      #expect(try await home.mustRun("endpoint", "test", "team").contains("accepted: 204"))
      #expect(receiver.requests.map(\.verdicts) == [["ok", "ok"]])
      #expect(try await home.mustRun("endpoint", "show", "team").contains("credential"))
      let refused = try await home.chime("endpoint", "rotate", "team", "--show")
      #expect(refused.status == 1 && refused.text.contains("credential endpoint.team"))
      let other = try await home.chime("endpoint", "add", "other", receiver.url)
      #expect(other.status == 1 && other.text.contains("needs a secret"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func enabledEndpointGetsMessagesHeldWhileItWasDisabled() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      try await home.mustRun("endpoint", "disable", "team")
      #expect(try await home.mustRun("endpoint", "list").contains("disabled: disabled by hand"))
      let id = try await home.add("Later", "in 1s", to: ["team"])
      try await eventually("it has fired") { try await home.latestOccurrence(of: id)["id"] != .null }
      // An edit of other settings does not enable it.
      try await home.mustRun(
        "endpoint", "edit", "team", "--concurrency", "2", "--rate", "30/1m", "--header", "X-Team: {{title}}")
      #expect(receiver.requests.isEmpty)
      try await home.mustRun("endpoint", "enable", "team")
      try await eventually("it gets its pending messages") { !receiver.requests.isEmpty }
      #expect(receiver.requests[0].headers["x-team"].string == "Later")
      #expect(receiver.requests[0].verdicts == ["ok", "ok"])
      // Adding it again enables it too.
      try await home.mustRun("endpoint", "disable", "team")
      try await home.addEndpoint("team", receiver)
      #expect(try await home.mustRun("endpoint", "list").contains("in use"))
    }
  }

  /// A crash right after the removal of an endpoint leaves its file; a new endpoint of that name does not inherit its secret.
  @Test(.timeLimit(.minutes(1)))
  func newEndpointDoesNotInheritTheSecretOfARemovedOne() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      let file = home.state + "/secrets/\(getuid())-team"
      try home.write("tk_old\n", to: home.path + "/token")
      try await home.addEndpoint("team", receiver)
      try await home.mustRun("endpoint", "edit", "team", "--token-file", home.path + "/token")
      let left = try String(contentsOfFile: file, encoding: .utf8)
      #expect(left.contains("tk_old"))
      try await home.mustRun("endpoint", "remove", "team")
      try home.write(left, to: file)
      let refused = try await home.chime(
        "endpoint", "add", "team", receiver.url, "--template", "gotify", "--new-secret", home.path + "/new")
      #expect(refused.status == 1 && refused.text.contains("--token-file FILE"), "\(refused.text)")
      try await home.addEndpoint("team", receiver)
      #expect(try String(contentsOfFile: file, encoding: .utf8) == Receiver.secret + "\n")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func templateIsChosenByNameOrByFile() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home)
      let daemon = try await home.start()
      try home.write("tk_verysecret\n", to: home.path + "/token")
      let missing = try await home.chime("endpoint", "add", "push", receiver.url, "--template", "gotify")
      #expect(missing.status == 1 && missing.text.contains("--token-file FILE"))
      try await home.mustRun(
        "endpoint", "add", "push", receiver.url, "--template", "gotify", "--token-file", home.path + "/token",
        "--header", "X-Own: a {{token}}")
      let id = try await home.add("A \"title\"", "in 1s", to: ["push"])
      try await eventually("it arrives") { !receiver.requests.isEmpty }
      let request = receiver.requests[0]
      #expect(request.body["message"].string == "A \"title\"" && request.body["priority"].int == 5, "\(id)")
      #expect(request.headers["x-gotify-key"].string == "tk_verysecret")
      #expect(request.headers["x-own"].string == "a tk_verysecret")

      let tested = try await home.chime("endpoint", "test", "push")
      #expect(tested.text.contains("X-Gotify-Key: <redacted>") && tested.text.contains("in all"))
      let told = try await home.mustRun("endpoint", "show", "push") + home.mustRun("endpoint", "list", "--json")
      for text in [tested.text, told, daemon.process.errors] { #expect(!text.contains("verysecret")) }

      // A printed template is a valid template file.
      let text = try await home.mustRun("endpoint", "templates", "slack")
      try home.write(text, to: home.path + "/mine.json", mode: 0o644)
      try await home.mustRun(
        "endpoint", "edit", "push", "--template", home.path + "/mine.json", "--reset", "token,headers")
      let tests = try await home.chime("endpoint", "test", "push", "--json")
      let body = try JSON(parsing: tests.out)["result"]["requestBody"].string ?? ""
      #expect(try JSON(parsing: body)["text"].string == "*A test of Chime*\nNo reminder has fired.")
      try home.write(#"{"body": "{{titel}}"}"#, to: home.path + "/bad.json", mode: 0o644)
      let bad = try await home.chime("endpoint", "edit", "push", "--template", home.path + "/bad.json")
      #expect(bad.status == 1 && bad.text.contains("{{titel}} is not a placeholder"))
      for name in ["discord", "gotify", "healthchecks", "homeassistant", "ntfy", "slack"] {
        #expect(try await home.mustRun("endpoint", "templates").contains(name))
      }
    }
  }
}
