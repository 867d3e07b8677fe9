public import ChimeSchedule

/// A ZoneSource supplies time zones: the system's database in the daemon, a table in a simulation.
public protocol ZoneSource: Sendable {
  var local: Zone { get }
  /// Returns the zone of that name; nil if there is none.
  func zone(_ name: String) -> Zone?
  /// Returns zone names similar to an unknown one.
  func near(_ name: String) -> [String]
}

extension ZoneSource {
  public func near(_ name: String) -> [String] { [] }

  /// Returns the zone for a choice; nil if it does not exist, or no longer.
  public func zone(for choice: ZoneChoice) -> Zone? {
    switch choice {
    case .local: local
    case .named(let name): zone(name)
    }
  }
}

/// A ReminderContext holds what schedules and messages depend on besides the reminder: zones, location, calendars,
/// quiet hours, and wording.
///
/// It is a value: code that took it before a reload goes on with the old configuration.
public struct ReminderContext: Sendable {
  public var zones: any ZoneSource
  /// A number that grows with each change, so that results of an older context are recognized as stale.
  public var version = 0
  public var place: Place?
  /// The times of day that words such as "morning" stand for.
  public var words = WordTimes.usual
  /// The quiet hours of reminders without their own.
  public var quiet = QuietDefaults()
  /// The channels for messages that belong to no reminder.
  public var channels: [ChannelName] = [.desktop]
  /// The wording of such messages.
  public var wording: any TrackingWording = PlainWording()
  /// The days of each named calendar.
  public var calendars: [String: [ClosedRange<CivilDate>]] = [:]
  /// The problems of calendars with an unreadable file, as sentences. Their days are those read before.
  public var calendarProblems: [String: String] = [:]

  /// The public holidays that ship with Chime, if the calendar of that name uses them.
  public var holidays: PublicHolidays?
  /// The endpoints that receive events beyond firings.
  public var subscriptions = EventSubscriptions()

  public init(zones: any ZoneSource, place: Place? = nil, quiet: QuietDefaults = QuietDefaults()) {
    self.zones = zones
    self.place = place
    self.quiet = quiet
  }

  /// Returns the context for a text or a reminder in `zone`.
  public func scheduleContext(in zone: Zone, at place: Place? = nil) -> ScheduleContext {
    var scheduleContext = ScheduleContext(
      zone: zone, place: place ?? self.place, zones: { [zones] in zones.zone($0) },
      calendar: { [calendars] in calendars[$0] })
    scheduleContext.words = { [words] in words }
    return scheduleContext
  }

  /// Returns the quiet hours that apply to the reminder.
  public func quiet(of reminder: Reminder) -> Quiet? {
    Quiet(of: reminder, quiet, local: zones.local, own: zone(of: reminder) ?? .utc)
  }

  /// Returns the zone that governs the reminder; nil if the machine no longer has it.
  public func zone(of reminder: Reminder) -> Zone? { zones.zone(for: reminder.governingZone) }

  /// Returns the reminder's times, in UTC if the machine has lost its zone.
  public func timetable(of reminder: Reminder) -> Timetable { timetable(of: reminder, in: zone(of: reminder)) }

  /// Returns the reminder's times in the zone that `zone(of:)` returned.
  public func timetable(of reminder: Reminder, in zone: Zone?) -> Timetable {
    reminder.timetable(in: scheduleContext(in: zone ?? .utc))
  }
}
