import CLinux
import ChimeSchedule

/// Reads the wall clock and formats times.
enum Timestamp {
  @Sendable static func now() -> Instant { Instant(milliseconds: chime_wall_clock()) }

  /// Returns the time in UTC, such as `2026-03-29T01:00:00Z`.
  static func rfc3339(_ instant: Instant) -> String { RFC3339.format(instant, in: .utc) }
}

extension Duration {
  init(_ span: Milliseconds) { self = .milliseconds(span.rawValue) }
}

extension Milliseconds {
  /// Rounds a duration to the nearest millisecond.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .seconds(seconds) + .milliseconds((attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000)
  }
}
