/// What becomes of a wall-clock time that a DST gap removes.
public enum GapRule: String, Sendable, Hashable, Codable, CaseIterable { case shift, skip }
/// What becomes of a wall-clock time that a DST fold repeats.
public enum FoldRule: String, Sendable, Hashable, Codable, CaseIterable { case first, last, both }

/// When something is due, as its user wrote it: text in, canonical text out.
public struct Schedule: Sendable, Hashable, Codable {
  public let canonical: String
  public static func parse(_ text: String, now: Instant, zone: Zone) throws(ScheduleError) -> Schedule {
    try Schedule(canonical: text)
  }
  public init(canonical: String) throws(ScheduleError) { self.canonical = canonical }
  public func timetable(in zone: Zone, gap: GapRule? = nil, fold: FoldRule? = nil) -> Timetable { Timetable() }
}

/// A schedule made ready for one zone.
public struct Timetable: Sendable {
  public func next(after instant: Instant) -> Instant? { nil }
}

/// Why a schedule's text was refused.
public struct ScheduleError: Error, Hashable, Sendable {
  public enum Code: String, Sendable { case invalidSchedule, neverOccurs, outOfRange }
  public let code: Code
  public let text: String
  public let column: Int?
  public let expected: String
  public let suggestion: String?
  public let message: String
}
