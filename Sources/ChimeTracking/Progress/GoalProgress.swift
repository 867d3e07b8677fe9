public import ChimeSchedule

/// A GoalProgress is a tracker's state on a day: what was reached, what remains, and its runs.
///
///     let days = GoalProgress.reads(tracker, on: today)
///     let progress = GoalProgress(
///       tracker, on: today, summary: summary, totals: try store.dayTotals(of: key, in: days))
///     progress.remaining    // 750 ml
public struct GoalProgress: Hashable, Sendable {
  public var day: CivilDate
  /// The day's total; nil without entries.
  public var total: DayTotal?
  /// The value of that day or the latest before it, for a measure.
  public var value: Quantity?
  /// What to reach, and in which period: the goal; else the number of days per week or month, or in a rolling span (then
  /// `Wanted.period` is nil); else one entry a day. Nil for an amount or a measure without a goal.
  public var wanted: Wanted?
  /// The total of the period so far, or a measure's value. Days and entries count as `Quantity.one` each.
  public var reached: Quantity?
  /// What is left, at least zero: for a measure, the distance to its goal in either direction.
  public var remaining: Quantity?
  /// The percentage, rounded down, more than 100 if exceeded. For a measure, the part of the way from its first value
  /// to the goal, 0 to 100. It is at least 100 exactly when `isReached`.
  public var percent: Int?
  public var isReached: Bool
  /// Whether the day is done: its own goal, or that of its week or month, is met; without such a goal, it has an entry.
  /// The day of a limit is done once it is over and has not exceeded the limit.
  public var isMet: Bool
  /// The state of the day's limit; nil without a limit.
  public var limit: LimitState?
  /// Why the day does not count; nil if it does.
  public var whyNotCounted: NotCounted?
  public var form: Form
  /// The number of counted days met up to and including this one, which is the day's own number if it is met.
  public var number: Int
  /// The same for its calendar month, and how many days of that month count in total, or are wanted per `counting`.
  public var numberThisMonth: Int
  public var countedThisMonth: Int

  public var counts: Bool { whyNotCounted == nil }

  /// Whether the day of a limit is not over and has not exceeded it, so that there is nothing to do or to regret.
  public var isOpenLimit: Bool { !isMet && limit.map { $0 != .exceeded } ?? false }

