import ChimeControl
import ChimeWords

/// `chime copy ID|TITLE [options]`
enum Copy {
  static let verb = Verb(
    name: "copy", group: .change, arguments: ["ID|TITLE"], summary: "Copy a reminder",
    details: [
      "Options change fields of the copy; an empty value (--body \"\") leaves a field out. Without options, on a "
        + "terminal, it opens the copy in $VISUAL or $EDITOR. The original stays as it is.",
      "Without --when the copy has the schedule of the original. Pauses, skipped times and history are not copied. "
        + "A finished reminder needs --when. An expectation (`chime expect`) needs --title, because pings may name "
        + "it by its title.",
    ],
    options: Edit.fields + Edit.switches.map(\.off) + [DraftOptions.token, DraftOptions.dryRun],
    examples: [
      "chime copy Stand-up --title \"Stand-up of the other team\" --when \"weekdays at 10:00\"",
      .init(command: "chime copy Tea --when \"in 4m\"", remark: "once more"),
    ],
    alsoTried: ["cp", "duplicate", "clone", "again", "repeat"], json: "`reminder`, and `warnings`: a list of sentences",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try Edit.run(context, would: { localized("would add a copy of %1", $0) }) { daemon, id, change in
      let reply = try daemon.call(
        RemindersInterface.Copy(id: id, change: change, token: context.line.value("token")))
      return RemindersInterface.Update.Reply(reminder: reply.reminder, warnings: reply.warnings)
    }
  }
}
