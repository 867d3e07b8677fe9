import ChimeSchedule

extension CriterionEvaluator {
  /// Returns the progress of a criterion, which may exceed the target.
  mutating func reached(_ criterion: Criterion, from kept: Int, experience: Int) throws -> Int {
    switch criterion.kind {
    case .level: return (review.curve ?? LevelCurve()).level(at: experience)
    case .perfectWeek: return try perfectWeeks(criterion, from: kept)
    case .streakOfAny: return try streakOfAny(criterion)
    case .entries, .daysMet, .entryBefore, .entryAfter, .entryOnDate, .entryOnWeekday, .itemAnniversary:
      return try counted(criterion, from: kept)
    default: return try best(criterion, from: kept)
    }
  }

  /// Returns a count that adds up over trackers. After one entry, only the difference is computed.
  private mutating func counted(_ criterion: Criterion, from kept: Int) throws -> Int {
    // Days of a limit are met without an entry.
    let isAnew = criterion.kind == .daysMet && scope(criterion).contains(where: \.isLimited)
    switch isAnew ? .anew : occasion {
    case .entry(let change):
      guard let tracker = scope(criterion).first(where: { $0.id == change.tracker }) else { return kept }
      if criterion.kind == .itemAnniversary {
        return try kept + anniversaries(change, tracker)
      }
      return change.days.reduce(kept) { sum, day in
        sum + count(day.after, criterion, tracker) - count(day.before, criterion, tracker)
      }
    case .item(let id, let before, let after):
      guard let tracker = scope(criterion).first(where: { $0.id == id }) else { return kept }
      return try kept + anniversaries(of: after, tracker) - anniversaries(of: before, tracker)
    case .day: return kept
    case .anew:
      var sum = 0
      for tracker in scope(criterion) {
        switch criterion.kind {
        case .entries: sum += try summary(of: tracker).entries
        case .daysMet: sum += try summary(of: tracker).metDays
        case .itemAnniversary:
          for item in try items(of: tracker) { sum += try anniversaries(of: item, tracker) }
        default: sum += try totals(of: tracker).reduce(0) { $0 + count($1, criterion, tracker) }
        }
      }
      return sum
    }
  }

  /// Returns how much a day adds to the count.
  private func count(_ total: DayTotal?, _ criterion: Criterion, _ tracker: Tracker) -> Int {
    guard let total, total.count > 0 else { return 0 }
    switch criterion.kind {
    case .entries: return total.count
    case .daysMet: return total.isMet ? 1 : 0
    case .entryBefore:
      return tracker.minuteOfDay(total.firstMinute) < tracker.minuteOfDay(criterion.minute ?? 0) ? 1 : 0
    case .entryAfter: return tracker.minuteOfDay(total.lastMinute) >= tracker.minuteOfDay(criterion.minute ?? 0) ? 1 : 0
    case .entryOnDate, .entryOnWeekday: return criterion.isOn(total.day) ? 1 : 0
    default: return 0
    }
  }

  /// Returns the best result of the trackers. After one added entry, only its tracker is evaluated, where that is enough.
  private mutating func best(_ criterion: Criterion, from kept: Int) throws -> Int {
    var trackers = scope(criterion)
    var best = 0
    switch occasion {
    // Runs of the other trackers may have ended since.
    case .entry(let change)
    where trackers.count > 1 && change.removed == nil && ![.streak, .weekends].contains(criterion.kind):
      trackers = trackers.filter { $0.id == change.tracker }
      best = kept
    default: break
    }
    for tracker in trackers { best = max(best, try reached(criterion, by: tracker, from: kept)) }
    return best
  }

