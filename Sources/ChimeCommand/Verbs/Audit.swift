import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime audit [ID|TITLE…]`
enum Audit {
  static let verb = Verb(
    name: "audit", group: .look, arguments: ["[ID|TITLE…]"],
    summary: "Check that every scheduled time has fired",
    details: [
      "The command computes the times of the last 30 days, or from --since on, from the schedules that were in "
        + "force, and compares them with the history: what came on time, what came late, and what was missed for a "
        + "reason. A time without a record is unexplained, and then the exit status is 1.",
      "Removed reminders are included while their history is kept. A time is uncertain if it has no record but a "
        + "calendar, the place or the time zone database has changed since.",
    ],
    options: Pagination.since + [Pagination.limit("reminders", usually: 50)],
    examples: ["chime audit", "chime audit --since \"1 year\" Stand-up", "chime audit --json"],
    alsoTried: ["verify", "missing", "lost"],
    json: "`audits`, one for each reminder, and the span: `since`, `before`", run: run)

  typealias ReminderAudit = OccurrencesInterface.ReminderAudit

  static func run(_ context: Context) throws -> ExitCode {
    let limit = try Pagination.limit(context.line, usually: 50)
    let zone = try context.localZone()
    let since = try Pagination.moment(context, "since") ?? RFC3339.format(context.now - .days(30), in: zone)
    let before = try Pagination.moment(context, "before")
    let names = context.line.words.isEmpty ? nil : context.line.words
    let daemon = try context.daemon()
    var audits: [ReminderAudit] = []
    var (span, cursor): ((since: Wire.Time, before: Wire.Time)?, String?)
    let progress = Progress(context, localized("Comparing the history with the schedules"))
    defer { progress.end() }
    repeat {
      let reply = try daemon.call(
        OccurrencesInterface.Audit(reminders: names, since: since, before: before, cursor: cursor))
      audits += reply.audits
      progress.tell()
      span = span ?? (reply.since, reply.before)
      // Stop at a repeated cursor, which would loop forever.
      cursor = reply.cursor == cursor ? nil : reply.cursor
    } while cursor != nil
    progress.end()
    audits.sort { ($0.unexplained, $0.uncertain) > ($1.unexplained, $1.uncertain) }
    switch context.format {
    case .json: context.print(json: ["since": span?.since, "before": span?.before, "audits": audits])
    case .plain: context.plain(audits)
    case .human: if let span { show(context, audits, span.since, limit) }
    }
    return audits.contains { $0.unexplained > 0 } ? .failed : .success
  }

  private static func show(_ context: Context, _ audits: [ReminderAudit], _ since: Wire.Time, _ limit: Int?) {
    let clock = context.clock()
    let total = AuditTotal(audits)
    guard total.times > 0 else {
      context.note(localized("Nothing has been due since %1.", clock.text(since)))
      return
    }
    let shown = audits.filter { $0.times > 0 || $0.unknown != nil }
    context.print(table: table(shown.prefix(limit ?? .max)))
    if shown.count > limit ?? .max {
      context.note(localized("These are the first %1; -n N or -n all shows more.", limit ?? 0), .faint)
    }
    context.out()
    for audit in shown where audit.unexplained > 0 {
      for time in audit.unexplainedTimes {
        context.out(
          context.style(
            TerminalSanitizer.line(
              localized("No record of %1: %2", clock.text(time), "\(audit.reminder)  \(audit.title)")), .bad
          ))
      }
      let more = audit.unexplained - audit.unexplainedTimes.count
      if more > 0 { context.out(localized(count: more, "… and %n time more", "… and %n times more")) }
    }
    for line in sentences(total, since: clock.text(since)) { context.out(line) }
  }

  private static func table(_ audits: some Sequence<ReminderAudit>) -> Table {
    var table = Table(columns: [
      .init(title: "TIMES", alignRight: true), .init(title: "ON TIME", alignRight: true),
      .init(title: "LATE", canShrink: true, dropOrder: 2), .init(title: "MISSED", canShrink: true, dropOrder: 1),
      .init(title: "UNEXPLAINED", alignRight: true), .init(title: "REMINDER", canShrink: true),
    ])
    for audit in audits {
      let notes = [
        audit.removed ? StateWords.say("removed") : nil,
        audit.unknown.map { unknown in
          switch unknown {
          case .paced: localized("its tracker sets its times")
          case .zone: localized("its zone is gone")
          }
        },
        audit.moved > 0 ? localized(count: audit.moved, "%n moved", "%n moved") : nil,
        audit.waiting > 0 ? localized(count: audit.waiting, "%n held", "%n held") : nil,
        audit.uncertain > 0 ? localized(count: audit.uncertain, "%n uncertain", "%n uncertain") : nil,
      ].compactMap { $0 }
      let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
      table.rows.append([
        .init("\(audit.times)"), .init("\(audit.onTime)"),
        .init(tallies(audit.late) { StateWords.say($0) }, audit.late.isEmpty ? .faint : .caution),
        .init(tallies(audit.missed, reason), audit.missed.isEmpty ? .faint : .plain),
        .init(audit.unexplained == 0 ? "-" : "\(audit.unexplained)", audit.unexplained == 0 ? .faint : .bad),
        .init("\(audit.reminder)  \(audit.title)\(note)", audit.removed ? .faint : .plain),
      ])
    }
    return table
  }

  /// Returns `3 downtime, 1 suspend`, or a dash.
  private static func tallies(_ tallies: [OccurrencesInterface.ReasonCount], _ name: (String) -> String) -> String {
    tallies.isEmpty ? "-" : tallies.map { "\($0.count) \(name($0.reason))" }.joined(separator: ", ")
  }

  private static func reason(_ reason: String) -> String {
    OccurrencesInterface.Occurrence.Missed(rawValue: reason).map(History.words) ?? reason
  }

  private static func sentences(_ total: AuditTotal, since: String) -> [String] {
    var lines = [
      localized(
        "Since %1: %2 times; %3 on time, %4 late, %5 missed for a reason.", since,
        LocalizedFormat.number(Double(total.times)),
        LocalizedFormat.number(Double(total.onTime)), LocalizedFormat.number(Double(total.late)),
        LocalizedFormat.number(Double(total.missed)))
    ]
    if let half = total.lateness.limit(of: 0.5), let most = total.lateness.limit(of: 0.99) {
      lines.append(
        localized("Half of the timely ones came within %1, and 99 of 100 within %2.", length(half), length(most)))
    }
    if let half = total.answers.limit(of: 0.5), let most = total.answers.limit(of: 0.9),
      let nearlyAll = total.answers.limit(of: 0.99)
    {
      lines.append(
        localized(
          "Half of the answers \"done\" came within %1, 9 of 10 within %2, and 99 of 100 within %3.", length(half),
          length(most), length(nearlyAll)))
    }
    if total.givenUp > 0 {
      lines.append(
        localized(
          count: total.givenUp, "%n message was given up: `chime deliveries --state dead` shows it.",
          "%n messages were given up: `chime deliveries --state dead` shows them."))
    }
    lines.append(
      total.unexplained == 0
        ? localized("Every time is accounted for.")
        : localized(
          count: total.unexplained, "%n time is unexplained. `chime doctor` looks for the cause.",
          "%n times are unexplained. `chime doctor` looks for the cause."))
    return lines
  }

  private static func length(_ length: Milliseconds) -> String {
    RelativeTime.lateness(milliseconds: Int(length.rawValue))
  }
}

/// The sums over the audits of several reminders.
struct AuditTotal {
  private(set) var (times, onTime, late, missed, unexplained, givenUp) = (0, 0, 0, 0, 0, 0)
  private(set) var lateness = DurationCounts()
  private(set) var answers = DurationCounts()

  init(_ audits: [OccurrencesInterface.ReminderAudit]) {
    for audit in audits {
      times += audit.times
      onTime += audit.onTime
      late += audit.late.reduce(0) { $0 + $1.count }
      missed += audit.missed.reduce(0) { $0 + $1.count }
      unexplained += audit.unexplained
      givenUp += audit.givenUp
      lateness.add(DurationCounts(counts: audit.lateness))
      answers.add(DurationCounts(counts: audit.timeToDone))
    }
  }
}
