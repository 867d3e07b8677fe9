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
    examples: [.init(command: "chime why Stand-up"), .init(command: "chime why r7k2 -n 10")],
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
      leftOut: try leftOut(of: reminder, context, daemon), preferredLanguages: context.preferredLanguages
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
  private static func leftOut(
    of reminder: RemindersInterface.Reminder, _ context: Context, _ daemon: Daemon
  ) throws -> [Wire.LeftOut] {
    // Most schedules name no calendar.
    guard reminder.next != nil, (try? Schedule(canonical: reminder.when))?.calendarNames.isEmpty == false else {
      return []
    }
    let reply = try daemon.call(
      SchedulesInterface.Explain(
        when: reminder.when, timezone: reminder.timezone, gap: reminder.gap, fold: reminder.fold, count: 1,
        after: RFC3339.format(context.now, in: .utc), latitude: reminder.latitude, longitude: reminder.longitude))
    return reply.leftOut ?? []
  }

  private static func show(_ context: Context, _ reminder: RemindersInterface.Reminder, _ reasons: [Reason]) {
    let (clock, glyphs) = (context.clock(), Glyphs(context))
    let width = context.width
    context.out(
      "\(context.style(TerminalSanitizer.line(reminder.id), .strong))  \(TerminalSanitizer.line(reminder.title))")
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
  enum Kind: String, Sendable, CaseIterable { case rang, late, missed, next, delivery }

  var kind: Kind
  /// The scheduled time that it concerns.
  var at: Wire.Time?
  var sentence: Sentence
  /// The command that changes the cause.
  var command: String?
}

extension Reason {
  /// The reason in the output for programs.
  var output: Output.Reason {
    Output.Reason(kind: .init(rawValue: kind.rawValue) ?? .next, at: at, text: sentence.english, command: command)
  }
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
  var leftOut: [Wire.LeftOut] = []
  var preferredLanguages = PreferredLanguages(languages: ["en"])

  var all: [Reason] { occurrences.reversed().map { past($0) } + undelivered + coming + channels }

  private var id: String { reminder.id }

  // MARK: Past occurrences

  private func past(_ occurrence: OccurrencesInterface.Occurrence) -> Reason {
    let at = occurrence.scheduledAt
    if let missed = occurrence.missed { return self.missed(occurrence, missed) }
    // For an expectation, only the ping matters.
    if reminder.within != nil { return expected(occurrence) }
    let lateness = length(occurrence.latenessMs ?? 0)
    switch occurrence.late {
    case .suspend:
      return Reason(
        kind: .late, at: at,
        sentence: Sentence(
          localizable("The time at %1 rang %2 late: the machine slept when it came."), time(at), lateness),
        command: reminder.wake == true ? nil : "chime edit \(id) --wake")
    case .downtime:
      return Reason(
        kind: .late, at: at,
        sentence: Sentence(
          localizable("The time at %1 rang %2 late: the daemon did not run when it came."), time(at), lateness),
        command: "chime doctor")
    case .quiet:
      return Reason(
        kind: .late, at: at,
        sentence: Sentence(localizable("The time at %1 rang %2 late: quiet hours held it."), time(at), lateness),
        command: "chime edit \(id) --quiet-rule off")
    case .waited:
      return Reason(
        kind: .late, at: at,
        sentence: Sentence(
          localizable("The time at %1 rang %2 late: it waited until another reminder was done."), time(at), lateness),
        command: "chime edit \(id) --only-if-done \"\"")
    case nil: return rang(occurrence, at, lateness)
    }
  }

