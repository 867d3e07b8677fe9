import ChimeControl
import ChimeWords

/// `chime undo`
enum Undo {
  static let verb = Verb(
    name: "undo", group: .change, summary: "Undo the last change",
    details: [
      "Each call undoes one more change of the last 30 days, the latest first: a reminder that was added, edited, "
        + "removed, paused, skipped, moved or answered, an endpoint, an entry, a tracker, a pack, an import, an "
        + "apply, a restored backup.",
      "If your last action cannot be undone, such as firing a reminder by hand, it says what it would undo instead, "
        + "and asks.",
      "Anything that has changed or rung since stays as it is. A removed endpoint comes back with its secret.",
    ],
    options: [
      .flag("list", nil, "List the changes that can be undone, and undo nothing"),
      Pagination.limit("changes", usually: 20),
      .flag("skip", nil, "Skip the last change: it stays, and the one before it is next"),
      .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
    ],
    examples: ["chime undo", "chime undo --dry-run", "chime undo --list"],
    alsoTried: ["revert", "oops", "back"], json: "`undone`; with `--list` `changes`, and `more`, which is false",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let daemon = try context.daemon()
    if context.line.has("list") { return try list(context, daemon) }
    if context.line.has("limit") { throw Failure.usage(localized("--limit needs --list")) }
    let isDry = context.line.has("dry-run")
    let skips = context.line.has("skip")
    let found = try daemon.call(TrackersInterface.Undo(dryRun: true))
    if !isDry, let later = found.later, !context.line.has("yes") {
      let what = [act(later.kind), subject(later.subject, of: later.kind)].filter { !$0.isEmpty }
        .joined(separator: ": ")
      let older = localized(
        "Your last action cannot be undone (%1). The one before it: %2.", what, description(found.undone))
      try need(context.process.isInteractive, older, hint: localized("chime undo --yes undoes that one"))
      context.note(older)
      guard Asking.confirm(context, localized("Undo that?"), otherwise: localized("Nothing was undone.")) else {
        return .failed
      }
    }
    let reply =
      isDry
      ? found
      : try daemon.call(TrackersInterface.Undo(change: found.undone.id, skip: skips ? true : nil))
    context.print(reply.undone, named: "undone") {
      let what = description(reply.undone)
      context.out(
        isDry
          ? localized("Would undo: %1", what)
          : skips ? localized("Skipped, and left unchanged: %1", what) : localized("Undone: %1", what))
      let clock = context.clock()
      context.out(
        context.style(
          "  \(context.trackerWords.minute(reply.undone.at, clock)), \(clock.relative(reply.undone.at))", .faint))
    }
    for note in reply.notes ?? [] { context.note(localizedServerMessage(TerminalSanitizer.line(note))) }
    return .success
  }

  private static func description(_ change: TrackersInterface.Undoable) -> String {
    [kind(change.kind), subject(change.subject, of: change.kind)].filter { !$0.isEmpty }.joined(separator: ": ")
  }

  /// Returns the subject of a change; a bare number gets a noun.
  private static func subject(_ subject: String, of kind: String) -> String {
    guard let count = Int(subject) else { return TerminalSanitizer.line(subject) }
    return switch kind {
    case "imported", "removedAll", "restored": localized(count: count, "%n entry", "%n entries")
    case "remindersImported": localized(count: count, "%n reminder", "%n reminders")
    case "redelivered", "cancelled": localized(count: count, "%n message", "%n messages")
    default: subject
    }
  }

  private static func list(_ context: Context, _ daemon: Daemon) throws -> ExitCode {
    let limit = try Pagination.limit(context.line, usually: 20)
    let changes = try daemon.call(TrackersInterface.Changes(limit: min(limit ?? 1_000, 1_000))).changes
    context.print(
      changes, named: "changes",
      empty: [
        localized("There is nothing to undo."), localized("This lists the changes of the last 30 days."),
      ]
    ) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: localized("WHEN")), .init(title: localized("CHANGE")),
        .init(title: localized("TRACKER"), dropOrder: 1), .init(title: localized("WHAT"), canShrink: true),
      ])
      for change in changes {
        table.rows.append([
          .init(context.trackerWords.minute(change.at, clock)), .init(kind(change.kind), .strong),
          .init(change.tracker ?? "", .faint),
          .init(subject(change.subject, of: change.kind)),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  /// Returns the name of a kind of change; an unknown kind stays as the daemon names it.
  static func kind(_ kind: String) -> String {
    switch kind {
    case "logged": localized("logged")
    case "edited": localized("edited")
    case "removed": localized("removed")
    case "removedAll": localized("all removed")
    case "tracker": localized("tracker")
    case "item": localized("item")
    case "milestone": localized("milestone")
    case "pack": localized("pack")
    case "imported": localized("imported")
    case "stocked": localized("stock")
    case "restored": localized("backup restored")
    case "reminderAdded": localized("reminder added")
    case "reminderEdited": localized("reminder edited")
    case "reminderRemoved": localized("reminder removed")
    case "reminderPaused": localized("reminder paused")
    case "reminderResumed": localized("reminder resumed")
    case "reminderSkipped": localized("times skipped")
    case "reminderMoved": localized("time moved")
    case "reminderDone": localized("reminder done")
    case "reminderSnoozed": localized("reminder snoozed")
    case "reminderDismissed": localized("reminder dismissed")
    case "remindersImported": localized("reminders imported")
    case "setApplied": localized("set applied")
    case "endpointAdded": localized("endpoint added")
    case "endpointEdited": localized("endpoint edited")
    case "endpointRemoved": localized("endpoint removed")
    case "silenced": localized("everything silenced")
    case "silenceEnded": localized("silence ended")
    case "startedOver": localized("started over")
    default: TerminalSanitizer.line(kind)
    }
  }

  /// Returns the name of an act that cannot be undone.
  private static func act(_ kind: String) -> String {
    switch kind {
    case "fired": localized("fired by hand")
    case "rotated": localized("secret replaced")
    case "redelivered": localized("sent again")
    case "cancelled": localized("deliveries cancelled")
    case "removed": localized("removed permanently")
    default: TerminalSanitizer.line(kind)
    }
  }
}
