import CLinux
import ChimeSchedule
import Glibc

/// Reading the wall clock, and writing its times.
enum Timestamp {
  /// The time now.
  @Sendable static func now() -> Instant { Instant(milliseconds: chime_wall_clock()) }

  /// RFC 3339 in UTC with milliseconds: `2026-03-29T01:00:00.000Z`.
  static func rfc3339(_ instant: Instant) -> String {
    var seconds = time_t(instant.seconds)
    var civil = tm()
    gmtime_r(&seconds, &civil)
    return pad(Int(civil.tm_year) + 1_900, 4) + "-" + pad(Int(civil.tm_mon) + 1, 2) + "-" + pad(Int(civil.tm_mday), 2)
      + "T" + pad(Int(civil.tm_hour), 2) + ":" + pad(Int(civil.tm_min), 2) + ":" + pad(Int(civil.tm_sec), 2)
      + "." + pad(Int(instant.milliseconds % 1_000), 3) + "Z"
  }

  private static func pad(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
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
