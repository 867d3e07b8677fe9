import Foundation
import Testing

/// The files of `make install`, and the output of `make run`.
@Suite(.serialized) struct PackagingTests {
  @Test(.timeLimit(.minutes(1)))
  func installAddsAllFilesAndUninstallRemovesThem() async throws {
    try await Home.run { home in
      let root = home.path + "/root"
      let paths = ["PREFIX": "/opt/chime", "DESTDIR": root]
      let first = try await home.run(Machine.packaging("install"), [Machine.programs], environment: paths)
      #expect(first.status == 0, "\(first.text)")
      let wanted = [
        "/opt/chime/bin/chimed", "/opt/chime/bin/chime", "/opt/chime/lib/systemd/system/chimed.service",
        "/opt/chime/lib/systemd/system/chimed.socket", "/opt/chime/lib/systemd/user/chimed.service",
        "/opt/chime/lib/systemd/user/chimed.socket", "/opt/chime/lib/sysusers.d/chime.conf",
        "/opt/chime/lib/systemd/catalog/chime.catalog",
        "/opt/chime/share/bash-completion/completions/chime", "/opt/chime/share/zsh/site-functions/_chime",
        "/opt/chime/share/fish/vendor_completions.d/chime.fish", "/opt/chime/share/man/man1/chime.1",
        "/opt/chime/share/man/man5/chimed.toml.5", "/opt/chime/share/man/man7/chime-schedules.7",
        "/opt/chime/share/man/man7/io.chime.7", "/opt/chime/share/man/man8/chimed.8",
        "/opt/chime/share/doc/chime/README.md", "/opt/chime/share/doc/chime/LICENSE", "/etc/chime/chimed.toml",
      ]
      for path in wanted { #expect(FileManager.default.fileExists(atPath: root + path), "\(path)") }
      for unit in wanted where unit.hasSuffix(".service") {
        let text = try String(contentsOfFile: root + unit, encoding: .utf8)
        #expect(text.contains("ExecStart=/opt/chime/bin/chimed"))
        #expect(!text.contains(/@\w+@/) && !text.contains(root), "the paths are those of the installed system: \(text)")
      }
      // The installed programs run without a toolchain.
      let version = try await home.run(root + "/opt/chime/bin/chime", ["--version"], environment: ["PATH": "/nowhere"])
      #expect(version.status == 0, "\(version.text)")

      try home.write("# mine\n", to: root + "/etc/chime/chimed.toml")
      let second = try await home.run(Machine.packaging("install"), [Machine.programs], environment: paths)
      #expect(second.status == 0, "\(second.text)")
      #expect(try String(contentsOfFile: root + "/etc/chime/chimed.toml", encoding: .utf8) == "# mine\n")

      let removed = try await home.run(Machine.packaging("install"), ["--remove"], environment: paths)
      #expect(removed.status == 0, "\(removed.text)")
      let left = try await home.run("find", [root, "-type", "f"])
      #expect(left.out == "\(root)/etc/chime/chimed.toml\n", "the configuration stays, nothing else: \(left.out)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func makeRunFiresAReminderAndSuggestsCommands() async throws {
    try await Home.run { home in
      let run = try await home.spawn(Machine.packaging("run"), [Machine.programs])
      try await eventually("the welcome fires; so far: \(run.output)", within: .seconds(15)) {
        run.lines.contains { $0.contains("fired") && $0.contains("Welcome to Chime") }
      }
      #expect(run.output.contains("export PATH=\(Machine.programs):$PATH"))

      // A second `make run` detects the first, and leaves it running.
      let second = try await home.spawn(Machine.packaging("run"), [Machine.programs])
      try await eventually("the second one finds the first; it said: \(second.output)") {
        second.output.contains("runs already") && second.output.contains("Ctrl-C")
      }
      kill(-second.pid, SIGINT)
      #expect(try await second.ended() == .exited(0))
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["pid"].int != nil)

      // Ctrl-C reaches all processes of the terminal's group.
      kill(-run.pid, SIGINT)
      #expect(try await run.ended() == .exited(0))
      #expect(!FileManager.default.fileExists(atPath: home.socket), "the daemon has stopped cleanly")
      #expect(run.output.contains("Your reminders are kept in \(home.state)"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func makeRunWorksWithoutALoginSession() async throws {
    try await Home.run { home in
      let folder = "\(home.path)/chime-\(getuid())"
      let run = try await home.spawn(
        Machine.packaging("run"), [Machine.programs],
        environment: ["XDG_RUNTIME_DIR": home.path + "/none", "TMPDIR": home.path])
      try await eventually("it says where the socket is; so far: \(run.output)\(run.errors)") {
        run.output.contains("export CHIME_SOCKET=\(folder)/chime/io.chime") && run.output.contains("Ctrl-C")
      }
      let attributes = try FileManager.default.attributesOfItem(atPath: folder)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
      kill(-run.pid, SIGINT)
      #expect(try await run.ended() == .exited(0))
      #expect(!FileManager.default.fileExists(atPath: folder), "what it made is gone with it")
    }
  }

  /// The screenshots in docs, generated from today's messages, match the committed ones.
  @Test(
    .timeLimit(.minutes(1)),
    .enabled(if: Machine.hasClients && Broker.isThere, "needs mosquitto, and .venv: Packaging/dependencies test"))
  func screenshotsMatchTodaysMessages() async throws {
    try await Home.run { home in
      let folder = home.path + "/pictures"
      let drawn = try await home.run(Machine.packaging("pictures"), [Machine.programs, folder], within: .seconds(40))
      #expect(drawn.status == 0, "\(drawn.text)")
      for name in ["phone", "room", "email", "home"] {
        let kept = try String(contentsOfFile: "\(Machine.package)/docs/pictures/\(name).svg", encoding: .utf8)
        #expect(try String(contentsOfFile: "\(folder)/\(name).svg", encoding: .utf8) == kept, "\(name)")
      }
    }
  }

  /// The session in the README, generated from the real programs; an unexpected exit status fails.
  @Test(.timeLimit(.minutes(1)))
  func readmesSessionMatchesTheRealPrograms() async throws {
    try await Home.run { home in
      let picture = home.path + "/terminal.svg"
      let recorded = try await home.run(Machine.packaging("record"), [Machine.programs, picture], within: .seconds(40))
      #expect(recorded.status == 0, "\(recorded.text)")
      let parsed = try await home.run(
        Machine.debianPython, ["-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", picture])
      #expect(parsed.status == 0, "\(parsed.text)")
      let text = try String(contentsOfFile: picture, encoding: .utf8)
      for shown in ["chime snooze 20m", #"did you mean "every 90m"?"#, "does not exist", "snoozed until"] {
        #expect(text.contains(shown), "\(shown)")
      }
      #expect(!text.contains("\u{1B}"), "every colour has been drawn")
      #expect(!text.contains("/tmp/"), "nobody sees where it was recorded")
    }
  }
}
