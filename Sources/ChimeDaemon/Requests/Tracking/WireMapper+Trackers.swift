import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Trackers and their records. Numbers are in the unit of the tracker.
extension WireMapper {
  typealias Wired = TrackersInterface

  func number(_ quantity: Quantity, _ unit: Unit?) -> Double { Self.number(quantity, unit) }

  static func number(_ quantity: Quantity, _ unit: Unit?) -> Double {
    unit.map { quantity.value(in: $0) } ?? Double(quantity.grains) / Double(Quantity.one.grains)
  }

  func tracker(_ tracker: Tracker) -> Wired.Tracker {
    Wired.Tracker(
      id: tracker.id.rawValue, title: tracker.title.texts, verb: tracker.verb?.texts,
      kind: Wired.Tracker.Kind(rawValue: tracker.kind.rawValue) ?? .check, unit: tracker.unit?.symbol,
      decimals: tracker.decimals, goal: tracker.goal.map { Self.goal($0, of: tracker) },
      presets: tracker.presets.map { number($0, tracker.unit) }, usual: tracker.usual.map { number($0, tracker.unit) },
      counting: Self.counting(tracker.counting),
      formerWeekdays: tracker.formerWeekdays.map {
        Wired.FormerWeekdays(until: $0.until.description, weekdays: Self.names($0.weekdays))
      }, dayStartsAt: Self.clock(tracker.dayStartsAt),
      timeOfDay: Wired.Tracker.TimeOfDay(rawValue: tracker.timeOfDay.rawValue) ?? .anytime,
      pauses: tracker.pauses.map(range),
      skips: tracker.skips.map(\.description), skipsEachMonth: tracker.skipsEachMonth, hasItems: tracker.hasItems,
      fields: tracker.fields.mapValues(\.symbol), milestoneStep: tracker.milestoneStep.map { number($0, tracker.unit) },
      stock: tracker.stock.map {
        Wired.Stock(
          quantity: number($0.quantity, tracker.unit), since: time($0.since ?? tracker.createdAt), warnDays: $0.warnDays
        )
      },
      icon: tracker.icon, pack: tracker.pack?.rawValue, experience: tracker.experience,
      startedOn: tracker.startedOn.description, createdAt: time(tracker.createdAt))
  }

  /// Returns the draft that would make this tracker, without its kind and its days.
  static func draft(of tracker: Tracker) -> Wired.TrackerDraft {
    Wired.TrackerDraft(
      id: tracker.id.rawValue, title: tracker.title.texts, verb: tracker.verb?.texts, unit: tracker.unit?.symbol,
      decimals: tracker.kind == .check && tracker.decimals == 0 ? nil : tracker.decimals,
      goal: tracker.goal.map { goal($0, of: tracker) }, presets: tracker.presets.map { number($0, tracker.unit) },
      usual: tracker.usual.map { number($0, tracker.unit) }, counting: counting(tracker.counting),
      skipsEachMonth: tracker.skipsEachMonth, fields: tracker.fields.mapValues(\.symbol),
      milestoneStep: tracker.milestoneStep.map { number($0, tracker.unit) },
      stock: tracker.stock.map { number($0.quantity, tracker.unit) }, warnDays: tracker.stock?.warnDays,
      icon: tracker.icon)
  }

  private static func goal(_ goal: Goal, of tracker: Tracker) -> Wired.Goal {
    let period = Wired.Goal.Period(rawValue: goal.period.rawValue)
    let atMost = goal.isAtMost ? true : nil
    switch goal.target {
    case .count(let count): return Wired.Goal(count: count, period: period, atMost: atMost)
    case .total(let total):
      return Wired.Goal(total: number(total, tracker.unit), period: period, atMost: atMost)
    case .value(let value): return Wired.Goal(value: number(value, tracker.unit))
    }
  }

