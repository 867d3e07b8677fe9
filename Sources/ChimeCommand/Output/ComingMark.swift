import ChimeControl
import ChimeWords

/// The remark beside an upcoming time that does not follow from the schedule alone, or that will notify nobody.
enum ComingMark {
  static func text(_ coming: OccurrencesInterface.Coming) -> String? {
    if coming.repeats == true { return localized("unanswered") }
    if coming.snoozed { return localized("snoozed") }
    if coming.paused { return localized("paused") }
    if let reason = coming.passedOver { return text(passedOver: reason) }
    return coming.held == nil ? nil : localized("held by quiet hours")
  }

  /// Names the earlier days that a calendar removes from the schedule.
  static func leftOut(_ coming: OccurrencesInterface.Coming, _ preferredLanguages: PreferredLanguages) -> String? {
    guard let days = coming.leftOut, let first = days.first else { return nil }
    return days.count == 1
      ? localized("left out: %1", LeftOutDays.text(first, preferredLanguages))
      : localized("left out: %1, and %2 more", LeftOutDays.text(first, preferredLanguages), String(days.count - 1))
  }

  /// Explains why a time will be skipped, as things stand.
  static func text(passedOver reason: Wire.PassedOver) -> String {
    switch reason {
    case .doneAlready: localized("skipped: done already")
    case .paused: localized("skipped: its tracker is paused")
    case .skipped: localized("skipped: not a day of its tracker")
    }
  }
}
