import CLinux
import ChimeSchedule

/// Reading the wall clock, and writing its times.
enum Timestamp {
  /// The time now.
  @Sendable static func now() -> Instant { Instant(milliseconds: chime_wall_clock()) }

  /// In UTC: `2026-03-29T01:00:00Z`.
  static func rfc3339(_ instant: Instant) -> String { RFC3339.format(instant, in: .utc) }
}

extension Duration {
  init(_ span: Milliseconds) { self = .milliseconds(span.rawValue) }
}

extension Milliseconds {
  /// Whole milliseconds of a duration, rounded to the nearest.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .seconds(seconds) + .milliseconds((attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000)
  }
}
