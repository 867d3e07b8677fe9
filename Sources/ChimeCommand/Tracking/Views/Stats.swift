import ChimeControl
import ChimeWords

/// `chime stats [TRACKER]`
enum Stats {
  static let verb = Verb(
    name: "stats", group: .track, arguments: ["[TRACKER]"], summary: "Show statistics",
    details: [
      "For one tracker: totals and averages, best and worst, the streak and the habit's strength, the trend with a "
        + "forecast of two weeks, values by week and by month, and the most and least used items. Without a "
        + "tracker: streaks and strengths of all. `chime chart` draws the same data.",
      "A habit's strength grows with each day that was met and falls slowly with each day that was not, by the "
        + "formula of Loop Habit Tracker: one missed day does little harm.",
    ],
    options: [
      RangeText.option, .value("average", nil, "DAYS", "Days in the moving average (default 7)"),
      FieldOption.option,
    ],
    examples: ["chime stats", "chime stats water", "chime stats weight --range 6M --average 14"],
    alsoTried: ["statistics", "summary", "streak", "streaks", "strength"],
    json: "`statistics`; without a TRACKER `progress`, and `more`, which is false", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    guard !context.line.words.isEmpty else { return try overview(context) }
    let tracker = try TrackerArgument.one(context.line.words, context)
    var asked = TrackersInterface.Stats(
      tracker: tracker.id, range: try RangeText.parse(context),
      averageDays: try context.line.count("average", minimum: 1, maximum: 365))
    func read(_ field: String?) throws -> TrackersInterface.Statistics {
      asked.field = field
      return try context.daemon().call(
        asked
      ).statistics
    }
    let chosen = try FieldOption.chosen(context, of: tracker)
    let isForPeople = context.format != .json && chosen == nil
    let fields = try isForPeople ? tracker.fields.keys.sorted().map { ($0, try read($0)) } : []
    let statistics = try read(chosen)
    switch context.format {
    case .json: context.print(json: ["statistics": statistics])
    case .plain:
      context.out(Plain.line(["field", "value"]))
      for row in StatsPage(context, statistics, fields).rows() {
        context.out(Plain.line([row.name, row.value].map { TerminalSanitizer.field($0) }))
      }
    case .human:
      for line in StatsPage(context, statistics, fields, asked: tracker, chosen).lines() { context.out(line) }
    }
    return .success
  }

  private static func overview(_ context: Context) throws -> ExitCode {
    for option in ["range", "average", "field"] where context.line.has(option) {
      throw Failure.usage(localized("--%1 needs one tracker: chime stats TRACKER", option))
    }
    let view = try context.daemon().call(TrackersInterface.Day()).view
    let all = view.progress
    let words = context.trackerWords
    context.print(
      all, named: "progress", empty: [localized("There is no tracker yet.")] + TrackerArgument.beginning
    ) {
      var table = Table(columns: [
        .init(title: localized("TRACKER"), wraps: true), .init(title: localized("STREAK"), alignRight: true),
        .init(title: localized("LONGEST"), alignRight: true, dropOrder: 1),
        .init(title: localized("STRENGTH"), alignRight: true),
        .init(title: localized("TODAY"), wraps: true),
      ])
      for progress in all {
        table.rows.append([
          .init(words.title(progress.tracker), .strong), .init(words.streak(progress.streak)),
          .init(words.streak(progress.longest), .faint), .init(StatsPage.percent(progress.strength)),
          .init(words.state(progress), progress.met ? .good : .plain),
        ])
      }
      context.print(table: table)
      for streak in view.streaks {
        for line in words.packStreak(streak, isNamed: true, context.width) { context.out(line) }
      }
    }
    return .success
  }
}

/// Formats statistics as name and value pairs, and as lines for a terminal.
struct StatsPage {
  private let context: Context
  private let statistics: TrackersInterface.Statistics
  private let words: TrackerWords
  /// The additional measures, by name.
  private let fields: [(name: String, statistics: TrackersInterface.Statistics)]
  private var tracker: TrackersInterface.Tracker { statistics.tracker }
  /// The tracker whose additional measure this is, else the tracker itself.
  private let asked: TrackersInterface.Tracker
  private let askedField: String?

