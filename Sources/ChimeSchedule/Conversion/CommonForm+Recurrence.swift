extension CommonForm {
  /// The most single dates that a rule may exclude.
  private static let mostExceptions = 500

  /// Returns DTSTART, RRULE and EXDATE on the clock of the reminder's zone. `start` is the first occurrence, as RFC
  /// 5545 requires of DTSTART; `excluded` are the occurrences that exceptions remove.
  func recurrenceText(start: CivilDateTime, excluded: [CivilDateTime]) throws(Inexpressible) -> String {
    var text = "DTSTART:\(Self.stamp(start))"
    if case .date = days { return text }
    var parts: [String] = []
    switch days {
    case .weekly(.everyDay): parts = ["FREQ=DAILY"]
    case .weekly(let weekdays): parts = ["FREQ=WEEKLY", "BYDAY=\(Self.names(weekdays))"]
    case .ofMonth(let months, let days, let turn):
      parts = Self.monthly(months, turn) + ["BYMONTHDAY=\(days.map(String.init).joined(separator: ","))"]
    case .ordinal(let months, let ordinals, let turn):
      let names = ordinals.map { "\($0.ordinal)\(Self.name($0.weekday))" }
      parts = Self.monthly(months, turn) + ["BYDAY=\(names.joined(separator: ","))"]
    case .workday(let months, let places, let turn):
      guard times.count == 1 else {
        throw Inexpressible("a recurrence rule counts times, so it cannot express several on such days")
      }
      parts = Self.monthly(months, turn) + ["BYDAY=MO,TU,WE,TH,FR"]
      parts.append("BYSETPOS=\(places.map(String.init).joined(separator: ","))")
    case .weeks(let interval, let weekdays, _):
      parts = ["FREQ=WEEKLY", "INTERVAL=\(interval)", "BYDAY=\(Self.names(weekdays))"]
    case .interval(let interval, _): parts = ["FREQ=DAILY", "INTERVAL=\(interval)"]
    case .date: break
    }
    if times.count > 1 {
      guard let grid else {
        throw Inexpressible("a recurrence rule cannot express times that do not form a grid of hours and minutes")
      }
      for (name, numbers) in [("BYHOUR", grid.hours), ("BYMINUTE", grid.minutes), ("BYSECOND", grid.seconds)] {
        parts.append("\(name)=\(numbers.map(String.init).joined(separator: ","))")
      }
    }
    if let count { parts.append("COUNT=\(count)") }
    if let last { parts.append("UNTIL=\(Self.stamp(last))") }
    text += " RRULE:\(parts.joined(separator: ";"))"
    guard excluded.count <= Self.mostExceptions else {
      throw Inexpressible("a recurrence rule would have to list more than \(Self.mostExceptions) exceptions")
    }
    if !excluded.isEmpty { text += " EXDATE:\(excluded.map(Self.stamp).joined(separator: ","))" }
    return text
  }

  private static func monthly(_ months: MonthSet, _ turn: Turn?) -> [String] {
    var parts = [turn?.isYears == true ? "FREQ=YEARLY" : "FREQ=MONTHLY"]
    if let turn { parts.append("INTERVAL=\(turn.count)") }
    if months != .all || turn?.isYears == true {
      parts.append("BYMONTH=\(months.numbers.map(String.init).joined(separator: ","))")
    }
    return parts
  }

  private static func name(_ weekday: Weekday) -> String { weekday.abbreviation.prefix(2).uppercased() }

  private static func names(_ weekdays: WeekdaySet) -> String {
    Weekday.allCases.filter(weekdays.contains).map(name).joined(separator: ",")
  }

  /// Returns a date and time as `20261201T090000`, RFC 5545 section 3.3.5.
  static func stamp(_ civil: CivilDateTime) -> String {
    let (year, month, day) = civil.date.fields
    return "\(padded(year, 4))\(padded(month, 2))\(padded(day, 2))T"
      + "\(padded(civil.time.hour, 2))\(padded(civil.time.minute, 2))\(padded(civil.time.second, 2))"
  }
}
