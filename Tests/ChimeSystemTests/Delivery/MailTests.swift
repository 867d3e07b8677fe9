import Foundation
import Testing

/// Emails of the real daemon, received by an independent mail server.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct MailTests {
  private func add(
    _ name: String, _ server: MailServer, mailbox: String = "ann", in home: Home, _ more: [String] = []
  ) async throws {
    let done = try await home.run(
      Machine.chime,
      ["endpoint", "add", name, "mailto:\(mailbox)@example.org", "--via", server.url, "--from", "chime@example.net"]
        + more)
    #expect(done.status == 0, "\(done.text)")
  }

  private func message(_ server: MailServer, _ number: Int = 1) async throws -> JSON {
    try await eventually("the server has \(number)", within: .seconds(30)) {
      let all = server.messages
      return all.count >= number ? all[number - 1] : nil
    }
  }

  private func delivery(_ name: String, _ state: String, in home: Home) async throws -> JSON {
    try await eventually("the message to \(name) is \(state)") {
      try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.first {
        $0["channel"].string == name && $0["state"].string == state
      }
    }
  }

  private func lastResult(_ name: String, _ state: String, in home: Home) async throws -> String {
    try await delivery(name, state, in: home)["lastResult"].string ?? ""
  }

  @Test(.timeLimit(.minutes(1)))
  func reminderArrivesAsAnEmail() async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home)
      _ = try await home.start()
      try await add("me", server, mailbox: "ann@example.org,bob", in: home, ["--reply-to", "desk@example.net"])
      let id = try await home.add("Čaj <b>& \"spol.\"</b>", "in 1s", to: ["me"])
      let first = try await message(server)
      let headers = first["headers"]
      #expect(first["sender"].string == "chime@example.net")
      #expect(first["recipients"].elements.map(\.string) == ["ann@example.org", "bob@example.org"])
      #expect(headers["subject"].string == "Čaj <b>& \"spol.\"</b>")
      #expect(headers["from"].string == "Chime <chime@example.net>" && headers["reply-to"].string == "desk@example.net")
      #expect(headers["auto-submitted"].string == "auto-generated" && headers["in-reply-to"].string == nil)
      #expect(first["text"].string?.hasPrefix("Čaj <b>& \"spol.\"</b>\n") == true)
      #expect(first["html"].string?.contains("Čaj &lt;b&gt;&amp; &quot;spol.&quot;&lt;/b&gt;") == true)
      #expect(first["greeting"].string == "example.net" && first["encrypted"].bool == false)
      let delivered = try await delivery("me", "delivered", in: home)
      #expect(headers["message-id"].string == "<\(delivered["id"].string ?? "")@example.net>")

      // The next round is another message in the same thread.
      try await home.mustRun("snooze", id, "1s")
      let second = try await message(server, 2)["headers"]
      #expect(second["message-id"].string != headers["message-id"].string)
      #expect(second["references"].string == headers["references"].string)
      #expect(second["in-reply-to"].string == headers["references"].string)
      try await eventually("both are counted") {
        try await home.mustRun("metrics").contains("transport=\"email\",outcome=\"delivered\"} 2")
      }
    }
  }

  /// A temporary refusal is retried, a permanent one fails, and the endpoint stays enabled.
  @Test(.timeLimit(.minutes(2)))
  func temporaryRefusalIsRetriedAndPermanentOneFails() async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home)
      _ = try await home.start()
      for name in ["busy", "full", "gone"] {
        try await add(name, server, mailbox: name, in: home)
        _ = try await home.add("Tea", "in 1s", to: [name])
      }
      #expect(try await lastResult("busy", "waiting", in: home) == "answered 421: try later")
      #expect(try await lastResult("full", "waiting", in: home) == "answered 450: try later")
      #expect(
        try await lastResult("gone", "dead", in: home) == "answered 550: the server rejects the message permanently")
      #expect(server.refusals == 3 && server.messages.isEmpty)
      let gone = try await delivery("gone", "dead", in: home)["id"].string ?? ""
      let kept = try await home.mustRun("deliveries", "--id", gone, "--json")
      #expect(kept.contains("5.1.1 no such mailbox"), "\(kept)")
      let said = try await home.mustRun("deliveries", "--id", gone)
      #expect(said.contains("rejects the message permanently: 550 5.1.1 no such mailbox"), "\(said)")
      let shown = try await home.mustRun("endpoint", "show", "gone")
      #expect(!shown.contains("disabled"), "\(shown)")

      for (number, name) in ["busy", "full", "gone"].enumerated() {
        let before = try await home.answer("io.chime.Deliveries.List")["deliveries"].elements
          .first { $0["channel"].string == name }
        let id = before?["id"].string ?? ""
        server.make(name)
        try await home.mustRun("redeliver", id)
        let again = try await message(server, number + 1)
        #expect(again["headers"]["message-id"].string == "<\(id)@example.net>")
        _ = try await delivery(name, "delivered", in: home)
      }
    }
  }

  @Test(.timeLimit(.minutes(2)), arguments: [MailServer.Security.smtps, .starttls])
  func mailServerLoginUsesTLS(_ security: MailServer.Security) async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home, security, at: "127.0.0.2", login: "ann:s3cret-password")
      let daemon = try await home.start()
      let (file, wrong) = (home.path + "/password", home.path + "/wrong")
      try home.write("s3cret-password\n", to: file)
      try home.write("other-password\n", to: wrong)
      let certificate = server.certificate ?? ""
      try await add("me", server, in: home, ["--user", "ann", "--token-file", file, "--ca-file", certificate])
      try await home.mustRun("endpoint", "test", "me")
      _ = try await home.add("Tea", "in 1s", to: ["me"])
      let taken = try await message(server, 2)
      #expect(taken["user"].string == "ann" && taken["encrypted"].bool == true)

      // A wrong password, and a self-signed certificate.
      try await home.mustRun("endpoint", "edit", "me", "--token-file", wrong)
      let refused = try await home.chime("endpoint", "test", "me")
      #expect(refused.status == 1 && refused.out.contains("535"), "\(refused.text)")
      _ = try await home.add("Later", "in 1s", to: ["me"])
      #expect(try await lastResult("me", "waiting", in: home).contains("rejects the log-in (535)"))
      try await home.mustRun("endpoint", "edit", "me", "--token-file", file, "--reset", "certificates")
      let untrusted = try await home.chime("endpoint", "test", "me")
      #expect(untrusted.status == 1 && untrusted.out.contains("self-signed"), "\(untrusted.text)")
      #expect(server.messages.count == 2)
      for secret in ["s3cret-password", "other-password"] {
        #expect(!daemon.process.errors.contains(secret) && !daemon.process.output.contains(secret))
        #expect(!(try await home.mustRun("deliveries", "--json")).contains(secret))
        #expect(!(try await home.mustRun("endpoint", "list", "--json")).contains(secret))
      }
      #expect(!daemon.process.errors.contains("ann@example.org"), "\(daemon.process.errors)")
    }
  }

  /// Without TLS, neither password nor message is sent.
  @Test(.timeLimit(.minutes(1)))
  func nothingIsSentWithoutTLS() async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home, at: "127.0.0.2")
      _ = try await home.start()
      try await add("me", server, in: home)
      _ = try await home.add("Tea", "in 1s", to: ["me"])
      let said = try await eventually("it has failed") { () -> String? in
        let all = try await home.answer("io.chime.Deliveries.List")["deliveries"].elements
        return all.first { $0["state"].string == "waiting" }?["lastResult"].string
      }
      #expect(said.contains("the server offers no STARTTLS"), "\(said)")
      #expect(server.messages.isEmpty && server.refusals == 0)
    }
  }

  /// The same holds if STARTTLS is offered and refused, by whichever side; the server's reply is recorded.
  @Test(.timeLimit(.minutes(1)))
  func refusedSTARTTLSSendsNothing() async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home, .denied, at: "127.0.0.2")
      _ = try await home.start()
      try home.write("s3cret-password\n", to: home.path + "/password")
      try await add("me", server, in: home, ["--user", "ann", "--token-file", home.path + "/password"])
      _ = try await home.add("Tea", "in 1s", to: ["me"])
      let waiting = try await delivery("me", "waiting", in: home)
      #expect(waiting["lastResult"].string?.contains("refuses to begin it, so nothing was sent") == true, "\(waiting)")
      let said = try await home.mustRun("deliveries", "--id", waiting["id"].string ?? "", "--json")
      #expect(said.contains("454 4.7.0 TLS not available"), "\(said)")
      #expect(server.messages.isEmpty && server.refusals == 0)
    }
  }

  /// A server that never answers, and one that never closes, delay no other endpoint.
  @Test(.timeLimit(.minutes(2)))
  func hangingServerDelaysNoOtherEndpoint() async throws {
    try await Home.run { home in
      try home.configure("[webhook]\ntimeout = \"5s\"\n")
      let server = try await MailServer.start(in: home)
      let other = try await MailServer.start(in: home, .smtps)
      _ = try await home.start()
      try await add("silent", server, mailbox: "silent", in: home)
      try await add("mute", server, mailbox: "mute", in: home)
      try await add("well", other, in: home, ["--ca-file", other.certificate ?? ""])
      _ = try await home.add("Tea", "in 1s", to: ["silent", "mute", "well"])
      _ = try await delivery("mute", "delivered", in: home)
      _ = try await delivery("well", "delivered", in: home)
      // The silent server is still being awaited.
      #expect(
        try await home.answer("io.chime.Deliveries.List")["deliveries"].elements.contains {
          $0["channel"].string == "silent" && $0["state"].string == "pending"
        })
      #expect(try await lastResult("silent", "waiting", in: home).lowercased().contains("timed out"))
    }
  }

  /// Killed after the server has received the message but before its reply: the message is sent again with the same id.
  @Test(.timeLimit(.minutes(2)))
  func emailWithoutAReplyIsSentAgainWithTheSameID() async throws {
    try await Home.run { home in
      let server = try await MailServer.start(in: home)
      server.make("hold")
      let daemon = try await home.start()
      try await add("me", server, mailbox: "slow", in: home)
      _ = try await home.add("Tea", "in 1s", to: ["me"])
      let first = try await message(server)
      daemon.process.send(SIGKILL)
      _ = try await daemon.process.ended()
      try server.remove("hold")
      _ = try await home.start()
      let second = try await message(server, 2)
      #expect(second["raw"].string == first["raw"].string)
      _ = try await delivery("me", "delivered", in: home)
    }
  }

  /// Contradictory settings are rejected with a remedy.
  @Test(.timeLimit(.minutes(1)))
  func contradictorySettingsAreRefused() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let (via, from) = (["--via", "smtps://mail.example.org"], ["--from", "chime@example.net"])
      let mail = "mailto:ann@example.org"
      let secret = home.path + "/secret"
      for (words, sentence) in [
        ([mail] + from, "--via"), ([mail] + via, "--from"),
        ([mail] + via + from + ["--header", "X-Room: 7"], "no headers of your own"),
        ([mail] + via + from + ["--replies", "https://ntfy.sh/answers"], "no buttons"),
        ([mail] + via + from + ["--template", "slack"], "not for emails"),
        ([mail] + via + from + ["--user", "ann"], "--token-file"),
        ([mail] + via + from + ["--new-secret", secret], "not signed"),
        ([mail] + from + ["--via", "https://mail.example.org"], "such as smtps://mail.example.org"),
        ([mail] + from + ["--via", "smtps://ann:pw@mail.example.org"], "--user"),
        ([mail + "?subject=x"] + via + from, "remove ?"), (["mailto:ann"] + via + from, "not the address of a mailbox"),
        (["https://example.org/", "--template", "slack"] + via, "only an email has this"),
        (["https://example.org/", "--template", "email"], "the template is for emails"),
      ] {
        let done = try await home.run(Machine.chime, ["endpoint", "add", "me"] + words)
        #expect(done.status == 1 && done.err.contains(sentence), "\(words): \(done.text)")
      }
      #expect(!FileManager.default.fileExists(atPath: secret))
      #expect(try await home.json("endpoint", "list")["endpoints"].elements.isEmpty)

      // The export can be applied.
      let added = try await home.run(
        Machine.chime, ["endpoint", "add", "me", mail] + via + from + ["--reply-to", "desk@example.net"])
      #expect(added.status == 0, "\(added.text)")
      let rotated = try await home.chime("endpoint", "rotate", "me", "--show")
      #expect(rotated.status == 1 && rotated.err.contains("messages to this address are not signed"), "\(rotated.text)")
      let other = try await home.chime("endpoint", "edit", "me", "--url", "https://example.org/")
      #expect(other.status == 1 && other.err.contains("chime endpoint add"), "\(other.text)")
      let exported = try await home.mustRun("export")
      #expect(
        exported.contains("via = \"smtps://mail.example.org\"") && !exported.contains("secretFile"), "\(exported)")
      try await home.mustRun("endpoint", "remove", "me", "--yes")
      try home.write(exported, to: home.path + "/set.toml")
      try await home.mustRun("apply", home.path + "/set.toml", "--yes")
      #expect(try await home.mustRun("export") == exported)
    }
  }
}
