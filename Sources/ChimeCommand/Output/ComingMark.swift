import ChimeControl
import ChimeWords

/// What is to be known of a time to come that is none of the schedule, or not only, or that nobody will hear.
enum ComingMark {
  static func text(_ coming: OccurrencesInterface.Coming) -> String? {
    if coming.repeats == true { return localized("unanswered") }
    if coming.snoozed { return localized("snoozed") }
    if coming.paused { return localized("paused") }
    if let reason = coming.passedOver { return text(passedOver: reason) }
    return coming.held == nil ? nil : localized("held by quiet hours")
  }

  /// The days before it that a calendar takes from its schedule.
  static func leftOut(_ coming: OccurrencesInterface.Coming, _ preferredLanguages: PreferredLanguages) -> String? {
    guard let days = coming.leftOut, let first = days.first else { return nil }
    return days.count == 1
      ? localized("left out: %1", LeftOutDays.text(first, preferredLanguages))
      : localized("left out: %1, and %2 more", LeftOutDays.text(first, preferredLanguages), String(days.count - 1))
  }

  /// Why a time will be passed over, as things stand.
  static func text(passedOver reason: Wire.PassedOver) -> String {
    switch reason {
    case .doneAlready: localized("skipped: done already")
    case .paused: localized("skipped: its tracker is paused")
    case .skipped: localized("skipped: not a day of its tracker")
    }
  }
}
