import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime progress TRACKER`
enum NumberedDays {
  typealias T = TrackersInterface

  static let verb = Verb(
    name: "progress", group: .track, arguments: ["[TRACKER]"], summary: "Show the days that were met, numbered",
    details: [
      "The month's days that met the goal have the numbers 1, 2, 3 and so on. An empty circle is a day that counts "
        + "but was not met, a point a day that does not count, and a filled circle a day that does not count but "
        + "was done; brackets mark today. The month's milestones follow.",
      "With only one tracker the TRACKER may be left out. With --plain it prints one line for each day; its "
        + "`number` counts all days from the start.",
    ],
    options: [
      MonthGrid.option,
      .flag(
        "plan", nil, "Show the plan instead: each planned day, numbered, done or not, up to the end of next month"),
      Glyphs.option,
    ],
    examples: ["chime progress goal", "chime progress goal --month march", "chime progress goal --plan"],
    alsoTried: ["numbers", "flowers", "plan"],
    json:
      "`month`, `tracker`, `numberThisMonth`, `countedThisMonth`, `number`, `days` and `milestones`; with `--plan` `plan`, "
      + "a list of `month` and `days`: `day`, `number` and `state` (`done`, `missed`, `today`, `ahead`)",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let today = try context.today()
    let month = try MonthGrid.chosen(context.line, today: today)
    let trackers = context.line.words.isEmpty ? try TrackerArgument.trackers(context) : []
    let tracker = try trackers.count == 1 ? trackers[0] : TrackerArgument.one(context.line.words, context)
    if context.line.has("plan") { return try plan(context, tracker, month, today) }
    let days = try Month.days(context, tracker, month, today)
    let milestones = try context.daemon().call(T.Milestones(tracker: tracker.id)).milestones.filter {
      $0.day.hasPrefix(month.description.prefix(7))
    }.sorted { $0.day < $1.day }
    let numbered = try Numbered(context, tracker, month, today, days)
    switch context.format {
    case .json:
      context.print(json: [
        "month": String(month.description.prefix(7)), "tracker": tracker.id, "numberThisMonth": numbered.inMonth,
        "countedThisMonth": numbered.counted, "number": numbered.inAll, "days": days, "milestones": milestones,
      ])
    case .plain: Month.plain(context, days)
    case .human: show(context, tracker, month, today, days, milestones, numbered)
    }
    return .success
  }

  // MARK: The plan

  private static func plan(
    _ context: Context, _ tracker: T.Tracker, _ month: CivilDate, _ today: CivilDate
  ) throws -> ExitCode {
    let words = context.trackerWords
    try need(
      DayPlan.isOf(tracker),
      failed: localized(
        "%1 needs %2, no matter which days: it has no plan of days", tracker.id, words.counting(tracker)),
      hint: localized("`chime tracker edit %1 --days mon,wed,fri` sets the days", tracker.id))
    let plans = try DayPlan.read(context, tracker, from: month, months: 2, today: today)
    switch context.format {
    case .json: context.print(json: ["tracker": tracker.id, "plan": plans.map(\.output)])
    case .plain:
      context.out(Plain.line(["day", "number", "state"]))
      for day in plans.flatMap(\.days) { context.out(Plain.line([day.day, String(day.number), day.state.rawValue])) }
    case .human:
      let glyphs = context.glyphs
      for line in TextWidth.wrap(localized("%1: the plan", words.title(tracker)), to: context.width) {
        context.out(context.style(line, .strong))
      }
      for plan in plans {
        context.out()
        for line in plan.lines(width: context.width, today: today, glyphs: glyphs, style: context.style) {
          context.out(line)
        }
        let text = localized("%1 of %2 days are done.", String(plan.done), String(plan.days.count))
        for line in TextWidth.wrap(text, to: context.width) { context.out(line) }
      }
      context.out()
      let legend = [
        "1\(glyphs.met) " + localized("done"), "2\(glyphs.open) " + localized("not done"), "3 " + localized("to come"),
        "\(glyphs.free) " + localized("does not count"),
      ]
      for line in Glyphs.legend(legend, width: context.width) { context.out(context.style(line, .faint)) }
    }
    return .success
  }

  /// The counts of numbered days.
  struct Numbered {
    var inMonth: Int
    var inAll: Int
    /// The days of the month that count, including future ones of this month.
    var counted: Int

    init(
      _ context: Context, _ tracker: T.Tracker, _ month: CivilDate, _ today: CivilDate, _ days: [T.DayTotal]
    ) throws {
      inMonth = days.count { $0.isNumbered }
      counted = days.count { $0.isAsked }
      inAll = days.compactMap(\.number).max() ?? 0
      guard month == DayText.firstOfMonth(today) else { return }
      let view = try context.daemon().call(T.Day()).view
      guard let progress = view.progress.first(where: { $0.tracker.id == tracker.id }) else { return }
      (inMonth, inAll, counted) = (progress.numberThisMonth, progress.number, progress.countedThisMonth)
    }
  }

  private static func show(
    _ context: Context, _ tracker: T.Tracker, _ month: CivilDate, _ today: CivilDate, _ days: [T.DayTotal],
    _ milestones: [T.Milestone], _ numbered: Numbered
  ) {
    let words = context.trackerWords
    let glyphs = context.glyphs
    var number = 0
    let cells = Dictionary(
      days.map { total in
        if total.isNumbered { number += 1 }
        let text =
          total.isNumbered ? String(number) : total.met ? glyphs.met : total.counts ? glyphs.open : glyphs.free
        let isStone = milestones.contains { $0.day == total.day }
        return (
          total.day,
          MonthGrid.Cell(
            text: (text.count == 1 ? " " : "") + text + (isStone ? glyphs.star : ""),
            tone: total.met ? .good : total.counts ? .plain : .faint)
        )
      }
    ) { $1 }
    let name = localized("%1, %2", words.title(tracker), DayText.monthAndYear(month))
    for line in TextWidth.wrap(name, to: context.width) { context.out(context.style(line, .strong)) }
    let grid = MonthGrid(month: month, today: today) { cells[$0.description] ?? .init(text: "", tone: .faint) }
    // Numbers need no wider cells.
    for line in grid.lines(width: min(context.width, 42), style: context.style) { context.out(line) }
    context.out()
    var text = localized("Day %1 of %2 in this month", String(numbered.inMonth), String(numbered.counted))
    if numbered.inMonth == 0 {
      text = localized(count: numbered.counted, "0 of %n day in this month", "0 of %n days in this month")
    }
    if numbered.inAll > 0 { text = localized("%1, %2 in all", text, String(numbered.inAll)) }
    for line in TextWidth.wrap(text + ".", to: context.width) { context.out(line) }
    if numbered.inAll == 0, numbered.inMonth == 0 {
      context.note(localized("`chime log %1` makes it day 1", tracker.id))
    }
    for stone in milestones {
      let text = [
        "\(glyphs.star) \(words.day(stone.day))  \(TerminalSanitizer.line(stone.title))",
        stone.note.map { TerminalSanitizer.line($0) },
      ]
      for line in text.compactMap({ $0 }).flatMap({ TextWidth.wrap($0, to: context.width) }) { context.out(line) }
    }
  }
}
