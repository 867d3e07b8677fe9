import ChimeSchedule
import ChimeWords

/// The distance of a time from now, in words.
enum RelativeTime {
  /// Returns `in 12 min`, `3 h 20 min ago` or `now`: the largest unit, and the next one where it matters.
  static func text(_ instant: Instant, now: Instant) -> String {
    let milliseconds = instant.milliseconds - now.milliseconds
    if milliseconds.magnitude < 500 { return localized("now") }
    let amount = amount(seconds: Int64((milliseconds.magnitude + 500) / 1_000))
    return milliseconds > 0 ? localized("in %1", amount) : localized("%1 ago", amount)
  }

  /// Returns the distance in the largest unit alone: `in 16 h`.
  static func short(_ instant: Instant, now: Instant) -> String {
    let seconds = Int64(((instant.milliseconds - now.milliseconds).magnitude + 500) / 1_000)
    let unit: Int64 =
      switch seconds {
      case ..<60: 1
      case ..<3_570: 60
      case ..<86_370: 3_600
      default: 86_400
      }
    let whole = (seconds + unit / 2) / unit * unit
    return text(instant > now ? now + .seconds(whole) : now - .seconds(whole), now: now)
  }

  /// Returns a rounded length: `25 min`, `1 h 30 min`, `3 d 4 h`, `5 weeks`, `14 months`, `3 years`.
  static func amount(seconds: Int64) -> String {
    switch seconds {
    case ..<60: return "\(seconds) " + localized("s")
    case ..<600: return pair(seconds, 60, localized("min"), localized("s"))
    case ..<3_570: return localized("%1 min", (seconds + 30) / 60)
    case ..<86_370: return pair((seconds + 30) / 60, 60, localized("h"), localized("min"))
    case ..<1_209_600: return pair((seconds + 1_800) / 3_600, 24, localized("d"), localized("h"))
    case ..<7_776_000: return localized(count: Int((seconds + 302_400) / 604_800), "%n week", "%n weeks")
    case ..<63_072_000: return localized(count: Int((seconds + 1_314_900) / 2_629_800), "%n month", "%n months")
    default: return localized(count: Int((seconds + 15_778_800) / 31_557_600), "%n year", "%n years")
    }
  }

  private static func pair(_ count: Int64, _ size: Int64, _ large: String, _ small: String) -> String {
    let (whole, rest) = count.quotientAndRemainder(dividingBy: size)
    return rest == 0 ? "\(whole) \(large)" : "\(whole) \(large) \(rest) \(small)"
  }

  /// Returns a span of milliseconds: `4 ms`, `1.2 s`, `3 min 5 s`.
  static func lateness(milliseconds: Int) -> String {
    switch milliseconds.magnitude {
    case ..<1_000: "\(milliseconds) ms"
    case ..<60_000: "\(LocalizedFormat.number(Double(milliseconds / 100) / 10, decimals: 1)) s"
    default: amount(seconds: Int64(milliseconds / 1_000))
    }
  }
}
