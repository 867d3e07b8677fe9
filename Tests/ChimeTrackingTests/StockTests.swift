import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// The remaining stock, and how long it will last.
@Suite struct StockTests {
  private static let today = monday.plus(20)

  /// Returns the level after so many entries on each of some days after `monday`; earlier use is already deducted.
  private func level(
    _ tracker: Tracker, stock: Int, warnDays: Int = 7, used: Int, _ days: [(Int, Int)]
  ) -> StockLevel {
    var entries: [Entry] = []
    for (day, count) in days {
      for number in 0..<count {
        entries.append(
          .sample(Int64(entries.count + 1), of: tracker, on: monday.plus(day), minute: 600 + number))
      }
    }
    return StockLevel(
      Stock(.ones(stock), since: .earliest, warnDays: warnDays), of: tracker, used: .ones(used),
      totals: ProgressAggregator(tracker).totals(of: entries), since: days.first.map { monday.plus($0.0) },
      today: Self.today)
  }

  @Test func rateIsTheAverageOfTwoWeeks() {
    // Two per day for the fourteen days before today, more before that.
    let days = [(0, 9), (1, 9)] + (6..<20).map { ($0, 2) }
    let morning = level(.sample(), stock: 60, used: 46, days)
    #expect(morning.rate == 2_000_000 && morning.left == .ones(14) && morning.days == 7)
    #expect(morning.state == .enough && morning.shortfall == .zero)
    // Today's two are still to be taken.
    #expect(morning.until == Self.today.plus(6))
    let evening = level(.sample(), stock: 60, used: 48, days + [(20, 2)])
    #expect(evening.left == .ones(12) && evening.until == Self.today.plus(6) && evening.state == .low)
  }

  @Test func rateCountsDaysWithoutAnEntry() {
    let level = level(.sample(), stock: 10, used: 7, (0..<7).map { (6 + 2 * $0, 1) })
    #expect(level.rate == 500_000 && level.days == 6 && level.state == .low)
  }

  @Test func rateOfAShortHistoryUsesItsLength() {
    let level = level(.sample(), stock: 30, used: 6, [(18, 3), (19, 3)])
    #expect(level.rate == 3_000_000 && level.days == 8)
  }

  @Test(
    arguments: [
      (Tracker.sample(), 1.0), (.sample(goal: Goal(.count(3))), 3), (.sample(counting: .weekdays(.weekends)), 2 / 7.0),
      (.sample(counting: .timesAWeek(3)), 3 / 7.0), (.sample(counting: .timesAMonth(15)), 0.5),
      (.sample(counting: .rolling(times: 1, days: 4)), 0.25), (.sample(goal: Goal(.count(14), each: .week)), 2),
      (.sample(goal: Goal(.count(2), atMost: true)), nil), (.sample(.amount), nil),
    ] as [(Tracker, Double?)])
  func goalGivesTheRateWithoutAHistory(_ tracker: Tracker, _ rate: Double?) {
    let level = level(tracker, stock: 1_000, used: 0, [])
    #expect(level.rate.map { ($0 / 1_000).rounded() } == rate.map { ($0 * 1_000).rounded() })
    #expect((level.days == nil) == (rate == nil) && level.state == .enough)
  }

  @Test func stockIsNeverNegative() {
    let level = level(.sample(), stock: 2, used: 5, [(19, 1), (20, 5)])
    #expect(level.left == .zero && level.shortfall == .ones(3) && level.state == .empty && level.until == nil)
    #expect(self.level(.sample(), stock: 0, warnDays: 0, used: 0, []).state == .empty)
    #expect(self.level(.sample(), stock: 1, warnDays: 0, used: 0, []).state == .enough)
  }

  @Test func veryLongSupplyHasNoEndDate() {
    let tracker = Tracker.sample(counting: .rolling(times: 1, days: 366))
    let level = level(tracker, stock: 1_000_000, used: 0, [])
    #expect(level.until == nil && level.days == nil && level.state == .enough)
  }
}
