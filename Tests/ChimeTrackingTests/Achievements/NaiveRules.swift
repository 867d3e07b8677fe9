import ChimeSchedule
import ChimeTracking

/// Each criterion evaluated by rereading all entries: no totals, no summary, nothing cached.
struct NaiveRules {
  let world: AchievementFixture
  let experience: Int
  private let entries: [TrackerID: [Entry]]
  private let byDay: [TrackerID: [CivilDate: [Entry]]]

  init(world: AchievementFixture, experience: Int) {
    self.world = world
    self.experience = experience
    entries = Dictionary(grouping: world.entries.values, by: \.tracker)
    byDay = entries.mapValues { Dictionary(grouping: $0, by: \.day) }
  }

  private func entries(_ tracker: Tracker) -> [Entry] { entries[tracker.id] ?? [] }
  private func byDay(_ tracker: Tracker) -> [CivilDate: [Entry]] { byDay[tracker.id] ?? [:] }

  /// Returns the progress, which may exceed the target.
  func reached(_ criterion: Criterion) -> Int {
    let scope = world.trackers.filter { criterion.tracker == nil || $0.id == criterion.tracker }
    switch criterion.kind {
    case .level:
      var level = 1
      while (world.pack.levels ?? LevelCurve()).threshold(of: level + 1) <= experience { level += 1 }
      return level
    case .perfectWeek: return perfectWeeks(scope)
    case .streakOfAny: return streakOfAny(scope, target: criterion.target)
    case .entries: return scope.map { entries($0).count }.reduce(0, +)
    case .daysMet: return scope.map { tracker in days(tracker) { isMet($0, tracker) } }.reduce(0, +)
    case .entryBefore:
      return scope.map { tracker in
        days(tracker) { $0.contains { order($0.minute, tracker) < order(criterion.minute ?? 0, tracker) } }
      }.reduce(0, +)
    case .entryAfter:
      return scope.map { tracker in
        days(tracker) { $0.contains { order($0.minute, tracker) >= order(criterion.minute ?? 0, tracker) } }
      }.reduce(0, +)
    case .entryOnDate:
      return scope.map { days($0) { $0[0].day.month == criterion.month && $0[0].day.day == criterion.day } }.reduce(
        0, +)
    case .entryOnWeekday:
      return scope.map {
        days($0) { entries in
          (criterion.weekdays ?? []).contains(entries[0].day.weekday)
            && (criterion.day == nil || criterion.day == entries[0].day.day)
        }
      }.reduce(0, +)
    case .itemAnniversary:
      return scope.map { tracker in
        Set(
          entries(tracker).compactMap { entry -> String? in
            guard let item = entry.item.flatMap({ world.items[$0] }), let since = item.since,
              since.month == entry.day.month, since.day == entry.day.day, since.year < entry.day.year
            else { return nil }
            return "\(item.id) \(entry.day)"
          }
        ).count
      }.reduce(0, +)
    default: return scope.map { best(criterion, $0) }.max() ?? 0
    }
  }

