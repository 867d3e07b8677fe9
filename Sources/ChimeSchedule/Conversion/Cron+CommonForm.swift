extension CronSchedule {
  func commonForm() throws(Inexpressible) -> CommonForm {
    let times = CommonForm.times(
      hours: CommonForm.numbers(hours), minutes: CommonForm.numbers(minutes), seconds: CommonForm.numbers(seconds))
    return CommonForm(days: try days.common(), times: times)
  }
}

extension CronDays {
  fileprivate func common() throws(Inexpressible) -> CommonForm.Days {
    guard needsBoth else {
      throw Inexpressible("only cron can express days that match either as a date or as a day of the week")
    }
    let months = MonthSet(CommonForm.numbers(self.months))
    let hasDates = dates != Self.everyDate
    let hasWeekdays = weekdays != Self.everyWeekday || ordinals != 0
    let dates = CommonForm.numbers(self.dates)
    let fromEnd = CommonForm.numbers(datesFromEnd).map { -$0 - 1 }
    let nearest = (CommonForm.numbers(self.nearest), CommonForm.numbers(nearestFromEnd))
    guard hasWeekdays else {
      guard hasDates else { return months == .all ? .weekly(.everyDay) : .ofMonth(months, dates) }
      guard !nearest.0.isEmpty || !nearest.1.isEmpty else { return .ofMonth(months, dates + fromEnd) }
      guard dates.isEmpty, fromEnd.isEmpty, nearest.0.allSatisfy({ $0 == 1 }), nearest.1.allSatisfy({ $0 == 0 }) else {
        throw Inexpressible("only cron can express the weekday nearest to a date")
      }
      return .workday(months, nearest.0 + nearest.1.map { -$0 - 1 })
    }
    let weekdays = WeekdaySet(CommonForm.numbers(self.weekdays).map { WeekdaySet(Weekday(sundayFirst: $0)) })
    if hasDates {
      guard fromEnd.isEmpty, nearest.0.isEmpty, nearest.1.isEmpty, ordinals == 0,
        let ordinal = CommonForm.ordinals(weekdays, dates: dates)
      else { throw Inexpressible("only cron can express days that match as a date and as a day of the week") }
      return .ordinal(months, ordinal)
    }
    if ordinals == 0 {
      guard months == .all else { throw Inexpressible("it cannot express days of the week in some months only") }
      return .weekly(weekdays)
    }
    guard self.weekdays == 0 else {
      throw Inexpressible("it cannot express both every and some days of the week of a month")
    }
    return .ordinal(
      months,
      CommonForm.numbers(ordinals).map { bit in
        .init(ordinal: bit / 7 == Self.lastOrdinal ? -1 : bit / 7 + 1, weekday: Weekday(sundayFirst: bit % 7))
      })
  }
}

extension Weekday {
  /// Makes a weekday from a number with 0 as Sunday.
  fileprivate init(sundayFirst number: Int) { self = Weekday(rawValue: (number + 6) % 7 + 1) ?? .sunday }
}

extension CommonForm {
  /// Returns the positions of the bits that are set.
  static func numbers(_ bits: UInt64) -> [Int] { (0..<64).filter { bits >> UInt64($0) & 1 != 0 } }

  static func times(hours: [Int], minutes: [Int], seconds: [Int]) -> [CivilTime] {
    var times: [CivilTime] = []
    times.reserveCapacity(hours.count * minutes.count * seconds.count)
    for hour in hours {
      for minute in minutes {
        for second in seconds { times.append(CivilTime(unchecked: Int32(hour * 3_600 + minute * 60 + second))) }
      }
    }
    return times
  }

  /// Returns weekdays within whole weeks of a month as ordinals: Monday within 1 to 7 is the first Monday. Returns
  /// `nil` if the dates are not whole weeks.
  static func ordinals(_ weekdays: WeekdaySet, dates: [Int]) -> [Ordinal]? {
    let weeks = Set(dates.map { ($0 - 1) / 7 }).sorted()
    let whole = weeks.flatMap { week in (1...7).map { week * 7 + $0 }.filter { $0 <= 31 } }
    guard !dates.isEmpty, whole == dates.sorted() else { return nil }
    return weeks.flatMap { week in
      Weekday.allCases.filter(weekdays.contains).map { Ordinal(ordinal: week + 1, weekday: $0) }
    }
  }
}
