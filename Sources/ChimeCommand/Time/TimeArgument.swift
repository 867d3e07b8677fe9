import ChimeSchedule
import ChimeWords

/// A point in time, the value of `--until`, `--since`, `--before` and `--after`.
///
/// It accepts `2026-12-01` (its first second), `2026-12-01 09:00`, `friday at 9`, `tomorrow`, `18:00`, an RFC 3339
/// timestamp, or a length: `3 days` from now, or ago for options about the past.
enum TimeArgument {
  enum Direction { case future, past }

  static func parse(
    _ text: String, option: String, now: Instant, in scheduleContext: ScheduleContext, toward direction: Direction
  ) throws -> Instant {
    let zone = scheduleContext.zone
    let text = trimmed(text)
    if let instant = try? RFC3339.parse(text) { return instant }
    if let length = try? DurationText.parse(text) { return direction == .future ? now + length : now - length }
    switch text.lowercased() {
    case "now": return now
    case "today": return midnight(of: zone.civil(at: now).date, in: zone)
    case "yesterday":
      if let day = zone.civil(at: now).date.adding(days: -1) { return midnight(of: day, in: zone) }
    case "tomorrow":
      if let day = zone.civil(at: now).date.adding(days: 1) { return midnight(of: day, in: zone) }
    default: break
    }
    if let date = CivilDate(text) { return midnight(of: date, in: zone) }
    var refusal: ScheduleError?
    for anchor in anchors(now, direction) {
      // A day without a time means its first second.
      let written = Schedule.written(text, now: anchor, in: scheduleContext)
      for form in ["\(written) at 00:00", text, "at \(text)"] {
        do {
          let schedule = try Schedule.parse(form, now: anchor, in: scheduleContext)
          guard schedule.isOneOff, let instant = schedule.timetable(in: zone).next(after: anchor) else { continue }
          if direction == .future || instant <= now { return instant }
        } catch {
          if form == text { refusal = refusal ?? error }
        }
      }
    }
    let expected = localized("a date, a time, or a length such as \"3 days\"")
    var failure = Failure.usage(localized("--%1 needs %2, not \"%3\"", option, expected, text))
    if let suggestion = refusal?.suggestion { failure.hints = [localized("did you mean \"%1\"?", suggestion)] }
    throw failure
  }

  /// Returns the moments from which a text is parsed. For the past, the latest anchor whose result is not after now
  /// wins, so that `friday` is the last one.
  private static func anchors(_ now: Instant, _ direction: Direction) -> [Instant] {
    guard direction == .past else { return [now] }
    return [1, 7, 31, 366, 3_000, 20_000].map { max(now - .days($0), .earliest) }
  }

  /// Returns the first second of a day, which DST can move from 00:00.
  private static func midnight(of date: CivilDate, in zone: Zone) -> Instant {
    switch zone.resolve(CivilDateTime(date: date, time: .midnight)) {
    case .unique(let instant): instant
    case .gap(_, _, let transition): transition
    case .fold(let first, _): first
    }
  }
}

/// Lengths of time on the command line.
enum LengthText {
  /// Returns ISO 8601, as the wire uses, for `90m`, `1h 30m`, `2 days` or ISO 8601 itself.
  static func iso(_ text: String, option: String) throws -> String {
    if let length = try? DurationText.parseISO8601(text) { return DurationText.formatISO8601(length) }
    do {
      return DurationText.formatISO8601(try DurationText.parse(text))
    } catch {
      throw Failure.usage(
        localized("--%1 needs a length of time such as 10m or 1h30m, not \"%2\"", option, text),
        hint: error.suggestion.map { localized("did you mean \"%1\"?", $0) })
    }
  }

  /// Returns `10m` for `PT10M`; the text itself if it is no length.
  static func human(_ iso: String) -> String {
    (try? DurationText.parseISO8601(iso)).map { DurationText.format($0) } ?? iso
  }
}
