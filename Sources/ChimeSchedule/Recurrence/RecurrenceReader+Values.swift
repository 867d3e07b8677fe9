/// Parses dates, times and durations of RFC 5545 sections 3.3.4 to 3.3.6.
extension RecurrenceReader {
  /// Parses the comma-separated moments of a property, at least one.
  func moments(_ line: Line) throws(Fault) -> [(time: RecurrenceTime, range: Range<Int>)] {
    var result: [(RecurrenceTime, Range<Int>)] = []
    var position = line.value.lowerBound
    while true {
      let end = bytes[position..<line.value.upperBound].firstIndex(of: UInt8(ascii: ",")) ?? line.value.upperBound
      try need(
        result.count <= Self.mostDates, .outOfRange, at: position..<end,
        "there are more than \(Self.mostDates) dates in \(line.property.rawValue)", expected: "fewer")
      var item = position..<end
      if line.type == .period {
        // Only the start of a period is an occurrence.
        guard let slash = bytes[item].firstIndex(of: UInt8(ascii: "/")) else {
          throw Fault(
            range: item, problem: "\"\(shown(item))\" is not a period",
            expected: "a start, a slash, and an end or duration")
        }
        try checkEnd(slash + 1..<end)
        item = position..<slash
      }
      let time = try moment(item)
      try check(time, line, item)
      result.append((time, item))
      guard end < line.value.upperBound else { return result }
      position = end + 1
    }
  }

  /// Refuses a value of another kind than the property's parameters declare.
  private func check(_ time: RecurrenceTime, _ line: Line, _ item: Range<Int>) throws(Fault) {
    if line.type == .date, time.form != .date {
      throw Fault(
        range: item, problem: "VALUE=DATE needs a date without a time", expected: "a date like 20261224")
    }
    if time.form == .date, line.type == .dateTime || line.type == .period {
      throw Fault(
        range: item, problem: "a time is missing after the date", expected: "a date with a time like 20261224T090000")
    }
    if time.form == .utc, let zone = line.zone, upper(zone) != "UTC" {
      throw Fault(
        range: item, problem: "with TZID a time is in that zone, but Z means UTC (RFC 5545 section 3.2.19)",
        expected: "one of the two")
    }
    if time.form == .date, let zone = line.zone {
      throw Fault(
        range: zone, problem: "a date without a time has no TZID (RFC 5545 section 3.2.19)",
        expected: "VALUE=DATE alone")
    }
  }

  /// Validates the end of a period. It has no effect on the occurrences.
  private func checkEnd(_ range: Range<Int>) throws(Fault) {
    if let first = bytes[range].first, (0x30...0x39).contains(first) {
      _ = try moment(range)
    } else {
      _ = try duration(range)
    }
  }

