import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime pause ID|TITLE [--until TIME]`
enum Pause {
  static let verb = Verb(
    name: "pause", group: .change, arguments: ["ID|TITLE"], summary: "Keep a reminder silent",
    details: ["Times that pass meanwhile are recorded as missed."],
    options: [
      .value(
        "until", nil, "TIME",
        "Until a time, such as 2026-12-01, \"friday at 9\", tomorrow or \"3 days\"; without it, until `chime resume`")
    ],
    examples: [
      .init(command: "chime pause Stand-up --until 2026-12-01"), .init(command: "chime pause r7k2 --until \"3 days\""),
    ],
    alsoTried: ["stop", "disable", "mute", "hold"], json: "`reminder`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let until: String? = try context.line.value("until").map { text in
      let zone = try context.localZone()
      let instant = try MomentText.parse(text, option: "until", now: context.now, zone: zone, toward: .future)
      guard instant > context.now else { throw Failure.usage(Words.say("--until %1 has passed already", text)) }
      return RFC3339.format(instant, in: zone)
    }
    let reply: RemindersInterface.Pause.Reply = try context.daemon().call(
      RemindersInterface.Pause.method, RemindersInterface.Pause.Parameters(id: id, until: until))
    Adding.answer(context, reply.reminder)
    return .success
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
