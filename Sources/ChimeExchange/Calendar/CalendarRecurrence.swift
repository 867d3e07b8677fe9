import ChimeCore
import ChimeSchedule

/// A CalendarRecurrence is a reminder's schedule as properties of an event.
struct CalendarRecurrence {
  /// DTSTART, and RRULE, RDATE and EXDATE if needed.
  var lines: [String] = []
  /// The alarm's distance from the start.
  var trigger = "PT0S"
  /// The zone of a TZID in the lines.
  var zone: Zone?
  var firstYear = 1970

  /// Returns `nil` if there is no future time.
  init?(_ item: CalendarExport.Item, now: Instant, warn: (String) -> Void) {
    let reminder = item.reminder
    let timetable = reminder.timetable(in: item.scheduleContext)
    // A chain's next time is not exported, because it becomes wrong with the next outcome of the other reminder.
    guard reminder.schedule.chain == nil, let next = timetable.next(after: now) else { return nil }
    if reminder.schedule.isOneOff, timetable.next(after: next) == nil {
      let isMoment = reminder.schedule.canonical.hasSuffix("Z")
      self.init(once: next, reminder, item.scheduleContext.zone, isMoment: isMoment)
      return
    }
    // A fold repeats the moment and both passes count. No rule expresses the second pass, so list the times.
    if reminder.schedule.isOneOff {
      self.init(listing: timetable, after: now)
      return
    }
    if reminder.gap == .skip || reminder.fold == .last || reminder.fold == .both {
      warn("a calendar cannot express its rule for clock changes (gap, fold)")
    }
    if let conversion = try? reminder.schedule.converted(to: .rrule, now: now, in: item.scheduleContext) {
      for remark in conversion.remarks { warn(remark) }
      self.init(text: conversion.schedule.canonical, reminder, item.scheduleContext)
    } else {
      self.init(listing: timetable, after: now)
      let count = lines.reduce(0) { $0 + $1.count { $0 == "," } + 1 }
      warn(
        "no recurrence rule can express \"\(reminder.schedule.canonical)\"; "
          + (count < CalendarExport.maximumListed
            ? "its times of one year are listed (\(count))" : "its next \(count) times are listed"))
    }
  }

  /// Exports one moment, on its clock if that is unambiguous.
  private init(once instant: Instant, _ reminder: Reminder, _ zone: Zone, isMoment: Bool) {
    let civil = zone.civil(at: instant)
    firstYear = civil.date.year
    if isMoment || zone == .utc || zone.instant(of: civil) != instant {
      lines = ["DTSTART:\(Zone.utc.civil(at: instant).basic)Z"]
    } else if case .local = reminder.timezone {
      lines = ["DTSTART:\(civil.basic)"]
    } else {
      lines = ["DTSTART;TZID=\(zone.identifier):\(civil.basic)"]
      self.zone = zone
    }
  }

  /// Exports a schedule of the rrule dialect, whose parts are properties already.
  private init(text: String, _ reminder: Reminder, _ scheduleContext: ScheduleContext) {
    var start: Zone?
    var first = ""
    for part in text.split(separator: " ") {
      guard let colon = part.firstIndex(of: ":") else { continue }
      let head = part[..<colon]
      let value = String(part[part.index(after: colon)...])
      let name = head.prefix { $0 != ";" }
      switch name {
      case "TRIGGER": trigger = value
      case "RRULE":
        lines.append("RRULE:" + Self.rule(value, in: start ?? scheduleContext.zone, isFloating: start == nil))
      case "DTSTART", "RDATE", "EXDATE":
        var zone: Zone?
        if let named = head.split(separator: ";").first(where: { $0.hasPrefix("TZID=") }) {
          zone = scheduleContext.zone(known: String(named.dropFirst(5)))
        } else if !value.hasSuffix("Z"), case .named = reminder.timezone {
          zone = scheduleContext.zone
        } else if value.hasSuffix("Z") {
          zone = .utc
        }
        if name == "DTSTART" {
          firstYear = Int(value.prefix(4)) ?? 1970
          start = zone
          first = value
        }
        if let zone, zone != .utc {
          self.zone = zone
          lines.append("\(name);TZID=\(zone.identifier):\(value)")
        } else if zone == .utc {
          let values = value.split(separator: ",").map { $0.hasSuffix("Z") ? $0 : $0 + "Z" }
          lines.append("\(name):\(values.joined(separator: ","))")
        } else {
          lines.append("\(name):\(value)")
        }
      default: continue
      }
    }
    // Other programs count the start as an occurrence even if the rule excludes it, so except it.
    if let line = lines.first, line.hasPrefix("DTSTART"), !Self.names(text, start: first, start ?? scheduleContext.zone)
    {
      lines.append("EXDATE" + line.dropFirst("DTSTART".utf8.count))
    }
  }

  /// Returns whether the start is an occurrence of the schedule, or excepted already.
  private static func names(_ text: String, start: String, _ zone: Zone) -> Bool {
    let parts = text.split(separator: " ").filter { !$0.hasPrefix("TRIGGER") && !$0.hasPrefix("EXDATE") }
    guard let civil = CalendarTime(start)?.civil,
      let schedule = try? Schedule(canonical: parts.joined(separator: " "))
    else { return true }
    let first = zone.instant(of: civil)
    return schedule.timetable(in: ScheduleContext(zone: zone)).next(after: first - .seconds(1)) == first
      || text.split(separator: " ").contains { $0.hasPrefix("EXDATE") && $0.contains(start) }
  }

  /// Returns a rule whose UNTIL is UTC if the start has a zone, and floating if the start is (RFC 5545 section 3.3.10).
  private static func rule(_ rule: String, in zone: Zone, isFloating: Bool) -> String {
    rule.split(separator: ";").map { part -> String in
      guard part.hasPrefix("UNTIL="), let until = CalendarTime(part.dropFirst(6)), let civil = until.civil else {
        return String(part)
      }
      switch (until.form, isFloating) {
      case (.utc, true): return "UNTIL=" + zone.civil(at: Zone.utc.instant(of: civil)).basic
      case (.floating, false): return "UNTIL=\(Zone.utc.civil(at: zone.instant(of: civil)).basic)Z"
      default: return String(part)
      }
    }.joined(separator: ";")
  }

  /// Lists the times themselves, in UTC.
  private init(listing timetable: Timetable, after now: Instant) {
    let end = now + CalendarExport.listedSpan
    var times: [String] = []
    for instant in timetable.occurrences(after: now, steps: CalendarExport.mostSteps)
      .prefix(CalendarExport.maximumListed)
    {
      if !times.isEmpty, instant > end { break }
      times.append(Zone.utc.civil(at: instant).basic + "Z")
    }
    lines = times.first.map { ["DTSTART:\($0)"] } ?? []
    if times.count > 1 { lines.append("RDATE:" + times.dropFirst().joined(separator: ",")) }
  }
}

extension ScheduleContext {
  func zone(known name: String) -> Zone? { name == zone.identifier ? zone : name == "UTC" ? .utc : zones(name) }
}
