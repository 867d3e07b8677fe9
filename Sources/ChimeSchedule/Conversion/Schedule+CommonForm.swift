extension Schedule {
  /// Returns the common form of the schedule on the clock of a zone.
  func commonForm(zone: Zone) throws(Inexpressible) -> CommonForm {
    switch rule {
    case .phrase(let phrase): try phrase.commonForm(zone: zone)
    case .cron(let cron): try cron.commonForm()
    case .calendar(let calendar): try calendar.expression.commonForm()
    case .rrule(let recurrence): try recurrence.commonForm()
    case .solar: throw Inexpressible("only a schedule by the sun can follow the sun")
    case .chain: throw Inexpressible("only a phrase can follow another reminder")
    }
  }

  /// Returns an interval of elapsed time as a rule in UTC, where clocks never change.
  func elapsedRecurrence(_ zone: Zone) -> String? {
    guard case .phrase(let phrase) = rule, case .elapsed(let seconds, .weekdays(.everyDay)) = phrase.pattern,
      phrase.bounds.except.isEmpty, phrase.bounds.exceptYearly.isEmpty, phrase.bounds.exceptCalendars.isEmpty,
      phrase.bounds.until == nil, let starting = phrase.bounds.starting
    else { return nil }
    let start = starting.second(zone)
    let units: [(Int64, String)] = [(86_400, "DAILY"), (3_600, "HOURLY"), (60, "MINUTELY"), (1, "SECONDLY")]
    guard let (length, name) = units.first(where: { seconds % $0.0 == 0 }) else { return nil }
    var text = "DTSTART:\(CommonForm.stamp(CivilDateTime(wallSeconds: start)))Z RRULE:FREQ=\(name)"
    if seconds != length { text += ";INTERVAL=\(seconds / length)" }
    if let count = phrase.bounds.count { text += ";COUNT=\(count)" }
    return text
  }
}

extension Phrase.Moment {
  /// Returns the first second of the moment in a zone.
  func second(_ zone: Zone) -> Int64 {
    switch self {
    case .date(let date): zone.table.instant(Int64(date.dayNumber) * 86_400, gap: .shift, fold: .first)
    case .civil(let civil): zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first)
    case .instant(let instant): instant.seconds
    }
  }

  /// Returns the moment on the clock of a zone; for a date its first or last second.
  func civil(_ zone: Zone, isEnd: Bool) -> CivilDateTime {
    switch self {
    case .date(let date):
      CivilDateTime(date: date, time: isEnd ? CivilTime(unchecked: 86_399) : .midnight)
    case .civil(let civil): civil
    case .instant(let instant): zone.civil(at: instant)
    }
  }
}
