import ChimeControl
import ChimeWords

/// `chime watch`
enum Watch {
  static let verb = Verb(
    name: "watch", group: .look, arguments: [""], summary: "Follow what happens, a line for each event",
    details: ["It ends with Ctrl-C, after --count events, or with status 69 when the daemon goes."],
    options: [.value("count", "n", "N", "End after N events")],
    examples: [.init(command: "chime watch"), .init(command: "chime watch --json -n 1", remark: "wait for one event")],
    alsoTried: ["monitor", "events", "follow", "tail"], json: "one event on each line, as it happens", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let limit = try context.line.count("count", maximum: 1_000_000_000)
    let daemon = try context.daemon()
    let clock = context.clock()
    if context.format == .plain { context.out(Plain.line(Shapes.event.header)) }
    var count = 0
    try daemon.stream(DaemonInterface.Monitor.method, returning: DaemonInterface.Monitor.Reply.self) { reply in
      for event in reply.events where count < limit ?? .max {
        count += 1
        print(context, clock, event)
      }
      if count == 0, reply.events.isEmpty, context.format == .human, context.world.output.isTerminal {
        context.note(Words.say("Waiting for events; Ctrl-C ends this."), .faint)
        context.world.errors.flush()
      }
      context.world.output.flush()
      return count < limit ?? .max
    }
    if count < limit ?? .max {
      throw Failure(
        status: .unavailable, message: Words.say("the daemon has ended the stream"), hints: ["`chime status`"])
    }
    return .success
  }

  private static func print(_ context: Context, _ clock: WallClock, _ event: DaemonInterface.Event) {
    switch context.format {
    case .json: context.out(Shapes.event.json(event).text())
    case .plain: context.out(Plain.line(Shapes.event.row(event)))
    case .human:
      let time = WallClock.instant(event.at).map { clock.time($0) } ?? event.at.at
      let name = TextWidth.pad(Harmless.line(StateWords.say(event.event)), to: 9)
      let head = "\(context.style(Harmless.line(time), .faint))  \(context.style(name, tone(event.event)))"
      let id = event.reminder.map { Harmless.line($0) + "  " } ?? ""
      let used = TextWidth.of("\(time)  \(name)  \(id)")
      let message = Harmless.line(Words.told(event.message))
      let width = context.world.output.width.map { max(20, $0 - used) }
      context.out("\(head)  \(id)\(width.map { TextWidth.truncate(message, to: $0) } ?? message)")
    }
  }

  private static func tone(_ event: String) -> Style.Tone {
    switch event {
    case "fired": .strong
    case "delivered", "done", "logged", "goal", "unlocked", "level", "milestone": .good
    case "failed", "store": .bad
    case "missed", "clock", "zone", "resumed": .caution
    default: .plain
    }
  }
}
