import ChimeControl
import ChimeWords

/// `chime status`
enum Status {
  static let verb = Verb(
    name: "status", group: .about, arguments: [""], summary: "Tell whether everything is all right",
    details: ["The exit status is 75 when the store cannot be written, and 69 when no daemon answers."],
    examples: [.init(command: "chime status")], alsoTried: ["health", "ping", "info"], json: "`status`",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let health = try context.daemon().call(
      DaemonInterface.Status.method, Wire.Empty(), returning: DaemonInterface.Status.Reply.self
    ).status
    context.print(health, as: Shapes.health) {
      let style = context.style
      let clock = context.clock()
      let isSound = health.storeProblem == nil
      let attention = !(health.attention ?? []).isEmpty
      let verdict =
        !isSound
        ? Words.say("in trouble")
        : health.deadDeliveries > 0
          ? Words.say("running, with messages given up")
          : attention ? Words.say("running; something needs a look") : Words.say("all right")
      let tone: Style.Tone = !isSound ? .bad : health.deadDeliveries > 0 || attention ? .caution : .good
      context.out(
        Words.say(
          "%1 chimed %2 is %3 (%4, pid %5, started %6)", style("●", tone), Harmless.line(health.version),
          style(verdict, tone), health.instance.rawValue, health.pid, clock.relative(health.startedAt)))
      let next = health.nextDue.map { due in
        let title = health.nextTitle.map { ": \($0)" } ?? ""
        return Words.say("next %1, %2%3", clock.text(due), clock.relative(due), title)
      }
      row(
        context, Words.say("reminders"),
        [health.reminders == 0 ? Words.say("none") : "\(health.reminders)", next ?? Words.say("nothing is coming")])
      let open = health.openOccurrences
      row(
        context, Words.say("unanswered"),
        open == 0 ? [Words.say("none")] : [Words.say("%1; `chime history --open` shows them", open)])
      row(
        context, Words.say("deliveries"),
        [
          health.owedDeliveries == 0 ? Words.say("none owed") : Words.say("%1 owed", health.owedDeliveries),
          health.deadDeliveries == 0
            ? Words.say("none given up")
            : Words.say("%1 given up; `chime deliveries --state dead` shows them", health.deadDeliveries),
        ])
      row(
        context, Words.say("store"),
        [health.store, health.storeProblem.map { Words.told($0) } ?? Words.say("in order")])
      if let count = health.unrecorded, count > 0 {
        row(
          context, Words.say("memory"),
          [
            Words.say(
              count: count, "%n time shown and not recorded yet; keep chimed running",
              "%n times shown and not recorded yet; keep chimed running")
          ])
      }
      row(
        context, Words.say("snapshot"),
        health.lastSnapshot.map { [$0.path, clock.relative($0.takenAt)] } ?? [Words.say("none yet")])
      let memory =
        Words.say(
          "%1.%2 MiB of memory", health.residentBytes / 1_048_576, health.residentBytes % 1_048_576 * 10 / 1_048_576)
      row(
        context, Words.say("machine"),
        [
          Words.say("time zone %1", health.zone),
          Words.say(count: health.clockEvents, "%n clock event", "%n clock events"),
          memory, Words.say(count: health.connections, "%n client", "%n clients"),
        ])
      for sentence in health.attention ?? [] {
        context.out(
          "  \(style(TextWidth.pad(Words.say("attention"), to: 10), .caution))  \(Harmless.line(Words.told(sentence)))")
      }
    }
    return health.storeProblem == nil ? .success : .tryAgain
  }

  private static func row(_ context: Context, _ name: String, _ parts: [String]) {
    let value = Harmless.line(parts.joined(separator: ", "))
    context.out("  \(context.style(TextWidth.pad(name, to: 10), .faint))  \(value)")
  }
}
