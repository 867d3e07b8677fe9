import ChimeWords

/// `chime add TITLE SCHEDULE…`
enum Add {
  static let verb = Verb(
    name: "add", group: .set, arguments: ["TITLE SCHEDULE…"], summary: "Set a reminder",
    details: [
      "The first word is the title; put quotes around several. All other words are the schedule, which needs none.",
      "The answer is what was understood: the id, the schedule in its canonical form, and the next time.",
    ],
    options: Adding.options,
    examples: [
      .init(command: "chime add \"Drink water\" every 90m from 8:00 to 22:00"),
      .init(command: "chime add \"Stand-up\" weekdays at 9:25 --to desktop --to team --tz Europe/Prague"),
      .init(command: "chime add \"Dentist\" at 2026-12-01 09:00 --body \"Bring the card\" --snooze 30m,2h"),
    ],
    alsoTried: ["new", "create", "set", "remind", "remember", "every"],
    json: "`reminder`, and `warnings`: a list of sentences", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    guard let title = context.line.words.first, !trimmed(title).isEmpty else {
      throw Failure.usage(
        Words.say("a title and a schedule are missing"), hint: Words.say("chime add \"Drink water\" every 90m"))
    }
    let when = trimmed(context.line.words.dropFirst().joined(separator: " "))
    guard !when.isEmpty else {
      throw Failure.usage(
        Words.say("when? a schedule is missing"),
        hint: Words.say("chime add \"%1\" every 90m; put quotes around a title of several words", title))
    }
    return try Adding.add(context, title: title, when: when)
  }
}
