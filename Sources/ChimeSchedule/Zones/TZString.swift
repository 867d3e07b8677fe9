/// A TZString is the POSIX TZ string of a TZif footer: the rule after the last transition of the table.
///
///     EST5EDT,M3.2.0,M11.1.0          // New York
///     <-02>2<-01>,M3.5.0/-1,M10.5.0/0  // Greenland, with the hours that version 3 allows
///
/// Source: POSIX.1 section 8.3 and RFC 9636 section 3.3.1 (hours of −167…167 in versions 3 and later).
struct TZString: Sendable, Hashable {
  struct Daylight: Sendable, Hashable {
    var type: TZif.LocalType
    var start: YearlyRule
    var end: YearlyRule
  }

  let standard: TZif.LocalType
  let daylight: Daylight?

  init(_ bytes: [UInt8], extended: Bool) throws(ZoneError) {
    var reader = TZStringReader(bytes: bytes, extended: extended)
    guard let parsed = TZString.parse(&reader), reader.isAtEnd else {
      throw ZoneError(.invalidFooter, "its footer is not a TZ string")
    }
    self = parsed
  }

  private init(standard: TZif.LocalType, daylight: Daylight?) {
    self.standard = standard
    self.daylight = daylight
  }

  private static func parse(_ reader: inout TZStringReader) -> TZString? {
    guard let name = reader.name(), let west = reader.clock(hours: 24) else { return nil }
    let standard = TZif.LocalType(offset: -west, isDaylight: false, abbreviation: name)
    if reader.isAtEnd { return TZString(standard: standard, daylight: nil) }
    guard let daylightName = reader.name() else { return nil }
    var offset = standard.offset + 3_600
    if reader.next != UInt8(ascii: ",") {
      guard let west = reader.clock(hours: 24) else { return nil }
      offset = -west
    }
    // POSIX leaves a missing rule to the implementation; a TZif footer must state it.
    guard reader.skip(","), let start = reader.rule(), reader.skip(","), let end = reader.rule() else { return nil }
    let type = TZif.LocalType(offset: offset, isDaylight: true, abbreviation: daylightName)
    guard abs(Int64(offset)) < ZoneTable.largestOffset else { return nil }
    return TZString(standard: standard, daylight: Daylight(type: type, start: start, end: end))
  }
}

/// A YearlyRule is a moment that recurs each year: a day in one of POSIX's three forms, and seconds from its local midnight.
struct YearlyRule: Sendable, Hashable {
  enum Day: Sendable, Hashable {
    /// `Jn`: 1…365, 29 February is never counted.
    case julian(Int)
    /// `n`: 0…365, 29 February is counted.
    case zeroBased(Int)
    /// `Mm.w.d`: the w-th (5: last) weekday d (0: Sunday) of month m.
    case weekday(month: Int, week: Int, day: Int)
  }

  var day: Day
  var second: Int32

  /// Returns the POSIX seconds of the moment in a year, for clocks that are `offset` seconds east of UTC until then.
  func instant(year: Int, offset: Int32) -> Int64 {
    let newYear = Int64(CivilDate.dayNumber(year: year, month: 1, day: 1))
    let dayNumber: Int64
    switch day {
    case .julian(let day):
      dayNumber = newYear + Int64(day - 1) + (CivilDate.isLeap(year) && day >= 60 ? 1 : 0)
    case .zeroBased(let day):
      dayNumber = newYear + Int64(day)
    case .weekday(let month, let week, let day):
      let first = Int64(CivilDate.dayNumber(year: year, month: month, day: 1))
      // 1970-01-01 was a Thursday, so adding 4 makes Sunday 0.
      let firstWeekday = (first + 4) % 7
      let wanted = first + (Int64(day) - firstWeekday + 7) % 7 + Int64(week - 1) * 7
      let end = first + Int64(CivilDate.daysIn(month: month, year: year))
      dayNumber = wanted < end ? wanted : wanted - 7
    }
    return dayNumber * 86_400 + Int64(second) - Int64(offset)
  }
}

/// A TZStringReader parses the parts of a TZ string. Each method returns `nil` for invalid text.
private struct TZStringReader {
  let bytes: [UInt8]
  let extended: Bool
  var position = 0

  var isAtEnd: Bool { position == bytes.count }
  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Parses three or more letters, or `<…>` with letters, digits and signs.
  mutating func name() -> String? {
    let quoted = skip("<")
    let start = position
    while let byte = next {
      let isLetter = (0x61...0x7A).contains(byte | 0x20)
      let isQuotable = (0x30...0x39).contains(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      guard isLetter || quoted && isQuotable else { break }
      position += 1
    }
    let end = position
    guard end - start >= 3, end - start <= 32, !quoted || skip(">") else { return nil }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// Parses a decimal number of at most three digits.
  mutating func number(_ range: ClosedRange<Int>) -> Int? {
    var value = 0
    let start = position
    while let byte = next, (0x30...0x39).contains(byte), position - start < 3 {
      value = value * 10 + Int(byte - 0x30)
      position += 1
    }
    return position > start && range.contains(value) ? value : nil
  }

  /// Parses `[+-]hh[:mm[:ss]]` as seconds.
  mutating func clock(hours: Int) -> Int32? {
    let negative = skip("-")
    if !negative { _ = skip("+") }
    guard let hour = number(0...hours) else { return nil }
    var seconds = hour * 3_600
    if skip(":") {
      guard let minute = number(0...59) else { return nil }
      seconds += minute * 60
      if skip(":") {
        guard let second = number(0...59) else { return nil }
        seconds += second
      }
    }
    return Int32(negative ? -seconds : seconds)
  }

  /// Parses a day, and the time after `/`; 02:00 without one.
  mutating func rule() -> YearlyRule? {
    let day: YearlyRule.Day
    if skip("M") {
      guard let month = number(1...12), skip("."), let week = number(1...5), skip("."), let weekday = number(0...6)
      else {
        return nil
      }
      day = .weekday(month: month, week: week, day: weekday)
    } else if skip("J") {
      guard let number = number(1...365) else { return nil }
      day = .julian(number)
    } else {
      guard let number = number(0...365) else { return nil }
      day = .zeroBased(number)
    }
    guard skip("/") else { return YearlyRule(day: day, second: 7_200) }
    let isSigned = next == UInt8(ascii: "-") || next == UInt8(ascii: "+")
    guard extended || !isSigned, let second = clock(hours: extended ? 167 : 24) else { return nil }
    return YearlyRule(day: day, second: second)
  }
}
