import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime history [ID|TITLE]`
enum History {
  static let verb = Verb(
    name: "history", group: .look, arguments: ["[ID|TITLE]"], summary: "List past times, newest first",
    details: [
      "With --timeline it draws the last 24 hours, or from --since on, with a line for each reminder: what was "
        + "done, what waits, what came late and what was missed."
    ],
    options: [
      .flag("open", nil, "Only those that wait for an answer"),
      .flag("missed", nil, "Only those that were missed, with the reason; `chime why` explains one reminder"),
      .value(
        "state", nil, "STATE", "Only those that were fired, delivered, snoozed, done, dismissed or missed",
        choices: OccurrencesInterface.Occurrence.State.allCases.map(\.rawValue)),
    ] + Pagination.since + [
      Pagination.limit("times", usually: 50), .flag("timeline", nil, "Draw the times on a line of days and hours"),
      Glyphs.option,
    ],
    examples: [
      "chime history", "chime history r7k2 --since \"2 weeks\"", "chime history --missed --since yesterday",
      "chime history --timeline --since \"7 days\"",
    ],
    alsoTried: ["past", "occurrences", "missed"],
    json: "`occurrences`, and `more`: whether there are more than were asked for", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    let isDrawn = line.has("timeline")
    let state = try state(line)
    let zone = try context.localZone()
    var filter = OccurrencesInterface.Filter(
      reminder: context.optionalSubject(), open: line.has("open") ? true : nil,
      since: try Pagination.moment(context, "since"),
      before: try Pagination.moment(context, "before"))
    let from = filter.since.flatMap { try? RFC3339.parse($0) } ?? context.now - .hours(24)
    if isDrawn { filter.since = RFC3339.format(from, in: zone) }
    // A timeline has room for many occurrences, but for few reminders.
    let most = try Pagination.limit(line, usually: isDrawn ? 20 : 50)
    let limit = isDrawn ? 20_000 : most
    let daemon = try context.daemon()
    let (occurrences, isCut) = try Pagination.pages(limit: limit, keeping: state.map { state in { $0.state == state } })
    {
      limit, cursor in
      let reply: OccurrencesInterface.List.Reply = try daemon.call(
        OccurrencesInterface.List(
          filter: filter == OccurrencesInterface.Filter() ? nil : filter, limit: limit, cursor: cursor))
      return (reply.occurrences, reply.cursor)
    }
    let empty = [localized("No time matches."), localized("`chime next` shows what is coming.")]
    context.print(occurrences, named: "occurrences", isCut: isCut, empty: empty) {
      guard isDrawn else { return context.print(table: table(context, occurrences, showingTitle: true)) }
      let signs = TimelineSigns(context.glyphs)
      let lanes = TimelineLanes.of(occurrences, id: \.reminder, title: \.title) { occurrence -> Timeline.Mark? in
        WallClock.instant(occurrence.scheduledAt).map { signs.mark(occurrence, at: $0) }
      }
      let end = filter.before.flatMap { try? RFC3339.parse($0) } ?? context.now
      // Newest first: on truncation, the last one in the list marks the beginning.
      let first = isCut ? occurrences.last.flatMap { WallClock.instant($0.scheduledAt) } ?? from : from
      TimelineLanes.print(context, lanes, from: first, to: end, limit: most, legend: signs.past)
    }
    return .success
  }

  /// Returns the requested state; nil for any.
  private static func state(_ line: ParsedLine) throws -> OccurrencesInterface.Occurrence.State? {
    let state = line.value("state").flatMap { OccurrencesInterface.Occurrence.State(rawValue: $0) }
    guard line.has("missed") else { return state }
    try need(
      (state == nil || state == .missed) && !line.has("open"), localized("--missed cannot be used with another state"),
      hint: "chime history --missed")
    return .missed
  }

  static func table(
    _ context: Context, _ occurrences: [OccurrencesInterface.Occurrence], showingTitle: Bool
  ) -> Table {
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: "DUE"), .init(title: "PASSED", dropOrder: 2), .init(title: "STATE", canShrink: true),
      .init(title: "LATE", alignRight: true, dropOrder: 1),
    ])
    if showingTitle { table.columns.append(.init(title: "REMINDER", canShrink: true)) }
    for occurrence in occurrences {
      var row: [Table.Cell] = [
        .init(clock.text(occurrence.scheduledAt)), .init(clock.relative(occurrence.scheduledAt), .faint),
        state(clock, occurrence),
        .init(
          occurrence.latenessMs.map { RelativeTime.lateness(milliseconds: $0) } ?? "-",
          occurrence.late == nil ? .faint : .caution),
      ]
      if showingTitle { row.append(.init("\(occurrence.reminder)  \(occurrence.title)")) }
      table.rows.append(row)
    }
    return table
  }

  /// Returns `missed (suspend)`, `snoozed until 18:30:00`.
  private static func state(_ clock: WallClock, _ occurrence: OccurrencesInterface.Occurrence) -> Table.Cell {
    let rounds = occurrence.rounds > 1 ? localized(count: occurrence.rounds, " (%n time)", " (%n times)") : ""
    switch occurrence.state {
    case .done: return .init(StateWords.say("done") + way(occurrence) + rounds, .good)
    case .dismissed: return .init(StateWords.say("dismissed") + way(occurrence) + rounds, .faint)
    case .fired, .delivered: return .init(StateWords.say(occurrence.state.rawValue) + rounds)
    case .awaited: return .init(localized("waiting for a ping until %1", clock.text(occurrence.pingDeadline)), .faint)
    case .snoozed where occurrence.rounds == 0:
      return .init(localized("moved to %1", clock.text(occurrence.snoozedUntil)))
    case .snoozed:
      let until = occurrence.snoozedUntil.flatMap { WallClock.instant($0) }.map {
        localized(" until %1", clock.time($0))
      }
      return .init(StateWords.say("snoozed") + way(occurrence) + (until ?? ""))
    case .missed:
      let reasons = [
        occurrence.missed.map(words),
        occurrence.missedCount.flatMap { $0 > 1 ? localized(count: $0, "%n time", "%n times") : nil },
      ].compactMap { $0 }
      let isGood = occurrence.missed == .doneAlready
      return .init(
        StateWords.say("missed") + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))"),
        isGood ? .faint : .caution)
    }
  }

  /// Returns ` by endpoint:phone`.
  private static func way(_ occurrence: OccurrencesInterface.Occurrence) -> String {
    occurrence.answeredBy.map { localized(" by %1", $0) } ?? ""
  }

  static func words(_ reason: OccurrencesInterface.Occurrence.Missed) -> String {
    switch reason {
    case .overCap: localized("over the cap")
    case .quiet: localized("quiet hours")
    case .doneAlready: localized("done already")
    case .notDone: localized("other not done")
    case .suspend, .downtime, .paused, .skipped: StateWords.say(reason.rawValue)
    }
  }
}
