import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing

/// Goals with an upper limit: a day is judged when it is over, and met without an entry.
@Suite struct LimitTests {
  private static func coffee(_ limit: Double = 300, usual: Double? = nil) -> Tracker {
    var tracker = Tracker.sample(.amount, goal: Goal(.total(.ml(limit)), atMost: true))
    tracker.usual = usual.map { .ml($0) }
    return tracker
  }

  private func totals(_ tracker: Tracker, _ entries: [(Int, Double)]) -> [DayTotal] {
    ProgressAggregator(tracker).totals(
      of: entries.enumerated().map { .sample(Int64($0 + 1), of: tracker, on: monday.plus($1.0), .ml($1.1)) })
  }

  private func progress(_ tracker: Tracker, _ entries: [(Int, Double)], on day: Int, today: Int) -> GoalProgress {
    let known = totals(tracker, entries.filter { $0.0 <= day })
    return GoalProgress(
      tracker, on: monday.plus(day), summary: ProgressAggregator(tracker).summary(of: known), totals: known,
      isOver: day < today)
  }

  @Test func dayWithinItsLimitIsMetWhenItEnds() {
    let entries = [(0, 200.0), (1, 300), (2, 301)]
    let tracker = Self.coffee()
    let today = progress(tracker, entries, on: 0, today: 0)
    #expect(!today.isMet && !today.isReached && today.limit == .under && today.isOpenLimit)
    #expect(today.reached == .ml(200) && today.remaining == .ml(100) && today.percent == 66)
    #expect(today.number == 0 && today.form.streak.length == 0 && today.countedThisMonth == 31)
    let over = progress(tracker, entries, on: 0, today: 1)
    #expect(over.isMet && over.number == 1 && over.numberThisMonth == 1 && over.form.streak.length == 1)
    // Exactly the limit is not too much.
    #expect(progress(tracker, entries, on: 1, today: 2).isMet)
    let passed = progress(tracker, entries, on: 2, today: 2)
    #expect(passed.limit == .exceeded && !passed.isMet && !passed.isOpenLimit && passed.form.streak.length == 0)
    #expect(passed.remaining == .zero && passed.percent == 100 && passed.form.longest.length == 2)
    #expect(progress(tracker, entries, on: 3, today: 3).form.streak.length == 0)
    #expect(progress(tracker, entries, on: 9, today: 9).form.streak.length == 6, "days without an entry are kept")
    // Yesterday's progress, seen today.
    let empty = progress(tracker, entries, on: 8, today: 9)
    #expect(empty.isMet && empty.total == nil && empty.form.streak.length == 6 && empty.number == 8)
  }

  @Test(
    arguments: [
      (239.0, nil, LimitState.under), (240, nil, .near), (300, nil, .near), (300.5, nil, .exceeded),
      (200, 100.0, .under), (210, 100, .near), (0, 400, .under),
    ] as [(Double, Double?, LimitState)])
  func nearMeansFourFifthsOrOneUsualAmount(_ amount: Double, _ usual: Double?, _ expected: LimitState) {
    let tracker = Self.coffee(usual: usual)
    let total = amount > 0 ? totals(tracker, [(0, amount)]).first : nil
    #expect(tracker.limitState(of: total) == expected)
  }

  @Test func checkMayHaveALimit() {
    let tracker = Tracker.sample(goal: Goal(.count(2), atMost: true))
    let aggregator = ProgressAggregator(tracker)
    let entries = (1...3).map { Entry.sample(Int64($0), of: tracker, on: monday, minute: 600 + $0) }
    let states = (1...3).map { count in tracker.limitState(of: aggregator.total(of: entries.prefix(count))) }
    #expect(states == [.under, .near, .exceeded])
    let none = Tracker.sample(goal: Goal(.count(0), atMost: true))
    #expect(none.limitState(of: nil) == .under)
    #expect(none.limitState(of: ProgressAggregator(none).total(of: entries.prefix(1))) == .exceeded)
  }

  /// A day keeps the limit that it had; a day without a stored one uses the current limit.
  @Test func dayKeepsItsEarlierLimit() {
    var tracker = Self.coffee(400)
    let then = totals(tracker, [(0, 350)])
    tracker.goal = Goal(.total(.ml(300)), atMost: true)
    let summary = ProgressAggregator(tracker).summary(of: then)
    #expect(GoalProgress(tracker, on: monday, summary: summary, totals: then, isOver: true).isMet)
    var free = tracker
    free.goal = nil
    let before = totals(free, [(0, 350), (1, 100)])
    let judged = ProgressAggregator(tracker).summary(of: before)
    #expect(ProgressAggregator(tracker).closed(judged, before: monday.plus(2)).numberedDays == 1)
  }

