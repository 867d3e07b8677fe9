import ChimeControl
import ChimeSchedule
import ChimeWords

/// Texts for days that a calendar removes from a schedule.
enum ExcludedDays {
  /// Returns `Thu 2026-12-24, Christmas Eve`; with the calendar's name if the day has none.
  static func text(_ day: Wire.ExcludedDay, _ preferredLanguages: PreferredLanguages) -> String {
    let date =
      CivilDate(day.date).map { "\(LocalizedFormat.weekday($0.weekday)) \(LocalizedFormat.date($0))" } ?? day.date
    return "\(date), \(preferredLanguages.text(day.names ?? [:], or: day.calendar))"
  }

  /// Returns all days on one line.
  static func text(_ days: [Wire.ExcludedDay], _ preferredLanguages: PreferredLanguages) -> String {
    days.map { text($0, preferredLanguages) }.joined(separator: "; ")
  }
}