  init(
    _ context: Context, _ statistics: TrackersInterface.Statistics,
    _ fields: [(String, TrackersInterface.Statistics)] = [], asked: TrackersInterface.Tracker? = nil,
    _ field: String? = nil
  ) {
    self.asked = asked ?? statistics.tracker
    self.askedField = field
    self.context = context
    self.statistics = statistics
    self.fields = fields
    words = context.trackerWords
  }

  static func percent(_ share: Double) -> String { "\(LocalizedFormat.number(share * 100)) %" }

  func rows() -> [(name: String, value: String, tone: Style.Tone)] {
    var rows: [(name: String, value: String, tone: Style.Tone)] = []
    func add(_ name: String, _ value: String?, _ tone: Style.Tone = .plain) {
      if let value, !value.isEmpty { rows.append((name, value, tone)) }
    }
    add(localized("entries"), LocalizedFormat.number(Double(statistics.entries)))
    if tracker.kind == .amount {
      add(localized("total"), statistics.total.map { words.sum($0, tracker) })
      add(localized("a day"), statistics.dailyAverage.map { words.amount($0, tracker) })
    }
    if tracker.kind != .check {
      if tracker.kind == .measure {
        add(localized("first"), point(statistics.first))
        add(localized("last"), point(statistics.last))
      }
      add(localized("least"), point(statistics.least))
      add(localized("most"), point(statistics.most))
      if let average = statistics.averages.last {
        let days = localized(count: statistics.averageDays, "over %n day", "over %n days")
        add(localized("average"), "\(words.amount(average.value, tracker)) \(days)")
      }
      add(localized("rate"), rate, MeasureTrend(statistics)?.tone ?? .plain)
    }
    for (name, field) in fields {
      add(TerminalSanitizer.line(name), self.field(field))
    }
    if let last = statistics.prediction.last {
      let band = "\(words.number(last.low, tracker))–\(words.amount(last.high, tracker))"
      add(localized("forecast"), "\(words.date(last.day)): \(words.amount(last.value, tracker)) (\(band))")
    }
    add(localized("goal on"), statistics.goalOn.map { words.day($0) })
    if statistics.dueDays > 0, hasMet {
      // Days off and days before the start may be met; they count as due as well.
      let due = max(statistics.dueDays, statistics.metDays)
      let share = Self.percent(Double(statistics.metDays) / Double(due))
      let met = localized(
        count: due, "%1 of %2 day", "%1 of %2 days", LocalizedFormat.number(Double(statistics.metDays)),
        LocalizedFormat.number(Double(due)))
      // A goal value is not met daily, so a day is only measured or not.
      add(tracker.kind == .measure ? localized("measured") : localized("met"), "\(met), \(share)")
    }
    let streak = words.streak(statistics.streak)
    guard hasMet else { return rows }
    add(localized("streak"), streak.isEmpty ? localized("none now") : streak)
    add(localized("longest"), longest)
    if let streak = statistics.packStreak, streak.length > 0 {
      add(tracker.pack ?? "", localized("%1 in a row with at least one done", words.streak(streak)))
    }
    add(localized("strength"), Self.percent(statistics.strength))
    add(localized("evenness"), statistics.evenness.map { "\(LocalizedFormat.number(Double($0))) %" })
    return rows
  }

  /// Whether any days count.
  private var hasMet: Bool { tracker.kind != .measure || statistics.metDays > 0 }

  /// Returns the latest value of an additional measure and its range: `18.5 % (2026-03-27), 17.9–20.1 %`.
  private func field(_ field: TrackersInterface.Statistics) -> String? {
    guard let last = field.last, let least = field.least, let most = field.most else { return nil }
    let latest = "\(words.amount(last.value, field.tracker)) (\(words.date(last.day)))"
    guard least.value < most.value else { return latest }
    return "\(latest), \(words.number(least.value, field.tracker))–\(words.amount(most.value, field.tracker))"
  }

  private func point(_ point: TrackersInterface.Point?) -> String? {
    point.map { "\(words.amount($0.value, tracker)) (\(words.date($0.day)))" }
  }

  private var longest: String? {
    let text = words.streak(statistics.longest)
    guard !text.isEmpty, let first = statistics.longest.first, let last = statistics.longest.last else { return text }
    return "\(text) (\(words.date(first)) – \(words.date(last)))"
  }

