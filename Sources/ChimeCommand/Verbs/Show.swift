import ChimeControl
import ChimeSchedule
import ChimeWords

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
    let reminder = try daemon.call(RemindersInterface.Get(id: id)).reminder
    guard context.format != .plain else {
      context.print(reminder, named: "reminder") {}
      return .success
    }
    let occurrences = try daemon.call(OccurrencesInterface.List(filter: .init(reminder: reminder.id), limit: 5))
      .occurrences
    if context.format == .json {
      context.print(
        json: .members([
          "reminder": context.json(reminder),
          "occurrences": context.json(occurrences),
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
      (
        Words.say("state"),
        reminder.state == .waiting ? Words.say("waiting for an answer") : StateWords.say(reminder.state.rawValue)
      ),
      (Words.say("to"), reminder.channels.joined(separator: ", ")),
      (Words.say("time zone"), zone(reminder)),
      (Words.say("place"), PlaceText.text(reminder.latitude, reminder.longitude)),
      (Words.say("tags"), reminder.tags.isEmpty ? nil : reminder.tags.joined(separator: ", ")),
      (Words.say("unheard"), reminder.unheard.map { Words.told($0) }),
      (Words.say("urgency"), reminder.urgency == .normal ? nil : StateWords.say(reminder.urgency.rawValue)),
    ]
    facts += DraftOptions.fields.compactMap { $0.shown?(reminder) }
    facts += [
      (Words.say("in a gap"), reminder.gap?.rawValue), (Words.say("in a fold"), reminder.fold?.rawValue),
    ]
    let (suspend, downtime) = (reminder.catchUp.suspend, reminder.catchUp.downtime)
    let rule =
      suspend == downtime
      ? StateWords.say(suspend.rawValue)
      : Words.say(
        "%1 after sleep, %2 after downtime", StateWords.say(suspend.rawValue), StateWords.say(downtime.rawValue))
    facts += [
      (Words.say("catch up"), Words.say("%1, up to %2 late", rule, LengthText.human(reminder.grace))),
      (Words.say("repeats"), reminder.nag.map { InsistenceOptions.words($0) }),
      (Words.say("in quiet"), reminder.quiet.map { InsistenceOptions.words($0) }),
      (
        "wakes",
        reminder.wake == true
          ? reminder.wakeProblem.map { Words.say("not the machine: %1", $0) } ?? Words.say("the machine from its sleep")
          : nil
      ),
      (Words.say("popup"), reminder.stay == true ? Words.say("stays until it is answered") : nil),
      (Words.say("tracker"), reminder.tracker.map { LinkOptions.words($0) }),
      (Words.say("set"), reminder.set.map { Words.say("%1, kept in files: chime apply", Harmless.line($0)) }),
      (Words.say("jitter"), reminder.jitter.map { Words.say("up to %1", LengthText.human($0)) }),
      (Words.say("snooze"), reminder.snooze.map { LengthText.human($0) }.joined(separator: ", ")),
      (
        Words.say("counts from"),
        reminder.follows.map { chain in
          chain.title.map { "\(chain.reminder)  \($0)" } ?? Words.say("%1, which is gone", chain.reminder)
        }
      ),
      (
        Words.say("only if done"),
        reminder.onlyIfDone.map { other in
          other.title.map { "\(other.reminder)  \($0)" } ?? Words.say("%1, which is gone", other.reminder)
        }
      ),
      (Words.say("last done"), reminder.lastDone.map { "\(clock.text($0)), \(clock.relative($0))" }),
      (
        Words.say("last"),
        reminder.last == nil ? Words.say("never") : "\(clock.text(reminder.last)), \(clock.relative(reminder.last))"
      ),
      (Words.say("added"), "\(clock.text(reminder.createdAt)), \(clock.relative(reminder.createdAt))"),
    ]
    context.print(facts: facts)
    guard !occurrences.isEmpty else { return }
    context.out()
    context.print(table: History.table(context, occurrences, showingTitle: false))
  }

  /// The zone that governs its times; `local` with the one it is at present.
  private static func zone(_ reminder: RemindersInterface.Reminder) -> String {
    if let own = (try? Schedule(canonical: reminder.when))?.zoneIdentifier {
      return Words.say("%1, as its schedule says", own)
    }
    return reminder.timezone == "local" ? "local (\(reminder.createdAt.zone))" : reminder.timezone
  }
}
