/// ComingBack parses the time at which a snoozed reminder comes back.
public enum ComingBack {
  /// Returns the time after an activity that people name, when it is usually over.
  private static func after(_ text: String, _ words: () -> WordTimes) -> String? {
    switch text {
    case "after breakfast": "at \(words().day)"
    case "after lunch": "at \(hourLater(words().lunchtime))"
    case "after work": "at \(hourLater(words().endOfDay))"
    case "after dinner": "at \(words().tonight)"
    default: nil
    }
  }

  private static func hourLater(_ time: CivilTime) -> CivilTime {
    CivilTime(hour: min(time.hour + 1, 23), minute: time.minute) ?? time
  }

  /// Parses `tomorrow 9:00`, `monday`, `after lunch`, or a time stamp of RFC 3339. A day without a time means the
  /// default time of a day, as in a schedule.
  ///
  /// - Returns: `nil` if the text is not a time in the future.
  public static func read(_ text: String, now: Instant, in scheduleContext: ScheduleContext) -> Instant? {
    let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    if let instant = try? RFC3339.parse(text) { return instant > now ? instant : nil }
    for form in [after(text, scheduleContext.words), text, "at \(text)"].compactMap({ $0 }) {
      guard let schedule = try? Schedule.parse(form, now: now, in: scheduleContext), schedule.isOneOff,
        let instant = schedule.timetable(in: scheduleContext.zone).next(after: now)
      else { continue }
      return instant
    }
    return nil
  }
}