  private var rate: String? {
    guard let rate = statistics.weeklyRate else { return nil }
    if let trend = MeasureTrend(statistics) { return "\(trend.arrow) \(words.rate(rate, tracker))" }
    let arrow =
      switch statistics.direction {
      case .up: "↗ "
      case .down: "↘ "
      case .steady: "→ "
      case nil: ""
      }
    return arrow + words.rate(rate, tracker)
  }

  func lines() -> [String] {
    let style = context.style
    let title = TextWidth.truncate(words.title(tracker), to: context.width)
    var head = style(title, .strong)
    if let from = statistics.range.from ?? statistics.points.first?.day {
      let to = statistics.range.to ?? statistics.points.last?.day ?? from
      let span = "  \(words.date(from)) – \(words.date(to))"
      head += (TextWidth.of(title + span) <= context.width ? "" : "\n") + style(span, .faint)
    }
    if statistics.missingData.contains("noEntries") {
      return [head] + TextWidth.wrap(missingData("noEntries") ?? "", to: context.width, indent: 2)
    }
    var lines = [head]
    let rows = rows()
    let names = rows.map { TextWidth.of($0.name) }.max() ?? 0
    for row in rows {
      let name = style(TextWidth.pad(row.name, to: names), .faint)
      let value = TextWidth.wrap(row.value, to: context.width, indent: names + 4)
      lines.append("  \(name)  \(style(String(value[0].dropFirst(names + 4)), row.tone))")
      lines += value.dropFirst().map { style($0, row.tone) }
    }
    lines += periods(statistics.weeks.suffix(6), localized("Week from"))
    lines += periods(statistics.months.suffix(6), localized("Month from"))
    lines += items()
    for lack in statistics.missingData {
      if let hint = missingData(lack) { lines += [""] + TextWidth.wrap(hint, to: context.width) }
    }
    return lines
  }

  private func periods(_ periods: ArraySlice<TrackersInterface.Period>, _ title: String) -> [String] {
    guard periods.count > 1 else { return [] }
    var table = Table(columns: [
      .init(title: title), .init(title: localized("Entries"), alignRight: true, dropOrder: 2),
      .init(title: localized("Total"), alignRight: true),
      .init(title: localized("Average"), alignRight: true, dropOrder: 1),
      .init(title: tracker.kind == .measure ? localized("Measured") : localized("Met"), alignRight: true),
    ])
    // Leave out empty columns.
    let keeps = [true, true, tracker.kind == .amount, tracker.kind != .check, hasMet]
    for period in periods.reversed() {
      table.rows.append([
        .init(words.date(period.from)), .init(LocalizedFormat.number(Double(period.entries))),
        .init(period.total.map { words.sum($0, tracker) } ?? ""),
        .init(period.average.map { words.amount($0, tracker) } ?? ""),
        .init("\(period.met)/\(max(period.due, period.met))"),
      ])
    }
    table.columns = zip(table.columns, keeps).filter { $0.1 }.map(\.0)
    table.rows = table.rows.map { row in zip(row, keeps).filter { $0.1 }.map(\.0) }
    return [""] + table.lines(width: context.width, style: context.style)
  }

  /// Returns the most and the least used items, up to five of each.
  private func items() -> [String] {
    guard !statistics.items.isEmpty else { return [] }
    let sorted = statistics.items.sorted { $0.entries > $1.entries }
    var table = Table(columns: [
      .init(title: localized("Item"), canShrink: true), .init(title: localized("Times"), alignRight: true),
      .init(title: localized("Last"), dropOrder: 1),
    ])
    let shown = sorted.count <= 10 ? sorted[...] : sorted.prefix(5) + sorted.suffix(5)
    for (index, item) in shown.enumerated() {
      if sorted.count > 10, index == 5 { table.rows.append(["…", "", ""]) }
      table.rows.append([
        .init(item.title, .strong), .init(LocalizedFormat.number(Double(item.entries))),
        .init(item.lastDay.map { words.date($0) } ?? localized("never"), .faint),
      ])
    }
    return [""] + table.lines(width: context.width, style: context.style)
  }

  private func missingData(_ what: String) -> String? {
    switch what {
    case "noEntries":
      localized("There are no entries in this time yet. `%1` logs the first.", words.logging(asked, askedField))
    case "oneDay": localized("There is only one day so far; a trend needs a few more.")
    case "noGoal": localized("The tracker has no goal: `chime tracker edit %1 --goal …` sets one.", tracker.id)
    default: nil
    }
  }
}
