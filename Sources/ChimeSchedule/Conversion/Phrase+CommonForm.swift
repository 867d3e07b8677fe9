extension Phrase {
  func commonForm(zone: Zone) throws(Inexpressible) -> CommonForm {
    var form: CommonForm
    switch pattern {
    case .once(let moment):
      let civil = moment.civil(zone, isEnd: false)
      return CommonForm(days: .date(civil.date), times: [civil.time])
    case .times(let days, let times):
      form = CommonForm(days: try days.common(from: bounds.starting?.civil(zone, isEnd: false).date), times: times)
    case .window(let seconds, let from, let to, let days):
      guard from < to || days == .weekdays(.everyDay) else {
        throw Inexpressible("only a phrase can express a window that ends on the next day")
      }
      let end = to.secondOfDay + (to <= from ? 86_400 : 0)
      let times = stride(from: from.secondOfDay, through: end, by: Int(seconds)).map { $0 % 86_400 }
      form = CommonForm(
        days: try days.common(from: bounds.starting?.civil(zone, isEnd: false).date),
        times: Set(times).sorted().map { CivilTime(unchecked: $0) })
    case .elapsed:
      throw Inexpressible("only a phrase, or a recurrence rule in UTC, can express an interval of elapsed time")
    case .daysAfterDone, .elapsedAfterDone:
      throw Inexpressible("only a phrase can count from when it was done")
    }
    guard bounds.exceptCalendars.isEmpty else {
      throw Inexpressible(
        "only a phrase can express the days of a calendar")
    }
    guard bounds.exceptYearly.isEmpty else { throw Inexpressible("only a phrase can express yearly exceptions") }
    form.first = bounds.starting?.civil(zone, isEnd: false)
    form.last = bounds.until?.civil(zone, isEnd: true)
    form.count = bounds.count
    form.except = bounds.except
    return form
  }
}

extension Phrase.Days {
  /// Returns the days in the common form; `start` is the day from which rotas count.
  fileprivate func common(from start: CivilDate?) throws(Inexpressible) -> CommonForm.Days {
    switch self {
    case .weekdays(let weekdays): return .weekly(weekdays)
    case .dates(let dates): return try dates.common(every: nil)
    default: break
    }
    guard let start else { throw Inexpressible("its first day is missing") }
    switch self {
    case .days(let every): return .interval(every, from: start)
    case .weeks(let every, let weekdays): return .weeks(every, weekdays, from: start)
    case .months(let every, let selection):
      return try selection.common(.all, every: .init(count: every, isYears: false, from: start))
    case .years(let every, let dates):
      return try dates.common(every: .init(count: every, isYears: true, from: start))
    case .weekdays, .dates: throw Inexpressible("")
    }
  }
}

extension MonthDays {
  fileprivate func common(every turn: CommonForm.Turn?) throws(Inexpressible) -> CommonForm.Days {
    let groups = groups
    guard groups.count == 1, let group = groups.first else {
      throw Inexpressible("only a phrase can express different days in different months")
    }
    return try group.selection.common(MonthSet(rawValue: group.months), every: turn)
  }
}

extension MonthSelection {
  fileprivate func common(_ months: MonthSet, every turn: CommonForm.Turn?) throws(Inexpressible) -> CommonForm.Days {
    let days = CommonForm.numbers(UInt64(days)) + CommonForm.numbers(UInt64(daysFromEnd)).map { -$0 }
    let workdays = CommonForm.numbers(UInt64(workdays)) + CommonForm.numbers(UInt64(workdaysFromEnd)).map { -$0 }
    func ordinal(_ bit: Int, _ sign: Int) -> CommonForm.Ordinal {
      .init(ordinal: sign * (bit / 7 + 1), weekday: Weekday(rawValue: bit % 7 + 1) ?? .monday)
    }
    let ordinals =
      CommonForm.numbers(weekdays).map { ordinal($0, 1) } + CommonForm.numbers(weekdaysFromEnd).map { ordinal($0, -1) }
    switch (days.isEmpty, ordinals.isEmpty, workdays.isEmpty) {
    case (false, true, true): return .ofMonth(months, days, every: turn)
    case (true, false, true): return .ordinal(months, ordinals, every: turn)
    case (true, true, false): return .workday(months, workdays, every: turn)
    default: throw Inexpressible("only a phrase can express such a mixture of days")
    }
  }
}