  /// A Wanted is what to reach.
  public struct Wanted: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case entries, total, value, days }
    public var kind: Kind
    public var quantity: Quantity
    /// The period; nil for a rolling span.
    public var period: Goal.Period?

    public init(_ kind: Kind, _ quantity: Quantity, each period: Goal.Period?) {
      self.kind = kind
      self.quantity = quantity
      self.period = period
    }
  }

  /// Returns the days whose totals are needed: the day's month and week up to the day, or its rolling span.
  public static func reads(_ tracker: Tracker, on day: CivilDate) -> ClosedRange<CivilDate> {
    var first = min(
      CalendarPeriod.month.days(around: day).lowerBound, CalendarPeriod.week.days(around: day).lowerBound)
    if case .rolling = tracker.counting { first = min(first, reads(tracker, rolling: day)) }
    return min(first, day)...day
  }

  /// - Parameters:
  ///   - summary: the summary of all entries up to that day: the stored one for today; for a day before its `lastDay`,
  ///     that of `ProgressAggregator.summary(of:)` for the totals up to the day.
  ///   - totals: those of `reads(_:on:)`, in order; others are ignored.
  ///   - isOver: whether the day has ended, which decides whether a limit is judged.
  public init(
    _ tracker: Tracker, on day: CivilDate, summary: TrackerSummary, totals: some Sequence<DayTotal>,
    isOver: Bool = false
  ) {
    let reads = Self.reads(tracker, on: day)
    let totals = totals.filter { reads.contains($0.day) }
    let aggregator = ProgressAggregator(tracker)
    // The first day that is not judged yet.
    let open = isOver ? day.adding(days: 1) ?? day : day
    let summary = aggregator.closed(summary, before: open)
    self.day = day
    total = totals.last.flatMap { $0.day == day ? $0 : nil }
    value = tracker.kind == .measure ? summary.lastValue : nil
    form = aggregator.form(of: summary, on: day)
    let month = CalendarPeriod.month.days(around: day)
    number = summary.numberedDays
    numberThisMonth = aggregator.numbered(in: month, totals, today: open)
    countedThisMonth = aggregator.due(in: month)
    let wanted = Self.wanted(tracker, total)
    self.wanted = wanted
    let course = PeriodProgress(aggregator, totals, up: day)
    let reached = wanted.map { course.reached($0) } ?? total.map(\.total) ?? .zero
    isReached = false
    switch (tracker.kind, wanted) {
    case (.measure, let wanted?) where wanted.kind == .value:
      self.reached = value
      let way = value.map { MeasureWay(first: summary.firstValue ?? $0, now: $0, goal: wanted.quantity) }
      remaining = way?.remaining
      percent = way?.percent
      isReached = way?.isThere ?? false
    case (_, let wanted?):
      self.reached = reached
      remaining = max(wanted.quantity - reached, .zero)
      percent = Self.percent(reached, of: wanted.quantity)
      isReached = reached >= wanted.quantity
    case (.measure, nil): self.reached = value
    case (_, nil): self.reached = reached
    }
    let done = aggregator.isMet(total, on: day, today: open)
    limit = tracker.limitState(of: total)
    if tracker.isLimited {
      isReached = done
      if wanted?.quantity == .zero { percent = nil }
    }
    if let goal = tracker.goal, goal.period != .day, !goal.isOfValue { isMet = isReached } else { isMet = done }
    whyNotCounted = tracker.whyNotCounted(day) ?? (course.hadEnough ? .enough : nil)
  }

  private static func wanted(_ tracker: Tracker, _ total: DayTotal?) -> Wanted? {
    var goal = tracker.goal
    // A day keeps the goal that it had.
    if goal?.ofDay != nil, let then = total?.goal, then.ofDay != nil, then.isAtMost == tracker.isLimited { goal = then }
    if let goal {
      switch goal.target {
      case .count(let count): return Wanted(.entries, .ones(count), each: goal.period)
      case .total(let quantity): return Wanted(.total, quantity, each: goal.period)
      case .value(let quantity): return Wanted(.value, quantity, each: goal.period)
      }
    }
    switch tracker.counting {
    case .timesAWeek(let times): return Wanted(.days, .ones(times), each: .week)
    case .timesAMonth(let times): return Wanted(.days, .ones(times), each: .month)
    case .rolling(let times, _): return Wanted(.days, .ones(times), each: nil)
    case .weekdays: return tracker.kind == .check ? Wanted(.entries, .one, each: .day) : nil
    }
  }

  /// Returns the percentage, rounded down and at least 0.
  static func percent(_ reached: Quantity, of wanted: Quantity) -> Int {
    guard reached > .zero else { return wanted > .zero ? 0 : 100 }
    guard wanted > .zero else { return 100 }
    let product = reached.grains.multipliedFullWidth(by: 100)
    guard product.high < wanted.grains else { return .max }
    return Int(wanted.grains.dividingFullWidth(product).quotient)
  }
}

extension Quantity {
  /// Returns this many of the things that are counted.
  public static func ones(_ count: Int) -> Quantity {
    let (grains, overflow) = Int64(count).multipliedReportingOverflow(by: Quantity.one.grains)
    return Quantity(grains: overflow ? .max : grains)
  }
}

/// A MeasureWay is the way of a measure from its first value to its goal.
struct MeasureWay {
  var first: Quantity
  var now: Quantity
  var goal: Quantity

  /// Whether the goal is reached, downwards if the first value was above it, otherwise upwards.
  var isThere: Bool { first > goal ? now <= goal : first < goal ? now >= goal : now == goal }
  var remaining: Quantity { isThere ? .zero : now > goal ? now - goal : goal - now }
  /// The percentage of the way; 100 only if the goal is reached.
  var percent: Int {
    if isThere { return 100 }
    let whole = Double(first.grains) - Double(goal.grains)
    let done = Double(first.grains) - Double(now.grains)
    guard whole != 0, done / whole > 0 else { return 0 }
    return Int(min(99, done / whole * 100))
  }
}

/// A PeriodProgress adds up the days up to a given one, as far as the tracker's goal and counting ask for.
struct PeriodProgress {
  private let aggregator: ProgressAggregator
  fileprivate let totals: [DayTotal]
  private let day: CivilDate

