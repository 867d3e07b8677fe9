import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime chart TRACKER`
enum Chart {
  typealias T = TrackersInterface

  static let verb = Verb(
    name: "chart", group: .track, arguments: ["TRACKER"], summary: "Draw a tracker's values over time",
    details: [
      "A measure shows its values, their moving average, and a forecast of the next 14 days, with a band that holds "
        + "95 of 100 values. An amount shows a column for each day, a check the days of each week on which it was "
        + "done.",
      "With --plain it prints one line for each day: the value, the average, and for future days the lowest and "
        + "highest expected value.",
    ],
    options: [
      RangeText.option,
      .value("average", nil, "DAYS", "Days in the moving average, 2 to 90 (default 7)"),
      FieldOption.option, Glyphs.option,
    ],
    examples: [
      "chime chart weight", "chime chart weight --range 6M", "chime chart weight --field body-fat",
      "chime chart water --range 1M --average 14", "chime chart weight --plain",
    ],
    alsoTried: ["plot", "graph", "draw"], json: "`statistics`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let range = try RangeText.parse(context.line.value("range") ?? "3M", today: context.today())
    let days = try context.line.count("average", minimum: 2, maximum: 90)
    let statistics = try context.daemon().call(
      T.Stats(
        tracker: tracker.id, range: range, averageDays: days, field: FieldOption.chosen(context, of: tracker))
    ).statistics
    switch context.format {
    case .json: context.print(statistics, named: "statistics") {}
    case .plain: plain(context, statistics)
    case .human: try human(context, statistics, range, tracker, FieldOption.chosen(context, of: tracker))
    }
    return .success
  }

  private static func plain(_ context: Context, _ statistics: T.Statistics) {
    context.out(Plain.line(["day", "value", "average", "low", "high"]))
    let averages = Dictionary(statistics.averages.map { ($0.day, $0.value) }) { $1 }
    func text(_ value: Double?) -> String { Plain.text(.optional(value)) }
    for point in statistics.points {
      context.out(Plain.line([point.day, text(point.value), text(averages[point.day]), "", ""]))
    }
    for one in statistics.prediction {
      context.out(Plain.line([one.day, text(one.value), "", text(one.low), text(one.high)]))
    }
  }

  private static func human(
    _ context: Context, _ statistics: T.Statistics, _ range: T.Range?, _ asked: T.Tracker, _ field: String?
  ) {
    let words = context.trackerWords
    let tracker = statistics.tracker
    let glyphs = context.glyphs
    var chart = TextChart(
      isColumns: tracker.kind != .measure, points: values(statistics.points), averages: values(statistics.averages),
      goal: tracker.kind == .measure ? tracker.goal?.value : dailyTotal(tracker), isLimit: tracker.isLimited,
      glyphs: glyphs)
    chart.fewestDays = DayAxis.fewestDays(in: range)
    chart.expected = statistics.prediction.compactMap { one in
      CivilDate(one.day).map { TextChart.Expected(day: $0, value: one.value, low: one.low, high: one.high) }
    }
    if tracker.kind == .check {
      chart.daysEach = 7
      chart.points = statistics.weeks.compactMap { week in
        CivilDate(week.from).flatMap { $0.adding(days: 1 - $0.weekday.rawValue) }.map {
          .init(day: $0, value: Double(week.met))
        }
      }
      (chart.averages, chart.goal, chart.expected) = ([], nil, [])
    }
    let width = min(context.width, 120)
    guard !chart.points.isEmpty, statistics.entries > 0 else {
      context.note(localized("There is nothing to draw of %1 in that time yet.", words.title(tracker)))
      context.note(localized("`%1` logs an entry; --range all covers all time", words.logging(asked, field)))
      return
    }
    let head = TextWidth.wrap(title(statistics, words), to: width)
    let legend = Glyphs.legend(legend(chart, statistics, words), width: width)
    let room = Room(
      rows: context.process.output.height, usual: width < 60 ? 9 : 14, fixed: head.count + legend.count,
      sentences: sentences(statistics, words, glyphs).map { sentence, tone in
        TextWidth.wrap(sentence, to: width).map { context.style($0, tone) }
      })
    for line in head { context.out(context.style(line, .strong)) }
    for line in chart.lines(width: width, height: room.height, style: context.style) { context.out(line) }
    if room.hasGap { context.out() }
    for line in legend { context.out(context.style(line, .faint)) }
    for line in room.sentences { context.out(line) }
  }

  /// The layout of a chart in the terminal's height: with few rows, the chart shrinks first, then sentences are dropped
  /// from the end.
  struct Room: Equatable {
    /// The height of the chart without its axis.
    var height: Int
    var hasGap = true
    var sentences: [String]

    /// A lower chart is unreadable, a higher one shows no more.
    static let heights = 5...20

    init(rows: Int?, usual: Int, fixed: Int, sentences: [[String]]) {
      (height, self.sentences) = (usual, sentences.flatMap(\.self))
      guard let rows else { return }
      // The axis takes two rows, the gap one, and the shell prompt one.
      let left = rows - fixed - 4
      var kept = sentences
      while !kept.isEmpty, left - kept.joined().count < Self.heights.lowerBound { kept.removeLast() }
      self.sentences = kept.flatMap(\.self)
      hasGap = left >= Self.heights.lowerBound
      let room = left - self.sentences.count + (hasGap ? 0 : 1)
      height = min(max(room, Self.heights.lowerBound), Self.heights.upperBound)
    }
  }

  private static func values(_ points: [T.Point]) -> [TextChart.Value] {
    points.compactMap { point in CivilDate(point.day).map { .init(day: $0, value: point.value) } }
  }

  private static func dailyTotal(_ tracker: T.Tracker) -> Double? {
    tracker.goal?.period ?? .day == .day ? tracker.goal?.total : nil
  }

  private static func title(_ statistics: T.Statistics, _ words: TrackerWords) -> String {
    let tracker = statistics.tracker
    let unit = tracker.kind == .check ? localized("days a week") : tracker.unit.map { TerminalSanitizer.line($0) }
    let name = unit.map { localized("%1 (%2)", words.title(tracker), $0) } ?? words.title(tracker)
    // The charted period may be shorter than the requested one.
    let days =
      tracker.kind == .check
      ? statistics.weeks.map(\.from) + statistics.weeks.map(\.to) : statistics.points.map(\.day)
    guard let first = days.min(), let last = days.max() else { return name }
    return localized("%1, %2 to %3", name, words.date(first), words.date(last))
  }

  private static func legend(_ chart: TextChart, _ statistics: T.Statistics, _ words: TrackerWords) -> [String] {
    let glyphs = chart.glyphs
    var signs: [String] = []
    if chart.isColumns {
      signs.append("\(glyphs.eighths[7]) " + (chart.daysEach == 7 ? localized("a week") : localized("a day")))
    } else {
      signs.append("\(glyphs.point) " + localized("a day"))
    }
    // A single average of a measure would be a line without length.
    if chart.averages.count > (chart.isColumns ? 0 : 1) {
      let sign = glyphs.isASCII || chart.isColumns ? String(glyphs.mean) : "⠒⠒"
      signs.append("\(sign) " + localized(count: statistics.averageDays, "average of %n day", "average of %n days"))
    }
    if !chart.expected.isEmpty {
      signs.append("\(glyphs.ahead)\(glyphs.band) " + localized("expected"))
    }
    if let goal = chart.goal, chart.showsGoal {
      let amount = words.amount(goal, statistics.tracker)
      let text = statistics.tracker.isLimited ? localized("limit %1", amount) : localized("goal %1", amount)
      signs.append("\(glyphs.goal) \(text)")
    }
    return signs
  }

  private static func sentences(
    _ statistics: T.Statistics, _ words: TrackerWords, _ glyphs: Glyphs
  ) -> [(text: String, tone: Style.Tone)] {
    let tracker = statistics.tracker
    var average: [(text: String, tone: Style.Tone)] = []
    if tracker.kind == .amount, let mean = statistics.dailyAverage {
      average = [(localized("%1 a day on average, on days with an entry.", words.amount(mean, tracker)), .plain)]
    }
    if tracker.isLimited {
      let kept = localized(
        count: statistics.dueDays, "Within the limit on %1 of %n day.", "Within the limit on %1 of %n days.",
        statistics.metDays)
      return [(kept, .plain)] + average
    }
    if tracker.kind == .check {
      let done = localized(
        count: statistics.dueDays, "Done on %1 of %n day.", "Done on %1 of %n days.", statistics.metDays)
      return [(done, .plain)]
    }
    var sentences = average
    func add(_ text: String, _ tone: Style.Tone = .plain) { sentences.append((text, tone)) }
    if tracker.kind == .measure, let last = statistics.last {
      add(localized("%1 on %2.", words.amount(last.value, tracker), words.day(last.day)))
    }
    if tracker.kind == .measure, let rate = statistics.weeklyRate {
      let trend = MeasureTrend(statistics)
      let arrow = trend.map { glyphs.isASCII ? "" : "\($0.arrow) " } ?? ""
      add(
        arrow + localized("The average changes by %1 a week.", words.signed(rate, tracker)), trend?.tone ?? .plain)
    }
    if let last = statistics.prediction.last {
      add(
        localized(
          "On %1 Chime expects a value between %2 and %3.", words.day(last.day), words.amount(last.low, tracker),
          words.amount(last.high, tracker)))
    }
    if let day = statistics.goalOn {
      add(localized("By this forecast you reach the goal on %1.", words.day(day)))
    }
    return sentences
  }
}
