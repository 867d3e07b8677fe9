import ChimeControl
import ChimeWords

/// The progress of trackers, one below the other: a mark, the title, a bar, the state and the streak.
struct ProgressRows {
  var words: TrackerWords
  var style: Style
  var width: Int

  /// The minimum width, in columns, at which the bar shares the line.
  static let wide = 64

  init(_ context: Context) {
    words = context.trackerWords
    style = context.style
    width = min(context.width, 100)
  }

  func lines(_ listed: [TrackersInterface.GoalProgress], of all: [TrackersInterface.GoalProgress]) -> [String] {
    width >= Self.wide ? wide(listed, of: all) : listed.flatMap { narrow($0) }
  }

  func mark(_ progress: TrackersInterface.GoalProgress) -> String {
    if progress.met { return style("✔", .good) }
    switch progress.limit {
    case .exceeded: return style("✘", .bad)
    case .near: return style("◐", .caution)
    case .under: return progress.counts ? "○" : style("·", .faint)
    case nil: break
    }
    if progress.entries > 0 { return style("◐", .caution) }
    return progress.counts ? "○" : style("·", .faint)
  }

  /// Whether partial progress is possible, so that a bar makes sense.
  private func hasBar(_ progress: TrackersInterface.GoalProgress) -> Bool {
    guard let goal = progress.tracker.goal, progress.percent != nil else { return false }
    return progress.tracker.kind != .check || (goal.count ?? 1) > 1 || goal.atMost == true
  }

  private func bar(_ progress: TrackersInterface.GoalProgress, _ columns: Int) -> String {
    guard hasBar(progress), let percent = progress.percent else { return String(repeating: " ", count: columns) }
    return Bar.text(Double(percent) / 100, width: columns, style: style, tone: Self.tone(progress))
  }

  /// Returns the color of the progress: good when met, a warning near or beyond a limit.
  static func tone(_ progress: TrackersInterface.GoalProgress) -> Style.Tone {
    if progress.met { return .good }
    return switch progress.limit {
    case .exceeded: .bad
    case .near: .caution
    case .under, nil: .plain
    }
  }

  private func percent(_ progress: TrackersInterface.GoalProgress) -> String {
    guard hasBar(progress), let percent = progress.percent else { return "" }
    return "\(LocalizedFormat.number(Double(percent))) %"
  }

  private func wide(
    _ listed: [TrackersInterface.GoalProgress], of all: [TrackersInterface.GoalProgress]
  ) -> [String] {
    func widest(_ text: (TrackersInterface.GoalProgress) -> String) -> Int {
      all.map { TextWidth.of(text($0)) }.max() ?? 0
    }
    let states = min(widest { words.state($0) }, 34)
    let streaks = widest { words.streak($0.streak) }
    let percents = widest { percent($0) }
    let titles = min(widest { words.title($0.tracker) }, width >= 80 ? 22 : 16)
    let gaps = 4 + 2 + (percents > 0 ? 2 : 0) + (streaks > 0 ? 2 : 0)
    let room = width - titles - states - streaks - percents - gaps - 2
    let bars = all.contains { hasBar($0) } && room >= 6 ? min(room, 24) : 0
    return listed.flatMap { progress -> [String] in
      var line = "  \(mark(progress)) \(fit(words.title(progress.tracker), titles))"
      if let glance = glance(progress, from: (line, titles + 4), indent: titles + 6) {
        guard hasBar(progress) else { return glance }
        let rest = [percent(progress), words.streak(progress.streak)].filter { !$0.isEmpty }.joined(separator: "  ")
        let indent = String(repeating: " ", count: titles + 6)
        return glance + [Self.trimmedEnd("\(indent)\(bar(progress, max(bars, 12)))  \(style(rest, .faint))")]
      }
      if bars > 0 { line += "  " + bar(progress, bars) }
      line += "  " + tone(fit(words.state(progress), states), progress)
      if percents > 0 { line += "  " + right(percent(progress), percents) }
      let streak = words.streak(progress.streak)
      if !streak.isEmpty {
        line += String(repeating: " ", count: streaks - TextWidth.of(streak) + 2) + style(streak, .faint)
      }
      return [Self.trimmedEnd(line)]
    }
  }

  /// Returns a measure with its trend: `82.6 kg ↘ 0.7 a week, 80 kg on 2026-07-02`, and its additional measures.
  ///
  /// Returns nil for other trackers, and for measures with too few values for a trend.
  ///
  /// - Parameters:
  ///   - head: the text before it on the first line.
  ///   - indent: the indentation of further lines.
  private func glance(_ progress: TrackersInterface.GoalProgress, from head: (text: String, width: Int), indent: Int)
    -> [String]?
  {
    let trend = MeasureTrend(progress)
    let fields = words.fields(progress.fields ?? [:], progress.tracker)
    guard progress.tracker.kind == .measure, trend != nil || !fields.isEmpty else { return nil }
    // Keep value and arrow together, and the words about the goal.
    let state = words.state(progress)
    var parts = [(width: TextWidth.of(state), text: tone(state, progress))]
    if let trend {
      let way = trend.text(words, progress.tracker)
      parts[0].width += 1 + TextWidth.of(way)
      parts[0].text += " " + style(way, trend.tone)
    }
    parts += ([words.outlook(progress)].compactMap { $0 } + fields).map { (TextWidth.of($0), $0) }
    var lines = [head.text + "  "]
    var (used, isFirst) = (head.width + 2, true)
    for (index, part) in parts.enumerated() {
      let comma = index == parts.count - 1 ? "" : ","
      let columns = part.width + comma.count
      if used + (isFirst ? 0 : 1) + columns > width {
        lines.append(String(repeating: " ", count: indent))
        (used, isFirst) = (indent, true)
      }
      lines[lines.count - 1] += (isFirst ? "" : " ") + part.text + comma
      used += columns + (isFirst ? 0 : 1)
      isFirst = false
    }
    return lines.map { Self.trimmedEnd($0) }
  }

