import ChimeControl
import ChimeWords

/// `chime fleet`
enum Fleet {
  static let verb = Verb(
    name: "fleet", group: .about,
    summary: "Show the daemons that share the store, and the work that waits for them",
    details: [
      "Several daemons can share a PostgreSQL database (docs/fleet.md); any of them answers for all. The command "
        + "shows each daemon's machine and process, its last heartbeat (one every two seconds), its share of the "
        + "256 parts of the outbox, and the messages pending there. Then it shows how many due times have not "
        + "fired, and the channels with pending messages, each with its daemon.",
      "A daemon without a heartbeat for six seconds is lost: the others take over its leases. The command shows it "
        + "for a day, unless another daemon on its machine has replaced it.",
      "With the system's daemon, users other than root see only their own channels and messages.",
    ],
    examples: ["chime fleet", "chime fleet --json | jq '.fleet.oldestOverdueMs'"],
    alsoTried: ["daemons", "members", "cluster", "nodes"], json: "`fleet`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let fleet = try context.daemon().call(DaemonInterface.GetFleet()).fleet
    switch context.format {
    case .json: context.print(json: ["fleet": fleet])
    case .plain: context.print(fleet.daemons, named: "daemons", empty: []) {}
    case .human:
      context.out(headline(fleet))
      context.out(waiting(fleet))
      if !fleet.isShared {
        // With a single daemon, show the first step to several.
        context.note(
          localized(
            "`%1` tests the move and changes nothing; docs/fleet.md", "chime store move --to postgres --dry-run"))
      }
      if present(fleet.daemons).count > 1 {
        context.out()
        context.print(table: daemons(fleet, context))
      }
      if fleet.isShared, !fleet.channels.isEmpty {
        context.out()
        context.print(table: channels(fleet))
      }
    }
    return .success
  }

  /// Returns the daemons to show: all but replaced ones.
  static func present(_ daemons: [DaemonInterface.Daemon]) -> [DaemonInterface.Daemon] {
    daemons.filter { $0.state != .replaced }
  }

  private static func headline(_ fleet: DaemonInterface.Fleet) -> String {
    let running = fleet.daemons.filter { $0.state == .running || $0.state == .draining }
    guard fleet.isShared else {
      return localized(
        """
        This daemon runs alone: its store is a file, which daemons cannot share. Several daemons can share a \
        PostgreSQL database.
        """)
    }
    if present(fleet.daemons).count == 1, let one = running.first {
      return localized(
        "One daemon uses the store (process %1 on %2): another with the same connection would share its work.",
        String(one.pid), TerminalSanitizer.line(one.host))
    }
    return localized(count: running.count, "%n daemon uses the store.", "%n daemons share the store.")
  }

  /// Describes overdue and pending work.
  private static func waiting(_ fleet: DaemonInterface.Fleet) -> String {
    let overdue =
      fleet.overdue == 0
      ? localized("Nothing is overdue")
      : localized(
        count: fleet.overdue, "%n time is overdue, by %1", "%n times are overdue, the oldest by %1",
        age(fleet.oldestOverdueMs))
    let pending =
      fleet.pending == 0
      ? localized("no message is pending")
      : localized(
        count: fleet.pending, "%n message is pending, for %1", "%n messages are pending, the oldest for %1",
        age(fleet.oldestPendingMs))
    return localized("%1; %2.", overdue, pending)
      + (fleet.unassignedShards == 0
        ? ""
        : " "
          + localized(
            count: fleet.unassignedShards, "%n part of the outbox has no daemon at this moment.",
            "%n parts of the outbox have no daemon at this moment."))
  }

  private static func age(_ milliseconds: Int?) -> String {
    milliseconds.map { RelativeTime.amount(seconds: Int64($0 / 1_000)) } ?? "-"
  }

  private static func daemons(_ fleet: DaemonInterface.Fleet, _ context: Context) -> Table {
    let clock = context.clock()
    let pending = Dictionary(fleet.outbox.map { ($0.daemon, $0) }, uniquingKeysWith: { $1 })
    var table = Table(columns: [
      .init(title: "HOST", canShrink: true), .init(title: "PID", alignRight: true),
      .init(title: "VERSION", dropOrder: 1), .init(title: "SINCE", dropOrder: 2),
      .init(title: "HEARTBEAT", dropOrder: 3), .init(title: "SHARDS", alignRight: true),
      .init(title: "PENDING", alignRight: true), .init(title: "OLDEST", alignRight: true, dropOrder: 4),
      .init(title: "STATE"),
    ])
    for daemon in present(fleet.daemons) {
      let backlog = pending[daemon.id]
      table.rows.append([
        .init(daemon.host, .strong), .init(String(daemon.pid)), .init(daemon.version),
        .init(clock.text(daemon.startedAt), .faint), .init(localized("%1 ago", age(daemon.heartbeatAgeMs))),
        .init(String(daemon.shards)), .init(String(backlog?.pending ?? 0)),
        .init(backlog.map { age($0.oldestPendingMs) } ?? "-"), state(daemon),
      ])
    }
    return table
  }

  private static func state(_ daemon: DaemonInterface.Daemon) -> Table.Cell {
    switch daemon.state {
    case .running: .init(daemon.isSelf ? localized("running, answers here") : localized("running"), .good)
    case .draining: .init(localized("is ending"), .caution)
    case .lost, .replaced: .init(localized("lost"), .bad)
    }
  }

  private static func channels(_ fleet: DaemonInterface.Fleet) -> Table {
    let daemons = Dictionary(fleet.daemons.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    var table = Table(columns: [
      .init(title: "CHANNEL", canShrink: true), .init(title: "PENDING", alignRight: true),
      .init(title: "OLDEST", alignRight: true), .init(title: "DAEMON", canShrink: true),
    ])
    for channel in fleet.channels {
      let name = channel.uid.map { "\(channel.channel) (\($0))" } ?? channel.channel
      let owner = channel.daemon.map { number in
        daemons[number].map { localized("%1, process %2", $0.host, String($0.pid)) } ?? String(number)
      }
      table.rows.append([
        .init(name, .strong), .init(String(channel.pending)), .init(age(channel.oldestPendingMs)),
        .init(owner ?? localized("nobody's")),
      ])
    }
    return table
  }

  /// Returns a line for `chime status`; nil for a single daemon.
  static func line(_ health: DaemonInterface.Health) -> String? {
    let daemons = present(health.daemons ?? [])
    guard daemons.count > 1 else { return nil }
    let running = daemons.filter { $0.state != .lost }
    let lost = daemons.filter { $0.state == .lost }.map {
      localized("%1 sent its last heartbeat %2 ago", $0.host, age($0.heartbeatAgeMs))
    }
    let names = running.map { $0.isSelf ? localized("%1 (this one)", $0.host) : $0.host }
    let head = localized(count: running.count, "%n running: %1", "%n running: %1", names.joined(separator: ", "))
    return ([head] + lost).joined(separator: "; ")
  }
}
