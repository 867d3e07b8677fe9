import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime status`
enum Status {
  static let verb = Verb(
    name: "status", group: .about, summary: "Show whether everything works",
    details: [
      "It shows in five lines: the overall state, the next reminder, reminders that wait for an answer, pending "
        + "deliveries, and the store. Problems come first, each with advice.",
      "The exit status shows the same: 0 if all is well, 1 if something needs attention (a disabled endpoint, "
        + "messages given up in the last seven days, an unreadable calendar), 75 if the store cannot be written, "
        + "and 69 if no daemon answers. With --quiet it prints nothing: `chime status -q || …`.",
    ],
    options: [.flag("verbose", "v", "Show the process, its memory, the snapshots and the machine too")],
    examples: ["chime status", "chime status --verbose", "chime status -q || notify-send \"See to Chime\""],
    alsoTried: ["health", "info"], json: "`status`", run: run)

  /// The age up to which failed deliveries are reported.
  private static let lately = Milliseconds.days(7)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let daemon = try context.daemon()
    let health = try daemon.call(DaemonInterface.Status()).status
    let verdict = try verdict(health, daemon, context)
    context.print(health, named: "status") {
      for line in head(verdict, health, context) { context.out(line) }
      for (name, value) in rows(health, context) + (context.line.has("verbose") ? details(health, context) : []) {
        let lines = TextWidth.wrap(TerminalSanitizer.line(value), to: context.process.output.width ?? .max, indent: 14)
        context.out("  \(context.style(TextWidth.pad(name, to: 10), .faint))  \(lines[0].dropFirst(14))")
        for line in lines.dropFirst() { context.out(line) }
      }
    }
    if health.storeProblem != nil { return .tryAgain }
    return verdict.problems.isEmpty ? .success : .failed
  }

  /// Combines the daemon's health with its endpoints and recent deliveries.
  private static func verdict(
    _ health: DaemonInterface.Health, _ daemon: Daemon, _ context: Context
  ) throws -> HealthStatus {
    // The daemon already reports a failing store.
    guard health.storeProblem == nil else { return HealthStatus(health) }
    let endpoints = try daemon.call(EndpointsInterface.List()).endpoints
    var dead = 0
    if health.deadDeliveries > 0 {
      let since = RFC3339.format(context.now - lately, in: .utc)
      dead = try Pagination.pages(limit: 1_000) { limit, cursor in
        let reply: DeliveriesInterface.List.Reply = try daemon.call(
          DeliveriesInterface.List(filter: .init(state: .dead, since: since), limit: limit, cursor: cursor))
        return (reply.deliveries, reply.cursor)
      }.items.count
    }
    return HealthStatus(health, endpoints: endpoints, givenUpLately: dead, clock: context.clock())
  }

  private static func head(_ verdict: HealthStatus, _ health: DaemonInterface.Health, _ context: Context) -> [String] {
    let style = context.style
    let started = context.clock().relative(health.startedAt)
    let service = "chimed \(TerminalSanitizer.line(health.version))"
    let glyphs = context.glyphs
    let width = context.process.output.width ?? .max
    let text = localized("%1: %2, started %3", verdict.headline, service, started)
    let head = TextWidth.wrap(text, to: width, indent: 2)
    var lines =
      ["\(style(glyphs.bullet, verdict.tone)) \(style(String(head[0].dropFirst(2)), verdict.tone))"] + head.dropFirst()
    for problem in verdict.problems {
      let text = TextWidth.wrap(TerminalSanitizer.line(problem.text), to: width, indent: 4)
      lines.append("  \(style("!", problem.tone)) \(text[0].dropFirst(4))")
      lines += text.dropFirst()
      guard let remedy = problem.remedy else { continue }
      let words = TextWidth.wrap(TerminalSanitizer.line(remedy), to: width, indent: 7)
      lines.append("    \(style(glyphs.isASCII ? "->" : "→ ", .faint)) \(words[0].dropFirst(7))")
      lines += words.dropFirst()
    }
    return lines
  }

  private static func rows(_ health: DaemonInterface.Health, _ context: Context) -> [(String, String)] {
    let clock = context.clock()
    let next = health.nextDue.map { due in
      "\(clock.text(due)), \(clock.relative(due))" + (health.nextTitle.map { ": \($0)" } ?? "")
    }
    let reminders =
      health.reminders == 0
      ? localized("no reminders yet") : localized(count: health.reminders, "of %n reminder", "of %n reminders")
    let open = health.openOccurrences
    let deliveries = [
      health.pendingDeliveries == 0 ? localized("none pending") : localized("%1 pending", health.pendingDeliveries),
      health.deadDeliveries == 0
        ? localized("none given up")
        : localized("%1 given up; `chime deliveries --state dead` shows them", health.deadDeliveries),
    ]
    let snapshot =
      health.lastSnapshot.map { localized("snapshot %1", clock.relative($0.takenAt)) } ?? localized("no snapshot yet")
    let store = [
      health.storeProblem.map { localizedServerMessage($0) } ?? localized("in order"),
      // A database has backups of its own.
      HealthChecks.isDatabase(health.store) ? nil : snapshot, health.store,
    ]
    let fleet = Fleet.line(health).map { [(localized("daemons"), $0)] } ?? []
    let silence = health.silence.map { [(localized("silent"), Pause.sentence($0, clock))] } ?? []
    return silence + [
      (localized("next"), "\(next ?? localized("nothing is coming")) (\(reminders))"),
      (
        localized("unanswered"),
        open == 0 ? localized("none") : localized("%1; `chime history --open` shows them", open)
      ),
    ] + expectations(health) + [
      (localized("deliveries"), deliveries.joined(separator: ", ")),
      (
        localized("store"),
        store.compactMap { $0 }.joined(separator: ", ")
      ),
    ] + fleet + heartbeat(health, clock) + tenants(health.tenants ?? [], isVerbose: context.line.has("verbose"))
  }

  private static func heartbeat(_ health: DaemonInterface.Health, _ clock: WallClock) -> [(String, String)] {
    guard let heartbeat = health.heartbeat else { return [] }
    let taken =
      heartbeat.acceptedAt.map { localized("accepted %1", clock.relative($0)) } ?? localized("none accepted yet")
    return [(localized("heartbeat"), taken)]
  }

  private static func expectations(_ health: DaemonInterface.Health) -> [(String, String)] {
    guard let all = health.expectations else { return [] }
    let down = health.expectationsDown ?? 0
    return [
      (
        localized("expected"),
        down == 0
          ? localized(count: all, "%n job, and it is up", "%n jobs, all of them up")
          : localized(
            count: all, "%n job, and it is down; `chime expect list` shows it",
            "%n jobs, of which %1 are down; `chime expect list` shows them", String(down))
      )
    ]
  }

  /// Returns the tenants near a limit; all if they are few, and with --verbose.
  private static func tenants(_ tenants: [DaemonInterface.Tenant], isVerbose: Bool) -> [(String, String)] {
    guard !tenants.isEmpty else { return [] }
    let shown = isVerbose || tenants.count <= 3 ? tenants : tenants.filter { $0.isNearLimit || $0.requestsRefused > 0 }
    let parts = shown.map { tenant in
      let reminders =
        tenant.reminderLimit.map { localized("%1 has %2 of %3 reminders", tenant.name, tenant.reminders, $0) }
        ?? localized("%1 has reminders: %2", tenant.name, tenant.reminders)
      let refused = tenant.requestsRefused
      return refused == 0 ? reminders : reminders + ", " + localized("requests refused: %1", refused)
    }
    let rest = tenants.count - shown.count
    let others = rest == 0 ? [] : [localized(count: rest, "%n other below its limits", "%n others below their limits")]
    return [(localized("tenants"), (parts + others).joined(separator: "; "))]
  }

  /// Returns the additional facts of --verbose.
  private static func details(_ health: DaemonInterface.Health, _ context: Context) -> [(String, String)] {
    let memory = Double(health.residentBytes * 10 / 1_048_576) / 10
    let process = [
      health.instance.rawValue, localized("pid %1", String(health.pid)),
      localized("%1 MiB of memory", LocalizedFormat.number(memory, decimals: 1)),
      localized(count: health.connections, "%n client", "%n clients"),
    ]
    var rows = [(localized("process"), process.joined(separator: ", "))]
    if let snapshot = health.lastSnapshot { rows.append((localized("snapshot"), snapshot.path)) }
    rows.append((localized("trackers"), (health.trackers ?? 0) == 0 ? localized("none") : "\(health.trackers ?? 0)"))
    let machine = [
      localized("time zone %1", health.zone), localized(count: health.clockEvents, "%n clock event", "%n clock events"),
    ]
    rows.append((localized("machine"), machine.joined(separator: ", ")))
    return rows
  }
}