  private func expected(_ occurrence: OccurrencesInterface.Occurrence) -> Reason {
    let sentence =
      occurrence.state == .awaited
      ? Sentence(
        localizable("A ping for the time at %1 is awaited until %2."), time(occurrence.scheduledAt),
        occurrence.awaitedUntil.map { time($0) } ?? time(occurrence.scheduledAt))
      : occurrence.firedAt == nil
        ? Sentence(localizable("A ping came for the time at %1."), time(occurrence.scheduledAt))
        : Sentence(
          localizable("For the time at %1 no successful ping came in time, and Chime notified you."),
          time(occurrence.scheduledAt))
    return Reason(kind: .rang, at: occurrence.scheduledAt, sentence: sentence, command: "chime expect show \(id)")
  }

  private func rang(
    _ occurrence: OccurrencesInterface.Occurrence, _ at: Wire.Time, _ lateness: String
  ) -> Reason {
    // A larger delay than the jitter means a moved or snoozed occurrence.
    let jitter = reminder.jitter.flatMap { try? DurationText.parseISO8601($0) } ?? .zero
    if let late = occurrence.latenessMs, late >= 1_000, late <= jitter.rawValue + 1_000 {
      return Reason(
        kind: .late, at: at,
        sentence: Sentence(localizable("The time at %1 rang %2 later because of its jitter."), time(at), lateness),
        command: "chime edit \(id) --jitter \"\"")
    }
    let (sentence, command): (Sentence, String?) =
      switch occurrence.state {
      case .done: (Sentence(localizable("The time at %1 rang and was done."), time(at)), nil)
      case .dismissed: (Sentence(localizable("The time at %1 rang and was dismissed."), time(at)), nil)
      case .snoozed where occurrence.rounds == 0:
        (
          Sentence(
            localizable("The time at %1 was moved to %2."), time(at),
            occurrence.snoozedUntil.map { time($0) } ?? time(at)),
          "chime move \(id) +1h"
        )
      case .snoozed:
        (Sentence(localizable("The time at %1 rang and was snoozed."), time(at)), "chime done \(occurrence.id)")
      case .fired, .delivered, .missed, .awaited:
        (Sentence(localizable("The time at %1 rang; nobody has answered."), time(at)), "chime done \(occurrence.id)")
      }
    return Reason(kind: .rang, at: at, sentence: sentence, command: command)
  }

  private func missed(
    _ occurrence: OccurrencesInterface.Occurrence, _ missed: OccurrencesInterface.Occurrence.Missed
  ) -> Reason {
    let at = occurrence.scheduledAt
    let grace = LengthText.human(reminder.grace)
    let (sentence, command): (Sentence, String?) =
      switch missed {
      case .suspend where reminder.catchUp.suspend == .skip:
        (
          Sentence(
            localizable("The time at %1 did not ring: the machine slept, and this reminder skips such times."),
            time(at)), "chime edit \(id) --catch-up suspend=latest"
        )
      case .suspend:
        (
          Sentence(
            localizable(
              "The time at %1 did not ring: the machine slept, and a later time rang or it was over %2 late."),
            time(at), grace), "chime edit \(id) --catch-up suspend=all"
        )
      case .downtime where reminder.catchUp.downtime == .skip:
        (
          Sentence(
            localizable(
              "The time at %1 did not ring: the daemon did not run, and this reminder skips such times."),
            time(at)), "chime edit \(id) --catch-up downtime=latest"
        )
      case .downtime:
        (
          Sentence(
            localizable(
              "The time at %1 did not ring: the daemon did not run, and a later time rang or it was over %2 late."
            ), time(at), grace), "chime edit \(id) --catch-up downtime=all"
        )
      case .paused:
        (
          Sentence(localizable("The time at %1 did not ring: the reminder was paused, or everything was."), time(at)),
          reminder.state == .paused ? "chime resume \(id)" : silence == nil ? nil : "chime resume --all"
        )
      case .skipped:
        (
          Sentence(localizable("The time at %1 did not ring: it was skipped with `chime skip`."), time(at)),
          reminder.skipNext > 0 ? "chime skip \(id) -n 0" : nil
        )
      case .overCap:
        (
          Sentence(
            localizable("The time at %1 did not ring: too many were late to catch up at once."), time(at)),
          "chime edit \(id) --catch-up latest"
        )
      case .quiet:
        (
          Sentence(localizable("The time at %1 did not ring: it fell into quiet hours."), time(at)),
          "chime edit \(id) --quiet-rule off"
        )
      case .doneAlready:
        (
          Sentence(localizable("The time at %1 did not ring: its tracker was done already."), time(at)),
          "chime edit \(id) --no-quiet-when-done"
        )
      case .notDone:
        (
          Sentence(
            localizable("The time at %1 did not ring: the reminder that it waits for was not done in time."), time(at)),
          "chime edit \(id) --only-if-done \"\""
        )
      }
    return Reason(kind: .missed, at: at, sentence: sentence, command: command)
  }