  /// Parses `20261224`, `20261224T090000` or `20261224T090000Z`.
  func moment(_ range: Range<Int>) throws(Fault) -> RecurrenceTime {
    let text = bytes[range]
    let expected = "a date like 20261224, or with a time like 20261224T090000 or 20261224T080000Z"
    func fault(_ problem: String, code: ScheduleError.Code = .invalidSchedule, repair: Fault.Repair? = nil) -> Fault {
      Fault(code: code, range: range, problem: problem, expected: expected, repair: repair)
    }
    let hasTime = range.count >= 15
    guard range.count == 8 || range.count == 15 || range.count == 16,
      !hasTime || text[range.lowerBound + 8] | 0x20 == UInt8(ascii: "t"),
      range.count < 16 || text[range.lowerBound + 15] | 0x20 == UInt8(ascii: "z"),
      let date = number(range.lowerBound..<range.lowerBound + 8),
      let time = hasTime ? number(range.lowerBound + 9..<range.lowerBound + 15) : 0
    else {
      guard !range.isEmpty else { throw fault("a date is missing here") }
      throw fault("\"\(shown(range))\" is not a date", repair: withoutMarks(range))
    }
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100)
    guard year >= 1 else { throw fault("there is no year 0", code: .outOfRange) }
    guard (1...12).contains(month), day >= 1, day <= CivilDate.daysIn(month: month, year: year) else {
      throw fault("there is no day \"\(shown(range.lowerBound..<range.lowerBound + 8))\"")
    }
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100)
    guard hour < 24, minute < 60, second <= 60 else {
      throw fault("there is no time \"\(shown(range.lowerBound + 9..<range.lowerBound + 15))\"")
    }
    let wall = Int64(CivilDate.dayNumber(year: year, month: month, day: day)) * 86_400
    // Clocks here have no leap seconds, so second 60 becomes 59 (RFC 5545 section 3.3.12).
    return RecurrenceTime(
      form: !hasTime ? .date : range.count == 16 ? .utc : .local,
      wall: wall + Int64(hour * 3_600 + minute * 60 + min(second, 59)))
  }

  /// Returns a repair that drops hyphens and colons, if the result has the length of a date.
  private func withoutMarks(_ range: Range<Int>) -> Fault.Repair? {
    guard range.count <= 25 else { return nil }
    let plain = bytes[range].filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
    guard plain.count != range.count, [8, 15, 16].contains(plain.count) else { return nil }
    return .init(range, String(decoding: plain, as: UTF8.self))
  }

  /// Parses a number of one to nine digits.
  func number(_ range: Range<Int>) -> Int? {
    guard (1...9).contains(range.count) else { return nil }
    var value = 0
    for byte in bytes[range] {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    return value
  }

  // MARK: TRIGGER

  func setTrigger(_ draft: inout RecurrenceDraft) throws(Fault) {
    guard let line = lines.first(where: { $0.property == .trigger }) else { return }
    draft.trigger = try duration(line.value)
  }

  /// The units of a duration, from the largest. Hours and smaller units follow a T.
  private static let durationUnits: [(letter: UInt8, isTime: Bool, length: Int64)] = [
    (UInt8(ascii: "w"), false, 7), (UInt8(ascii: "d"), false, 1), (UInt8(ascii: "h"), true, 3_600),
    (UInt8(ascii: "m"), true, 60), (UInt8(ascii: "s"), true, 1),
  ]

  /// Returns the index of a unit. Each unit may occur once, in this order. Never inline it: the optimizer of Swift 6.3
  /// would unroll the loop and order two instructions by chance, so that builds would not be reproducible.
  @inline(never) private static func durationUnit(_ letter: UInt8, isTime: Bool, from unit: Int) -> Int? {
    durationUnits.indices.first {
      $0 >= unit && durationUnits[$0].letter == letter && durationUnits[$0].isTime == isTime
    }
  }

  /// Parses `-PT15M`, `P1W`, `-P1DT2H30M`: a sign, then weeks and days, then after `T` hours, minutes and seconds.
  func duration(_ range: Range<Int>) throws(Fault) -> RecurrenceTrigger {
    func fault(_ problem: String, _ range: Range<Int>) -> Fault {
      Fault(range: range, problem: problem, expected: "a duration like -PT15M, -P1D or P1DT2H")
    }
    var position = range.lowerBound
    var sign: Int64 = 1
    if position < range.upperBound, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
      if bytes[position] == UInt8(ascii: "-") { sign = -1 }
      position += 1
    }
    guard position < range.upperBound, bytes[position] | 0x20 == UInt8(ascii: "p") else {
      throw fault(
        range.isEmpty ? "a duration is missing here" : "\"\(shown(range))\" is not a duration", range)
    }
    position += 1
    var result = RecurrenceTrigger()
    var unit = 0
    var inTime = false
    var isEmpty = true
    while position < range.upperBound {
      if !inTime, bytes[position] | 0x20 == UInt8(ascii: "t") {
        inTime = true
        isEmpty = true
        position += 1
        continue
      }
      let start = position
      while position < range.upperBound, (0x30...0x39).contains(bytes[position]) { position += 1 }
      guard position < range.upperBound, let value = number(start..<position) else {
        throw fault("\"\(shown(start..<range.upperBound))\" does not continue a duration", start..<range.upperBound)
      }
      let letter = bytes[position] | 0x20
      guard let next = Self.durationUnit(letter, isTime: inTime, from: unit) else {
        throw fault("\"\(shown(start..<position + 1))\" is not allowed here in a duration", start..<position + 1)
      }
      // Nine digits times a week in days, or times an hour in seconds.
      if inTime {
        result.seconds += Int64(value) * Self.durationUnits[next].length
      } else {
        result.days += Int64(value) * Self.durationUnits[next].length
      }
      unit = next + 1
      isEmpty = false
      position += 1
    }
    guard !isEmpty else { throw fault("\"\(shown(range))\" has no length", range) }
    try need(
      result.days <= RecurrenceTrigger.largestDays && result.seconds <= RecurrenceTrigger.largestSeconds, .outOfRange,
      at: range, "\"\(shown(range))\" is too long", expected: "at most 100 years")
    result.days *= sign
    result.seconds *= sign
    return result
  }
}
