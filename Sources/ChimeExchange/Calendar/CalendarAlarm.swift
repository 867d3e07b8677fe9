import ChimeSchedule

/// A CalendarAlarm is the time of a VALARM of an event.
enum CalendarAlarm: Hashable {
  /// The distance from the start.
  case relative(CalendarDuration)
  case absolute(Instant)
}

extension CalendarAlarm {
  /// Returns the alarms of an event or to-do, each once, in file order. It reports alarms that it cannot import.
  static func all(of component: CalendarComponent, span: CalendarSpan, remark: (Int, String) -> Void)
    -> [CalendarAlarm]
  {
    var alarms: [CalendarAlarm] = []
    var seen: Set<CalendarAlarm> = []
    for alarm in component.components("VALARM") {
      // Apple writes an alarm without an action to say that there is none.
      if alarm["ACTION"].map({ CalendarFile.capitals($0.value) }) == "NONE" { continue }
      // Skip the snooze of another alarm (RFC 9074). It applied to an earlier time.
      if alarm["RELATED-TO"]?.parameter("RELTYPE").map(CalendarFile.capitals) == "SNOOZE" { continue }
      if alarm["X-APPLE-PROXIMITY"] != nil || alarm["PROXIMITY"] != nil {
        remark(alarm.line, "an alarm depends on your location, which Chime does not know; it is left out")
        continue
      }
      guard let trigger = alarm["TRIGGER"], let one = CalendarAlarm(trigger, span: span) else {
        remark(alarm.line, "an alarm has no TRIGGER that Chime understands; it is left out")
        continue
      }
      if let count = alarm["REPEAT"].flatMap({ Int(trimmed($0.value)) }), count > 0 {
        remark(alarm.line, "an alarm repeats; Chime takes it once")
      }
      if seen.insert(one).inserted { alarms.append(one) }
    }
    return alarms
  }

  private init?(_ trigger: ContentLine, span: CalendarSpan) {
    let value = trimmed(trigger.value)
    if let duration = CalendarDuration(value) {
      let isFromEnd = trigger.parameter("RELATED").map(CalendarFile.capitals) == "END"
      self = .relative(isFromEnd ? span.length + duration : duration)
    } else if let time = CalendarTime(value), time.form == .utc, let civil = time.civil {
      self = .absolute(Zone.utc.instant(of: civil))
    } else {
      return nil
    }
  }
}
