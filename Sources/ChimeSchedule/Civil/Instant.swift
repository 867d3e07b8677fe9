/// A duration in whole milliseconds. It may be negative.
///
/// Arithmetic saturates at the ends of `Int64` instead of trapping, so hostile input cannot stop the daemon.
///
///     Milliseconds.minutes(90) + .seconds(30)   // 5 430 000 ms
public struct Milliseconds: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: Int64

  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let zero = Milliseconds(rawValue: 0)

  public static func milliseconds(_ count: Int64) -> Milliseconds { Milliseconds(rawValue: count) }
  public static func seconds(_ count: Int64) -> Milliseconds { scaled(count, 1_000) }
  public static func minutes(_ count: Int64) -> Milliseconds { scaled(count, 60_000) }
  public static func hours(_ count: Int64) -> Milliseconds { scaled(count, 3_600_000) }
  public static func days(_ count: Int64) -> Milliseconds { scaled(count, 86_400_000) }

  private static func scaled(_ count: Int64, _ unit: Int64) -> Milliseconds {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    return Milliseconds(rawValue: overflow ? (count < 0 ? .min : .max) : product)
  }

  public static func + (left: Milliseconds, right: Milliseconds) -> Milliseconds {
    let (sum, overflow) = left.rawValue.addingReportingOverflow(right.rawValue)
    return Milliseconds(rawValue: overflow ? (right.rawValue < 0 ? .min : .max) : sum)
  }

  public static func - (left: Milliseconds, right: Milliseconds) -> Milliseconds {
    let (difference, overflow) = left.rawValue.subtractingReportingOverflow(right.rawValue)
    return Milliseconds(rawValue: overflow ? (right.rawValue < 0 ? .max : .min) : difference)
  }

  public static func < (left: Milliseconds, right: Milliseconds) -> Bool { left.rawValue < right.rawValue }

  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// A point in time in UTC, in whole milliseconds since 1970-01-01T00:00:00Z (POSIX time, no leap seconds).
///
/// The range is 1970-01-01T00:00:00.000Z … 9999-12-31T23:59:59.999Z. Construction and arithmetic saturate at its ends
/// and never trap.
///
///     Instant(seconds: 1_774_855_800) + .minutes(90)
public struct Instant: Hashable, Comparable, Sendable, Codable {
  public let milliseconds: Int64

  public static let earliest = Instant(milliseconds: 0)
  public static let latest = Instant(milliseconds: 253_402_300_799_999)

  /// Saturates at `earliest` and `latest`.
  public init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, 0), 253_402_300_799_999)
  }

  /// Saturates at `earliest` and `latest`.
  public init(seconds: Int64) {
    self.init(milliseconds: Milliseconds.seconds(seconds).rawValue)
  }

  /// Whole seconds since the epoch, rounded down.
  public var seconds: Int64 { milliseconds / 1_000 }

  public static func + (left: Instant, right: Milliseconds) -> Instant {
    Instant(milliseconds: (Milliseconds(rawValue: left.milliseconds) + right).rawValue)
  }

  public static func - (left: Instant, right: Milliseconds) -> Instant {
    Instant(milliseconds: (Milliseconds(rawValue: left.milliseconds) - right).rawValue)
  }

  /// Returns the duration from `right` to `left`; negative if `left` is earlier.
  public static func - (left: Instant, right: Instant) -> Milliseconds {
    Milliseconds(rawValue: left.milliseconds - right.milliseconds)
  }

  public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

  public init(from decoder: any Decoder) throws {
    self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}
