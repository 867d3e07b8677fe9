import ChimeControl
import ChimeWords

/// `chime undo`
enum Undo {
  static let verb = Verb(
    name: "undo", group: .change, arguments: [""], summary: "Take back the last change",
    details: [
      "Each call takes one more change back, of the last 30 days, in the order in which you made them: a reminder that was "
        + "added, edited, removed, paused, skipped, moved or answered, an endpoint, an entry, a tracker, a pack, an import, an "
        + "apply, a restored backup.",
      "When the last thing that you did cannot be taken back, such as a reminder that was fired by hand, it says what it would "
        + "take back, and asks.",
      "What has been changed or has rung since stays as it is. A removed endpoint comes back with its secret.",
    ],
    options: [
      .flag("list", nil, "List what can be taken back, and take nothing back"), Listings.limit("changes", usually: 20),
      .flag("skip", nil, "Pass over the last change: it stays, and the one before it is next"),
      .flag("yes", "y", "Do not ask"), DraftOptions.dryRun,
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
    let skips = context.line.has("skip")
    let found = try daemon.call(TrackersInterface.Undo(dryRun: true))
    if !isDry, let later = found.later, !context.line.has("yes") {
      let what = [act(later.kind), subject(later.subject, of: later.kind)].filter { !$0.isEmpty }
        .joined(separator: ": ")
      let older = Words.say(
        "The last thing that you did cannot be taken back (%1). Before it: %2.", what, told(found.undone))
      guard context.world.isInteractive else {
        throw Failure.usage(older, hint: Words.say("chime undo --yes takes that back"))
      }
      context.note(older)
      guard Asking.confirm(context, Words.say("Take that back?")) else {
        context.note(Words.say("Nothing was taken back."))
        return .failed
      }
    }
    let reply =
      isDry
      ? found
      : try daemon.call(TrackersInterface.Undo(change: found.undone.id, skip: skips ? true : nil))
    context.print(reply.undone, named: "undone") {
      let what = told(reply.undone)
      context.out(
        isDry
          ? Words.say("Would be taken back: %1", what)
          : skips ? Words.say("Passed over, and left as it is: %1", what) : Words.say("Taken back: %1", what))
      let clock = context.clock()
      context.out(
        context.style(
          "  \(context.trackerWords.minute(reply.undone.at, clock)), \(clock.relative(reply.undone.at))", .faint))
    }
    for note in reply.notes ?? [] { context.note(Words.told(Harmless.line(note))) }
    return .success
  }

  private static func told(_ change: TrackersInterface.Undoable) -> String {
    [kind(change.kind), subject(change.subject, of: change.kind)].filter { !$0.isEmpty }.joined(separator: ": ")
  }

  /// What was changed, and where it is a mere number, of what.
  private static func subject(_ subject: String, of kind: String) -> String {
    guard let count = Int(subject) else { return Harmless.line(subject) }
    return switch kind {
    case "imported", "removedAll", "restored": Words.say(count: count, "%n entry", "%n entries")
    case "remindersImported": Words.say(count: count, "%n reminder", "%n reminders")
    case "redelivered", "cancelled": Words.say(count: count, "%n message", "%n messages")
    default: subject
    }
  }

  private static func list(_ context: Context, _ daemon: Daemon) throws -> ExitCode {
    let limit = try Listings.limit(context.line, usually: 20)
    let changes = try daemon.call(TrackersInterface.Changes(limit: min(limit ?? 1_000, 1_000))).changes
    context.print(
      changes, named: "changes",
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
          .init(subject(change.subject, of: change.kind)),
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
    case "stocked": Words.say("stock")
    case "restored": Words.say("backup restored")
    case "reminderAdded": Words.say("reminder added")
    case "reminderEdited": Words.say("reminder edited")
    case "reminderRemoved": Words.say("reminder removed")
    case "reminderPaused": Words.say("reminder paused")
    case "reminderResumed": Words.say("reminder resumed")
    case "reminderSkipped": Words.say("times skipped")
    case "reminderMoved": Words.say("time moved")
    case "reminderDone": Words.say("reminder done")
    case "reminderSnoozed": Words.say("reminder snoozed")
    case "reminderDismissed": Words.say("reminder dismissed")
    case "remindersImported": Words.say("reminders imported")
    case "setApplied": Words.say("set applied")
    case "endpointAdded": Words.say("endpoint added")
    case "endpointEdited": Words.say("endpoint edited")
    case "endpointRemoved": Words.say("endpoint removed")
    case "silenced": Words.say("everything silenced")
    case "silenceEnded": Words.say("silence ended")
    case "startedOver": Words.say("started over")
    default: Harmless.line(kind)
    }
  }

  /// What cannot be taken back, in a word or two.
  private static func act(_ kind: String) -> String {
    switch kind {
    case "fired": Words.say("fired by hand")
    case "rotated": Words.say("secret replaced")
    case "redelivered": Words.say("sent again")
    case "cancelled": Words.say("deliveries cancelled")
    case "removed": Words.say("removed for good")
    default: Harmless.line(kind)
    }
  }
}
