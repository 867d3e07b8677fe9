import ChimeSchedule
import ChimeWords

/// `chime add TITLE SCHEDULE…`
enum Add {
  static let verb = Verb(
    name: "add", group: .set, arguments: ["TITLE SCHEDULE…", "--from FILE"], summary: "Add a reminder",
    details: [
      "Title and schedule may stand in any order and need no quotes: the longest run of words that forms one "
        + "schedule is the schedule, and the rest is the title.",
      TitleAndTime.rule, QuickMarks.rule,
      "The answer shows how Chime understood the line: the id, the schedule in its canonical form, and the next time.",
      "With --from each line of a file is a reminder as JSON, with the fields of the method Add (io.chime(7)): "
        + "title and when, and optional others; the options set the fields that a line leaves out. The command "
        + "sends the lines in batches of a thousand, and a batch is added completely or not at all: an invalid "
        + "line stops the command, which reports the line's number. --dry-run reports all invalid lines and adds "
        + "nothing.",
    ],
    options: [from] + Adding.options,
    examples: [
      "chime add Call mum tomorrow at 5pm", "chime add \"Drink water\" every 90m from 8:00 to 22:00",
      "chime add \"Stand-up\" weekdays at 9:25 --to desktop --to team --tz Europe/Prague",
      "chime add --from reminders.jsonl --to team --dry-run",
      "chime add \"Dentist\" at 2026-12-01 09:00 --body \"Bring the card\" --snooze 30m,2h",
    ],
    alsoTried: ["bulk", "new", "create", "set", "every"],
    json: "`reminder`, and `warnings`: a list of sentences; with --from `added`, `dryRun` and `warnings`", run: run)

  private static let from = Verb.Option.value(
    "from", nil, "FILE",
    localized("Add a reminder for each line of this file, each a JSON object; - for standard input"))

  static func run(_ context: Context) throws -> ExitCode {
    if let path = context.line.value("from") {
      try need(
        context.line.words.isEmpty,
        localized("--from cannot be used with a title or a schedule: each line of the file has its own"),
        hint: localized("chime add --from reminders.jsonl"))
      return try AddingMany.run(context, path: path)
    }
    guard let title = context.line.words.first, !trimmed(title).isEmpty else {
      throw Failure.usage(
        localized("a title and a schedule are missing"), hint: localized("chime add \"Drink water\" every 90m"))
    }
    let line = try TitleAndTime.read(
      context, context.line.words, place: .anywhere, verb: "add", usage: localized("chime add Call mum tomorrow at 5pm")
    )
    return try Adding.add(context, line)
  }
}
