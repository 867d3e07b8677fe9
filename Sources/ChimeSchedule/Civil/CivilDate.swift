/// A day of the proleptic Gregorian calendar, without a time or a zone.
///
/// The public initializers and `adding(days:)` keep to 1970-01-01 … 9999-12-31. A ``Zone`` can give days up to two days
/// outside this range (1970-01-01T00:00Z is still 1969 in New York).
///
///     CivilDate(year: 2026, month: 3, day: 29)?.weekday   // .sunday
///
/// Source: ISO 8601 calendar dates.
public struct CivilDate: Sendable, Hashable, Comparable {
  /// Days since 1970-01-01, which is day 0.
  public let dayNumber: Int32

  /// The first day of the range, 1970-01-01.
  public static let earliest = CivilDate(unchecked: 0)
  /// The last day of the range, 9999-12-31.
  public static let latest = CivilDate(unchecked: 2_932_896)

  /// Makes a day; `nil` if it does not exist (30 February, month 13) or its year is outside 1970…9999.
  public init?(year: Int, month: Int, day: Int) {
    guard (1970...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= CivilDate.daysIn(month: month, year: year)
    else { return nil }
    dayNumber = CivilDate.dayNumber(year: year, month: month, day: day)
  }

  /// Makes a date from its distance to 1970-01-01; `nil` outside the range.
  public init?(dayNumber: Int) {
    guard (0...2_932_896).contains(dayNumber) else { return nil }
    self.dayNumber = Int32(dayNumber)
  }

  /// Makes a date without a check, for days known to be within a few days of the range.
  init(unchecked dayNumber: Int32) { self.dayNumber = dayNumber }

  public var year: Int { fields.year }
  public var month: Int { fields.month }
  public var day: Int { fields.day }

  /// Year, month and day in one calculation.
  public var fields: (year: Int, month: Int, day: Int) {
    // Count from 1 March of year 0, so that the leap day is the last of its year and months are regular.
    let sinceMarch = Int(dayNumber) + 719_468
    let cycle = sinceMarch / 146_097
    let dayOfCycle = sinceMarch % 146_097
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month, day)
  }

  public var weekday: Weekday { Weekday(dayNumber: Int64(dayNumber)) }

  /// Returns the day `days` later (earlier if negative); `nil` outside the range.
  public func adding(days: Int) -> CivilDate? {
    let (sum, overflow) = Int(dayNumber).addingReportingOverflow(days)
    return overflow ? nil : CivilDate(dayNumber: sum)
  }

  /// Returns the length of a month in days: 28…31; 0 for a month outside 1…12.
  public static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    case 1...12: 31
    default: 0
    }
  }

  /// Returns whether the year has a 29 February in the Gregorian calendar.
  public static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  public static func < (left: CivilDate, right: CivilDate) -> Bool { left.dayNumber < right.dayNumber }

  /// Returns the day number of a valid date whose year is 1…20000.
  static func dayNumber(year: Int, month: Int, day: Int) -> Int32 {
    let marchYear = month <= 2 ? year - 1 : year
    let marchMonth = (month + 9) % 12
    let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
    return Int32(truncatingIfNeeded: 365 * marchYear + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468)
  }
}

extension CivilDate {
  /// Returns the same days, sorted, in the fewest ranges.
  public static func merged(_ ranges: [ClosedRange<CivilDate>]) -> [ClosedRange<CivilDate>] {
    RangeSet(ranges.map { $0.lowerBound.dayNumber..<$0.upperBound.dayNumber + 1 }).ranges.map {
      CivilDate(unchecked: $0.lowerBound)...CivilDate(unchecked: $0.upperBound - 1)
    }
  }
}

extension CivilDate: CustomStringConvertible, LosslessStringConvertible, Codable {
  /// The date in ISO 8601: `2026-12-01`.
  public var description: String {
    let (year, month, day) = fields
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }

  /// Parses exactly `YYYY-MM-DD`; anything else, or a day out of range, gives `nil`.
  public init?(_ description: String) {
    var reader = DigitReader(description)
    guard let year = reader.digits(4), reader.skip("-"), let month = reader.digits(2), reader.skip("-"),
      let day = reader.digits(2), reader.isAtEnd
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  public init(from decoder: any Decoder) throws { self = try decodeText(decoder) }
  public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}
