import ChimeControl
import ChimeWords
import Glibc

/// `chime edit ID|TITLE [options]`
enum Edit {
  static let fields: [Verb.Option] =
    [
      .value("title", nil, "TITLE", "Its title"),
      .value("when", nil, "SCHEDULE", "Its schedule, as one argument"),
    ] + DraftOptions.all

  /// Boolean options with their opposites.
  static let switches =
    [
      (on: RepeatOptions.wake, off: RepeatOptions.noWake),
      (on: RepeatOptions.stay, off: RepeatOptions.noStay),
    ] + LinkOptions.switches

  static let verb = Verb(
    name: "edit", group: .change, arguments: ["ID|TITLE"], summary: "Change a reminder",
    details: [
      "Without an option a field stays unchanged; an empty value (--body \"\") removes it. Without options, on a "
        + "terminal, it opens the reminder in $VISUAL or $EDITOR and applies your changes."
    ],
    options: fields + switches.map(\.off) + [DraftOptions.dryRun],
    examples: [
      "chime edit r7k2 --when \"weekdays at 9:30\"", "chime edit Stand-up --title \"Daily\" --to desktop,team",
      .init(command: "chime edit r7k2", remark: "in an editor"),
    ],
    alsoTried: ["change", "update", "modify", "rename", "reschedule"],
    json: "`reminder`, and `warnings`: a list of sentences", run: run)

  /// Sends the change of the named reminder to the daemon.
  typealias Send = (Daemon, String, RemindersInterface.Draft) throws -> RemindersInterface.Update.Reply

  static func run(_ context: Context) throws -> ExitCode {
    try run(context, would: { localized("would change %1 to", $0) }) { daemon, id, change in
      try daemon.call(RemindersInterface.Update(id: id, change: change))
    }
  }

  /// Takes the changes from options, or from an editor.
  ///
  /// - Parameter would: returns the text of --dry-run for a reminder id.
  static func run(_ context: Context, would: (String) -> String, send: Send) throws -> ExitCode {
    let id = try context.subject()
    if (fields + switches.map(\.off)).contains(where: { context.line.has($0.name) }) {
      return try apply(context, id: id, line: context.line, would, send)
    }
    guard context.process.isInteractive, context.process.output.isTerminal else {
      let names = fields.map { "--\($0.name)" }.joined(separator: " ")
      throw Failure.usage(
        localized("what should change? Without a terminal there is no editor"), hint: localized("options: %1", names))
    }
    return try edit(context, id: id, would, send)
  }

  private static func apply(
    _ context: Context, id: String, line: ParsedLine, _ would: (String) -> String, _ send: Send
  ) throws -> ExitCode {
    var change = try DraftOptions.draft(line, title: line.value("title"), when: line.value("when"))
    change.when = change.when.map(context.written)
    if context.line.has("dry-run") { return try dryRun(context, id: id, change: change, would) }
    let reply = try send(context.daemon(), id, change)
    Adding.answer(context, reply.reminder, warnings: reply.warnings)
    return .success
  }

  private static func dryRun(
    _ context: Context, id: String, change: RemindersInterface.Draft, _ would: (String) -> String
  ) throws -> ExitCode {
    let reminder = try get(context, id)
    let reset = change.reset ?? []
    let keepsPlace = change.latitude == nil && !reset.contains(.place)
    let draft = RemindersInterface.Draft(
      title: change.title ?? reminder.title, when: change.when ?? reminder.when,
      timezone: change.timezone ?? reminder.timezone,
      gap: change.gap ?? (reset.contains(.gap) ? nil : reminder.gap),
      fold: change.fold ?? (reset.contains(.fold) ? nil : reminder.fold),
      latitude: keepsPlace ? reminder.latitude : change.latitude,
      longitude: keepsPlace ? reminder.longitude : change.longitude)
    return try Explaining.dryRun(context, draft: draft, would: would(reminder.id))
  }

  private static func get(_ context: Context, _ id: String) throws -> RemindersInterface.Reminder {
    try context.daemon().call(RemindersInterface.Get(id: id)).reminder
  }

  // MARK: In an editor

  private static func edit(
    _ context: Context, id: String, _ would: (String) -> String, _ send: Send
  ) throws -> ExitCode {
    let reminder = try get(context, id)
    let before = EditForm(reminder)
    let path = try Editor.scratchFile(before.text, directory: context.process.environment["TMPDIR"])
    let after: EditForm
    do {
      try Editor.open(path, environment: context.process.environment)
      guard let bytes = Files.read(path, limit: 1 << 20) else {
        throw Failure.system(localized("cannot read the edited text"), errno: errno)
      }
      after = try EditForm(text: String(decoding: bytes, as: UTF8.self))
      var line = context.line
      let changed = after.values.filter { before.values[$0.key] != $0.value }
      guard !changed.isEmpty else {
        context.note(localized("Nothing was changed."))
        unlink(path)
        return .success
      }
      for option in fields {
        guard let value = changed[option.name] else { continue }
        if let both = switches.first(where: { $0.on.name == option.name }) {
          try line.set(try EditForm.isYes(value, option.name) ? both.on : both.off, "")
        } else {
          try line.set(option, value)
        }
      }
      let status = try apply(context, id: reminder.id, line: line, would, send)
      unlink(path)
      return status
    } catch var failure as Failure {
      failure.hints.append(localized("your text is saved in %1", path))
      throw failure
    }
  }
}
