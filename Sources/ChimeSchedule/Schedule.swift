/// A GapRule says what happens to a wall-clock time that a change of offset skips.
public enum GapRule: String, Sendable, Hashable, Codable, CaseIterable {
  /// The offset before the gap applies, so 02:30 becomes 03:30 (RFC 5545 section 3.3.5).
  case shift
  /// It does not occur on that day.
  case skip
}

/// A FoldRule says what happens to a wall-clock time that a change of offset repeats.
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

/// A Schedule says when something is due. It is a value: parsing its canonical text gives an equal value.
///
/// `docs/schedules.md` has the grammar. A schedule has no zone of its own; ``timetable(in:gap:fold:)`` combines the two.
///
///     let schedule = try Schedule.parse("weekdays at 8:30", now: now, zone: prague)
///     schedule.canonical                                                            // "weekdays at 08:30"
///     schedule.timetable(in: prague).next(after: Instant(seconds: 1_774_600_000))  // 1774852200: Monday 30 March, 08:30 CEST
public struct Schedule: Sendable, Hashable {
  /// The one form in which this value is written. It names every moment it depends on (no `tomorrow`, no `in 25m`), so
  /// it means the same whenever it is read.
  public let canonical: String
  let rule: Rule
  /// The clock's time from which it counts, if its text takes that from the time of parsing (`every 45m`, `in 25m`,
  /// `tomorrow at 9`); `nil` if its text names all its moments. Neither ``canonical`` nor equality includes it.
  public var countsFrom: Instant?

  /// The parsed text: one case for each dialect, and one for phrases that count from another reminder.
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

  /// The longest text that is parsed, in bytes of UTF-8.
  public static let maximumLength = 65_536

  /// Parses a schedule in any dialect. Text written by people goes through here.
  ///
  /// - Parameters:
  ///   - now: The time that `in 25m`, `tomorrow` and `every 45m` count from. The schedule must have an occurrence after it.
  ///   - zone: The zone that gives `today` and `at 18:00` their meaning.
  /// - Throws: ``ScheduleError``: `invalidSchedule` with column and suggestion, `neverOccurs` if it has no occurrence
  ///   after `now`, `tooCostly` if the search for one takes too long, `outOfRange`.
  public static func parse(_ text: String, now: Instant, zone: Zone) throws(ScheduleError) -> Schedule {
    try parse(text, now: now, in: ScheduleContext(zone: zone))
  }

  /// Parses a schedule in any dialect, with zones, calendars and a place that it may refer to.
  ///
  /// - Throws: ``ScheduleError`` as ``parse(_:now:zone:)``; also `invalidSchedule` for a zone or calendar that
  ///   `scheduleContext` lacks, and for a schedule of the sun without a place.
  public static func parse(_ text: String, now: Instant, in scheduleContext: ScheduleContext) throws(ScheduleError)
    -> Schedule
  {
    let context = ParseContext(now: now, scheduleContext: scheduleContext)
    let (text, read) = try ScheduleReader.readSpoken(text, context: context)
    var schedule = read
    if ScheduleReader.countsFromNow(text, schedule, context) { schedule.countsFrom = now }
    return schedule
  }

  /// Returns the text in English if only ``ScheduleContext/language`` makes it a schedule, and unchanged otherwise.
  public static func written(_ text: String, now: Instant, in scheduleContext: ScheduleContext) -> String {
    guard scheduleContext.language != nil,
      let read = try? ScheduleReader.readSpoken(text, context: ParseContext(now: now, scheduleContext: scheduleContext))
    else { return text }
    return read.text
  }

  /// Parses text that names all its moments, as ``canonical`` does. It needs neither `now` nor a zone, and accepts
  /// schedules whose last occurrence has passed.
  ///
  /// - Throws: ``ScheduleError``; also `invalidSchedule` for text that counts from now (`in 25m`, `tomorrow at 9`).
  public init(canonical text: String) throws(ScheduleError) {
    self = try ScheduleReader.read(text, context: nil)
  }

  /// Refuses a schedule whose next time takes too long to find.
  ///
  /// Parsing the ``canonical`` form does not check this. A schedule without further occurrences is accepted.
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

  /// Whether it names a single moment. Under ``FoldRule/both`` a fold may still repeat it.
  public var isOneOff: Bool { rule.schedule.isOneOff }

  /// The zone that the text names, as calendar expressions and recurrence rules can; `nil` otherwise. It takes
  /// precedence over the reminder's zone.
  public var zoneIdentifier: String? { rule.schedule.zoneIdentifier }

  /// The calendars that its text names (`except on holidays`), in the order of the text. ``ScheduleContext/calendar``
  /// looks them up.
  public var calendarNames: [String] { rule.schedule.calendarNames }

  /// Whether its times count from when it was last done, so that ``ScheduleContext/lastDone`` moves them.
  public var countsFromDone: Bool { rule.schedule.countsFromDone }

  /// Whether ``ScheduleContext/followsDone`` moves its times. This holds for an interval without a count (`every 90m`,
  /// with or without a window), and for a schedule that always counts from when it was done.
  public var canFollowEntries: Bool { countsFromDone || rule.schedule.canFollowEntries }

  /// Whether its times follow the sun, so that ``ScheduleContext/place`` moves them.
  public var needsPlace: Bool { rule.schedule.needsPlace }

  /// Makes the timetable of the schedule in one zone. A `nil` rule means the dialect's default: `shift` and `first` for
  /// most, Debian cron's for cron, systemd's for calendar.
  public func timetable(in zone: Zone, gap: GapRule? = nil, fold: FoldRule? = nil) -> Timetable {
    timetable(in: ScheduleContext(zone: zone), gap: gap, fold: fold)
  }

  /// Makes the timetable of the schedule with all it may refer to. The zone of ``zoneIdentifier`` applies if the
  /// context has it, else the context's zone. Unknown calendars are empty. Without a place the sun never rises.
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