  /// The undelivered messages of the latest occurrence that fired.
  private var undelivered: [Reason] {
    guard let latest = occurrences.first(where: { $0.firedAt != nil }) else { return [] }
    var seen: Set<String> = []
    return deliveries.filter { $0.occurrence == latest.id && $0.event == nil }.compactMap { delivery in
      // Of several repetitions, the newest stands for its channel.
      guard seen.insert(delivery.channel).inserted else { return nil }
      let result = Sentence.Value.told(delivery.lastResult ?? "")
      let sentence: Sentence
      var command = "chime deliveries --id \(delivery.id)"
      switch delivery.state {
      case .delivered, .cancelled: return nil
      case .pending: sentence = Sentence(localizable("Its message to %1 is still pending."), delivery.channel)
      case .waiting:
        sentence = Sentence(
          localizable("Its message to %1 was not delivered and is retried: %2"), delivery.channel, result)
      case .dead:
        sentence = Sentence(localizable("Its message to %1 was given up: %2"), delivery.channel, result)
        command = "chime redeliver \(delivery.id)"
      }
      return Reason(kind: .delivery, at: latest.scheduledAt, sentence: sentence, command: command)
    }
  }

  // MARK: Upcoming times

  private var coming: [Reason] {
    var reasons: [Reason] = []
    func add(_ sentence: Sentence, _ command: String? = nil) {
      reasons.append(Reason(kind: .next, at: reminder.next, sentence: sentence, command: command))
    }
    if let again = reminder.repeatAt {
      add(Sentence(localizable("It is not answered yet: it is repeated at %1."), time(again)), "chime done \(id)")
    }
    if reminder.state == .paused {
      add(
        reminder.pausedUntil.map { Sentence(localizable("It is paused until %1."), time($0)) }
          ?? Sentence(localizable("It is paused until it is resumed.")), "chime resume \(id)")
      guard reminder.pausedUntil != nil else { return reasons }
    } else if let silence, isSilent(silence) {
      add(Sentence(localizable("Everything is silent until %1."), time(silence.until)), "chime resume --all")
    }
    if reminder.skipNext > 0 {
      add(
        Sentence(localizable("It skips its next times; their number: %1."), reminder.skipNext),
        "chime skip \(id) -n 0")
    }
    for day in leftOut {
      add(
        Sentence(
          localizable("It does not ring on a day that its schedule leaves out: %1."),
          Sentence.Value.leftOut(day, preferredLanguages)), "chime calendars \(day.calendar)")
    }
    if let problem = reminder.wakeProblem {
      add(Sentence(localizable("The machine is not woken for it: %1"), Sentence.Value.told(problem)), "chime doctor")
    }
    guard let next = reminder.next else {
      if addAwaited({ add($0, $1) }) { return reasons }
      add(
        reminder.state == .waiting
          ? Sentence(localizable("It waits for an answer, and its schedule has no further time."))
          : Sentence(localizable("It does not ring again: its schedule has no further time.")),
        reminder.state == .waiting ? "chime done \(id)" : "chime edit \(id) --when \"tomorrow at 9\"")
      return reasons
    }
    if let passed = reminder.passedOver {
      add(Self.passedOver(passed, next), "chime edit \(id) --no-quiet-when-done")
    } else if let held = reminder.held {
      add(
        Sentence(
          localizable("It rings next at %1: quiet hours defer the time at %2 until then."), time(next), time(held)),
        "chime edit \(id) --quiet-rule off")
    } else if let moved = occurrences.first(where: { $0.rounds == 0 && $0.snoozedUntil?.at == next.at }) {
      add(
        Sentence(
          localizable("It rings next at %1: its time at %2 was moved there."), time(next), time(moved.scheduledAt)),
        "chime move \(id) +1h")
    } else if let snoozed = occurrences.first(where: { $0.state == .snoozed && $0.snoozedUntil?.at == next.at }) {
      add(
        Sentence(localizable("It rings next at %1, when its snooze ends."), time(next)),
        "chime snooze \(snoozed.id) 10m"
      )
    } else {
      add(
        Sentence(
          localizable("It rings next at %1: its schedule, %2, has no earlier time that rings."), time(next),
          reminder.when
        ),
        "chime edit \(id) --when \"\(reminder.when)\"")
    }
    return reasons
  }

