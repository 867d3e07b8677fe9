extension CommonForm {
  /// Returns the form as an expression of systemd.time(7). The parser normalizes it later.
  func calendarText() throws(Inexpressible) -> String {
    let days = try calendarDays()
    try refuseBounds(in: "a calendar expression")
    guard let grid else {
      throw Inexpressible("a calendar expression cannot express times that do not form a grid of hours and minutes")
    }
    let time = [(grid.hours, 0...23), (grid.minutes, 0...59), (grid.seconds, 0...59)]
      .map { part($0.0, of: $0.1) }.joined(separator: ":")
    return "calendar: \(days) \(time)"
  }

  private func calendarDays() throws(Inexpressible) -> String {
    func text(_ months: MonthSet, _ turn: Turn?) throws(Inexpressible) -> String {
      guard turn == nil else {
        throw Inexpressible("a calendar expression has no start, so it cannot count months or years")
      }
      return part(months.numbers, of: 1...12)
    }
    func names(_ weekdays: WeekdaySet) -> String {
      Weekday.allCases.filter(weekdays.contains).map(\.abbreviation.capitalizedWord).joined(separator: ",")
    }
    switch days {
    case .weekly(.everyDay): return "*-*-*"
    case .weekly(let weekdays): return "\(names(weekdays)) *-*-*"
    case .ofMonth(let months, let days, let turn):
      let months = try text(months, turn)
      if days.allSatisfy({ $0 > 0 }) { return "*-\(months)-\(part(days, of: 1...31))" }
      guard days.allSatisfy({ $0 < 0 }) else {
        throw Inexpressible("a calendar expression counts days from one end of the month, not from both")
      }
      return "*-\(months)~\(days.map { String(-$0) }.joined(separator: ","))"
    case .ordinal(let months, let ordinals, let turn):
      // The nth week of a month is seven days counted from its start or its end.
      let weekdays = Set(ordinals.map(\.weekday))
      let weeks = Set(ordinals.map(\.ordinal))
      guard weekdays.count * weeks.count == ordinals.count, weeks.allSatisfy({ $0 > 0 }) || weeks.allSatisfy({ $0 < 0 })
      else { throw Inexpressible("a calendar expression cannot express such a list of days of the week") }
      let days = weeks.sorted().flatMap { week in
        (1...7).map { (abs(week) - 1) * 7 + $0 }.filter { $0 <= 31 }
      }
      let sign = weeks.allSatisfy { $0 > 0 } ? "-" : "~"
      let set = WeekdaySet(weekdays.map { WeekdaySet($0) })
      return "\(names(set)) *-\(try text(months, turn))\(sign)\(runs(days.sorted(), joinedBy: ".."))"
    case .workday: throw Inexpressible("a calendar expression cannot count the weekdays of a month")
    case .date(let date): return date.description
    case .weeks, .interval:
      throw Inexpressible("a calendar expression has no start, so it cannot count weeks or days")
    }
  }

  private func part(_ numbers: [Int], of all: ClosedRange<Int>) -> String {
    if numbers.count == all.count { return "*" }
    return runs(numbers, joinedBy: "..")
  }
}

extension String {
  /// The word with a capital letter: `Mon` for `mon`.
  fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}
