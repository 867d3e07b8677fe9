/// When something that is put off is to come back.
public enum ComingBack {
  /// Times of day that people name by what they do before, as it is commonly over.
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

  /// Reads `tomorrow 9:00`, `monday`, `after lunch`, or a time stamp of RFC 3339. A day without a time is its morning, as in a
  /// schedule.
  ///
  /// - Returns: nil: the text is no time to come.
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
