import ChimeControl
import ChimeWords

/// `chime export [ID…]`
enum Export {
  static let verb = Verb(
    name: "export", group: .look, arguments: ["[ID|TITLE…]"],
    summary: "Write reminders as a file for `chime apply`, or as a calendar",
    details: [
      "The TOML on standard output can be given to `chime apply`: on another machine it creates the same reminders, "
        + "here it changes nothing. Without an ID it holds all reminders with a future time, the endpoints, the "
        + "packs and the trackers. It never holds a secret; it names one by the path of a file of your own. A "
        + "title of several words needs quotes here.",
      "`--format ics` writes an iCalendar file (RFC 5545) for any calendar program: an event with an alarm for each "
        + "reminder. If no recurrence rule can express a schedule, the file lists its times of the next year, and "
        + "the command prints a warning.",
      "To write entries: `chime entry export`; to write everything into a file that can be restored: `chime backup`.",
    ],
    options: [
      .value("format", nil, "FORMAT", "toml (the default) or ics (icalendar)", choices: Self.formats),
      .value("tag", nil, "TAG", "Only those with this tag"),
    ],
    examples: [
      "chime export > reminders.toml", "chime export r7k2 \"Drink water\"",
      "chime export --tag health --format ics > health.ics",
    ],
    alsoTried: ["dump", "save", "write"], json: "`text`, `count` and `warnings`: a list of sentences",
    run: run)

  static let formats = ["toml", "ics", "icalendar"]

  static func run(_ context: Context) throws -> ExitCode {
    let ids = context.line.words
    let tag = context.line.value("tag")
    if !ids.isEmpty, tag != nil {
      throw Failure.usage(localized("--tag cannot be used with an ID"))
    }
    let reply: RemindersInterface.Export.Reply = try context.daemon().call(
      RemindersInterface.Export(
        ids: ids.isEmpty ? nil : ids, filter: tag.map { RemindersInterface.Filter(tag: $0) },
        format: context.line.value("format").map { $0 == "ics" ? "icalendar" : $0 } ?? "toml"))
    if context.format == .json {
      context.print(json: ["text": reply.text, "count": reply.count, "warnings": reply.warnings])
      return .success
    }
    context.process.output.write(reply.text)
    context.warn(reply.warnings)
    context.note(localized(count: reply.count, "%n reminder exported", "%n reminders exported"))
    return .success
  }
}
