import ChimeControl
import ChimeWords

/// What is to be known of a time to come that is none of the schedule, or not only, or that nobody will hear.
enum ComingMark {
  static func text(_ coming: OccurrencesInterface.Coming) -> String? {
    if coming.repeats == true { return Words.say("unanswered") }
    if coming.snoozed { return Words.say("snoozed") }
    if coming.paused { return Words.say("paused") }
    if let reason = coming.passedOver { return text(passedOver: reason) }
    return coming.held == nil ? nil : Words.say("held by quiet hours")
  }

  /// The days before it that a calendar takes from its schedule.
  static func leftOut(_ coming: OccurrencesInterface.Coming, _ tongue: Tongue) -> String? {
    guard let days = coming.leftOut, let first = days.first else { return nil }
    return days.count == 1
      ? Words.say("left out: %1", LeftOutDays.text(first, tongue))
      : Words.say("left out: %1, and %2 more", LeftOutDays.text(first, tongue), String(days.count - 1))
  }

  /// Why a time will be passed over, as things stand.
  static func text(passedOver reason: Wire.PassedOver) -> String {
    switch reason {
    case .doneAlready: Words.say("quiet: done already")
    case .paused: Words.say("quiet: its tracker is paused")
    case .skipped: Words.say("quiet: not a day of its tracker")
    }
  }
}
