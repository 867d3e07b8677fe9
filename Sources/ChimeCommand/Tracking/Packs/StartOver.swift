import ChimeControl
import ChimeWords
import Glibc

/// `chime start-over`
enum StartOver {
  static let verb = Verb(
    name: "start-over", group: .keep, arguments: [""], summary: "Take away everything you have, after a backup",
    details: [
      "Reminders, trackers with all that was logged, packs, endpoints with their secrets, and the history. It says what that is, "
        + "and asks. The configuration stays.",
      "Before, it writes a backup, which it names at its end; `chime restore FILE` brings back trackers, what was logged, packs, "
        + "reminders, the history, and endpoints without their secrets. For 30 days `chime undo` brings back the same, and the secrets, "
        + "but not the history.",
    ],
    options: [
      .value("backup", nil, "FILE", "Where the backup goes; otherwise into ~/.local/share/chime"),
      .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
    ],
    examples: [
      .init(command: "chime start-over"), .init(command: "chime start-over --backup ~/chime.backup --yes"),
    ],
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
      guard context.process.isInteractive else {
        throw Failure.usage(
          localized("this takes away everything (%1); it needs --yes where nobody can be asked", counts(found)),
          hint: localized("--dry-run says what there is, and takes nothing away"))
      }
      context.note(localized("This takes away %1, and the history.", counts(found)))
      guard Asking.confirm(context, localized("Take all of it away? A backup is written first.")) else {
        context.note(localized("Nothing was taken away."))
        return .failed
      }
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
      guard access(path, F_OK) != 0 else {
        throw Failure.failed(localized("%1 is there already", path), hint: localized("name another file"))
      }
      return path
    }
    let environment = context.process.environment
    func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    guard let data = folder("XDG_DATA_HOME") ?? folder("HOME").map({ $0 + "/.local/share" }) else {
      throw Failure.usage(localized("there is no home folder for the backup"), hint: "--backup FILE")
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
    case .json:
      context.print(
        json: .members([
          "startedOver": context.json(found), "backup": backup.map { .string($0) } ?? .null,
          "dryRun": .bool(isDry),
        ]))
    case .plain:
      context.out(Plain.line(TrackersInterface.StartOver.Reply.fieldNames + ["backup"]))
      context.out(Plain.line(context.row(found) + [backup.map(TerminalSanitizer.field) ?? ""]))
    case .human:
      guard !context.isQuiet else { return }
      if found.isEmpty { return context.out(localized("There is nothing to take away.")) }
      if isDry { return context.out(localized("Would be taken away: %1, and the history.", counts(found))) }
      context.out(localized("Taken away: %1, and the history.", counts(found)))
      guard let backup else { return }
      context.out("  " + localized("the backup is %1", TerminalSanitizer.line(backup)))
      context.note("  " + localized("`chime restore %1` brings it back", backup), .faint)
      context.note(
        "  " + localized("`chime undo` does too, with the secrets of endpoints but not the history, for 30 days"),
        .faint)
    }
  }
}

extension TrackersInterface.StartOver.Reply {
  fileprivate var isEmpty: Bool { self == .init(reminders: 0, trackers: 0, entries: 0, packs: 0, endpoints: 0) }
}