  private mutating func reached(_ criterion: Criterion, by tracker: Tracker, from kept: Int) throws -> Int {
    let summary = try summary(of: tracker)
    switch criterion.kind {
    case .entriesInDay: return summary.mostEntriesInADay
    case .amountInEntry: return try hasAmount(criterion, tracker) ? 1 : 0
    case .shareOfGoal: return summary.bestShare / 10
    case .goalMet: return hasMetGoal(tracker, summary) ? 1 : 0
    case .streak: return streak(criterion, tracker, summary)
    case .itemsOwned: return try owned(tracker).count { criterion.isMet(by: $0) }
    case .entriesForItem: return try entriesForItem(tracker, from: kept)
    case .distinctValues where criterion.within == nil:
      return Set(try owned(tracker).compactMap { criterion.value(of: $0) }).count
    case .itemsInDay, .distinctValues, .distinctItems, .evenRotation: return try inWindows(criterion, tracker, summary)
    case .weekends: return try weekends(criterion, tracker, summary)
    case .firstItem: return try items(of: tracker).isEmpty ? 0 : 1
    case .firstEntry: return summary.entries > 0 ? 1 : 0
    case .anniversary: return summary.firstDay.map { years(from: $0, to: review.today(of: tracker)) } ?? 0
    case .crossed: return spans(criterion.amount, summary) ? 1 : 0
    case .goalValue: return spans(tracker.goalValue, summary) ? 1 : 0
    case .daysSinceStart: return Int(review.today(of: tracker).dayNumber) - Int(tracker.startedOn.dayNumber)
    default: return 0
    }
  }

  private mutating func hasAmount(_ criterion: Criterion, _ tracker: Tracker) throws -> Bool {
    guard let amount = criterion.amount else { return false }
    if case .entry(let change) = occasion {
      // While the achievement is locked, no other day or tracker has such an amount.
      return change.tracker == tracker.id && change.days.contains { $0.after?.most.map { $0 >= amount } ?? false }
    }
    return try totals(of: tracker).contains { $0.most.map { $0 >= amount } ?? false }
  }

  private func hasMetGoal(_ tracker: Tracker, _ summary: TrackerSummary) -> Bool {
    if let value = tracker.goalValue { return spans(value, summary) }
    return tracker.streakUnit == .days ? summary.metDays > 0 : summary.longest.length > 0
  }

  /// Returns the current streak, or the longest if that reaches the target.
  private func streak(_ criterion: Criterion, _ tracker: Tracker, _ summary: TrackerSummary) -> Int {
    let today = max(review.today(of: tracker), summary.lastDay ?? .earliest)
    let form = ProgressAggregator(tracker).form(of: summary, on: today)
    let (current, longest) =
      switch criterion.days {
      case .all: (form.streak.length, form.longest.length)
      case .weekdays: (form.weekdayStreak.length, summary.longestWeekdays.length)
      case .weekends: (form.weekendStreak.length, summary.longestWeekends.length)
      }
    return longest >= criterion.target ? longest : current
  }

  private mutating func entriesForItem(_ tracker: Tracker, from kept: Int) throws -> Int {
    if case .entry(let change) = occasion, change.tracker == tracker.id {
      if change.removed?.item == change.added?.item { return kept }
      if change.removed?.item == nil, let item = change.added?.item { return max(kept, try count(of: item, tracker)) }
    }
    var most = 0
    for item in try items(of: tracker) { most = max(most, try count(of: item.id, tracker)) }
    return most
  }

  private mutating func owned(_ tracker: Tracker) throws -> [Item] {
    let today = review.today(of: tracker)
    return try items(of: tracker).filter { item in
      item.since.map { $0 <= today } ?? true && item.until.map { $0 > today } ?? true
    }
  }

  private func spans(_ amount: Quantity?, _ summary: TrackerSummary) -> Bool {
    guard let amount, let least = summary.least, let most = summary.most else { return false }
    return least <= amount && amount <= most
  }
}

extension Criterion {
  func isOn(_ day: CivilDate) -> Bool {
    let fields = day.fields
    switch kind {
    case .entryOnDate: return fields.month == month && fields.day == self.day
    case .entryOnWeekday:
      return weekdays?.contains(day.weekday) ?? false && (self.day.map { $0 == fields.day } ?? true)
    default: return true
    }
  }

  /// Returns whether an item counts.
  func isMet(by item: Item) -> Bool {
    guard attribute != nil else { return true }
    guard let found = value(of: item) else { return false }
    return value.map { $0 == found } ?? true
  }

  /// Returns the item's value of the criterion's attribute; nil if it has none.
  func value(of item: Item) -> String? {
    attribute.flatMap { item.attributes[$0] }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Returns the full years between two days.
func years(from first: CivilDate, to last: CivilDate) -> Int {
  let (a, b) = (first.fields, last.fields)
  return b.year - a.year - ((b.month, b.day) < (a.month, a.day) ? 1 : 0)
}
