import ChimeControl
import ChimeSchedule

/// Values computed from the days: simple versions of the daemon's, good enough to draw.
extension FakeTrackers {
  private static let today = TrackerYear.today.description

  func progress(_ tracker: T.Tracker) -> T.GoalProgress {
    let all = days(tracker)
    let now = all.last ?? T.DayTotal(day: Self.today, entries: 0, met: false, counts: true)
    let month = all.filter { $0.day.hasPrefix("2026-03") }
    let value = all.last { $0.value != nil }?.value
    let reached = tracker.kind == .amount ? now.total : tracker.kind == .check ? Double(now.entries) : value
    let goal = tracker.goal.flatMap { $0.total ?? $0.value ?? $0.count.map(Double.init) }
    let (streak, longest) = streaks(all)
    return T.GoalProgress(
      tracker: tracker, day: Self.today, entries: now.entries, total: now.total, value: value, reached: reached,
      remaining: goal.flatMap { goal in reached.map { tracker.kind == .measure ? $0 - goal : max(0, goal - $0) } },
      percent: goal.flatMap { goal in reached.map { Int($0 / goal * 100) } }, met: now.met, counts: now.counts,
      streak: streak, longest: longest, strength: all.count < 2 ? 0 : 0.42 + Double(all.filter(\.met).count) / 900,
      number: all.compactMap(\.number).last ?? 0, numberThisMonth: month.filter(\.met).count,
      countedThisMonth: 26, lastAt: year.entries.last { $0.tracker == tracker.id }?.at)
  }

  /// Returns a tracker's progress with a measure's trend, its further measures, and the collection's items used today.
  func detailed(_ tracker: T.Tracker) -> T.GoalProgress {
    var progress = progress(tracker)
    let own = year.entries.filter { $0.tracker == tracker.id }
    if tracker.kind == .measure {
      let statistics = statistics(tracker, T.Range(from: "2025-12-28", to: Self.today))
      // The distance to the goal has the sign that it had at the first value.
      if let goal = tracker.goal?.value, let first = own.first?.value, goal > first {
        progress.remaining = progress.value.map { goal - $0 }
      }
      progress.weeklyRate = statistics.weeklyRate
      progress.direction = statistics.direction
      progress.goalOn = progress.remaining ?? 1 <= 0 ? nil : statistics.goalOn
    }
    progress.fields = own.last { !$0.fields.isEmpty }?.fields
    guard tracker.hasItems else { return progress }
    progress.items = own.filter { $0.day == Self.today }.compactMap { entry in year.items.first { $0.id == entry.item }
    }
    return progress
  }

  private func streaks(_ all: [T.DayTotal]) -> (current: T.Streak, longest: T.Streak) {
    var best = T.Streak(length: 0, unit: .days)
    var run = best
    for day in all where day.counts {
      if day.met {
        run = T.Streak(length: run.length + 1, unit: .days, first: run.first ?? day.day, last: day.day)
        if run.length > best.length { best = run }
      } else if day.day != Self.today {
        run = T.Streak(length: 0, unit: .days)
      }
    }
    return (run, best)
  }

  var view: T.DayView {
    let progress = year.trackers.map { detailed($0) }
    let met = progress.count { $0.met }
    let kind: T.Mood.Kind =
      progress.isEmpty
      ? .noHabits
      : met == 0
        ? .notStarted
        : met == progress.count
          ? .perfectDay
          : met * 2 < progress.count
            ? .lightDay : .productiveDay
    let next = year.achievements.filter { $0.unlockedAt == nil }.max { $0.reached * $1.target < $1.reached * $0.target }
    return T.DayView(
      day: Self.today, progress: progress,
      mood: T.Mood(
        kind: kind, title: ["en": "A day with something done", "cs": "Den, kdy je něco hotovo"],
        message: ["en": "Part of the day is yours already.", "cs": "Část dne už máte za sebou."],
        next: ["en": "Two more, and more than half is done.", "cs": "Ještě dvě věci a máte víc než půlku."]),
      quote: year.quote, nextAchievement: next, levels: year.levels, streaks: packStreaks,
      week: marks(Array(dates(-6...0))))
  }

