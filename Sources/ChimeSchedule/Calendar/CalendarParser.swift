/// A CalendarParser parses a calendar expression and accepts what systemd's own parser accepts.
///
/// The parts are words separated by spaces: weekdays, date, time, zone. Their separators tell them apart.
struct CalendarParser {
  let bytes: [UInt8]
  /// The bytes of the expression that are still to be parsed.
  var position: Int
  var end: Int
  var expression = CalendarExpression()

  static let prefix = "calendar:"
  /// systemd refuses longer lists.
  static let mostComponents = 241
  static let usual = "an expression like Mon..Fri *-*-* 09:00, or a word like daily"

  /// Starts at the expression, after the dialect's prefix and white space.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    position = bytes.firstIndex { !isSpace($0) } ?? bytes.count
    position += min(CalendarParser.prefix.utf8.count, bytes.count - position)
    end = bytes.count
    while position < end, isSpace(bytes[position]) { position += 1 }
    while position < end, isSpace(bytes[end - 1]) { end -= 1 }
  }

  /// - Parameter label: Returns the zone's own spelling of a label of its clock (`CEST`), if the word is one.
  /// - Parameter isKnown: Returns whether a zone has that name. Called only if the word is not a label.
  mutating func parse(label: (String) -> String?, isKnown: (String) -> Bool) throws(Fault) -> CalendarExpression {
    try need(position < end, at: end..<end, "the calendar expression is missing", expected: CalendarParser.usual)
    try parseZone(label: label, isKnown: isKnown)
    if let shorthand = shorthand(position..<end) {
      let zone = expression.zone
      var parser = CalendarParser(Array((CalendarParser.prefix + shorthand).utf8))
      expression = try parser.parse(label: { _ in nil }, isKnown: { _ in true })
      expression.zone = zone
      return expression
    }
    try parseWeekdays()
    guard position < end else {
      setTime([0], [0], [0])
      return expression
    }
    if bytes[position] == UInt8(ascii: "@") {
      try parseEpoch()
      return expression
    }
    if let sign = signBetweenDateAndTime {
      let word = wordRange
      throw Fault(
        range: sign..<sign + 1, problem: "\(quoted(sign..<sign + 1)) stands between date and time", expected: "a space",
        repair: .init(
          sign..<sign + 1, " ", shown: "\(text(word.lowerBound..<sign)) \(text(sign + 1..<word.upperBound))"))
    }
    if !word.contains(UInt8(ascii: ":")) {
      try parseDate()
      skipSpaces()
    }
    guard position < end else {
      setTime([0], [0], [0])
      return expression
    }
    try parseTime()
    return expression
  }

  mutating func setTime(_ hours: [Int], _ minutes: [Int], _ seconds: [Int]) {
    expression.hours = hours.map { CalendarComponent($0) }
    expression.minutes = minutes.map { CalendarComponent($0) }
    expression.seconds = seconds.map { CalendarComponent($0 * CalendarField.microseconds) }
  }
}

extension CalendarParser {
  static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The byte at the position; `nil` at the end.
  var sign: UInt8? { position < end ? bytes[position] : nil }

  func byte(_ ahead: Int) -> UInt8? { position + ahead < end ? bytes[position + ahead] : nil }

  /// The position of a `T` between date and time, as in RFC 3339.
  var signBetweenDateAndTime: Int? {
    let word = wordRange
    guard let sign = bytes[word].firstIndex(where: { $0 | 0x20 == UInt8(ascii: "t") }), sign > word.lowerBound,
      sign + 1 < word.upperBound, CalendarParser.isDigit(bytes[sign - 1]), CalendarParser.isDigit(bytes[sign + 1]),
      bytes[word.lowerBound..<sign].contains(UInt8(ascii: "-"))
    else { return nil }
    return sign
  }

  /// The range from the position to the next space.
  var wordRange: Range<Int> { position..<(bytes[position..<end].firstIndex(of: 0x20) ?? end) }
  var word: ArraySlice<UInt8> { bytes[wordRange] }

  mutating func skipSpaces() { while sign == 0x20 { position += 1 } }

  func text(_ range: Range<Int>) -> String {
    excerpt(String(decoding: bytes[range].prefix(256), as: UTF8.self))
  }

  func quoted(_ range: Range<Int>) -> String {
    "\"\(excerpt(String(decoding: bytes[range].prefix(256), as: UTF8.self), limit: 24))\""
  }

  /// Returns the expression that a word stands for.
  func shorthand(_ range: Range<Int>) -> String? {
    guard range.count <= 16 else { return nil }
    return CalendarExpression.shorthands[String(decoding: bytes[range], as: UTF8.self).lowercased()]
  }
}
