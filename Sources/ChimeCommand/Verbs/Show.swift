import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime show ID|TITLE`
enum Show {
  static let verb = Verb(
    name: "show", group: .look, arguments: ["ID|TITLE"], summary: "Show one reminder and its latest times",
    examples: ["chime show r7k2", "chime show Drink water"],
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
      context.print(json: ["reminder": reminder, "occurrences": occurrences])
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
      for line in TerminalSanitizer.lines(body) { context.out("  \(line)") }
    }
    context.out()
    var facts: [(String, String?)] = [
      (
        localized("state"),
        reminder.state == .waiting ? localized("waiting for an answer") : StateWords.say(reminder.state.rawValue)
      ),
      (localized("to"), reminder.channels.joined(separator: ", ")),
      (localized("time zone"), zone(reminder)),
      (localized("place"), PlaceText.text(reminder.latitude, reminder.longitude)),
      (localized("tags"), reminder.tags.isEmpty ? nil : reminder.tags.joined(separator: ", ")),
      (localized("unreachable"), reminder.undeliverable.map { localizedServerMessage($0) }),
      (localized("urgency"), reminder.urgency == .normal ? nil : StateWords.say(reminder.urgency.rawValue)),
    ]
    facts += DraftOptions.fields.compactMap { $0.shown?(reminder) }
    facts += [
      (localized("in a gap"), reminder.gap?.rawValue), (localized("in a fold"), reminder.fold?.rawValue),
    ]
    let (suspend, downtime) = (reminder.catchUp.suspend, reminder.catchUp.downtime)
    let rule =
      suspend == downtime
      ? StateWords.say(suspend.rawValue)
      : localized(
        "%1 after sleep, %2 after downtime", StateWords.say(suspend.rawValue), StateWords.say(downtime.rawValue))
    facts += [
      (localized("catch up"), localized("%1, up to %2 late", rule, LengthText.human(reminder.grace))),
      (localized("repeats"), reminder.nag.map { RepeatOptions.words($0) }),
      (localized("in quiet"), reminder.quiet.map { RepeatOptions.words($0) }),
      (
        "wakes",
        reminder.wake == true
          ? reminder.wakeProblem.map { localized("cannot wake the machine: %1", $0) }
            ?? localized("the machine from its sleep")
          : nil
      ),
      (localized("popup"), reminder.stay == true ? localized("stays until it is answered") : nil),
      (localized("tracker"), reminder.tracker.map { LinkOptions.words($0) }),
      (
        localized("set"),
        reminder.set.map { localized("%1, managed by files: chime apply", TerminalSanitizer.line($0)) }
      ),
      (localized("jitter"), reminder.jitter.map { localized("up to %1", LengthText.human($0)) }),
      (localized("snooze"), reminder.snooze.map { LengthText.human($0) }.joined(separator: ", ")),
      (
        localized("counts from"),
        reminder.follows.map { chain in
          chain.title.map { "\(chain.reminder)  \($0)" } ?? localized("%1, which no longer exists", chain.reminder)
        }
      ),
      (
        localized("only if done"),
        reminder.onlyIfDone.map { other in
          other.title.map { "\(other.reminder)  \($0)" } ?? localized("%1, which no longer exists", other.reminder)
        }
      ),
      (localized("last done"), reminder.lastDone.map { "\(clock.text($0)), \(clock.relative($0))" }),
      (
        localized("last"),
        reminder.last == nil ? localized("never") : "\(clock.text(reminder.last)), \(clock.relative(reminder.last))"
      ),
      (localized("added"), "\(clock.text(reminder.createdAt)), \(clock.relative(reminder.createdAt))"),
    ]
    context.print(facts: facts)
    guard !occurrences.isEmpty else { return }
    context.out()
    context.print(table: History.table(context, occurrences, showingTitle: false))
  }

  /// Returns the zone of the reminder's times; for `local`, with its current name.
  private static func zone(_ reminder: RemindersInterface.Reminder) -> String {
    if let own = (try? Schedule(canonical: reminder.when))?.zoneIdentifier {
      return localized("%1, as its schedule says", own)
    }
    return reminder.timezone == "local" ? "local (\(reminder.createdAt.zone))" : reminder.timezone
  }
}
