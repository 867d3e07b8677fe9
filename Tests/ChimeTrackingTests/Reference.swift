import ChimeSchedule
import ChimeTracking

/// A slow reference for `ProgressAggregator`: rereads all entries, and examines every day.
struct Reference {
  let tracker: Tracker
  let entries: [Entry]
  /// The entries by day.
  let byDay: [Int: [Entry]]
  let start: Int
  /// Whether each day from the start on counts, and which days are met; computed once.
  private var table: [Bool] = []
  private var met: Set<Int> = []

  init(_ tracker: Tracker, _ entries: [Entry]) {
    self.tracker = tracker
    self.entries = entries.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
    byDay = Dictionary(grouping: self.entries) { Int($0.day.dayNumber) }
    start = Int(tracker.startedOn.dayNumber)
    table = (start...max(start, byDay.keys.max() ?? start) + 150).map(judge)
    met = Set(byDay.keys.filter(isDone))
  }

  func date(_ day: Int) -> CivilDate { CivilDate(dayNumber: day) ?? .earliest }

  func counts(_ day: Int) -> Bool { day >= start && table[day - start] }
  func isMet(_ day: Int) -> Bool { met.contains(day) }

  private func judge(_ day: Int) -> Bool {
    let date = date(day)
    if !weekdays(day).contains(date.weekday) { return false }
    return day >= start && !tracker.skips.contains(date) && !tracker.pauses.contains { $0.contains(date) }
  }

  /// Returns the weekdays that counted on a day.
  func weekdays(_ day: Int) -> WeekdaySet {
    guard case .weekdays(var set) = tracker.counting else { return .everyDay }
    for former in tracker.formerWeekdays.reversed() where date(day) <= former.until { set = former.weekdays }
    return set
  }

  func amount(_ day: Int) -> Int64 {
    tracker.kind == .amount ? (byDay[day] ?? []).reduce(0) { $0 + ($1.quantity?.grains ?? 0) } : 0
  }

  private func isDone(_ day: Int) -> Bool {
    guard let entries = byDay[day], !entries.isEmpty else { return false }
    guard let goal = tracker.goal, goal.period == .day else { return true }
    switch goal.target {
    case .count(let count): return entries.count >= count
    case .total(let total): return amount(day) >= total.grains
    case .value: return true
    }
  }

  var days: [Int] { byDay.keys.sorted() }

  // Runs.

  /// Returns all runs of days of `some` weekdays, oldest first, up to the end of `today`, which itself breaks no run.
  func runs(of some: Set<Weekday> = Set(Weekday.allCases), today: Int) -> (all: [Streak], current: Streak) {
    var all: [Streak] = []
    var run = Streak()
    for day in stride(from: start, through: today, by: 1) where counts(day) && some.contains(date(day).weekday) {
      if isMet(day) {
        run = Streak(length: run.length + 1, first: run.first ?? date(day), last: date(day))
      } else if day < today {
        if run.length > 0 { all.append(run) }
        run = Streak()
      }
    }
    if run.length > 0 { all.append(run) }
    return (all, run)
  }

  /// The same for weeks or months.
  func periods(today: Int) -> (all: [Streak], current: Streak) {
    let unit = tracker.streakUnit
    var all: [Streak] = []
    var run = Streak(unit: unit)
    guard let earliest = days.first else { return (all, run) }
    var first = firstOfPeriod(earliest)
    while first <= today {
      let next = nextOf(first)
      let days = Array(first..<next)
      let asked = days.count { weekdays($0).contains(date($0).weekday) }
      let counted = days.count(where: counts)
      if has(days, share: (1, 1)), counted > 0 {
        run = Streak(length: run.length + 1, unit: unit, first: run.first ?? date(first), last: date(next - 1))
      } else if today >= next, counted > 0, !has(days, share: (counted, asked)) {
        if run.length > 0 { all.append(run) }
        run = Streak(unit: unit)
      }
      first = next
    }
    if run.length > 0 { all.append(run) }
    return (all, run)
  }

  private func nextOf(_ first: Int) -> Int {
    var day = first + 1
    while firstOfPeriod(day) == first { day += 1 }
    return day
  }

  private func firstOfPeriod(_ day: Int) -> Int {
    if tracker.streakUnit == .weeks { return day - (date(day).weekday.rawValue - 1) }
    return day - (date(day).day - 1)
  }

  private func has(_ days: [Int], share: (Int, Int)) -> Bool {
    func part(_ whole: Int64) -> Int64 {
      (whole * Int64(share.0) + Int64(share.1) - 1) / Int64(share.1)
    }
    switch tracker.counting {
    case .timesAWeek(let times), .timesAMonth(let times):
      if days.count(where: isMet) < part(Int64(times)) { return false }
    default: break
    }
    let period: Goal.Period = tracker.streakUnit == .weeks ? .week : .month
    guard let goal = tracker.goal, goal.period == period else { return true }
    switch goal.target {
    case .count(let count): return days.reduce(0) { $0 + (byDay[$1]?.count ?? 0) } >= part(Int64(count))
    // Multiplying grains by 31 could overflow 64 bits.
    case .total(let total):
      return Double(days.reduce(0) { $0 + amount($1) })
        >= (Double(total.grains) * Double(share.0) / Double(share.1)).rounded(.up)
    case .value: return true
    }
  }

