extension Phrase {
  /// The canonical text.
  var canonical: String {
    var text: String
    switch pattern {
    case .once(let moment): return "at \(moment)"
    case .times(let days, let times):
      text = "\(days.canonical) at \(times.map(\.description).joined(separator: ","))"
    case .window(let seconds, let from, let to, let days):
      text = "every \(Phrase.length(seconds)) from \(from) to \(to)\(days.afterInterval)"
    case .elapsed(let seconds, let days):
      text = "every \(Phrase.length(seconds))\(days.afterInterval)"
    case .daysAfterDone(let days, let times):
      let (count, unit) = days % 7 == 0 ? (days / 7, "week") : (days, "day")
      text = count == 1 ? "every \(unit)" : "every \(count) \(unit)s"
      text += " after done at \(times.map(\.description).joined(separator: ","))"
    case .elapsedAfterDone(let seconds): text = "every \(Phrase.length(seconds)) after done"
    }
    return text + bounds.canonical
  }

  /// Returns an interval in hours or smaller units, because days and weeks would mean those of the calendar.
  static func length(_ seconds: Int64) -> String {
    seconds % 86_400 == 0 ? "\(seconds / 3_600)h" : DurationText.format(.seconds(seconds))
  }
}

extension Phrase.Days {
  /// The days as written before `at`.
  var canonical: String {
    switch self {
    case .weekdays(let days): days.rawValue.nonzeroBitCount == 1 ? "every \(days.canonical)" : days.canonical
    case .days(let count): "every \(count) days"
    case .weeks(let count, let days): "every \(count) weeks on \(days == .everyDay ? "mon-sun" : days.canonical)"
    case .dates(let dates): dates.canonical
    case .months(let count, let selection): "every \(count) months on \(selection.canonical)"
    case .years(let count, let dates): "every \(count) years on \(dates.list)"
    }
  }

  /// The days as written after an interval, with a leading space; empty for every day.
  fileprivate var afterInterval: String {
    switch self {
    case .weekdays(.everyDay): ""
    case .weekdays(let days): " on \(days.canonical)"
    case .dates(let dates): " on \(dates.list)"
    // No interval has these.
    case .days, .weeks, .months, .years: ""
    }
  }
}

extension Phrase.Bounds {
  /// The bounds as written after a pattern, each with a leading space.
  var canonical: String {
    var text = ""
    if let starting { text += " starting \(starting)" }
    if let until { text += " until \(until)" }
    if let count { text += " \(count) times" }
    var parts = exceptCalendars
    if let first = parts.first { parts[0] = "on \(first)" }
    for range in except {
      parts.append(
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound)..\(range.upperBound)")
    }
    if !exceptYearly.isEmpty { parts.append(exceptYearly.canonical) }
    return parts.isEmpty ? text : "\(text) except \(parts.joined(separator: ","))"
  }
}

extension Phrase.Moment: CustomStringConvertible {
  var description: String {
    switch self {
    case .date(let date): date.description
    case .civil(let civil): civil.description
    case .instant(let instant): RFC3339.format(instant, in: .utc)
    }
  }
}

extension WeekdaySet {
  /// `daily`, `weekdays`, `weekends`, or days with ranges from three on, also across the weekend: `mon,wed,fri-sun`.
  var canonical: String {
    switch self {
    case .everyDay: return "daily"
    case .weekdays: return "weekdays"
    case .weekends: return "weekends"
    default: break
    }
    var parts: [(first: Int, text: String)] = []
    for day in Weekday.allCases where contains(day) && !contains(day.preceding) {
      var last = day
      var length = 1
      while contains(last.following), length < 7 {
        last = last.following
        length += 1
      }
      if length > 2 {
        parts.append((day.rawValue, "\(day.abbreviation)-\(last.abbreviation)"))
      } else {
        parts.append((day.rawValue, day.abbreviation))
        if length == 2 { parts.append((last.rawValue, last.abbreviation)) }
      }
    }
    parts.sort { $0.first < $1.first }
    return parts.map(\.text).joined(separator: ",")
  }
}

extension Weekday {
  var preceding: Weekday { Weekday(rawValue: (rawValue + 5) % 7 + 1) ?? .sunday }
}