  private static func names(_ weekdays: WeekdaySet) -> [String] {
    Weekday.allCases.filter(weekdays.contains).map(\.abbreviation)
  }

  static func counting(_ counting: CountedDays) -> Wired.Counting {
    switch counting {
    case .weekdays(let set):
      Wired.Counting(weekdays: names(set))
    case .timesAWeek(let times): Wired.Counting(times: times, per: .week)
    case .timesAMonth(let times): Wired.Counting(times: times, per: .month)
    case .rolling(let times, let days): Wired.Counting(times: times, per: .days, days: days)
    }
  }

  /// Formats a minute of the day as HH:MM.
  static func clock(_ minute: Int) -> String {
    let text = CivilTime(hour: minute / 60, minute: minute % 60)?.description ?? "00:00"
    return String(text.prefix(5))
  }

  func range(_ days: ClosedRange<CivilDate>) -> Wired.Range {
    Wired.Range(from: days.lowerBound.description, to: days.upperBound.description)
  }

  func entry(_ entry: Entry, of tracker: Tracker) -> Wired.Entry {
    Wired.Entry(
      id: Int(entry.id.rawValue), tracker: entry.tracker.rawValue, at: time(entry.at), day: entry.day.description,
      value: entry.quantity.map { number($0, tracker.unit) },
      unit: entry.quantity == nil ? nil : tracker.unit?.symbol,
      fields: Dictionary(
        uniqueKeysWithValues: entry.fields.map { ($0.key, number($0.value, tracker.fields[$0.key])) }),
      item: entry.item?.rawValue, note: entry.note, photo: entry.photo)
  }

  /// - Parameter lastAt: the time of the latest entry.
  func progress(_ progress: GoalProgress, of tracker: Tracker, lastAt: Instant?) -> Wired.GoalProgress {
    // Counts of entries and days have no unit.
    let unit: Unit?
    switch progress.wanted?.kind {
    case .entries, .days: unit = nil
    case .total, .value, nil: unit = tracker.unit
    }
    return Wired.GoalProgress(
      tracker: self.tracker(tracker), day: progress.day.description, entries: progress.total?.count ?? 0,
      total: tracker.kind == .amount ? number(progress.total?.total ?? .zero, tracker.unit) : nil,
      value: progress.value.map { number($0, tracker.unit) }, reached: progress.reached.map { number($0, unit) },
      remaining: progress.remaining.map { number($0, unit) }, percent: progress.percent, met: progress.isMet,
      limit: progress.limit.map(limit),
      counts: progress.counts, reason: progress.whyNotCounted?.rawValue, streak: streak(progress.form.streak),
      longest: streak(progress.form.longest), strength: progress.form.strength, number: progress.number,
      numberThisMonth: progress.numberThisMonth, countedThisMonth: progress.countedThisMonth,
      lastAt: lastAt.map { time($0) })
  }

  func stock(_ level: StockLevel, of tracker: Tracker) -> Wired.StockLevel {
    let grains = Double(tracker.unit.map(\.grains) ?? Quantity.one.grains)
    return Wired.StockLevel(
      tracker: tracker.id.rawValue, title: tracker.title.texts, unit: tracker.unit?.symbol,
      left: number(level.left, tracker.unit),
      shortfall: level.shortfall == .zero ? nil : number(level.shortfall, tracker.unit),
      rate: level.rate.map { ($0 / grains * 1_000).rounded() / 1_000 }, days: level.days,
      until: level.until?.description, warnDays: tracker.stock?.warnDays ?? Stock.usualWarnDays,
      state: stock(level.state))
  }

  func stock(_ state: Stock.State) -> Wired.StockLevel.State {
    switch state {
    case .enough: .enough
    case .low: .low
    case .empty: .empty
    }
  }

  func limit(_ state: LimitState) -> Wired.GoalProgress.Limit {
    switch state {
    case .under: .under
    case .near: .near
    case .exceeded: .exceeded
    }
  }