  /// The person's streak in the only pack with several trackers.
  var packStreaks: [T.PackStreak] {
    guard year.trackers.contains(where: { $0.pack == "adkhar" }), !year.entries.isEmpty else { return [] }
    return [
      T.PackStreak(
        pack: "adkhar", streak: T.Streak(length: 12, unit: .days, first: "2026-03-16", last: "2026-03-27"))
    ]
  }

  var week: T.Week.Reply {
    let days = Array(dates(-4...2))
    return T.Week.Reply(
      from: days[0], progress: year.trackers.map { progress($0) },
      days: year.trackers.map { tracker in
        let known = self.days(tracker)
        return T.WeekRow(
          tracker: tracker.id,
          days: days.map { day in
            known.first { $0.day == day } ?? T.DayTotal(day: day, entries: 0, met: false, counts: true)
          })
      }, summaries: marks(days))
  }

  private func dates(_ range: ClosedRange<Int>) -> [String] {
    range.map { TrackerYear.today.plus($0).description }
  }

  private func marks(_ days: [String]) -> [T.DaySummary] {
    days.map { day in
      let all = year.trackers.compactMap { tracker in self.days(tracker).first { $0.day == day && $0.counts } }
      return T.DaySummary(
        day: day, met: all.count { $0.met }, due: all.count, started: all.count { !$0.met && $0.entries > 0 })
    }
  }

  // MARK: Statistics

  /// Returns the statistics of a further measure, as if it were a tracker.
  func statistics(field name: String, _ tracker: T.Tracker, _ range: T.Range) -> T.Statistics {
    var field = tracker
    field.title = tracker.title.mapValues { "\($0): \(name)" }
    (field.unit, field.decimals, field.goal, field.fields) = (tracker.fields[name], 1, nil, [:])
    let values = Dictionary(
      year.entries.lazy.filter { $0.tracker == tracker.id }.map { ($0.day, $0.fields[name]) }, uniquingKeysWith: { $1 })
    var copy = self
    copy.year.days[tracker.id] = days(tracker).map { day in
      var day = day
      day.value = values[day.day] ?? nil
      return day
    }
    return copy.statistics(field, range)
  }

  func statistics(_ tracker: T.Tracker, _ range: T.Range) -> T.Statistics {
    let all = days(tracker, range)
    let points = all.compactMap { day in
      (day.value ?? (day.entries > 0 ? day.total : nil)).map { T.Point(day: day.day, value: $0) }
    }
    // For an amount, today is not over and has no average.
    let isOver = tracker.kind != .amount || points.last?.day != TrackerYear.today.description
    let averages = points.indices.dropLast(isOver ? 0 : 1).map { index in
      let part = points[max(0, index - 6)...index]
      return T.Point(day: points[index].day, value: part.reduce(0) { $0 + $1.value } / Double(part.count))
    }
    let slope = Self.slope(Array(averages.suffix(28)))
    let total = points.reduce(0) { $0 + $1.value }
    let (streak, longest) = streaks(days(tracker))
    let isMeasure = tracker.kind == .measure
    let entries = all.reduce(0) { $0 + $1.entries }
    return T.Statistics(
      tracker: tracker, range: T.Range(from: all.first?.day, to: all.last?.day), entries: entries,
      total: tracker.kind == .amount && entries > 0 ? total : nil,
      dailyAverage: points.isEmpty ? nil : total / Double(points.count), first: points.first, last: points.last,
      least: points.min { $0.value < $1.value }, most: points.max { $0.value < $1.value }, points: points,
      averages: averages, averageDays: 7, weeklyRate: points.count > 7 ? slope * 7 : nil,
      direction: points.count > 7 ? slope * 7 > 0.05 ? .up : slope * 7 < -0.05 ? .down : .steady : nil,
      trend: points.count > 7 ? slope * 7 : nil,
      prediction: isMeasure && points.count > 7 ? predict(averages.last?.value ?? 0, slope) : [],
      goalOn: isMeasure && slope < 0 && points.count > 7 ? "2026-05-19" : nil, weeks: weeks(all),
      months: months(all, isMeasure: isMeasure), metDays: all.count { $0.met }, dueDays: all.count { $0.counts },
      streak: streak, longest: longest,
      packStreak: tracker.pack == "adkhar" ? packStreaks.first?.streak : nil, strength: progress(tracker).strength,
      evenness: tracker.hasItems && entries > 0 ? 81 : nil, items: tracker.hasItems ? year.items : [],
      missingData: points.isEmpty && tracker.kind != .check ? ["noEntries"] : entries == 0 ? ["noEntries"] : [])
  }

