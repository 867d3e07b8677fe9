import ChimeControl
import ChimeWords
import Glibc

/// `chime start-over`
enum StartOver {
  static let verb = Verb(
    name: "start-over", group: .keep, summary: "Remove all your data, after a backup",
    details: [
      "It removes reminders, trackers with their entries, packs, endpoints with their secrets, and the history. It "
        + "lists them first, and asks. The configuration stays.",
      "It writes a backup first, and prints its name at the end. `chime restore FILE` restores trackers, entries, "
        + "packs, reminders, the history, and endpoints without their secrets. For 30 days `chime undo` restores "
        + "the same, with the secrets but without the history.",
    ],
    options: [
      .value("backup", nil, "FILE", "The backup's file; the default is one in ~/.local/share/chime"),
      .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
    ],
    examples: ["chime start-over", "chime start-over --backup ~/chime.backup --yes"],
    alsoTried: ["reset", "wipe", "factory-reset", "clear"], json: "`startedOver`, and `backup`: the file", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let daemon = try context.daemon()
    let isDry = context.line.has("dry-run")
    let found = try ask(daemon, dryRun: true)
    if found.isEmpty {
      print(found, backup: nil, isDry: isDry, context)
      return .success
    }
    if !isDry, !context.line.has("yes") {
      try need(
        context.process.isInteractive,
        localized("this removes everything (%1); without a terminal it needs --yes", counts(found)),
        hint: localized("--dry-run shows what it would remove, and removes nothing"))
      context.note(localized("This removes %1, and the history.", counts(found)))
      guard
        Asking.confirm(
          context, localized("Remove all of it? A backup is written first."),
          otherwise: localized("Nothing was removed."))
      else { return .failed }
    }
    if isDry {
      print(found, backup: nil, isDry: true, context)
      return .success
    }
    let path = try place(context)
    try Backup.write(to: path, passphrase: nil, context)
    print(try ask(daemon, dryRun: false), backup: path, isDry: false, context)
    return .success
  }

  private static func ask(_ daemon: Daemon, dryRun: Bool) throws -> TrackersInterface.StartOver.Reply {
    try daemon.call(TrackersInterface.StartOver(dryRun: dryRun ? true : nil))
  }

  /// Returns the path of a backup file that does not exist yet.
  private static func place(_ context: Context) throws -> String {
    if let path = context.line.value("backup") {
      try need(
        access(path, F_OK) != 0, failed: localized("%1 exists already", path), hint: localized("choose another name"))
      return path
    }
    let environment = context.process.environment
    func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    guard let data = folder("XDG_DATA_HOME") ?? folder("HOME").map({ $0 + "/.local/share" }) else {
      throw Failure.usage(localized("the backup needs a home folder, and there is none"), hint: "--backup FILE")
    }
    let folder = "\(data)/chime"
    try Files.makeFolder(folder)
    let name = "\(folder)/before-start-over-\(try context.today())"
    var (path, number) = ("\(name).backup", 2)
    while access(path, F_OK) == 0 { (path, number) = ("\(name)-\(number).backup", number + 1) }
    return path
  }

  private static func counts(_ found: TrackersInterface.StartOver.Reply) -> String {
    [
      localized(count: found.reminders, "%n reminder", "%n reminders"),
      localized(count: found.trackers, "%n tracker", "%n trackers"),
      localized(count: found.entries, "%n entry", "%n entries"), localized(count: found.packs, "%n pack", "%n packs"),
      localized(count: found.endpoints, "%n endpoint", "%n endpoints"),
    ].joined(separator: ", ")
  }

  private static func print(
    _ found: TrackersInterface.StartOver.Reply, backup: String?, isDry: Bool, _ context: Context
  ) {
    switch context.format {
    case .json: context.print(json: ["startedOver": found, "backup": backup, "dryRun": isDry])
    case .plain:
      context.out(Plain.line(TrackersInterface.StartOver.Reply.fieldNames + ["backup"]))
      context.out(Plain.line(context.row(found) + [backup.map(TerminalSanitizer.field) ?? ""]))
    case .human:
      guard !context.isQuiet else { return }
      if found.isEmpty { return context.out(localized("There is nothing to remove.")) }
      if isDry { return context.out(localized("Would remove %1, and the history.", counts(found))) }
      context.out(localized("Removed %1, and the history.", counts(found)))
      guard let backup else { return }
      context.out("  " + localized("the backup is %1", TerminalSanitizer.line(backup)))
      context.note("  " + localized("`chime restore %1` restores it", backup), .faint)
      context.note(
        "  "
          + localized(
            "for 30 days `chime undo` restores it too, with the secrets of endpoints but without the history"),
        .faint)
    }
  }
}

extension TrackersInterface.StartOver.Reply {
  fileprivate var isEmpty: Bool { self == .init(reminders: 0, trackers: 0, entries: 0, packs: 0, endpoints: 0) }
}
