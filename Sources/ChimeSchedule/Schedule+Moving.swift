// Repairs schedules that were read while the system clock was ahead.
extension Schedule {
  /// Returns the schedule as its text means it at `now`; `nil` if it needs no change.
  ///
  /// A schedule needs the change when it counts from a time that the clock has not reached yet. It was read while the
  /// clock was ahead, and would otherwise stay silent until that time comes again.
  ///
  /// - Parameter next: Its next time by the old clock. An interval with a count continues from there: its next time is
  ///   one interval after `now`, and occurrences so far still count.
  public func moved(backTo now: Instant, next: Instant) -> Schedule? {
    guard let from = countsFrom, from - now >= .seconds(1) else { return nil }
    var span = from - now
    if case .phrase(let phrase) = rule, case .elapsed(let seconds, _) = phrase.pattern, phrase.bounds.count != nil {
      span = max(span, next - now - .seconds(seconds))
    }
    // Rounding down to whole seconds means that it never fires early.
    guard let rule = rule.moved(back: .seconds(span.rawValue / 1_000)) else { return nil }
    var schedule = Schedule(rule)
    schedule.countsFrom = now
    return schedule
  }
}

extension Schedule.Rule {
  fileprivate func moved(back span: Milliseconds) -> Self? {
    switch self {
    case .phrase(let schedule): schedule.moved(back: span).map(Self.phrase)
    case .rrule(let schedule): schedule.moved(back: span).map(Self.rrule)
    case .cron, .calendar, .solar, .chain: nil
    }
  }
}

extension Phrase {
  var hasStart: Bool { isOneOff || bounds.starting != nil }

  func moved(back span: Milliseconds) -> Phrase? {
    var phrase = self
    if case .once(let moment) = pattern {
      guard let moment = moment.moved(back: span) else { return nil }
      phrase.pattern = .once(moment)
    }
    if let starting = bounds.starting {
      guard let moment = starting.moved(back: span) else { return nil }
      phrase.bounds.starting = moment
    }
    return phrase
  }
}

extension Phrase.Moment {
  fileprivate func moved(back span: Milliseconds) -> Self? {
    let days = Int(span.rawValue / Milliseconds.days(1).rawValue)
    switch self {
    case .instant(let instant): return instant.milliseconds < span.rawValue ? nil : .instant(instant - span)
    case .date(let date): return date.adding(days: -days).map(Self.date)
    case .civil(let civil):
      return civil.date.adding(days: -days).map { .civil(CivilDateTime(date: $0, time: civil.time)) }
    }
  }
}

extension RecurrenceSchedule {
  var hasStart: Bool { clock == .floating }

  func moved(back span: Milliseconds) -> RecurrenceSchedule? {
    RecurrenceSchedule(self, start: start - span.rawValue / Milliseconds.days(1).rawValue * 86_400)
  }
}