  func streak(_ streak: Streak) -> Wired.Streak {
    Wired.Streak(
      length: streak.length, unit: Wired.Streak.Unit(rawValue: streak.unit.rawValue) ?? .days,
      first: streak.first?.description, last: streak.last?.description)
  }

  func day(_ day: CalendarDay, of tracker: Tracker) -> Wired.DayTotal {
    Wired.DayTotal(
      day: day.day.description, entries: day.total?.count ?? 0,
      total: tracker.kind == .amount ? day.total.map { number($0.total, tracker.unit) } : nil,
      value: tracker.kind == .measure ? day.total?.last.map { number($0, tracker.unit) } : nil, met: day.isMet,
      limit: day.limit.map(limit), counts: day.counts, percent: day.percent, number: day.number,
      reason: day.whyNotCounted?.rawValue)
  }

  func item(_ item: Item, count: ItemCount?) -> Wired.Item {
    Wired.Item(
      id: item.id.rawValue, tracker: item.tracker.rawValue, title: item.title, attributes: item.attributes,
      since: item.since?.description, until: item.until?.description, note: item.note, photo: item.photo,
      entries: count?.count ?? 0, lastDay: count?.lastDay?.description)
  }

  func milestone(_ milestone: Milestone, unit: Unit?) -> Wired.Milestone {
    Wired.Milestone(
      id: Int(milestone.id), tracker: milestone.tracker.rawValue, day: milestone.day.description,
      title: milestone.title, note: milestone.note, photo: milestone.photo,
      value: milestone.value.map { number($0, unit) })
  }

  /// - Parameter shown: the progress to show, if it differs from that of the criterion.
  func achievement(
    _ achievement: Achievement, of pack: Pack, _ progress: AchievementProgress?,
    shown: (reached: Int, target: Int)? = nil
  ) -> Wired.Achievement {
    let target = shown?.target ?? achievement.criterion.target
    return Wired.Achievement(
      pack: pack.id.rawValue, id: achievement.id.rawValue, title: achievement.title.texts, text: achievement.text.texts,
      category: achievement.category,
      categoryTitle: achievement.category.flatMap { pack.categories[$0]?.texts }, icon: achievement.icon,
      experience: achievement.experience,
      reached: shown?.reached ?? progress.map { $0.unlockedAt == nil ? min($0.reached, target) : target } ?? 0,
      target: target,
      unlockedAt: progress?.unlockedAt.map { time($0) })
  }

  /// - Returns: nil for a pack without levels.
  func level(of pack: Pack, experience: Int) -> Wired.Level? {
    guard let curve = pack.levels else { return nil }
    let level = curve.level(at: experience)
    let from = curve.threshold(of: level)
    return Wired.Level(
      pack: pack.id.rawValue, level: level, experience: experience, from: from,
      next: curve.next(after: experience) ?? from)
  }

  func quote(_ quote: Quote, of pack: Pack?) -> Wired.Quote {
    Wired.Quote(
      text: quote.text, language: quote.language, translation: quote.translation?.texts, source: quote.source,
      category: quote.category, categoryTitle: pack?.categories[quote.category]?.texts)
  }

  /// - Parameter text: nil: no pack has a text, and clients use their own.
  func mood(_ mood: Mood, _ text: MoodText?) -> Wired.Mood {
    Wired.Mood(
      kind: Wired.Mood.Kind(rawValue: mood.rawValue) ?? .noHabits, title: text?.title.texts ?? [:],
      message: text?.message.texts ?? [:], next: text?.next.texts ?? [:])
  }

  func undoable(_ change: TrackingChange) -> Wired.Undoable {
    Wired.Undoable(
      id: Int(change.id), at: time(change.at), kind: change.kind.rawValue, tracker: change.tracker?.rawValue,
      subject: change.subject)
  }
}

