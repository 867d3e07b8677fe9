import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime next`
enum Next {
  static let verb = Verb(
    name: "next", group: .look, summary: "Show what comes next",
    details: [
      "It lists the next time of each reminder, earliest first, and when it last fired; with --before every time "
        + "until then, as far as the schedules determine them.",
      "With --timeline it draws the times of the next 24 hours, or until --before, with a line for each reminder. A "
        + "time marked as skipped will not ring if nothing changes, because its tracker's goal is met; a held time "
        + "comes when the quiet hours end.",
      "Below it lists reminders that follow another reminder, or wait until one is done.",
    ],
    options: [
      Pagination.limit("reminders", usually: 20),
      .value("before", nil, "TIME", "Every time before a time, such as \"3 days\", tomorrow or 2026-12-01"),
      .flag("timeline", nil, "Draw the times on a line of days and hours"), Glyphs.option,
    ],
    examples: [
      "chime next", "chime next -n 3 --plain", "chime next --timeline", "chime next --timeline --before \"7 days\"",
    ],
    alsoTried: ["upcoming", "agenda", "timers", "today", "soon"],
    json:
      "`upcoming`, `more`: whether there are more than were asked for, and `awaiting`: those that count from what becomes of "
      + "another and have no time yet", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let isDrawn = context.line.has("timeline")
    // A timeline has room for many times, but for few reminders.
    let most = try Pagination.limit(context.line, usually: 20)
    let limit = isDrawn ? 10_000 : most ?? 10_000
    let end = try end(context) ?? (isDrawn ? context.now + .hours(24) : nil)
    // Request one more than shown, to learn whether there are more.
    let reply: OccurrencesInterface.Upcoming.Reply = try context.daemon().call(
      OccurrencesInterface.Upcoming(
        limit: min(limit + 1, 10_000), before: end.map { RFC3339.format($0, in: context.clock().zone) }))
    let upcoming = Array(reply.upcoming.prefix(limit))
    let empty = [
      end.map { localized("Nothing is coming before %1.", context.clock().text($0)) }
        ?? localized("Nothing is coming."),
      localized("Add a reminder: chime in 25m \"Tea\""),
    ]
    let (awaiting, isCut) = (reply.awaiting ?? [], reply.upcoming.count > limit)
    if context.format == .json {
      let more: [JSONText.Member] = awaiting.isEmpty ? [] : [.init(name: "awaiting", value: context.json(awaiting))]
      context.print(json: ["upcoming": upcoming, "more": isCut], after: more)
      return .success
    }
    context.print(upcoming, named: "upcoming", isCut: isCut, empty: awaiting.isEmpty ? empty : []) {
      if isDrawn, let end { return draw(context, upcoming, to: end, limit: most) }
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "NEXT"), .init(title: "LEFT", dropOrder: 1), .init(title: "LAST", dropOrder: 3),
        .init(title: "PASSED", dropOrder: 2), .init(title: "REMINDER", canShrink: true),
      ])
      for coming in upcoming {
        let tone: Style.Tone = coming.paused || coming.skipReason != nil ? .faint : .plain
        let marks = [ComingMark.text(coming), ComingMark.excludedDays(coming, context.preferredLanguages)].compactMap {
          $0
        }
        let mark = marks.isEmpty ? "" : " (\(marks.joined(separator: "; ")))"
        table.rows.append([
          .init(clock.text(coming.at), tone), .init(clock.relative(coming.at), tone),
          .init(clock.text(coming.last), .faint), .init(clock.relative(coming.last), .faint),
          .init("\(coming.reminder)  \(coming.title)\(mark)", tone),
        ])
      }
      context.print(table: table)
    }
    guard context.format == .human, !awaiting.isEmpty else { return .success }
    if !upcoming.isEmpty { context.out() }
    var table = Table(columns: [.init(title: "REMINDER", canShrink: true), .init(title: "WAITS FOR", canShrink: true)])
    for one in awaiting.prefix(limit) {
      table.rows.append([
        .init("\(one.reminder)  \(one.title)"), .init(ChainText.waits(one), .faint),
      ])
    }
    context.print(table: table)
    return .success
  }

  /// Returns the time of --before.
  private static func end(_ context: Context) throws -> Instant? {
    guard let text = context.line.value("before") else { return nil }
    let end = try TimeArgument.parse(
      text, option: "before", now: context.now, in: context.scheduleContext(in: context.localZone(), at: nil),
      toward: .future)
    try need(end > context.now, localized("--before %1 has passed", text))
    return end
  }

  private static func draw(
    _ context: Context, _ upcoming: [OccurrencesInterface.UpcomingTime], to end: Instant, limit: Int?
  ) {
    let signs = TimelineSigns(context.glyphs)
    let lanes = TimelineLanes.of(upcoming, id: \.reminder, title: \.title) { coming -> Timeline.Mark? in
      WallClock.instant(coming.at).map { signs.mark(coming, at: $0) }
    }
    // A truncated list is known only up to its last time.
    let last = upcoming.count >= 10_000 - 1 ? upcoming.last.flatMap { WallClock.instant($0.at) } : nil
    TimelineLanes.print(context, lanes, from: context.now, to: last ?? end, limit: limit, legend: signs.coming)
  }
}
