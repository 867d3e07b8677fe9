/// A DialectSchedule is the parsed form of one dialect: it reads text, writes the canonical form and makes a timetable.
protocol DialectSchedule: Sendable, Hashable {
  /// Parses the whole text, its prefix included. Without a context it accepts only text that names all its moments.
  /// Faults point into `bytes`.
  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault)

  var canonical: String { get }
  /// The zone that the text names.
  var zoneIdentifier: String? { get }
  var isOneOff: Bool { get }
  /// The names of the calendars whose days it excludes, in the order of the text.
  var calendarNames: [String] { get }
  /// Whether its times count from when the reminder was last done.
  var countsFromDone: Bool { get }
  /// Whether it is an interval. An interval can count from when it was last done although its text does not say so.
  var canFollowEntries: Bool { get }
  /// Whether its times follow the sun, so that it needs a place.
  var needsPlace: Bool { get }
  /// Whether it contains a moment that may come from the time of parsing.
  var hasStart: Bool { get }
  /// Returns the same schedule moved into the past: instants by `span`, wall-clock times by the whole days in it.
  func moved(back span: Milliseconds) -> Self?

  /// Makes the timetable. `zone` governs: the text's own zone, or else that of the context. A `nil` rule means the
  /// dialect's default.
  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable
}

extension DialectSchedule {
  var zoneIdentifier: String? { nil }
  var isOneOff: Bool { false }
  var calendarNames: [String] { [] }
  var countsFromDone: Bool { false }
  var canFollowEntries: Bool { false }
  var needsPlace: Bool { false }
  var hasStart: Bool { false }
  func moved(back span: Milliseconds) -> Self? { nil }
}
