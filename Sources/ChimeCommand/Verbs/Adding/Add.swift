import ChimeSchedule
import ChimeWords

/// `chime add TITLE SCHEDULE…`
enum Add {
  static let verb = Verb(
    name: "add", group: .set, arguments: ["TITLE SCHEDULE…", "--from FILE"], summary: "Set a reminder",
    details: [
      "Title and schedule stand in any order and need no quotes: the longest run of words that is one schedule is the "
        + "schedule, and the others are the title.",
      TitleAndTime.rule, QuickMarks.rule,
      "The answer is what was understood: the id, the schedule in its canonical form, and the next time.",
      "With --from each line of a file is a reminder as JSON, with the fields that Add takes (io.chime(7)): title and when, "
        + "and others where wanted; what a line leaves open is as the options say. Lines are sent by the thousand, and of what "
        + "is sent together all is added or nothing: a line that cannot be taken ends it there, and is told with its number. "
        + "--dry-run tells all such lines and adds nothing.",
    ],
    options: [from] + Adding.options,
    examples: [
      .init(command: "chime add Call mum tomorrow at 5pm"),
      .init(command: "chime add \"Drink water\" every 90m from 8:00 to 22:00"),
      .init(command: "chime add \"Stand-up\" weekdays at 9:25 --to desktop --to team --tz Europe/Prague"),
      .init(command: "chime add --from reminders.jsonl --to team --dry-run"),
      .init(command: "chime add \"Dentist\" at 2026-12-01 09:00 --body \"Bring the card\" --snooze 30m,2h"),
    ],
    alsoTried: ["bulk", "new", "create", "set", "every"],
    json: "`reminder`, and `warnings`: a list of sentences; with --from `added`, `dryRun` and `warnings`", run: run)

  private static let from = Verb.Option.value(
    "from", nil, "FILE",
    localized("Set a reminder for each line of this file, each a JSON object; - for standard input"))

  static func run(_ context: Context) throws -> ExitCode {
    if let path = context.line.value("from") {
      guard context.line.words.isEmpty else {
        throw Failure.usage(
          localized("--from goes with no title and no schedule: each line of the file has its own"),
          hint: localized("chime add --from reminders.jsonl"))
      }
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
