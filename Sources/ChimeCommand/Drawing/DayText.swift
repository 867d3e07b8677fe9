import ChimeSchedule
import ChimeWords

/// Short names of days and months, for axes and headings.
enum DayText {
  /// `3 Mar`
  static func short(_ day: CivilDate) -> String { localized("%1 %2", String(day.day), month(day.month)) }

  /// `Mar`
  static func month(_ month: Int) -> String { LocalizedFormat.shortMonth(month) }

  /// `March 2026`
  static func monthAndYear(_ day: CivilDate) -> String {
    localized("%1 %2", LocalizedFormat.month(day.month), String(day.year))
  }

  static func firstOfMonth(_ day: CivilDate) -> CivilDate { day.adding(days: 1 - day.day) ?? day }
}
