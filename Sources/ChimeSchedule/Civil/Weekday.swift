/// A day of the week, numbered as in ISO 8601: Monday is 1, Sunday is 7.
public enum Weekday: Int, Sendable, Hashable, CaseIterable, Codable {
  case monday = 1
  case tuesday, wednesday, thursday, friday, saturday, sunday

  /// Makes the weekday of a day counted from 1970-01-01, a Thursday.
  init(dayNumber: Int64) {
    let index = (dayNumber % 7 + 10) % 7
    self = Weekday(rawValue: Int(index) + 1) ?? .monday
  }

  /// The abbreviation in canonical schedules: `mon`, `tue`, …
  public var abbreviation: String {
    switch self {
    case .monday: "mon"
    case .tuesday: "tue"
    case .wednesday: "wed"
    case .thursday: "thu"
    case .friday: "fri"
    case .saturday: "sat"
    case .sunday: "sun"
    }
  }

  var following: Weekday { Weekday(rawValue: rawValue % 7 + 1) ?? .monday }
}

/// A set of days of the week.
///
///     WeekdaySet.weekdays.contains(.friday)   // true
public struct WeekdaySet: OptionSet, Sendable, Hashable, Codable {
  /// Bit 0 is Monday, bit 6 is Sunday. Other bits are dropped.
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue & 0x7F }
  public init(_ day: Weekday) { self.init(rawValue: 1 << UInt8(day.rawValue - 1)) }

  public static let monday = WeekdaySet(.monday)
  public static let tuesday = WeekdaySet(.tuesday)
  public static let wednesday = WeekdaySet(.wednesday)
  public static let thursday = WeekdaySet(.thursday)
  public static let friday = WeekdaySet(.friday)
  public static let saturday = WeekdaySet(.saturday)
  public static let sunday = WeekdaySet(.sunday)
  /// Monday to Friday.
  public static let weekdays = WeekdaySet(rawValue: 0b001_1111)
  /// Saturday and Sunday.
  public static let weekends = WeekdaySet(rawValue: 0b110_0000)
  public static let everyDay = WeekdaySet(rawValue: 0b111_1111)

  public func contains(_ day: Weekday) -> Bool { contains(WeekdaySet(day)) }

  /// Makes the set of days from one to another, both included. It wraps around the week if needed: fri…mon.
  public init(from first: Weekday, through last: Weekday) {
    var set: WeekdaySet = []
    var day = first
    for _ in 0..<7 {
      set.insert(WeekdaySet(day))
      if day == last { break }
      day = day.following
    }
    self = set
  }

  /// Returns the days from `dayNumber` to the first day in the set, 0…6; `nil` for the empty set.
  func wait(from dayNumber: Int64) -> Int64? {
    let index = UInt16(truncatingIfNeeded: (dayNumber % 7 + 10) % 7)
    let doubled = UInt16(rawValue) | UInt16(rawValue) << 7
    let turned = doubled >> index & 0x7F
    return turned == 0 ? nil : Int64(turned.trailingZeroBitCount)
  }
}
