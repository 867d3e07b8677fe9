import ChimeSchedule

/// CalendarImport makes reminders of the events and to-dos of an iCalendar text.
///
/// `docs/exchange.md` says what is imported and what is not.
///
/// Source: RFC 5545 (iCalendar); RFC 7986 and RFC 9074 (later properties, of which only the snooze matters here).
public enum CalendarImport {
  /// - Throws: ``ExchangeError`` if the text is not iCalendar or asks for too many reminders.
  public static func read(_ text: [UInt8], _ settings: ImportSettings) throws(ExchangeError) -> ImportPlan {
    let file = try CalendarFile(text)
    var reader = Reader(settings: settings)
    for line in file.faultyLines {
      reader.plan.remark(line, nil, .note, "this is not a line of iCalendar; it is skipped")
    }
    for calendar in file.calendars {
      var zones = CalendarZones(settings.scheduleContext, calendar: calendar, now: settings.now)
      for series in CalendarSeries.all(in: calendar, named: ["VEVENT", "VTODO"]) { try reader.take(series, &zones) }
      for guess in zones.guesses {
        reader.plan.remark(
          guess.line, nil, .note,
          "the zone \"\(excerpt(guess.name))\" is read as \(guess.zone.identifier), which has the same rules")
      }
    }
    return reader.plan
  }

  private struct Reader {
    let settings: ImportSettings
    var plan = ImportPlan()

    mutating func take(_ series: CalendarSeries, _ zones: inout CalendarZones) throws(ExchangeError) {
      var overrides = series.overrides
      if let master = series.master, let span = open(master, &zones) {
        let item = CalendarItem(master, span)
        overrides = []
        var removed: [CivilDateTime] = []
        for override in series.overrides {
          guard let id = override["RECURRENCE-ID"] else { continue }
          if id.parameter("RANGE").map(CalendarFile.capitals) == "THISANDFUTURE" {
            plan.remark(
              override.line, CalendarItem.title(of: override), .refused,
              "it changes one occurrence and all later ones (THISANDFUTURE), which Chime does not support; the "
                + "series is taken as it was before")
          } else if let time = try? span.recurrence(id, &zones) {
            if !override.isCancelled, let other = try? CalendarSpan(override, zones: &zones), other.start == time,
              item.isSame(as: CalendarItem(override, other))
            {
              continue
            }
            removed.append(time)
            overrides.append(override)
          } else {
            overrides.append(override)
          }
        }
        try add(item, removing: removed)
      }
      for override in overrides where !override.isCancelled {
        guard let span = open(override, &zones) else { continue }
        try add(CalendarItem(override, span), removing: [])
      }
    }

    /// Returns the span of a component to import, or reports why it is skipped.
    private mutating func open(_ component: CalendarComponent, _ zones: inout CalendarZones) -> CalendarSpan? {
      let title = CalendarItem.title(of: component)
      if component.isCancelled {
        plan.remark(component.line, title, .closed, "it is cancelled")
      } else if component.isCompleted {
        plan.remark(component.line, title, .closed, "it is done")
      } else {
        do {
          return try CalendarSpan(component, zones: &zones)
        } catch {
          plan.remark(component.line, title, .refused, error.reason)
        }
      }
      return nil
    }

    private mutating func add(_ item: CalendarItem, removing removed: [CivilDateTime]) throws(ExchangeError) {
      var item = item
      item.span.removed += removed
      for (line, message) in item.remarks { plan.remark(line, item.title, .note, message) }
      // Report an event without future times once, however many alarms it has.
      var isPassed = true
      for alarm in item.alarms {
        let schedule: Schedule
        do {
          schedule = try item.schedule(alarm, settings)
        } catch {
          guard case .refused(let reason) = error else { continue }
          plan.remark(item.line, item.title, .refused, reason)
          isPassed = false
          continue
        }
        try plan.add(item.draft(schedule))
        isPassed = false
      }
      if isPassed { plan.remark(item.line, item.title, .past, "it has passed") }
    }
  }
}
