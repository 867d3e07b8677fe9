import ChimeSchedule
import ChimeTracking
import Testing

@Suite struct ProgressTests {
  /// Returns a tracker's progress after entries, given as day and amount (nil for a check).
  private func progress(_ tracker: Tracker, _ entries: [(Int, Quantity?)], on today: Int) -> GoalProgress {
    let aggregator = ProgressAggregator(tracker)
    let totals = aggregator.totals(
      of: entries.filter { $0.0 <= today }.enumerated().map {
        .sample(Int64($0), of: tracker, on: monday.plus($1.0), minute: 600 + $0, $1.1)
      })
    let reads = GoalProgress.reads(tracker, on: monday.plus(today))
    return GoalProgress(
      tracker, on: monday.plus(today), summary: aggregator.summary(of: totals),
      totals: totals.filter { reads.contains($0.day) })
  }

  @Test func amountAddsUpToItsGoal() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(2500))))
    let entries: [(Int, Quantity?)] = [(0, .ml(250)), (0, .ml(500)), (1, .ml(2500)), (1, .ml(250))]
    let first = progress(tracker, entries, on: 0)
    #expect(first.reached == .ml(750) && first.remaining == .ml(1750) && first.percent == 30)
    #expect(!first.isMet && !first.isReached && first.counts)
    let second = progress(tracker, entries, on: 1)
    #expect(second.reached == .ml(2750) && second.remaining == .zero && second.percent == 110)
    #expect(second.isMet && second.isReached && second.counts)
    #expect(second.wanted == GoalProgress.Wanted(.total, .ml(2500), each: .day))
    let third = progress(tracker, entries, on: 2)
    #expect(third.reached == .zero && third.remaining == .ml(2500) && third.percent == 0 && third.total == nil)
  }

  /// 2,499.999 ml is not the goal, and not 100 % either.
  @Test func almostReachedGoalIsNotMet() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(2500))))
    let progress = progress(tracker, [(0, .ml(2499.999))], on: 0)
    #expect(progress.percent == 99 && !progress.isMet)
  }

  /// A day keeps the goal that it had.
  @Test func dayKeepsItsEarlierGoal() {
    var tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(2000))))
    let total = ProgressAggregator(tracker).total(nil, adding: .sample(1, of: tracker, on: monday, .ml(2000)))
    tracker.goal = Goal(.total(.ml(4000)))
    let summary = ProgressAggregator(tracker).summary(of: [total])
    let then = GoalProgress(tracker, on: monday, summary: summary, totals: [total])
    #expect(then.percent == 100 && then.isMet)
    let next = GoalProgress(tracker, on: monday.plus(1), summary: summary, totals: [total])
    #expect(next.remaining == .ml(4000))
  }

  @Test func checkCountsItsEntries() {
    let twice = Tracker.sample(goal: Goal(.count(2)))
    let once = progress(twice, [(0, nil)], on: 0)
    #expect(once.reached == .one && once.remaining == .one && once.percent == 50 && !once.isMet)
    let plain = progress(.sample(), [(0, nil)], on: 0)
    #expect(plain.percent == 100 && plain.isMet && plain.remaining == .zero)
  }

  @Test func amountWithoutAGoalHasNoRemainder() {
    let progress = progress(.sample(.amount), [(0, .ml(300))], on: 0)
    #expect(
      progress.reached == .ml(300) && progress.remaining == nil && progress.percent == nil && progress.wanted == nil)
    #expect(progress.isMet && !progress.isReached)
  }

  /// Three times a week: after the third, the other days are not due.
  @Test func reachedWeeklyCountFreesTheOtherDays() {
    let tracker = Tracker.sample(counting: .timesAWeek(3))
    let entries: [(Int, Quantity?)] = [(0, nil), (1, nil), (2, nil), (4, nil)]
    let third = progress(tracker, entries, on: 2)
    #expect(third.counts && third.isMet && third.isReached && third.reached == .ones(3))
    let fourth = progress(tracker, entries, on: 3)
    #expect(fourth.whyNotCounted == .enough && !fourth.isMet && fourth.percent == 100)
    #expect(progress(tracker, entries, on: 4).percent == 133)
    let monday = progress(tracker, entries, on: 7)
    #expect(monday.counts && monday.reached == .zero && monday.remaining == .ones(3))
  }

  @Test func reachedMonthlyAndRollingCountsFreeTheOtherDays() {
    let monthly = Tracker.sample(counting: .timesAMonth(1))
    #expect(progress(monthly, [(5, nil)], on: 30).whyNotCounted == .enough)
    #expect(progress(monthly, [(5, nil)], on: 31).counts)
    let rolling = Tracker.sample(counting: .rolling(times: 2, days: 5), pauses: [self.day(8)...self.day(9)])
    let entries: [(Int, Quantity?)] = [(3, nil), (5, nil)]
    let expected: [(Int, NotCounted?)] = [(4, nil), (5, nil), (6, .enough), (7, .enough), (8, .paused), (10, nil)]
    for (today, why) in expected { #expect(progress(rolling, entries, on: today).whyNotCounted == why, "\(today)") }
    // From day 3 on the five days are 3, 4, 5, 6, 7; without the two of the pause, day 10 looks back only to 4.
    #expect(progress(rolling, entries, on: 10).reached == .one)
  }

  private func day(_ offset: Int) -> CivilDate { monday.plus(offset) }

  /// A weekly goal is reached by the sum of its days.
  @Test func weeklyGoalAddsUp() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(1000)), each: .week))
    let entries: [(Int, Quantity?)] = [(0, .ml(400)), (2, .ml(700)), (7, .ml(100))]
    let first = progress(tracker, entries, on: 1)
    #expect(first.reached == .ml(400) && first.percent == 40 && !first.isMet && first.counts)
    let second = progress(tracker, entries, on: 2)
    #expect(second.reached == .ml(1100) && second.isMet && second.counts)
    let third = progress(tracker, entries, on: 3)
    #expect(third.isMet && third.whyNotCounted == .enough)
    #expect(progress(tracker, entries, on: 7).remaining == .ml(900))
  }

  @Test(arguments: [
    // From 84 down to 80, and from 60 up to 65.
    (84.0, 83.0, 80.0, 3.0, 25), (84, 80, 80, 0, 100), (84, 79, 80, 0, 100), (84, 85, 80, 5, 0), (60, 62, 65, 3, 40),
    (60, 66, 65, 0, 100), (80, 80, 80, 0, 100), (84, 80.01, 80, 0.01, 99),
  ]) func measureApproachesItsGoal(_ first: Double, _ now: Double, _ goal: Double, _ rest: Double, _ percent: Int) {
    let tracker = Tracker.sample(.measure, goal: Goal(.value(.kg(goal))))
    let progress = progress(tracker, [(0, .kg(first)), (3, .kg(now))], on: 5)
    #expect(progress.value == .kg(now) && progress.reached == .kg(now))
    #expect(progress.remaining == .kg(rest))
    #expect(progress.percent == percent)
    #expect(progress.isReached == (percent == 100))
    // Whether there is a measurement today is a separate question.
    #expect(!progress.isMet)
  }

  @Test func measureWithoutEntriesHasNoValue() {
    let progress = progress(.sample(.measure, goal: Goal(.value(.kg(80)))), [], on: 0)
    #expect(progress.value == nil && progress.remaining == nil && progress.percent == nil && !progress.isReached)
  }

  /// "Day 5 of 12 this month."
  @Test func daysOfAMonthAreNumbered() {
    let tracker = Tracker.sample(counting: .weekdays([.monday, .wednesday, .friday]))
    // Nine in January and three in February; 5 is a Saturday.
    let done = [0, 2, 4, 5, 7, 9, 11, 14, 16, 18, 32, 35, 37]
    let progress = progress(tracker, done.map { ($0, nil) }, on: 37)
    #expect(progress.number == 12)
    #expect(progress.numberThisMonth == 3)
    // Fridays 2, 9, 16, 23; Mondays 5, 12, 19, 26; Wednesdays 7, 14, 21, 28.
    #expect(progress.countedThisMonth == 12)
  }

  @Test func calendarHasNumbersAndReasons() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(1000))), counting: .weekdays(.weekdays))
    let aggregator = ProgressAggregator(tracker)
    let amounts: [(Int, Double)] = [
      (0, 1000), (1, 500), (2, 1500), (5, 1000), (7, 1000), (8, 1000), (30, 1000), (31, 1000),
    ]
    let totals = aggregator.totals(
      of: amounts.enumerated().map { .sample(Int64($0), of: tracker, on: monday.plus($1.0), .ml($1.1)) })
    let summary = aggregator.summary(of: totals)
    let range = monday.plus(1)...monday.plus(9)
    let reads = DayCalendar.reads(tracker, in: range, summary)
    #expect(reads == monday...monday.plus(31))
    let days = DayCalendar.days(
      tracker, in: range, summary: summary, totals: totals.filter { reads.contains($0.day) }, today: monday.plus(9))
    #expect(days.map(\.number) == [nil, 2, nil, nil, nil, nil, 3, 4, nil])
    #expect(days.map(\.percent) == [50, 150, nil, nil, 100, nil, 100, 100, nil])
    #expect(days.map(\.whyNotCounted) == [nil, nil, nil, nil, .weekday, .weekday, nil, nil, nil])
    #expect(days.map(\.isMet) == [false, true, false, false, true, false, true, true, false])
  }

  @Test func calendarMarksFreedDays() {
    let tracker = Tracker.sample(counting: .timesAWeek(2))
    let aggregator = ProgressAggregator(tracker)
    let entries = [0, 3, 4, 7].map { Entry.sample(Int64($0), of: tracker, on: monday.plus($0)) }
    let days = DayCalendar.days(
      tracker, in: monday.plus(2)...monday.plus(8), summary: aggregator.summary(ofEntries: entries),
      totals: aggregator.totals(of: entries), today: monday.plus(8))
    #expect(days.map(\.whyNotCounted) == [nil, nil, .enough, .enough, .enough, nil, nil])
    #expect(days.map(\.number) == [nil, 2, 3, nil, nil, 4, nil])
  }
}
