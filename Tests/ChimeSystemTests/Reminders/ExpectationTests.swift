import Foundation
import Testing

/// Jobs that ping a real daemon, and jobs that do not.
@Suite struct ExpectationTests {
  private func expectation(_ name: String, _ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Expectations.Get", ["id": .string(name)])
  }

  private func state(_ name: String, _ home: Home) async throws -> String? {
    try await expectation(name, home)["expectation"]["state"].string
  }

  /// Returns the titles of messages recorded by the command `note`.
  private func notices(_ home: Home) -> [String] {
    let text = (try? String(contentsOfFile: home.path + "/notices", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  private func configure(_ home: Home) throws {
    let script = home.path + "/note"
    try "#!/bin/sh\nprintf '%s\\n' \"$CHIME_TITLE\" >> '\(home.path)/notices'\n".write(
      toFile: script, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    try home.configure("[desktop]\nprogram = \"true\"\n[commands.note]\nprogram = \"\(script)\"\n")
  }

  @Test(.timeLimit(.minutes(2)))
  func expectationGoesDownAndUpAgain() async throws {
    try await Home.run { home in
      try configure(home)
      let first = try await home.start()
      let empty = try await home.run(Machine.chime, ["expect", "list"])
      #expect(empty.status == 0 && empty.text.contains("There is no expectation yet."), "\(empty.text)")

      // Without a ping it is reported down, and stays so through a crash.
      let made = try await home.mustRun("expect", "backup", "--every", "1s", "--within", "1s", "--to", "note")
      #expect(made.contains("backup"), "\(made)")
      try await eventually("it is reported") { notices(home).contains("backup: no ping") }
      #expect(try await state("backup", home) == "down")
      let list = try await home.run(Machine.chime, ["expect", "list"])
      #expect(list.status == 1 && list.text.contains("down since"), "\(list.text)")
      try await first.crash()
      let second = try await home.start()
      #expect(try await state("backup", home) == "down")

      // The schedule is far away: only pings have effects.
      try await home.mustRun("edit", "backup", "--when", "at 2096-12-01 09:00")
      let up = try await home.mustRun("ping", "backup")
      #expect(up.contains("is up again after"), "\(up)")
      try await eventually("that is reported too") { notices(home).contains("backup is up again") }
      #expect(try await state("backup", home) == "up")

      // A failed run is reported at once, with its output.
      let failed = try await home.run(
        Machine.chime, ["run", "backup", "--", "sh", "-c", "echo out; echo err >&2; exit 3"])
      #expect(failed.status == 3 && failed.out == "out\n" && failed.text.contains("err"), "\(failed.text)")
      try await eventually("the failure is reported") { notices(home).contains("backup failed") }
      let pings = try await expectation("backup", home)["pings"].elements
      #expect(pings.map { $0["kind"].string }.prefix(2) == ["failed", "started"], "\(pings)")
      #expect(pings[0]["status"] == 3 && pings[0]["output"].string?.contains("err") == true, "\(pings[0])")
      #expect(pings[0]["uid"].int == Int(getuid()))

      // An acknowledged ping survives a crash.
      try await home.mustRun("ping", "backup", "--start")
      try await second.crash()
      _ = try await home.start()
      #expect(try await state("backup", home) == "running")
      try await home.mustRun("ping", "backup")
      #expect(try await state("backup", home) == "up")
      let shown = try await home.mustRun("expect", "show", "backup")
      #expect(shown.contains("●") && shown.contains("✗"), "\(shown)")
      let output = try await home.mustRun("expect", "show", "backup", "--output")
      #expect(output.contains("out") && output.contains("err"), "\(output)")
      let status = try await home.mustRun("status")
      #expect(status.contains("1 job, and it is up"), "\(status)")
      let metrics = try await home.mustRun("metrics")
      #expect(metrics.contains("chime_expectations{state=\"down\"} 0"), "\(metrics)")

      let export = try await home.mustRun("export")
      #expect(export.contains("within = \"1s\""), "\(export)")
      try await home.mustRun("expect", "remove", "backup", "--yes")
      #expect(try await home.run(Machine.chime, ["ping", "backup"]).status == 1)
      try await home.mustRun("undo", "--yes")
      try await home.mustRun("ping", "backup")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func invalidExpectationsAndPingsAreRefused() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let tea = try await home.add("Tea", "at 2096-12-01 09:00")
      try await home.mustRun("expect", "job", "at", "2096-12-01", "09:00")
      func refused(_ words: String..., saying part: String) async throws {
        let output = try await home.run(Machine.chime, words)
        #expect(output.status != 0 && output.text.contains(part), "\(words): \(output.status) \(output.text)")
      }
      try await refused("ping", "jbo", saying: "job")
      try await refused("ping", tea, saying: "--within")
      try await refused("ping", "job", "--start", "--fail", saying: "--start")
      try await refused("ping", "job", "--status", "256", saying: "--status")
      try await refused("expect", "other", saying: "schedule")
      try await refused("expect", "other", "--every", "nonsense", saying: "--every")
      try await refused("expect", "other", "daily", "at", "3:00", "--within", "0s", saying: "1s")
      try await refused("move", "job", "+1h", saying: "skip")
      try await refused("run", "job", saying: "chime run")
      for (field, value) in [("status", -1), ("durationMs", -1)] as [(String, JSON)] {
        let reply = try await home.call("io.chime.Expectations.Ping", ["id": "job", field: value])
        #expect(reply.error == "io.chime.Expectations.InvalidValue", "\(reply)")
      }
      #expect(try await state("job", home) == "new")
      // Much more than the limit.
      let long = home.path + "/long"
      try String(repeating: "line of output\u{1B}[31m\n", count: 200_000).write(
        toFile: long, atomically: true, encoding: .utf8)
      try await home.mustRun("ping", "job", "--message", long)
      let kept = try await expectation("job", home)["pings"].elements.first?["output"].string ?? ""
      #expect(kept.utf8.count <= 10_240 && kept.utf8.count > 9_000 && !kept.contains("\u{1B}"))
      // Programs that are missing, that are killed, and that write endlessly.
      let missing = try await home.run(Machine.chime, ["run", "job", "--", home.path + "/nothing"])
      #expect(missing.status == 127, "\(missing.text)")
      let killed = try await home.run(Machine.chime, ["run", "job", "--", "sh", "-c", "kill -9 $$"])
      #expect(killed.status == 137, "\(killed.text)")
      let away = try await home.run(
        Machine.chime, ["run", "job", "--", "sh", "-c", "(sleep 600 & echo $! > '\(home.path)/pid'); echo gone"])
      #expect(away.status == 0 && away.out == "gone\n", "it does not wait for what runs on")
      let pid = try String(contentsOfFile: home.path + "/pid", encoding: .utf8)
      if let pid = Int32(pid.trimmingCharacters(in: .newlines)) { kill(pid, SIGKILL) }
      let pings = try await expectation("job", home)["pings"].elements
      #expect(pings.compactMap { $0["status"].int }.prefix(3) == [0, 137, 127], "\(pings)")
    }
  }

  /// Signals to `chime run` reach the job, which may handle them.
  @Test(.timeLimit(.minutes(1)))
  func runForwardsSignalsToTheJob() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await home.mustRun("expect", "job", "at", "2096-12-01", "09:00")
      let ready = home.path + "/ready"
      for (name, number) in [("TERM", 15), ("HUP", 1), ("USR1", 10)] {
        let job =
          "trap 'echo heard \(name); exit \(20 + number)' \(name); touch '\(ready)'; while :; do sleep 0.05; done"
        let output = try await home.run(
          "/bin/sh",
          [
            "-c",
            """
            "$0" run job -- sh -c "$1" & pid=$!
            until [ -e "$2" ]; do sleep 0.05; done
            rm "$2"; kill -s \(name) $pid; wait $pid; exit $?
            """, Machine.chime, job, ready,
          ])
        #expect(
          output.status == 20 + number && output.out == "heard \(name)\n",
          "\(name): \(output.status) \(output.text)")
        let last = try await expectation("job", home)["pings"].elements.first
        #expect(last?["kind"] == "failed" && last?["status"].int == 20 + number, "\(name): \(last ?? .null)")
        #expect(last?["output"].string?.contains("heard \(name)") == true)
      }
      // A job that ignores signals is killed.
      let deaf = try await home.run(
        "/bin/sh",
        [
          "-c",
          """
          "$0" run job -- sh -c "touch '$1'; exec sleep 600" & pid=$!
          until [ -e "$1" ]; do sleep 0.05; done
          kill $pid; wait $pid; exit $?
          """, Machine.chime, ready,
        ])
      #expect(deaf.status == 128 + 15, "\(deaf.status) \(deaf.text)")
      #expect(try await expectation("job", home)["pings"].elements.first?["status"] == 143)
    }
  }

  /// Without a daemon the job still runs.
  @Test(.timeLimit(.minutes(1)))
  func runStartsTheJobWithoutADaemon() async throws {
    try await Home.run { home in
      let output = try await home.run(Machine.chime, ["run", "job", "--", "sh", "-c", "echo ran; exit 5"])
      #expect(output.status == 5 && output.out == "ran\n", "\(output.text)")
      #expect(output.text.contains("nobody is notified"), "\(output.text)")
    }
  }

  /// Two daemons watch each other by expectations, pinged through a command.
  @Test(.timeLimit(.minutes(1)))
  func lostDaemonIsReportedByAnother() async throws {
    try await Home.run { birch in
      try configure(birch)
      _ = try await birch.start()
      try await birch.mustRun("expect", "alder", "--every", "1s", "--within", "1s", "--to", "note")
      try await Home.run { alder in
        try alder.configure(
          """
          [heartbeat]
          command = "tell"
          every = "1s"
          [commands.tell]
          program = "\(Machine.chime)"
          arguments = ["ping", "--socket", "\(birch.socket)", "alder"]
          """)
        let daemon = try await alder.start()
        try await eventually("it is received") { try await state("alder", birch) == "up" }
        #expect(try await alder.answer("io.chime.Daemon.Status")["status"]["heartbeat"]["problem"] == .null)
        try await daemon.crash()
        try await eventually("the other reports the loss") { notices(birch).contains("alder: no ping") }
        _ = try await alder.start()
        try await eventually("and its return") { notices(birch).contains("alder is up again") }
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func crontabIsImportedAsExpectations() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let crontab = home.path + "/crontab"
      try "# Nightly backup\n0 3 * * * backup\n*/5 * * * * sync\n@reboot start\n".write(
        toFile: crontab, atomically: true, encoding: .utf8)
      try await home.mustRun("import", "crontab", crontab, "--expect", "--within", "30m")
      let all = try await home.answer("io.chime.Expectations.List", [:])["expectations"].elements
      #expect(Set(all.compactMap { $0["title"].string }) == ["Nightly backup", "sync"], "\(all)")
      #expect(all.allSatisfy { $0["within"] == "PT30M" && $0["state"] == "new" })
    }
  }
}
