/// What each dialect provides: a text understood, its canonical form, and the way to numbers.
protocol DialectSchedule: Sendable, Hashable {
  /// Reads the whole text, its prefix included. Without an anchor only text that names all its moments itself is
  /// understood; faults point into `bytes`.
  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault)

  var canonical: String { get }
  /// The zone that the text names itself.
  var zoneIdentifier: String? { get }
  var isOneOff: Bool { get }
  /// The names of the calendars it leaves days out by, in the order of the text.
  var calendarNames: [String] { get }
  /// Whether it counts from when it was last done.
  var countsFromDone: Bool { get }
  /// Whether it is an interval, which can count from when it was last done although its text does not say so.
  var canFollowEntries: Bool { get }
  /// Whether it watches the sun.
  var needsPlace: Bool { get }
  /// Whether it has a moment that the time of reading may have given it.
  var hasStart: Bool { get }
  /// The same so much earlier: moments by `span`, readings of a clock by whole days of it.
  func moved(back span: Milliseconds) -> Self?

  /// `zone` is the one that governs: the text's own, or that of the surroundings. A `nil` rule is the dialect's own.
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