  private func best(_ criterion: Criterion, _ tracker: Tracker) -> Int {
    let entries = entries(tracker)
    let today = world.today(tracker.id)
    let byDay = byDay(tracker)
    let items = world.items.values.filter { $0.tracker == tracker.id }
    let owned = items.filter { $0.since ?? today <= today && $0.until ?? .latest > today }
    switch criterion.kind {
    case .entriesInDay: return byDay.values.map(\.count).max() ?? 0
    case .amountInEntry:
      return entries.contains { $0.quantity.map { $0 >= criterion.amount ?? .zero } ?? false } ? 1 : 0
    case .shareOfGoal:
      guard tracker.kind == .amount, case .total(let goal)? = tracker.goal?.target else {
        guard tracker.kind == .check, case .count(let goal)? = tracker.goal?.target else { return 0 }
        return (byDay.values.map(\.count).max() ?? 0) * 100 / goal
      }
      return byDay.values.map { Int(sum($0).grains / 10 * 1_000 / goal.grains) }.max() ?? 0
    case .goalMet:
      if case .value(let value)? = tracker.goal?.target { return spans(entries, value) ? 1 : 0 }
      switch tracker.counting {
      case .timesAWeek(let times):
        return Dictionary(grouping: byDay.keys) { ($0.dayNumber + 3) / 7 }.values.contains { $0.count >= times } ? 1 : 0
      case .timesAMonth(let times):
        return Dictionary(grouping: byDay.keys) { $0.year * 12 + $0.month }.values.contains { $0.count >= times }
          ? 1 : 0
      default: return byDay.values.contains { isMet($0, tracker) } ? 1 : 0
      }
    case .streak:
      let (current, longest) = streaks(tracker, criterion.days)
      return longest >= criterion.target ? longest : current
    case .itemsOwned:
      return owned.count { item in
        criterion.attribute == nil
          || (item.attributes[criterion.attribute ?? ""].map { criterion.value == nil || $0 == criterion.value }
            ?? false)
      }
    case .entriesForItem: return items.map { item in entries.count { $0.item == item.id } }.max() ?? 0
    case .distinctValues where criterion.within == nil:
      return Set(owned.compactMap { $0.attributes[criterion.attribute ?? ""] }).count
    case .distinctValues:
      return windows(criterion, entries, today) { window in
        Set(window.compactMap { $0.item.flatMap { world.items[$0]?.attributes[criterion.attribute ?? ""] } }).count
      }
    case .itemsInDay:
      // Until a day reaches the target, only today's count matters.
      let most = byDay.filter { $0.key <= today }.mapValues { Set($0.compactMap(\.item)).count }
      return (most.values.max() ?? 0) >= criterion.target ? criterion.target : most[today] ?? 0
    case .distinctItems: return windows(criterion, entries, today) { Set($0.compactMap(\.item)).count }
    case .evenRotation:
      return windows(criterion, entries, today, isFull: true) { window in
        let counts = Dictionary(grouping: window.compactMap(\.item)) { $0 }.values.map(\.count)
        return counts.count >= criterion.minimum ?? 1 ? Self.evenness(counts) : 0
      }
    case .weekends: return weekends(tracker, target: criterion.target)
    case .firstItem: return items.isEmpty ? 0 : 1
    case .firstEntry: return entries.isEmpty ? 0 : 1
    case .anniversary:
      guard let first = entries.map(\.day).min() else { return 0 }
      var years = 0
      // The day itself, or the day after if the year lacks it.
      while let day = CivilDate(year: first.year + years + 1, month: first.month, day: first.day)
        ?? CivilDate(year: first.year + years + 1, month: 3, day: 1), day <= today
      { years += 1 }
      return years
    case .crossed: return spans(entries, criterion.amount ?? .zero) ? 1 : 0
    case .goalValue:
      if case .value(let value)? = tracker.goal?.target { return spans(entries, value) ? 1 : 0 }
      return 0
    case .daysSinceStart:
      var (days, day) = (0, tracker.startedOn)
      while day < today {
        days += 1
        day = day.plus(1)
      }
      return days
    default: return 0
    }
  }

  private func days(_ tracker: Tracker, _ holds: ([Entry]) -> Bool) -> Int {
    byDay(tracker).values.count(where: holds)
  }

  private func sum(_ entries: [Entry]) -> Quantity { entries.compactMap(\.quantity).reduce(.zero, +) }

  private func isMet(_ entries: [Entry], _ tracker: Tracker) -> Bool {
    switch tracker.goal?.target {
    case .total(let goal)?: sum(entries) >= goal
    case .count(let goal)?: entries.count >= goal
    default: !entries.isEmpty
    }
  }

  private func order(_ minute: Int, _ tracker: Tracker) -> Int {
    minute < tracker.dayStartsAt ? minute + 1_440 : minute
  }

  private func spans(_ entries: [Entry], _ amount: Quantity) -> Bool {
    let values = entries.compactMap(\.quantity)
    return values.contains { $0 <= amount } && values.contains { $0 >= amount }
  }

  /// Evaluates all windows up to today.
  private func windows(
    _ criterion: Criterion, _ entries: [Entry], _ today: CivilDate, isFull: Bool = false, _ measure: ([Entry]) -> Int
  ) -> Int {
    guard let first = entries.map(\.day).min(), first <= today else { return 0 }
    let worn = entries.filter { $0.item != nil }
    var last = 0
    var day = first
    while day <= today {
      let from = day.plus(1 - (criterion.within ?? 1))
      last = isFull && from < first ? 0 : measure(worn.filter { from <= $0.day && $0.day <= day })
      if last >= criterion.target { return last }
      day = day.plus(1)
    }
    return last
  }

