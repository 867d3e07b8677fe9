import ChimeControl
import ChimeSchedule
import ChimeWords

/// A range of days on the command line: `1W`, `3M`, `1Y`, `all`, a month, a year, or two days.
///
///     RangeText.parse("3M", today: 2026-03-27)            // 2025-12-28 … 2026-03-27
///     RangeText.parse("2026-02", today: …)                // 2026-02-01 … 2026-02-28
///     RangeText.parse("2026-01-05..2026-01-20", today: …) // both inclusive; either may be missing
enum RangeText {
  static let option = Verb.Option.value(
    "range", nil, "RANGE",
    "Which days: 1W, 1M, 3M, 6M, 1Y (up to today), all, 2026-03, 2026, or 2026-03-01..2026-03-15, both included")

  /// Returns the range of `--range`; nil without the option, and for `all`.
  static func parse(_ context: Context) throws -> TrackersInterface.Range? {
    guard let text = context.line.value("range") else { return nil }
    return try parse(text, today: context.today())
  }

  /// Parses a range; returns nil for `all`.
  static func parse(_ text: String, today: CivilDate) throws -> TrackersInterface.Range? {
    let wanted = trimmed(text).lowercased()
    if wanted == "all" { return nil }
    if let day = CivilDate(wanted) { return range(day, day) }
    if wanted == "today" { return range(today, today) }
    if wanted == "yesterday", let day = today.adding(days: -1) { return range(day, day) }
    if let cut = wanted.firstRange(of: "..") {
      let ends = [wanted[..<cut.lowerBound], wanted[cut.upperBound...]].map(String.init)
      let days = ends.map { $0 == "today" ? today : CivilDate($0) }
      if zip(ends, days).allSatisfy({ $0.isEmpty || $1 != nil }), days.contains(where: { $0 != nil }) {
        if let first = days[0], let last = days[1], last < first {
          throw Failure.usage(localized("--range %1 ends before it begins", text))
        }
        return TrackersInterface.Range(from: days[0]?.description, to: days[1]?.description)
      }
    }
    let parts = wanted.split(separator: "-", omittingEmptySubsequences: false)
    if let year = Int(parts[0]), parts[0].count == 4 {
      if parts.count == 1, let first = CivilDate(year: year, month: 1, day: 1),
        let last = CivilDate(year: year, month: 12, day: 31)
      {
        return range(first, last)
      }
      if parts.count == 2, let month = Int(parts[1]), let first = CivilDate(year: year, month: month, day: 1),
        let last = CivilDate(year: year, month: month, day: CivilDate.daysIn(month: month, year: year))
      {
        return range(first, last)
      }
    }
    if let unit = wanted.last, let count = Int(wanted.dropLast()), (1...1_000).contains(count),
      let first = back(count, unit, from: today)
    {
      return range(first, today)
    }
    throw Failure.usage(
      localized("--range needs 1W, 1M, 3M, 6M, 1Y, all, a month, a year or FROM..TO, not \"%1\"", text),
      hint: localized("for example --range 3M, --range 2026-03 or --range 2026-03-01..2026-03-15"))
  }

  private static func range(_ first: CivilDate, _ last: CivilDate) -> TrackersInterface.Range {
    TrackersInterface.Range(from: first.description, to: last.description)
  }

  /// Returns the first of so many days, weeks, months or years that end today.
  private static func back(_ count: Int, _ unit: Character, from today: CivilDate) -> CivilDate? {
    switch unit {
    case "d": return today.adding(days: 1 - count)
    case "w": return today.adding(days: 1 - 7 * count)
    case "m", "y":
      let months = today.year * 12 + today.month - 1 - count * (unit == "y" ? 12 : 1)
      let (year, month) = (months / 12, months % 12 + 1)
      let day = min(today.day, CivilDate.daysIn(month: month, year: year))
      return CivilDate(year: year, month: month, day: day)?.adding(days: 1)
    default: return nil
    }
  }
}
