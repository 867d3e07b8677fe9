/// A ExcludedDay is a day on which a calendar suppresses an occurrence.
public struct ExcludedDay: Sendable, Hashable {
  public let date: CivilDate
  /// The calendar, as the schedule names it.
  public let calendar: String
}

extension Schedule {
  /// Returns the days between two instants on which the schedule's calendars suppress occurrences, in order, each once.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of days.
  ///   - steps: The search budget. Days not found within it are missing from the result.
  public func excludedDays(
    after start: Instant, before end: Instant, in scheduleContext: ScheduleContext, gap: GapRule? = nil,
    fold: FoldRule? = nil,
    limit: Int = 20, steps: Int = 100_000
  ) -> [ExcludedDay] {
    let names = calendarNames.filter { scheduleContext.calendar($0)?.isEmpty == false }
    guard !names.isEmpty else { return [] }
    var without = scheduleContext
    without.calendar = { _ in [] }
    let zone = zoneIdentifier.flatMap { scheduleContext.zone(named: $0) } ?? scheduleContext.zone
    var found: [ExcludedDay] = []
    for time in timetable(in: without, gap: gap, fold: fold).occurrences(after: start, steps: steps) {
      guard time < end, found.count < limit else { break }
      let date = zone.civil(at: time).date
      guard found.last?.date != date,
        let name = names.first(where: { scheduleContext.calendar($0)?.contains { $0.contains(date) } == true })
      else { continue }
      found.append(ExcludedDay(date: date, calendar: name))
    }
    return found
  }
}
