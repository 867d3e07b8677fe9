import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime why ID|TITLE`
enum Why {
  static let verb = Verb(
    name: "why", group: .look, arguments: ["ID|TITLE"],
    summary: "Explain why a reminder rang, came late or did not ring, and when it rings next",
    details: [
      "Its latest times come first, each with its result and the reason; then the next time, the reason why it is "
        + "not earlier, and what stops its messages. Below a sentence stands the command that changes it."
    ],
    options: [Pagination.limit("times", usually: 3)],
    examples: ["chime why Stand-up", "chime why r7k2 -n 10"],
    alsoTried: ["reason", "because", "explain", "missed"],
    json: "`reminder`, and `reasons`: each a sentence with the command that changes it", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let limit = try Pagination.limit(context.line, usually: 3)
    let daemon = try context.daemon()
    let reminder = try daemon.call(RemindersInterface.Get(id: id)).reminder
    let occurrences = try Pagination.pages(limit: limit) { limit, cursor in
      let reply: OccurrencesInterface.List.Reply = try daemon.call(
        OccurrencesInterface.List(filter: .init(reminder: reminder.id), limit: limit, cursor: cursor))
      return (reply.occurrences, reply.cursor)
    }.items
    let reasons = Reasons(
      reminder: reminder, occurrences: occurrences,
      deliveries: try deliveries(of: reminder, daemon),
      silence: try daemon.call(DaemonInterface.Status()).status.silence,
      endpoints: try daemon.call(EndpointsInterface.List()).endpoints,
      commands: try daemon.call(CommandsInterface.List()).commands,
      excludedDays: try excludedDays(of: reminder, context, daemon), preferredLanguages: context.preferredLanguages
    ).all
    switch context.format {
    case .json: context.print(json: ["reminder": reminder, "reasons": reasons.map(\.output)])
    case .plain: context.plain(reasons.map(\.output))
    case .human: show(context, reminder, reasons)
    }
    return .success
  }

  /// Reads the reminder's latest deliveries.
  private static func deliveries(
    of reminder: RemindersInterface.Reminder, _ daemon: Daemon
  ) throws -> [DeliveriesInterface.Delivery] {
    let reply: DeliveriesInterface.List.Reply = try daemon.call(
      DeliveriesInterface.List(filter: .init(reminder: reminder.id), limit: 50))
    return reply.deliveries
  }

  /// Reads the days before the next time that calendars remove.
  private static func excludedDays(
    of reminder: RemindersInterface.Reminder, _ context: Context, _ daemon: Daemon
  ) throws -> [Wire.ExcludedDay] {
    // Most schedules name no calendar.
    guard reminder.next != nil, (try? Schedule(canonical: reminder.when))?.calendarNames.isEmpty == false else {
      return []
    }
    let reply = try daemon.call(
      SchedulesInterface.Explain(
        when: reminder.when, timezone: reminder.timezone, gap: reminder.gap, fold: reminder.fold, count: 1,
        after: RFC3339.format(context.now, in: .utc), latitude: reminder.latitude, longitude: reminder.longitude))
    return reply.excludedDays ?? []
  }

  private static func show(_ context: Context, _ reminder: RemindersInterface.Reminder, _ reasons: [Reason]) {
    let (clock, glyphs) = (context.clock(), context.glyphs)
    let width = context.width
    context.print(heading: reminder.id, reminder.title)
    context.out("  \(TerminalSanitizer.line(reminder.when))")
    for reason in reasons {
      context.out()
      for line in TextWidth.wrap(TerminalSanitizer.line(reason.sentence.said(by: clock)), to: width, indent: 2) {
        context.out(line)
      }
      guard let command = reason.command else { continue }
      context.out("    \(context.style(glyphs.isASCII ? "->" : "→", .faint)) \(TerminalSanitizer.line(command))")
    }
  }
}

/// A statement about a reminder's past or next time, with its cause.
struct Reason: Equatable, Sendable {
  var kind: Output.Reason.Kind
  /// The scheduled time that it concerns.
  var at: Wire.Time?
  var sentence: Sentence
  /// The command that changes the cause.
  var command: String?

  /// The reason in the output for programs.
  var output: Output.Reason { Output.Reason(kind: kind, at: at, text: sentence.english, command: command) }
}

/// Derives the explanations from a reminder's record, without I/O, so that each sentence is testable.
struct Reasons {
  var reminder: RemindersInterface.Reminder
  /// Newest first.
  var occurrences: [OccurrencesInterface.Occurrence]
  /// Newest first.
  var deliveries: [DeliveriesInterface.Delivery]
  var silence: Wire.Silence?
  var endpoints: [EndpointsInterface.Endpoint]
  var commands: [CommandsInterface.Command]
  var excludedDays: [Wire.ExcludedDay] = []
  var preferredLanguages = PreferredLanguages(languages: ["en"])

  var all: [Reason] { occurrences.reversed().map { past($0) } + undelivered + coming + channels }

  private var id: String { reminder.id }

  // MARK: Past occurrences

  private func past(_ occurrence: OccurrencesInterface.Occurrence) -> Reason {
    let at = occurrence.scheduledAt
    if let missed = occurrence.missed { return self.missed(at, missed) }
    // For an expectation, only the ping matters.
    if reminder.within != nil { return expected(occurrence) }
    let lateness = length(occurrence.latenessMs ?? 0)
    func reason(_ sentence: Sentence, _ command: String?) -> Reason {
      Reason(kind: .late, at: at, sentence: sentence, command: command)
    }
    switch occurrence.late {
    case .suspend:
      return reason(
        "The time at \(.time(at)) rang \(lateness) late: the machine slept when it came.",
        reminder.wake == true ? nil : "chime edit \(id) --wake")
    case .downtime:
      return reason(
        "The time at \(.time(at)) rang \(lateness) late: the daemon did not run when it came.", "chime doctor")
    case .quiet:
      return reason(
        "The time at \(.time(at)) rang \(lateness) late: quiet hours held it.", "chime edit \(id) --quiet-rule off")
    case .waited:
      return reason(
        "The time at \(.time(at)) rang \(lateness) late: it waited until another reminder was done.",
        "chime edit \(id) --only-if-done \"\"")
    case nil: break
    }
    // A larger delay than the jitter means a moved or snoozed occurrence.
    let jitter = reminder.jitter.flatMap { try? DurationText.parseISO8601($0) } ?? .zero
    if let lag = occurrence.latenessMs, lag >= 1_000, lag <= jitter.rawValue + 1_000 {
      return reason(
        "The time at \(.time(at)) rang \(lateness) later because of its jitter.", "chime edit \(id) --jitter \"\"")
    }
    return fired(occurrence)
  }

  private func expected(_ occurrence: OccurrencesInterface.Occurrence) -> Reason {
    let at = occurrence.scheduledAt
    func reason(_ sentence: Sentence) -> Reason {
      Reason(kind: .fired, at: at, sentence: sentence, command: "chime expect show \(id)")
    }
    if occurrence.state == .awaited {
      return reason("A ping for the time at \(.time(at)) is awaited until \(.time(occurrence.pingDeadline ?? at)).")
    }
    return occurrence.firedAt == nil
      ? reason("A ping came for the time at \(.time(at)).")
      : reason("For the time at \(.time(at)) no successful ping came in time, and Chime notified you.")
  }

  private func fired(_ occurrence: OccurrencesInterface.Occurrence) -> Reason {
    let at = occurrence.scheduledAt
    func reason(_ sentence: Sentence, _ command: String? = nil) -> Reason {
      Reason(kind: .fired, at: at, sentence: sentence, command: command)
    }
    let done = "chime done \(occurrence.id)"
    return switch occurrence.state {
    case .done: reason("The time at \(.time(at)) rang and was done.")
    case .dismissed: reason("The time at \(.time(at)) rang and was dismissed.")
    case .snoozed where occurrence.rounds == 0:
      reason(
        "The time at \(.time(at)) was moved to \(.time(occurrence.snoozedUntil ?? at)).", "chime move \(id) +1h")
    case .snoozed: reason("The time at \(.time(at)) rang and was snoozed.", done)
    case .fired, .delivered, .missed, .awaited: reason("The time at \(.time(at)) rang; nobody has answered.", done)
    }
  }

  private func missed(_ at: Wire.Time, _ missed: OccurrencesInterface.Occurrence.Missed) -> Reason {
    let grace = LengthText.human(reminder.grace)
    func reason(_ sentence: Sentence, _ command: String?) -> Reason {
      Reason(kind: .missed, at: at, sentence: sentence, command: command.map { "chime \($0)" })
    }
    return switch missed {
    case .suspend where reminder.catchUp.suspend == .skip:
      reason(
        "The time at \(.time(at)) did not ring: the machine slept, and this reminder skips such times.",
        "edit \(id) --catch-up suspend=latest")
    case .suspend:
      reason(
        "The time at \(.time(at)) did not ring: the machine slept, and a later time rang or it was over \(grace) late.",
        "edit \(id) --catch-up suspend=all")
    case .downtime where reminder.catchUp.downtime == .skip:
      reason(
        "The time at \(.time(at)) did not ring: the daemon did not run, and this reminder skips such times.",
        "edit \(id) --catch-up downtime=latest")
    case .downtime:
      reason(
        """
        The time at \(.time(at)) did not ring: the daemon did not run, and a later time rang or it was over \
        \(grace) late.
        """, "edit \(id) --catch-up downtime=all")
    case .paused:
      reason(
        "The time at \(.time(at)) did not ring: the reminder was paused, or everything was.",
        reminder.state == .paused ? "resume \(id)" : silence == nil ? nil : "resume --all")
    case .skipped:
      reason(
        "The time at \(.time(at)) did not ring: it was skipped with `chime skip`.",
        reminder.skipNext > 0 ? "skip \(id) -n 0" : nil)
    case .overCap:
      reason(
        "The time at \(.time(at)) did not ring: too many were late to catch up at once.",
        "edit \(id) --catch-up latest")
    case .quiet:
      reason("The time at \(.time(at)) did not ring: it fell into quiet hours.", "edit \(id) --quiet-rule off")
    case .doneAlready:
      reason("The time at \(.time(at)) did not ring: its tracker was done already.", "edit \(id) --no-quiet-when-done")
    case .notDone:
      reason(
        "The time at \(.time(at)) did not ring: the reminder that it waits for was not done in time.",
        "edit \(id) --only-if-done \"\"")
    }
  }

  /// The undelivered messages of the latest occurrence that fired.
  private var undelivered: [Reason] {
    guard let latest = occurrences.first(where: { $0.firedAt != nil }) else { return [] }
    var seen: Set<String> = []
    return deliveries.filter { $0.occurrence == latest.id && $0.event == nil }.compactMap { delivery in
      // Of several repetitions, the newest stands for its channel.
      guard seen.insert(delivery.channel).inserted else { return nil }
      let result = Sentence.Value.serverMessage(delivery.lastResult ?? "")
      let sentence: Sentence
      var command = "chime deliveries --id \(delivery.id)"
      switch delivery.state {
      case .delivered, .cancelled: return nil
      case .pending: sentence = Sentence("Its message to \(delivery.channel) is still pending.")
      case .waiting:
        sentence = Sentence("Its message to \(delivery.channel) was not delivered and is retried: \(result)")
      case .dead:
        sentence = Sentence("Its message to \(delivery.channel) was given up: \(result)")
        command = "chime redeliver \(delivery.id)"
      }
      return Reason(kind: .delivery, at: latest.scheduledAt, sentence: sentence, command: command)
    }
  }

  // MARK: Upcoming times

  private var coming: [Reason] {
    var reasons: [Reason] = []
    func add(_ sentence: Sentence, _ command: String) {
      reasons.append(Reason(kind: .next, at: reminder.next, sentence: sentence, command: "chime \(command)"))
    }
    if let again = reminder.repeatAt {
      add("It is not answered yet: it is repeated at \(.time(again)).", "done \(id)")
    }
    if reminder.state == .paused {
      guard let until = reminder.pausedUntil else {
        add("It is paused until it is resumed.", "resume \(id)")
        return reasons
      }
      add("It is paused until \(.time(until)).", "resume \(id)")
    } else if let silence, isSilent(silence) {
      add("Everything is silent until \(.time(silence.until)).", "resume --all")
    }
    if reminder.skipNext > 0 {
      add("It skips its next times; their number: \(reminder.skipNext).", "skip \(id) -n 0")
    }
    for day in excludedDays {
      add(
        "It does not ring on a day that its schedule leaves out: \(.excludedDay(day, preferredLanguages)).",
        "calendars \(day.calendar)")
    }
    if let problem = reminder.wakeProblem {
      add("The machine is not woken for it: \(.serverMessage(problem))", "doctor")
    }
    guard let next = reminder.next else {
      // What a reminder without a next time waits for.
      if let condition = reminder.onlyIfDone, let since = condition.since {
        add(
          "Its time at \(.time(since)) is deferred until \"\(condition.title ?? condition.reminder)\" is done.",
          "edit \(id) --only-if-done \"\"")
      } else if let chain = reminder.follows, reminder.state != .finished, let title = chain.title {
        add(
          chain.event == .done ? "It rings when \"\(title)\" is done." : "It rings when \"\(title)\" is missed.",
          "show \(chain.reminder)")
      } else if reminder.state == .waiting {
        add("It waits for an answer, and its schedule has no further time.", "done \(id)")
      } else {
        add(
          "It does not ring again: its schedule has no further time.", "edit \(id) --when \"tomorrow at 9\"")
      }
      return reasons
    }
    let at = Sentence.Value.time(next)
    if let passed = reminder.skipReason {
      let command = "edit \(id) --no-quiet-when-done"
      switch passed {
      case .doneAlready: add("Its time at \(at) will not ring: its tracker is done already.", command)
      case .paused: add("Its time at \(at) will not ring: its tracker is paused.", command)
      case .skipped: add("Its time at \(at) will not ring: its tracker skips that day.", command)
      }
    } else if let held = reminder.held {
      add(
        "It rings next at \(at): quiet hours defer the time at \(.time(held)) until then.",
        "edit \(id) --quiet-rule off")
    } else if let moved = occurrences.first(where: { $0.rounds == 0 && $0.snoozedUntil?.at == next.at }) {
      add("It rings next at \(at): its time at \(.time(moved.scheduledAt)) was moved there.", "move \(id) +1h")
    } else if let snoozed = occurrences.first(where: { $0.state == .snoozed && $0.snoozedUntil?.at == next.at }) {
      add("It rings next at \(at), when its snooze ends.", "snooze \(snoozed.id) 10m")
    } else {
      add(
        "It rings next at \(at): its schedule, \(reminder.when), has no earlier time that rings.",
        "edit \(id) --when \"\(reminder.when)\"")
    }
    return reasons
  }

  /// Whether a global silence covers the reminder's next time.
  private func isSilent(_ silence: Wire.Silence) -> Bool {
    guard silence.critical || reminder.urgency != .critical else { return false }
    guard let next = reminder.next.flatMap({ WallClock.instant($0) }), let end = WallClock.instant(silence.until) else {
      return true
    }
    return next < end
  }

  // MARK: Channels

  private var channels: [Reason] {
    func reason(_ sentence: Sentence, _ command: String) -> Reason {
      Reason(kind: .delivery, at: reminder.next, sentence: sentence, command: "chime \(command)")
    }
    guard !reminder.channels.isEmpty else {
      return [reason("It reaches nobody: it has no channel.", "edit \(id) --to desktop")]
    }
    return reminder.channels.compactMap { name in
      guard let endpoint = endpoints.first(where: { $0.name == name }) else {
        guard name != "desktop", !commands.contains(where: { $0.name == name }) else { return nil }
        return reason(
          "Messages cannot reach \(name): there is no such endpoint and no such command.",
          "endpoint add \(name) URL")
      }
      if let cause = endpoint.disabled {
        return reason(
          "Messages cannot reach \(name): the endpoint is disabled: \(.serverMessage(cause))", "endpoint enable \(name)"
        )
      }
      guard let fault = endpoint.problem else { return nil }
      return reason("Messages cannot reach \(name): \(.serverMessage(fault))", "endpoint show \(name)")
    }
  }

  /// Returns `3h20m`, which needs no translation.
  private func length(_ milliseconds: Int) -> String {
    DurationText.format(.seconds(max(1, (Int64(milliseconds) + 500) / 1_000)))
  }
}
