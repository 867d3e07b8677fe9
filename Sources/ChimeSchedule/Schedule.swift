/// What becomes of a wall-clock time that a change of offset removes.
public enum GapRule: String, Sendable, Hashable, Codable, CaseIterable {
  /// It is read with the offset before the gap, so 02:30 becomes 03:30 (RFC 5545 section 3.3.5).
  case shift
  /// It does not occur on that day.
  case skip
}

/// What becomes of a wall-clock time that a change of offset repeats.
public enum FoldRule: String, Sendable, Hashable, Codable, CaseIterable {
  /// It occurs at its first pass (RFC 5545 section 3.3.5).
  case first
  /// It occurs at its last pass.
  case last
  /// It occurs at each pass.
  case both
}

/// The languages in which a schedule can be written.
public enum Dialect: String, Sendable, Hashable, Codable, CaseIterable {
  /// `weekdays at 8:30`, `every 90m from 8:00 to 22:00`, `in 25m`.
  case phrase
  /// `cron: 30 8 * * 1-5`, `@daily`.
  case cron
  /// `calendar: Mon..Fri *-*-* 08:30`.
  case calendar
  /// `DTSTART:20260101T083000 RRULE:FREQ=WEEKLY;BYDAY=MO`.
  case rrule
  /// `sunset - 30m on fri`.
  case solar
}

/// When something is due, as a value: text in, canonical text out, the same value again from the canonical text.
///
/// The grammar stands in `docs/schedules.md`. A schedule knows no zone; ``timetable(in:gap:fold:)`` brings the two
/// together.
///
///     let schedule = try Schedule.parse("weekdays at 8:30", now: now, zone: prague)
///     schedule.canonical                                                            // "weekdays at 08:30"
///     schedule.timetable(in: prague).next(after: Instant(seconds: 1_774_600_000))  // 1774852200: Monday 30 March, 08:30 CEST
public struct Schedule: Sendable, Hashable {
  /// The one form in which this value is written. It contains every moment it depends on (no `tomorrow`, no `in 25m`),
  /// so it means the same whenever it is read.
  public let canonical: String
  let rule: Rule
  /// The clock's time from which it counts, where its text leaves that to the moment at which it is read (`every 45m`,
  /// `in 25m`, `tomorrow at 9`); nil: its text names all its moments. No part of ``canonical``, nor of equality.
  public var countsFrom: Instant?

  /// What the text was understood as; a case for each dialect, and one for phrases that count from another reminder.
  enum Rule: Sendable, Hashable {
    case phrase(Phrase)
    case cron(CronSchedule)
    case calendar(CalendarSchedule)
    case rrule(RecurrenceSchedule)
    case solar(SolarSchedule)
    case chain(Chain)

    var schedule: any DialectSchedule {
      switch self {
      case .phrase(let schedule): schedule
      case .cron(let schedule): schedule
      case .calendar(let schedule): schedule
      case .rrule(let schedule): schedule
      case .solar(let schedule): schedule
      case .chain(let schedule): schedule
      }
    }
  }

  /// The longest text that is looked at, in bytes of UTF-8.
  public static let maximumLength = 65_536

  /// Understands a schedule in any dialect. This is the one entry for text that people write.
  ///
  /// - Parameters:
  ///   - now: What `in 25m`, `tomorrow` and `every 45m` count from, and what a schedule has to outlast.
  ///   - zone: Whose calendar and clock tell what `today` and `at 18:00` mean.
  /// - Throws: ``ScheduleError``: `invalidSchedule` with place and suggestion, `neverOccurs` when nothing of it lies
  ///   after `now`, `tooCostly` when looking for it takes too long, `outOfRange`.
  public static func parse(_ text: String, now: Instant, zone: Zone) throws(ScheduleError) -> Schedule {
    try parse(text, now: now, in: ScheduleContext(zone: zone))
  }

  /// Understands a schedule in any dialect, with all it may refer to.
  ///
  /// - Throws: ``ScheduleError``, as ``parse(_:now:zone:)``; `invalidSchedule` too for a zone or a calendar that
  ///   `scheduleContext` do not have, and for the sun without a place.
  public static func parse(_ text: String, now: Instant, in scheduleContext: ScheduleContext) throws(ScheduleError)
    -> Schedule
  {
    let context = ParseContext(now: now, scheduleContext: scheduleContext)
    let (text, read) = try ScheduleReader.readSpoken(text, context: context)
    var schedule = read
    if ScheduleReader.countsFromNow(text, schedule, context) { schedule.countsFrom = now }
    return schedule
  }

