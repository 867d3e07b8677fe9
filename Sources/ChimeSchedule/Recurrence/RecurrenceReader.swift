/// A RecurrenceDraft holds the parsed content of a text of the rrule dialect.
struct RecurrenceDraft {
  var clock = RecurrenceSchedule.Clock.floating
  var start: Int64 = 0
  var rules: [RecurrencePattern] = []
  var dates: [Int64] = []
  var instants: [Int64] = []
  var exceptDates: [Int64] = []
  var exceptDays: [Int64] = []
  var exceptInstants: [Int64] = []
  var trigger = RecurrenceTrigger()
}

/// A RecurrenceReader parses the properties of the rrule dialect, in any order, with white space or line breaks between.
struct RecurrenceReader {
  enum Property: String, CaseIterable {
    case start = "DTSTART"
    case rule = "RRULE"
    case date = "RDATE"
    case except = "EXDATE"
    case trigger = "TRIGGER"
  }

  enum ValueType: String, CaseIterable {
    case date = "DATE"
    case dateTime = "DATE-TIME"
    case period = "PERIOD"
    case duration = "DURATION"
    case recur = "RECUR"
  }

  /// A Line is a property whose value is not parsed yet.
  struct Line {
    var property: Property
    /// The position of the name; empty for a rule without one.
    var name: Range<Int>
    var type: ValueType?
    var zone: Range<Int>?
    var value: Range<Int>
  }

  /// The limits of all dates in `RDATE`, of all in `EXDATE`, and of rules.
  static let mostDates = 1_000
  static let mostRules = 16

  let bytes: [UInt8]
  private var position = 0
  private(set) var lines: [Line] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func schedule(_ context: ParseContext?) throws(Fault) -> RecurrenceDraft {
    while try line() {}
    var draft = RecurrenceDraft()
    try setStart(&draft, context)
    var counted: Int64 = 0
    for line in lines where line.property == .rule {
      try need(
        draft.rules.count < Self.mostRules, .outOfRange, at: line.name, "there are more than \(Self.mostRules) rules",
        expected: "fewer")
      var rule = try pattern(line.value)
      try fit(&rule, draft.clock, line.value)
      draft.rules.append(rule)
      counted += rule.count ?? 0
      try need(
        counted <= RecurrencePattern.largestCount, .outOfRange, at: line.value,
        "the rules together count more than \(RecurrencePattern.largestCount)", expected: "fewer in COUNT")
    }
    for line in lines where line.property == .date || line.property == .except { try readDates(line, &draft) }
    try setTrigger(&draft)

    func tidy(_ list: inout [Int64]) {
      guard list.count > 1 else { return }
      list.sort()
      var last = Int64.min
      list.removeAll { value in
        defer { last = value }
        return value == last
      }
    }
    tidy(&draft.dates)
    tidy(&draft.instants)
    tidy(&draft.exceptDates)
    tidy(&draft.exceptDays)
    tidy(&draft.exceptInstants)
    if draft.rules.isEmpty { draft.dates.removeAll { $0 == draft.start } }
    return draft
  }

  // MARK: Lines

  /// Reads one property. Returns false if none is left.
  private mutating func line() throws(Fault) -> Bool {
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    guard position < bytes.count else { return false }
    let start = position
    while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
    let name = start..<position
    let next = position < bytes.count ? bytes[position] : 0
    if next == UInt8(ascii: "=") {
      // A rule without its name.
      while position < bytes.count, bytes[position] > 0x20 { position += 1 }
      lines.append(Line(property: .rule, name: start..<start, value: start..<position))
      return true
    }
    guard !name.isEmpty, next == UInt8(ascii: ":") || next == UInt8(ascii: ";") else {
      throw unknownLine(name)
    }
    guard let property = Property(rawValue: upper(name)) else { throw unknownLine(name) }
    if property == .start || property == .trigger, let earlier = lines.first(where: { $0.property == property }) {
      throw Fault(
        range: name, problem: "there is a second \(property.rawValue)",
        expected: "one, as at column \(earlier.name.lowerBound + 1)")
    }
    var line = Line(property: property, name: name, value: position..<position)
    while position < bytes.count, bytes[position] == UInt8(ascii: ";") {
      position += 1
      try parameter(&line)
    }
    try need(
      position < bytes.count && bytes[position] == UInt8(ascii: ":"), at: position..<position,
      "the value of \(property.rawValue) is missing", expected: "a colon and the value")
    position += 1
    let value = position
    while position < bytes.count, bytes[position] > 0x20 { position += 1 }
    line.value = value..<position
    lines.append(line)
    return true
  }

