/// RFC3339 formats and parses time stamps as programs exchange them.
///
///     RFC3339.format(instant, in: prague)                     // "2026-12-01T09:00:00+01:00"
///     try RFC3339.parse("2026-12-01T09:00:00+01:00").seconds  // 1796112000
///
/// Source: RFC 3339 section 5.6, within the years 1970–9999.
public enum RFC3339 {
  /// Formats an instant in the zone with its offset, or with `Z` for ``Zone/utc``. Milliseconds appear if they are not 0.
  ///
  /// The result names the instant exactly. An offset with seconds (Liberia until 1972) is cut to minutes, and the time
  /// is adjusted to match. If the local year would be 10000, the result is in UTC.
  public static func format(_ instant: Instant, in zone: Zone) -> String {
    var offset = zone.offset(at: instant) / 60 * 60
    var isUTC = zone == .utc
    var civil = CivilDateTime(wallSeconds: instant.seconds + Int64(offset))
    if civil.date > .latest {
      offset = 0
      isUTC = true
      civil = CivilDateTime(wallSeconds: instant.seconds)
    }
    let time = civil.time
    var text = "\(civil.date)T\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))"
    let milliseconds = Int(instant.milliseconds % 1_000)
    if milliseconds != 0 { text += ".\(padded(milliseconds, 3))" }
    if isUTC { return text + "Z" }
    let minutes = abs(offset) / 60
    return text + "\(offset < 0 ? "-" : "+")\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
  }

  /// Parses a whole time stamp: date, `T`, time with seconds, an optional fraction (digits past the millisecond are cut
  /// off), and an offset, `Z` or `±hh:mm`. `T` and `Z` may be in lower case. A leap second (`:60`) is refused.
  ///
  /// - Throws: ``FormatError``, with `outOfRange` for an instant outside 1970–9999 in UTC.
  public static func parse(_ text: String) throws(FormatError) -> Instant {
    var reader = DigitReader(text)
    guard let date = reader.date(), reader.skip("T"), let hour = reader.digits(2), reader.skip(":"),
      let minute = reader.digits(2), reader.skip(":"), let second = reader.digits(2), hour < 24, minute < 60,
      second < 60, let fraction = reader.milliseconds(), let offset = reader.offset(), reader.isAtEnd
    else {
      let fault = Fault(
        range: reader.position..<reader.position, problem: "this is not a time stamp",
        expected: "a time stamp like 2026-12-01T09:00:00+01:00")
      throw FormatError(fault, in: Array(text.utf8))
    }
    let seconds = Int64(date) * 86_400 + Int64(hour * 3_600 + minute * 60 + second - offset)
    guard seconds >= 0, seconds <= Instant.latest.seconds else {
      let fault = Fault(
        code: .outOfRange, range: 0..<0, problem: "this is outside the years 1970–9999",
        expected: "a time stamp within those years")
      throw FormatError(fault, in: Array(text.utf8))
    }
    return Instant(milliseconds: seconds * 1_000 + Int64(fraction))
  }
}

extension DigitReader {
  /// Reads `YYYY-MM-DD` of any year from 1 as a day number.
  fileprivate mutating func date() -> Int32? {
    guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2), day >= 1,
      day <= CivilDate.daysIn(month: month, year: year), year >= 1
    else { return nil }
    return CivilDate.dayNumber(year: year, month: month, day: day)
  }

  /// Reads `.` and digits, of which three count; 0 without a point.
  fileprivate mutating func milliseconds() -> Int? {
    guard skip(".") else { return 0 }
    guard let first = digits(1) else { return nil }
    let second = digits(1)
    let third = second == nil ? nil : digits(1)
    while digits(1) != nil {}
    return first * 100 + (second ?? 0) * 10 + (third ?? 0)
  }

  /// Reads `Z` or `±hh:mm` as seconds east of UTC.
  fileprivate mutating func offset() -> Int? {
    if skip("Z") { return 0 }
    let isNegative = skip("-")
    guard isNegative || skip("+"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (isNegative ? -60 : 60)
  }
}
