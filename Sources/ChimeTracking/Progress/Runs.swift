public import ChimeSchedule

extension ProgressAggregator {
  /// Returns a tracker's form on a day: its current runs and its remaining strength.
  ///
  /// - Parameter day: not before the summary's `lastDay`. For an earlier day, use the summary of the totals up to it.
  ///
  ///     // Done on Monday and Tuesday; nothing on Wednesday yet
  ///     aggregator.form(of: summary, on: wednesday).streak.length   // 2
  ///     aggregator.form(of: summary, on: thursday).streak.length    // 0
  public func form(of summary: TrackerSummary, on day: CivilDate) -> Form {
    let today = day.number
    if tracker.isLimited { return form(ofLimit: closed(summary, before: day), on: day) }
    return Form(
      streak: current(summary, on: today), weekdayStreak: current(summary.weekdayRun, on: today, of: .weekdays),
      weekendStreak: current(summary.weekendRun, on: today, of: .weekends), longest: longest(summary, on: today),
      strength: strength(of: summary, on: day))
  }

  /// Returns the strength on a day that is not over: the day can raise it at once, but lowers it only at its end.
  private func strength(of summary: TrackerSummary, on day: CivilDate) -> Double {
    guard let last = summary.strengthDay else { return 0 }
    if last >= day { return max(summary.carry.settled, summary.strength) }
    let before = strength(of: summary, beforeDay: day.number)
    guard rule(on: day.number).target != nil, calendar.contains(day.number) else { return before }
    return max(before, strength(of: summary, beforeDay: day.number + 1))
  }

  private func current(_ summary: TrackerSummary, on today: Int) -> Streak {
    let none = Streak(unit: tracker.streakUnit)
    if let period = tracker.streakPeriod {
      return stands(summary.carry, before: period.index(of: today), period) ? summary.run : none
    }
    guard case .rolling = tracker.counting else { return current(summary.run, on: today, of: .everyDay) }
    let positions = (yesterday: calendar.position(today - 1), today: calendar.position(today))
    guard let stretch = summary.carry.rolling?.current(upTo: positions.today), stretch.last >= positions.yesterday
    else { return none }
    return streak(stretch)
  }

  private func longest(_ summary: TrackerSummary, on today: Int) -> Streak {
    guard case .rolling = tracker.counting else { return summary.longest }
    return summary.carry.rolling?.longest(upTo: calendar.position(today)).map(streak) ?? summary.longest
  }

  /// Returns the run; of length 0 if a counted day has passed since its end.
  func current(_ run: Streak, on today: Int, of set: WeekdaySet) -> Streak {
    guard let last = run.last else { return Streak(unit: run.unit) }
    return calendar.count(last.number + 1, today - 1, of: set) == 0 ? run : Streak(unit: run.unit)
  }

  // Days.

  /// Adds the newest met and counted day to the runs.
  func addMetDay(_ day: CivilDate, to summary: inout TrackerSummary) {
    let set = WeekdaySet.weekends.contains(day.weekday) ? WeekdaySet.weekends : .weekdays
    if set == .weekends {
      extend(&summary.weekendRun, &summary.longestWeekends, by: day, of: set)
    } else {
      extend(&summary.weekdayRun, &summary.longestWeekdays, by: day, of: set)
    }
    guard tracker.streakPeriod == nil else { return }
    guard case .rolling(let times, let days) = tracker.counting else {
      return extend(&summary.run, &summary.longest, by: day, of: .everyDay)
    }
    let position = calendar.position(day.number)
    let daily = times >= days
    let back = daily ? 0 : max(times, 1) - 1
    // `recent` may already contain the newest day.
    let earlier = summary.carry.recent.filter { $0.day != day.number }
    let first =
      back == 0 ? position : back <= earlier.count ? calendar.position(earlier[earlier.count - back].day) : nil
    var runs = summary.carry.rolling ?? RollingRuns()
    runs.add(position, first: first, days: daily ? 1 : days)
    summary.carry.rolling = runs
    if let run = runs.current(upTo: position) { summary.run = streak(run) }
    if let run = runs.longest(upTo: position) { summary.longest = streak(run) }
  }

  private func extend(_ run: inout Streak, _ longest: inout Streak, by day: CivilDate, of set: WeekdaySet) {
    if let last = run.last, calendar.count(last.number + 1, day.number - 1, of: set) == 0 {
      run.length += 1
    } else {
      run = Streak(length: 1, unit: .days, first: day)
    }
    run.last = day
    if run.length > longest.length { longest = run }
  }

  private func streak(_ stretch: RollingRuns.Stretch) -> Streak {
    Streak(
      length: stretch.length, first: calendar.day(at: stretch.first).map(CivilDate.init(nearest:)),
      last: calendar.day(at: stretch.last).map(CivilDate.init(nearest:)))
  }

