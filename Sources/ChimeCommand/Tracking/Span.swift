import ChimeControl
import ChimeSchedule
import ChimeWords

/// How far back a look at a tracker goes: `--range 1W|1M|3M|6M|1Y|All`.
enum Span: String, CaseIterable, Sendable {
  case week = "1W"
  case month = "1M"
  case quarter = "3M"
  case half = "6M"
  case year = "1Y"
  case all = "All"

  static func option(usually span: Span) -> Verb.Option {
    .value(
      "range", nil, "RANGE",
      Words.say("How far back: 1W, 1M, 3M, 6M, 1Y or All (%1 unless told otherwise)", span.rawValue))
  }

  /// What the option says; `3m` is as good as `3M`.
  static func chosen(_ line: ParsedLine, usually span: Span) throws -> Span {
    guard let text = line.value("range") else { return span }
    guard let chosen = allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
      throw Failure.usage("--range is one of \(allCases.map(\.rawValue).joined(separator: ", ")), not \"\(text)\"")
    }
    return chosen
  }

  /// The first day of it; nil when it has no beginning. A month back from 31 March is 28 February, and the day after
  /// that is the first.
  func first(upTo last: CivilDate) -> CivilDate? {
    func months(_ count: Int) -> CivilDate? {
      let (year, month, day) = last.fields
      let total = year * 12 + month - 1 - count
      let (newYear, newMonth) = (total / 12, total % 12 + 1)
      let cut = min(day, CivilDate.daysIn(month: newMonth, year: newYear))
      return CivilDate(year: newYear, month: newMonth, day: cut)?.adding(days: 1)
    }
    switch self {
    case .week: return last.adding(days: -6)
    case .month: return months(1)
    case .quarter: return months(3)
    case .half: return months(6)
    case .year: return months(12)
    case .all: return nil
    }
  }

  /// As the daemon takes it.
  func range(upTo last: CivilDate) -> TrackersInterface.Range {
    TrackersInterface.Range(from: first(upTo: last)?.description, to: last.description)
  }

  /// `the last 3 months`.
  var words: String {
    switch self {
    case .week: Words.say("the last 7 days")
    case .month: Words.say("the last month")
    case .quarter: Words.say("the last 3 months")
    case .half: Words.say("the last 6 months")
    case .year: Words.say("the last year")
    case .all: Words.say("from the first entry on")
    }
  }
}
