import ChimeControl
import ChimeSchedule

/// `chime show ID|TITLE`
enum Show {
  static let verb = Verb(
    name: "show", group: .look, arguments: ["ID|TITLE"], summary: "Show one reminder and what came of it lately",
    examples: [.init(command: "chime show r7k2"), .init(command: "chime show Drink water")],
    alsoTried: ["get", "info", "view", "cat"],
    json: "`reminder`, and `occurrences`: the latest five", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let daemon = try context.daemon()
    let reminder = try daemon.call(
      RemindersInterface.Get.method, RemindersInterface.Get.Parameters(id: id),
      returning: RemindersInterface.Get.Reply.self
    ).reminder
    guard context.format != .plain else {
      context.print(reminder, as: Shapes.reminder) {}
      return .success
    }
    let occurrences = try daemon.call(
      OccurrencesInterface.List.method,
      OccurrencesInterface.List.Parameters(filter: .init(reminder: reminder.id), limit: 5),
      returning: OccurrencesInterface.List.Reply.self
    ).occurrences
    if context.format == .json {
      context.print(
        json: .members([
          "reminder": Shapes.reminder.json(reminder),
          "occurrences": .list(occurrences.map { Shapes.occurrence.json($0) }),
        ]))
    } else {
      details(context, reminder, occurrences)
    }
    return .success
  }

  private static func details(
    _ context: Context, _ reminder: RemindersInterface.Reminder, _ occurrences: [OccurrencesInterface.Occurrence]
  ) {
    let clock = context.clock()
    for line in Adding.lines(context, reminder) { context.out(line) }
    if let body = reminder.body {
      context.out()
      for line in Harmless.lines(body) { context.out("  \(line)") }
    }
    context.out()
    var facts: [(String, String?)] = [
      ("state", reminder.state == .waiting ? "waiting for an answer" : reminder.state.rawValue),
      ("to", reminder.channels.joined(separator: ", ")),
      ("time zone", zone(reminder)),
      ("place", PlaceText.text(reminder.latitude, reminder.longitude)),
      ("tags", reminder.tags.isEmpty ? nil : reminder.tags.joined(separator: ", ")),
      ("urgency", reminder.urgency == .normal ? nil : reminder.urgency.rawValue),
      ("icon", reminder.icon), ("sound", reminder.sound), ("link", reminder.url), ("category", reminder.category),
      ("in a gap", reminder.gap?.rawValue), ("in a fold", reminder.fold?.rawValue),
    ]
    let (suspend, downtime) = (reminder.catchUp.suspend, reminder.catchUp.downtime)
    let rule =
      suspend == downtime ? suspend.rawValue : "\(suspend.rawValue) after sleep, \(downtime.rawValue) after downtime"
    facts += [
      ("catch up", "\(rule), up to \(LengthText.human(reminder.grace)) late"),
      ("repeats", reminder.nag.map { InsistenceOptions.words($0) }),
      ("in quiet", reminder.quiet.map { InsistenceOptions.words($0) }),
      (
        "wakes",
        reminder.wake == true
          ? reminder.wakeProblem.map { "not the machine: \($0)" } ?? "the machine from its sleep" : nil
      ),
      ("jitter", reminder.jitter.map { "up to \(LengthText.human($0))" }),
      ("snooze", reminder.snooze.map { LengthText.human($0) }.joined(separator: ", ")),
      ("last done", reminder.lastDone.map { "\(clock.text($0)), \(clock.relative($0))" }),
      ("last", reminder.last == nil ? "never" : "\(clock.text(reminder.last)), \(clock.relative(reminder.last))"),
      ("added", "\(clock.text(reminder.createdAt)), \(clock.relative(reminder.createdAt))"),
    ]
    for (name, value) in facts {
      if let value, !value.isEmpty {
        context.out("  \(context.style(TextWidth.pad(name, to: 10), .faint))  \(Harmless.line(value))")
      }
    }
    guard !occurrences.isEmpty else { return }
    context.out()
    context.print(table: History.table(context, occurrences, showingTitle: false))
  }

  /// The zone that governs its times; `local` with the one it is at present.
  private static func zone(_ reminder: RemindersInterface.Reminder) -> String {
    if let own = (try? Schedule(canonical: reminder.when))?.zoneIdentifier { return "\(own), as its schedule says" }
    return reminder.timezone == "local" ? "local (\(reminder.createdAt.zone))" : reminder.timezone
  }
}
