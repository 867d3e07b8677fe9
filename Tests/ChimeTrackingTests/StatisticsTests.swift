import ChimeSchedule
import ChimeTracking
import Testing

/// Expected values from numpy 2 and scipy 1 (`scipy.stats.linregress`, `scipy.stats.t.ppf`, means of slices), computed
/// from the same points; the prediction interval by its formula.
@Suite struct StatisticsTests {
  static let weights: [(Int, Double)] = [
    (0, 84.2), (1, 84.0), (3, 83.9), (4, 84.3), (7, 83.5), (8, 83.6), (10, 83.2), (14, 82.9), (15, 83.0), (21, 82.4),
  ]
  static let amounts: [(Int, Double)] = [
    (0, 2000), (1, 2500), (2, 1750), (5, 3000), (6, 2250), (7, 2500), (9, 1000), (11, 2750), (12, 500),
  ]

  private func statistics(
    _ tracker: Tracker, _ values: [(Int, Double)], in range: ClosedRange<Int>, today: Int, items: [ItemCount] = [],
    averageDays: Int = 7
  ) -> Statistics {
    let aggregator = ProgressAggregator(tracker)
    let totals = aggregator.totals(
      of: values.enumerated().map {
        let quantity: Quantity? = tracker.kind == .check ? nil : tracker.kind == .amount ? .ml($1.1) : .kg($1.1)
        return Entry.sample(Int64($0), of: tracker, on: monday.plus($1.0), minute: $0, quantity)
      })
    let range = monday.plus(range.lowerBound)...monday.plus(range.upperBound)
    let reads = Statistics.reads(range, averageDays: averageDays)
    return Statistics(
      tracker, in: range, today: monday.plus(today), since: totals.first?.day,
      totals: totals.filter { reads.contains($0.day) }, items: items, averageDays: averageDays)
  }

  private func expect(_ points: [Statistics.Point], _ expected: [(Int, Double)], within tolerance: Double = 1e-9) {
    #expect(points.map(\.day) == expected.map { monday.plus($0.0) })
    for (point, expected) in zip(points, expected) {
      #expect((point.value - expected.1).magnitude < tolerance, "\(point), not \(expected)")
    }
  }

  @Test func averagesSkipDaysWithoutAValue() {
    let statistics = statistics(.sample(.measure), Self.weights, in: 0...21, today: 21)
    expect(statistics.points, Self.weights)
    expect(
      statistics.averages,
      [
        (0, 84.2), (1, 84.1), (3, 84.033333333333), (4, 84.1), (7, 83.925), (8, 83.825), (10, 83.65),
        (14, 83.233333333333), (15, 83.033333333333), (21, 82.7),
      ])
    expect(
      statistics.rates,
      [
        (7, -0.275), (8, -0.275), (10, -0.383333333333), (14, -0.691666666667), (15, -0.791666666667),
        (21, -0.533333333333),
      ])
    #expect(statistics.weeklyRate == statistics.rates.last?.value)
    #expect(statistics.direction == .down)
  }

  @Test func averagesUseDaysBeforeTheRange() {
    let whole = statistics(.sample(.measure), Self.weights, in: 0...21, today: 21)
    let part = statistics(.sample(.measure), Self.weights, in: 8...15, today: 21)
    #expect(part.averages == whole.averages.filter { part.range.contains($0.day) })
    #expect(part.rates == whole.rates.filter { part.range.contains($0.day) })
    #expect(part.entries == 4)
    #expect(part.first == Statistics.Point(monday.plus(8), 83.6))
  }

  @Test func trendLineFitsAMeasure() throws {
    let tracker = Tracker.sample(.measure, goal: Goal(.value(.kg(80))))
    let statistics = statistics(tracker, Self.weights, in: 0...21, today: 21)
    #expect((try #require(statistics.trend) - -0.6165979131278805).magnitude < 1e-9)
    let expected = [
      (22, 82.29322979859258, 81.77226671703217, 82.81419288015299),
      (29, 81.67663188546469, 81.06560125688983, 82.28766251403954),
      (35, 81.14811938849793, 80.44542829077247, 81.8508104862234),
    ]
    #expect(statistics.prediction.map(\.day) == (22...35).map { monday.plus($0) })
    for (day, value, low, high) in expected {
      let prediction = try #require(statistics.prediction.first { $0.day == monday.plus(day) })
      #expect((prediction.value - value).magnitude < 1e-8)
      #expect((prediction.low - low).magnitude < 1e-7)
      #expect((prediction.high - high).magnitude < 1e-7)
    }
    // The same line, from 82.293 on day 22 at 0.088 per day: 26.03 days.
    #expect(statistics.goalOn == monday.plus(49))
    #expect(statistics.missingData == [])
    #expect(statistics.least == Statistics.Point(monday.plus(21), 82.4))
    #expect(statistics.most == Statistics.Point(monday.plus(4), 84.3))
  }

