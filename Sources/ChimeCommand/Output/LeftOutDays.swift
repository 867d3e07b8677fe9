import ChimeControl
import ChimeSchedule
import ChimeWords

/// Days that calendars take from a schedule, as a person reads them.
enum LeftOutDays {
  /// `Thu 2026-12-24, Christmas Eve`, or the calendar where nobody knows what the day is called.
  static func text(_ day: Wire.LeftOut, _ preferredLanguages: PreferredLanguages) -> String {
    let date =
      CivilDate(day.date).map { "\(LocalizedFormat.weekday($0.weekday)) \(LocalizedFormat.date($0))" } ?? day.date
    return "\(date), \(preferredLanguages.text(day.names ?? [:], or: day.calendar))"
  }

  /// All of them in a line.
  static func text(_ days: [Wire.LeftOut], _ preferredLanguages: PreferredLanguages) -> String {
    days.map { text($0, preferredLanguages) }.joined(separator: "; ")
  }
}