  /// The same for rolling goals, with a list of all spans, as Loop describes it.
  func rolling(_ times: Int, _ length: Int, today: Int) -> (all: [Streak], current: Streak) {
    let counted = (start...max(today, start)).filter(counts)
    let done = counted.indices.filter { isMet(counted[$0]) }
    let (times, length) = times >= length ? (1, 1) : (times, length)
    var spans: [(begin: Int, center: Int, end: Int)] = []
    for index in done.indices.dropFirst(times - 1) {
      let (begin, center) = (done[index - times + 1], done[index])
      if center - begin < length { spans.append((begin, center, begin + length - 1)) }
    }
    for index in spans.indices.dropLast().reversed() {
      let overlap = spans[index].end - spans[index + 1].begin + 1
      if overlap > 0 {
        let shift = min(overlap, spans[index].end - spans[index].center)
        spans[index].begin -= shift
        spans[index].end -= shift
      }
    }
    let last = counted.count - 1
    var covered = Set(done)
    for span in spans where max(span.begin, 0) <= min(span.end, last) {
      covered.formUnion(max(span.begin, 0)...min(span.end, last))
    }
    var all: [Streak] = []
    var run = Streak()
    for index in counted.indices {
      if covered.contains(index) {
        run = Streak(length: run.length + 1, first: run.first ?? date(counted[index]), last: date(counted[index]))
      } else if counted[index] < today {
        if run.length > 0 { all.append(run) }
        run = Streak()
      }
    }
    if run.length > 0 { all.append(run) }
    return (all, run)
  }

  func main(today: Int) -> (all: [Streak], current: Streak) {
    if tracker.streakUnit != .days { return periods(today: today) }
    if case .rolling(let times, let days) = tracker.counting { return rolling(times, days, today: today) }
    return runs(today: today)
  }

  static func longest(_ runs: [Streak], unit: Streak.Unit = .days) -> Streak {
    runs.reduce(Streak(unit: unit)) { $1.length > $0.length ? $1 : $0 }
  }

  // Strength.

  /// Returns the strength at the end of a day, with every window summed anew.
  func strength(endOf today: Int) -> Double {
    var strength = 0.0
    guard let first = days.first(where: counts) else { return 0 }
    let counted = (start...max(today, start)).filter(counts)
    for index in counted.indices where counted[index] >= first {
      let (multiplier, worth) = worth(counted[...index])
      strength = strength * multiplier + worth * (1 - multiplier)
    }
    return strength
  }

  private func worth(_ days: ArraySlice<Int>) -> (multiplier: Double, worth: Double) {
    func many(_ times: Int, _ length: Int) -> (Double, Double) {
      if times >= length { return (power(1), worth(days.last ?? 0)) }
      let done = days.suffix(2 * length).count(where: isMet)
      return (power(Double(times) / Double(length)), min(1, Double(done) / Double(2 * times)))
    }
    switch tracker.counting {
    case .timesAWeek(let times): return many(times, 7)
    case .timesAMonth(let times): return many(times, 30)
    case .rolling(let times, let length): return many(times, length)
    case .weekdays:
      let share = Double(weekdays(days.last ?? 0).rawValue.nonzeroBitCount) / 7
      if let goal = tracker.goal, goal.period != .day {
        let length = goal.period == .week ? 7 : 30
        let window = days.suffix(max(1, Int((share * Double(length)).rounded())))
        switch goal.target {
        case .count(let count):
          return (
            power(1 / Double(length), share),
            min(1, Double(window.reduce(0) { $0 + (byDay[$1]?.count ?? 0) }) / Double(count))
          )
        case .total(let total):
          return (
            power(1 / Double(length), share),
            min(1, Double(window.reduce(0) { $0 + amount($1) }) / Double(total.grains))
          )
        case .value: break
        }
      }
      return (power(share, share), self.worth(days.last ?? 0))
    }
  }

  /// Returns the worth of a single day.
  private func worth(_ day: Int) -> Double {
    switch tracker.goal.flatMap({ $0.period == .day ? $0.target : nil }) {
    case .count(let count): min(1, Double(byDay[day]?.count ?? 0) / Double(count))
    case .total(let total): min(1, Double(amount(day)) / Double(total.grains))
    default: isMet(day) ? 1 : 0
    }
  }

  /// Returns ½ to the power of √f / 13 / share with square roots, without a library function.
  private func power(_ frequency: Double, _ share: Double = 1) -> Double {
    var exponent = frequency.squareRoot() / 13 / share
    var (result, root) = (1.0, 0.5)
    for _ in 0..<80 {
      // ½ ^ exponent, by its binary digits.
      if exponent >= 1 {
        result *= root
        exponent -= 1
      }
      exponent *= 2
      root = root.squareRoot()
    }
    return result
  }
}