extension WireMapper {
  /// - Parameter items: the items of the tracker, with their use in the range.
  func statistics(
    _ statistics: Statistics, of tracker: Tracker, form: Form, packStreak: Wired.Streak?, items: [Wired.Item]
  ) -> Wired.Statistics {
    Wired.Statistics(
      tracker: self.tracker(tracker), range: range(statistics.range), entries: statistics.entries,
      total: statistics.total, dailyAverage: statistics.dailyAverage, first: statistics.first.map(point),
      last: statistics.last.map(point), least: statistics.least.map(point), most: statistics.most.map(point),
      points: statistics.points.map(point), averages: statistics.averages.map(point),
      averageDays: statistics.averageDays, weeklyRate: statistics.weeklyRate,
      direction: statistics.direction.flatMap { Wired.GoalProgress.Direction(rawValue: $0.rawValue) },
      trend: statistics.trend,
      prediction: statistics.prediction.map {
        Wired.Prediction(day: $0.day.description, value: $0.value, low: $0.low, high: $0.high)
      }, goalOn: statistics.goalOn?.description, weeks: statistics.weeks.map(period),
      months: statistics.months.map(period), metDays: statistics.metDays, dueDays: statistics.dueDays,
      streak: streak(form.streak), longest: streak(form.longest), packStreak: packStreak,
      strength: form.strength,
      evenness: statistics.evenness, items: items, missingData: statistics.missingData.map(\.rawValue))
  }

  private func point(_ point: Statistics.Point) -> Wired.Point {
    Wired.Point(day: point.day.description, value: point.value)
  }

  private func period(_ period: Statistics.Period) -> Wired.Period {
    Wired.Period(
      from: period.days.lowerBound.description, to: period.days.upperBound.description, entries: period.entries,
      total: period.total, average: period.average, met: period.met, due: period.due)
  }
}

extension WireMapper {
  /// - Parameters:
  ///   - trackers: the current trackers of the pack.
  ///   - reminders: the existing reminders by key; `when` is nil where the schedule is that of the pack.
  ///   - hasPlace: whether a place is configured. Without one, some reminders go by the clock instead of the sun.
  func pack(
    _ pack: Pack, _ installed: InstalledPack?, trackers: [Tracker],
    reminders: [String: (id: ReminderID, when: String?)], hasPlace: Bool
  ) -> Wired.Pack {
    let units = Dictionary(trackers.map { ($0.id, $0.unit) }) { first, _ in first }
    return Wired.Pack(
      id: pack.id.rawValue, title: pack.title.texts, text: pack.text.texts, version: pack.version, icon: pack.icon,
      installedAt: installed.map { time($0.installedAt) }, shipped: ShippedPacks.names.contains(pack.id.rawValue),
      trackers: trackers.map(tracker),
      reminders: pack.reminders.map {
        let there = reminders[$0.key]
        return Wired.PackReminder(
          key: $0.key, title: $0.title.texts,
          when: there?.when ?? (hasPlace ? nil : $0.whenWithoutPlace) ?? $0.when, tracker: $0.tracker.rawValue,
          optional: $0.isOptional, id: there?.id.rawValue)
      }, achievements: pack.achievements.count,
      choices: Dictionary(
        uniqueKeysWithValues: pack.choices.map { id, choice in
          let unit = units[id] ?? nil
          return (
            id.rawValue,
            Wired.Choice(
              least: number(choice.least, unit), most: number(choice.most, unit), step: number(choice.step, unit),
              presets: choice.presets.map { $0.map { number($0, unit) } })
          )
        }),
      milestoneSteps: pack.milestoneSteps.isEmpty
        ? nil
        : pack.milestoneSteps.sorted { $0.key < $1.key }.flatMap { tracker, steps in
          steps.map { offered in
            Wired.StepChoice(
              tracker: tracker.rawValue, unit: offered.unit.symbol,
              steps: offered.steps.map { number($0, offered.unit) })
          }
        })
  }
}
