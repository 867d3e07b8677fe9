import ChimeControl
import ChimeSchedule
import ChimeWords

/// Formats trackers, entries and progress for a person.
struct TrackerWords: Sendable {
  typealias Tracker = TrackersInterface.Tracker
  typealias GoalProgress = TrackersInterface.GoalProgress

  /// The user's languages, for texts from packs.
  var preferredLanguages: PreferredLanguages

  func local(_ texts: [String: String]) -> String { preferredLanguages.text(texts) }

  /// The BCP 47 tag for texts that the user writes.
  var ownLanguage: String { preferredLanguages.first }

  /// Returns a sanitized title.
  func title(_ tracker: Tracker) -> String {
    let title = TerminalSanitizer.line(local(tracker.title))
    return title.isEmpty ? tracker.id : title
  }

  // MARK: Amounts

  /// Returns a number with the tracker's decimals, or more if the value needs them: `1,750`.
  func number(_ value: Double, _ tracker: Tracker) -> String {
    LocalizedFormat.number(value, decimals: tracker.decimals)
  }

  /// Returns an amount with its unit: `250 ml`.
  func amount(_ value: Double, _ tracker: Tracker) -> String {
    [number(value, tracker), tracker.unit.map { TerminalSanitizer.line($0) }].compactMap { $0 }.joined(separator: " ")
  }

  /// Returns a sum over many days: `46.3 l` instead of `46,250 ml`.
  func sum(_ value: Double, _ tracker: Tracker) -> String {
    guard tracker.unit == "ml", value.magnitude >= 10_000 else { return amount(value, tracker) }
    return "\(LocalizedFormat.number(value / 1_000, decimals: 1)) l"
  }

  /// Returns a value in a unit that may differ from the tracker's.
  func amount(_ value: Double, unit: String?, _ tracker: Tracker) -> String {
    guard let unit, unit != tracker.unit else { return amount(value, tracker) }
    return "\(Self.shortest(value)) \(TerminalSanitizer.line(unit))"
  }

  /// Returns a number with as few decimals as it needs, at most three.
  static func shortest(_ value: Double) -> String {
    let decimals = (0...2).first { (value * scales[$0]).rounded() / scales[$0] == value } ?? 3
    return LocalizedFormat.number(value, decimals: decimals)
  }
  private static let scales = [1.0, 10, 100]

  /// Returns a number as it is typed: without grouping, with a decimal point.
  static func plain(_ value: Double) -> String {
    value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : String(value)
  }

  /// Returns a signed rate: `−0.4 kg a week`.
  func rate(_ rate: Double, _ tracker: Tracker) -> String {
    let decimals = max(1, tracker.decimals)
    let unit = tracker.unit.map { " \(TerminalSanitizer.line($0))" } ?? ""
    let number = LocalizedFormat.number(rate, decimals: decimals)
    return localized("%1 a week", (rate > 0 && number.first != "-" ? "+" : "") + number + unit)
  }

  // MARK: Goals

  /// Returns the goal: `2,500 ml a day`, `3 times a week`; nil without one.
  func goal(_ tracker: Tracker) -> String? {
    guard let goal = tracker.goal else { return nil }
    if let value = goal.value { return amount(value, tracker) }
    if tracker.isLimited {
      if let total = goal.total { return localized("at most %1 a day", amount(total, tracker)) }
      return localized(count: goal.count ?? 0, "at most once a day", "at most %n times a day")
    }
    if let total = goal.total {
      let text = amount(total, tracker)
      return switch goal.period ?? .day {
      case .day: localized("%1 a day", text)
      case .week: localized("%1 a week", text)
      case .month: localized("%1 a month", text)
      }
    }
    let count = goal.count ?? 1
    return switch goal.period ?? .day {
    case .day: localized(count: count, "once a day", "%n times a day")
    case .week: localized(count: count, "once a week", "%n times a week")
    case .month: localized(count: count, "once a month", "%n times a month")
    }
  }

  /// Returns the days that count: `Mon, Wed, Fri`, `3 days a week`.
  func counting(_ tracker: Tracker) -> String {
    let counting = tracker.counting
    if let times = counting.times {
      return switch counting.per ?? .week {
      case .week: localized(count: times, "%n day a week", "%n days a week")
      case .month: localized(count: times, "%n day a month", "%n days a month")
      case .days: localized(count: times, "%n day in any %1", "%n days in any %1", String(counting.days ?? 7))
      }
    }
    return weekdays(counting.weekdays ?? [])
  }

