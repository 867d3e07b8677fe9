import ChimeCore
import ChimeSchedule

/// A CalendarItem is an event or a to-do, as far as a reminder can represent it.
struct CalendarItem {
  var line: Int
  var title: String
  var body: String?
  /// The values of `Reminder.texts`, by name.
  var texts: [String: String] = [:]
  var tags: [String]
  var urgency: Urgency
  var span: CalendarSpan
  /// The alarms; never empty. `nil` is the default time: the start, or a to-do's due time.
  var alarms: [CalendarAlarm?]
  /// What the import loses of it, by line.
  var remarks: [(Int, String)] = []

  init(_ component: CalendarComponent, _ span: CalendarSpan) {
    line = component.line
    title = Self.title(of: component) ?? "Untitled"
    self.span = span
    body = component["DESCRIPTION"].flatMap { DraftText.body($0.text) }
    for text in Reminder.texts {
      guard let property = text.calendarProperty.flatMap({ component[$0] }) else { continue }
      texts[text.name] = text.isLink ? DraftText.link(property.value) : DraftText.line(property.text)
    }
    var tags: [String] = []
    for property in component.all("CATEGORIES") {
      for tag in CalendarText.list(property.value).compactMap({ DraftText.line($0, maximum: DraftText.maximumTag) })
      where !tags.contains(tag) && tags.count < DraftText.maximumTags {
        tags.append(tag)
      }
    }
    self.tags = tags
    // Use only the ends of the scale. Most programs set 5, or use 1 to 9 in their own way, and a critical message stays
    // on the screen until it is answered.
    switch component["PRIORITY"].flatMap({ Int(trimmed($0.value)) }) {
    case 1: urgency = .critical
    case 9: urgency = .low
    default: urgency = .normal
    }
    var remarks = span.remarks.map { (component.line, $0) }
    alarms = CalendarAlarm.all(of: component, span: span) { remarks.append(($0, $1)) }
    if alarms.isEmpty { alarms = [nil] }
    self.remarks = remarks
  }

  static func title(of component: CalendarComponent) -> String? {
    component["SUMMARY"].flatMap { DraftText.line($0.text) }
  }

  /// Returns whether a reminder would have the same contents, apart from its times.
  func isSame(as other: CalendarItem) -> Bool {
    title == other.title && body == other.body && texts == other.texts && tags == other.tags && urgency == other.urgency
      && alarms == other.alarms
  }

  func draft(_ schedule: Schedule) -> ReminderDraft {
    var zone: String?
    if case .zone(let own) = span.clock { zone = own.identifier }
    return ReminderDraft(
      line: line, title: title, body: body, schedule: schedule, timezone: zone, tags: tags, urgency: urgency,
      texts: texts)
  }

  /// Returns the schedule of an alarm.
  func schedule(_ alarm: CalendarAlarm?, _ settings: ImportSettings) throws(NoSchedule) -> Schedule {
    let zone = span.zone(settings.scheduleContext)
    let instant: Instant
    switch alarm {
    case .absolute(let moment): instant = moment
    case .relative(let trigger):
      if span.isRecurring { return try settings.schedule(span.recurrenceText(trigger: trigger), in: zone) }
      instant = try moment(span.start, trigger, in: zone)
    case nil:
      let time = span.isAllDay ? settings.allDayAt : span.start.time
      if span.isRecurring {
        return try settings.schedule(span.recurrenceText(at: time, trigger: span.usual), in: zone)
      }
      instant = try moment(CivilDateTime(date: span.start.date, time: time), span.usual, in: zone)
    }
    guard instant > settings.now else { throw .past }
    // Prefer the clock it was written for, if unambiguous, so that it follows later changes of the zone's rules.
    let civil = zone.civil(at: instant)
    var isOnClock = alarm.map { if case .absolute = $0 { false } else { true } } ?? true
    if case .utc = span.clock { isOnClock = false }
    return isOnClock && zone.instant(of: civil) == instant
      ? try settings.schedule("at \(civil)", in: zone)
      : try settings.schedule("at \(RFC3339.format(instant, in: .utc))", in: zone)
  }

  /// Adds days on the clock first, then elapsed time (RFC 5545 section 3.3.6).
  private func moment(_ start: CivilDateTime, _ trigger: CalendarDuration, in zone: Zone) throws(NoSchedule) -> Instant
  {
    guard let date = start.date.adding(days: Int(trigger.days)) else { throw .past }
    return zone.instant(of: CivilDateTime(date: date, time: start.time)) + .seconds(trigger.seconds)
  }
}

extension CalendarComponent {
  /// Whether it is a completed to-do.
  var isCompleted: Bool {
    guard name == "VTODO" else { return false }
    return self["COMPLETED"] != nil || self["STATUS"].map { CalendarFile.capitals($0.value) } == "COMPLETED"
      || self["PERCENT-COMPLETE"].map { trimmed($0.value) } == "100"
  }
}
