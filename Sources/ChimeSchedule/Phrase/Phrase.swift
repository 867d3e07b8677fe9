/// A schedule of the phrase dialect, understood.
///
/// A recurring one is a pattern, which tells the possible occurrences, and bounds, which cut it. Patterns on the wall
/// clock are days times times, so that months and rotas join as further kinds of days.
struct Phrase: DialectSchedule {
  var pattern: Pattern
  var bounds = Bounds()

  enum Pattern: Sendable, Hashable {
    /// `at 2026-12-01 09:00`; bounds are empty.
    case once(Moment)
    /// `weekdays at 08:30,18:00`: times ascending, each once.
    case times(WeekdaySet, [CivilTime])
    /// `every 90m from 08:00 to 22:00 on weekdays`: a window that ends at or before its start ends on the next day.
    case window(seconds: Int64, from: CivilTime, to: CivilTime, WeekdaySet)
    /// `every 36h`: elapsed time from `starting`, which is never missing.
    case elapsed(seconds: Int64, WeekdaySet)
  }

  /// A point in time as it is written.
  enum Moment: Sendable, Hashable {
    /// `2026-12-01`: its first second, or, as an end, its last.
    case date(CivilDate)
    /// `2026-12-01 09:00`, on the clock of whatever zone the schedule is read in.
    case civil(CivilDateTime)
    /// `2026-12-01T08:00:00Z`, whole seconds.
    case instant(Instant)
  }

  struct Bounds: Sendable, Hashable {
    var starting: Moment?
    var until: Moment?
    /// How many occurrences from `starting` on, those in `except` counted too (RFC 5545's rule for COUNT).
    var count: Int?
    /// Ascending, apart from each other by at least a day.
    var except: [ClosedRange<CivilDate>] = []

    var isEmpty: Bool { starting == nil && until == nil && count == nil && except.isEmpty }
  }

  /// The largest number in `N times`.
  static let largestCount = 10_000
  /// The most times of day in one schedule: each minute of a day.
  static let mostTimes = 1_440
  /// The most items in one list of days.
  static let mostDays = 100
  /// The most dates and ranges of dates after `except`.
  static let mostExceptions = 1_000
  /// The longest interval: the whole range of ``Instant``, in seconds.
  static let longestInterval = Instant.latest.seconds

  var isOneOff: Bool {
    if case .once = pattern { true } else { false }
  }
}

extension Phrase {
  init(_ bytes: [UInt8], anchor: Anchor?) throws(Fault) {
    var parser = PhraseParser(bytes, anchor: anchor)
    try parser.lexer.start()
    self = try parser.phrase()
  }

  func timetable(in surroundings: Surroundings, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(phrase: self, zone: zone, gap: GapHandling(gap, default: .shift), fold: fold ?? .first)
  }

  /// The one way this value is written.
  var canonical: String {
    var text: String
    switch pattern {
    case .once(let moment): return "at \(moment)"
    case .times(let days, let times):
      let isSingle = days.rawValue.nonzeroBitCount == 1
      text = isSingle ? "every \(days.canonical) at " : "\(days.canonical) at "
      text += times.map(\.description).joined(separator: ",")
    case .window(let seconds, let from, let to, let days):
      text = "every \(DurationText.format(.seconds(seconds))) from \(from) to \(to)"
      if days != .everyDay { text += " on \(days.canonical)" }
    case .elapsed(let seconds, let days):
      text = "every \(DurationText.format(.seconds(seconds)))"
      if days != .everyDay { text += " on \(days.canonical)" }
    }
    return text + bounds.canonical
  }
}

extension Phrase.Bounds {
  /// As they follow a pattern, each with a space before it.
  var canonical: String {
    var text = ""
    if let starting = starting { text += " starting \(starting)" }
    if let until = until { text += " until \(until)" }
    if let count = count { text += " \(count) times" }
    if !except.isEmpty {
      text += " except "
      var isFirst = true
      for range in except {
        if !isFirst { text += "," }
        isFirst = false
        text +=
          range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound)..\(range.upperBound)"
      }
    }
    return text
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
  /// `daily`, `weekdays`, `weekends`, or days and runs of three or more of them, round the weekend too: `mon,wed,fri-sun`.
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
