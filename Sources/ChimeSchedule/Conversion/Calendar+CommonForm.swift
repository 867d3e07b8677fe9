extension CalendarExpression {
  func commonForm() throws(Inexpressible) -> CommonForm {
    if isOneOff, weekdays == .everyDay, let date = singleDate {
      return CommonForm(days: .date(date), times: try commonTimes())
    }
    guard years.isEmpty else { throw Inexpressible("only a calendar expression can express certain years") }
    return CommonForm(days: try commonDays(), times: try commonTimes())
  }

  private var singleDate: CivilDate? {
    guard !daysAreFromEnd else { return nil }
    return CivilDate(year: years[0].start, month: months[0].start, day: days[0].start)
  }

  private func commonTimes() throws(Inexpressible) -> [CivilTime] {
    let all = seconds.numbers(in: 0...60 * CalendarField.microseconds - 1, whole: CalendarField.microseconds)
    guard let all else { throw Inexpressible("only a calendar expression can express fractions of a second") }
    return CommonForm.times(
      hours: hours.numbers(in: 0...23) ?? [], minutes: minutes.numbers(in: 0...59) ?? [], seconds: all)
  }

  private func commonDays() throws(Inexpressible) -> CommonForm.Days {
    let months = MonthSet(self.months.numbers(in: 1...12) ?? [])
    let dates = days.numbers(in: 1...31) ?? []
    guard !days.isEmpty else {
      if months == .all { return .weekly(weekdays) }
      guard weekdays == .everyDay else {
        throw Inexpressible("it cannot express days of the week in some months only")
      }
      return .ofMonth(months, dates)
    }
    if weekdays == .everyDay { return .ofMonth(months, daysAreFromEnd ? dates.map { -$0 } : dates) }
    guard let ordinals = CommonForm.ordinals(weekdays, dates: dates) else {
      throw Inexpressible("it cannot express days that match as a date and as a day of the week")
    }
    return .ordinal(
      months, daysAreFromEnd ? ordinals.map { .init(ordinal: -$0.ordinal, weekday: $0.weekday) } : ordinals)
  }
}

extension [CalendarComponent] {
  /// Returns the numbers of a list, divided by `whole`; all numbers of the field for an empty list. Returns `nil` if a
  /// number is not a multiple of `whole`.
  fileprivate func numbers(in bounds: ClosedRange<Int>, whole: Int = 1) -> [Int]? {
    guard !isEmpty else {
      return Array<Int>(stride(from: bounds.lowerBound / whole, through: bounds.upperBound / whole, by: 1))
    }
    var result: Set<Int> = []
    for component in self {
      let end = component.stop ?? (component.step == 0 ? component.start : bounds.upperBound)
      guard component.start % whole == 0, component.step % whole == 0 else { return nil }
      for number in stride(from: component.start, through: end, by: Swift.max(component.step, whole)) {
        result.insert(number / whole)
      }
    }
    return result.sorted()
  }
}
