import Foundation
import Testing

/// The hardened system unit as shipped, on a machine with a real systemd, bus, logind and journal.
@Suite(.serialized, .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"), .timeLimit(.minutes(2)))
struct SystemUnitTests {
  @Test func socketStartsTheHardenedService() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      #expect(try await machine.run("systemctl", ["is-system-running"]).out == "running\n")
      try await machine.systemctl("enable", "--now", "chimed.socket")
      #expect(try await machine.property("ActiveState") == "inactive")
      #expect(try await machine.mustRun("stat", "-c", "%a %U %G", "/run/chime/io.chime") == "660 root chime\n")
      try await machine.mustRun("chime", "--system", "status")
      #expect(try await machine.property("ActiveState") == "active")

      // As in the unit: a user without capabilities, and a private state folder.
      let pid = try await machine.property("MainPID")
      let process = try await machine.mustRun("cat", "/proc/\(pid)/status")
      #expect(process.contains("CapBnd:\t0000000000000000\n") && process.contains("CapEff:\t0000000000000000\n"))
      #expect(process.contains("NoNewPrivs:\t1\n") && process.contains("Seccomp:\t2\n"))
      #expect(try await machine.mustRun("stat", "-c", "%U", "/proc/\(pid)") == "chimed\n")
      #expect(try await machine.mustRun("stat", "-L", "-c", "%a %U", "/var/lib/chime") == "700 chimed\n")
      #expect(try await machine.mustRun("stat", "-c", "%a %U", "/var/lib/chime/chime.db") == "600 chimed\n")

      // The system bus accepts it, which requires a resolvable user; logind sends it sleep signals.
      #expect(try await machine.mustRun("busctl", "--no-pager", "--no-legend", "list").contains("chimed.service"))
      let said = try await machine.journal("_SYSTEMD_UNIT=chimed.service", "PRIORITY=4")
      #expect(said.isEmpty, "\(said.map { $0["MESSAGE"] })")

      // systemd's analysis of the installed units; in tenths, it fails if the exposure exceeds 1.6.
      let exposure = try await machine.run("systemd-analyze", ["security", "--threshold=16", "chimed.service"])
      #expect(exposure.status == 0, "\(exposure.out.suffix(200))")
      let verdict = try await machine.run("systemd-analyze", ["verify", "chimed.service", "chimed.socket"])
      #expect(verdict.status == 0 && !verdict.text.contains("chimed"), "\(verdict.text)")

      // There is no desktop here, and a reminder for it gets a warning.
      let hint = try await machine.run("chime", ["--system", "in", "30m", "Tea"])
      #expect(hint.status == 0 && hint.err.contains("the system's chimed has no desktop"), "\(hint.text)")
    }
  }

  @Test(.enabled(if: Machine.hasClients, "needs .venv with the Python clients: Packaging/dependencies test"))
  func credentialSignsAWebhookAndTheJournalExplainsIt() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      let receiver = try await Receiver.start(on: machine)
      try machine.write("[webhook]\nallow = [\"127.0.0.0/8\"]\n", to: "/etc/chime/chimed.toml")
      try machine.dropIn("LoadCredential=endpoint.team:/srv/receiver.secret")
      try await machine.mustRun("journalctl", "--update-catalog")
      try await machine.systemctl("daemon-reload")
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await machine.mustRun("chime", "--system", "endpoint", "add", "team", receiver.url)
      // Nobody listens on this port.
      try await machine.mustRun(
        "chime", "--system", "endpoint", "add", "deaf", "http://127.0.0.1:9/", "--template", "ntfy")
      let added = try await machine.run(
        "chime", ["--system", "in", "1s", "Tapes", "--to", "team", "--to", "deaf", "--json"])
      let id = try #require(try added.json["reminder"]["id"].string, "\(added.text)")
      try await eventually("the receiver has it") { receiver.requests.count == 1 }
      let request = try #require(receiver.requests.first)
      #expect(request.verdicts == ["ok", "ok"])
      #expect(request.body["data"]["title"].string == "Tapes")

      // An endpoint that answers 410 is disabled.
      let gone = try await Receiver.start(on: machine, answering: [410])
      let secret = "/srv/receiver.secret"
      try await machine.mustRun("chime", "--system", "endpoint", "add", "gone", gone.url, "--secret-file", secret)
      try await machine.mustRun("chime", "--system", "in", "1s", "Mail", "--to", "gone")
      let disabled = try await machine.logs("9fb4f8a793224b29bc08559bd13bdbe8", "the endpoint is disabled")
      #expect(disabled["CHIME_ENDPOINT"].string == "gone" && disabled["PRIORITY"].string == "4")

      // Each event has its message id and the fields to filter by.
      let events = try await eventually("the journal has it all") {
        let events = try await machine.journal("CHIME_REMINDER=\(id)")
        return events.count >= 4 ? events : nil
      }
      func event(_ id: String) throws -> JSON { try #require(events.first { $0["MESSAGE_ID"].string == id }, "\(id)") }
      let fired = try event("13b0501020e54ba7842ac4fa0a86843f")
      #expect(fired["CHIME_OCCURRENCE"].string?.hasPrefix(id) == true && fired["CHIME_OWNER_UID"].string == "0")
      #expect(Int(fired["CHIME_LATENESS_USEC"].string ?? "").map { (0..<20_000_000).contains($0) } == true)
      let delivered = try event("06a3e5b0232f4d2794f36892652aa5c1")
      #expect(delivered["CHIME_DELIVERY"].string == request.id && delivered["CHIME_ENDPOINT"].string == "team")
      let failed = try event("094f60c8add24bf6b1ffd7ab703536a5")
      #expect(failed["CHIME_ENDPOINT"].string == "deaf" && failed["PRIORITY"].string == "4")
      #expect(events.allSatisfy { $0["_SYSTEMD_UNIT"].string == "chimed.service" && $0["MESSAGE_ID"].string != nil })

      // The catalog's text contains remedies with the entry's values.
      let explained = try await machine.mustRun("journalctl", "--no-pager", "-x", "CHIME_REMINDER=\(id)", "PRIORITY=4")
      #expect(explained.contains("Subject: A message was not delivered yet"))
      #expect(explained.contains(failed["CHIME_DELIVERY"].string ?? "?"))
      #expect(explained.contains("chime endpoint test"))

      // The secret is not in the journal.
      let everything = try await machine.mustRun("journalctl", "--no-pager", "--output=export")
      #expect(!everything.contains(Receiver.secret.dropFirst("whsec_".count)))
    }
  }

  @Test(.proof(.booted)) func serviceReloadsAndTheWatchdogRestartsIt() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      // The shipped unit has a watchdog of half a minute; use the shortest that a busy machine can meet.
      try machine.dropIn("WatchdogSec=\(8 * Sanitizer.slowness)")
      try await machine.systemctl("daemon-reload")
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await machine.mustRun("chime", "--system", "in", "30m", "Drink water")
      let pid = try await machine.property("MainPID")

      try machine.write("[log]\nlevel = \"debug\"\n", to: "/etc/chime/chimed.toml")
      try await machine.systemctl("reload", "chimed.service")
      try await machine.logs("f1f6061e06a645608b9bf891a473586d", "the new configuration is in force")
      try machine.write("[nothing]\n", to: "/etc/chime/chimed.toml")
      try await machine.systemctl("reload", "chimed.service")
      let refusal = try await machine.logs("9efe2bf8ae894b23b834bbe085212dcf", "the new configuration is refused")
      #expect(refusal["MESSAGE"].string?.contains("/etc/chime/chimed.toml:1:") == true)
      #expect(try await machine.property("MainPID") == pid)
      try machine.write("", to: "/etc/chime/chimed.toml")

      try await machine.mustRun("kill", "-STOP", pid)
      try await eventually("it has been started again", within: .seconds(60)) {
        try await machine.property("NRestarts") == "1"
      }
      #expect(try await machine.mustRun("chime", "--system", "list").contains("Drink water"))
      #expect(try await machine.property("MainPID") != pid)
      try await machine.systemctl("stop", "chimed.socket", "chimed.service")
      #expect(try await machine.property("ExecMainStatus") == "0")
      try await machine.logs("c7059c17508e4259ab86e8b2ed619f71", "it has said that it stops")
    }
  }

  /// systemd holds the socket, so no client is refused; a connected client gets a reply or can retry.
  @Test(.proof(.booted)) func clientsContinueAcrossRestarts() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      let script = """
        count=0
        while [ ! -e /run/enough ]; do
          chime --system add "Item" daily at 9 --quiet || exit 1
          count=$((count + 1))
        done
        echo $count
        """
      var clients: [Child] = []
      for _ in 0..<4 { clients.append(try await machine.spawn("sh", ["-c", script])) }
      // One idle connection, and one in the middle of a message.
      let idle = try RawSocket(path: machine.path("/run/chime/io.chime"))
      let halfway = try RawSocket(path: machine.path("/run/chime/io.chime"))
      halfway.send(Array("{\"method\":\"io.chi".utf8))
      for _ in 0..<5 {
        let before = try await machine.property("MainPID")
        try await machine.systemctl("restart", "chimed.service")
        #expect(try await machine.property("MainPID") != before)
      }
      try machine.write("", to: "/run/enough")
      var added = 0
      for client in clients {
        #expect(try await client.ended() == .exited(0), "\(client.errors)")
        added += Int(client.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
      }
      // Acknowledged reminders exist, once each.
      let list = try await machine.run("chime", ["--system", "list", "--json", "--limit", "all"])
      #expect(try list.json["reminders"].elements.count == added, "\(list.err)")
      #expect(try await blocking { try idle.receive() } == nil)
      #expect(try await blocking { try halfway.receive() } == nil)
      #expect(try await machine.property("NRestarts") == "0")
      #expect(try await machine.property("Result", of: "chimed.socket") == "success")
    }
  }

  @Test(.proof(.booted)) func failingServiceIsRestartedWithoutALimit() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try machine.dropIn("RestartSec=10ms")
      try await machine.systemctl("daemon-reload")
      // A store that cannot be opened, for a possibly temporary reason.
      try await machine.mustRun("mkdir", "-p", "/var/lib/private/chime/chime.db")
      _ = try await machine.run("systemctl", ["start", "--no-block", "chimed.service"])
      try await eventually("it has been tried more often than systemd tries by itself", within: .seconds(60)) {
        Int(try await machine.property("NRestarts")).map { $0 > 6 } == true
      }
      try await machine.logs("338a03ffc12645df85b279353fa7781b", "the journal says why")
      try await machine.mustRun("rmdir", "/var/lib/private/chime/chime.db")
      try await eventually("it runs") { try await machine.property("ActiveState") == "active" }
      try await machine.mustRun("chime", "--system", "status")
    }
  }

  @Test(.proof(.booted)) func commandsRunUnderTheUnitsRestrictions() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try machine.write(
        """
        [commands]
        enabled = true
        [commands.note]
        program = "/bin/sh"
        arguments = ["-c", "id -un; echo \\"$CHIME_TITLE\\" > /var/lib/chime/note; ls /home; cat /etc/shadow; echo x > /etc/x"]
        """, to: "/etc/chime/chimed.toml")
      try await machine.systemctl("enable", "--now", "chimed.socket")
      try await machine.mustRun("chime", "--system", "in", "1s", "Tapes", "--to", "note")
      try await eventually("the command has run") {
        FileManager.default.fileExists(atPath: machine.path("/var/lib/private/chime/note"))
      }
      let deliveries = try await eventually("its end is recorded") {
        let deliveries = try await machine.run("chime", ["--system", "deliveries", "--json"]).json["deliveries"]
        return deliveries[0]["attempts"].int.map { $0 > 0 } == true ? deliveries : nil
      }
      // The program fails because files outside the daemon's are inaccessible.
      #expect(deliveries[0]["lastResult"].string?.contains("'/home': Permission denied") == true, "\(deliveries)")
      #expect(try await machine.mustRun("cat", "/var/lib/chime/note") == "Tapes\n", "\(deliveries)")
      let journal = try await machine.journal("_SYSTEMD_UNIT=chimed.service")
      #expect(!journal.contains { $0["MESSAGE"].string?.contains("root:") == true })
      #expect(!FileManager.default.fileExists(atPath: machine.path("/etc/x")))
    }
  }
}

extension BootedSystem {
  /// Adds lines to chimed's `[Service]` section.
  func dropIn(_ lines: String) throws {
    try write("[Service]\n\(lines)\n", to: "/etc/systemd/system/chimed.service.d/test.conf")
  }

  /// Waits for an entry with this message id, and returns the newest.
  @discardableResult
  func logs(_ id: String, _ what: String) async throws -> JSON {
    try await eventually(what) { try await journal("MESSAGE_ID=\(id)").last }
  }
}
