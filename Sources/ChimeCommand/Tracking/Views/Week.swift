import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime week [DAY]`
enum Week {
  static let verb = Verb(
    name: "week", group: .track, arguments: ["[DAY]"], summary: "Show a week, a line for each tracker",
    details: [
      "The week begins on Monday: ● the goal was met, ◐ there are entries, ○ there are none, · the day does not "
        + "count. DAY is any day of the week to show, such as 2026-03-01; last is the week before this one."
    ],
    examples: ["chime week", "chime week last"],
    alsoTried: ["weekly", "strip"],
    json:
      "`week`: `from`, `trackers` (a list of `tracker`, `title` and its `days`) and `summaries` (a list of `day`, `met`, `due`)",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let day: String?
    if context.optionalSubject()?.lowercased() == "last" {
      day = try context.today().adding(days: -7)?.description
    } else {
      day = try Today.chosenDay(context)
    }
    let week: TrackersInterface.Week.Reply = try context.daemon().call(TrackersInterface.Week(day: day))
    let words = context.trackerWords
    let rows = week.days.compactMap { row in
      week.progress.first { $0.tracker.id == row.tracker }.map { (progress: $0, days: row.days) }
    }
    switch context.format {
    case .json:
      let trackers = rows.map { progress, days in
        Output.WeekOfTracker(tracker: progress.tracker.id, title: words.local(progress.tracker.title), days: days)
      }
      context.print(json: ["week": Output.WeekView(from: week.from, trackers: trackers, summaries: week.summaries)])
    case .plain:
      context.out(Plain.line(["tracker"] + TrackersInterface.DayTotal.fieldNames))
      for row in rows {
        for day in row.days { context.out(Plain.line([row.progress.tracker.id] + context.row(day))) }
      }
    case .human:
      guard !rows.isEmpty else {
        context.note(localized("There is no tracker yet."))
        for hint in TrackerArgument.beginning { context.note("  " + hint) }
        return .success
      }
      try print(week, rows, context)
    }
    return .success
  }

  private static func print(
    _ week: TrackersInterface.Week.Reply,
    _ rows: [(progress: TrackersInterface.GoalProgress, days: [TrackersInterface.DayTotal])], _ context: Context
  ) throws {
    let words = context.trackerWords
    let style = context.style
    let strip = WeekStrip(style: style)
    let today = try context.today().description
    let dates = week.summaries.map(\.day)
    let names = dates.map { day in CivilDate(day).map { LocalizedFormat.weekday($0.weekday) } ?? "?" }
    let sums = rows.map { sum($0.days, $0.progress.tracker, today: today, words) }
    let widest = sums.map { TextWidth.of($0) }.max() ?? 0
    let stripWidth = strip.column(names) * names.count
    let natural = rows.map { TextWidth.of(words.title($0.progress.tracker)) }.max() ?? 0
    var hasSums = true
    var titles = min(natural, 30, context.width - stripWidth - widest - 4)
    if titles < min(natural, 10) {
      hasSums = false
      titles = max(4, min(natural, context.width - stripWidth - 1))
    }
    if let first = dates.first, let last = dates.last {
      context.out(style(localized("%1 to %2", words.day(first), words.day(last)), .strong))
    }
    let margin = String(repeating: " ", count: titles + 1)
    context.out(margin + ProgressRows.trimmedEnd(strip.header(names, today: dates.firstIndex(of: today))))
    for (row, sum) in zip(rows, sums) {
      let title = TextWidth.pad(TextWidth.truncate(words.title(row.progress.tracker), to: titles), to: titles)
      let marks = strip.row(row.days.map { WeekStrip.mark($0, today: today) }, names)
      context.out(
        ProgressRows.trimmedEnd(
          "\(title) \(marks)" + (hasSums ? String(repeating: " ", count: strip.rest(names) + 1) + sum : "")))
    }
    if rows.count > 1 {
      let marks = week.summaries.map { $0.day > today ? WeekStrip.Mark.ahead : WeekStrip.mark($0) }
      let all = style(TextWidth.pad(TextWidth.truncate(localized("all"), to: titles), to: titles), .faint)
      context.out(ProgressRows.trimmedEnd("\(all) \(strip.row(marks, names))"))
    }
  }

  /// Returns `3 of 5`, with the total of an amount.
  private static func sum(
    _ days: [TrackersInterface.DayTotal], _ tracker: TrackersInterface.Tracker, today: String, _ words: TrackerWords
  ) -> String {
    let met = days.count(where: \.met)
    let due = days.count { $0.counts && !$0.isOpenLimit || $0.met }
    var text = localized("%1 of %2", LocalizedFormat.number(Double(met)), LocalizedFormat.number(Double(due)))
    if tracker.kind == .amount { text += ", " + words.amount(days.reduce(0) { $0 + ($1.total ?? 0) }, tracker) }
    if tracker.kind == .measure, let last = days.last(where: { $0.value != nil })?.value {
      text = words.amount(last, tracker)
    }
    return text
  }
}
