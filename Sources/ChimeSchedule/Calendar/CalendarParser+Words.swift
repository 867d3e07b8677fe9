// Parses the words at both ends: weekdays first, the zone last.

extension CalendarParser {
  mutating func parseZone(label: (String) -> String?, isKnown: (String) -> Bool) throws(Fault) {
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
          range: range, problem: "times use 24 hours, without \(quoted(range))", expected: "a time like 21:00")
      }
      try need(
        Zone.isValidIdentifier(name), at: range, "\(quoted(range)) is not a time zone",
        expected: "a name like Europe/Prague at the end")
      try need(
        isKnown(name), at: range, "this machine has no time zone \(quoted(range))",
        expected: "a name like Europe/Prague")
      expression.zone = name
    }
    end = space
  }

  func isHalfOfDay(_ range: Range<Int>) -> Bool {
    range.count == 2 && "ap".utf8.contains(bytes[range.lowerBound] | 0x20) && bytes[range.lowerBound + 1] | 0x20 == 0x6D
  }

  func halfOfDay(_ range: Range<Int>) -> Fault {
    Fault(range: range, problem: "times use 24 hours, without \(quoted(range))", expected: "a time like 21:00")
  }

  // MARK: Weekdays

  static let weekdayNames = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ].map { Array($0.utf8) }

  /// Returns the weekday (0…6 from Monday) whose full or three-letter name stands there, with no letter after it.
  func weekday(at place: Int) -> (number: Int, length: Int)? {
    guard place + 3 <= bytes.count else { return nil }
    let number: Int
    switch (bytes[place] | 0x20, bytes[place + 1] | 0x20, bytes[place + 2] | 0x20) {
    case (0x6D, 0x6F, 0x6E): number = 0
    case (0x74, 0x75, 0x65): number = 1
    case (0x77, 0x65, 0x64): number = 2
    case (0x74, 0x68, 0x75): number = 3
    case (0x66, 0x72, 0x69): number = 4
    case (0x73, 0x61, 0x74): number = 5
    case (0x73, 0x75, 0x6E): number = 6
    default: return nil
    }
    func endsAWord(_ end: Int) -> Bool { end == bytes.count || !CalendarParser.isLetter(bytes[end]) }
    if endsAWord(place + 3) { return (number, 3) }
    let name = CalendarParser.weekdayNames[number]
    guard place + name.count <= bytes.count, endsAWord(place + name.count),
      zip(bytes[place..<place + name.count], name).allSatisfy({ $0 | 0x20 == $1 })
    else { return nil }
    return (number, name.count)
  }

  mutating func parseWeekdays() throws(Fault) {
    guard CalendarParser.isLetter(bytes[position]) else { return }
    let start = position
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
        // A trailing comma is allowed.
        if sign == nil || sign == 0x20 { break }
      } else {
        let isRange = next == UInt8(ascii: "-") || next == UInt8(ascii: ".") && byte(1) == UInt8(ascii: ".")
        try need(
          isRange, at: position..<position + 1, "\(quoted(wordRange)) does not continue as a list of weekdays",
          expected: "weekdays like Mon,Wed..Fri and a space")
        try need(
          rangeStart == nil, at: place..<position, "a range of weekdays has two ends", expected: "a range like Mon..Fri"
        )
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
        range: following, problem: "\(quoted(following)) is separate from the other weekdays",
        expected: "weekdays without spaces, like Mon,Wed..Fri",
        repair: .init(
          gap + 1..<position, isListed ? "" : ",",
          shown: "\(text(start..<gap + 1))\(isListed ? "" : ",")\(text(following))"))
    }
  }

  func backwards(_ start: (number: Int, place: Int), to number: Int, end: Int) -> Fault {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    let before = start.number == 6 ? "Sun" : "\(names[start.number])..Sun"
    let after = number == 0 ? "Mon" : "Mon..\(names[number])"
    return Fault(
      range: start.place..<end, problem: "\(quoted(start.place..<end)) runs backwards, for weeks begin on Monday",
      expected: "a range within Mon..Sun", repair: .init(start.place..<end, "\(before),\(after)"))
  }

  func unknownWord() -> Fault {
    let word = position..<(bytes[position..<end].firstIndex { !CalendarParser.isLetter($0) && $0 != 0x2D } ?? end)
    let text = String(decoding: bytes[word].prefix(40), as: UTF8.self)
    let isWhole = word.upperBound == end
    if !isWhole, bytes[word.upperBound] == 0x20, let shorthand = shorthand(word) {
      let date = shorthand.split(separator: " ").dropLast().joined(separator: " ")
      let takesTime = shorthand.hasSuffix("00:00:00")
      return Fault(
        range: word, problem: "\(quoted(word)) is a whole expression by itself",
        expected: "nothing but a time zone after it",
        repair: takesTime ? .init(word, date, shown: date + self.text(word.upperBound..<end)) : nil)
    }
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
}

extension String {
  fileprivate var capitalizedASCII: String { prefix(1).uppercased() + dropFirst() }
}
