/// Parses the value of `RRULE` (RFC 5545 section 3.3.10, RFC 7529 section 4).
extension RecurrenceReader {
  /// The parts of a rule, in the recommended order.
  enum Part: String, CaseIterable {
    case frequency = "FREQ"
    case interval = "INTERVAL"
    case until = "UNTIL"
    case count = "COUNT"
    case months = "BYMONTH"
    case weeks = "BYWEEKNO"
    case yearDays = "BYYEARDAY"
    case monthDays = "BYMONTHDAY"
    case days = "BYDAY"
    case hours = "BYHOUR"
    case minutes = "BYMINUTE"
    case seconds = "BYSECOND"
    case positions = "BYSETPOS"
    case weekStart = "WKST"
    case scale = "RSCALE"
    case skip = "SKIP"
  }

  /// The positions of the parts of a rule.
  struct Parts {
    var ranges: [(part: Part, range: Range<Int>)] = []

    subscript(part: Part) -> Range<Int>? { ranges.first { $0.part == part }?.range }
  }

  func pattern(_ value: Range<Int>) throws(Fault) -> RecurrencePattern {
    var rule = RecurrencePattern()
    var parts = Parts()
    var position = value.lowerBound
    while position < value.upperBound || parts.ranges.isEmpty {
      let end = bytes[position..<value.upperBound].firstIndex(of: UInt8(ascii: ";")) ?? value.upperBound
      try part(position..<end, &rule, &parts)
      guard end < value.upperBound else { break }
      position = end + 1
      guard position < value.upperBound else {
        throw Fault(
          range: end..<end + 1, problem: "nothing follows the last semicolon", expected: "the end of the rule",
          repair: .init(end..<end + 1, "", shown: shown(max(value.lowerBound, end - 20)..<end)))
      }
    }
    try need(
      parts[.frequency] != nil, at: value.lowerBound..<value.lowerBound, "the rule needs FREQ",
      expected: "FREQ=DAILY, or another of SECONDLY, MINUTELY, HOURLY, WEEKLY, MONTHLY and YEARLY")
    try checkCombinations(rule, parts)
    return rule
  }

  private func part(_ range: Range<Int>, _ rule: inout RecurrencePattern, _ parts: inout Parts) throws(Fault) {
    let equals = bytes[range].firstIndex(of: UInt8(ascii: "="))
    let name = range.lowerBound..<(equals ?? range.upperBound)
    guard let equals, !name.isEmpty else {
      throw Fault(
        range: range, problem: range.isEmpty ? "a part is missing here" : "\"\(shown(range))\" is not a part of a rule",
        expected: "a name, an equals sign and a value, as in FREQ=DAILY")
    }
    guard let part = Part(rawValue: upper(name)) else { throw unknownPart(name) }
    try need(parts[part] == nil, at: name, "there is a second \(part.rawValue)", expected: "each part once")
    let value = equals + 1..<range.upperBound
    try need(!value.isEmpty, at: value, "the value of \(part.rawValue) is missing", expected: expected(part))
    parts.ranges.append((part, range))
    try read(part, value, &rule)
  }

  private func unknownPart(_ name: Range<Int>) -> Fault {
    let upper = upper(name)
    let expected = "FREQ, INTERVAL, COUNT, UNTIL, WKST, or one that begins with BY"
    if upper.hasPrefix("X-") || upper == "BYEASTER" {
      return Fault(
        range: name,
        problem: "\"\(shown(name))\" is not a part in RFC 5545, and without it the rule would change",
        expected: expected)
    }
    return Fault(
      range: name, problem: "\"\(shown(name))\" is not a part of a rule", expected: expected,
      repair: nearest(name, Part.allCases.map(\.rawValue)))
  }

  private func expected(_ part: Part) -> String {
    switch part {
    case .frequency: "SECONDLY, MINUTELY, HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY"
    case .interval: "a number from 1"
    case .until: "a date like 20261224, or with a time like 20261224T090000Z"
    case .count: "a number from 1 to \(RecurrencePattern.largestCount)"
    case .months: "months from 1 to 12"
    case .weeks: "weeks from 1 to 53, or from -53 to -1"
    case .yearDays: "days from 1 to 366, or from -366 to -1"
    case .monthDays: "days from 1 to 31, or from -31 to -1"
    case .days: "days of the week like MO,WE or 2MO,-1FR"
    case .hours: "hours from 0 to 23"
    case .minutes: "minutes from 0 to 59"
    case .seconds: "seconds from 0 to 60"
    case .positions: "places from 1 to 366, or from -366 to -1"
    case .weekStart: "MO, TU, WE, TH, FR, SA or SU"
    case .scale: "GREGORIAN"
    case .skip: "OMIT, BACKWARD or FORWARD"
    }
  }

