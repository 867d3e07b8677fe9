import ChimeSchedule
import ChimeTracking
import Testing

/// Computed by hand. Day 0 is Monday, 2024-01-01.
@Suite struct StreakTests {
  private func form(_ tracker: Tracker, _ done: [Int], on today: Int) -> Form {
    let aggregator = ProgressAggregator(tracker)
    return aggregator.form(of: aggregator.done(done), on: monday.plus(today))
  }

  private func check(_ tracker: Tracker, _ done: [Int], _ expected: [(today: Int, current: Int, longest: Int)]) {
    for (today, current, longest) in expected {
      let form = form(tracker, done.filter { $0 <= today }, on: today)
      #expect(form.streak.length == current, "on day \(today)")
      #expect(form.longest.length == longest, "on day \(today)")
    }
  }

  @Test func todayNotDoneYetBreaksNoStreak() {
    check(.sample(), [0, 1, 2, 4], [(0, 1, 1), (2, 3, 3), (3, 3, 3), (4, 1, 3), (5, 1, 3), (6, 0, 3), (40, 0, 3)])
  }

  @Test func streakHasItsFirstAndLastDay() {
    let form = form(.sample(), [0, 1, 2, 4, 5], on: 5)
    #expect(form.streak == Streak(length: 2, first: day("2024-01-05"), last: day("2024-01-06")))
    #expect(form.longest == Streak(length: 3, first: day("2024-01-01"), last: day("2024-01-03")))
  }

  @Test func severalEntriesOfADayCountOnce() { check(.sample(), [0, 0, 0, 1, 1], [(1, 2, 2)]) }

  @Test func streakSpansLeapDayAndNewYear() {
    // 57, 58, 59 are 27, 28 and 29 February; 60 is 1 March. 365 is 31 December, 366 is New Year.
    check(.sample(), [57, 58, 59, 60, 365, 366], [(60, 4, 4), (366, 2, 4)])
  }

  @Test func daysOffNeitherBreakNorExtendAStreak() {
    let workdays = Tracker.sample(counting: .weekdays(.weekdays))
    // Thursday, Friday, Monday; the additional Saturday does not count.
    check(workdays, [3, 4, 5, 7], [(4, 2, 2), (5, 2, 2), (6, 2, 2), (7, 3, 3), (8, 3, 3), (9, 0, 3)])
    let vacation = Tracker.sample(pauses: [monday.plus(2)...monday.plus(30)], skips: [monday.plus(32)])
    check(
      vacation, [0, 1, 10, 31, 33],
      [(10, 2, 2), (30, 2, 2), (31, 3, 3), (32, 3, 3), (33, 4, 4), (34, 4, 4), (35, 0, 4)])
  }

  @Test func daysBeforeTheStartDoNotCount() {
    check(.sample(from: monday.plus(3)), [1, 2, 3, 4], [(2, 0, 0), (4, 2, 2)])
  }

  @Test func weekdaysAndWeekendsHaveTheirOwnStreaks() {
    // Friday 4, Saturday 5, Sunday 6, Monday 7, Saturday 12; the days from Tuesday 8 to Friday 11 are missed.
    let done = [4, 5, 6, 7, 12]
    let seventh = form(.sample(), Array(done.prefix(4)), on: 7)
    #expect([seventh.streak, seventh.weekdayStreak, seventh.weekendStreak].map(\.length) == [4, 2, 2])
    let twelfth = form(.sample(), done, on: 12)
    #expect([twelfth.streak, twelfth.weekdayStreak, twelfth.weekendStreak].map(\.length) == [1, 0, 3])
    #expect(form(.sample(), done, on: 14).weekendStreak.length == 0)
  }

