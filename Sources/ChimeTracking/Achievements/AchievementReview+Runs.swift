import ChimeSchedule

// Runs over several trackers, and of weekends.
extension CriterionEvaluator {
  /// The days running on which one of the trackers at least was met; the longest as soon as that is enough.
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
      return longest >= criterion.target ? longest : streak.standing(isMet: isMet).length
    case .entry(let change):
      for day in change.days.compactMap(\.date) {
        let length = try streak.length(around: day, atMost: criterion.target) {
          try dayTotal(of: $0, on: $1)?.isMet ?? false
        }
        if length >= criterion.target { return length }
      }
    case .item, .day: break
    }
    return try streak.standing(atMost: criterion.target) { try dayTotal(of: $0, on: $1)?.isMet ?? false }.length
  }

  /// The weekends running that have an entry; the longest as soon as that is enough. One that does not count, and one that is
  /// not over, neither breaks a run nor adds to it.
  mutating func weekends(_ criterion: Criterion, _ tracker: Tracker, _ summary: TrackerSummary) throws -> Int {
    guard let first = summary.firstDay, let last = summary.lastDay else { return 0 }
    let week = CalendarPeriod.week
    let today = max(review.today(of: tracker), last)
    var begin = week.index(of: first.number)
    switch occasion {
    case .anew: break
    // Only a run that has a changed day, or the last one, is of interest.
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

  /// The week that is so many weekends that count before a day's.
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
  /// Whether the Saturday or the Sunday of a week counts.
  fileprivate func countsWeekend(_ week: Int) -> Bool {
    count(in: CalendarPeriod.week.days(week).upperBound - 1...CalendarPeriod.week.days(week).upperBound) > 0
  }
}

extension CivilDate {
  fileprivate var isWeekend: Bool { WeekdaySet.weekends.contains(weekday) }
}