  private func read(_ part: Part, _ value: Range<Int>, _ rule: inout RecurrencePattern) throws(Fault) {
    switch part {
    case .frequency: rule.frequency = try frequency(value)
    case .interval: rule.interval = try number(value, part, 1...RecurrencePattern.largestInterval)
    case .count: rule.count = try number(value, part, 1...RecurrencePattern.largestCount)
    case .until: rule.until = try moment(value)
    case .hours: try list(value, part, 0...23) { rule.hours |= 1 << UInt64($0) }
    case .minutes: try list(value, part, 0...59) { rule.minutes |= 1 << UInt64($0) }
    // Clocks here have no leap seconds, so second 60 becomes 59 (RFC 5545 section 3.3.12).
    case .seconds: try list(value, part, 0...60) { rule.seconds |= 1 << UInt64(min($0, 59)) }
    case .months: try list(value, part, 1...12) { rule.months |= 1 << UInt32($0) }
    case .monthDays:
      try list(value, part, 1...31, fromEnd: true) { day in
        if day > 0 { rule.monthDays |= 1 << UInt32(day - 1) } else { rule.monthDaysFromEnd |= 1 << UInt32(-day - 1) }
      }
    case .weeks:
      try list(value, part, 1...53, fromEnd: true) { week in
        if week > 0 { rule.weeks |= 1 << UInt64(week - 1) } else { rule.weeksFromEnd |= 1 << UInt64(-week - 1) }
      }
    case .yearDays: rule.yearDays = try signedList(value, part, 1...366)
    case .positions: rule.positions = try signedList(value, part, 1...366)
    case .days: try days(value, &rule)
    case .weekStart:
      guard let day = weekday(value) else { throw unknown(value, part, "is not a day of the week") }
      rule.weekStart = day
    case .scale:
      try need(
        upper(value) == "GREGORIAN", at: value, "the calendar \"\(shown(value))\" is not supported",
        expected: "GREGORIAN")
    case .skip:
      switch upper(value) {
      case "OMIT": rule.skip = .omit
      case "BACKWARD": rule.skip = .backward
      case "FORWARD": rule.skip = .forward
      default: throw unknown(value, part, "is not a way to skip", among: ["OMIT", "BACKWARD", "FORWARD"])
      }
    }
  }

  private func unknown(_ value: Range<Int>, _ part: Part, _ problem: String, among names: [String] = []) -> Fault {
    Fault(
      range: value, problem: "\"\(shown(value))\" \(problem)", expected: expected(part),
      repair: nearest(value, names))
  }

  private func frequency(_ value: Range<Int>) throws(Fault) -> RecurrencePattern.Frequency {
    switch upper(value) {
    case "SECONDLY": return .secondly
    case "MINUTELY": return .minutely
    case "HOURLY": return .hourly
    case "DAILY": return .daily
    case "WEEKLY": return .weekly
    case "MONTHLY": return .monthly
    case "YEARLY": return .yearly
    default:
      throw unknown(
        value, .frequency, "is not a frequency", among: RecurrencePattern.Frequency.allCases.map { "\($0.name)" })
    }
  }

  // MARK: Numbers and lists

  private func number(_ value: Range<Int>, _ part: Part, _ bounds: ClosedRange<Int64>) throws(Fault) -> Int64 {
    let digits = bytes[value]
    try need(
      digits.allSatisfy({ (0x30...0x39).contains($0) }), at: value,
      "\"\(shown(value))\" is not a number for \(part.rawValue)", expected: expected(part))
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    let number = significant.prefix(19).reduce(Int64(0)) { sum, digit in
      // Eighteen nines and one more digit fit into 64 bits.
      sum &* 10 &+ Int64(digit - 0x30)
    }
    try need(
      significant.count <= 18 && bounds.contains(number), .outOfRange, at: value,
      "\"\(shown(value))\" is out of range for \(part.rawValue)",
      expected: "\(bounds.lowerBound) to \(bounds.upperBound)")
    return number
  }

