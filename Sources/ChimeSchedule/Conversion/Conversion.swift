/// A Conversion is a schedule rewritten in another dialect.
public struct Conversion: Sendable, Hashable {
  /// The new schedule. From the moment of conversion on it has the same times, except as the remarks say.
  public let schedule: Schedule
  /// How the two differ when clocks change, as sentences for people. Often empty.
  public let remarks: [String]
}

extension Schedule {
  /// Writes the schedule in another dialect.
  ///
  /// The result is compared with the original over the next 800 days in the zone of the context. A difference on a day
  /// on which clocks change becomes a remark. Any other difference means that the dialect cannot express the schedule.
  ///
  ///     try cron.converted(to: .phrase, now: now, in: scheduleContext).schedule.canonical   // "weekdays at 09:00"
  ///
  /// - Parameters:
  ///   - now: The moment from which the two must agree. A recurrence rule begins there.
  ///   - scheduleContext: The context in which the schedule is read.
  /// - Throws: ``ScheduleError`` with code `inexpressible` if the dialect cannot express it.
  public func converted(
    to dialect: Dialect, now: Instant, in scheduleContext: ScheduleContext
  ) throws(ScheduleError) -> Conversion {
    if dialect == self.dialect { return Conversion(schedule: self, remarks: []) }
    do {
      return try Converter(source: self, now: now, scheduleContext: scheduleContext).conversion(to: dialect)
    } catch {
      throw ScheduleError(
        code: .inexpressible, text: excerpt(canonical), column: nil, expected: "", suggestion: nil,
        message: "\(excerpt(canonical)): \(error.reason)")
    }
  }
}

/// A Converter performs one conversion.
struct Converter {
  let source: Schedule
  let now: Instant
  let scheduleContext: ScheduleContext
  let zone: Zone

  init(source: Schedule, now: Instant, scheduleContext: ScheduleContext) {
    self.source = source
    self.now = now
    self.scheduleContext = scheduleContext
    zone = source.zoneIdentifier.flatMap { scheduleContext.zone(named: $0) } ?? scheduleContext.zone
  }

  func conversion(to dialect: Dialect) throws(Inexpressible) -> Conversion {
    let text = try text(in: dialect)
    let schedule: Schedule
    do {
      schedule = try Schedule(canonical: text)
    } catch {
      throw Inexpressible("\(dialect.name) cannot express it (\(error.message))")
    }
    var remarks = try differences(schedule)
    if let zone = source.zoneIdentifier, schedule.zoneIdentifier == nil, zone != scheduleContext.zone.identifier {
      remarks.insert("its clock is that of \(zone): give the reminder that time zone", at: 0)
    }
    return Conversion(schedule: schedule, remarks: remarks)
  }

  private func text(in dialect: Dialect) throws(Inexpressible) -> String {
    guard dialect != .solar else { throw Inexpressible("it does not follow the sun") }
    if dialect == .rrule, let text = source.elapsedRecurrence(zone) { return text }
    var form = try source.commonForm(zone: zone)
    // A start in the past has no effect, unless a count begins there.
    if let first = form.first, form.count == nil, first <= zone.civil(at: now) { form.first = nil }
    switch dialect {
    case .phrase: return try form.phraseText()
    case .cron: return try form.cronText()
    case .calendar:
      let text = try form.calendarText()
      return source.zoneIdentifier.map { "\(text) \($0)" } ?? text
    case .rrule: return try recurrence(form)
    case .solar: throw Inexpressible("it does not follow the sun")
    }
  }

  /// Returns the form as a recurrence rule. DTSTART must be an occurrence, so the rule begins with the next one, or
  /// with the original first one if it has a count.
  private func recurrence(_ form: CommonForm) throws(Inexpressible) -> String {
    var whole = form
    whole.except = []
    let plain = try Self.plain(whole)
    var from = now
    if form.count != nil, let first = form.first {
      from = Instant(seconds: max(0, zone.table.instant(first.wallSeconds, gap: .shift, fold: .first) - 1))
    }
    // In UTC, occurrences equal wall-clock times.
    let civil = plain.timetable(in: .utc)
    let wall = Instant(seconds: from.seconds + Int64(zone.offset(at: from)))
    guard let start = civil.next(after: wall) else { throw Inexpressible("it has no future time") }
    var excluded: [CivilDateTime] = []
    for range in form.except {
      let opens = Int64(range.lowerBound.dayNumber) * 86_400
      let closes = (Int64(range.upperBound.dayNumber) + 1) * 86_400
      for instant in civil.occurrences(after: Instant(seconds: max(opens - 1, start.seconds - 1))).prefix(1_000) {
        guard instant.seconds < closes else { break }
        excluded.append(CivilDateTime(wallSeconds: instant.seconds))
      }
    }
    let text = try form.recurrenceText(start: CivilDateTime(wallSeconds: start.seconds), excluded: excluded)
    guard let name = source.zoneIdentifier else { return text }
    let stamp = CommonForm.stamp(CivilDateTime(wallSeconds: start.seconds))
    return name == "UTC"
      ? text.replacingPrefix("DTSTART:\(stamp)", with: "DTSTART:\(stamp)Z")
      : text.replacingPrefix("DTSTART:", with: "DTSTART;TZID=\(name):")
  }

  /// Returns the form as a phrase, for computing occurrences.
  private static func plain(_ form: CommonForm) throws(Inexpressible) -> Schedule {
    let text = try form.phraseText()
    do {
      return try Schedule(canonical: text)
    } catch {
      throw Inexpressible(error.message)
    }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}

extension Dialect {
  /// The dialect's name in a sentence.
  var name: String {
    switch self {
    case .phrase: "a phrase"
    case .cron: "cron"
    case .calendar: "a calendar expression"
    case .rrule: "a recurrence rule"
    case .solar: "the sun"
    }
  }
}
