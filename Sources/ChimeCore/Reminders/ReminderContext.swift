public import ChimeSchedule

/// Where the rules of time zones come from: the machine's database in the daemon, a table in a simulation.
public protocol ZoneSource: Sendable {
  /// The machine's own zone.
  var local: Zone { get }
  /// The zone of that name; nil when there is none.
  func zone(_ name: String) -> Zone?
  /// Names that were perhaps meant by one that is unknown.
  func near(_ name: String) -> [String]
}

extension ZoneSource {
  public func near(_ name: String) -> [String] { [] }

  /// The zone that a choice stands for; nil when there is none (any more).
  public func zone(for choice: ZoneChoice) -> Zone? {
    switch choice {
    case .local: local
    case .named(let name): zone(name)
    }
  }
}

/// What schedules are read against here: the machine's zones, and the place, the calendars and the quiet hours of the
/// configuration; and in which words a person is told of trackers.
///
/// A value: whoever has taken it before a reload goes on with what was in force.
public struct ReminderContext: Sendable {
  public var zones: any ZoneSource
  /// Grows with each change, so that what was computed with older ones is seen to be stale.
  public var version = 0
  public var place: Place?
  /// When the words for times of day are.
  public var words = WordTimes.usual
  /// The quiet hours of all who have none of their own.
  public var quiet = QuietDefaults()
  /// Where a person is told of what no reminder of theirs says.
  public var channels: [ChannelName] = [.desktop]
  /// The words of that.
  public var wording: any TrackingWording = PlainWording()
  /// The days of each named calendar.
  public var calendars: [String: [ClosedRange<CivilDate>]] = [:]
  /// What is wrong with the calendars whose file cannot be read, as sentences. Those that were read before still have
  /// their days.
  public var calendarProblems: [String: String] = [:]

  /// The public holidays that came with Chime, if the calendar of that name has them.
  public var holidays: PublicHolidays?
  /// Which endpoints are told more of reminders than that they fire.
  public var subscriptions = EventSubscriptions()

  public init(zones: any ZoneSource, place: Place? = nil, quiet: QuietDefaults = QuietDefaults()) {
    self.zones = zones
    self.place = place
    self.quiet = quiet
  }

  /// What a text or a reminder in `zone` may refer to.
  public func scheduleContext(in zone: Zone, at place: Place? = nil) -> ScheduleContext {
    var scheduleContext = ScheduleContext(
      zone: zone, place: place ?? self.place, zones: { [zones] in zones.zone($0) },
      calendar: { [calendars] in calendars[$0] })
    scheduleContext.words = { [words] in words }
    return scheduleContext
  }

  /// The quiet hours that the reminder is under.
  public func quiet(of reminder: Reminder) -> Quiet? {
    Quiet(of: reminder, quiet, local: zones.local, own: zone(of: reminder) ?? .utc)
  }

  /// The zone that governs the reminder; nil when the machine does not have it any more.
  public func zone(of reminder: Reminder) -> Zone? { zones.zone(for: reminder.governingZone) }

  /// The reminder's times. In a zone that the machine has lost nothing can be computed; UTC keeps the reminder alive.
  public func timetable(of reminder: Reminder) -> Timetable { timetable(of: reminder, in: zone(of: reminder)) }

  /// The same for the zone that `zone(of:)` gave.
  public func timetable(of reminder: Reminder, in zone: Zone?) -> Timetable {
    reminder.timetable(in: scheduleContext(in: zone ?? .utc))
  }
}
