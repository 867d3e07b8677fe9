extension RecurrenceSchedule {
  func commonForm() throws(Inexpressible) -> CommonForm {
    guard trigger.isZero else { throw Inexpressible("only a recurrence rule can express a trigger") }
    guard dates.isEmpty, instants.isEmpty, exceptInstants.isEmpty, rules.count <= 1 else {
      throw Inexpressible("only a recurrence rule can express single dates and several rules")
    }
    let begin = CivilDateTime(wallSeconds: start)
    guard let rule = rules.first else { return CommonForm(days: .date(begin.date), times: [begin.time]) }
    var form = CommonForm(days: try rule.days(from: begin.date), times: try rule.times(from: begin.time))
    form.first = begin
    if let until = rule.until {
      guard until.form != .utc || clock == .utc else { throw Inexpressible("its end is in UTC") }
      let end = until.form == .date ? until.wall + 86_399 : until.wall
      form.last = CivilDateTime(wallSeconds: end)
    }
    form.count = rule.count.map { Int($0) }
    var except = exceptDays
    for reading in exceptDates {
      guard form.times.count == 1 else { throw Inexpressible("only a recurrence rule can express single exceptions") }
      except.append(Int64(dividedByDay(reading).day))
    }
    let days = except.compactMap { CivilDate(dayNumber: Int($0)) }.map { $0...$0 }
    form.except = CivilDate.merged(days)
    return form
  }
}

extension RecurrencePattern {
  private var hasOtherDays: Bool { hasWeeks || !yearDays.isEmpty }

  /// Returns the times of each day: those named, or those that a frequency below a day reaches in steps that divide a day.
  fileprivate func times(from begin: CivilTime) throws(Inexpressible) -> [CivilTime] {
    let second = Int(begin.secondOfDay)
    var times: [Int]
    switch frequency {
    case .secondly, .minutely, .hourly:
      let unit = frequency == .secondly ? 1 : frequency == .minutely ? 60 : 3_600
      let (step, overflow) = unit.multipliedReportingOverflow(by: Int(interval))
      guard !overflow, step <= 86_400, 86_400 % step == 0 else {
        throw Inexpressible("its times differ from day to day")
      }
      guard positions.isEmpty else { throw Inexpressible("only a recurrence rule can express positions in a set") }
      times = Array(stride(from: second % step, to: 86_400, by: step))
      if frequency == .hourly || frequency == .minutely, seconds != 0 {
        times = times.flatMap { time in CommonForm.numbers(seconds).map { time / 60 * 60 + $0 } }
      } else if seconds != 0 {
        times = times.filter { seconds >> UInt64($0 % 60) & 1 != 0 }
      }
      if frequency == .hourly, minutes != 0 {
        times = times.flatMap { time in CommonForm.numbers(minutes).map { time / 3_600 * 3_600 + $0 * 60 + time % 60 } }
      } else if minutes != 0 {
        times = times.filter { minutes >> UInt64($0 / 60 % 60) & 1 != 0 }
      }
      if hours != 0 { times = times.filter { hours >> UInt64($0 / 3_600) & 1 != 0 } }
    case .daily, .weekly, .monthly, .yearly:
      let all = CommonForm.times(
        hours: hours == 0 ? [begin.hour] : CommonForm.numbers(hours),
        minutes: minutes == 0 ? [begin.minute] : CommonForm.numbers(minutes),
        seconds: seconds == 0 ? [begin.second] : CommonForm.numbers(seconds))
      times = all.map { Int($0.secondOfDay) }
    }
    guard !times.isEmpty else { throw Inexpressible("it has no time of day") }
    return Set(times).sorted().map { CivilTime(unchecked: Int32($0)) }
  }

