import ChimeControl
import ChimeSchedule
import ChimeWords

/// Times as a person at this machine reads them.
struct WallClock {
  var zone: Zone
  var now: Instant

  /// `Mon 2026-03-30 08:30`, and in Czech `Po 30.3.2026 08:30`, with seconds only when there are any.
  func text(_ instant: Instant, in other: Zone? = nil) -> String {
    let civil = (other ?? zone).civil(at: instant)
    return "\(LocalizedFormat.weekday(civil.date.weekday)) \(LocalizedFormat.date(civil.date)) \(civil.time)"
  }

  /// What tells it from the other times near now: `08:30` today, `Mon 08:30` within a week, `Mon 03-30 08:30` within the year.
  func short(_ instant: Instant) -> String {
    let (civil, today) = (zone.civil(at: instant), zone.civil(at: now).date)
    let days = civil.date.dayNumber - today.dayNumber
    if days == 0 { return "\(civil.time)" }
    let weekday = LocalizedFormat.weekday(civil.date.weekday)
    if (1..<7).contains(days) { return "\(weekday) \(civil.time)" }
    guard civil.date.year == today.year else { return text(instant) }
    return "\(weekday) \(LocalizedFormat.dateOfYear(civil.date)) \(civil.time)"
  }

  /// A cell with a time of the wire, which is shorter where there is not enough room.
  func cell(_ time: Wire.Time?, _ tone: Style.Tone = .plain) -> Table.Cell {
    .init(text(time), short: time.flatMap { Self.instant($0) }.map { short($0) }, tone)
  }

  /// `08:30:00`.
  func time(_ instant: Instant) -> String {
    let text = zone.civil(at: instant).time.description
    return text.utf8.count == 5 ? text + ":00" : text
  }

  func relative(_ instant: Instant) -> String { RelativeTime.text(instant, now: now) }

  /// A time of the wire, or its own text when it is none.
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
