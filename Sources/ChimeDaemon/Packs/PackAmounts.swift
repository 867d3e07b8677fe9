import ChimeSchedule
import ChimeTracking

/// Parsers of the values in packs: `250 ml`, `3 times a week`, `mon-fri`, `8:30`, `12-24`.
enum PackAmounts {
  /// Parses a quantity with its unit: `0.5 l`, `75kg`, `20 pages`, `-5 C`.
  static func quantity(_ text: String) -> (quantity: Quantity, unit: Unit)? {
    var text = text.stripped
    let isNegative = text.hasPrefix("-")
    if isNegative { text.removeFirst() }
    let figures = text.prefix { ($0.isASCII && $0.isNumber) || $0 == "." }
    let word = String(text.dropFirst(figures.count)).stripped
    guard !figures.isEmpty, figures.count <= 20, figures.first != ".", figures.last != ".",
      let number = Double(figures), let unit = Unit(word),
      let quantity = Quantity(isNegative ? -number : number, unit)
    else { return nil }
    return (quantity, unit)
  }

  /// Splits `2500 ml a day` into the amount and the period.
  static func period(of text: String) -> (rest: String, period: Goal.Period) {
    let text = text.stripped
    for period in Goal.Period.allCases {
      for ending in [" a \(period.rawValue)", " each \(period.rawValue)", "/\(period.rawValue)"]
      where text.hasSuffix(ending) {
        return (String(text.dropLast(ending.count)).stripped, period)
      }
    }
    return (text, .day)
  }

  /// The prefix of a limit.
  static let atMost = ["at", "most", ""].joined(separator: " ")

  /// Parses `once`, `twice`, `3 times`.
  static func times(_ text: String, least: Int = 1) -> Int? {
    switch text.stripped {
    case "once": return 1
    case "twice": return 2
    default:
      let parts = text.split(separator: " ")
      guard parts.count == 2, ["times", "time"].contains(parts[1]), let number = whole(parts[0]), number >= least else {
        return nil
      }
      return number
    }
  }

  /// Parses the days that count: `every day`, `mon,wed-fri`, `weekends`, `3 times a week`, `10 times a month`, `3 times
  /// in 7 days`.
  static func days(_ text: String) -> CountedDays? {
    let text = text.stripped
    if let set = weekdays(text) { return .weekdays(set) }
    if let cut = text.firstRange(of: " in ") {
      let span = text[cut.upperBound...].split(separator: " ")
      guard let times = times(String(text[..<cut.lowerBound])), span.count == 2, span[1] == "days",
        let days = whole(span[0]), (2...366).contains(days), times <= days
      else { return nil }
      return .rolling(times: times, days: days)
    }
    let (rest, period) = period(of: text)
    guard rest != text, let times = times(rest) else { return nil }
    switch period {
    case .day: return nil
    case .week: return (1...7).contains(times) ? .timesAWeek(times) : nil
    case .month: return (1...31).contains(times) ? .timesAMonth(times) : nil
    }
  }

  static func weekdays(_ text: String) -> WeekdaySet? {
    switch text.stripped {
    case "every day", "daily": return .everyDay
    case "weekdays": return .weekdays
    case "weekends": return .weekends
    default: break
    }
    var set: WeekdaySet = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { weekday(String($0).stripped) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2 else { return nil }
      set.formUnion(WeekdaySet(from: first, through: last))
    }
    return set
  }

  private static func weekday(_ text: String) -> Weekday? {
    Weekday.allCases.first { $0.abbreviation == text || "\($0)" == text }
  }

  /// Returns the minutes after midnight of a time such as `8:30`.
  static func minute(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2, let hour = whole(parts[0]),
      let minute = whole(parts[1]), hour <= 23, minute <= 59
    else { return nil }
    return hour * 60 + minute
  }

  /// Returns month and day of a date such as `12-24`. 29 February is valid.
  static func dayOfYear(_ text: String) -> (month: Int, day: Int)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let month = whole(parts[0]), let day = whole(parts[1]),
      CivilDate(year: 2_024, month: month, day: day) != nil
    else { return nil }
    return (month, day)
  }

  private static func whole(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } && text.utf8.count <= 9 ? Int(text) : nil
  }
}

extension String {
  /// The text without white space at both ends.
  fileprivate var stripped: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
