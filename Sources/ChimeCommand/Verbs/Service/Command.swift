import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime command list|test`
enum Command {
  static let verb = Verb(
    name: "command", group: .deliver, summary: "The programs that reminders run",
    details: [
      "Only the daemon's configuration can define commands, under `[commands.NAME]` in chimed.toml. `--to` takes "
        + "their names."
    ],
    examples: ["chime command list", "chime command test backup"],
    alsoTried: ["commands", "exec", "script", "program"], subverbs: [list, test])

  static let list = Verb(
    name: "list", group: .deliver, summary: "List the commands",
    examples: ["chime command list"], alsoTried: ["ls", "show"],
    json: "`commands`, and `more`, which is false", run: runList)

  static let test = Verb(
    name: "test", group: .deliver, arguments: ["NAME"], summary: "Run a command now with a sample reminder",
    details: [
      "It shows the program's input, its output and its exit status, and waits as long as the command's time limit "
        + "allows. The JSON on the program's standard input has the type `chime.test`, as has `CHIME_TYPE`. "
        + "Nothing is recorded. If the exit status does not mean delivered, that of chime is 1."
    ],
    examples: ["chime command test backup"], alsoTried: ["try", "run"], json: "`result`", run: runTest)

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let empty = [
      localized("No commands are defined."),
      localized(
        """
        Define one in the daemon's chimed.toml: [commands.backup] with program = \
        \"/usr/local/bin/backup\"
        """),
    ]
    let commands = try commands(context.daemon())
    context.print(commands, named: "commands", empty: empty) {
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "PROGRAM", canShrink: true), .init(title: "LIMIT", dropOrder: 2),
        .init(title: "OVERLAP", dropOrder: 1), .init(title: "PENDING", alignRight: true),
        .init(title: "RUNNING", alignRight: true), .init(title: "STATE", canShrink: true),
      ])
      for command in commands {
        table.rows.append([
          .init(command.name, .strong), .init(([command.program] + command.arguments).joined(separator: " ")),
          .init(LengthText.human(command.timeLimit), .faint), .init(command.overlap.rawValue, .faint),
          .init(String(command.pending)), .init(String(command.running)),
          command.problem.map { .init(localizedServerMessage($0), .bad) } ?? .init(localized("in use"), .good),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func runTest(_ context: Context) throws -> ExitCode {
    guard context.line.words.count == 1, let name = context.line.words.first else {
      throw Failure.usage(
        localized("the name of a command is missing"), hint: localized("`chime command list` shows them"))
    }
    // The reply comes when the program ends, so wait for as long as its time limit.
    let daemon = try context.daemon()
    let limit = try commands(daemon).first { $0.name == name }?.timeLimit
    let span = limit.flatMap { try? DurationText.parseISO8601($0) } ?? .zero
    daemon.patience += .milliseconds(span.rawValue)
    let result = try daemon.call(CommandsInterface.Test(name: name)).result
    context.print(result, named: "result") {
      context.out(([result.program] + result.arguments).map { TerminalSanitizer.line($0) }.joined(separator: " "))
      for variable in result.variables { context.out("  \(context.style(TerminalSanitizer.line(variable), .faint))") }
      for line in TerminalSanitizer.lines(result.input) { context.out("  < \(line)") }
      for line in TerminalSanitizer.lines(result.output) where !line.isEmpty { context.out("  > \(line)") }
      if result.truncated { context.out(localized("  > … (the rest of the output was dropped)")) }
      let took = RelativeTime.lateness(milliseconds: result.durationMs)
      let end =
        result.error.map { localizedServerMessage($0) } ?? result.status.map { localized("status %1", $0) }
        ?? localized("no status")
      context.out(
        localized(
          "%1: %2, after %3",
          context.style(result.ok ? localized("delivered") : localized("not delivered"), result.ok ? .good : .bad),
          TerminalSanitizer.line(end), took))
    }
    return result.ok ? .success : .failed
  }

  private static func commands(_ daemon: Daemon) throws -> [CommandsInterface.Command] {
    try daemon.call(CommandsInterface.List()).commands
  }
}
