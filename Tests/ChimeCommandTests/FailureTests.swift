import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

@Suite struct FailureTests {
  @Test(
    arguments: [
      (
        "NotFound", Wire.NotFound(what: "reminder", id: "r7k3", similar: ["r7k2", "Drink water"]), ExitCode.failed,
        "chime: there is no reminder \"r7k3\"\n  did you mean r7k2 or Drink water?\n"
      ),
      (
        "Ambiguous", Wire.Ambiguous(id: "r7", candidates: ["r7k2  Drink water", "r7x1  T\u{1B}ea"]), .failed,
        "chime: \"r7\" matches more than one\n  r7k2  Drink water\n  r7x1  T␛ea\n  choose one by its id\n"
      ),
      (
        "InvalidSchedule",
        Wire.InvalidSchedule(
          text: "every 90n", column: 9, expected: "a unit of time", suggestion: "every 90m",
          message: "every 90n: \"n\" is not a unit of time (column 9); did you mean 90m?"), .usage,
        "chime: \"n\" is not a unit of time\n  every 90n\n          ^\n  did you mean \"every 90m\"?\n"
      ),
      (
        "InvalidSchedule",
        Wire.InvalidSchedule(text: "日本 x", column: 4, expected: "a schedule", suggestion: nil, message: "no"), .usage,
        "chime: no\n  日本 x\n       ^\n  expected a schedule\n"
      ),
      (
        "NeverOccurs", Wire.NeverOccurs(text: "at 2001-01-01", message: "it has passed"), .usage,
        "chime: it has passed\n  at 2001-01-01\n"
      ),
      (
        "InvalidValue", Wire.InvalidValue(field: "title", message: "it is empty"), .failed,
        "chime: the title cannot be used: it is empty\n"
      ),
      ("Conflict", Wire.Conflict(message: "it is not paused"), .failed, "chime: it is not paused\n"),
      (
        "LimitExceeded", Wire.LimitExceeded(limit: "reminders"), .failed,
        "chime: the request exceeds a limit of the daemon: reminders\n"
      ),
      (
        "StoreUnavailable", Wire.StoreUnavailable(reason: "disk full"), .tryAgain,
        "chime: the store cannot be written: disk full\n  nothing was changed; try again, and see `chime status`\n"
      ),
    ] as [(String, any JSONWritable & Sendable, ExitCode, String)])
  func typedErrorsHaveTheirTextAndStatus(
    _ name: String, _ error: any JSONWritable & Sendable, _ status: ExitCode, _ text: String
  ) throws {
    let daemon = try FakeDaemon { _, _ in .error(name, error) }
    let outcome = chime(["add", "Tea", "every 90m"], daemon: daemon)
    #expect(outcome.status == status)
    #expect(outcome.errors == text)
    #expect(outcome.output.isEmpty)
  }

  @Test func serviceErrorsHaveTheirStatus() throws {
    let denied = try FakeDaemon { _, _ in .service(.permissionDenied) }
    #expect(chime(["list"], daemon: denied).status == .notPermitted)
    let old = try FakeDaemon { method, _ in .service(.methodNotFound(method: method)) }
    let outcome = chime(["list"], daemon: old)
    #expect(outcome.status == .failed)
    #expect(outcome.errors.contains("compare the versions of `chime version` and `chime status`"))
  }

  @Test func disconnectingDaemonIsUnavailable() throws {
    let daemon = try FakeDaemon { _, _ in .hangUp }
    #expect(chime(["list"], daemon: daemon).status == .unavailable)
  }

  @Test func missingDaemonIsReportedWithARemedy() {
    let outcome = chime(["list"])
    #expect(outcome.status == .unavailable)
    #expect(outcome.errors.contains("systemctl --user enable --now chimed.socket chimed.service"))
    #expect(outcome.output.isEmpty)
  }

  @Test(
    arguments: [
      ([], ["CHIME_SOCKET": "/a/b"], "/a/b"), (["--socket", "/c"], ["CHIME_SOCKET": "/a/b"], "/c"),
      (["--socket", "unix:/c"], [:], "/c"), (["--system"], ["XDG_RUNTIME_DIR": "/r"], "/run/chime/io.chime"),
      ([], ["XDG_RUNTIME_DIR": "/r"], "/r/chime/io.chime"), ([], [:], "/run/user/1000/chime/io.chime"),
      ([], ["XDG_RUNTIME_DIR": "relative"], "/run/user/1000/chime/io.chime"),
    ] as [([String], [String: String], String)])
  func socketPathFollowsOptionsAndEnvironment(_ arguments: [String], _ environment: [String: String], _ path: String)
    throws
  {
    let line = try ParsedLine.parse(arguments)
    #expect(try SocketPath.chosen(by: line, environment: environment, userID: 1_000).path == path)
  }

