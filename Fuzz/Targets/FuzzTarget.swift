/// The parsers that take bytes nobody vouches for, each with what must hold whatever they are given.
///
/// libFuzzer runs one of them for minutes (`make fuzz`); the tests run each over the corpus in the tree.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case phrase, cron, calendar, rrule, solar
  /// Time zone files, and schedules in the zones they make.
  case tzif
  /// RFC 3339, durations, civil dates and times, spans of quiet hours.
  case moments
  /// The cutting of a stream into messages.
  case framer
  /// iCalendar files, for reminders and for lists of days.
  case icalendar
  /// Whole crontabs.
  case crontab
  /// Values in JSON.
  case json
  /// All that a peer may send to a Varlink service.
  case connection
  /// Varlink's interface definitions.
  case interface

  /// Feeds bytes to the parser.
  ///
  /// - Throws: ``BrokenProperty`` when something does not hold. A trap is a finding too.
  public func run(_ bytes: [UInt8]) throws(BrokenProperty) {
    switch self {
    case .phrase: try checkSchedule(String(decoding: bytes, as: UTF8.self))
    case .cron: try checkSchedule(String(decoding: bytes, as: UTF8.self), prefix: "cron: ", unless: ["cron:", "@"])
    case .calendar: try checkSchedule(String(decoding: bytes, as: UTF8.self), prefix: "calendar: ", unless: ["cal"])
    case .rrule:
      try checkSchedule(
        String(decoding: bytes, as: UTF8.self), prefix: "RRULE:", unless: ["rrule", "dtstart", "rdate", "exdate"])
    case .solar: try checkSchedule(String(decoding: bytes, as: UTF8.self))
    case .tzif: try checkZone(bytes)
    case .moments: try checkMoments(String(decoding: bytes, as: UTF8.self))
    case .framer: try checkFramer(bytes)
    case .icalendar: try checkCalendarFile(bytes)
    case .crontab: try checkCrontab(bytes)
    case .connection: try checkConnection(bytes)
    case .json: try checkJSON(bytes)
    case .interface: try checkInterface(String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// What was found not to hold.
public struct BrokenProperty: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ property: @autoclosure () -> String) throws(BrokenProperty) {
  if !holds { throw BrokenProperty(property()) }
}
