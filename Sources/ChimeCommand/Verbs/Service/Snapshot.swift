import ChimeControl
import ChimeWords

/// `chime snapshot`
enum Snapshot {
  static let verb = Verb(
    name: "snapshot", group: .about, summary: "Take a snapshot of the store now",
    details: [
      "The daemon takes a snapshot each day, checks it, and keeps the newest three (`[store]` of chimed.toml sets "
        + "the number). If the store is damaged, it restores the newest good one. A snapshot that you take counts "
        + "as one of them: copy its file elsewhere to keep it. The command answers after the check.",
      "A snapshot is the daemon's own copy of its store, on the same disk, in case the store is damaged. For a file "
        + "of your data to keep elsewhere or move to another machine: `chime backup`.",
    ],
    options: [.flag("list", nil, "List the present snapshots, and take none")],
    examples: ["chime snapshot", "chime snapshot --list"],
    alsoTried: ["snapshots", "save", "dump"],
    json: "`snapshot`; with `--list` `snapshots`, and `more`, which is false", run: run)

  /// The time limit: a store of a million reminders takes half a minute on a slow disk.
  private static let patience = Duration.seconds(600)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let daemon = try context.daemon()
    if context.line.has("list") { return try list(context, daemon) }
    daemon.patience += patience
    let snapshot = try daemon.call(DaemonInterface.TakeSnapshot()).snapshot
    context.print(snapshot, named: "snapshot") {
      context.out("\(TerminalSanitizer.line(snapshot.path)) (\(size(snapshot)))")
    }
    return .success
  }

  private static func list(_ context: Context, _ daemon: Daemon) throws -> ExitCode {
    let snapshots = try daemon.call(DaemonInterface.ListSnapshots()).snapshots
    let empty = [localized("No snapshot has been taken yet."), localized("Take one now: chime snapshot")]
    context.print(snapshots, named: "snapshots", empty: empty) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "CREATED"), .init(title: "SIZE", alignRight: true), .init(title: "FILE", canShrink: false),
        .init(title: "REASON", dropOrder: 1),
      ])
      for snapshot in snapshots {
        table.rows.append([
          .init(clock.text(snapshot.takenAt)), .init(size(snapshot)), .init(snapshot.path),
          .init(snapshot.beforeUpgradeFrom == nil ? "" : localized("before an upgrade"), .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func size(_ snapshot: DaemonInterface.StoreSnapshot) -> String {
    let tenths = snapshot.bytes * 10 / 1_048_576
    return tenths < 10 ? "\((snapshot.bytes + 1_023) / 1_024) KiB" : "\(tenths / 10).\(tenths % 10) MiB"
  }
}