  /// Returns weekdays: `Mon, Wed, Fri`, `every day`.
  func weekdays(_ names: [String]) -> String {
    let days = WeekdayText.days(names)
    if days.count == 7 || days.isEmpty { return localized("every day") }
    return days.map { LocalizedFormat.weekday($0) }.joined(separator: ", ")
  }

  /// Returns the streak over all trackers of a pack: `8 days in a row with at least one done`; empty without a streak.
  func packStreak(_ streak: TrackersInterface.PackStreak, isNamed: Bool, _ width: Int) -> [String] {
    guard streak.streak.length > 0 else { return [] }
    let length = self.streak(streak.streak)
    let text =
      isNamed
      ? localized("%1 in a row with at least one of %2 done", length, TerminalSanitizer.line(streak.pack))
      : localized("%1 in a row with at least one done", length)
    return TextWidth.wrap("↻ " + text, to: width - 2).map { "  " + $0 }
  }

  // MARK: Progress

  /// Returns the progress of the day or of the goal's period: `1,750 of 2,500 ml`, `done`, `82.4 kg`.
  func state(_ progress: GoalProgress) -> String {
    let tracker = progress.tracker
    if !progress.counts, progress.entries == 0, let reason = reason(progress.reason) { return reason }
    switch tracker.kind {
    case .check:
      let goal = tracker.goal?.count ?? 1
      if goal != 1 || tracker.isLimited || tracker.goal?.period ?? .day != .day {
        return ofGoal(LocalizedFormat.number(progress.reached ?? 0), LocalizedFormat.number(Double(goal)), tracker)
      }
      if let items = progress.items, !items.isEmpty {
        return items.map { TerminalSanitizer.line($0.title) }.joined(separator: ", ")
      }
      return progress.met || progress.entries > 0 ? localized("done") : localized("not yet")
    case .amount:
      let reached = progress.reached ?? progress.total ?? 0
      guard let goal = tracker.goal?.total else { return amount(reached, tracker) }
      return ofGoal(number(reached, tracker), amount(goal, tracker), tracker)
    case .measure:
      guard let value = progress.value else { return localized("no value yet") }
      guard progress.entries == 0, !progress.met else { return amount(value, tracker) }
      return localized("last %1", amount(value, tracker))
    }
  }

  private func ofGoal(_ reached: String, _ goal: String, _ tracker: Tracker) -> String {
    switch tracker.goal?.period ?? .day {
    case .day: localized("%1 of %2", reached, goal)
    case .week: localized("%1 of %2 this week", reached, goal)
    case .month: localized("%1 of %2 this month", reached, goal)
    }
  }

  /// Returns the rest: `750 ml to go`; nil without a goal, or if it is met.
  func remaining(_ progress: GoalProgress) -> String? {
    if progress.tracker.kind == .measure {
      // A measure meets its day by being taken; its goal value is a separate matter.
      guard let goal = progress.tracker.goal?.value, let value = progress.value, progress.percent ?? 0 < 100,
        goal != value
      else { return nil }
      return localized("%1 to go", amount((value - goal).magnitude, progress.tracker))
    }
    if progress.tracker.isLimited { return left(progress) }
    guard !progress.met, let remaining = progress.remaining, remaining != 0 else { return nil }
    if progress.tracker.kind == .check {
      // "Not yet" already says this.
      guard progress.tracker.goal?.count ?? 1 > 1 || progress.tracker.goal?.period ?? .day != .day else { return nil }
      return localized(count: Int(remaining.rounded()), "%n to go", "%n to go")
    }
    return localized("%1 to go", amount(remaining.magnitude, progress.tracker))
  }

  /// Returns the distance to a limit: `80 mg left`, `40 mg over`.
  private func left(_ progress: GoalProgress) -> String? {
    let tracker = progress.tracker
    guard let limit = tracker.goal?.total ?? tracker.goal?.count.map(Double.init), let reached = progress.reached
    else { return nil }
    let rest = (limit - reached).magnitude
    let text = tracker.kind == .check ? LocalizedFormat.number(rest) : amount(rest, tracker)
    if progress.limit == .exceeded { return localized("%1 over", text) }
    return progress.met ? nil : localized("%1 left", text)
  }

  /// Returns the percentage of the goal; a check without one has 0 or 100; nil if there is nothing to reach.
  func percent(_ progress: GoalProgress) -> Int? {
    if progress.percent != nil || progress.tracker.isLimited { return progress.percent }
    return progress.tracker.kind == .check ? (progress.met ? 100 : 0) : nil
  }

