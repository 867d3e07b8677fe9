import ChimeControl
import ChimeWords

/// `chime copy ID|TITLE [options]`
enum Copy {
  static let verb = Verb(
    name: "copy", group: .change, arguments: ["ID|TITLE"], summary: "Set a reminder like another one",
    details: [
      "Options say what is different; an empty value (--body \"\") leaves out what the other has. Without options, on a terminal, it "
        + "opens $VISUAL or $EDITOR on the copy. The other one stays as it is.",
      "Without --when the copy comes when the other does. Pauses, times passed over and history are not copied. Of a reminder that "
        + "is over say --when, and of what `chime expect` set --title, since pings may name it by its title.",
    ],
    options: Edit.fields + Edit.switches.map(\.off) + [DraftOptions.token, DraftOptions.dryRun],
    examples: [
      .init(command: "chime copy Stand-up --title \"Stand-up of the other team\" --when \"weekdays at 10:00\""),
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
