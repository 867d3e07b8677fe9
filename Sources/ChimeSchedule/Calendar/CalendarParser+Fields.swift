// Parses dates and times: fields with separators.

extension CalendarParser {
  /// Parses seconds since 1970 as strtoul(3) does.
  mutating func parseEpoch() throws(Fault) {
    let start = position
    position += 1
    while let byte = sign, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    let isNegative = sign == UInt8(ascii: "-")
    if isNegative || sign == UInt8(ascii: "+") { position += 1 }
    let digits = position
    var value: UInt64? = 0
    while let byte = sign, CalendarParser.isDigit(byte) {
      position += 1
      guard let (product, isTooLarge) = value?.multipliedReportingOverflow(by: 10), !isTooLarge else {
        value = nil
        continue
      }
      let (sum, overflow) = product.addingReportingOverflow(UInt64(byte & 0x0F))
      value = overflow ? nil : sum
    }
    try need(
      position > digits && position == end, at: start..<max(position, start + 1),
      "\(quoted(start..<end)) is not a count of seconds", expected: "whole seconds since 1970 in UTC, like @1796115600")
    let seconds = value.map { isNegative ? 0 &- $0 : $0 }
    // The end of the year 2199.
    guard let seconds, seconds < 7_258_118_400 else {
      throw Fault(
        code: .outOfRange, range: start..<end, problem: "\(quoted(start..<end)) is out of range",
        expected: "seconds of the years 1970 to 2199")
    }
    let civil = CivilDateTime(wallSeconds: Int64(seconds))
    let (year, month, day) = civil.date.fields
    expression.years = [CalendarComponent(year)]
    expression.months = [CalendarComponent(month)]
    expression.days = [CalendarComponent(day)]
    setTime([civil.time.hour], [civil.time.minute], [civil.time.second])
    expression.zone = "UTC"
  }

  mutating func parseDate() throws(Fault) {
    let word = wordRange
    var signs: [Int] = []
    // A third separator is an error already, so the loop stops there.
    for place in word where bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: "~") {
      signs.append(place)
      if signs.count > 2 { break }
    }
    guard let last = signs.last else {
      let isNumber = word.allSatisfy { CalendarParser.isDigit(bytes[$0]) } && word.count <= 2
      throw Fault(
        range: word, problem: "\(quoted(word)) is neither a date nor a time", expected: CalendarParser.usual,
        repair: isNumber ? .init(word.upperBound..<word.upperBound, ":00", shown: "\(text(word)):00") : nil)
    }
    try need(
      signs.count <= 2, at: signs[2]..<word.upperBound, "\(quoted(word)) has more than three parts",
      expected: "a date like 2026-12-01 or *-*~01")
    let isFromEnd = bytes[last] == UInt8(ascii: "~")
    guard signs.count == 1 || bytes[signs[0]] == UInt8(ascii: "-") else {
      throw Fault(
        range: signs[0]..<signs[0] + 1, problem: "\"~\" must stand before the day, not the month",
        expected: "\"~\" before the day, as in 2026-02~03",
        repair: .init(
          signs[0]..<signs[0] + 1, "-",
          shown: "\(text(word.lowerBound..<signs[0]))-\(text(signs[0] + 1..<word.upperBound))"))
    }
    if signs.count == 2 {
      expression.years = try chain(.year)
      position += 1
    }
    expression.months = try chain(.month)
    position += 1
    expression.days = try chain(isFromEnd ? .dayFromEnd : .day)
    expression.daysAreFromEnd = isFromEnd && !expression.days.isEmpty
  }

  mutating func parseTime() throws(Fault) {
    let word = wordRange
    guard word.contains(where: { bytes[$0] == UInt8(ascii: ":") }) else {
      let isNumber = word.allSatisfy { CalendarParser.isDigit(bytes[$0]) } && word.count <= 2
      throw Fault(
        range: word, problem: "\(quoted(word)) is not a time", expected: "a time like 09:00",
        repair: isNumber ? .init(word.upperBound..<word.upperBound, ":00", shown: "\(text(word)):00") : nil)
    }
    expression.hours = try chain(.hour)
    try skipColon()
    expression.minutes = try chain(.minute)
    if position < end, bytes[position] != 0x20 {
      try skipColon()
      expression.seconds = try chain(.second)
    } else {
      expression.seconds = [CalendarComponent(0)]
    }
    guard position == end else {
      skipSpaces()
      let rest = position..<wordRange.upperBound
      throw Fault(
        range: rest, problem: "\(quoted(rest)) follows the time",
        expected: "weekdays, a date, a time and a time zone, in this order")
    }
  }

  mutating func skipColon() throws(Fault) {
    guard sign == UInt8(ascii: ":") else {
      let place = position..<min(position + 1, end)
      throw Fault(
        range: place, problem: place.isEmpty ? "the time ends early" : "\(quoted(place)) is not allowed in a time",
        expected: "a time like 09:00 or *:00/15")
    }
    position += 1
  }
}