  @Test func statusReportsAFailingStore() throws {
    let daemon = try FakeDaemon { _, _ in .reply(DaemonInterface.Status.Reply(status: Samples.health(problem: "full")))
    }
    let outcome = chime(["status"], daemon: daemon)
    #expect(outcome.status == .tryAgain)
    #expect(outcome.output.contains("in trouble"))
  }

  @Test func failedEndpointTestReturnsAnError() throws {
    var result = Samples.result
    (result.ok, result.status, result.error) = (false, nil, "connection refused")
    let daemon = try FakeDaemon { [result] _, _ in .reply(EndpointsInterface.Test.Reply(result: result)) }
    let outcome = chime(["endpoint", "test", "team"], daemon: daemon)
    #expect(outcome.status == .failed)
    #expect(outcome.output.contains("not accepted: connection refused"))
  }
}

/// `chime command test` shows input and output, and waits as long as the command's time limit.
@Suite struct CommandTestTests {
  @Test func failedTestPrintsInputAndOutput() throws {
    let daemon = try VerbTests.daemon()
    let outcome = chime(["command", "test", "backup"], daemon: daemon)
    #expect(outcome.status == .failed)
    #expect(daemon.methods == ["Commands.List", "Commands.Test"])
    #expect(daemon.calls.last?.parameters == ["name": "backup"])
    for part in [
      "/usr/local/bin/backup --quiet\n", "  CHIME_TITLE=A test\n", #"  < {"type":"chime.test"}"#, "  > no disk\n",
      "the rest of the output was dropped", "not delivered: it ended with status 3: no disk, after 12 ms",
    ] {
      #expect(outcome.output.contains(part), "\(part) in \(outcome.output)")
    }
    #expect(!outcome.output.contains("\u{1B}"), "what a program wrote does not speak to the terminal")
    let json = chime(["command", "test", "backup", "--json"], daemon: daemon)
    #expect(json.status == .failed)
    #expect(try JSON(parsing: json.output)["result"]?["status"] == 3)
  }

  @Test func commandTestNeedsAName() throws {
    let outcome = chime(["command", "test"], daemon: try VerbTests.daemon())
    #expect(outcome.status == .usage && outcome.errors.contains("chime command list"))
  }
}

