public import ChimeSchedule

/// A NotCounted says why a day does not count; it then neither breaks nor extends a streak.
public enum NotCounted: String, Hashable, Sendable, Codable, CaseIterable {
  case weekday
  case paused
  case skipped
  case notStarted
  /// The week, month or rolling span was satisfied already. Only `GoalProgress` and `DayCalendar` report this;
  /// the definition alone cannot tell.
  case enough
}

extension Tracker {
  /// Returns why a day does not count, by the definition alone; nil if it counts. Of several reasons, the first of
  /// `notStarted`, `weekday`, `paused`, `skipped` is returned.
  public func whyNotCounted(_ day: CivilDate) -> NotCounted? {
    if day < startedOn { return .notStarted }
    if let set = weekdays(on: day), !set.contains(day.weekday) { return .weekday }
    if pauses.contains(where: { $0.contains(day) }) { return .paused }
    return skips.contains(day) ? .skipped : nil
  }

  /// Returns whether this very day asks for it, which goals per week and "so many times a week" do not.
  func isDue(on day: CivilDate) -> Bool {
    guard case .weekdays = counting, streakUnit == .days else { return false }
    return whyNotCounted(day) == nil
  }

  /// Returns the weekdays that counted on a day; nil if the tracker counts any days, up to a number.
  public func weekdays(on day: CivilDate) -> WeekdaySet? {
    guard case .weekdays(let set) = counting else { return nil }
    return formerWeekdays.first { day <= $0.until }?.weekdays ?? set
  }

  /// Keeps the former weekdays if they differ from a day on. After a change of `counting` to another kind, streaks
  /// start again, so nothing is kept.
  ///
  /// - Parameters:
  ///   - before: the previous definition.
  ///   - day: the first day of the change, which is today.
  public mutating func keepWeekdays(of before: Tracker, until day: CivilDate) {
    guard case .weekdays(let new) = counting, case .weekdays(let old) = before.counting else {
      formerWeekdays = []
      return
    }
    // Weekdays set today and changed again today never held for a whole day.
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

  /// The most changes of weekdays that are kept; the oldest are dropped.
  public static let maxFormerWeekdays = 1_000

  public func counts(_ day: CivilDate) -> Bool { whyNotCounted(day) == nil }

  /// Returns the minutes since the tracker's day started, for a local time in minutes after midnight (0…1439). If the
  /// day starts at 04:00, 01:30 is after 23:00.
  public func minuteOfDay(_ minute: Int) -> Int { (minute - dayStartsAt + 1440) % 1440 }

  /// What streaks count: weeks or months if `counting` or the goal is per week or month, otherwise days.
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

  /// The target of a day's entries; nil for a goal per week or month, or a value.
  var ofDay: Goal.Target? { period == .day && !isOfValue ? target : nil }
}

extension Goal.Period {
  /// The calendar period; nil for a day.
  var calendar: CalendarPeriod? {
    switch self {
    case .day: nil
    case .week: .week
    case .month: .month
    }
  }
}
