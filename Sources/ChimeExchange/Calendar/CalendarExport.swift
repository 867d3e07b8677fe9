public import ChimeCore
public import ChimeSchedule

/// A CalendarExport is an iCalendar text with an event for each reminder. The alarm is at the start of the event.
///
/// Source: RFC 5545.
public struct CalendarExport: Sendable {
  public struct Item: Sendable {
    public var reminder: Reminder
    /// The context of its schedule. Its zone is the one that `governingZone` names at present.
    public var scheduleContext: ScheduleContext

    public init(reminder: Reminder, scheduleContext: ScheduleContext) {
      self.reminder = reminder
      self.scheduleContext = scheduleContext
    }
  }

  public let text: String
  /// The number of reminders in the text.
  public let count: Int
  /// What a calendar cannot express, as sentences with the reminder's title.
  public let warnings: [String]

  /// The period and the most times to list for a schedule that no recurrence rule can express.
  public static let listedSpan = Milliseconds.days(366)
  public static let maximumListed = 500
  /// The search budget for the times of one event.
  static let mostSteps = 200_000

  public init(_ items: [Item], now: Instant) {
    var warnings: [String] = []
    var events: [(Reminder, CalendarRecurrence)] = []
    var zones: [String: (zone: Zone, year: Int)] = [:]
    for item in items {
      func warn(_ message: String) { warnings.append("\"\(item.reminder.title)\": \(message)") }
      guard let recurrence = CalendarRecurrence(item, now: now, warn: warn) else {
        warn(
          item.reminder.schedule.chain == nil
            ? "it has no future time, so it is left out"
            : "it follows another reminder, which a calendar cannot express, so it is left out")
        continue
      }
      if item.reminder.pause.holds(at: now) { warn("it is paused, which a calendar cannot express") }
      if item.reminder.onlyIfDone != nil {
        warn("it waits until another reminder is done, which a calendar cannot express")
      }
      if item.reminder.skipNext > 0 { warn("it skips its next times, which a calendar cannot express") }
      if let zone = recurrence.zone {
        let year = min(recurrence.firstYear, zones[zone.identifier]?.year ?? .max)
        zones[zone.identifier] = (zone, year)
      }
      events.append((item.reminder, recurrence))
    }
    var writer = CalendarWriter()
    writer.component("VCALENDAR") { writer in
      writer.line("VERSION:2.0")
      writer.line("PRODID:-//Chime//Chime//EN")
      writer.line("CALSCALE:GREGORIAN")
      for (_, (zone, year)) in zones.sorted(by: { $0.key < $1.key }) {
        ZoneComponent(zone, from: year).write(to: &writer)
      }
      for (reminder, recurrence) in events { Self.write(reminder, recurrence, now, to: &writer) }
    }
    text = writer.text
    count = events.count
    self.warnings = warnings
  }

  private static func write(
    _ reminder: Reminder, _ recurrence: CalendarRecurrence, _ now: Instant, to writer: inout CalendarWriter
  ) {
    writer.component("VEVENT") { writer in
      writer.line("UID:\(reminder.id)@chime")
      writer.line("DTSTAMP:\(Zone.utc.civil(at: now).basic)Z")
      writer.line("CREATED:\(Zone.utc.civil(at: reminder.createdAt).basic)Z")
      writer.line("SEQUENCE:\(reminder.generation)")
      for line in recurrence.lines { writer.line(line) }
      writer.text("SUMMARY", reminder.title)
      if let body = reminder.body { writer.text("DESCRIPTION", body) }
      for text in Reminder.texts {
        guard let property = text.calendarProperty, let value = reminder[keyPath: text.path] else { continue }
        if text.isLink { writer.line("\(property):\(value)") } else { writer.text(property, value) }
      }
      if !reminder.tags.isEmpty {
        writer.line("CATEGORIES:" + reminder.tags.map(CalendarText.escaped).joined(separator: ","))
      }
      switch reminder.urgency {
      case .critical: writer.line("PRIORITY:1")
      case .low: writer.line("PRIORITY:9")
      case .normal: break
      }
      // A reminder does not block time in a calendar.
      writer.line("TRANSP:TRANSPARENT")
      writer.component("VALARM") { writer in
        writer.line("ACTION:DISPLAY")
        writer.text("DESCRIPTION", reminder.title)
        writer.line("TRIGGER:\(recurrence.trigger)")
      }
    }
  }
}
