import ChimeControl
import ChimeWords
import Glibc

/// `chime watch`
enum Watch {
  static let verb = Verb(
    name: "watch", group: .look, summary: "Follow events and what comes next",
    details: [
      "On a terminal it fills the screen: reminders that wait for an answer, what comes next and in how long, "
        + "pending messages, events, and the overall state. Keys: arrows or j and k select a waiting reminder, d "
        + "marks it as done, s snoozes it, S asks for how long, x dismisses it, ? shows all keys, and q, Esc or "
        + "Ctrl-C quits. If the daemon stops, the screen stays and updates again when it is back.",
      "With --json, --plain, --count or --lines, without a terminal, or if TERM is dumb, it prints a line for each "
        + "event. That ends with Ctrl-C, after --count events, or with status 69 if the daemon stops.",
    ],
    options: [
      .flag("lines", nil, "Print a line for each event, on a terminal too"),
      .value("count", "n", "N", "Print lines, and end after N events"),
      Glyphs.option,
    ],
    examples: [
      "chime watch", "chime watch --lines", .init(command: "chime watch --json -n 1", remark: "wait for one event"),
    ],
    alsoTried: ["monitor", "events", "follow", "tail", "top", "dashboard"],
    json: "one event on each line, as it happens", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let limit = try context.line.count("count", maximum: 1_000_000_000)
    if context.process.hasScreen, context.format == .human, limit == nil, !context.line.has("lines") {
      // Report an unreachable daemon before drawing anything.
      let line = try WatchLine(context)
      if let terminal = Terminal(input: STDIN_FILENO, output: STDOUT_FILENO) {
        return WatchScreen(context, terminal, line).run()
      }
    }
    let daemon = try context.daemon()
    let clock = context.clock()
    if context.format == .plain { context.out(Plain.line(DaemonInterface.Event.fieldNames)) }
    var count = 0
    try daemon.stream(DaemonInterface.Monitor()) { reply in
      for event in reply.events where count < limit ?? .max {
        count += 1
        print(context, clock, event)
      }
      if count == 0, reply.events.isEmpty, context.format == .human, context.process.output.isTerminal {
        context.note(localized("Waiting for events; Ctrl-C ends this."), .faint)
        context.process.errors.flush()
      }
      context.process.output.flush()
      return count < limit ?? .max
    }
    if count < limit ?? .max {
      throw Failure(
        status: .unavailable, message: localized("the daemon has ended the stream"), hints: ["`chime status`"])
    }
    return .success
  }

  private static func print(_ context: Context, _ clock: WallClock, _ event: DaemonInterface.Event) {
    switch context.format {
    case .json: context.out(context.json(event).text())
    case .plain: context.out(Plain.line(context.row(event)))
    case .human:
      let time = WallClock.instant(event.at).map { clock.time($0) } ?? event.at.at
      let name = TextWidth.pad(TerminalSanitizer.line(StateWords.say(event.event)), to: StateWords.eventWidth)
      let head =
        "\(context.style(TerminalSanitizer.line(time), .faint))  \(context.style(name, WatchEvents.tone(event.event)))"
      let id = event.reminder.map { TerminalSanitizer.line($0) + "  " } ?? ""
      let used = TextWidth.of("\(time)  \(name)  \(id)")
      let message = TerminalSanitizer.line(localizedServerMessage(event.message))
      let width = context.process.output.width.map { max(20, $0 - used) }
      context.out("\(head)  \(id)\(width.map { TextWidth.truncate(message, to: $0) } ?? message)")
    }
  }
}