  /// The statistics of everything, a chart of three months and one of a week have the same forecast, and the goal's
  /// date lies on its line.
  @Test func everyRangeHasTheSameForecast() throws {
    let tracker = Tracker.sample(.measure, goal: Goal(.value(.kg(80))))
    // A year: half of it upward, then downward with some noise.
    let values = (0..<365).map { (day: Int) -> (Int, Double) in
      let course = day < 200 ? 80 + Double(day) * 0.04 : 88 - Double(day - 200) * 0.035
      return (day, course + Double(day * 7_919 % 100) / 200)
    }
    let all = statistics(tracker, values, in: 0...364, today: 364)
    let goalOn = try #require(all.goalOn)
    let (first, last) = (try #require(all.prediction.first), try #require(all.prediction.last))
    let slope = (last.value - first.value) / 13
    let onLine = first.value + slope * Double(goalOn.dayNumber - first.day.dayNumber)
    #expect(onLine <= 80 && onLine - slope > 80, "\(goalOn): \(onLine)")
    for from in [273, 334, 358, 364] {
      let part = statistics(tracker, values, in: from...364, today: 364)
      #expect(part.prediction == all.prediction && part.goalOn == goalOn, "from \(from)")
    }
    // A range in the past has no forecast.
    let past = statistics(tracker, values, in: 100...300, today: 364)
    #expect(past.prediction.isEmpty && past.goalOn == nil)
  }

  @Test func goalInTheOtherDirectionHasNoDate() {
    let tracker = Tracker.sample(.measure, goal: Goal(.value(.kg(85))))
    #expect(statistics(tracker, Self.weights, in: 0...21, today: 21).goalOn == nil)
    // A gram per week: too slow for a date.
    let slow = Tracker.sample(.measure, goal: Goal(.value(.kg(60))))
    let values = (0..<60).map { ($0, 80 - Double($0) / 7_000) }
    #expect(statistics(slow, values, in: 0...59, today: 59).goalOn == nil)
  }

  /// If the line should have reached the goal by now, it does not predict when that will show.
  @Test func overdueForecastGivesNoDate() {
    let tracker = Tracker.sample(.measure, goal: Goal(.value(.kg(82))))
    let statistics = statistics(tracker, Self.weights, in: 0...80, today: 80)
    #expect(statistics.goalOn == nil)
    #expect(statistics.prediction.first?.day == monday.plus(81))
    #expect(statistics.weeklyRate == statistics.rates.last?.value)
  }

  /// Days without an entry are zeros; today is not over, and no point of the line.
  @Test func amountsCountDaysWithoutAnEntryAsZero() throws {
    let statistics = statistics(.sample(.amount, goal: Goal(.total(.ml(2000)))), Self.amounts, in: 0...12, today: 12)
    #expect((try #require(statistics.trend) - -312.06293706293707).magnitude < 1e-8)
    // Drinking has no forecast: it once told people that they would end at 0 ml.
    #expect(statistics.prediction.isEmpty)
    expect(
      statistics.averages,
      [
        2000, 2250, 2083.333333333, 1562.5, 1250, 1541.666666667, 1642.857142857, 1714.285714286, 1357.142857143, 1250,
        1250, 1642.857142857,
      ].enumerated().map { ($0, $1) }, within: 1e-6)
    #expect((try #require(statistics.weeklyRate) - 392.85714285714295).magnitude < 1e-8)
    #expect(statistics.total == 18_250)
    #expect(statistics.dailyAverage == 17_750.0 / 8, "today's 500 ml are not over")
    #expect(statistics.metDays == 6)
    #expect(statistics.dueDays == 13)
    #expect(statistics.least == Statistics.Point(monday.plus(9), 1000))
    #expect(statistics.most == Statistics.Point(monday.plus(5), 3000))
  }

  /// With equal amounts every day, the statistics are the same at any time of the next day.
  @Test(arguments: [0.0, 250, 2_250]) func todayDoesNotChangeStatistics(_ soFar: Double) throws {
    let days = (0...20).map { ($0, 2_500.0) } + (soFar > 0 ? [(21, soFar)] : [])
    let statistics = statistics(.sample(.amount, goal: Goal(.total(.ml(2500)))), days, in: 0...21, today: 21)
    #expect(statistics.averages.map(\.value) == [Double](repeating: 2_500, count: 21))
    #expect(statistics.averages.last?.day == monday.plus(20))
    #expect(statistics.weeklyRate == 0)
    #expect(statistics.direction == .steady)
    #expect(statistics.dailyAverage == 2_500 && statistics.least?.value == 2_500)
    #expect(statistics.weeks.compactMap(\.average) == [Double](repeating: 2_500, count: 3))
    #expect(statistics.months.last?.average == 2_500)
    #expect(statistics.total == 52_500 + soFar)
    // The first day has no average and no minimum.
    let first = self.statistics(.sample(.amount), [(0, 250)], in: 0...0, today: 0)
    #expect(first.dailyAverage == nil && first.least == nil && first.most?.value == 250 && first.total == 250)
    #expect(first.weeks.map(\.average) == [nil] && first.weeks.first?.total == 250)
    // In a past range all days count, and today alone has no average yet.
    #expect(self.statistics(.sample(.amount), days, in: 0...20, today: 21).averages.last?.day == monday.plus(20))
    #expect(self.statistics(.sample(.amount), days, in: 21...21, today: 21).averages.isEmpty)
  }

  /// A range that starts in a gap starts with zeros.
  @Test func rangeInAGapBeginsWithZeros() {
    let statistics = statistics(.sample(.amount), [(0, 700), (100, 700)], in: 98...101, today: 120)
    expect(statistics.averages, [(98, 0), (99, 0), (100, 100), (101, 100)])
  }

  @Test func weeksAndMonthsAreSummed() {
    let statistics = statistics(
      .sample(.amount, goal: Goal(.total(.ml(1000))), counting: .weekdays(.weekdays)),
      [(2, 1000), (2, 500), (6, 800), (30, 2000), (31, 1000)], in: 1...33, today: 32)
    #expect(statistics.range.upperBound == monday.plus(32))
    let weeks = statistics.weeks
    #expect(weeks.map(\.days.lowerBound) == [1, 7, 14, 21, 28].map { monday.plus($0) })
    #expect(weeks.map(\.days.upperBound) == [6, 13, 20, 27, 32].map { monday.plus($0) })
    #expect(weeks.map(\.entries) == [3, 0, 0, 0, 2])
    #expect(weeks.map(\.total) == [2300, 0, 0, 0, 3000])
    #expect(weeks.map(\.average) == [1150, nil, nil, nil, 1500])
    #expect(weeks.map(\.met) == [1, 0, 0, 0, 2])
    #expect(weeks.map(\.due) == [4, 5, 5, 5, 5])
    #expect(statistics.months.map(\.days) == [monday.plus(1)...monday.plus(30), monday.plus(31)...monday.plus(32)])
    #expect(statistics.months.map(\.total) == [4300, 1000])
    #expect(statistics.months.map(\.due) == [22, 2])
  }

  @Test(
    arguments: [
      ([], [.noEntries, .noGoal]), ([(0, 84)], [.oneDay, .noGoal]), ([(0, 84), (0, 83)], [.oneDay, .noGoal]),
      ([(0, 84), (1, 83)], [.twoDays, .underAWeek, .noGoal]), ([(0, 84), (1, 83), (2, 83)], [.underAWeek, .noGoal]),
      ([(0, 84), (1, 83), (7, 83)], [.noGoal]), ([(0, 84), (7, 83)], [.twoDays, .noGoal]),
      // Too long ago for a comparison.
      ([(0, 84), (1, 83), (30, 83)], [.underAWeek, .noGoal]),
    ] as [([(Int, Double)], [Statistics.MissingData])])
  func missingDataIsReported(_ values: [(Int, Double)], _ missingData: [Statistics.MissingData]) {
    let statistics = statistics(.sample(.measure), values, in: 0...40, today: 40)
    #expect(statistics.missingData == missingData)
    #expect(statistics.prediction.isEmpty == (Set(values.map(\.0)).count < 3))
    #expect((statistics.trend == nil) == (Set(values.map(\.0)).count < 2))
    #expect((statistics.weeklyRate == nil) == (missingData.contains(.underAWeek) || statistics.points.count < 2))
  }

  @Test(
    arguments: [(80.0, 80.07, .steady), (80, 80.09, .up), (80, 79.9, .down), (80, 80, .steady)]
      as [(Double, Double, Statistics.Direction)])
  func smallChangeIsSteady(_ before: Double, _ after: Double, _ direction: Statistics.Direction) {
    #expect(statistics(.sample(.measure), [(0, before), (7, after)], in: 0...7, today: 7).direction == direction)
  }

  @Test func checksAreCounted() {
    let statistics = statistics(.sample(), [(0, 1), (0, 1), (3, 1), (9, 1)], in: 0...9, today: 9)
    expect(statistics.points, [(0, 2), (3, 1), (9, 1)])
    #expect(statistics.total == nil && statistics.prediction.isEmpty)
    #expect(statistics.dailyAverage == 4.0 / 3)
    expect(statistics.averages.suffix(2), [(8, 1.0 / 7), (9, 2.0 / 7)])
  }

  @Test func itemDistributionIsMeasured() {
    let items = [("speedmaster", 8), ("seiko", 1), ("casio", 1), ("tank", 0)].map {
      ItemCount(item: ItemID(rawValue: $0.0), count: $0.1)
    }
    let statistics = statistics(.sample(), [(0, 1)], in: 0...9, today: 9, items: items)
    #expect(statistics.items == items)
    // An even distribution of ten is three, three, two and two: five must move.
    #expect(statistics.evenness == 50)
    #expect(self.statistics(.sample(), [], in: 0...9, today: 9).evenness == nil)
  }

  /// Ten years: the running sums accumulate no rounding errors.
  @Test func runningSumsDoNotDrift() {
    let values = (0..<3_650).map { ($0, 80 + Double($0 * 7_919 % 1_000) / 100) }
    let statistics = statistics(.sample(.measure), values, in: 0...3_649, today: 3_649)
    for (index, average) in statistics.averages.enumerated() {
      let window = values[max(0, index - 6)...index].map(\.1)
      #expect((average.value - window.reduce(0, +) / Double(window.count)).magnitude < 1e-9)
    }
  }
}
