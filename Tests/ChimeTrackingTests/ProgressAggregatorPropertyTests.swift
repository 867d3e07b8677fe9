import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Random trackers with random entries, edits and removals: after each step the incremental summary equals the
/// recomputed one and a naive evaluation of all entries.
@Suite struct ProgressAggregatorPropertyTests {
  /// The weekdays of trackers 59 and 249 change, and with them the window of the strength.
  @Test(arguments: Set(0..<ProofTier.amount(quick: 6, proof: 300)).union([59, 249]).sorted())
  func incrementalSummaryMatchesARecomputation(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<3 { compare(&random, steps: 60, checkedEvery: 10) }
  }

  /// A history across years, leap days and long gaps.
  @Test(arguments: 100..<ProofTier.amount(quick: 101, proof: 130)) func incrementalSummaryMatchesOverYears(_ seed: Int)
  {
    var random = SeededGenerator(seed: UInt64(seed))
    compare(&random, steps: 250, checkedEvery: 50)
  }

  private func compare(_ random: inout SeededGenerator, steps: Int, checkedEvery: Int = 1) {
    let tracker = randomTracker(&random)
    let aggregator = ProgressAggregator(tracker)
    var entries: [Entry] = []
    var totals: [CivilDate: DayTotal] = [:]
    var summary = TrackerSummary()
    var today = tracker.startedOn.plus(Int.random(in: -3...3, using: &random))
    var nextID: Int64 = 1
    var keptUp = 0
    func remade() -> TrackerSummary { aggregator.summary(of: totals.values.sorted { $0.day < $1.day }) }
    for step in 0..<steps {
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where !entries.isEmpty:
        let removed = entries.remove(at: Int.random(in: entries.indices, using: &random))
        totals[removed.day] = aggregator.total(of: entries.filter { $0.day == removed.day })
        summary = remade()
      case 1 where !entries.isEmpty:
        let index = Int.random(in: entries.indices, using: &random)
        let day = entries[index].day
        let old = totals[day]
        entries[index] = .sample(
          entries[index].id.rawValue, of: tracker, on: day, minute: Int.random(in: 0..<1440, using: &random),
          quantity(tracker, &random))
        totals[day] = aggregator.total(of: entries.filter { $0.day == day })
        if let new = totals[day], !aggregator.add(new, replacing: old, to: &summary) { summary = remade() }
      default:
        let past = Int.random(in: 0..<8, using: &random) == 0
        if !past { today = today.plus(gap(&random)) }
        let day = past ? today.plus(-Int.random(in: 0...40, using: &random)) : today
        let entry = Entry.sample(
          nextID, of: tracker, on: day, minute: Int.random(in: 0..<1440, using: &random), quantity(tracker, &random))
        nextID += 1
        entries.append(entry)
        let old = totals[day]
        let new = aggregator.total(old, adding: entry)
        #expect(new == aggregator.total(of: entries.filter { $0.day == day }))
        let newest = totals.keys.max() ?? .earliest
        totals[day] = new
        if aggregator.add(new, replacing: old, to: &summary) {
          keptUp += 1
        } else {
          // An addition to the newest day is never refused.
          #expect(day < newest)
          summary = remade()
        }
      }
      #expect(summary == remade(), "\(tracker)")
      if step % checkedEvery == 0 || step == steps - 1 {
        compare(summary, Reference(tracker, entries), aggregator, &random)
      }
    }
    #expect(keptUp > steps / 3)
  }

  private func compare(
    _ summary: TrackerSummary, _ reference: Reference, _ aggregator: ProgressAggregator, _ random: inout SeededGenerator
  ) {
    let tracker = reference.tracker
    let days = reference.days
    #expect(summary.entries == reference.entries.count)
    #expect(summary.activeDays == days.count)
    #expect(summary.metDays == days.count(where: reference.isMet))
    #expect(summary.numberedDays == days.count { reference.isMet($0) && reference.counts($0) })
    #expect(summary.firstDay == days.first.map(reference.date))
    #expect(summary.lastDay == days.last.map(reference.date))
    #expect(summary.total.grains == days.reduce(0) { $0 + reference.amount($1) })
    #expect(summary.lastAt == reference.entries.map(\.at).max())
    guard let last = days.last else { return }
    for after in [0, 1, 2, Int.random(in: 3...100, using: &random)] {
      let today = last + after
      let form = aggregator.form(of: summary, on: reference.date(today))
      let main = reference.main(today: today)
      let what: Comment = "\(tracker.counting) \(String(describing: tracker.goal)) \(after) days after"
      #expect(form.streak == (main.current.length > 0 ? main.current : Streak(unit: tracker.streakUnit)), what)
      #expect(form.longest == Reference.longest(main.all, unit: tracker.streakUnit), what)
      let weekdays = reference.runs(of: [.monday, .tuesday, .wednesday, .thursday, .friday], today: today)
      let weekends = reference.runs(of: [.saturday, .sunday], today: today)
      #expect(form.weekdayStreak == weekdays.current, what)
      #expect(form.weekendStreak == weekends.current, what)
      #expect(summary.longestWeekdays == Reference.longest(weekdays.all), what)
      #expect(summary.longestWeekends == Reference.longest(weekends.all), what)
      let strength = max(reference.strength(endOf: today), reference.strength(endOf: today - 1))
      #expect((form.strength - strength).magnitude < 1e-9, "\(what): \(form.strength), not \(strength)")
    }
  }

  private func gap(_ random: inout SeededGenerator) -> Int {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: Int.random(in: 20...120, using: &random)
    case 1, 2: Int.random(in: 2...9, using: &random)
    case 3..<8: 0
    case 8..<11: 2
    default: 1
    }
  }

  private func quantity(_ tracker: Tracker, _ random: inout SeededGenerator) -> Quantity? {
    switch tracker.kind {
    case .check: nil
    case .amount: .ml(Double(Int.random(in: 1...8, using: &random)) * 250)
    case .measure: .kg(Double(Int.random(in: 700...900, using: &random)) / 10)
    }
  }

  func randomTracker(_ random: inout SeededGenerator) -> Tracker {
    let kind = Tracker.Kind.allCases[Int.random(in: 0..<3, using: &random)]
    let start = day("2023-11-20").plus(Int.random(in: 0...200, using: &random))
    let counting: CountedDays
    switch Int.random(in: 0..<6, using: &random) {
    case 0: counting = .weekdays(WeekdaySet(rawValue: UInt8.random(in: 1...127, using: &random)))
    case 1: counting = .timesAWeek(Int.random(in: 1...7, using: &random))
    case 2: counting = .timesAMonth(Int.random(in: 1...12, using: &random))
    case 3, 4:
      let days = Int.random(in: 1...14, using: &random)
      counting = .rolling(times: Int.random(in: 1...days, using: &random), days: days)
    default: counting = .everyDay
    }
    var goal: Goal?
    if Int.random(in: 0..<3, using: &random) > 0 {
      let period = Goal.Period.allCases[Int.random(in: 0..<3, using: &random)]
      let size = period == .day ? 1 : period == .week ? 4 : 15
      switch kind {
      case .check: goal = Goal(.count(Int.random(in: 1...3, using: &random) * size), each: period)
      case .amount: goal = Goal(.total(.ml(Double(Int.random(in: 1...7, using: &random) * 250 * size))), each: period)
      case .measure: goal = Goal(.value(.kg(75)))
      }
    }
    var pauses: [ClosedRange<CivilDate>] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let first = start.plus(Int.random(in: -10...200, using: &random))
      pauses.append(first...first.plus(Int.random(in: 0...40, using: &random)))
    }
    let skips = (0..<Int.random(in: 0...12, using: &random)).map { _ in
      start.plus(Int.random(in: -5...150, using: &random))
    }
    var changes: Set<CivilDate> = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      changes.insert(start.plus(Int.random(in: -5...150, using: &random)))
    }
    let former = changes.sorted().map {
      FormerWeekdays(until: $0, weekdays: WeekdaySet(rawValue: UInt8.random(in: 1...127, using: &random)))
    }
    return .sample(
      kind, goal: goal, counting: counting, formerWeekdays: former, from: start, pauses: pauses, skips: skips,
      dayStartsAt: [0, 0, 240, 1080][Int.random(in: 0..<4, using: &random)])
  }
}
