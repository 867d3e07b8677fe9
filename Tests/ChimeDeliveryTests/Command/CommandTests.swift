import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Commands, with real programs.
  @Suite(.serialized) struct CommandTests {
    private let scratch: Scratch
    let before = ProcessResources()

    init() throws { scratch = try Scratch() }

    var folder: URL { scratch.folder }
    var home: String { folder.path(percentEncoded: false) }

    /// A folder deleted at the end of the test.
    private final class Scratch {
      let folder = RunFolder.url.appending(path: "chime-command-\(UUID().uuidString)")

      init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

      deinit { try? FileManager.default.removeItem(at: folder) }
    }

    func definition(
      _ arguments: [String], name: String = "script", program: String = support("fake-command"),
      change: (inout CommandDefinition) -> Void = { _ in }
    ) -> CommandDefinition {
      var command = CommandDefinition(name: ChannelName(rawValue: name), program: program)
      command.arguments = arguments
      command.patience = .milliseconds(300)
      change(&command)
      return command
    }

    func channel(_ commands: CommandDefinition..., isEnabled: Bool = true) -> CommandChannel {
      let environment = [
        "PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/run/user/1000",
        "NOTIFY_SOCKET": "/run/notify", "CREDENTIALS_DIRECTORY": "/run/credentials", "SECRET": "whsec_never",
      ]
      let channel = CommandChannel(environment: CommandEnvironment(environment, isSystem: false))
      channel.adopt(book(commands, isEnabled: isEnabled))
      return channel
    }

    func book(_ commands: [CommandDefinition], isEnabled: Bool = true) -> CommandRegistry {
      var book = CommandRegistry()
      book.isEnabled = isEnabled
      book.remedy = "say so"
      for command in commands { book.commands[command.name] = command }
      return book
    }

    /// Runs a command once, and checks that nothing of it is left.
    func run(
      _ command: CommandDefinition, _ message: OutboundMessage? = nil,
      body: (CommandChannel) async throws -> Void = { _ in }
    ) async throws -> ChannelReport {
      let channel = channel(command)
      let message = try message ?? ChimeDeliveryTests.message(channel: "script")
      let reports = channel.reports(of: message)
      try await body(channel)
      let report = try await reports.next()
      await channel.stop()
      #expect(reports.isEmpty)
      #expect(ProcessResources() == before)
      return report
    }

    func file(_ name: String) -> String? {
      try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    // MARK: Input

    @Test func commandReadsTheMessageOfAWebhook() async throws {
      let told = try message(
        "Stand up \"now\"", body: "línea\n水", channel: "script", late: .suspend, lateBy: .minutes(2)
      ) {
        $0.tags = ["health", "a b"]
      }
      let report = try await run(definition(["input"]), told)
      let expected = String(decoding: try WebhookMessage(told).bytes(), as: UTF8.self) + "\n"
      #expect(report.attempt?.answer == expected)
      #expect(report.next == .settled && report.attempt?.outcome == .delivered && report.attempt?.status == 0)
      #expect(report.attempt?.number == 1 && report.attempt?.error == nil)
    }

    /// More than a pipe holds, so it must be written in parts.
    @Test func commandReadsALongMessageWhole() async throws {
      let told = try message(body: String(repeating: "長い", count: 60_000), channel: "script")
      let size = try WebhookMessage(told).bytes().count + 1
      #expect(size > 300_000)
      // The body does not fit into a variable, so run a shell that inspects the input.
      let environment = CommandEnvironment(["PATH": "/usr/bin:/bin"], isSystem: false)
      var program = try environment.program(
        definition(["-c"], program: "wc"), told, type: "reminder.fired")
      program.environment["CHIME_BODY"] = nil
      let supervisor = Supervisor()
      let events = Events<Supervisor.Event>()
      _ = supervisor.start(1, program, deadline: .seconds(120)) { events.append($0) }
      let output = try await events.first { if case .output = $0 { true } else { false } }
      guard case .output(let bytes) = output else { return }
      #expect(String(decoding: bytes, as: UTF8.self) == "\(size)\n")
      await supervisor.stop()
    }

    @Test(.disabled(if: Sanitizer.forksForVfork, "not under this sanitizer"))
    func textTooLongForAVariableIsAClearFailure() async throws {
      let told = try message(body: String(repeating: "x", count: 200_000), channel: "script")
      let report = try await run(definition(["input"]), told)
      #expect(report.next == .retry && report.attempt?.outcome == .failed)
      #expect(report.attempt?.error == "its arguments and variables are longer than the system allows")
    }

    @Test func argumentsBypassTheShell() async throws {
      let words = ["$(touch pwned)", "a  b", "'", "\"", "*", "; rm -rf /", "", "{title}", "`id`", "水"]
      let report = try await run(definition(["arguments"] + words))
      #expect(report.attempt?.answer == words.map { "<\($0)>" }.joined())
      #expect(file("pwned") == nil)
    }

    @Test func commandSeesTheMessageInVariablesAndNotTheDaemonsOwn() async throws {
      let told = try message(
        "Tea \u{0}!", body: "two\nlines", channel: "script", round: 2, late: .downtime, lateBy: .seconds(3)
      ) {
        $0.tags = ["a", "b"]
        $0.urgency = .critical
        $0.url = "https://example.org/?a=b"
        $0.location = "Kitchen"
      }
      let command = definition(["environment"]) { $0.environment = ["COLOUR": "blue", "LANG": "cs_CZ.UTF-8"] }
      let text = try #require(try await run(command, told).attempt?.answer)
      let expected = [
        "CHIME_ATTEMPT=1", "CHIME_BODY=two", "lines", "CHIME_CHANNEL=script", "CHIME_DELIVERY=msg_r7k2_2",
        "CHIME_FIRED_AT=2026-03-29T00:30:03Z", "CHIME_LOCATION=Kitchen",
        "CHIME_LATE=downtime", "CHIME_OCCURRENCE=r7k2@1774744200",
        "CHIME_REMINDER=r7k2", "CHIME_ROUND=2", "CHIME_SCHEDULED_AT=2026-03-29T00:30:00Z", "CHIME_TAGS=a,b",
        "CHIME_TENANT=",
        "CHIME_TITLE=Tea \u{FFFD}!", "CHIME_TYPE=reminder.fired", "CHIME_URGENCY=critical",
        "CHIME_URL=https://example.org/?a=b", "COLOUR=blue", "HOME=\(home)", "LANG=cs_CZ.UTF-8", "PATH=/usr/bin:/bin",
        "PWD=\(home)", "XDG_RUNTIME_DIR=/run/user/1000",
      ]
      #expect(Set(text.split(separator: "\n").map(String.init)) == Set(expected))
    }

    @Test func systemDaemonsCommandsSeeNoSession() {
      let all = ["PATH": "", "XDG_RUNTIME_DIR": "/r", "DBUS_SESSION_BUS_ADDRESS": "unix:x", "LC_TIME": "C", "A": "b"]
      #expect(CommandEnvironment(all, isSystem: true).base == ["PATH": Program.usualPath, "LC_TIME": "C"])
    }

    @Test func commandHasItsOwnDescriptorsGroupAndFolder() async throws {
      let careless = [open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)]
      defer { for descriptor in careless { close(descriptor) } }
      let channel = channel(
        definition(["descriptors"], name: "open"), definition(["where"], name: "where"),
        definition(["where"], name: "elsewhere") { $0.folder = "/usr" })
      let open = try #require(try await channel.deliver(message(channel: "open")).attempt?.answer)
      #expect(["0 -> pipe:", "1 -> pipe:", "2 -> pipe:"].allSatisfy(open.contains) && !open.contains("/dev/zero"))
      // The fourth descriptor is that of the directory listing itself.
      #expect(open.split(separator: "\n").count { $0.contains("->") } == 4)
      let lines = try #require(try await channel.deliver(message(channel: "where")).attempt?.answer).split(
        separator: "\n")
      #expect(lines.first.map(String.init) == home)
      let stat = try #require(lines.last).split(separator: " ")
      #expect(Int32(stat[4]) != getpgrp() && stat[4] != stat[5])
      #expect(try await channel.deliver(message(channel: "elsewhere")).attempt?.answer?.hasPrefix("/usr\n") == true)
      await channel.stop()
    }

    @Test func limitsAreSet() async throws {
      let command = definition(["limits"]) {
        $0.limits.memory = 512 << 20
        $0.limits.processorTime = .seconds(7)
        $0.limits.openFiles = 40
        $0.limits.processes = 30_000
        $0.limits.fileSize = 1 << 20
        $0.nice = 3
      }
      let now = getpriority(__priority_which_t(0), 0)
      let lines = try #require(try await run(command).attempt?.answer).split(separator: "\n").map(String.init)
      // ulimit counts memory in KiB and files in blocks of 512 bytes.
      #expect(lines == ["524288", "7", "40", lines[3], "2048", "0", "\(now + 3)"])
      #expect(Int(lines[3]).map { $0 <= 30_000 } == true)
    }

    @Test func commandOverALimitFails() async throws {
      let hog = try await run(definition(["hog"]) { $0.limits.memory = 100 << 20 })
      #expect(hog.attempt?.outcome == .failed && hog.attempt?.answer?.contains("had it") != true)
      #expect(try await run(definition(["hog"])).attempt?.answer == "had it\n")
      let long = try await run(definition(["write", home + "/big"]) { $0.limits.fileSize = 10_000 })
      #expect(long.attempt?.outcome == .failed)
      #expect(file("big")?.utf8.count == 10_000)
      let spin = try await run(definition(["spin"]) { $0.limits.processorTime = .seconds(1) })
      #expect(spin.attempt?.error == "signal 24 ended it (SIGXCPU, its processor time was used up)")
    }

    // MARK: Outcome

    @Test(arguments: [
      (0, ChannelReport.NextStep.settled, Attempt.Outcome.delivered), (3, .settled, .delivered), (1, .retry, .failed),
      (75, .retry, .failed),
    ])
    func exitStatusDecidesTheOutcome(_ status: Int, _ next: ChannelReport.NextStep, _ outcome: Attempt.Outcome)
      async throws
    {
      let report = try await run(definition(["status", "\(status)"]) { $0.success = [0, 3] })
      #expect(report.next == next && report.attempt?.outcome == outcome && report.attempt?.status == status)
      #expect(report.attempt?.answer == "the reason\n")
      #expect(
        report.attempt?.error == (outcome == .failed ? "it ended with status \(status): the reason" : nil))
    }

    @Test func lastLineOfTheOutputMayAnswer() async throws {
      let cases: [([String], Occurrence.Answer?, String?)] = [
        (["working", #"{"action":"done"}"#], .done, nil),
        ([#"{"action":"snooze","for":"10m"}"#, ""], .snooze(for: .minutes(10)), nil),
        ([#"{"action":"done"}"#, "and more"], nil, nil), (["{}"], nil, nil), ([], nil, nil),
        ([#"{"action":"explode"}"#], nil, "delivered, but its answer is invalid: \"explode\" is not an action"),
      ]
      for (lines, answer, error) in cases {
        let channel = channel(definition(["says"] + lines))
        let reports = channel.reports(of: try message(channel: "script"))
        let ended = try await reports.next()
        #expect(ended.next == .settled)
        #expect(ended.attempt?.error?.prefix(error?.count ?? 0).description == error)
        if let answer { #expect(try await reports.next() == .answered(answer)) }
        await channel.stop()
        #expect(reports.isEmpty)
      }
      // A failed command's output does not answer the occurrence.
      let failed = try await run(definition(["says", #"{"action":"done"}"#]) { $0.success = [1] })
      #expect(failed.next == .retry)
    }

    @Test func signalIsAFailure() async throws {
      let report = try await run(definition(["signal", "SEGV"]))
      #expect(report.next == .retry && report.attempt?.status == nil)
      #expect(report.attempt?.error == "signal 11 ended it (SIGSEGV)")
    }

    /// Returns the process ID that a program wrote to a file.
    func number(in name: String) async throws -> pid_t {
      try await eventually { file(name).flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) } }
    }

    func eventually<Value>(_ look: () -> Value?) async throws -> Value {
      let limit = ContinuousClock.now.advanced(by: .seconds(60))
      while ContinuousClock.now < limit {
        if let value = look() { return value }
        try await Task.sleep(for: .milliseconds(5))
      }
      throw Failure("it did not come to pass")
    }

    /// Returns the processes of a group, according to proc(5).
    func members(of group: pid_t) -> [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return names.filter { name in
        guard Int(name) != nil, let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
          let end = stat.lastIndex(of: ")")
        else { return false }
        let fields = stat[end...].split(separator: " ")
        return fields[1] != "Z" && fields[3] == "\(group)"
      }
    }

    /// Waits until the group's processes are gone; a killed process may take a moment.
    func isGone(_ group: pid_t) async throws {
      _ = try await eventually { members(of: group).isEmpty ? true : nil }
    }

    @Test func timeLimitEndsTheWholeProcessGroup() async throws {
      // Long enough for the program to have started.
      let command = definition(["stubborn", home + "/pid"]) { $0.timeLimit = .seconds(4) }
      var group: pid_t = 0
      let report = try await run(command) { _ in
        group = try await number(in: "pid")
        _ = try await eventually { members(of: group).count >= 4 ? true : nil }
      }
      #expect(report.next == .retry && report.attempt?.outcome == .failed && report.attempt?.status == nil)
      #expect(report.attempt?.error == "it took longer than 4 s and was stopped")
      try await isGone(group)
      let took = try #require(report.attempt?.took)
      #expect((.milliseconds(4_300)...(.seconds(50))).contains(took), "limit and patience, not more: \(took)")
    }

    @Test func cleanExitAtTheTimeLimitIsAFailure() async throws {
      let command = definition(["polite", home + "/pid"]) {
        $0.timeLimit = .seconds(4)
        $0.patience = .seconds(60)
      }
      let report = try await run(command)
      #expect(report.next == .retry && report.attempt?.status == 0)
      // The shell may first complain about its own child.
      #expect(report.attempt?.answer?.hasSuffix("put away\n") == true)
      #expect(report.attempt?.error?.hasPrefix("it took longer than") == true)
    }

    @Test func leftoverProcessDoesNotDelayTheResult() async throws {
      let report = try await run(definition(["leaves"]))
      #expect(report.next == .settled)
      let group = try #require(pid_t(report.attempt?.answer?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""))
      #expect(try #require(report.attempt?.took) < .seconds(50))
      try await isGone(group)
    }

    @Test func commandMayIgnoreItsInput() async throws {
      let report = try await run(
        definition(["deaf"]), message(body: String(repeating: "x", count: 100_000), channel: "script"))
      #expect(report.next == .settled && report.attempt?.answer == "deaf\n")
      let quick = try await run(definition([], program: "/bin/true"))
      #expect(quick.next == .settled && quick.attempt?.answer == nil)
    }

    @Test func excessOutputIsReadAndDropped() async throws {
      let report = try await run(definition(["flood"]))
      #expect(report.next == .settled && report.attempt?.answer?.utf8.count == Attempt.answerLimit)
      let channel = channel(definition(["flood"]))
      let test = await channel.test(definition(["flood"]), owner: 1_000)
      #expect(test.isDelivered && test.isCut && test.output.utf8.count == CommandRun.outputLimit)
      await channel.stop()
    }

    @Test(.disabled(if: Sanitizer.forksForVfork, "not under this sanitizer"))
    func commandThatCannotStartWaitsForARepair()
      async throws
    {
      try Data("no first line".utf8).write(to: folder.appending(path: "plain"))
      try Data("#!/nowhere/sh\n".utf8).write(to: folder.appending(path: "lost"))
      for (name, mode) in [("plain", 0o755), ("lost", 0o755)] {
        try FileManager.default.setAttributes(
          [.posixPermissions: mode], ofItemAtPath: folder.appending(path: name).path(percentEncoded: false))
      }
      let cases: [(CommandDefinition, String)] = [
        (definition([], program: "/nowhere/at-all"), "there is no program /nowhere/at-all"),
        (definition([], program: "no-such-program-here"), "there is no program no-such-program-here"),
        (definition([], program: home + "/lost"), "no interpreter as its first line names"),
        (definition([], program: home + "/plain"), "is not a program: a script needs a first line such as #!/bin/sh"),
        (definition([], program: home), "the daemon's user may not run"),
        (
          definition(["input"]) { $0.folder = "/nowhere" },
          "its workingDirectory cannot be entered (chdir: No such file"
        ),
      ]
      for (command, sentence) in cases {
        let report = try await run(command)
        #expect(report.next == .blocked(.minutes(5)) && report.attempt?.outcome == .refused)
        #expect(report.attempt?.error?.contains(sentence) == true, "\(report.attempt?.error ?? "")")
      }
      let channel = channel()
      #expect(channel.problem(of: cases[0].0) == "there is no executable program /nowhere/at-all")
      #expect(channel.problem(of: cases[4].0) != nil && channel.problem(of: definition([])) == nil)
      #expect(channel.problem(of: definition([], program: "sh")) == nil)
    }

    @Test func disabledCommandsDoNotRun() async throws {
      let channel = channel(definition(["input"]), isEnabled: false)
      let report = try await channel.deliver(message(channel: "script"))
      #expect(report.next == .blocked(.minutes(5)) && report.attempt?.outcome == .refused)
      #expect(report.attempt?.error == "commands are switched off, so \"script\" does not run: say so")
      await channel.stop()
    }
  }
}
