/// Reads a calendar expression, accepting what systemd's own parser accepts.
///
/// Its parts are words: weekdays, a date, a time, a zone, parted by spaces. Which of them a word is shows in its signs.
struct CalendarParser {
  let bytes: [UInt8]
  /// The bytes of the expression that are still to be read.
  private(set) var position: Int
  private(set) var end: Int
  private var expression = CalendarExpression()

  static let prefix = "calendar:"
  /// systemd refuses longer lists.
  static let mostComponents = 241
  private static let usual = "an expression like Mon..Fri *-*-* 09:00, or a word like daily"

  /// Stands before the expression, behind the dialect's prefix and any white space.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    position = bytes.firstIndex { !isSpace($0) } ?? bytes.count
    position += min(CalendarParser.prefix.utf8.count, bytes.count - position)
    end = bytes.count
    while position < end, isSpace(bytes[position]) { position += 1 }
    while position < end, isSpace(bytes[end - 1]) { end -= 1 }
  }

  /// - Parameter label: the zone's own spelling of a label of its clock (`CEST`), if the word is one.
  /// - Parameter isKnown: whether a zone has that name; asked when it is no label.
  mutating func parse(label: (String) -> String?, isKnown: (String) -> Bool) throws(Fault) -> CalendarExpression {
    guard position < end else {
      throw Fault(range: end..<end, problem: "the calendar expression is missing", expected: CalendarParser.usual)
    }
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

  private mutating func setTime(_ hours: [Int], _ minutes: [Int], _ seconds: [Int]) {
    expression.hours = hours.map { CalendarComponent($0) }
    expression.minutes = minutes.map { CalendarComponent($0) }
    expression.seconds = seconds.map { CalendarComponent($0 * CalendarField.microseconds) }
  }

  // MARK: The zone

  private mutating func parseZone(label: (String) -> String?, isKnown: (String) -> Bool) throws(Fault) {
    guard let space = bytes[position..<end].lastIndex(of: 0x20) else { return }
    let range = space + 1..<end
    let first = bytes[range.lowerBound]
    let isSigned = first == UInt8(ascii: "+") || first == UInt8(ascii: "-")
    guard CalendarParser.isLetter(first) || isSigned, range.count <= 100, weekday(at: range.lowerBound) == nil,
      shorthand(range) == nil
    else { return }
    let name = String(decoding: bytes[range], as: UTF8.self)
    if name.utf8.elementsEqual("UTC".utf8, by: { $0 | 0x20 == $1 | 0x20 }) {
      expression.zone = "UTC"
    } else if let label = label(name) {
      expression.zone = label
    } else if isSigned {
      guard range.dropFirst().count <= 6, range.dropFirst().allSatisfy({ CalendarParser.isDigit(bytes[$0]) }),
        range.count > 1, isKnown(name)
      else { return }
      expression.zone = name
    } else {
      let lower = name.lowercased()
      if lower == "am" || lower == "pm" {
        throw Fault(
          range: range, problem: "times go by 24 hours, without \(quoted(range))", expected: "a time like 21:00")
      }
      guard Zone.isValidIdentifier(name) else {
        throw Fault(
          range: range, problem: "\(quoted(range)) is no time zone", expected: "a name like Europe/Prague at the end")
      }
      guard isKnown(name) else {
        throw Fault(
          range: range, problem: "this machine has no time zone \(quoted(range))", expected: "a name like Europe/Prague"
        )
      }
      expression.zone = name
    }
    end = space
  }

  // MARK: Weekdays

  private static let weekdayNames = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ].map { Array($0.utf8) }

  /// The weekday, 0…6 from Monday, whose name or first three letters stand there, followed by no further letter.
  private func weekday(at place: Int) -> (number: Int, length: Int)? {
    for (number, name) in CalendarParser.weekdayNames.enumerated() {
      for length in [name.count, 3] where place + length <= bytes.count {
        guard zip(bytes[place..<place + length], name).allSatisfy({ $0 | 0x20 == $1 }) else { continue }
        let next = place + length
        if next < bytes.count, CalendarParser.isLetter(bytes[next]) { continue }
        return (number, length)
      }
    }
    return nil
  }

  private mutating func parseWeekdays() throws(Fault) {
    guard CalendarParser.isLetter(bytes[position]) else { return }
    var days: WeekdaySet = []
    var rangeStart: (number: Int, place: Int)?
    while true {
      let place = position
      guard let (number, length) = weekday(at: position), place + length <= end else { throw unknownWord() }
      position += length
      let day = WeekdaySet(rawValue: 1 << UInt8(number))
      if let start = rangeStart {
        guard start.number <= number else { throw backwards(start, to: number, end: position) }
        for between in start.number...number { days.insert(WeekdaySet(rawValue: 1 << UInt8(between))) }
      }
      days.insert(day)
      let next = sign
      if next == nil || next == 0x20 { break }
      if next == UInt8(ascii: ",") {
        position += 1
        rangeStart = nil
        // A comma may also end the list.
        if sign == nil || sign == 0x20 { break }
      } else {
        let isRange = next == UInt8(ascii: "-") || next == UInt8(ascii: ".") && byte(1) == UInt8(ascii: ".")
        guard isRange else {
          throw Fault(
            range: position..<position + 1, problem: "\(quoted(wordRange)) does not go on like a list of weekdays",
            expected: "weekdays like Mon,Wed..Fri and a space")
        }
        guard rangeStart == nil else {
          throw Fault(
            range: place..<position, problem: "a range of weekdays has two ends", expected: "a range like Mon..Fri")
        }
        rangeStart = (number, place)
        position += next == UInt8(ascii: "-") ? 1 : 2
      }
      guard let first = sign, CalendarParser.isLetter(first) else {
        throw Fault(
          range: position..<position, problem: "a weekday is missing", expected: "weekdays like Mon,Wed..Fri")
      }
    }
    expression.weekdays = days
    skipSpaces()
    if position < end, bytes[position - 1] == 0x20, CalendarParser.isLetter(bytes[position]) {
      let following = wordRange
      guard weekday(at: position) != nil else { throw unknownWord() }
      let gap = bytes[..<position].lastIndex { $0 != 0x20 } ?? position - 1
      let isListed = bytes[gap] == UInt8(ascii: ",")
      throw Fault(
        range: following, problem: "\(quoted(following)) stands apart from the other weekdays",
        expected: "weekdays without spaces, like Mon,Wed..Fri",
        repair: .init(gap + 1..<position, isListed ? "" : ",", shown: nil))
    }
  }

  private func backwards(_ start: (number: Int, place: Int), to number: Int, end: Int) -> Fault {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    let before = start.number == 6 ? "Sun" : "\(names[start.number])..Sun"
    let after = number == 0 ? "Mon" : "Mon..\(names[number])"
    return Fault(
      range: start.place..<end, problem: "\(quoted(start.place..<end)) runs backwards, for weeks begin on Monday",
      expected: "a range within Mon..Sun", repair: .init(start.place..<end, "\(before),\(after)"))
  }

  private func unknownWord() -> Fault {
    let word = position..<(bytes[position..<end].firstIndex { !CalendarParser.isLetter($0) && $0 != 0x2D } ?? end)
    let text = String(decoding: bytes[word].prefix(40), as: UTF8.self)
    let isWhole = word.upperBound == end
    var nearest = isWhole ? Spelling.nearest(to: text, among: CalendarExpression.shorthands.keys.sorted()) : nil
    if nearest == "anually" { nearest = "annually" }
    if nearest == nil {
      let names = CalendarParser.weekdayNames.map { String(decoding: $0, as: UTF8.self) }
      nearest = Spelling.nearest(to: text, among: names + names.map { String($0.prefix(3)) })?.capitalizedASCII
    }
    return Fault(
      range: word, problem: "\(quoted(word.isEmpty ? wordRange : word)) is neither a weekday nor a shorthand",
      expected: CalendarParser.usual, repair: nearest.map { .init(word, $0) })
  }

  // MARK: Dates

  /// Seconds since 1970, as strtoul(3) reads them.
  private mutating func parseEpoch() throws(Fault) {
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
    guard position > digits, position == end else {
      throw Fault(
        range: start..<max(position, start + 1), problem: "\(quoted(start..<end)) is no count of seconds",
        expected: "whole seconds since 1970 in UTC, like @1796115600")
    }
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

  private mutating func parseDate() throws(Fault) {
    let word = wordRange
    let signs = word.filter { bytes[$0] == UInt8(ascii: "-") || bytes[$0] == UInt8(ascii: "~") }
    guard let last = signs.last else {
      let isNumber = word.allSatisfy { CalendarParser.isDigit(bytes[$0]) } && word.count <= 2
      throw Fault(
        range: word, problem: "\(quoted(word)) is neither a date nor a time", expected: CalendarParser.usual,
        repair: isNumber ? .init(word.upperBound..<word.upperBound, ":00", shown: "\(text(word)):00") : nil)
    }
    guard signs.count <= 2 else {
      throw Fault(
        range: signs[2]..<word.upperBound, problem: "\(quoted(word)) has more than three parts",
        expected: "a date like 2026-12-01 or *-*~01")
    }
    let isFromEnd = bytes[last] == UInt8(ascii: "~")
    guard signs.count == 1 || bytes[signs[0]] == UInt8(ascii: "-") else {
      throw Fault(
        range: signs[0]..<signs[0] + 1, problem: "\"~\" stands before the month",
        expected: "\"~\" before the day, as in 2026-02~03", repair: .init(signs[0]..<signs[0] + 1, "-", shown: nil))
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

  // MARK: Times

  private mutating func parseTime() throws(Fault) {
    let word = wordRange
    guard word.contains(where: { bytes[$0] == UInt8(ascii: ":") }) else {
      let isNumber = word.allSatisfy { CalendarParser.isDigit(bytes[$0]) } && word.count <= 2
      throw Fault(
        range: word, problem: "\(quoted(word)) is no time", expected: "a time like 09:00",
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
      let rest = bytes[position] == 0x20 ? position..<end : position..<wordRange.upperBound
      throw Fault(
        range: rest, problem: "\(quoted(rest)) follows the time", expected: "nothing but a time zone behind the time")
    }
  }

  private mutating func skipColon() throws(Fault) {
    guard sign == UInt8(ascii: ":") else {
      let place = position..<min(position + 1, end)
      throw Fault(
        range: place, problem: place.isEmpty ? "the time ends early" : "\(quoted(place)) is out of place in a time",
        expected: "a time like 09:00 or *:00/15")
    }
    position += 1
  }

  // MARK: Lists

  /// A list of components, or `*`, up to a sign that parts fields.
  private mutating func chain(_ field: CalendarField) throws(Fault) -> [CalendarComponent] {
    if sign == UInt8(ascii: "*") {
      let star = position..<position + 1
      position += 1
      guard isAtFieldEnd else {
        let isStep = sign == UInt8(ascii: "/")
        throw Fault(
          range: position..<position + 1, problem: "\"*\" stands alone in its place",
          expected: isStep ? "a first value before the step" : "\"*\", or a list of values",
          repair: isStep && field != .dayFromEnd
            ? .init(star, field == .year ? "1970" : "\(field.bounds.lowerBound)", shown: nil) : nil)
      }
      return field == .second ? [CalendarComponent(0, step: CalendarField.microseconds)] : []
    }
    let start = position
    var components: [CalendarComponent] = []
    while true {
      let component = try component(field)
      guard components.count < CalendarParser.mostComponents else {
        throw Fault(
          code: .outOfRange, range: position..<position,
          problem: "there are more than \(CalendarParser.mostComponents) values in a list",
          expected: "fewer, or a range with a step")
      }
      components.append(component)
      guard sign == UInt8(ascii: ",") else { break }
      position += 1
    }
    components = components.normalized()
    if let place = components.indices.first(where: { !components[$0].fits(field, at: $0) }) {
      throw Fault(
        range: start..<position, problem: "\(quoted(start..<position)) is a list that systemd refuses",
        expected: "days of which the \(place + 1). of the list is at most \(28 - 3 * place), or a list for each of two")
    }
    return components
  }

  private var isAtFieldEnd: Bool {
    guard let sign else { return true }
    return sign == 0x20 || sign == UInt8(ascii: "-") || sign == UInt8(ascii: "~") || sign == UInt8(ascii: ":")
  }

  private mutating func component(_ field: CalendarField) throws(Fault) -> CalendarComponent {
    let start = position
    var component = CalendarComponent(try number(field, "no \(field.name)"))
    let afterStart = position
    var hasStep = false
    if sign == UInt8(ascii: "."), byte(1) == UInt8(ascii: ".") {
      position += 2
      component.stop = try number(field, "no end of a range")
      component.step = field.scale
    }
    let afterStop = position
    if sign == UInt8(ascii: "/") {
      position += 1
      hasStep = true
      component.step = try number(field, "no step")
    }
    guard isAtFieldEnd || sign == UInt8(ascii: ",") else {
      let rest = position..<wordRange.upperBound
      throw Fault(
        range: rest, problem: "\(quoted(rest)) does not belong to \(field.name == "hour" ? "an" : "a") \(field.name)",
        expected: field.expected)
    }
    guard !hasStep || component.step > 0 else {
      throw Fault(range: afterStop..<position, problem: "a step is 0", expected: "a step of at least 1")
    }
    if field == .year { component.completeYear() }
    let bounds = field.bounds
    guard bounds.contains(component.start) else { throw outOfBounds(start..<afterStart, field) }
    if let stop = component.stop, stop < component.start {
      throw backwards(component, field, start..<position, hasStep)
    }
    // Unlike other fields, a range of seconds has to hold one whole step unless the step is written out.
    let holdsStep = field != .second || hasStep || component.start + component.step <= component.stop ?? .max
    component.simplify()
    if let stop = component.stop, !bounds.contains(stop) { throw outOfBounds(afterStart + 2..<afterStop, field) }
    guard holdsStep, component.fits(field) else {
      throw Fault(
        range: start..<position, problem: "\(quoted(start..<position)) has no room for its step",
        expected: "a step that leads to a second \(field.name)")
    }
    return component
  }

  private func outOfBounds(_ range: Range<Int>, _ field: CalendarField) -> Fault {
    Fault(
      code: field == .year ? .outOfRange : .invalidSchedule, range: range,
      problem: "\(quoted(range)) is no \(field.name)", expected: field.expected)
  }

  private func backwards(
    _ component: CalendarComponent, _ field: CalendarField, _ range: Range<Int>, _ hasStep: Bool
  ) -> Fault {
    var repair: Fault.Repair?
    if !hasStep, field == .hour || field == .minute || field == .month || field == .day, let stop = component.stop {
      let bounds = field.bounds
      func run(_ from: Int, _ to: Int) -> String {
        from == to ? padded(from, 2) : padded(from, 2) + ".." + padded(to, 2)
      }
      repair = .init(range, run(bounds.lowerBound, stop) + "," + run(component.start, bounds.upperBound))
    }
    return Fault(
      range: range, problem: "\(quoted(range)) runs backwards", expected: "a range that goes up", repair: repair)
  }

  /// Digits, and for seconds a fraction, in the field's own units. Numbers past all bounds become one that is.
  private mutating func number(_ field: CalendarField, _ problem: String) throws(Fault) -> Int {
    let start = position
    var value = 0
    while let byte = sign, CalendarParser.isDigit(byte) {
      value = min(value * 10 + Int(byte & 0x0F), 10_000_000_000)
      position += 1
    }
    guard position > start else {
      let rest = start..<wordRange.upperBound
      throw Fault(
        range: rest, problem: rest.isEmpty ? "a \(field.name) is missing" : "\(quoted(rest)) is \(problem)",
        expected: field.expected)
    }
    value *= field.scale
    if field == .second, sign == UInt8(ascii: "."), byte(1) != UInt8(ascii: ".") { value += try fraction(from: start) }
    // systemd counts in 32 bits, and refuses more even where it would not matter.
    guard value <= Int32.max else { throw outOfBounds(start..<position, field) }
    return value
  }

  /// The digits behind a point in microseconds, rounded.
  private mutating func fraction(from start: Int) throws(Fault) -> Int {
    var value = 0
    position += 1
    let fraction = position
    var worth = CalendarField.microseconds
    while let byte = sign, CalendarParser.isDigit(byte) {
      worth /= 10
      if position - fraction < 6 {
        value += Int(byte & 0x0F) * worth
      } else if position - fraction == 6, byte >= UInt8(ascii: "5") {
        value += 1
      }
      position += 1
    }
    guard position > fraction else {
      throw Fault(
        range: start..<position, problem: "\(quoted(start..<position)) ends in a point",
        expected: "digits behind the point")
    }
    return value
  }
}

extension CalendarParser {
  static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The byte at the position; `nil` at the end.
  private var sign: UInt8? { position < end ? bytes[position] : nil }

  private func byte(_ ahead: Int) -> UInt8? { position + ahead < end ? bytes[position + ahead] : nil }

  /// From the position to the next space.
  private var wordRange: Range<Int> { position..<(bytes[position..<end].firstIndex(of: 0x20) ?? end) }
  private var word: ArraySlice<UInt8> { bytes[wordRange] }

  private mutating func skipSpaces() { while sign == 0x20 { position += 1 } }

  private func text(_ range: Range<Int>) -> String {
    excerpt(String(decoding: bytes[range].prefix(256), as: UTF8.self))
  }

  private func quoted(_ range: Range<Int>) -> String {
    "\"\(excerpt(String(decoding: bytes[range].prefix(256), as: UTF8.self), limit: 24))\""
  }

  /// The expression that a word stands for.
  private func shorthand(_ range: Range<Int>) -> String? {
    guard range.count <= 16 else { return nil }
    return CalendarExpression.shorthands[String(decoding: bytes[range], as: UTF8.self).lowercased()]
  }
}

extension String {
  fileprivate var capitalizedASCII: String { prefix(1).uppercased() + dropFirst() }
}