  /// Returns the reason why a day does not count; nil for an unknown reason.
  func reason(_ reason: String?) -> String? {
    switch reason {
    case "weekday": localized("not today")
    case "paused": localized("paused")
    case "skipped": localized("skipped")
    case "notStarted": localized("not begun yet")
    case "enough": localized("enough for now")
    default: nil
    }
  }

  /// Returns a streak's length: `4 days`; empty without one.
  func streak(_ streak: TrackersInterface.Streak) -> String {
    guard streak.length > 0 else { return "" }
    return switch streak.unit {
    case .days: localized(count: streak.length, "%n day", "%n days")
    case .weeks: localized(count: streak.length, "%n week", "%n weeks")
    case .months: localized(count: streak.length, "%n month", "%n months")
    }
  }

  func timeOfDay(_ timeOfDay: Tracker.TimeOfDay) -> String {
    switch timeOfDay {
    case .morning: localized("Morning")
    case .anytime: localized("Anytime")
    case .evening: localized("Evening")
    }
  }

  func kind(_ kind: Tracker.Kind) -> String {
    switch kind {
    case .check: localized("check")
    case .amount: localized("amount")
    case .measure: localized("measure")
    }
  }

  /// Returns the texts about the day: a pack's, or built-in ones.
  func mood(_ mood: TrackersInterface.Mood) -> (title: String, message: String, next: String) {
    let texts = [mood.title, mood.message, mood.next].map { TerminalSanitizer.line(local($0)) }
    guard texts.allSatisfy(\.isEmpty) else { return (texts[0], texts[1], texts[2]) }
    let title =
      switch mood.kind {
      case .noHabits: localized("Nothing is due today")
      case .notStarted: localized("A new day")
      case .lightDay: localized("A beginning is made")
      case .productiveDay: localized("More than half is done")
      case .perfectDay: localized("All is done. Well done!")
      }
    return (title, "", "")
  }

  // MARK: Days

  /// Returns a day as `Fri 2026-03-27` in the locale's format; the text itself if it is no date.
  func day(_ text: String) -> String {
    guard let date = CivilDate(text) else { return TerminalSanitizer.line(text) }
    return "\(LocalizedFormat.weekday(date.weekday)) \(LocalizedFormat.date(date))"
  }

  /// Returns a time to the minute.
  func minute(_ time: Wire.Time, _ clock: WallClock) -> String {
    guard let instant = WallClock.instant(time) else { return TerminalSanitizer.line(time.at) }
    return clock.text(Instant(seconds: instant.seconds - instant.seconds % 60))
  }

  /// Returns a date as `2026-03-27` in the locale's format.
  func date(_ text: String) -> String {
    CivilDate(text).map { LocalizedFormat.date($0) } ?? TerminalSanitizer.line(text)
  }

  /// Returns an achievement's progress: `27 of 100`.
  func progress(_ achievement: TrackersInterface.Achievement) -> String {
    localized(
      "%1 of %2", LocalizedFormat.number(Double(min(achievement.reached, achievement.target))),
      LocalizedFormat.number(Double(achievement.target)))
  }

  /// Returns experience points: `50 XP`; nil for none.
  func experience(_ points: Int) -> String? {
    points > 0 ? localized("%1 XP", LocalizedFormat.number(Double(points))) : nil
  }
}

extension TrackersInterface.GoalProgress {
  /// Whether a measure has reached its goal value; `met` only means that it was measured on the day.
  var isGoalValueReached: Bool { tracker.kind == .measure && tracker.goal?.value != nil && remaining ?? 1 <= 0 }
}

extension TrackersInterface.Tracker {
  var isLimited: Bool { goal?.atMost == true }
}

extension TrackersInterface.DayTotal {
  /// Whether this is a day of a limit that is neither over nor exceeded.
  var isOpenLimit: Bool { !met && limit.map { $0 != .exceeded } ?? false }
  /// Whether the day has a number, as in "8 of 10"; a day off that was met anyway has none.
  var isNumbered: Bool { number != nil }
  /// Whether the day counts toward the total, as in "8 of 10".
  var isAsked: Bool { counts && !isOpenLimit || isNumbered }
}

extension Context {
  var trackerWords: TrackerWords { TrackerWords(preferredLanguages: preferredLanguages) }

  /// The width for output, in columns.
  var width: Int { max(20, process.output.width ?? 80) }

  /// Returns today in this machine's time zone.
  func today() throws -> CivilDate { try localZone().civil(at: now).date }
}
