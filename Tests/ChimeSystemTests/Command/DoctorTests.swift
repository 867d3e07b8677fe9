import Foundation
import Testing

/// `chime doctor` on machines with one real fault each.
@Suite(.timeLimit(.minutes(2))) struct DoctorTests {
  /// The findings by check: the worst state, all messages, all remedies.
  struct Findings {
    let status: Int32
    let checks: [JSON]

    init(_ output: Home.Output) throws {
      status = output.status
      guard output.out.hasPrefix("{") else { throw HarnessFailure(output.text) }
      checks = try output.json["checks"].elements
    }

    func of(_ check: String) -> [JSON] { checks.filter { $0["check"].string == check } }
    func states(_ check: String) -> [String] { of(check).compactMap { $0["state"].string } }
    func says(_ check: String) -> String { of(check).compactMap { $0["message"].string }.joined(separator: "\n") }
    func remedies(_ check: String) -> [String] {
      of(check).flatMap { $0["remedies"].elements }.compactMap { $0["text"].string }
    }

    /// The checks that fail.
    var bad: [String] { checks.filter { $0["state"] == "error" }.compactMap { $0["check"].string } }
    var everything: String {
      checks.map { "\($0["check"].string ?? "") \($0["state"].string ?? ""): \($0["message"].string ?? "")" }.joined(
        separator: "\n")
    }
  }

  private func doctor(_ home: Home, _ more: String...) async throws -> Findings {
    try Findings(await home.run(Machine.chime, ["doctor", "--json"] + more))
  }

  /// Repeats the doctor until the condition holds: each probe has about a second, which a busy machine may exceed.
  private func settled(
    _ findings: () async throws -> Findings, _ holds: (Findings) -> Bool
  ) async throws -> Findings {
    var found = try await findings()
    for _ in 0..<5 where !holds(found) { found = try await findings() }
    // The expectations report what differs.
    return found
  }

  private static func files(_ home: Home) -> [String] {
    (FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? [])
      .filter { !$0.hasPrefix("log") }.sorted()
  }

  @Test func doctorWithoutADaemonChecksFilesAndChangesNothing() async throws {
    try await Home.run { home in
      let before = Self.files(home)
      let found = try await doctor(home)
      #expect(found.status == 1)
      #expect(found.bad == ["daemon", "bus"], "\(found.everything)")
      #expect(found.says("daemon").contains("no daemon answers"))
      #expect(found.remedies("daemon") == ["chimed"])
      #expect(found.states("configuration") == ["ok"] && found.says("zone").contains("Europe/Prague"))
      #expect(found.states("store") == ["ok"] && found.states("endpoints") == ["skipped"])
      #expect(Self.files(home) == before)
    }
  }

  @Test(.enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"))
  func healthyMachineHasNoBadFinding() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockServer(
        on: try await home.startBus(), capabilities: "actions body body-markup persistence")
      _ = try await home.start()
      try await home.mustRun("add", "Tea", "every", "2h")
      let found = try await settled {
        try await doctor(home)
      } _: {
        $0.status == 0 && $0.states("daemon") == ["ok"] && $0.says("store").hasSuffix("sound")
      }
      #expect(found.status == 0 && found.bad == [], "\(found.everything)")
      #expect(
        found.says("notifications").contains("actions, body-markup, persistence"), "\(found.says("notifications"))")
      #expect(found.says("socket").contains("mode 0600, used by chimed"))
      #expect(found.says("store").hasSuffix("sound"))
      // Doctor shows no popup, and only asks the server for its capabilities.
      #expect(desktop.shown.isEmpty)

      // For a person: a line per check, and a summary.
      let page = try await eventually("the daemon answers the doctor in time") {
        let page = try await home.chime("doctor")
        return page.out.contains("✓ daemon") ? page : nil
      }
      #expect(page.status == 0, "\(page.out)")
      #expect(!page.out.contains("✗") && page.err.isEmpty)
      let plain = try await home.chime("doctor", "--plain")
      #expect(plain.out.hasPrefix("check\tstate\tmessage\tremedies\n"))
    }
  }

  @Test func staleSocketIsDistinguishedFromOneInUse() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await daemon.crash()
      let found = try await doctor(home)
      #expect(found.states("socket") == ["error"])
      #expect(found.says("socket").contains("remains from a daemon that has ended"))
      #expect(found.remedies("socket") == ["chimed"])
      // The remedy works; the log left by the crash is no damage.
      #expect(found.states("store") == ["ok"], "\(found.says("store"))")
      _ = try await home.start()
      #expect(try await doctor(home).states("socket") == ["ok"])
    }
  }

  @Test func foreignListenersAreDistinguishedFromADaemon() async throws {
    try await Home.run { home in
      try FileManager.default.createDirectory(atPath: home.runtime + "/chime", withIntermediateDirectories: true)
      for (kind, state, says) in [
        ("old", "warning", "chimed is version 0.0.1 and this command"), ("silent", "error", "has not answered within"),
        ("stranger", "error", "is not a compatible chimed"),
      ] {
        unlink(home.socket)
        let fake = try await home.spawn(Machine.debianPython, [Machine.support("fake-daemon"), home.socket, kind])
        try await eventually("it listens; \(fake.errors)") { fake.lines.first == "ready" }
        let found = try await settled {
          try await doctor(home)
        } _: {
          $0.states("daemon") == [state] && $0.says("daemon").contains(says)
        }
        #expect(found.states("daemon") == [state], "\(kind): \(found.everything)")
        #expect(found.says("daemon").contains(says))
        #expect(!found.remedies("daemon").isEmpty)
        // The doctor's calls change nothing.
        let asked = Set(fake.lines.dropFirst().compactMap { $0.split(separator: ".").last.map(String.init) })
        #expect(asked.isSubset(of: ["Status", "List", "Packs", "Diagnose"]), "\(asked)")
        fake.destroy()
        _ = try await fake.ended()
      }
    }
  }

  @Test func socketOpenToOthersAndFileInItsPlaceAreFound() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      chmod(home.socket, 0o666)
      var found = try await doctor(home)
      #expect(found.says("socket").contains("other users may connect") && found.bad.contains("socket"))
      #expect(found.remedies("socket") == ["chmod 600 \(home.socket)"])
      _ = try await daemon.stop()
      try home.write("", to: home.socket)
      found = try await doctor(home)
      #expect(found.says("socket").contains("is not a socket") && found.bad.contains("socket"))
    }
  }

  @Test(.enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"))
  func eachStateOfTheSessionBusHasItsFinding() async throws {
    try await Home.run { home in
      _ = try await home.start()
      var found = try await doctor(home)
      #expect(found.states("bus") == ["error"] && found.states("notifications") == ["skipped"])
      #expect(found.says("bus").contains("No such file"))

      let bus = try await home.startBus()
      found = try await settled {
        try await doctor(home)
      } _: {
        $0.states("bus") == ["ok"] && $0.says("notifications").contains("popups wait")
      }
      #expect(found.states("bus") == ["ok"] && found.states("notifications") == ["error"], "\(found.everything)")
      #expect(found.says("notifications").contains("popups wait"))

      // A server without buttons; then one that hangs.
      let plain = try await home.startMockServer(on: bus, capabilities: "body")
      found = try await settled {
        try await doctor(home)
      } _: {
        $0.states("notifications") == ["warning"]
      }
      #expect(found.states("notifications") == ["warning"] && found.says("notifications").contains("no buttons"))
      plain.server.send(SIGSTOP)
      found = try await doctor(home)
      #expect(found.states("notifications") == ["error"] && found.says("notifications").contains("does not answer"))
      plain.server.send(SIGCONT)

      // A bus that accepts connections but never replies.
      bus.send(SIGSTOP)
      found = try await doctor(home)
      #expect(found.states("bus") == ["error"] && found.says("bus").contains("does not answer"), "\(found.says("bus"))")
      bus.send(SIGCONT)
    }
  }

  /// On a machine without a desktop, missing popups are no fault if reminders use other channels.
  @Test func missingPopupsAreAFaultOnlyWhereTheyAreNeeded() async throws {
    try await Home.run { home in
      // As in a remote login; the tests may run in a graphical session.
      let afar = ["DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": "tty"]
      func findings() async throws -> Findings {
        try Findings(await home.run(Machine.chime, ["doctor", "--json"], environment: afar))
      }
      try home.write("#!/bin/sh\n", to: home.path + "/backup", mode: 0o755)
      try home.configure(
        "[defaults]\nchannels = [\"backup\"]\n[commands]\nenabled = true\n[commands.backup]\nprogram = \"\(home.path)/backup\"\n"
      )
      _ = try await home.start()
      try await home.mustRun("add", "Backup", "every", "2h")
      var found = try await findings()
      #expect(found.status == 0 && found.states("bus") == ["warning"], "\(found.everything)")
      #expect(found.remedies("bus").first?.hasPrefix("not needed") == true)

      // One reminder that escalates to the desktop is enough.
      try await home.mustRun("add", "Tea", "every", "2h", "--nag", "5m", "--escalate", "3:desktop")
      found = try await findings()
      #expect(found.status == 1 && found.states("bus") == ["error"], "\(found.everything)")
    }
  }

  @Test func eachFaultOfThePopupProgramHasItsFinding() async throws {
    try await Home.run { home in
      let program = home.path + "/show"
      _ = try await home.start()
      for (script, state, says) in [
        (nil, "error", "does not exist"), ("exec sleep 60", "error", "hangs"),
        ("kill -SEGV $$", "error", "crashes (signal 11)"),
        ("exit 3", "error", "ends with status 3"), ("echo show 1.2", "ok", "answers: show 1.2"),
      ] as [(String?, String, String)] {
        if let script { try home.write("#!/bin/sh\n\(script)\n", to: program, mode: 0o755) }
        try home.configure("[desktop]\nprogram = \"\(program)\"\n")
        _ = try await home.answer("io.chime.Daemon.Reload")
        let found = try await settled {
          try await doctor(home)
        } _: {
          $0.states("desktop") == [state] && $0.says("desktop").contains(says)
        }
        #expect(found.states("desktop") == [state] && found.says("desktop").contains(says), "\(found.says("desktop"))")
        if state == "error" { #expect(found.remedies("desktop").contains { $0.contains("transport = \"dbus\"") }) }
      }
      try home.configure("[desktop]\ntransport = \"dbus\"\n")
      let unloaded = try await doctor(home)
      #expect(
        unloaded.states("configuration") == ["warning"] && unloaded.says("configuration").contains("not loaded"))
      _ = try await home.answer("io.chime.Daemon.Reload")
      #expect(try await doctor(home).states("desktop") == ["ok"])
    }
  }

  @Test func brokenZoneLinkAndMissingZoneDatabaseAreFound() async throws {
    try await Home.run { home in
      try home.setZone("Europe/Nowhere")
      _ = try await home.start()
      var found = try await doctor(home)
      #expect(
        found.states("zone") == ["error"] && found.says("zone").contains("is not a valid time zone"),
        "\(found.everything)")
      #expect(found.remedies("zone").first?.contains("timedatectl set-timezone") == true)
      try home.setZone("Asia/Tokyo")
      found = try Findings(
        await home.run(
          Machine.chime, ["doctor", "--json", "--socket", "/nonexistent"], environment: ["TZDIR": "/nonexistent"]))
      #expect(found.states("zone") == ["error"] && found.says("zone").contains("no time zones in /nonexistent"))
    }
  }

  @Test func configurationErrorHasItsFileAndLine() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try home.configure("[log]\nlevel = \"info\"\n\n[desktop]\ntimeuot = \"1s\"\n")
      let found = try await doctor(home)
      #expect(found.states("configuration") == ["error"])
      #expect(found.says("configuration").contains("\(home.configuration):5"), "\(found.says("configuration"))")
      #expect(found.says("configuration").contains("did you mean desktop.timeout?"))
    }
  }

  @Test func damagedStoreIsFoundWithAndWithoutADaemon() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Tea", "every", "2h")
      _ = try await daemon.stop()
      let store = home.state + "/chime.db"
      var data = try #require(FileManager.default.contents(atPath: store))
      for page in 1..<(data.count / 4_096) {
        data.replaceSubrange(page * 4_096..<page * 4_096 + 12, with: Data(repeating: 0xFF, count: 12))
      }
      try data.write(to: URL(fileURLWithPath: store))
      let found = try await doctor(home)
      #expect(
        found.states("store") == ["error"] && found.says("store").contains("is damaged"), "\(found.says("store"))")
      #expect(found.remedies("store").first?.contains("start chimed") == true)
      #expect(FileManager.default.contents(atPath: store) == data)
    }
  }

  @Test(.enabled(if: SmallDisk.isPossible, "needs root and mount"))
  func fullDiskIsFound() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        _ = try await home.start()
        try disk.fill()
        _ = try await home.chime("add", "Milk", "in", "1h")
        let found = try await doctor(home)
        #expect(
          found.states("diskSpace") == ["error"] && found.says("diskSpace").contains("the disk is full"),
          "\(found.everything)")
        #expect(found.states("store") == ["error"] && found.says("store").contains("disk is full"))
      }
    }
  }

  @Test(.enabled(if: Machine.hasClients, "needs the webhook libraries"))
  func endpointsAreCheckedAndTestedOnlyOnRequest() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [204, 500])
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      #expect(try await doctor(home).states("endpoints") == ["ok"])
      #expect(receiver.requests.isEmpty)
      var found = try await doctor(home, "--live")
      #expect(
        found.states("endpoints") == ["ok"] && found.says("endpoints").contains("each accepted a test message: team"))
      #expect(receiver.requests.count == 1)
      found = try await doctor(home, "--live")
      #expect(
        found.states("endpoints") == ["error"] && found.says("endpoints").contains("did not accept a test message"))

      try await home.mustRun("endpoint", "disable", "team")
      found = try await doctor(home)
      #expect(
        found.states("endpoints") == ["error"] && found.remedies("endpoints").contains("chime endpoint enable team"))
      try await home.mustRun("endpoint", "enable", "team")

      let secret = try #require(
        try FileManager.default.contentsOfDirectory(atPath: home.state + "/secrets").first)
      chmod("\(home.state)/secrets/\(secret)", 0o644)
      found = try await doctor(home)
      #expect(found.states("secrets") == ["error"] && found.says("secrets").contains("mode 0644"))
      #expect(found.remedies("secrets") == ["chmod 600 \(home.state)/secrets/\(secret)"])
      unlink("\(home.state)/secrets/\(secret)")
      _ = try await home.answer("io.chime.Daemon.Reload")
      found = try await doctor(home)
      #expect(found.says("endpoints").contains("it has no secret"), "\(found.everything)")
      #expect(found.remedies("endpoints").contains { $0.contains("endpoint rotate team") })
    }
  }

  @Test(.enabled(if: Machine.has("openssl"), "needs openssl"))
  func untrustedCertificateIsFound() async throws {
    try await Home.run { home in
      let script = Machine.package + "/Tests/ChimeDeliveryTests/Support/tls.py"
      let receivers = try await home.spawn(
        Machine.debianPython, [script], environment: ["TMPDIR": home.path], withInput: true)
      let ports = try await eventually("the receivers say their ports; \(receivers.errors)") {
        try receivers.lines.first.map { try JSON(parsing: $0) }
      }
      let port = try #require(ports["good"].int ?? ports["valid"].int, "\(ports)")
      _ = try await home.start()
      try await home.mustRun(
        "endpoint", "add", "tls", "https://localhost:\(port)/", "--new-secret", home.path + "/tls.secret")
      try await home.mustRun("in", "1s", "Tea", "--to", "tls")
      try await eventually("the attempt has failed", within: .seconds(20)) {
        try await doctor(home).says("endpoints").contains("certificate")
      }
      let found = try await doctor(home)
      #expect(found.states("endpoints") == ["error"] && found.says("endpoints").contains("untrusted certificate"))
      #expect(found.remedies("endpoints").contains { $0.contains("--ca-file") })
    }
  }

  @Test func commandWithAMissingProgramIsFound() async throws {
    try await Home.run { home in
      let program = home.path + "/backup"
      try home.write("#!/bin/sh\n", to: program, mode: 0o755)
      try home.configure("[commands.backup]\nprogram = \"\(program)\"\n")
      _ = try await home.start()
      #expect(try await doctor(home).states("commands") == ["ok"])
      unlink(program)
      let found = try await doctor(home)
      #expect(found.states("commands") == ["error"] && found.says("commands").contains("backup cannot be run"))
      #expect(found.bad.contains("configuration") && found.says("configuration").contains("chimed.toml:2"))
    }
  }

  @Test(.enabled(if: Machine.canManage, "needs root, namespaces and control groups"))
  func unitsAreCheckedWithoutStartingTheDaemon() async throws {
    try await Home.run { home in
      let manager = try await UserManager.start(in: home)
      func findings() async throws -> Findings { try Findings(await manager.run(Machine.chime, ["doctor", "--json"])) }
      try await manager.systemctl("start", "chimed.socket")
      // If systemd answers too slowly, the doctor connects, and the socket starts the daemon.
      var found = try await eventually("systemd answers the doctor in time") { () -> Findings? in
        let found = try await findings()
        guard found.says("units").contains("took longer than") else { return found }
        try await manager.systemctl("stop", "chimed.service")
        return nil
      }
      #expect(found.says("daemon").contains("does not run") && found.bad.contains("daemon"), "\(found.everything)")
      #expect(found.remedies("daemon") == ["systemctl --user enable --now chimed.service"])
      #expect(try await manager.property("ActiveState") == "inactive")

      // The remedy works.
      try await manager.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      found = try await settled(findings) { $0.states("daemon") == ["ok"] }
      #expect(found.states("daemon") == ["ok"], "\(found.everything)")
      #expect(found.says("socket").contains("used by systemd"))
      #expect(found.states("units").allSatisfy { $0 != "error" }, "\(found.says("units"))")

      // A unit that was changed on disk.
      let file = home.path + "/config/systemd/user/chimed.service"
      let text = try String(contentsOfFile: file, encoding: .utf8)
      try home.write(text + "\n# newer\n", to: file)
      found = try await findings()
      #expect(found.says("units").contains("chimed.service has changed on disk"), "\(found.says("units"))")
      #expect(found.remedies("units").first == "systemctl --user daemon-reload")
      try await manager.systemctl("daemon-reload")
      #expect(!(try await findings().says("units").contains("has changed on disk")))

      // A unit whose program is missing, and one that fails.
      try home.write(text.replacing(/ExecStart=\S+/, with: "ExecStart=/nonexistent/chimed"), to: file)
      try await manager.systemctl("daemon-reload")
      found = try await findings()
      #expect(
        found.bad.contains("units") && found.says("units").contains("runs /nonexistent/chimed, which does not exist"))
      try home.write(text, to: file)
      try await manager.systemctl("daemon-reload")
      try home.configure("[nothing]\n")
      _ = try await manager.run("systemctl", ["--user", "restart", "chimed.service"])
      found = try await findings()
      #expect(found.bad.contains("units") && found.says("units").contains("has failed"), "\(found.everything)")
      #expect(found.says("configuration").contains("chimed.toml:1"))
    }
  }

  @Test(.proof(.booted), .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"))
  func rootAndMembersCheckTheSystemDaemon() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      func findings(as user: Int? = nil) async throws -> Findings {
        try Findings(await machine.run("chime", ["--system", "doctor", "--json"], as: user))
      }
      var found = try await findings()
      #expect(found.bad.contains("daemon"), "\(found.everything)")
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      found = try await settled {
        try await findings()
      } _: {
        $0.status == 0 && $0.states("daemon") == ["ok"] && $0.says("store").hasSuffix("sound")
      }
      #expect(found.bad == [] && found.status == 0, "\(found.everything)")
      #expect(found.states("daemon") == ["ok"] && found.states("units") == ["ok"])
      #expect(found.says("store").contains("chime.db") && found.says("store").hasSuffix("sound"))
      #expect(found.of("bus").isEmpty && found.of("lingering").isEmpty)
      // The command reads the clock state, because the daemon's unit forbids it to the daemon.
      #expect(["ok", "warning"].contains(found.states("clock").first ?? ""), "\(found.says("clock"))")

      // A stale copy of the unit in /etc is reported if it differs.
      try await machine.mustRun(
        "cp", "/usr/local/lib/systemd/system/chimed.service", "/etc/systemd/system/chimed.service")
      try await machine.systemctl("daemon-reload")
      found = try await findings()
      #expect(found.states("units") == ["ok"], "\(found.everything)")
      try await machine.mustRun("sed", "-i", "s/^Restart=.*/Restart=no/", "/etc/systemd/system/chimed.service")
      try await machine.systemctl("daemon-reload")
      found = try await findings()
      #expect(found.states("units") == ["warning"], "\(found.everything)")
      #expect(
        found.remedies("units").first
          == "diff /usr/local/lib/systemd/system/chimed.service /etc/systemd/system/chimed.service")

      // A user outside the group is told how to join it.
      try await machine.mustRun("useradd", "--uid", "4711", "ann")
      found = try await findings(as: 4_711)
      #expect(found.bad.contains("socket") && found.bad.contains("daemon"), "\(found.everything)")
      #expect(found.remedies("socket").contains { $0.contains("usermod --append --groups chime") })
    }
  }
}