  init(_ aggregator: ProgressAggregator, _ totals: [DayTotal], up day: CivilDate) {
    self.aggregator = aggregator
    self.totals = totals
    self.day = day
  }

  func reached(_ wanted: GoalProgress.Wanted) -> Quantity {
    let within = days(of: wanted.period)
    switch wanted.kind {
    case .entries: return .ones(within.reduce(0) { $0 + $1.count })
    case .days: return .ones(within.count { $0.isMet })
    case .total, .value: return within.reduce(.zero) { $0 + $1.total }
    }
  }

  /// Whether earlier days had satisfied the day's week, month or rolling span.
  var hadEnough: Bool {
    func met(_ period: Goal.Period?) -> Int { days(of: period).count { $0.isMet && $0.day < day } }
    switch aggregator.tracker.counting {
    case .timesAWeek(let times) where met(.week) < times: return false
    case .timesAMonth(let times) where met(.month) < times: return false
    case .rolling(let times, _): return met(nil) >= times
    default: break
    }
    guard let goal = aggregator.tracker.goal, let wanted = goal.wanted, goal.period != .day else {
      if case .weekdays = aggregator.tracker.counting { return false }
      return true
    }
    let before = days(of: goal.period).filter { $0.day < day }
    if case .count = goal.target { return before.reduce(0) { $0 + Int64($1.count) } >= wanted }
    return before.reduce(Quantity.zero) { $0 + $1.total } >= Quantity(grains: wanted)
  }

  private func days(of period: Goal.Period?) -> ArraySlice<DayTotal> {
    let first: CivilDate
    switch period {
    case .day: first = day
    case .week: first = CalendarPeriod.week.days(around: day).lowerBound
    case .month: first = CalendarPeriod.month.days(around: day).lowerBound
    case nil: first = GoalProgress.reads(aggregator.tracker, rolling: day)
    }
    return totals[index(of: first)..<index(of: day.adding(days: 1) ?? day)]
  }
}

extension PeriodProgress {
  /// Returns the index of the first total that is not before a day.
  private func index(of day: CivilDate) -> Int {
    var (low, high) = (0, totals.count)
    while low < high {
      let middle = (low + high) / 2
      if totals[middle].day < day { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension GoalProgress {
  /// Returns the first day of the rolling span that ends with a day.
  static func reads(_ tracker: Tracker, rolling day: CivilDate) -> CivilDate {
    guard case .rolling(_, let days) = tracker.counting else { return day }
    let calendar = CountedCalendar(tracker)
    let back = calendar.position(day.number) - days + 1
    return min(calendar.day(at: max(back, 1)).map(CivilDate.init(nearest:)) ?? day, day)
  }
}

extension ProgressAggregator {
  /// Returns how many days of a range the tracker wants: the counted days, or for "so many times in a period" the
  /// rounded proportion of them.
  public func due(in days: ClosedRange<CivilDate>) -> Int {
    let counted = calendar.count(days.lowerBound.number, days.upperBound.number)
    let (times, span): (Int, Int)
    switch tracker.counting {
    case .weekdays: return counted
    case .timesAWeek(let number): (times, span) = (number, 7)
    case .timesAMonth(let number): (times, span) = (number, CivilDate.daysIn(days))
    case .rolling(let number, let days): (times, span) = (number, days)
    }
    guard times < span else { return counted }
    return Int((Double(counted) * Double(times) / Double(span)).rounded())
  }

  /// Returns the same without a limit's day that is not over, unless the limit is exceeded already.
  func due(in days: ClosedRange<CivilDate>, _ totals: some Sequence<DayTotal>, today: CivilDate) -> Int {
    let due = due(in: days)
    guard tracker.isLimited, days.contains(today), counts(today) else { return due }
    return totals.contains { $0.day == today && !tracker.wasMet($0) } ? due : due - 1
  }
}

extension CivilDate {
  /// Returns the number of days of the month in which a range starts.
  static func daysIn(_ days: ClosedRange<CivilDate>) -> Int {
    let (year, month, _) = days.lowerBound.fields
    return daysIn(month: month, year: year)
  }
}