  // Weeks and months.

  func addToPeriod(_ new: DayTotal, _ old: DayTotal?, becameMet: Bool, to summary: inout TrackerSummary) {
    guard let period = tracker.streakPeriod else { return }
    let index = period.index(of: new.day.number)
    var tally = summary.carry.period ?? TrackerSummary.PeriodTally(index: index)
    if tally.index != index {
      if stands(summary.carry, before: index, period, includingEmpty: false) { summary.carry.stands = tally.index }
      tally = TrackerSummary.PeriodTally(index: index)
    }
    tally.entries += new.count - (old?.count ?? 0)
    tally.total = tally.total + (new.total - (old?.total ?? .zero))
    if becameMet { tally.metDays += 1 }
    if !tally.isMet, quota(period, index).isMet(by: tally), calendar.count(in: period.days(index)) > 0 {
      tally.isMet = true
      let days = period.days(index)
      if summary.run.length > 0, stands(summary.carry, before: index, period) {
        summary.run.length += 1
      } else {
        summary.run = Streak(length: 1, unit: tracker.streakUnit, first: CivilDate(nearest: days.lowerBound))
      }
      summary.run.last = CivilDate(nearest: days.upperBound)
      if summary.run.length > summary.longest.length { summary.longest = summary.run }
      summary.carry.stands = index
    }
    summary.carry.period = tally
  }

  /// Returns whether the run of weeks or months lasts up to the one before `index`.
  ///
  /// A period that misses its goal breaks it, unless it has the share of the goal that its counted days ask for.
  ///
  /// - Parameter includingEmpty: whether to check the periods between the newest one with entries and `index` too.
  private func stands(
    _ carry: TrackerSummary.Carry, before index: Int, _ period: CalendarPeriod, includingEmpty: Bool = true
  ) -> Bool {
    guard var stands = carry.stands, let tally = carry.period else { return false }
    if stands >= index { return true }
    if tally.index > stands, tally.index < index {
      guard nothingCounted(after: stands, before: tally.index, period),
        quota(period, tally.index).isExcused(tally)
      else { return false }
      stands = tally.index
    }
    return !includingEmpty || nothingCounted(after: stands, before: index, period)
  }

  private func nothingCounted(after first: Int, before last: Int, _ period: CalendarPeriod) -> Bool {
    calendar.count(period.days(first).upperBound + 1, period.days(last).lowerBound - 1) == 0
  }

  func quota(_ period: CalendarPeriod, _ index: Int) -> PeriodQuota {
    let days = period.days(index)
    return PeriodQuota(
      tracker, period, counted: calendar.count(in: days),
      asked: calendar.asked(days.lowerBound, days.upperBound))
  }
}

extension CountedCalendar {
  func count(in days: ClosedRange<Int>) -> Int { count(days.lowerBound, days.upperBound) }
}

/// A PeriodQuota is what a week or a month asks for.
struct PeriodQuota {
  /// The number of met days; nil if it does not matter.
  var days: Int?
  /// The number of entries, or the total in grains; nil if it does not matter.
  var entries: Int64?
  var total: Int64?
  /// The number of counted days, and the number without pauses, skips and a start in the middle.
  var counted: Int
  var asked: Int

  init(_ tracker: Tracker, _ period: CalendarPeriod, counted: Int, asked: Int) {
    self.counted = counted
    self.asked = asked
    switch tracker.counting {
    case .timesAWeek(let times), .timesAMonth(let times): days = max(times, 1)
    case .weekdays, .rolling: break
    }
    if let goal = tracker.goal, goal.period.calendar == period {
      switch goal.target {
      case .count(let count): entries = Int64(count)
      case .total(let wanted): total = wanted.grains
      case .value: break
      }
    }
  }

  func isMet(by tally: TrackerSummary.PeriodTally) -> Bool { has(tally) { $0 } }

  /// Returns whether it has the share of the goal that falls to the counted days, rounded up.
  func isExcused(_ tally: TrackerSummary.PeriodTally) -> Bool { counted == 0 || has(tally, share) }

  private func has(_ tally: TrackerSummary.PeriodTally, _ part: (Int64) -> Int64) -> Bool {
    if let days, tally.metDays < part(Int64(days)) { return false }
    if let entries, tally.entries < part(entries) { return false }
    if let total, tally.total.grains < part(total) { return false }
    return true
  }

  private func share(_ whole: Int64) -> Int64 {
    guard whole > 0, counted < asked else { return whole }
    let product = whole.multipliedFullWidth(by: Int64(counted))
    let (quotient, remainder) = Int64(asked).dividingFullWidth(product)
    return quotient + (remainder > 0 ? 1 : 0)
  }
}
