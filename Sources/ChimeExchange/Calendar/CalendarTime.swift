import ChimeSchedule

/// A CalendarTime is a DATE or DATE-TIME.
///
/// Source: RFC 5545 sections 3.3.4 and 3.3.5.
struct CalendarTime: Sendable, Hashable {
  enum Form: Sendable, Hashable {
    /// A whole day.
    case date
    /// A time on the clock of the reader.
    case floating
    case utc
    /// A time on the clock of the zone with this TZID, as written in the file.
    case zoned(String)
  }

  /// The year, 0…9999. A schedule cannot begin before 1970, but recurring birthdays do.
  var year: Int
  var month: Int
  var day: Int
  var time: CivilTime
  var form: Form

  var isDate: Bool { form == .date }
  var date: CivilDate? { CivilDate(year: year, month: month, day: day) }
  var civil: CivilDateTime? { date.map { CivilDateTime(date: $0, time: time) } }

  /// Parses `20261201`, `20261201T090000` or `20261201T090000Z`. A leap second becomes the second before it.
  init?(_ value: some StringProtocol, zone: String? = nil) {
    let bytes = Array(value.utf8.prefix(17))
    guard bytes.count == 8 || bytes.count == 15 || bytes.count == 16, let year = Self.number(bytes[0..<4]),
      let month = Self.number(bytes[4..<6]), let day = Self.number(bytes[6..<8]), (1...12).contains(month),
      (1...CivilDate.daysIn(month: month, year: year)).contains(day)
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    guard bytes.count > 8 else {
      time = .midnight
      form = .date
      return
    }
    guard bytes[8] | 0x20 == UInt8(ascii: "t"), let hour = Self.number(bytes[9..<11]),
      let minute = Self.number(bytes[11..<13]), let second = Self.number(bytes[13..<15]), second <= 60,
      let time = CivilTime(hour: hour, minute: minute, second: min(second, 59))
    else { return nil }
    self.time = time
    if bytes.count == 16 {
      guard bytes[15] | 0x20 == UInt8(ascii: "z") else { return nil }
      form = .utc
    } else {
      form = zone.map { .zoned($0) } ?? .floating
    }
  }

  /// Parses a property, with its TZID.
  init?(_ property: ContentLine) {
    self.init(trimmed(property.value), zone: property.parameter("TZID"))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }
}

extension CivilDateTime {
  /// Seconds from 1970-01-01 00:00 on a clock without changes of offset.
  var secondsOnClock: Int64 { Int64(date.dayNumber) * 86_400 + Int64(time.secondOfDay) }

  /// Makes a time from such seconds; `nil` outside 1970–9999.
  init?(secondsOnClock seconds: Int64) {
    let day = seconds >= 0 ? seconds / 86_400 : -1
    let second = Int(seconds - day * 86_400)
    guard let date = CivilDate(dayNumber: Int(day)),
      let time = CivilTime(hour: second / 3_600, minute: second / 60 % 60, second: second % 60)
    else { return nil }
    self.init(date: date, time: time)
  }

  /// The time as `20261201T090000`.
  var basic: String {
    let (year, month, day) = date.fields
    return digits(year, 4) + digits(month, 2) + digits(day, 2) + "T" + digits(time.hour, 2) + digits(time.minute, 2)
      + digits(time.second, 2)
  }
}

extension Zone {
  /// Returns the instant of a wall-clock time: the first pass of a fold; inside a gap, with the offset before it (RFC
  /// 5545 section 3.3.5).
  func instant(of civil: CivilDateTime) -> Instant {
    switch resolve(civil) {
    case .unique(let instant), .fold(let instant, _): instant
    case .gap(let before, _, _): Instant(seconds: civil.secondsOnClock - Int64(before))
    }
  }
}

/// Returns `value` in decimal with at least `width` digits.
func digits(_ value: Int, _ width: Int) -> String {
  let text = String(value)
  return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}

/// Returns the text without white space and control characters at its ends.
func trimmed(_ text: some StringProtocol) -> String {
  if let first = text.unicodeScalars.first, let last = text.unicodeScalars.last,
    (0x21...0x7E).contains(first.value), (0x21...0x7E).contains(last.value)
  {
    return String(text)
  }
  let scalars = text.unicodeScalars
  func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.value <= 0x20 || scalar.properties.isWhitespace }
  guard let first = scalars.firstIndex(where: { !isBlank($0) }), let last = scalars.lastIndex(where: { !isBlank($0) })
  else { return "" }
  return String(String.UnicodeScalarView(scalars[first...last]))
}
