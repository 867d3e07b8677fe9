import ChimeCore
import ChimeSchedule

/// What schedules are read against here: the machine's zones, and the place, the calendars and the quiet hours of the
/// configuration.
///
/// A value: whoever has taken it before a reload goes on with what was in force.
struct Bearings: Sendable {
  let zones: ZoneCatalog
  /// Grows with each change, so that what was computed with older ones is seen to be stale.
  var version = 0
  var place: Place?
  /// The quiet hours of all who have none of their own.
  var quiet = QuietDefaults()
  /// The days of each named calendar.
  var calendars: [String: [ClosedRange<CivilDate>]] = [:]
  /// What is wrong with the calendars whose file cannot be read, as sentences. Those that were read before still have
  /// their days.
  var calendarProblems: [String: String] = [:]

  /// What a text or a reminder in `zone` may refer to.
  func surroundings(in zone: Zone, at place: Place? = nil) -> Surroundings {
    Surroundings(
      zone: zone, place: place ?? self.place, zones: { [zones] in zones.zone($0) },
      calendar: { [calendars] in calendars[$0] })
  }

  /// The quiet hours that the reminder is under.
  func quiet(of reminder: Reminder) -> Quiet? {
    Quiet(of: reminder, quiet, local: zones.local, own: zone(of: reminder) ?? .utc)
  }

  /// The zone that governs the reminder; nil when the machine does not have it any more.
  func zone(of reminder: Reminder) -> Zone? { zones.zone(for: reminder.governingZone) }

  /// The reminder's times. In a zone that the machine has lost nothing can be computed; UTC keeps the reminder alive.
  func timetable(of reminder: Reminder) -> Timetable { timetable(of: reminder, in: zone(of: reminder)) }

  /// The same for the zone that `zone(of:)` gave.
  func timetable(of reminder: Reminder, in zone: Zone?) -> Timetable {
    reminder.timetable(in: surroundings(in: zone ?? .utc))
  }
}