  /// Moves one entry after the other from the most frequent to the least frequent.
  static func evenness(_ counts: [Int]) -> Int {
    var counts = counts
    let total = counts.reduce(0, +)
    var moves = 0
    while let most = counts.max(), let least = counts.min(), most - least > 1 {
      counts[counts.firstIndex(of: most) ?? 0] -= 1
      counts[counts.firstIndex(of: least) ?? 0] += 1
      moves += 1
    }
    return (total - moves) * 100 / total
  }

  private func isDue(_ tracker: Tracker, _ day: CivilDate) -> Bool {
    guard case .weekdays(let set) = tracker.counting, tracker.goal?.period ?? .day == .day else { return false }
    return day >= tracker.startedOn && set.contains(day.weekday) && !tracker.skips.contains(day)
      && !tracker.pauses.contains { $0.contains(day) }
  }

  private func perfectWeeks(_ scope: [Tracker]) -> Int {
    let met = scope.map { tracker in
      byDay(tracker).filter { isMet($0.value, tracker) }
    }
    var (weeks, run) = (0, 0)
    var day = AchievementFixture.start.plus(-30)
    while day <= (met.flatMap(\.keys).max() ?? AchievementFixture.start) {
      let due = scope.indices.filter { isDue(scope[$0], day) }
      if !due.isEmpty {
        run = due.allSatisfy { met[$0][day] != nil } ? run + 1 : 0
        if run == 7 { (weeks, run) = (weeks + 1, 0) }
      }
      day = day.plus(1)
    }
    return weeks
  }

  private func counts(_ tracker: Tracker, _ day: CivilDate) -> Bool {
    if case .weekdays(let set) = tracker.counting, !set.contains(day.weekday) { return false }
    return day >= tracker.startedOn && !tracker.skips.contains(day) && !tracker.pauses.contains { $0.contains(day) }
  }

  private func streakOfAny(_ scope: [Tracker], target: Int) -> Int {
    let met = scope.map { tracker in byDay(tracker).filter { isMet($0.value, tracker) } }
    let todays = scope.map { world.today($0.id) }
    var (run, longest) = (0, 0)
    var day = AchievementFixture.start.plus(-30)
    while day <= todays.max() ?? AchievementFixture.start {
      if met.contains(where: { $0[day] != nil }) {
        run += 1
      } else if !todays.contains(where: { day >= $0 }), scope.contains(where: { counts($0, day) }) {
        run = 0
      }
      longest = max(longest, run)
      day = day.plus(1)
    }
    return longest >= target ? longest : run
  }

  private func weekends(_ tracker: Tracker, target: Int) -> Int {
    let byDay = byDay(tracker)
    let today = world.today(tracker.id)
    guard let first = byDay.keys.min() else { return 0 }
    var (run, longest) = (0, 0)
    var saturday = first.plus(-14)
    while saturday.weekday != .saturday { saturday = saturday.plus(1) }
    while saturday <= today {
      let sunday = saturday.plus(1)
      if byDay[saturday] != nil || byDay[sunday] != nil {
        run += 1
      } else if sunday < today, counts(tracker, saturday) || counts(tracker, sunday) {
        run = 0
      }
      longest = max(longest, run)
      saturday = saturday.plus(7)
    }
    return longest >= target ? longest : run
  }

  /// Returns the streaks of a tracker whose days count singly.
  private func streaks(_ tracker: Tracker, _ days: Criterion.Days) -> (current: Int, longest: Int) {
    let byDay = byDay(tracker)
    let today = world.today(tracker.id)
    var (run, longest) = (0, 0)
    var day = AchievementFixture.start
    while day <= max(today, byDay.keys.max() ?? today) {
      let isOfThem =
        switch days {
        case .all: true
        case .weekdays: WeekdaySet.weekdays.contains(day.weekday)
        case .weekends: WeekdaySet.weekends.contains(day.weekday)
        }
      if isOfThem, isDue(tracker, day) {
        if let entries = byDay[day], isMet(entries, tracker) { run += 1 } else if day < today { run = 0 }
        longest = max(longest, run)
      }
      day = day.plus(1)
    }
    return (run, longest)
  }
}
