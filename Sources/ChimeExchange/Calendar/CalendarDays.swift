public import ChimeSchedule

/// CalendarDays reads the days of a calendar's events: holidays and vacations, for schedules that exclude them.
///
///     let days = try CalendarDays.read(bytes, in: ScheduleContext(zone: prague))
///     days.contains { $0.contains(date) }
public enum CalendarDays {
  /// The last year for which recurring events are expanded.
  public static let lastYear = 2100
  /// The most days of recurring events, and the most ranges in total.
  public static let maximumCount = 100_000

  /// Reads the days of all events (VEVENT) of an iCalendar text (RFC 5545).
  ///
  /// An all-day event has its days. A timed event has each day that it touches, on its own clock. Canceled events do
  /// not count. Free time does, because holidays are usually marked as free. Unreadable events are skipped.
  ///
  /// - Parameter scheduleContext: The zone of events without one, and the lookup of zones that events name.
  /// - Returns: Sorted ranges that neither overlap nor touch.
  /// - Throws: ``ExchangeError`` if the text is not iCalendar or has more than ``maximumCount`` days.
  public static func read(_ text: [UInt8], in scheduleContext: ScheduleContext) throws(ExchangeError)
    -> [ClosedRange<CivilDate>]
  {
    var ranges: [ClosedRange<CivilDate>] = []
    for calendar in try CalendarFile(text).calendars {
      var zones = CalendarZones(scheduleContext, calendar: calendar)
      for series in CalendarSeries.all(in: calendar, named: ["VEVENT"]) {
        for range in days(series, &zones, room: maximumCount - ranges.count) { ranges.append(range) }
        try need(ranges.count < maximumCount, line: nil, "the calendar has more than \(maximumCount) days")
      }
    }
    return CivilDate.merged(ranges)
  }

  private static func days(_ series: CalendarSeries, _ zones: inout CalendarZones, room: Int)
    -> [ClosedRange<CivilDate>]
  {
    var ranges: [ClosedRange<CivilDate>] = []
    if let master = series.master, !master.isCancelled, var span = try? CalendarSpan(master, zones: &zones) {
      for override in series.overrides {
        guard let id = override["RECURRENCE-ID"], let time = try? span.recurrence(id, &zones) else { continue }
        span.removed.append(time)
      }
      ranges = occurrences(span, zones.scheduleContext, room: room)
    }
    for override in series.overrides where !override.isCancelled {
      guard let span = try? CalendarSpan(override, zones: &zones) else { continue }
      if let range = range(span, from: span.start, zones.scheduleContext) { ranges.append(range) }
    }
    return ranges
  }

  private static func occurrences(_ span: CalendarSpan, _ scheduleContext: ScheduleContext, room: Int)
    -> [ClosedRange<CivilDate>]
  {
    guard span.isRecurring else { return range(span, from: span.start, scheduleContext).map { [$0] } ?? [] }
    // Use a clock without changes of offset, so that no day is lost in a gap.
    var onClock = span
    if span.isAllDay { onClock.clock = .utc }
    guard let schedule = try? Schedule(canonical: onClock.recurrenceText()) else { return [] }
    let zone = onClock.zone(scheduleContext)
    let own = ScheduleContext(zone: zone)
    var walk = schedule.timetable(in: own).walk(steps: CalendarExport.mostSteps)
    var ranges: [ClosedRange<CivilDate>] = []
    var last = zone.instant(of: span.start) - .seconds(1)
    while let next = walk.next(after: last) {
      let civil = zone.civil(at: next)
      guard civil.date.year <= lastYear, ranges.count < room else { break }
      if let range = range(onClock, from: civil, scheduleContext) { ranges.append(range) }
      // One occurrence is enough for its day, so skip the others.
      guard let end = CivilTime(hour: 23, minute: 59, second: 59) else { break }
      last = max(next, zone.instant(of: CivilDateTime(date: civil.date, time: end)))
    }
    return ranges
  }

  /// Returns the days from an occurrence's start to its end. An end at midnight does not touch the next day.
  private static func range(_ span: CalendarSpan, from start: CivilDateTime, _ scheduleContext: ScheduleContext)
    -> ClosedRange<CivilDate>?
  {
    if span.isAllDay {
      let days = Int(min(max(span.length.days, 1), Int64(maximumCount)))
      return start.date...(start.date.adding(days: days - 1) ?? .latest)
    }
    let zone = span.zone(scheduleContext)
    let length = max(0, span.length.days * 86_400 + span.length.seconds - 1)
    let end = zone.civil(at: zone.instant(of: start) + .seconds(length)).date
    return start.date...max(start.date, min(end, .latest))
  }
}