  private static func slope(_ points: [T.Point]) -> Double {
    guard points.count > 1 else { return 0 }
    let days = points.map { Double(CivilDate(of: $0.day).dayNumber) }
    let middle = days.reduce(0, +) / Double(days.count)
    let mean = points.reduce(0) { $0 + $1.value } / Double(points.count)
    let top = zip(days, points).reduce(0) { $0 + ($1.0 - middle) * ($1.1.value - mean) }
    return top / days.reduce(0) { $0 + ($1 - middle) * ($1 - middle) }
  }

  private func predict(_ last: Double, _ slope: Double) -> [T.Prediction] {
    (1...14).map { step in
      let value = last + slope * Double(step)
      let spread = 0.35 + 0.06 * Double(step)
      return T.Prediction(
        day: TrackerYear.today.plus(step).description, value: value, low: value - spread, high: value + spread)
    }
  }

  private func weeks(_ all: [T.DayTotal]) -> [T.Period] {
    var weeks: [(monday: CivilDate, days: [T.DayTotal])] = []
    for total in all {
      let day = CivilDate(of: total.day)
      let monday = day.plus(1 - day.weekday.rawValue)
      if weeks.last?.monday != monday { weeks.append((monday, [])) }
      weeks[weeks.count - 1].days.append(total)
    }
    return weeks.map { week in
      T.Period(
        from: week.days[0].day, to: week.days[week.days.count - 1].day,
        entries: week.days.reduce(0) { $0 + $1.entries }, met: week.days.count { $0.met },
        due: week.days.count { $0.counts })
    }
  }

  private func months(_ all: [T.DayTotal], isMeasure: Bool) -> [T.Period] {
    let names = all.reduce(into: [String]()) {
      if $0.last != String($1.day.prefix(7)) { $0.append(String($1.day.prefix(7))) }
    }
    return names.map { name in
      let days = all.filter { $0.day.hasPrefix(name) }
      let values = days.compactMap { $0.value ?? ($0.entries > 0 ? $0.total : nil) }
      let total = values.reduce(0, +)
      return T.Period(
        from: days[0].day, to: days[days.count - 1].day, entries: days.reduce(0) { $0 + $1.entries },
        total: isMeasure || values.isEmpty ? nil : total, average: values.isEmpty ? nil : total / Double(values.count),
        met: days.count { $0.met }, due: days.count { $0.counts })
    }
  }

  // MARK: Entries

  /// Returns the newest entries first, with a measure's averages and rates, filtered and limited as the daemon does.
  func page(_ tracker: T.Tracker, _ asked: T.Entries) -> T.Entries.Reply {
    let range = asked.range ?? T.Range()
    let statistics = statistics(tracker, T.Range())
    let averages = Dictionary(statistics.averages.map { ($0.day, $0.value) }) { $1 }
    let crossed = Set(year.milestones.filter { $0.tracker == tracker.id }.map(\.day))
    var all = year.entries.filter {
      $0.tracker == tracker.id && $0.day >= range.from ?? "" && $0.day <= range.to ?? "9"
    }
    if let item = asked.item { all = all.filter { $0.item == item } }
    if asked.withNotes == true { all = all.filter { $0.note != nil } }
    if asked.withMilestones == true { all = all.filter { crossed.contains($0.day) } }
    if let weekdays = asked.weekdays {
      all = all.filter { weekdays.contains(CivilDate(of: $0.day).weekday.abbreviation) }
    }
    let from = asked.offset ?? 0
    let page = all.reversed().dropFirst(from).prefix(asked.limit ?? 1_000).map { entry in
      var entry = entry
      guard tracker.kind == .measure else { return entry }
      entry.average = averages[entry.day]
      let before = CivilDate(of: entry.day).plus(-7).description
      let old = statistics.averages.last { $0.day <= before }?.value
      entry.rate = old.flatMap { old in entry.average.map { $0 - old } }
      return entry
    }
    return T.Entries.Reply(entries: Array(page), total: all.count)
  }
}
