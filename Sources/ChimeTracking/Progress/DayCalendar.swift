public import ChimeSchedule

/// A CalendarDay is a day as a calendar shows it.
public struct CalendarDay: Hashable, Sendable {
  public var day: CivilDate
  /// The day's total; nil without entries.
  public var total: DayTotal?
  /// Why the day does not count, if it does not; `enough` if earlier days had satisfied its week, month or rolling span.
  public var whyNotCounted: NotCounted?
  /// The percentage of the day's goal, rounded down; nil without a goal per day.
  public var percent: Int?
  /// Its number among the counted days that were met, from the start: 1, 2, 3 …; nil for all others.
  public var number: Int?
  public var isMet = false
  /// The state of the day's limit; nil without a limit.
  public var limit: LimitState?

  /// Whether the limit has not been exceeded but the day is not over, as in `GoalProgress`.
  public var isOpenLimit: Bool { !isMet && limit.map { $0 != .exceeded } ?? false }
  public var counts: Bool { whyNotCounted == nil }
}

/// DayCalendar lists all days of a range, including those without entries.
///
///     let reads = DayCalendar.reads(tracker, in: march, summary)
///     let days = DayCalendar.days(
///       tracker, in: march, summary: summary, totals: try store.dayTotals(of: key, in: reads))
///     days[4].number    // 12
public enum DayCalendar {
  /// Returns the days whose totals are needed: the range, what `enough` looks back at, and all later days, which
  /// determine the numbers in the range.
  public static func reads(
    _ tracker: Tracker, in range: ClosedRange<CivilDate>, _ summary: TrackerSummary
  ) -> ClosedRange<CivilDate> {
    let first = GoalProgress.reads(tracker, on: range.lowerBound).lowerBound
    return first...max(range.upperBound, summary.lastDay ?? range.upperBound)
  }

  /// Returns the days of the range.
  ///
  /// - Parameters:
  ///   - summary: the stored summary.
  ///   - totals: those of `reads(_:in:_:)`, in order.
  ///   - today: the first day that is not over.
  public static func days(
    _ tracker: Tracker, in range: ClosedRange<CivilDate>, summary: TrackerSummary, totals: some Sequence<DayTotal>,
    today: CivilDate
  ) -> [CalendarDay] {
    let totals = Array(totals)
    let aggregator = ProgressAggregator(tracker)
    var number =
      aggregator.closed(summary, before: today).numberedDays
      - aggregator.numbered(in: range.lowerBound ... .latest, totals, today: today)
    var next = totals.firstIndex { $0.day >= range.lowerBound } ?? totals.endIndex
    var days: [CalendarDay] = []
    for dayNumber in range.lowerBound.number...range.upperBound.number {
      var day = CalendarDay(day: CivilDate(nearest: dayNumber))
      if next < totals.endIndex, totals[next].day == day.day {
        let total = totals[next]
        day.total = total
        day.percent = percent(of: total)
        next += 1
      }
      day.isMet = aggregator.isMet(day.total, on: day.day, today: today)
      if day.isMet, aggregator.counts(day.day) {
        number += 1
        day.number = number
      }
      if day.day >= tracker.startedOn, day.day <= today { day.limit = tracker.limitState(of: day.total) }
      day.whyNotCounted =
        tracker.whyNotCounted(day.day) ?? (PeriodProgress(aggregator, totals, up: day.day).hadEnough ? .enough : nil)
      days.append(day)
    }
    return days
  }

  private static func percent(of total: DayTotal) -> Int? {
    switch total.goal?.ofDay {
    case .count(let wanted): GoalProgress.percent(.ones(total.count), of: .ones(wanted))
    case .total(let wanted): GoalProgress.percent(total.total, of: wanted)
    case .value, nil: nil
    }
  }
}
