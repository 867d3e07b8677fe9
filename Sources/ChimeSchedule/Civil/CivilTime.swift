/// A time of day on a wall clock, to the second: 00:00:00 … 23:59:59.
///
///     CivilTime(hour: 8, minute: 30)?.description   // "08:30"
public struct CivilTime: Sendable, Hashable, Comparable {
  /// Seconds since midnight on the wall clock: 0…86 399.
  public let secondOfDay: Int32

  public static let midnight = CivilTime(unchecked: 0)
  public static let noon = CivilTime(unchecked: 43_200)

  /// Makes a time; `nil` unless the hour is 0…23 and minute and second are 0…59 (no leap seconds).
  public init?(hour: Int, minute: Int = 0, second: Int = 0) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
    secondOfDay = Int32(hour * 3_600 + minute * 60 + second)
  }

  init(unchecked secondOfDay: Int32) { self.secondOfDay = secondOfDay }

  public var hour: Int { Int(secondOfDay) / 3_600 }
  public var minute: Int { Int(secondOfDay) / 60 % 60 }
  public var second: Int { Int(secondOfDay) % 60 }

  public static func < (left: CivilTime, right: CivilTime) -> Bool { left.secondOfDay < right.secondOfDay }
}

extension CivilTime: CustomStringConvertible, LosslessStringConvertible, Codable {
  /// The time as `08:30`, with seconds only if they are not 0: `20:30:15`.
  public var description: String {
    let minutes = "\(padded(hour, 2)):\(padded(minute, 2))"
    return second == 0 ? minutes : "\(minutes):\(padded(second, 2))"
  }

  /// Parses `HH:MM` or `HH:MM:SS`; anything else gives `nil`.
  public init?(_ description: String) {
    var reader = DigitReader(description)
    guard let hour = reader.digits(2), reader.skip(":"), let minute = reader.digits(2) else { return nil }
    var second = 0
    if !reader.isAtEnd {
      guard reader.skip(":"), let value = reader.digits(2), reader.isAtEnd else { return nil }
      second = value
    }
    self.init(hour: hour, minute: minute, second: second)
  }

  public init(from decoder: any Decoder) throws { self = try decodeText(decoder) }
  public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}

/// A date and a time of day without a zone. It names an instant only in a ``Zone``, where it may name none (gap) or two
/// (fold).
///
///     CivilDateTime("2026-03-29 02:30")   // does not exist in Europe/Prague
public struct CivilDateTime: Sendable, Hashable, Comparable {
  public let date: CivilDate
  public let time: CivilTime

  public init(date: CivilDate, time: CivilTime) {
    self.date = date
    self.time = time
  }

  /// Makes a date and time; `nil` if one of them does not exist, or the year is outside 1970…9999.
  public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    guard let date = CivilDate(year: year, month: month, day: day),
      let time = CivilTime(hour: hour, minute: minute, second: second)
    else { return nil }
    self.init(date: date, time: time)
  }

  /// Seconds from 1970-01-01 00:00 on a clock without any change of offset.
  var wallSeconds: Int64 { Int64(date.dayNumber) * 86_400 + Int64(time.secondOfDay) }

  /// Makes the date and time from `wallSeconds`, for values within a few days of the range of ``Instant``.
  init(wallSeconds: Int64) {
    let (day, second) = dividedByDay(wallSeconds)
    self.init(date: CivilDate(unchecked: day), time: CivilTime(unchecked: second))
  }

  public static func < (left: CivilDateTime, right: CivilDateTime) -> Bool { left.wallSeconds < right.wallSeconds }
}

extension CivilDateTime: CustomStringConvertible, LosslessStringConvertible, Codable {
  /// The date and time as `2026-12-01 09:00`, with seconds only if they are not 0.
  public var description: String { "\(date) \(time)" }

  /// Parses `YYYY-MM-DD HH:MM[:SS]`, with a space or a `T` between; anything else gives `nil`.
  public init?(_ description: String) {
    let parts = description.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard parts.count == 2, let date = CivilDate(String(parts[0])), let time = CivilTime(String(parts[1])) else {
      return nil
    }
    self.init(date: date, time: time)
  }

  public init(from decoder: any Decoder) throws { self = try decodeText(decoder) }
  public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}