  /// Goals in older backups have no field for limits.
  @Test func goalOfAnOlderBackupIsNoLimit() throws {
    let text = #"{"target":{"total":{"_0":9}},"period":"day"}"#
    let goal = try JSONDecoder().decode(Goal.self, from: Data(text.utf8))
    #expect(goal == Goal(.total(Quantity(grains: 9))))
    let limit = Goal(.count(2), atMost: true)
    #expect(try JSONDecoder().decode(Goal.self, from: JSONEncoder().encode(limit)) == limit)
  }

  @Test func statisticsCountEndedDays() {
    let tracker = Self.coffee()
    func statistics(_ entries: [(Int, Double)], today: Int) -> Statistics {
      Statistics(
        tracker, in: monday...monday.plus(today), today: monday.plus(today), totals: totals(tracker, entries))
    }
    let open = statistics([(0, 100), (2, 500), (4, 50)], today: 4)
    #expect(open.metDays == 3 && open.dueDays == 4 && open.weeks.map(\.met) == [3] && open.weeks.map(\.due) == [4])
    let passed = statistics([(0, 100), (2, 500), (4, 350)], today: 4)
    #expect(passed.metDays == 3 && passed.dueDays == 5)
    #expect(statistics([], today: 3).metDays == 3)
  }

  @Test func calendarShowsKeptLimits() {
    var tracker = Self.coffee()
    tracker.counting = .weekdays(.weekdays)
    let known = totals(tracker, [(1, 500), (3, 280), (5, 900)])
    let days = DayCalendar.days(
      tracker, in: monday.plus(-1)...monday.plus(8), summary: ProgressAggregator(tracker).summary(of: known),
      totals: known,
      today: monday.plus(7))
    #expect(days.map(\.isMet) == [false, true, false, true, true, true, false, false, false, false])
    #expect(days.map(\.number) == [nil, 1, nil, 2, 3, 4, nil, nil, nil, nil])
    #expect(days.map(\.limit) == [nil, .under, .exceeded, .under, .near, .under, .exceeded, .under, .under, nil])
  }

  /// Random histories: the incremental summary equals the recomputed one and a naive count of the days.
  @Test(arguments: 0..<ProofTier.amount(quick: 8, proof: 300)) func incrementalSummaryMatchesARecomputation(_ seed: Int)
  {
    var random = SeededGenerator(seed: UInt64(seed))
    var tracker = Self.coffee()
    if Bool.random(using: &random) { tracker.counting = .weekdays(.weekdays) }
    if Bool.random(using: &random) { tracker.pauses = [monday.plus(9)...monday.plus(12)] }
    if Bool.random(using: &random) { tracker.skips = [monday.plus(4), monday.plus(20)] }
    let aggregator = ProgressAggregator(tracker)
    var (kept, known, today) = (TrackerSummary(), [CivilDate: DayTotal](), -2)
    for id in 0..<60 {
      today += [0, 0, 1, 1, 2, 5].randomElement(using: &random) ?? 1
      let day = monday.plus(today)
      let amount = Double.random(in: 20...220, using: &random)
      let entry = Entry.sample(Int64(id), of: tracker, on: day, minute: 60 + id, .ml(amount))
      let old = known[day]
      let new = aggregator.total(old, adding: entry)
      known[day] = new
      #expect(aggregator.add(new, replacing: old, to: &kept))
      let ordered = known.values.sorted { $0.day < $1.day }
      #expect(kept == aggregator.summary(of: ordered))
      let progress = GoalProgress(tracker, on: day, summary: kept, totals: ordered)
      let naive = Naive(tracker, known, today: day)
      #expect(progress.form.streak.length == naive.streak && progress.form.longest.length == naive.longest)
      #expect(progress.number == naive.met)
      let statistics = Statistics(tracker, in: monday...max(monday, day), today: day, totals: ordered)
      #expect(statistics.metDays == naive.met)
    }
  }

  /// A naive count, day by day.
  private struct Naive {
    var (met, streak, longest) = (0, 0, 0)

    init(_ tracker: Tracker, _ totals: [CivilDate: DayTotal], today: CivilDate) {
      var day = tracker.startedOn
      while day <= today {
        defer { day = day.plus(1) }
        let isOver = (totals[day]?.total ?? .zero) > .ml(300)
        guard tracker.counts(day) else { continue }
        if isOver { streak = 0 } else if day < today { (met, streak) = (met + 1, streak + 1) }
        longest = max(longest, streak)
      }
    }
  }
}
