import ChimeControl
import ChimeWords

/// Reports the effects of an entry: progress, met goals, achievements.
struct ChangeReport {
  var change: TrackersInterface.Change
  var tracker: TrackersInterface.Tracker
  /// The title of the entry's item, if known.
  var item: String?

  func print(_ context: Context, at isDated: Bool) {
    switch context.format {
    case .json: context.print(json: ["change": change])
    case .plain:
      context.plain([
        Output.ChangeLine(
          id: change.entry?.id, tracker: change.progress?.tracker.id ?? change.entry?.tracker, day: change.entry?.day,
          value: change.entry?.value, unit: change.entry?.unit, item: change.entry?.item,
          reached: change.progress?.reached, remaining: change.progress?.remaining, percent: change.progress?.percent,
          met: change.progress?.met ?? false, streak: change.progress?.streak.length,
          unlocked: change.unlocked.map(\.id), milestones: change.milestones.map(\.title),
          level: change.levelUp?.level)
      ])
    case .human: if !context.isQuiet { for line in lines(context, isDated: isDated) { context.out(line) } }
    }
  }

  private func lines(_ context: Context, isDated: Bool) -> [String] {
    let words = context.trackerWords
    let tracker = change.progress?.tracker ?? tracker
    var lines = [head(context, words, tracker, isDated: isDated)]
    lines += Self.celebrations(change, tracker, context)
    guard let progress = change.progress else { return lines }
    // For a check, each day has its number: "Day 5".
    let isNumbered = progress.met && (progress.counts || progress.reason == "enough")
    if isNumbered, tracker.kind == .check, tracker.goal?.count ?? 1 == 1, !tracker.hasItems, progress.number > 0 {
      let month = localized("%1 of %2 this month", progress.numberThisMonth, progress.countedThisMonth)
      lines.append("  " + localized("day %1; %2", progress.number, month))
    }
    lines += goalLines(progress, context, words)
    lines += trend(context, words, tracker)
    if let streak = streak(progress, words) { lines.append("  \(streak)") }
    if let stock = progress.stock {
      let text = StockVerbs.line(stock, words)
      lines.append("  " + (change.stock == nil ? text : context.style("! \(text)", StockVerbs.tone(stock))))
      lines += StockVerbs.short(stock, words).flatMap { TextWidth.wrap("! " + $0, to: context.width - 2) }.map {
        "  " + $0
      }
    }
    return lines
  }

  /// Returns `✔ Water: 250 ml`, and the time if `--at` was given.
  private func head(
    _ context: Context, _ words: TrackerWords, _ tracker: TrackersInterface.Tracker, isDated: Bool
  ) -> String {
    var text = context.style("✔", .good) + " " + context.style(words.title(tracker), .strong)
    guard let entry = change.entry else { return text }
    var parts: [String] = []
    if let value = entry.value { parts.append(words.amount(value, unit: entry.unit, tracker)) }
    if let item = entry.item { parts.append(TerminalSanitizer.line(self.item ?? item)) }
    parts += words.fields(entry.fields, tracker)
    if parts.isEmpty { parts.append(localized("done")) }
    text += ": " + parts.joined(separator: ", ")
    if isDated { text += " (\(words.minute(entry.at, context.clock())))" }
    return text + context.style("  #\(entry.id)", .faint)
  }

