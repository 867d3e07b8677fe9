import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime pause ID|TITLE [until TIME|for LENGTH]`
enum Pause {
  static let verb = Verb(
    name: "pause", group: .change,
    arguments: ["ID|TITLE", "ID|TITLE until TIME", "ID|TITLE for LENGTH", "--all until TIME"],
    summary: "Silence a reminder, or everything",
    details: [
      "Times during the pause are recorded as missed.",
      "Words after `until` are the time, words after `for` the length of the pause, if they form one; otherwise "
        + "they belong to the title.",
      "With --all everything is silent until that time, including new reminders; critical reminders ring unless "
        + "--critical is given. The silence ends by itself, or with `chime resume --all`. `chime status` shows it.",
    ],
    options: [
      .value(
        "until", nil, "TIME",
        "Until a time, such as 2026-12-01, \"friday at 9\", tomorrow or \"3 days\"; the default is until `chime "
          + "resume`"),
      .flag("all", nil, "Silence all your reminders"),
      .flag("critical", nil, "With --all: critical reminders too"),
    ],
    examples: [
      "chime pause Stand-up until friday", "chime pause Stand-up for 2 weeks", "chime pause --all until monday",
      "chime pause Stand-up --until 2026-12-01", "chime pause r7k2 --until \"3 days\"",
    ],
    alsoTried: ["stop", "disable", "mute", "hold"], json: "`reminder`; with --all `silence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    if context.line.has("all") { return try pauseAll(context) }
    try need(
      !context.line.has("critical"), localized("--critical needs --all"),
      hint: "chime pause --all --critical until monday")
    var (id, end) = (try context.subject(), context.line.value("until"))
    if end == nil, let parts = try spoken(id, context) {
      (id, end) = parts
      guard !id.isEmpty else { throw Context.noSubject() }
    }
    let until = try end.map { try timeToCome($0, context) }
    let reply: RemindersInterface.Pause.Reply = try context.daemon().call(
      RemindersInterface.Pause(id: id, until: until))
    Adding.answer(context, reply.reminder)
    return .success
  }

  private static func pauseAll(_ context: Context) throws -> ExitCode {
    var (words, end) = (context.optionalSubject() ?? "", context.line.value("until"))
    if end == nil, let parts = try spoken(words, context) { (words, end) = parts }
    try need(
      words.isEmpty, localized("--all takes no ID and no TITLE, and a time after \"until\""),
      hint: "chime pause --all until monday")
    guard let end else {
      throw Failure.usage(localized("until when? a time is missing"), hint: "chime pause --all until monday")
    }
    let reply: RemindersInterface.PauseAll.Reply = try context.daemon().call(
      RemindersInterface.PauseAll(
        until: try timeToCome(end, context), critical: context.line.has("critical") ? true : nil))
    context.print(reply.silence, named: "silence") {
      context.out(localized("everything is silent %1", sentence(reply.silence, context.clock())))
    }
    return .success
  }

  /// Returns `until Mon 2026-11-30 00:00, in 5 d; …`.
  static func sentence(_ silence: Wire.Silence, _ clock: WallClock) -> String {
    let end = localized("until %1, %2", clock.text(silence.until), clock.relative(silence.until))
    let critical =
      silence.critical ? localized("critical reminders are silent too") : localized("critical reminders ring")
    return [end, critical, localized("`chime resume --all` ends the silence")].joined(separator: "; ")
  }

  private static func timeToCome(_ text: String, _ context: Context) throws -> String {
    let instant = try moment(text, context)
    guard instant > context.now else {
      let said = TerminalSanitizer.line(text)
      throw Failure.usage(
        context.line.value("until") == nil
          ? localized("%1 is in the past", said) : localized("--until %1 is in the past", said))
    }
    return RFC3339.format(instant, in: try context.localZone())
  }

  private static func moment(_ text: String, _ context: Context) throws -> Instant {
    try TimeArgument.parse(
      text, option: "until", now: context.now, in: context.scheduleContext(in: try context.localZone(), at: nil),
      toward: .future)
  }

  /// Splits the words into the id and the end of the pause; nil if all belong to the id.
  private static func spoken(_ text: String, _ context: Context) throws -> (id: String, end: String)? {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let place = words.lastIndex(where: { context.isUntil($0) || $0.lowercased() == "for" }) else { return nil }
    let end = words[(place + 1)...].joined(separator: " ")
    let isLength = (try? DurationText.parse(end)) != nil
    guard words[place].lowercased() == "for" ? isLength : (try? moment(end, context)) != nil else { return nil }
    return (words[..<place].joined(separator: " "), end)
  }
}

/// `chime resume ID|TITLE`
enum Resume {
  static let verb = Verb(
    name: "resume", group: .change, arguments: ["ID|TITLE", "--all"], summary: "End a pause",
    options: [
      .flag("all", nil, "End the silence of `chime pause --all`; reminders with a pause of their own stay paused")
    ],
    examples: ["chime resume Stand-up", "chime resume --all"],
    alsoTried: ["unpause", "continue", "start", "enable", "unmute"],
    json: "`reminder`; with --all `silence`: what has ended, or null", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    if context.line.has("all") { return try resumeAll(context) }
    let id = try context.subject()
    let reply: RemindersInterface.Resume.Reply = try context.daemon().call(RemindersInterface.Resume(id: id))
    Adding.answer(context, reply.reminder)
    return .success
  }
  private static func resumeAll(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let reply: RemindersInterface.ResumeAll.Reply = try context.daemon().call(RemindersInterface.ResumeAll())
    switch context.format {
    case .json:
      let silence = context.json(reply.silence)
      context.print(json: .object([.init(name: "silence", value: silence)]))
    case .plain, .human:
      guard !context.isQuiet else { break }
      context.out(reply.silence == nil ? localized("nothing was silent") : localized("everything rings again"))
    }
    return .success
  }
}