  private func narrow(_ progress: TrackersInterface.GoalProgress) -> [String] {
    let state = words.state(progress)
    let title = TextWidth.truncate(words.title(progress.tracker), to: max(8, width - 6 - TextWidth.of(state)))
    let first = "  \(mark(progress)) \(title)  \(tone(state, progress))"
    let streak = words.streak(progress.streak)
    if let glance = glance(progress, from: ("  \(mark(progress)) \(title)", TextWidth.of(title) + 4), indent: 4) {
      guard hasBar(progress) else { return glance }
      let rest = "  \(percent(progress))  \(style(streak, .faint))"
      return glance + [Self.trimmedEnd("    " + bar(progress, 12) + rest)]
    }
    guard hasBar(progress) else {
      let used = 6 + TextWidth.of(title) + TextWidth.of(state)
      guard !streak.isEmpty, used + 2 + TextWidth.of(streak) <= width else { return [first] }
      return [first + "  " + style(streak, .faint)]
    }
    let rest = "  \(percent(progress))  \(style(streak, .faint))"
    let used = TextWidth.of("  \(percent(progress))  \(streak)")
    let second = "    " + bar(progress, min(20, max(6, width - 4 - used))) + rest
    return [first, Self.trimmedEnd(second)]
  }

  private func tone(_ text: String, _ progress: TrackersInterface.GoalProgress) -> String {
    let tone = Self.tone(progress)
    return style(text, tone == .plain && !progress.counts && progress.entries == 0 ? .faint : tone)
  }

  private func fit(_ text: String, _ columns: Int) -> String {
    TextWidth.pad(TextWidth.truncate(text, to: columns), to: columns)
  }

  private func right(_ text: String, _ columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - TextWidth.of(text))) + text
  }

  static func trimmedEnd(_ line: String) -> String {
    var line = Substring(line)
    while line.last == " " { line.removeLast() }
    return String(line)
  }
}

/// A strip of seven days: names with a mark under each.
struct WeekStrip {
  var style: Style

  enum Mark {
    case met, part, missed, none
    /// A future day.
    case ahead
  }

  func mark(_ mark: Mark) -> String {
    switch mark {
    case .met: style("●", .good)
    case .part: style("◐", .caution)
    case .missed: "○"
    case .none: style("·", .faint)
    case .ahead: " "
    }
  }

  static func mark(_ day: TrackersInterface.DaySummary) -> Mark {
    day.due == 0 ? .none : day.met >= day.due ? .met : day.met + day.started > 0 ? .part : .missed
  }

  static func mark(_ day: TrackersInterface.DayTotal, today: String) -> Mark {
    if day.met { return .met }
    if day.limit == .exceeded { return .missed }
    if day.isOpenLimit { return .none }
    if day.entries > 0 { return .part }
    if day.day > today { return .ahead }
    // A day that is not over counts as missed only afterwards.
    return day.counts ? .missed : .none
  }

  /// Returns the width of a day: its name and a space.
  func column(_ names: [String]) -> Int { (names.map { TextWidth.of($0) }.max() ?? 2) + 1 }

  /// Returns a line of day names, with `today` highlighted.
  func header(_ names: [String], today: Int?) -> String {
    let width = column(names)
    return names.enumerated().map { index, name in
      let spaces = index == names.count - 1 ? 0 : width - TextWidth.of(name)
      return style(name, index == today ? .strong : .faint) + String(repeating: " ", count: spaces)
    }.joined()
  }

  /// Returns a line of days of the month, under the names.
  func numbers(_ numbers: [String], _ names: [String], today: Int?) -> String {
    let width = column(names)
    return numbers.enumerated().map { index, number in
      let before = max(0, (width - 1) / 2 + 1 - number.count)
      let after = max(0, width - before - number.count)
      return String(repeating: " ", count: before) + style(number, index == today ? .strong : .faint)
        + String(repeating: " ", count: after)
    }.joined()
  }

  /// Returns a line of marks centered under the names, without trailing spaces.
  func row(_ marks: [Mark], _ names: [String]) -> String {
    let width = column(names)
    let before = (width - 1) / 2
    return marks.enumerated().map { index, mark in
      String(repeating: " ", count: index == 0 ? before : width - 1) + self.mark(mark)
    }.joined()
  }

  /// Returns the number of spaces that complete the last column after its mark.
  func rest(_ names: [String]) -> Int { column(names) - 1 - (column(names) - 1) / 2 }
}