  private func goalLines(
    _ progress: TrackersInterface.GoalProgress, _ context: Context, _ words: TrackerWords
  ) -> [String] {
    let tracker = progress.tracker
    guard tracker.goal != nil, let percent = words.percent(progress), tracker.kind != .check || progress.percent != nil
    else {
      if tracker.isLimited {
        return ["  " + [words.state(progress), words.remaining(progress)].compactMap { $0 }.joined(separator: "; ")]
      }
      guard tracker.kind == .amount else { return [] }
      return ["  " + localized("%1 so far", words.state(progress))]
    }
    let isSingle = tracker.kind == .check && (tracker.goal?.count ?? 1) == 1 && !tracker.isLimited
    guard !isSingle else { return [] }
    var text = words.state(progress)
    if tracker.kind == .measure { text = words.goal(tracker).map { localized("goal %1", $0) } ?? text }
    text += ", \(LocalizedFormat.number(Double(percent))) %"
    if let remaining = words.remaining(progress) { text += "; \(remaining)" }
    let bar = Bar.text(
      Double(percent) / 100, width: context.width >= 70 ? 20 : 10, style: context.style,
      tone: ProgressRows.tone(progress))
    let indent = (context.width >= 70 ? 20 : 10) + 4
    let wrapped = TextWidth.wrap(text, to: context.width, indent: indent)
    return ["  \(bar)  \(wrapped[0].dropFirst(indent))"] + wrapped.dropFirst()
  }

  /// Describes the trend of a measure.
  private func trend(
    _ context: Context, _ words: TrackerWords, _ tracker: TrackersInterface.Tracker
  ) -> [String] {
    guard let entry = change.entry, let average = entry.average else { return [] }
    var text = localized("average %1", words.amount(average, tracker))
    if let rate = entry.rate {
      var trend = MeasureTrend(rate, value: entry.value, of: tracker)
      if change.progress?.isGoalValueReached == true { trend.heading = .neither }
      text += ", " + context.style("\(trend.arrow) \(words.rate(rate, tracker))", trend.tone)
    }
    return ["  \(text)"]
  }

  private func streak(_ progress: TrackersInterface.GoalProgress, _ words: TrackerWords) -> String? {
    let streak = progress.streak
    guard streak.length > 1 else { return nil }
    let text = localized("%1 in a row", words.streak(streak))
    let isBest = streak.length >= 3 && streak.length == progress.longest.length && streak.unit == progress.longest.unit
    return isBest ? localized("%1: your longest streak", text) : text
  }

  /// Returns a line each for a met goal, achievements, and a new level, in this order.
  static func celebrations(
    _ change: TrackersInterface.Change, _ tracker: TrackersInterface.Tracker, _ context: Context
  ) -> [String] {
    let words = context.trackerWords
    var lines: [String] = []
    if change.goalMet {
      let goal = words.goal(tracker).map { localized("Goal reached: %1!", $0) } ?? localized("Goal reached!")
      lines.append(star(goal, context))
    }
    switch change.limit {
    case .near: lines.append(warning(localized("Near the limit"), .caution, context))
    case .exceeded: lines.append(warning(localized("The limit is exceeded"), .bad, context))
    case .under, nil: break
    }
    for milestone in change.milestones {
      lines.append(star(localized("Milestone: %1", TerminalSanitizer.line(milestone.title)), context))
    }
    lines += unlocked(change.unlocked, context)
    if let level = change.levelUp {
      let text = localized(
        "Level %1 in %2!", LocalizedFormat.number(Double(level.level)), TerminalSanitizer.line(level.pack))
      lines.append(star(text, context))
    }
    return lines
  }

  static func unlocked(_ achievements: [TrackersInterface.Achievement], _ context: Context) -> [String] {
    let words = context.trackerWords
    return achievements.flatMap { achievement in
      var text = TerminalSanitizer.line(words.local(achievement.text))
      if let points = words.experience(achievement.experience) { text += " (\(points))" }
      return [star(localized("Unlocked: %1", TerminalSanitizer.line(words.local(achievement.title))), context)]
        + TextWidth.wrap(text, to: context.width, indent: 4).map { context.style($0, .faint) }
    }
  }

  private static func warning(_ text: String, _ tone: Style.Tone, _ context: Context) -> String {
    "  \(context.style("!", tone)) \(context.style(text, .strong))"
  }

  private static func star(_ text: String, _ context: Context) -> String {
    "  \(context.style("★", .caution)) \(context.style(text, .strong))"
  }
}
