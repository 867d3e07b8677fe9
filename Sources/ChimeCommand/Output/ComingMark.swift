import ChimeControl
import ChimeWords

/// The remark beside an upcoming time that does not follow from the schedule alone, or that will notify nobody.
enum ComingMark {
  static func text(_ coming: OccurrencesInterface.UpcomingTime) -> String? {
    if coming.repeats == true { return localized("unanswered") }
    if coming.snoozed { return localized("snoozed") }
    if coming.paused { return localized("paused") }
    if let reason = coming.skipReason { return text(skipReason: reason) }
    return coming.held == nil ? nil : localized("held by quiet hours")
  }

  /// Names the earlier days that a calendar removes from the schedule.
  static func excludedDays(_ coming: OccurrencesInterface.UpcomingTime, _ preferredLanguages: PreferredLanguages)
    -> String?
  {
    guard let days = coming.excludedDays, let first = days.first else { return nil }
    return days.count == 1
      ? localized("left out: %1", ExcludedDays.text(first, preferredLanguages))
      : localized("left out: %1, and %2 more", ExcludedDays.text(first, preferredLanguages), String(days.count - 1))
  }

  /// Explains why a time will be skipped, as things stand.
  static func text(skipReason reason: Wire.SkipReason) -> String {
    switch reason {
    case .doneAlready: localized("skipped: done already")
    case .paused: localized("skipped: its tracker is paused")
    case .skipped: localized("skipped: not a day of its tracker")
    }
  }
}