  /// The text as any Chime understands it: one that is a schedule only in ``Surroundings/language`` is put into English.
  public static func written(_ text: String, now: Instant, in scheduleContext: ScheduleContext) -> String {
    guard scheduleContext.language != nil,
      let read = try? ScheduleReader.readSpoken(text, context: ParseContext(now: now, scheduleContext: scheduleContext))
    else { return text }
    return read.text
  }

  /// Reads text that names all its moments itself, as ``canonical`` does: it needs neither `now` nor a zone, and
  /// accepts schedules whose last occurrence has passed.
  ///
  /// - Throws: ``ScheduleError``; `invalidSchedule` too for text that counts from now (`in 25m`, `tomorrow at 9`).
  public init(canonical text: String) throws(ScheduleError) {
    self = try ScheduleReader.read(text, context: nil)
  }

  /// Refuses a schedule that nobody should have to look for the times of: where it was read from its ``canonical`` form,
  /// nothing of that has been judged. One that is over is none of them.
  ///
  /// - Throws: ``ScheduleError`` with code `tooCostly`.
  public func requireBoundedSearch(after now: Instant, in scheduleContext: ScheduleContext) throws(ScheduleError) {
    guard let burden = timetable(in: scheduleContext).finding(after: now).burden else { return }
    throw ScheduleReader.describe(
      ScheduleReader.tooCostly(self, burden, end: canonical.utf8.count), canonical,
      ParseContext(now: now, scheduleContext: scheduleContext))
  }

  init(_ rule: Rule) {
    self.rule = rule
    canonical = rule.schedule.canonical
  }

  public var dialect: Dialect {
    switch rule {
    case .phrase, .chain: .phrase
    case .cron: .cron
    case .calendar: .calendar
    case .rrule: .rrule
    case .solar: .solar
    }
  }

  /// Whether it names a single moment (which a fold may still repeat under ``FoldRule/both``).
  public var isOneOff: Bool { rule.schedule.isOneOff }

  /// The zone that the text itself names, as calendar expressions and recurrence rules can; it governs instead of the
  /// reminder's. `nil` for all others.
  public var zoneIdentifier: String? { rule.schedule.zoneIdentifier }

  /// The calendars that its text names (`except on holidays`), in the order of the text: what
  /// ``Surroundings/calendar`` is asked for. Most schedules name none.
  public var calendarNames: [String] { rule.schedule.calendarNames }

  /// Whether its times count from when it was last done, so that ``Surroundings/lastDone`` moves them.
  public var countsFromDone: Bool { rule.schedule.countsFromDone }

  /// Whether ``Surroundings/followsDone`` moves its times: an interval (`every 90m`, with a window or without) that is not
  /// so many times only, or one that counts from when it was done in any case.
  public var canFollowEntries: Bool { countsFromDone || rule.schedule.canFollowEntries }

  /// Whether its times follow the sun, so that ``Surroundings/place`` moves them.
  public var needsPlace: Bool { rule.schedule.needsPlace }

  /// Makes the schedule ready for one zone. `nil` rules leave the dialect's own: `shift` and `first` for most,
  /// Debian cron's for cron, systemd's for calendar.
  public func timetable(in zone: Zone, gap: GapRule? = nil, fold: FoldRule? = nil) -> Timetable {
    timetable(in: ScheduleContext(zone: zone), gap: gap, fold: fold)
  }

  /// Makes the schedule ready, with all it may refer to. The zone that ``zoneIdentifier`` names is taken where the
  /// surroundings have it, else theirs; calendars that they do not have are empty; without a place the sun never rises.
  public func timetable(in scheduleContext: ScheduleContext, gap: GapRule? = nil, fold: FoldRule? = nil) -> Timetable {
    let zone = zoneIdentifier.flatMap { scheduleContext.zone(named: $0) } ?? scheduleContext.zone
    return rule.schedule.timetable(in: scheduleContext, zone: zone, gap: gap, fold: fold)
  }

  public static func == (left: Schedule, right: Schedule) -> Bool { left.canonical == right.canonical }
  public func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

extension Schedule: Codable, CustomStringConvertible {
  public var description: String { canonical }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(canonical: container.decode(String.self))
    } catch let error as ScheduleError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  public func encode(to encoder: any Encoder) throws { try encodeText(canonical, encoder) }
}
