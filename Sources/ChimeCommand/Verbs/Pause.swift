import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime pause ID|TITLE [until TIME|for LENGTH]`
enum Pause {
  static let verb = Verb(
    name: "pause", group: .change, arguments: ["ID|TITLE", "ID|TITLE until TIME", "ID|TITLE for LENGTH"],
    summary: "Keep a reminder silent",
    details: [
      "Times that pass meanwhile are recorded as missed.",
      "Words behind `until` are the time, those behind `for` the length of the pause, where they make one; else they are "
        + "of the title.",
    ],
    options: [
      .value(
        "until", nil, "TIME",
        "Until a time, such as 2026-12-01, \"friday at 9\", tomorrow or \"3 days\"; without it, until `chime resume`")
    ],
    examples: [
      .init(command: "chime pause Stand-up until friday"), .init(command: "chime pause Stand-up for 2 weeks"),
      .init(command: "chime pause Stand-up --until 2026-12-01"), .init(command: "chime pause r7k2 --until \"3 days\""),
    ],
    alsoTried: ["stop", "disable", "mute", "hold"], json: "`reminder`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    var (id, end) = (try context.subject(), context.line.value("until"))
    if end == nil, let parts = try spoken(id, context) {
      (id, end) = parts
      guard !id.isEmpty else { throw Context.noSubject() }
    }
    let until: String? = try end.map { text in
      let zone = try context.localZone()
      let instant = try moment(text, context)
      guard instant > context.now else { throw Failure.usage(Words.say("--until %1 has passed already", text)) }
      return RFC3339.format(instant, in: zone)
    }
    let reply: RemindersInterface.Pause.Reply = try context.daemon().call(
      RemindersInterface.Pause.method, RemindersInterface.Pause.Parameters(id: id, until: until))
    Adding.answer(context, reply.reminder)
    return .success
  }

  private static func moment(_ text: String, _ context: Context) throws -> Instant {
    try MomentText.parse(
      text, option: "until", now: context.now, zone: try context.localZone(), toward: .future,
      language: context.language)
  }

  /// The words of the id, and those of the end of the pause; nil: there are none, all belong to the id.
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
    name: "resume", group: .change, arguments: ["ID|TITLE"], summary: "End a pause",
    examples: [.init(command: "chime resume Stand-up")],
    alsoTried: ["unpause", "continue", "start", "enable", "unmute"],
    json: "`reminder`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let reply: RemindersInterface.Resume.Reply = try context.daemon().call(
      RemindersInterface.Resume.method, RemindersInterface.Resume.Parameters(id: id))
    Adding.answer(context, reply.reminder)
    return .success
  }
}
