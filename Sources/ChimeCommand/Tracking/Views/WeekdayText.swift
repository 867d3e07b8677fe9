import ChimeControl
import ChimeSchedule
import ChimeWords

/// Weekdays on the command line and on the wire.
enum WeekdayText {
  /// Parses `mon,wed`, `mon-fri`, `weekdays`, `weekends` or `daily` into the wire's names, in order.
  static func parse(_ text: String, option: String) throws -> [String] {
    var set: WeekdaySet = []
    for part in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
      switch part.lowercased() {
      case "weekdays", "workdays": set.formUnion(.weekdays)
      case "weekends", "weekend": set.formUnion(.weekends)
      case "daily", "all", "everyday": set.formUnion(.everyDay)
      case let part:
        let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { day(String($0)) }
        if ends.count == 1, let day = ends[0] {
          set.insert(WeekdaySet(day))
        } else if ends.count == 2, let first = ends[0], let last = ends[1] {
          set.formUnion(WeekdaySet(from: first, through: last))
        } else {
          throw Failure.usage(
            localized("--%1 needs days of the week such as mon,wed,fri, not \"%2\"", option, text),
            hint: SpellingSuggestions.question(part, among: names + ["weekdays", "weekends", "daily"]))
        }
      }
    }
    try need(!set.isEmpty, localized("--%1 needs days of the week such as mon,wed,fri, not \"%2\"", option, text))
    return Weekday.allCases.filter { set.contains($0) }.map(\.abbreviation)
  }

  /// Converts the wire's names, sorted.
  static func days(_ texts: [String]) -> [Weekday] { texts.compactMap { day($0) }.sorted { $0.rawValue < $1.rawValue } }

  private static let names = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// Parses a name, or a prefix of at least three letters.
  static func day(_ text: String) -> Weekday? {
    let text = text.lowercased()
    guard text.count >= 3 else { return nil }
    return names.firstIndex { $0.hasPrefix(text) }.flatMap { Weekday(rawValue: $0 + 1) }
  }
}
