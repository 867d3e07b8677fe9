import ChimeSchedule
import ChimeWords

/// A calendar of one month: a row for each week, which begins on Monday, and a cell for each day.
struct MonthGrid {
  struct Cell {
    var text: String
    var tone: Style.Tone = .plain
  }

  /// Any day of the month.
  var month: CivilDate
  var today: CivilDate
  /// Returns the content of a day's cell; today gets brackets.
  var cell: (CivilDate) -> Cell

  /// Returns lines of at most `width` columns; a day takes 5 to 11 of them.
  func lines(width: Int, style: Style) -> [String] {
    let room = min(max(width / 7, 5), 11)
    let first = DayText.firstOfMonth(month)
    let head = Weekday.allCases.map { day in
      TextWidth.pad(" " + TextWidth.truncate(LocalizedFormat.weekday(day), to: room - 1), to: room)
    }
    var lines = [style(Self.bare(head.joined()), .faint)]
    var line = String(repeating: " ", count: room * (first.weekday.rawValue - 1))
    for offset in 0..<CivilDate.daysIn(month: first.month, year: first.year) {
      guard let day = first.adding(days: offset) else { continue }
      let cell = cell(day)
      let text = TextWidth.truncate(cell.text, to: room - 2)
      let isToday = day == today
      let space = String(repeating: " ", count: max(0, room - 2 - TextWidth.of(text)))
      line += isToday ? style("[", .strong) : " "
      line += style(text, isToday && cell.tone == .plain ? .strong : cell.tone)
      line += isToday ? style("]", .strong) + space : space + " "
      if day.weekday == .sunday {
        lines.append(Self.bare(line))
        line = ""
      }
    }
    let rest = Self.bare(line)
    return rest.isEmpty ? lines : lines + [rest]
  }

  private static func bare(_ line: String) -> String {
    var line = Substring(line)
    while line.last == " " { line.removeLast() }
    return String(line)
  }

  /// Returns the first day of the month after `--month`: `2026-03`, `3` (the latest March) or `march`; of this month
  /// without the option.
  static func chosen(_ line: ParsedLine, today: CivilDate) throws -> CivilDate {
    guard let text = line.value("month") else { return DayText.firstOfMonth(today) }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    var month: CivilDate?
    if parts.count == 2, let year = parts[0], let number = parts[1] {
      month = CivilDate(year: year, month: number, day: 1)
    }
    if parts.count == 1, let number = parts[0] ?? Self.number(text), (1...12).contains(number) {
      month = CivilDate(year: today.year - (number > today.month ? 1 : 0), month: number, day: 1)
    }
    guard let month else {
      throw Failure.usage(localized("--month needs a month such as 2026-03 or march, not \"%1\"", text))
    }
    try need(month <= today, localized("--month %1 is in the future", text))
    return month
  }

  static let option = Verb.Option.value(
    "month", nil, "MONTH", "Which month, such as 2026-03 or march; this one unless told otherwise")

  private static let english = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]

  /// Returns the month of a name, or of a prefix of three letters or more, in English or in the locale.
  private static func number(_ text: String) -> Int? {
    let wanted = text.lowercased()
    guard wanted.count >= 3 else { return nil }
    return (1...12).first { number in
      english[number - 1].hasPrefix(wanted) || LocalizedFormat.month(number).lowercased().hasPrefix(wanted)
    }
  }
}