  private mutating func parameter(_ line: inout Line) throws(Fault) {
    let start = position
    while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
    let name = start..<position
    try need(
      position < bytes.count && bytes[position] == UInt8(ascii: "=") && !name.isEmpty, at: start..<endOfWord(start),
      "\"\(shown(start..<endOfWord(start)))\" is not a parameter", expected: "one like TZID=Europe/Prague or VALUE=DATE"
    )
    position += 1
    var value = position..<position
    if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      position += 1
      let first = position
      while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != 0x0A { position += 1 }
      try need(
        position < bytes.count && bytes[position] == UInt8(ascii: "\""), at: first - 1..<first,
        "the quotation mark is not closed", expected: "another one")
      value = first..<position
      position += 1
    } else {
      while position < bytes.count, bytes[position] > 0x20, bytes[position] != UInt8(ascii: ":"),
        bytes[position] != UInt8(ascii: ";")
      {
        position += 1
      }
      value = value.lowerBound..<position
    }
    try set(&line, upper(name), name, value)
  }

  private func set(_ line: inout Line, _ key: String, _ name: Range<Int>, _ value: Range<Int>) throws(Fault) {
    switch (key, line.property) {
    case ("VALUE", _):
      let types: [ValueType] =
        switch line.property {
        case .start, .except: [.dateTime, .date]
        case .date: [.dateTime, .date, .period]
        case .trigger: [.duration]
        case .rule: [.recur]
        }
      guard let type = ValueType(rawValue: upper(value)), types.contains(type) else {
        if line.property == .trigger, upper(value) == ValueType.dateTime.rawValue {
          throw Fault(
            range: value, problem: "a TRIGGER at one moment does not follow the occurrences",
            expected: "a duration like -PT15M")
        }
        throw Fault(
          range: value, problem: "\"\(shown(value))\" is not a kind of value for \(line.property.rawValue)",
          expected: types.map(\.rawValue).joined(separator: " or "),
          repair: nearest(value, types.map(\.rawValue)))
      }
      line.type = type
    case ("TZID", .start), ("TZID", .date), ("TZID", .except):
      try need(
        Zone.isValidIdentifier(String(decoding: bytes[value], as: UTF8.self)), at: value,
        "\"\(shown(value))\" does not have the form of a time zone's name", expected: "a name like Europe/Prague")
      line.zone = value
    case ("RELATED", .trigger):
      try need(
        upper(value) == "START", at: value, "a schedule counts only from its start, not from \"\(shown(value))\"",
        expected: "START")
    case _ where key.hasPrefix("X-"):
      // Other programs store their own data in such parameters.
      break
    default:
      throw Fault(
        range: name, problem: "\"\(shown(name))\" is not a parameter of \(line.property.rawValue)",
        expected: line.property == .rule
          ? "none" : line.property == .trigger ? "RELATED or VALUE" : "TZID or VALUE",
        repair: nearest(name, ["TZID", "VALUE", "RELATED"]))
    }
  }

  private func unknownLine(_ name: Range<Int>) -> Fault {
    let end = endOfWord(name.lowerBound)
    let expected = "DTSTART, RRULE, RDATE, EXDATE or TRIGGER"
    if name.isEmpty || name.upperBound == end {
      let word = name.lowerBound..<end
      return Fault(range: word, problem: "\"\(shown(word))\" is not a property", expected: expected)
    }
    if upper(name) == "EXRULE" {
      return Fault(
        range: name, problem: "EXRULE is obsolete (RFC 5545 appendix A.1)",
        expected: "the excepted dates in EXDATE")
    }
    return Fault(
      range: name, problem: "\"\(shown(name))\" is not allowed in a schedule", expected: expected,
      repair: nearest(name, Property.allCases.map(\.rawValue)))
  }

  // MARK: Properties

  /// Sets the start: `DTSTART`, or else the first date, or else the time of parsing.
  private func setStart(_ draft: inout RecurrenceDraft, _ context: ParseContext?) throws(Fault) {
    let given = lines.first { $0.property == .start }
    let isRule = lines.contains { $0.property == .rule }
    guard let line = given ?? (isRule ? nil : lines.first { $0.property == .date }) else {
      try need(
        isRule, at: bytes.count..<bytes.count, "the rule or the date is missing", expected: "DTSTART, RRULE or RDATE")
      guard let context else {
        throw Fault(
          range: 0..<0, problem: "without DTSTART this counts from the moment of writing",
          expected: "DTSTART with the start")
      }
      draft.start = context.civil.wallSeconds
      return
    }
    let times = try moments(line)
    let time = times.min { $0.time.wall < $1.time.wall } ?? times[0]
    if line.property == .start, times.count > 1 {
      throw Fault(range: times[1].range, problem: "a schedule has only one start", expected: "further dates in RDATE")
    }
    draft.start = time.time.wall
    let zone = line.zone.map { String(decoding: bytes[$0], as: UTF8.self) }
    switch (time.time.form, zone) {
    case (.date, _): draft.clock = .dates
    case (.utc, _), (.local, "UTC"): draft.clock = .utc
    case (.local, let zone?): draft.clock = .zone(zone)
    case (.local, nil): draft.clock = .floating
    }
  }

  private func readDates(_ line: Line, _ draft: inout RecurrenceDraft) throws(Fault) {
    let isExcept = line.property == .except
    if let zone = line.zone {
      let name = String(decoding: bytes[zone], as: UTF8.self)
      let expected: String? =
        switch draft.clock {
        case .dates, .floating: "no TZID, as DTSTART has none"
        case .utc: name == "UTC" ? nil : "times in UTC, as in DTSTART"
        case .zone(let own): name == own ? nil : "TZID=\(own), as in DTSTART"
        }
      if let expected {
        throw Fault(
          range: zone, problem: "\(line.property.rawValue) uses another clock than DTSTART", expected: expected)
      }
    }
    let startSecond = draft.clock == .dates ? 0 : dividedDown(draft.start, by: 86_400).rest
    for (time, range) in try moments(line) {
      switch (time.form, isExcept) {
      case (.date, true): draft.exceptDays.append(dividedDown(time.wall, by: 86_400).quotient)
      // A date takes the time of day of the start.
      case (.date, false): draft.dates.append(time.wall + startSecond)
      case (.utc, _) where draft.clock != .utc:
        if isExcept { draft.exceptInstants.append(time.wall) } else { draft.instants.append(time.wall) }
      case (_, false) where draft.clock == .dates && time.wall % 86_400 != 0:
        throw Fault(
          range: range, problem: "DTSTART has no time of day, so RDATE must not have one",
          expected: "a date like 20261224")
      case (_, true): draft.exceptDates.append(time.wall)
      case (_, false): draft.dates.append(time.wall)
      }
      let count =
        isExcept
        ? draft.exceptDays.count + draft.exceptDates.count + draft.exceptInstants.count
        : draft.dates.count + draft.instants.count
      try need(
        count <= Self.mostDates, .outOfRange, at: range,
        "there are more than \(Self.mostDates) dates in \(line.property.rawValue)", expected: "fewer")
    }
  }

  /// Adapts a rule to the start. Some parts need a start with a time, or one without.
  private func fit(_ rule: inout RecurrencePattern, _ clock: RecurrenceSchedule.Clock, _ range: Range<Int>)
    throws(Fault)
  {
    guard clock == .dates else { return }
    if rule.frequency < .daily {
      throw Fault(
        range: range, problem: "a DTSTART without a time cannot repeat within a day", expected: "DTSTART with a time")
    }
    // RFC 5545 section 3.3.10 says of these parts "MUST be ignored" if whole days repeat.
    (rule.hours, rule.minutes, rule.seconds) = (0, 0, 0)
    try need(
      rule.positions.isEmpty || rule.namesAnything, at: range,
      "BYSETPOS has nothing to choose from: with a DTSTART without a time, BYHOUR, BYMINUTE and BYSECOND do not "
        + "count", expected: "DTSTART with a time, or no BYSETPOS")
    if let until = rule.until {
      rule.until = RecurrenceTime(form: .date, wall: until.wall - dividedDown(until.wall, by: 86_400).rest)
    }
  }
}

// MARK: - Words

extension RecurrenceReader {
  func isNameByte(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
  }

  /// Returns a text in capitals for comparing with names, cut off after 64 bytes.
  func upper(_ range: Range<Int>) -> String {
    String(decoding: bytes[range].prefix(64).map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
  }

  func shown(_ range: Range<Int>) -> String {
    excerpt(String(decoding: bytes[range].prefix(200), as: UTF8.self), limit: 24)
  }

  func endOfWord(_ start: Int) -> Int { bytes[start...].firstIndex { $0 <= 0x20 } ?? bytes.count }

  /// Returns a repair with the name that was probably meant.
  func nearest(_ range: Range<Int>, _ names: [String]) -> Fault.Repair? {
    guard range.count <= 20,
      let word = Spelling.nearest(to: upper(range).lowercased(), among: names.map { $0.lowercased() })
    else { return nil }
    return .init(range, word.uppercased())
  }
}
