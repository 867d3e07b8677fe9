import ChimeSchedule
import Testing

@testable import ChimeTracking

/// Perfect days in a row, up to a week, as a person counts them.
@Suite struct PerfectDaysTests {
  private static let today = CivilDate(year: 2_026, month: 3, day: 27) ?? .earliest

  private static func tracker(_ days: WeekdaySet = .everyDay) -> Tracker {
    Tracker(
      id: TrackerID(rawValue: "t"), owner: 1, title: "T", kind: .check, counting: .weekdays(days),
      startedOn: CivilDate(year: 2_026, month: 1, day: 1) ?? .earliest, createdAt: .earliest)
  }

  /// How many days before today the tracker was met, and the resulting run.
  @Test(
    arguments: [
      ([], 0), ([0], 1), ([1, 2, 3], 3), ([0, 1, 2], 3), ([2, 3], 0), ([1, 3, 4], 1), (Array(0...20), 7),
    ] as [([Int], Int)])
  func runCountsPerfectDaysUpToToday(_ met: [Int], _ expected: Int) {
    let days = Set(met.compactMap { Self.today.adding(days: -$0) })
    #expect(PerfectDays.run(of: [Self.tracker()], upTo: Self.today) { days.contains($1) } == expected)
  }

  /// A free day is skipped.
  @Test func freeDaysAreSkipped() {
    let days = Set([0, 1, 4, 5].compactMap { Self.today.adding(days: -$0) })
    // Friday, Thursday, and Monday before a free Tuesday and Wednesday.
    let weekdays: WeekdaySet = [.monday, .thursday, .friday, .saturday, .sunday]
    #expect(PerfectDays.run(of: [Self.tracker(weekdays)], upTo: Self.today) { days.contains($1) } == 4)
  }

  @Test func onlyASinglePerfectWeekReportsDays() {
    func progress(_ criterion: Criterion, _ reached: Int) -> [Int] {
      let one = Achievement(
        id: AchievementID(rawValue: "a"), title: "A", text: "A", criterion: criterion)
      let told = one.progress(reached: reached) { 9 }
      return [told.reached, told.target]
    }
    #expect(progress(Criterion(.perfectWeek), 0) == [6, 7])
    #expect(progress(Criterion(.perfectWeek), 1) == [1, 1])
    #expect(progress(Criterion(.perfectWeek, target: 4), 2) == [2, 4])
    #expect(progress(Criterion(.streak, target: 7), 3) == [3, 7])
  }
}
