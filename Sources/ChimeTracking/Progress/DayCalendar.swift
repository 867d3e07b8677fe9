public import ChimeSchedule

/// A day as a calendar shows it.
public struct CalendarDay: Hashable, Sendable {
  public var day: CivilDate
  /// Nil without an entry.
  public var total: DayTotal?
  /// Nil when the day counts. `enough` where its week, month or rolling time had all it wants in the days before.
  public var whyNotCounted: NotCounted?
  /// The share of the day's goal in percent, rounded down; nil where no goal is for the day.
  public var percent: Int?
  /// Its number among the days that count and are met, from the start: 1, 2, 3 …; nil for all others.
  public var number: Int?
  public var isMet = false
  /// How near to its limit the day is; nil without a limit.
  public var limit: LimitState?

  /// As of `GoalProgress`.
  public var isOpenLimit: Bool { !isMet && limit.map { $0 != .passed } ?? false }
  public var counts: Bool { whyNotCounted == nil }
}

/// The days of a range, one after the other, also those without an entry.
///
///     let reads = DayCalendar.reads(tracker, in: march, summary)
///     let days = DayCalendar.days(
///       tracker, in: march, summary: summary, totals: try store.dayTotals(of: key, in: reads))
///     days[4].number    // 12
public enum DayCalendar {
  /// The days whose totals have to be read: the range with what `enough` looks back at, and all days after it, by which the
  /// range's numbers are known.
  public static func reads(
    _ tracker: Tracker, in range: ClosedRange<CivilDate>, _ summary: TrackerSummary
  ) -> ClosedRange<CivilDate> {
    let first = GoalProgress.reads(tracker, on: range.lowerBound).lowerBound
    return first...max(range.upperBound, summary.lastDay ?? range.upperBound)
  }

  /// - Parameters:
  ///   - summary: the kept one.
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
