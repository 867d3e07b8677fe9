public import ChimeSchedule

/// Why a day does not count: it neither breaks a streak nor adds to it.
public enum NotCounted: String, Hashable, Sendable, Codable, CaseIterable {
  /// Not one of the tracker's weekdays.
  case weekday
  /// A vacation.
  case paused
  /// Skipped on purpose.
  case skipped
  /// Before the tracker's first day.
  case notStarted
  /// The week, the month, or the days that follow each other had enough already. `GoalProgress` and `Statistics.calendar` tell
  /// this; the definition alone cannot.
  case enough
}

/// Whether a day can be skipped.
public enum SkipVerdict: Hashable, Sendable {
  case allowed
  /// The day is skipped already.
  case isSkipped
  /// It does not count anyhow.
  case needless(NotCounted)
  /// As many days of its month as may be are skipped.
  case budgetSpent(of: Int)
}

extension Tracker {
  /// Why a day does not count, by the definition alone; nil when it counts. Of several reasons the first of `notStarted`,
  /// `weekday`, `paused`, `skipped`.
  public func whyNotCounted(_ day: CivilDate) -> NotCounted? {
    if day < startedOn { return .notStarted }
    if let set = weekdays(on: day), !set.contains(day.weekday) { return .weekday }
    if pauses.contains(where: { $0.contains(day) }) { return .paused }
    return skips.contains(day) ? .skipped : nil
  }

  /// The weekdays that count on a day, as they were chosen then; nil where so many days of some are wanted, whichever.
  public func weekdays(on day: CivilDate) -> WeekdaySet? {
    guard case .weekdays(let set) = counting else { return nil }
    return formerWeekdays.first { day <= $0.until }?.weekdays ?? set
  }

  /// Notes which weekdays counted before, when they are others from a day on. Another way of counting begins anew: its streaks
  /// are of something else.
  ///
  /// - Parameters:
  ///   - before: the tracker as it was.
  ///   - day: the first day of the change, which is today.
  public mutating func keepWeekdays(of before: Tracker, until day: CivilDate) {
    guard case .weekdays(let new) = counting, case .weekdays(let old) = before.counting else {
      formerWeekdays = []
      return
    }
    // Nothing held for a whole day that is changed again on the day of its change.
    formerWeekdays = before.formerWeekdays.filter { $0.until < day }
    if new != old, let last = day.adding(days: -1), before.startedOn <= last,
      formerWeekdays.last.map({ $0.until < last }) ?? true
    {
      formerWeekdays.append(FormerWeekdays(until: last, weekdays: old))
    }
    if let last = formerWeekdays.last, last.weekdays == new, last.until.adding(days: 1) == day {
      formerWeekdays.removeLast()
    }
    formerWeekdays.removeFirst(max(0, formerWeekdays.count - Self.maxFormerWeekdays))
  }

  /// How many changes of weekdays are kept; of more the oldest are forgotten.
  public static let maxFormerWeekdays = 1_000

  public func counts(_ day: CivilDate) -> Bool { whyNotCounted(day) == nil }

  /// Whether a day can be skipped: it counts, and the budget of its calendar month is not spent. Skips of days that do not
  /// count anyhow, such as of a vacation that was entered later, cost nothing.
  ///
  ///     // skipsEachMonth is 2; 3 and 9 March are skipped
  ///     tracker.canSkip(CivilDate("2026-03-20")!)   // .budgetSpent(of: 2)
  ///     tracker.canSkip(CivilDate("2026-04-01")!)   // .allowed
  public func canSkip(_ day: CivilDate) -> SkipVerdict {
    switch whyNotCounted(day) {
    case .skipped: return .isSkipped
    case .some(let reason): return .needless(reason)
    case nil: break
    }
    guard let budget = skipsEachMonth else { return .allowed }
    return skipsSpent(inMonthOf: day) < budget ? .allowed : .budgetSpent(of: budget)
  }

  /// How many counted days of that day's calendar month are skipped.
  public func skipsSpent(inMonthOf day: CivilDate) -> Int {
    let month = CalendarPeriod.month.days(around: day)
    let calendar = CountedCalendar(self)
    return calendar.skips.count { month.contains(CivilDate(nearest: $0)) }
  }

  /// Minutes since the tracker's day began of a minute on the clock on the wall, 0 to 1439: by it a day that begins at
  /// 04:00 has 01:30 after 23:00.
  public func minuteOfDay(_ minute: Int) -> Int { (minute - dayStartsAt + 1440) % 1440 }

  /// What streaks are counted in: weeks and months where so many days of one are wanted, or where the goal is of one.
  public var streakUnit: Streak.Unit {
    switch counting {
    case .timesAWeek: .weeks
    case .timesAMonth: .months
    case .rolling: .days
    case .weekdays:
      switch goal?.period {
      case .week: goal?.isOfValue == true ? .days : .weeks
      case .month: goal?.isOfValue == true ? .days : .months
      case .day, nil: .days
      }
    }
  }

  /// The period that streaks count; nil for days.
  var streakPeriod: CalendarPeriod? {
    switch streakUnit {
    case .days: nil
    case .weeks: .week
    case .months: .month
    }
  }
}

extension Goal {
  var isOfValue: Bool { if case .value = target { true } else { false } }

  /// Of days: what a day's entries have to come to. Nil for a goal of a week, a month, or a value.
  var ofDay: Goal.Target? { period == .day && !isOfValue ? target : nil }
}

extension Goal.Period {
  /// Nil for a day.
  var calendar: CalendarPeriod? {
    switch self {
    case .day: nil
    case .week: .week
    case .month: .month
    }
  }
}