  fileprivate func days(from begin: CivilDate) throws(Inexpressible) -> CommonForm.Days {
    guard !hasOtherDays, skip == .omit else {
      throw Inexpressible("only a recurrence rule can express weeks and days of the year, or skipping")
    }
    let months = self.months == 0 ? MonthSet.all : MonthSet(CommonForm.numbers(UInt64(self.months)))
    let named = weekdays == 0 ? WeekdaySet.everyDay : WeekdaySet(rawValue: weekdays)
    let monthDays =
      CommonForm.numbers(UInt64(self.monthDays)).map { $0 + 1 }
      + CommonForm.numbers(UInt64(monthDaysFromEnd)).map { -$0 - 1 }
    switch frequency {
    case .secondly, .minutely, .hourly, .daily:
      guard positions.isEmpty else { throw Inexpressible("only a recurrence rule can express positions in a set") }
      if frequency == .daily, interval > 1 {
        guard months == .all, named == .everyDay, monthDays.isEmpty else {
          throw Inexpressible("only a recurrence rule can express some of every so many days")
        }
        return .interval(Int(interval), from: begin)
      }
      if !monthDays.isEmpty {
        guard weekdays == 0 else { throw Inexpressible("only a recurrence rule can express such days") }
        return .ofMonth(months, monthDays)
      }
      guard months == .all else {
        guard weekdays == 0 else {
          throw Inexpressible("it cannot express days of the week in some months only")
        }
        return .ofMonth(months, Array(1...31))
      }
      return .weekly(named)
    case .weekly:
      guard positions.isEmpty, months == .all else {
        throw Inexpressible("only a recurrence rule can express such weeks")
      }
      let days = weekdays == 0 ? WeekdaySet(begin.weekday) : named
      guard interval > 1 else { return .weekly(days) }
      guard weekStart == 0 || days.rawValue.nonzeroBitCount == 1 else {
        throw Inexpressible("only a recurrence rule can express weeks that do not begin on Monday")
      }
      return .weeks(Int(interval), days, from: begin)
    case .monthly, .yearly:
      return try monthly(from: begin, months, monthDays)
    }
  }

  private func monthly(
    from begin: CivilDate, _ months: MonthSet, _ monthDays: [Int]
  ) throws(Inexpressible) -> CommonForm.Days {
    let isYears = frequency == .yearly
    let turn = interval > 1 ? CommonForm.Turn(count: Int(interval), isYears: isYears, from: begin) : nil
    var months = months
    // A yearly rule without months and month days applies in the month of its start.
    if isYears, self.months == 0, !hasMonthDays {
      guard !hasWeekdays else { throw Inexpressible("only a recurrence rule counts days of the week within a year") }
      months = MonthSet([begin.month])
    }
    if !positions.isEmpty {
      guard !isYears, ordinals.isEmpty, monthDays.isEmpty, WeekdaySet(rawValue: weekdays) == .weekdays,
        !hasTimes || (hours.nonzeroBitCount <= 1 && minutes.nonzeroBitCount <= 1 && seconds.nonzeroBitCount <= 1)
      else { throw Inexpressible("only a recurrence rule can express positions in a set") }
      return .workday(months, positions.map { Int($0) }, every: turn)
    }
    if hasWeekdays {
      if weekdays != 0, ordinals.isEmpty, !monthDays.isEmpty,
        let found = CommonForm.ordinals(WeekdaySet(rawValue: weekdays), dates: monthDays)
      {
        return .ordinal(months, found, every: turn)
      }
      guard monthDays.isEmpty else {
        throw Inexpressible("only a recurrence rule can express days that match as a date and as a day of the week")
      }
      guard weekdays == 0 else {
        if !isYears, ordinals.isEmpty, turn == nil, months == .all { return .weekly(WeekdaySet(rawValue: weekdays)) }
        throw Inexpressible("it cannot express days of the week in some months only")
      }
      return .ordinal(
        months,
        ordinals.map {
          .init(ordinal: Int($0.ordinal), weekday: Weekday(rawValue: Int($0.weekday) + 1) ?? .monday)
        }, every: turn)
    }
    return .ofMonth(months, monthDays.isEmpty ? [begin.day] : monthDays, every: turn)
  }
}
