import ChimeSchedule
import ChimeTracking
import Testing

/// Loop Habit Tracker's own numbers, from its `ScoreTest` and `ScoreListTest` (https://github.com/iSoron/uhabits).
@Suite struct StrengthTests {
  private func strength(_ tracker: Tracker, _ done: some Sequence<Int>, endOf day: Int) -> Double {
    let aggregator = ProgressAggregator(tracker)
    let summary = aggregator.done(done)
    // A day's total is final when the day is over.
    return aggregator.form(of: summary, on: monday.plus(day + 1)).strength
  }

  private func isClose(_ left: Double, _ right: Double, within tolerance: Double = 1e-6) -> Bool {
    (left - right).magnitude < tolerance
  }

  static let twentyDays = [
    0.051922, 0.101149, 0.147820, 0.192067, 0.234017, 0.273788, 0.311495, 0.347244, 0.381137, 0.413270, 0.443734,
    0.472617, 0.500000, 0.525961, 0.550574, 0.573910, 0.596033, 0.617008, 0.636894, 0.655747,
  ]

  /// `YesNoScoreListTest.test_getValue`: twenty days, each done.
  @Test func dailyHabitGrowsFromZero() {
    for (day, expected) in Self.twentyDays.enumerated() {
      #expect(isClose(strength(.sample(), 0...day, endOf: day), expected), "day \(day)")
    }
    #expect(strength(.sample(), [], endOf: 3) == 0)
  }

  /// `test_getValueWithSkip2`: one repetition, a skip, and four days without one.
  @Test func missedDayReducesTheStrengthOnlyALittle() {
    let tracker = Tracker.sample(skips: [monday.plus(1)])
    for (day, expected) in [0.051922, 0.051922, 0.049226, 0.046670, 0.044247, 0.041949].enumerated() {
      #expect(isClose(strength(tracker, [0], endOf: day), expected), "day \(day)")
    }
  }

  /// `skipsShouldNotAffectScore`: skipped days are ignored completely. So are pauses.
  @Test func daysOffDoNotAffectTheStrength() {
    // `test_getValueWithSkip`: of twenty days the 9th, 10th and 15th are skipped.
    let skips = [8, 9, 14]
    let skipped = Tracker.sample(skips: skips.map { monday.plus($0) })
    #expect(isClose(strength(skipped, (0...19).filter { !skips.contains($0) }, endOf: 19), 0.596033))
    let paused = Tracker.sample(pauses: [monday.plus(5)...monday.plus(104)])
    #expect(strength(paused, Array(0...4) + Array(105...119), endOf: 119) == strength(.sample(), 0...19, endOf: 19))
  }

  /// `test_recompute`: two days done, once daily and once every other day.
  @Test func strengthDependsOnTheFrequency() {
    #expect(isClose(strength(.sample(), 0...1, endOf: 1), 0.101149))
    let other = ProgressAggregator(.sample(counting: .rolling(times: 1, days: 2)))
    #expect(isClose(other.form(of: other.done(0...1), on: monday.plus(1)).strength, 0.054816))
  }

  /// `test_imperfectNonDaily`: two of three times a week is two thirds, two of four is a half.
  @Test func shareOfTheWeeklyCountIsTheShareOfTheStrength() {
    let done = (0..<100).flatMap { [7 * $0 + 5, 7 * $0 + 6] }
    #expect(isClose(strength(.sample(counting: .timesAWeek(3)), done, endOf: 699), 2.0 / 3))
    #expect(isClose(strength(.sample(counting: .timesAWeek(4)), done, endOf: 699), 0.5))
  }

  /// `test_irregularNonDaily`: once each week, alternately on its first and its last day.
  @Test func weeklyHabitMayUseAnyDay() {
    let done = (0..<100).flatMap { [14 * $0, 14 * $0 + 13] }
    #expect(isClose(strength(.sample(counting: .timesAWeek(1)), done, endOf: 1399), 1, within: 1e-3))
  }

  /// `shouldAchieveHighScoreInReasonableTime`.
  @Test func habitReachesAHighStrengthInReasonableTime() {
    #expect(strength(.sample(), 0..<90, endOf: 89) > 0.99)
    #expect(strength(.sample(counting: .timesAWeek(1)), (0..<39).map { 7 * $0 }, endOf: 266) > 0.99)
    #expect(strength(.sample(counting: .rolling(times: 1, days: 30)), (0..<18).map { 30 * $0 }, endOf: 510) > 0.99)
  }

  /// A fixed weekday reaches the same strength in as many weeks as any day of the week.
  @Test func fixedWeekdayGrowsAsFastAsAnyDay() {
    let sundays = (1...5).map { 7 * $0 - 1 }
    // ½ ^ (√(1/7) / 13 × 7), five times: Python's 1 - 0.5 ** (7 ** 0.5 / 13 * 5).
    let expected = 0.5060614955738711
    #expect(isClose(strength(.sample(counting: .weekdays(.sunday)), sundays, endOf: 34), expected))
  }

  /// `NumericalAtLeastScoreListTest.shouldAchieveComparableScoreToProgress`: half of the goal each day leads to a half.
  @Test func partOfTheGoalIsThatPartOfTheStrength() {
    let tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(2000))))
    let aggregator = ProgressAggregator(tracker)
    func strength(_ amount: Double, days: Int) -> Double {
      let entries = (0..<days).map { Entry.sample(Int64($0), of: tracker, on: monday.plus($0), .ml(amount)) }
      return aggregator.summary(ofEntries: entries).strength
    }
    #expect(isClose(strength(1000, days: 500), 0.5))
    #expect(isClose(strength(500, days: 500), 0.25))
    // `overeachievingIsntRelevant`.
    #expect(isClose(strength(1_000_000, days: 1), 0.051922))
  }

  /// A day in progress may raise the strength, and lowers it only when it is over.
  @Test func todayDoesNotReduceTheStrength() {
    let aggregator = ProgressAggregator(.sample())
    let summary = aggregator.done(0...19)
    #expect(isClose(aggregator.form(of: summary, on: monday.plus(19)).strength, 0.655747))
    #expect(isClose(aggregator.form(of: summary, on: monday.plus(20)).strength, 0.655747))
    #expect(isClose(aggregator.form(of: summary, on: monday.plus(21)).strength, 0.655747 * 0.948078))
  }
}