  /// Any three days of a week that starts on Monday.
  @Test func weeklyCountHasAStreakOfWeeks() {
    let tracker = Tracker.sample(counting: .timesAWeek(3))
    // Week 1: Mon Wed Fri. Week 2: Tue Sat Sun and Mon: four. Week 3: only two. Week 4: three.
    let done = [0, 2, 4, 7, 8, 12, 13, 14, 16, 21, 22, 23]
    check(
      tracker, done,
      [
        (3, 0, 0), (4, 1, 1), (10, 1, 1), (11, 1, 1), (12, 2, 2), (13, 2, 2), (16, 2, 2), (20, 2, 2), (21, 0, 2),
        (23, 1, 2),
      ])
    #expect(
      form(tracker, Array(done.prefix(7)), on: 13).streak
        == Streak(length: 2, unit: .weeks, first: day("2024-01-01"), last: day("2024-01-14")))
  }

  /// A week that misses its goal is excused if it reaches the share of its remaining days.
  @Test func pauseReducesAWeeksCount() {
    // Week 2 pauses from Wednesday on: of 3 in 7 days, 2 days require 1. Week 3 pauses completely.
    let tracker = Tracker.sample(counting: .timesAWeek(3), pauses: [monday.plus(9)...monday.plus(20)])
    let first = [0, 1, 2]
    check(tracker, first + [8] + [21, 22, 23], [(13, 1, 1), (20, 1, 1), (21, 1, 1), (23, 2, 2)])
    check(tracker, first + [21, 22, 23], [(13, 1, 1), (14, 0, 1), (23, 1, 1)])
  }

  /// Of three per week, three counting days require 9/7, rounded up to two; of 1000 ml they require 428.57 ml.
  @Test func reducedCountIsRoundedUp() {
    let pause = monday.plus(10)...monday.plus(13)
    let often = Tracker.sample(counting: .timesAWeek(3), pauses: [pause])
    check(often, [0, 1, 2, 7, 14, 15, 16], [(13, 1, 1), (14, 0, 1), (16, 1, 1)])
    check(often, [0, 1, 2, 7, 9, 14, 15, 16], [(14, 1, 1), (16, 2, 2)])
    let much = Tracker.sample(.amount, goal: Goal(.total(.ml(1000)), each: .week), pauses: [pause])
    for (amount, length) in [(428.5, 0), (428.6, 1)] {
      let entries = [(0, 1000), (7, amount)].map { Entry.sample(Int64($0), of: much, on: monday.plus($0), .ml($1)) }
      let aggregator = ProgressAggregator(much)
      let form = aggregator.form(of: aggregator.summary(ofEntries: entries), on: monday.plus(14))
      #expect(form.streak.length == length)
    }
  }

  @Test func monthlyCountHasAStreakOfMonths() {
    let tracker = Tracker.sample(counting: .timesAMonth(2))
    // January twice, February (leap) twice with its 29th, March once, April twice.
    let done = [3, 30, 31, 59, 70, 91, 92]
    check(tracker, done, [(3, 0, 0), (30, 1, 1), (31, 1, 1), (59, 2, 2), (90, 2, 2), (91, 0, 2), (92, 1, 2)])
    #expect(form(tracker, Array(done.prefix(4)), on: 60).streak.last == day("2024-02-29"))
  }

  /// A weekly goal adds up over the week.
  @Test func weeklyAmountHasAStreakOfWeeks() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(1000)), each: .week))
    let aggregator = ProgressAggregator(tracker)
    let entries = [(0, 400.0), (3, 600), (7, 999), (14, 1500), (20, 1)].enumerated().map {
      Entry.sample(Int64($0), of: tracker, on: monday.plus($1.0), .ml($1.1))
    }
    let expected = [(0, 0), (1, 0), (4, 1), (13, 1)]
    for (today, length) in expected {
      let summary = aggregator.summary(ofEntries: entries.filter { $0.day <= monday.plus(today) })
      #expect(aggregator.form(of: summary, on: monday.plus(today)).streak.length == length, "on day \(today)")
    }
    let all = aggregator.summary(ofEntries: entries)
    #expect(aggregator.form(of: all, on: monday.plus(20)).streak.length == 1)
    #expect(all.longest.length == 1)
  }

  @Test func dailyGoalMustBeMet() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(2000))))
    let aggregator = ProgressAggregator(tracker)
    let amounts = [(0, 2000.0), (1, 1999), (2, 1500), (2, 500), (3, 2500)]
    let summary = aggregator.summary(
      ofEntries: amounts.enumerated().map { .sample(Int64($0), of: tracker, on: monday.plus($1.0), .ml($1.1)) })
    #expect(summary.run == Streak(length: 2, first: monday.plus(2), last: monday.plus(3)))
    #expect(summary.metDays == 3)
    #expect(summary.activeDays == 4)
    #expect(summary.bestShare == 1250)
    #expect(summary.mostInADay == .ml(2500))
    #expect(summary.total == .ml(8499))
  }

  // Rolling, by Loop's rule.

  /// Once in three days, as in Loop's own test (`EntryListTest.testComputeBoolean`): repetitions on days 2, 3 and 8
  /// cover 0 to 5, the first two by moving the earlier span back, and 8 to 10.
  @Test func spansMoveBackToFillGaps() {
    let tracker = Tracker.sample(counting: .rolling(times: 1, days: 3))
    check(
      tracker, [2, 3, 8], [(2, 1, 1), (3, 4, 4), (5, 6, 6), (6, 6, 6), (7, 0, 6), (8, 1, 6), (10, 3, 6), (12, 0, 6)])
    // Days before the start do not count.
    check(tracker, [0, 1, 2], [(2, 3, 3), (4, 5, 5)])
  }

  /// Once a week: a missing day between two spans is filled when a third one comes early.
  @Test func laterRepetitionFillsAGap() {
    let tracker = Tracker.sample(counting: .rolling(times: 1, days: 7))
    // 0…6 and 8…14, with day 7 between; 13…19 moves the second to 6…12, and that moves the first to -1…5.
    check(tracker, [0, 8, 13], [(7, 7, 7), (8, 1, 7), (12, 5, 7), (13, 14, 14), (20, 20, 20), (21, 0, 20)])
  }

  /// Twice a week, as in Loop's `EntryListTest.testBuildIntervals3`, converted to dates: 0, 1, 5, 8 and 15.
  @Test func twoRepetitionsInSevenDaysAreASpan() {
    let tracker = Tracker.sample(counting: .rolling(times: 2, days: 7))
    // 0 and 1: 0…6. 1 and 5: 1…7, which moves the first. 5 and 8: 5…11. 8 and 15 are seven days apart: no span.
    check(
      tracker, [0, 1, 5, 8, 15],
      [(0, 1, 1), (1, 2, 2), (5, 6, 6), (8, 9, 9), (11, 12, 12), (13, 0, 12), (15, 1, 12), (17, 0, 12)])
  }

  @Test func rollingCountOfEveryDayIsDaily() {
    check(.sample(counting: .rolling(times: 3, days: 3)), [0, 1, 3], [(1, 2, 2), (2, 2, 2), (3, 1, 2), (5, 0, 2)])
  }

  @Test func pauseStopsARollingSpan() {
    let tracker = Tracker.sample(counting: .rolling(times: 1, days: 3), pauses: [monday.plus(1)...monday.plus(10)])
    // Day 0 covers 0, 11 and 12.
    check(tracker, [0, 13], [(0, 1, 1), (10, 1, 1), (12, 3, 3), (13, 4, 4)])
  }

  // Refusals.

  @Test func changedPastNeedsARecomputation() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(1000))))
    let aggregator = ProgressAggregator(tracker)
    func total(_ id: Int64, _ offset: Int, _ amount: Double, on known: DayTotal? = nil) -> DayTotal {
      aggregator.total(known, adding: .sample(id, of: tracker, on: monday.plus(offset), .ml(amount)))
    }
    let (first, second) = (total(1, 0, 1000), total(2, 1, 1000))
    var summary = aggregator.summary(of: [first, second])
    let before = summary
    #expect(!aggregator.add(total(3, 0, 1, on: first), replacing: first, to: &summary))
    #expect(!aggregator.add(total(3, 1, -1, on: second), replacing: second, to: &summary))
    var earlier = second
    earlier.lastAt = second.firstAt - .minutes(1)
    #expect(!aggregator.add(earlier, replacing: second, to: &summary))
    // The given total is not the one in the summary.
    #expect(!aggregator.add(second, replacing: nil, to: &summary))
    #expect(summary == before)
    #expect(aggregator.add(total(3, 1, 1, on: second), replacing: second, to: &summary))
    #expect(aggregator.add(total(4, 2, 1), replacing: nil, to: &summary))
    #expect(summary.entries == 4)
  }
}
