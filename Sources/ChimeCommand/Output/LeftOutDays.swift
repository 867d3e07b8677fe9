import ChimeControl
import ChimeSchedule
import ChimeWords

/// Days that calendars take from a schedule, as a person reads them.
enum LeftOutDays {
  /// `Thu 2026-12-24, Christmas Eve`, or the calendar where nobody knows what the day is called.
  static func text(_ day: Wire.LeftOut, _ tongue: Tongue) -> String {
    let date =
      CivilDate(day.date).map { "\(Figures.weekday($0.weekday)) \(Figures.date($0))" } ?? day.date
    return "\(date), \(tongue.text(day.names ?? [:], or: day.calendar))"
  }

  /// All of them in a line.
  static func text(_ days: [Wire.LeftOut], _ tongue: Tongue) -> String {
    days.map { text($0, tongue) }.joined(separator: "; ")
  }
}