/// Files, and a person at the terminal.
@Suite struct TerminalTests {
  @Test(arguments: [("y\n", true), ("yes\n", true), ("\n", false), ("n\n", false), ("", false)])
  func removeAsksForConfirmation(_ answer: String, _ removes: Bool) throws {
    let daemon = try VerbTests.daemon()
    let outcome = chime(["remove", "Drink water"], daemon: daemon, input: answer, isInputTerminal: true)
    #expect(outcome.errors.contains("Remove \"Drink water\" (r7k2, every 90m from 08:00 to 22:00)? [y/N]"))
    #expect(outcome.status == (removes ? .success : .failed))
    #expect(daemon.methods == (removes ? ["Reminders.Get", "Reminders.Remove"] : ["Reminders.Get"]))
    // The removal uses the id of the reminder that was shown.
    if removes { #expect(daemon.calls.last?.parameters == ["id": "r7k2"]) }
  }

  @Test func removeWithYesDoesNotAsk() throws {
    let daemon = try VerbTests.daemon()
    #expect(chime(["remove", "r7k2", "-y"], daemon: daemon, isInputTerminal: true).status == .success)
    #expect(daemon.methods == ["Reminders.Remove"])
  }

  @Test func editOpensAnEditor() throws {
    let daemon = try VerbTests.daemon()
    let environment = ["EDITOR": "sed -i -e 's/^when: .*/when: daily at 8/' -e 's/^body:.*/body: One\\n  Two/'"]
    let outcome = chime(
      ["edit", "Drink water"], daemon: daemon, isTerminal: true, isInputTerminal: true, environment: environment)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(daemon.calls.last?.parameters == ["id": "r7k2", "change": ["when": "daily at 8", "body": "One\nTwo"]])
  }

  @Test(arguments: [
    ("true", ExitCode.success, "Nothing was changed."), ("false", .failed, "is saved in /"),
    ("sed -i s/^when:/wehn:/", .usage, "did you mean when?"), ("no-such-editor-anywhere", .failed, "was not found"),
  ])
  func editWithoutAValidChangeChangesNothing(_ editor: String, _ status: ExitCode, _ text: String) throws {
    let daemon = try VerbTests.daemon()
    let outcome = chime(
      ["edit", "r7k2"], daemon: daemon, isTerminal: true, isInputTerminal: true, environment: ["VISUAL": editor])
    #expect(outcome.status == status)
    #expect(outcome.errors.contains(text), "\(outcome.errors)")
    #expect(daemon.methods == ["Reminders.Get"])
    if let kept = outcome.errors.split(separator: "\n").last?.split(separator: " ").last, kept.hasPrefix("/") {
      try? FileManager.default.removeItem(atPath: String(kept))
    }
  }

  @Test func editFormReadsBack() throws {
    var reminder = Samples.reminder("r7k2", "A: b # c")
    reminder.body = "One\n\n# two\n  three\n"
    reminder.catchUp.downtime = .skip
    let form = EditForm(reminder)
    #expect(try EditForm(text: form.text).values == form.values)
  }

  @Test func secretsAreReadFromPrivateFilesOnly() throws {
    let directory = RunFolder.url.appending(path: "chime-secret-\(getpid())").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/s"
    let line = ["endpoint", "add", "team", "http://127.0.0.1:8099/hook"]
    let daemon = try VerbTests.daemon()

    let made = chime(line + ["--new-secret", path], daemon: daemon)
    #expect(made.status == .success, "\(made.errors)")
    let secret = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
    #expect(secret.hasPrefix("whsec_"))
    #expect(Data(base64Encoded: String(secret.dropFirst(6)))?.count == 32)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    #expect(daemon.calls.last?.parameters["secret"] == .string(secret))
    #expect(!made.output.contains(secret) && !made.errors.contains(secret))

    #expect(chime(line + ["--new-secret", path], daemon: daemon).errors.contains("--secret-file \(path)"))
    #expect(chime(line + ["--secret-file", path], daemon: daemon).status == .success)
    #expect(daemon.calls.last?.parameters["secret"] == .string(secret))

    chmod(path, 0o640)
    let calls = daemon.calls.count
    let open = chime(line + ["--secret-file", path], daemon: daemon)
    #expect(open.status == .notPermitted)
    #expect(open.errors.contains("chmod 600 \(path)"))
    #expect(daemon.calls.count == calls)
    #expect(chime(line + ["--secret-file", directory], daemon: daemon).status == .failed)
    #expect(chime(line + ["--secret-file", path + "x"], daemon: daemon).status == .failed)

    // A secret created for a refused endpoint is deleted.
    let refusing = try FakeDaemon { _, _ in .error("InvalidValue", Wire.InvalidValue(field: "url", message: "no URL")) }
    let refused = directory + "/t"
    #expect(chime(line + ["--new-secret", refused], daemon: refusing).status == .failed)
    #expect(!FileManager.default.fileExists(atPath: refused))
  }

  /// One key chooses between two matches; without a terminal or with another key, nothing changes.
  @Test(arguments: [("2", "tea2"), ("1", "tea1"), ("3", nil), ("\n", nil), ("", nil), ("x", nil)])
  func ambiguousTitleIsAskedAboutOnATerminal(answer: String, id: String?) throws {
    let candidates = ["tea1 Black tea (daily at 09:00)", "tea2 Black tea (at 2026-12-01 09:00)"]
    let daemon = try FakeDaemon { _, parameters in
      if case .string("Black tea")? = parameters["id"] {
        return .error("Ambiguous", Wire.Ambiguous(id: "Black tea", candidates: candidates))
      }
      return .reply(RemindersInterface.Update.Reply(reminder: Samples.reminder(), warnings: []))
    }
    let asked = chime(["edit", "Black", "tea", "--title", "Tea"], daemon: daemon, input: answer, isInputTerminal: true)
    #expect(asked.errors.contains("  2  tea2 Black tea (at 2026-12-01 09:00)"), "\(asked.errors)")
    #expect(asked.errors.contains("Which one do you mean? 1 to 2; any other key changes nothing: "))
    #expect(asked.status == (id == nil ? .failed : .success))
    #expect(daemon.calls.contains { $0.parameters["id"] == id.map { .string($0) } } == (id != nil))
    if id == nil { #expect(asked.errors.contains("nothing was changed")) }
    for more in [["--json"], ["--plain"], ["--quiet"]] {
      let silent = chime(
        ["edit", "Black tea", "--title", "Tea"] + more, daemon: daemon, input: answer, isInputTerminal: true)
      #expect(silent.status == .failed && silent.errors.contains("choose one by its id"), "\(more)")
    }
    #expect(
      chime(["edit", "Black tea", "--title", "Tea"], daemon: daemon, input: answer).errors.contains(
        "choose one by its id"))
  }
}
