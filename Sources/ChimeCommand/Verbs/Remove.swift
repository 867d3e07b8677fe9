import ChimeControl
import ChimeWords

/// `chime remove ID|TITLE`
enum Remove {
  static let verb = Verb(
    name: "remove", group: .change, arguments: ["ID|TITLE"], summary: "Remove a reminder; its history stays",
    details: ["On a terminal it asks first. `chime undo` restores it."],
    options: [.flag("yes", "y", "Do not ask"), DraftOptions.dryRun],
    examples: ["chime remove r7k2", "chime remove Drink water --yes"],
    alsoTried: ["rm", "delete", "del", "cancel", "forget"], json: "`reminder`: what was removed", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    var id = try context.subject()
    let daemon = try context.daemon()
    let isDry = context.line.has("dry-run")
    let asks = context.process.isInteractive && !context.line.has("yes")
    if isDry || asks {
      let reminder = try daemon.call(RemindersInterface.Get(id: id)).reminder
      if isDry {
        context.print(reminder, named: "reminder") {
          context.out(localized("would remove"))
          for line in Adding.lines(context, reminder) { context.out(line) }
        }
        return .success
      }
      let question = localized(
        "Remove \"%1\" (%2, %3)?", TerminalSanitizer.line(reminder.title), TerminalSanitizer.line(reminder.id),
        TerminalSanitizer.line(reminder.when))
      guard Asking.confirm(context, question, otherwise: localized("Nothing was removed.")) else { return .failed }
      // Remove exactly the reminder that was shown.
      id = reminder.id
    }
    let reply: RemindersInterface.Remove.Reply = try daemon.call(RemindersInterface.Remove(id: id))
    context.print(reply.reminder, named: "reminder") {
      let removed = context.style(TerminalSanitizer.line(reply.reminder.id), .strong)
      context.out(
        localized(
          "%1  %2\n  removed; its history stays, and chime undo brings it back", removed,
          TerminalSanitizer.line(reply.reminder.title)))
    }
    return .success
  }
}

/// Questions to a person at a terminal.
enum Asking {
  /// Asks before something is removed, on a terminal and unless --yes was given.
  static func mayRemove(_ context: Context, _ question: String) -> Bool {
    guard context.process.isInteractive, !context.line.has("yes") else { return true }
    return confirm(context, question, otherwise: localized("Nothing was removed."))
  }

  /// Asks for confirmation; accepts only a clear yes, in English or in the user's language.
  ///
  /// - Parameter otherwise: what to say to a user who declines.
  static func confirm(_ context: Context, _ question: String, otherwise: String? = nil) -> Bool {
    context.process.output.flush()
    context.process.errors.write("\(question) \(localized("[y/N]")) ")
    context.process.errors.flush()
    let answer = context.process.input.line(limit: 64).map { trimmed(String(decoding: $0.bytes, as: UTF8.self)) }
    let yes = localized("yes").lowercased()
    let isYes = answer.map { ["y", "yes", yes, String(yes.prefix(1))].contains($0.lowercased()) } ?? false
    if !isYes, let otherwise { context.note(otherwise) }
    return isYes
  }
}