  /// Calls `take` with each number of a comma-separated list. Numbers from the end are negative.
  private func list(
    _ value: Range<Int>, _ part: Part, _ bounds: ClosedRange<Int>, fromEnd: Bool = false, _ take: (Int) -> Void
  ) throws(Fault) {
    try items(value, part) { item throws(Fault) in
      var digits = item
      var isNegative = false
      if fromEnd, let sign = bytes[item].first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
        isNegative = sign == UInt8(ascii: "-")
        digits = item.lowerBound + 1..<item.upperBound
      }
      guard let number = number(digits), digits.count <= 3 else {
        if part == .months, item.count >= 2, bytes[item.upperBound - 1] | 0x20 == UInt8(ascii: "l") {
          throw Fault(range: item, problem: "the Gregorian calendar has no leap months", expected: expected(part))
        }
        throw Fault(
          range: item, problem: "\"\(shown(item))\" is not a number for \(part.rawValue)", expected: expected(part))
      }
      try need(
        bounds.contains(number), .outOfRange, at: item, "\"\(shown(item))\" is out of range for \(part.rawValue)",
        expected: expected(part))
      take(isNegative ? -number : number)
    }
  }

  /// Returns the numbers ascending, each once, with those from the end last.
  private func signedList(_ value: Range<Int>, _ part: Part, _ bounds: ClosedRange<Int>) throws(Fault) -> [Int16] {
    var found = Set<Int16>()
    try list(value, part, bounds, fromEnd: true) { found.insert(Int16($0)) }
    return found.sorted { ($0 < 0 ? 1 : 0, $0) < ($1 < 0 ? 1 : 0, $1) }
  }

  private func items(_ value: Range<Int>, _ part: Part, _ take: (Range<Int>) throws(Fault) -> Void) throws(Fault) {
    var position = value.lowerBound
    while true {
      let end = bytes[position..<value.upperBound].firstIndex(of: UInt8(ascii: ",")) ?? value.upperBound
      try need(
        position < end, at: position..<end, "a value is missing in the list of \(part.rawValue)",
        expected: expected(part))
      try take(position..<end)
      guard end < value.upperBound else { return }
      position = end + 1
    }
  }

  // MARK: Days of the week

  private func weekday(_ range: Range<Int>) -> UInt8? {
    guard range.count == 2 else { return nil }
    switch (bytes[range.lowerBound] & 0xDF, bytes[range.lowerBound + 1] & 0xDF) {
    case (UInt8(ascii: "M"), UInt8(ascii: "O")): return 0
    case (UInt8(ascii: "T"), UInt8(ascii: "U")): return 1
    case (UInt8(ascii: "W"), UInt8(ascii: "E")): return 2
    case (UInt8(ascii: "T"), UInt8(ascii: "H")): return 3
    case (UInt8(ascii: "F"), UInt8(ascii: "R")): return 4
    case (UInt8(ascii: "S"), UInt8(ascii: "A")): return 5
    case (UInt8(ascii: "S"), UInt8(ascii: "U")): return 6
    default: return nil
    }
  }

  private func days(_ value: Range<Int>, _ rule: inout RecurrencePattern) throws(Fault) {
    var ordinals = Set<RecurrencePattern.Ordinal>()
    var weekdays: UInt8 = 0
    try items(value, .days) { item throws(Fault) in
      guard item.count >= 2, let day = weekday(item.upperBound - 2..<item.upperBound) else {
        throw unknownDay(item)
      }
      guard item.count > 2 else {
        weekdays |= 1 << day
        return
      }
      var digits = item.lowerBound..<item.upperBound - 2
      let sign = bytes[item.lowerBound]
      if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits = digits.lowerBound + 1..<digits.upperBound }
      guard digits.count <= 3, let number = number(digits) else { throw unknownDay(item) }
      try need(
        (1...53).contains(number), .outOfRange, at: item, "no period has \"\(shown(item))\"",
        expected: "a count from 1 to 53, or from -53 to -1")
      ordinals.insert(.init(ordinal: Int8(sign == UInt8(ascii: "-") ? -number : number), weekday: day))
    }
    rule.weekdays = weekdays
    rule.ordinals = ordinals.sorted()
  }

  private func unknownDay(_ item: Range<Int>) -> Fault {
    let names: [String: String] = [
      "MON": "MO", "TUE": "TU", "WED": "WE", "THU": "TH", "FRI": "FR", "SAT": "SA", "SUN": "SU",
    ]
    // Corrects `MON` and `MONDAY` to `MO`.
    let short = names[String(upper(item).prefix(3))]
    return Fault(
      range: item, problem: "\"\(shown(item))\" is not a day of the week", expected: expected(.days),
      repair: short.map { .init(item, $0) })
  }
}
