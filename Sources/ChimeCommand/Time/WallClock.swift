import ChimeControl
import ChimeSchedule
import ChimeWords

/// Formats times for a person at this machine.
struct WallClock {
  var zone: Zone
  var now: Instant

  /// Returns `Mon 2026-03-30 08:30`, or in Czech `Po 30.3.2026 08:30`; with seconds only if they are not zero.
  func text(_ instant: Instant, in other: Zone? = nil) -> String {
    let civil = (other ?? zone).civil(at: instant)
    return "\(LocalizedFormat.weekday(civil.date.weekday)) \(LocalizedFormat.date(civil.date)) \(civil.time)"
  }

  /// Returns the shortest unambiguous form: `08:30` today, `Mon 08:30` within a week, `Mon 03-30 08:30` within the year.
  func short(_ instant: Instant) -> String {
    let (civil, today) = (zone.civil(at: instant), zone.civil(at: now).date)
    let days = civil.date.dayNumber - today.dayNumber
    if days == 0 { return "\(civil.time)" }
    let weekday = LocalizedFormat.weekday(civil.date.weekday)
    if (1..<7).contains(days) { return "\(weekday) \(civil.time)" }
    guard civil.date.year == today.year else { return text(instant) }
    return "\(weekday) \(LocalizedFormat.dateOfYear(civil.date)) \(civil.time)"
  }

  /// Returns a table cell for a wire time, with a short form for lack of room.
  func cell(_ time: Wire.Time?, _ tone: Style.Tone = .plain) -> Table.Cell {
    .init(text(time), short: time.flatMap { Self.instant($0) }.map { short($0) }, tone)
  }

  /// Returns `08:30:00`.
  func time(_ instant: Instant) -> String {
    let text = zone.civil(at: instant).time.description
    return text.utf8.count == 5 ? text + ":00" : text
  }

  func relative(_ instant: Instant) -> String { RelativeTime.text(instant, now: now) }

  /// Returns a wire time formatted, or its raw text if it is invalid.
  func text(_ time: Wire.Time?) -> String {
    guard let time else { return "-" }
    return Self.instant(time).map { text($0) } ?? time.at
  }

  func relative(_ time: Wire.Time?) -> String {
    time.flatMap { Self.instant($0) }.map { relative($0) } ?? "-"
  }

  func shortRelative(_ time: Wire.Time?) -> String {
    time.flatMap { Self.instant($0) }.map { RelativeTime.short($0, now: now) } ?? "-"
  }

  static func instant(_ time: Wire.Time) -> Instant? { try? RFC3339.parse(time.at) }
}
