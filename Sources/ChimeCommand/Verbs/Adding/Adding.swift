import ChimeControl
import ChimeSchedule
import ChimeWords

/// The common part of `add`, `in` and `at`: a title and a schedule become a reminder.
enum Adding {
  static let options = DraftOptions.all + [DraftOptions.token, DraftOptions.dryRun]

  static func add(_ context: Context, _ line: TitleAndTime.Reading) throws -> ExitCode {
    try RepeatOptions.checkNew(context.line)
    try LinkOptions.checkNew(context.line)
    var draft = try DraftOptions.draft(context.line, title: line.title, when: line.when)
    try line.marks.add(to: &draft)
    if context.line.has("dry-run") { return try Explaining.dryRun(context, draft: draft) }
    let reply: RemindersInterface.Add.Reply = try context.daemon().call(
      RemindersInterface.Add(reminder: draft, token: context.line.value("token")))
    answer(context, reply.reminder, warnings: reply.warnings)
    return .success
  }

  /// Prints the new reminder: id, title, canonical schedule, and the next time with its zone and distance.
  static func answer(_ context: Context, _ reminder: RemindersInterface.Reminder, warnings: [String]? = nil) {
    context.print(reminder, named: "reminder", warnings: warnings) {
      for line in lines(context, reminder) { context.out(line) }
    }
  }

  static func lines(_ context: Context, _ reminder: RemindersInterface.Reminder) -> [String] {
    let id = context.style(TerminalSanitizer.line(reminder.id), .strong)
    return [
      "\(id)  \(TerminalSanitizer.line(reminder.title))",
      "  \(reminder.follows.map(ChainText.schedule) ?? TerminalSanitizer.line(reminder.when))",
      "  \(next(context, reminder))",
    ]
  }

  /// Returns `next Mon 2026-03-30 08:30 CEST (Europe/Prague), in 3 h`, or the reason why there is no next time.
  static func next(_ context: Context, _ reminder: RemindersInterface.Reminder) -> String {
    let clock = context.clock()
    var parts: [String] = []
    if reminder.state == .paused {
      parts.append(
        reminder.pausedUntil.map { localized("paused until %1", clock.text($0)) }
          ?? localized("paused until you resume it"))
    }
    let next = reminder.next.flatMap { next in WallClock.instant(next).map { (instant: $0, zone: next.zone) } }
    // A time within the pause will not fire.
    let end = reminder.state == .paused ? reminder.pausedUntil.flatMap { WallClock.instant($0) } ?? .latest : .earliest
    if let (instant, zone) = next, instant >= end {
      parts.append(localized("next %1, %2", moment(context, instant, zone: zone), clock.relative(instant)))
      if let held = reminder.held { parts.append(localized("quiet hours defer %1 until then", clock.text(held))) }
    } else if let chain = reminder.follows, reminder.state != .finished || chain.title == nil {
      parts.append(ChainText.waits(chain))
    } else if reminder.state == .finished {
      parts.append(localized("finished: it has no further time"))
    } else if reminder.state == .waiting {
      parts.append(localized("it waits for an answer and has no further time"))
    }
    if let condition = reminder.onlyIfDone, let since = condition.since {
      parts.append(localized("that of %1 %2", clock.text(since), ChainText.waits(condition)))
    }
    if let again = reminder.repeatAt {
      parts.append(localized("not answered yet: it is repeated %1, %2", clock.text(again), clock.relative(again)))
    }
    if reminder.skipNext > 0 {
      parts.append(localized(count: reminder.skipNext, "skips the next time", "skips the next %n times"))
    }
    return TerminalSanitizer.line(parts.joined(separator: "; "))
  }

  /// Returns a moment in a zone, and in this machine's zone if that differs.
  static func moment(_ context: Context, _ instant: Instant, zone name: String) -> String {
    let clock = context.clock()
    guard let zone = try? context.zone(name) else {
      return "\(clock.text(instant)) \(clock.zone.abbreviation(at: instant))"
    }
    let text = "\(clock.text(instant, in: zone)) \(zone.abbreviation(at: instant)) (\(zone.identifier))"
    guard zone.offset(at: instant) != clock.zone.offset(at: instant) else { return text }
    return localized("%1, here %2", text, clock.text(instant))
  }
}
