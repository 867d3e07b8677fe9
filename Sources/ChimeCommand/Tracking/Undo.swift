import ChimeControl
import ChimeWords

/// `chime undo`
enum Undo {
  static let verb = Verb(
    name: "undo", group: .track, arguments: [""], summary: "Take back the last change to what was logged",
    details: [
      "Each call takes one more change back, of the last 30 days: an entry, an edit, a removal of everything, a tracker, a "
        + "pack, an import, a restored backup. Reminders are not undone by it."
    ],
    options: [
      .flag("list", nil, "List what can be taken back, and take nothing back"), Listings.limit("changes", usually: 20),
      DraftOptions.dryRun,
    ],
    examples: [
      .init(command: "chime undo"), .init(command: "chime undo --dry-run"), .init(command: "chime undo --list"),
    ],
    alsoTried: ["revert", "oops", "back"], json: "`undone`; with `--list` `changes`, and `more`, which is false",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let daemon = try context.daemon()
    if context.line.has("list") { return try list(context, daemon) }
    if context.line.has("limit") { throw Failure.usage(Words.say("--limit goes with --list")) }
    let isDry = context.line.has("dry-run")
    let undone = try daemon.call(TrackersInterface.Undo(dryRun: isDry ? true : nil)).undone
    context.print(undone, as: Shapes.undoable) {
      let what = [kind(undone.kind), Harmless.line(undone.subject)].filter { !$0.isEmpty }.joined(separator: ": ")
      context.out(isDry ? Words.say("Would be taken back: %1", what) : Words.say("Taken back: %1", what))
      let clock = context.clock()
      context.out(
        context.style("  \(context.trackerWords.minute(undone.at, clock)), \(clock.relative(undone.at))", .faint))
    }
    return .success
  }

  private static func list(_ context: Context, _ daemon: Daemon) throws -> ExitCode {
    let limit = try Listings.limit(context.line, usually: 20)
    let changes = try daemon.call(TrackersInterface.Changes(limit: min(limit ?? 1_000, 1_000))).changes
    context.print(
      changes, as: Shapes.undoable,
      empty: [
        Words.say("There is nothing to take back."), Words.say("What was changed in the last 30 days is listed here."),
      ]
    ) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: Words.say("WHEN")), .init(title: Words.say("CHANGE")),
        .init(title: Words.say("TRACKER"), dropOrder: 1), .init(title: Words.say("WHAT"), canShrink: true),
      ])
      for change in changes {
        table.rows.append([
          .init(context.trackerWords.minute(change.at, clock)), .init(kind(change.kind), .strong),
          .init(change.tracker ?? "", .faint),
          .init(change.subject),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  /// A kind of change in a word or two; the daemon's own word for one that is not known here.
  static func kind(_ kind: String) -> String {
    switch kind {
    case "logged": Words.say("logged")
    case "edited": Words.say("edited")
    case "removed": Words.say("removed")
    case "removedAll": Words.say("all removed")
    case "tracker": Words.say("tracker")
    case "item": Words.say("item")
    case "milestone": Words.say("milestone")
    case "pack": Words.say("pack")
    case "imported": Words.say("imported")
    case "restored": Words.say("restored")
    default: Harmless.line(kind)
    }
  }
}
