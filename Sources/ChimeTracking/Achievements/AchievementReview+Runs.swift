import ChimeSchedule

// Runs over several trackers, and runs of weekends.
extension CriterionEvaluator {
  /// Returns the current number of consecutive days on which at least one tracker was met, or the longest if that
  /// reaches the target.
  mutating func streakOfAny(_ criterion: Criterion) throws -> Int {
    let trackers = scope(criterion)
    let firsts = try trackers.compactMap { try summary(of: $0).firstDay }
    let streak = StreakOfAny(trackers, since: firsts.min(), now: review.now, zone: review.zone)
    switch occasion {
    case .anew:
      var met: [TrackerID: Set<CivilDate>] = [:]
      for tracker in trackers { met[tracker.id] = Set(try totals(of: tracker).filter(\.isMet).map(\.day)) }
      let isMet = { (tracker: Tracker, day: CivilDate) in met[tracker.id]?.contains(day) ?? false }
      let longest = streak.longest(isMet: isMet)
      return longest >= criterion.target ? longest : streak.current(isMet: isMet).length
    case .entry(let change):
      for day in change.days.compactMap(\.date) {
        let length = try streak.length(around: day, atMost: criterion.target) {
          try dayTotal(of: $0, on: $1)?.isMet ?? false
        }
        if length >= criterion.target { return length }
      }
    case .item, .day: break
    }
    return try streak.current(atMost: criterion.target) { try dayTotal(of: $0, on: $1)?.isMet ?? false }.length
  }

  /// Returns the current number of consecutive weekends with an entry, or the longest if that reaches the target.
  /// Weekends that do not count or are not over neither break nor extend a run.
  mutating func weekends(_ criterion: Criterion, _ tracker: Tracker, _ summary: TrackerSummary) throws -> Int {
    guard let first = summary.firstDay, let last = summary.lastDay else { return 0 }
    let week = CalendarPeriod.week
    let today = max(review.today(of: tracker), last)
    var begin = week.index(of: first.number)
    switch occasion {
    case .anew: break
    // Only a run that contains a changed day, or the last run, can matter.
    case .entry(let change):
      let day = change.days.compactMap(\.date).min() ?? today
      begin = try weekend(criterion.target, before: min(day, today), tracker, since: begin)
    case .item, .day: begin = try weekend(criterion.target, before: today, tracker, since: begin)
    }
    let from = CivilDate(nearest: week.days(begin).lowerBound)
    let totals = try facts.dayTotals(of: tracker.id, in: min(from, today)...today)
    let done = Set(totals.filter { $0.count > 0 && $0.day.isWeekend }.map { week.index(of: $0.day.number) })
    let calendar = CountedCalendar(tracker)
    var (run, longest) = (0, 0)
    for index in stride(from: begin, through: week.index(of: today.number), by: 1) {
      if done.contains(index) {
        run += 1
      } else if week.days(index).upperBound < today.number, calendar.countsWeekend(index) {
        run = 0
      }
      longest = max(longest, run)
    }
    return longest >= criterion.target ? longest : run
  }

  /// Returns the week that lies `count` counted weekends before a day.
  private func weekend(_ count: Int, before day: CivilDate, _ tracker: Tracker, since first: Int) throws -> Int {
    let calendar = CountedCalendar(tracker)
    var (left, index) = (count, CalendarPeriod.week.index(of: day.number))
    while left > 0, index > first {
      index -= 1
      if calendar.countsWeekend(index) { left -= 1 }
    }
    return max(index, first)
  }
}

extension CountedCalendar {
  /// Returns whether the Saturday or the Sunday of a week counts.
  fileprivate func countsWeekend(_ week: Int) -> Bool {
    count(in: CalendarPeriod.week.days(week).upperBound - 1...CalendarPeriod.week.days(week).upperBound) > 0
  }
}

extension CivilDate {
  fileprivate var isWeekend: Bool { WeekdaySet.weekends.contains(weekday) }
}