  /// Adds the event that a reminder without a next time waits for.
  private func addAwaited(_ add: (Sentence, String?) -> Void) -> Bool {
    if let condition = reminder.onlyIfDone, let since = condition.since {
      add(
        Sentence(
          localizable("Its time at %1 is deferred until \"%2\" is done."), time(since),
          condition.title ?? condition.reminder),
        "chime edit \(id) --only-if-done \"\"")
      return true
    }
    guard let chain = reminder.follows, reminder.state != .finished, let title = chain.title else { return false }
    let sentence =
      chain.event == .done
      ? Sentence(localizable("It rings when \"%1\" is done."), title)
      : Sentence(localizable("It rings when \"%1\" is missed."), title)
    add(sentence, "chime show \(chain.reminder)")
    return true
  }

  private static func passedOver(_ reason: Wire.PassedOver, _ next: Wire.Time) -> Sentence {
    let at = Sentence.Value.time(next)
    return switch reason {
    case .doneAlready: Sentence(localizable("Its time at %1 will not ring: its tracker is done already."), at)
    case .paused: Sentence(localizable("Its time at %1 will not ring: its tracker is paused."), at)
    case .skipped: Sentence(localizable("Its time at %1 will not ring: its tracker skips that day."), at)
    }
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
    guard !reminder.channels.isEmpty else {
      return [
        Reason(
          kind: .delivery, at: reminder.next, sentence: Sentence(localizable("It reaches nobody: it has no channel.")),
          command: "chime edit \(id) --to desktop")
      ]
    }
    return reminder.channels.compactMap { name in
      let (sentence, command): (Sentence, String)
      if let endpoint = endpoints.first(where: { $0.name == name }) {
        if let reason = endpoint.disabled {
          sentence = Sentence(
            localizable("Messages cannot reach %1: the endpoint is disabled: %2"), name, Sentence.Value.told(reason))
          command = "chime endpoint enable \(name)"
        } else if let fault = endpoint.fault {
          sentence = Sentence(localizable("Messages cannot reach %1: %2"), name, Sentence.Value.told(fault))
          command = "chime endpoint show \(name)"
        } else {
          return nil
        }
      } else if name == "desktop" || commands.contains(where: { $0.name == name }) {
        return nil
      } else {
        sentence = Sentence(
          localizable("Messages cannot reach %1: there is no such endpoint and no such command."), name)
        command = "chime endpoint add \(name) URL"
      }
      return Reason(kind: .delivery, at: reminder.next, sentence: sentence, command: command)
    }
  }

  // MARK: Values

  private func time(_ time: Wire.Time) -> Sentence.Value { .time(time) }

  /// Returns `3h20m`, which needs no translation.
  private func length(_ milliseconds: Int) -> String {
    DurationText.format(.seconds(max(1, (Int64(milliseconds) + 500) / 1_000)))
  }
}
