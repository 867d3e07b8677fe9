import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime today [DAY]`
enum Today {
  static let verb = Verb(
    name: "today", group: .track, arguments: ["[DAY]"], summary: "Show today's progress",
    details: [
      "It shows each tracker with its progress, under its part of the day, and its streak; the last seven days; the "
        + "next achievement; the levels; and the number of days in a row on which at least one of a pack's "
        + "trackers was done. ● all was met, ◐ a part, ○ nothing, · nothing was due.",
      "DAY is another day, such as yesterday, mon or 2026-03-01.",
    ],
    examples: [
      "chime today", "chime today yesterday", .init(command: "chime today --json", remark: "for a status bar"),
    ],
    alsoTried: ["day", "now", "habits", "dashboard"], json: "`day`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let view = try context.daemon().call(TrackersInterface.Day(day: chosenDay(context))).view
    switch context.format {
    case .json: context.print(json: ["day": view])
    case .plain: for line in plain(view, context.trackerWords) { context.out(Plain.line(line)) }
    case .human:
      guard !view.progress.isEmpty else {
        context.note(localized("There is no tracker yet."))
        for hint in TrackerArgument.beginning { context.note("  " + hint) }
        return .success
      }
      for line in TodayPage(context, view).lines() { context.out(line) }
    }
    return .success
  }

  /// Returns the day named on the line as `YYYY-MM-DD`; nil for today.
  static func chosenDay(_ context: Context) throws -> String? {
    guard let text = context.optionalSubject() else { return nil }
    guard text.lowercased() != "today" else { return nil }
    do {
      return try PastMoment.day(text, option: "day", today: context.today())
    } catch {
      throw Failure.usage(
        localized("\"%1\" is not a day", text), hint: localized("such as 2026-05-01, yesterday or mon"))
    }
  }

  /// Returns a row for each fact: its section, name, state, percentage and streak.
  private static func plain(_ view: TrackersInterface.DayView, _ words: TrackerWords) -> [[String]] {
    var rows = [["part", "name", "state", "percent", "streak"]]
    let said = words.mood(view.mood)
    let mood = [said.title, said.message, said.next].filter { !$0.isEmpty }
    rows.append(["mood", view.mood.kind.rawValue, mood.joined(separator: " – "), "", ""])
    for progress in view.progress.sorted(by: TodayPage.order) {
      let trend = MeasureTrend(progress).map { trend in
        [trend.text(words, progress.tracker), trend.about].compactMap { $0 }.joined(separator: " ")
      }
      let more = [words.remaining(progress), trend, words.outlook(progress)].compactMap { $0 }
      let fields = words.fields(progress.fields ?? [:], progress.tracker)
      let state = ([words.state(progress)] + more + fields).joined(separator: "; ")
      rows.append([
        progress.tracker.timeOfDay.rawValue, progress.tracker.id, state,
        words.percent(progress).map { String($0) } ?? "", String(progress.streak.length),
      ])
    }
    for day in view.week {
      let percent = day.due > 0 ? String(day.met * 100 / day.due) : ""
      rows.append(["day", day.day, localized("%1 of %2", String(day.met), String(day.due)), percent, ""])
    }
    if let next = view.nextAchievement {
      let percent = next.target > 0 ? String(next.reached * 100 / next.target) : ""
      rows.append([
        "achievement", next.id, "\(words.local(next.title)): \(words.local(next.text)), \(words.progress(next))",
        percent,
        "",
      ])
    }
    for level in view.levels {
      let text = localized("level %1, %2 of %3 XP", String(level.level), String(level.experience), String(level.next))
      rows.append(["level", level.pack, text, "", ""])
    }
    for streak in view.streaks {
      rows.append(["streak", streak.pack, words.streak(streak.streak), "", String(streak.streak.length)])
    }
    if let quote = view.quote {
      let translation = quote.translation.map { words.local($0) }
      rows.append([
        "quote", quote.source, [quote.text, translation ?? ""].filter { !$0.isEmpty }.joined(separator: " – "),
      ])
    }
    return rows.map { row in
      (row + [String](repeating: "", count: 5 - row.count)).map { TerminalSanitizer.field($0) }
    }
  }
}

/// Formats a day for a terminal.
struct TodayPage {
  private let context: Context
  private let view: TrackersInterface.DayView
  private let words: TrackerWords
  private let style: Style
  private let width: Int

  init(_ context: Context, _ view: TrackersInterface.DayView) {
    self.context = context
    self.view = view
    words = context.trackerWords
    style = context.style
    width = min(context.width, 100)
  }

  /// Sorts by part of the day, then by creation.
  static func order(_ left: TrackersInterface.GoalProgress, _ right: TrackersInterface.GoalProgress) -> Bool {
    let timesOfDay = TrackersInterface.Tracker.TimeOfDay.allCases
    return timesOfDay.firstIndex(of: left.tracker.timeOfDay) ?? 0 < timesOfDay.firstIndex(of: right.tracker.timeOfDay)
      ?? 0
  }

  func lines() -> [String] {
    var lines = mood()
    let rows = ProgressRows(context)
    let timesOfDay = TrackersInterface.Tracker.TimeOfDay.allCases.map { timeOfDay in
      (timeOfDay, view.progress.filter { $0.tracker.timeOfDay == timeOfDay })
    }.filter { !$0.1.isEmpty }
    for (timeOfDay, listed) in timesOfDay {
      lines.append("")
      // A single part of the day needs no heading.
      if timesOfDay.count > 1 { lines.append(style(words.timeOfDay(timeOfDay), .strong)) }
      lines += rows.lines(listed, of: view.progress)
      for progress in listed where progress.isGoalValueReached {
        guard let goal = words.goal(progress.tracker) else { continue }
        lines += TextWidth.wrap("★ " + localized("Goal reached: %1!", goal), to: width - 4).map { "    " + $0 }
      }
    }
    lines += week()
    let streaks = view.streaks.flatMap { words.packStreak($0, isNamed: view.streaks.count > 1, width) }
    let goals = achievement() + view.levels.map { level($0) } + streaks
    if !goals.isEmpty { lines += [""] + goals }
    if let quote = view.quote { lines += [""] + self.quote(quote) }
    return lines
  }

  private func mood() -> [String] {
    let said = words.mood(view.mood)
    let head = words.day(view.day) + (said.title.isEmpty ? "" : ": \(said.title)")
    var lines = TextWidth.wrap(head, to: width).map { style($0, .strong) }
    for text in [said.message, said.next] {
      if !text.isEmpty { lines += TextWidth.wrap(text, to: width) }
    }
    return lines
  }

  private func week() -> [String] {
    guard !view.week.isEmpty else { return [] }
    let strip = WeekStrip(style: style)
    let names = view.week.map { day in CivilDate(day.day).map { LocalizedFormat.weekday($0.weekday) } ?? "?" }
    let today = view.week.lastIndex { $0.day == view.day }
    let header = strip.header(names, today: today)
    let numbers = view.week.map { day in CivilDate(day.day).map { String($0.day) } ?? "" }
    return [
      "", "  " + ProgressRows.trimmedEnd(header),
      "  " + ProgressRows.trimmedEnd(strip.numbers(numbers, names, today: today)),
      "  " + ProgressRows.trimmedEnd(strip.row(view.week.map { WeekStrip.mark($0) }, names)),
    ]
  }

  private var barWidth: Int { width >= ProgressRows.wide ? 20 : 12 }

  private func achievement() -> [String] {
    guard let next = view.nextAchievement else { return [] }
    let title = localized("Next: %1", TerminalSanitizer.line(words.local(next.title)))
    let text = TerminalSanitizer.line(words.local(next.text))
    let bar = Bar.text(Double(next.reached) / Double(max(1, next.target)), width: barWidth, style: style)
    let lines = TextWidth.wrap("\(title)\(text.isEmpty ? "" : " – \(text)")", to: width - 4)
    return lines.enumerated().map { ($0 == 0 ? "  ☆ " : "    ") + $1 } + ["    \(bar)  \(words.progress(next))"]
  }

  private func level(_ level: TrackersInterface.Level) -> String {
    LevelLine.text(level, context, name: view.levels.count > 1, bar: barWidth)
  }

  private func quote(_ quote: TrackersInterface.Quote) -> [String] {
    var lines = TextWidth.wrap(TerminalSanitizer.line(quote.text), to: width - 2).map { "  " + $0 }
    // Right-to-left text needs lines of its own.
    if let translation = quote.translation.map({ words.local($0) }), !translation.isEmpty, translation != quote.text {
      lines += TextWidth.wrap(TerminalSanitizer.line(translation), to: width - 2).map { "  " + $0 }
    }
    if !quote.source.isEmpty {
      lines += TextWidth.wrap("— " + TerminalSanitizer.line(quote.source), to: width - 4).map {
        style("    " + $0, .faint)
      }
    }
    if let title = quote.categoryTitle.map({ words.local($0) }), !title.isEmpty {
      lines.append(
        "    \(style("●", CategoryColor(quote.category).tone)) \(style(TerminalSanitizer.line(title), .faint))")
    }
    return lines
  }
}

/// `★ Level 3  ━━━━──────  20 of 100 XP`
enum LevelLine {
  static func text(_ level: TrackersInterface.Level, _ context: Context, name: Bool, bar width: Int) -> String {
    let number = LocalizedFormat.number(Double(level.level))
    let title =
      name ? localized("Level %1 in %2", number, TerminalSanitizer.line(level.pack)) : localized("Level %1", number)
    let span = max(1, level.next - level.from)
    let done = max(0, level.experience - level.from)
    let bar = Bar.text(Double(done) / Double(span), width: width, style: context.style)
    let points = localized(
      "%1 of %2 XP", LocalizedFormat.number(Double(level.experience)), LocalizedFormat.number(Double(level.next)))
    let head = "  \(context.style("★", .caution)) \(title)"
    let plainWidth = 4 + TextWidth.of(title) + 2 + width + 2 + TextWidth.of(points)
    return plainWidth <= context.width ? "\(head)  \(bar)  \(points)" : "\(head)\n    \(bar)  \(points)"
  }
}
