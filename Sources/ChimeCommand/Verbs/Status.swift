import ChimeControl

/// `chime status`
enum Status {
  static let verb = Verb(
    name: "status", group: .about, arguments: [""], summary: "Tell whether everything is all right",
    details: ["The exit status is 75 when the store cannot be written, and 69 when no daemon answers."],
    examples: [.init(command: "chime status")], alsoTried: ["health", "doctor", "ping", "info"], json: "`status`",
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
        ? "in trouble"
        : health.deadDeliveries > 0
          ? "running, with messages given up" : attention ? "running; something needs a look" : "all right"
      let tone: Style.Tone = !isSound ? .bad : health.deadDeliveries > 0 || attention ? .caution : .good
      context.out(
        "\(style("●", tone)) chimed \(Harmless.line(health.version)) is \(style(verdict, tone)) "
          + "(\(health.instance.rawValue), pid \(health.pid), started \(clock.relative(health.startedAt)))")
      let next = health.nextDue.map { due in
        let title = health.nextTitle.map { ": \($0)" } ?? ""
        return "next \(clock.text(due)), \(clock.relative(due))\(title)"
      }
      row(context, "reminders", [health.reminders == 0 ? "none" : "\(health.reminders)", next ?? "nothing is coming"])
      let open = health.openOccurrences
      row(context, "unanswered", open == 0 ? ["none"] : ["\(open); `chime history --open` shows them"])
      row(
        context, "deliveries",
        [
          health.owedDeliveries == 0 ? "none owed" : "\(health.owedDeliveries) owed",
          health.deadDeliveries == 0
            ? "none given up" : "\(health.deadDeliveries) given up; `chime deliveries --state dead` shows them",
        ])
      row(context, "store", [health.store, health.storeProblem ?? "in order"])
      if let count = health.unrecorded, count > 0 {
        row(context, "memory", ["\(counted(count, "time")) shown and not recorded yet; keep chimed running"])
      }
      row(
        context, "snapshot", health.lastSnapshot.map { [$0.path, clock.relative($0.takenAt)] } ?? ["none yet"])
      let memory =
        "\(health.residentBytes / 1_048_576).\(health.residentBytes % 1_048_576 * 10 / 1_048_576) MiB of memory"
      row(
        context, "machine",
        [
          "time zone \(health.zone)", health.clockEvents == 1 ? "1 clock event" : "\(health.clockEvents) clock events",
          memory, counted(health.connections, "client"),
        ])
      for sentence in health.attention ?? [] {
        context.out("  \(style(TextWidth.pad("attention", to: 10), .caution))  \(Harmless.line(sentence))")
      }
    }
    return health.storeProblem == nil ? .success : .tryAgain
  }

  private static func row(_ context: Context, _ name: String, _ parts: [String]) {
    let value = Harmless.line(parts.joined(separator: ", "))
    context.out("  \(context.style(TextWidth.pad(name, to: 10), .faint))  \(value)")
  }

  private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
