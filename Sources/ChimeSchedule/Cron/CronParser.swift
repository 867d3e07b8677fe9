/// A CronParser parses cron expressions from bytes, in one pass.
struct CronParser {
  let bytes: [UInt8]
  var position: Int
  /// The end of the text.
  let end: Int

  init(_ bytes: [UInt8], from start: Int, to end: Int) {
    self.bytes = bytes
    self.end = end
    position = start
  }

  /// The content of one field: numbers, and the special forms of the day fields.
  struct Content {
    var beginsWithStar = false
    var numbers: UInt64 = 0
    /// ``CronDays/datesFromEnd`` or ``CronDays/ordinals``.
    var special: UInt64 = 0
    var nearest: UInt64 = 0
    var nearestFromEnd: UInt64 = 0
  }

  /// Parses the whole text: an optional `cron:`, then `@word`, five fields or six.
  mutating func expression() throws(Fault) -> CronSchedule {
    skipBlanks()
    skipPrefix()
    skipBlanks()
    if byte == UInt8(ascii: "@") {
      let schedule = try shorthand()
      skipBlanks()
      guard position == end else { throw trailing(after: "a word that stands for all fields") }
      return schedule
    }
    let count = countOfFields()
    guard count == 5 || count == 6 && !endsWithCommand() else { throw wrong(count: count) }
    return try fields(withSeconds: count == 6)
  }

  /// Parses five or six fields, and the blanks after each.
  mutating func fields(withSeconds: Bool) throws(Fault) -> CronSchedule {
    var seconds: UInt64 = 1
    if withSeconds { seconds = try content(.second).numbers }
    let minute = try content(.minute)
    let hour = try content(.hour)
    let dateStart = position
    let date = try content(.dayOfMonth)
    let dateEnd = fieldEnd(dateStart)
    let month = try content(.month)
    let weekday = try content(.dayOfWeek)
    // 7 is Sunday, like 0.
    let weekdays = (weekday.numbers | weekday.numbers >> 7) & CronDays.everyWeekday
    var days = CronDays(
      months: month.numbers, dates: date.numbers, datesFromEnd: date.special, nearest: date.nearest,
      nearestFromEnd: date.nearestFromEnd, weekdays: weekdays, ordinals: weekday.special,
      needsBoth: date.beginsWithStar || weekday.beginsWithStar)
    days.normalize()
    let schedule = CronSchedule(
      seconds: seconds, minutes: minute.numbers, hours: hour.numbers, days: days,
      runsByRealTime: minute.beginsWithStar || hour.beginsWithStar)
    try need(
      CronRule(schedule).next(after: -1) != nil, .neverOccurs, at: dateStart..<dateEnd, "no year has such a day",
      expected: "a day that the months have")
    return schedule
  }

  /// Parses `@daily` and similar words, in any case.
  mutating func shorthand() throws(Fault) -> CronSchedule {
    let start = position
    position = fieldEnd(start)
    var days = CronDays(
      months: CronDays.everyMonth, dates: CronDays.everyDate, weekdays: CronDays.everyWeekday, needsBoth: true)
    var hours: UInt64 = 1
    switch String(decoding: bytes[start..<min(position, start + 16)], as: UTF8.self).lowercased() {
    case "@yearly", "@annually":
      days.months = 1 << 1
      days.dates = 1 << 1
    case "@monthly": days.dates = 1 << 1
    case "@weekly": days.weekdays = 1
    case "@daily", "@midnight": break
    case "@hourly": hours = 0xFF_FFFF
    default: throw unknownShorthand(start..<position)
    }
    return CronSchedule(seconds: 1, minutes: 1, hours: hours, days: days, runsByRealTime: hours != 1)
  }

  /// Parses one field and the blanks after it.
  private mutating func content(_ field: CronField) throws(Fault) -> Content {
    var content = Content()
    content.beginsWithStar = byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?")
    while true {
      try item(field, into: &content)
      guard byte == UInt8(ascii: ",") else { break }
      position += 1
    }
    guard position == end || isBlank(bytes[position]) else { throw unexpected(field) }
    skipBlanks()
    return content
  }

  /// Parses one item of a list.
  private mutating func item(_ field: CronField, into content: inout Content) throws(Fault) {
    let start = position
    let range = field.range
    var first = range.lowerBound
    var last = range.upperBound
    switch byte {
    case UInt8(ascii: "*"): position += 1
    case UInt8(ascii: "?") where field == .dayOfMonth || field == .dayOfWeek: position += 1
    case UInt8(ascii: "L") where field == .dayOfMonth, UInt8(ascii: "l") where field == .dayOfMonth:
      return try fromEnd(into: &content)
    default:
      first = try value(field)
      switch byte {
      case UInt8(ascii: "-"):
        position += 1
        last = try value(field)
        guard first <= last else { throw reversed(field, start..<position, first, last) }
      case UInt8(ascii: "/"): throw stepWithoutRange(field, start, first)
      case UInt8(ascii: "W") where field == .dayOfMonth, UInt8(ascii: "w") where field == .dayOfMonth:
        position += 1
        content.nearest |= 1 << UInt64(first)
        return
      case UInt8(ascii: "L") where field == .dayOfWeek, UInt8(ascii: "l") where field == .dayOfWeek:
        position += 1
        content.special |= 1 << UInt64(first % 7 + 7 * CronDays.lastOrdinal)
        return
      case UInt8(ascii: "#") where field == .dayOfWeek:
        position += 1
        let ordinal = try ordinal(start, first % 7)
        content.special |= 1 << UInt64(first % 7 + 7 * (ordinal - 1))
        return
      default:
        content.numbers |= 1 << UInt64(first)
        return
      }
    }
    guard byte == UInt8(ascii: "/") else {
      content.numbers |= (1 << UInt64(last + 1)) - (1 << UInt64(first))
      return
    }
    position += 1
    let step = try step(field)
    var number = first
    while number <= last {
      content.numbers |= 1 << UInt64(number)
      number += step
    }
  }

  /// Parses `L`, `L-3`, `LW` or `L-3W`.
  private mutating func fromEnd(into content: inout Content) throws(Fault) {
    position += 1
    var distance = 0
    if byte == UInt8(ascii: "-") {
      position += 1
      let start = position
      guard let number = number(), (1...30).contains(number) else { throw distanceFromEnd(start) }
      distance = number
    }
    if byte == UInt8(ascii: "W") || byte == UInt8(ascii: "w") {
      position += 1
      content.nearestFromEnd |= 1 << UInt64(distance)
    } else {
      content.special |= 1 << UInt64(distance)
    }
  }

  /// Parses a number or a name of the field.
  private mutating func value(_ field: CronField) throws(Fault) -> Int {
    let start = position
    if let number = number() {
      guard field.range.contains(number) else { throw outOfRange(field, start..<position) }
      return number
    }
    guard position + 3 <= end,
      let number = field.number(named: bytes[position], bytes[position + 1], bytes[position + 2])
    else { throw noValue(field) }
    position += 3
    // Names have three letters; an L after one is cron's own sign.
    if let byte, isLetter(byte) {
      guard field == .dayOfWeek, byte | 0x20 == UInt8(ascii: "l"), position + 1 == end || !isLetter(bytes[position + 1])
      else {
        position = start
        throw noValue(field)
      }
    }
    return number
  }

  private mutating func step(_ field: CronField) throws(Fault) -> Int {
    let start = position
    guard let step = number(), step > 0 else { throw noStep(field, start) }
    return step
  }

  private mutating func ordinal(_ start: Int, _ weekday: Int) throws(Fault) -> Int {
    let digits = position
    guard let ordinal = number(), (1...5).contains(ordinal) else { throw noOrdinal(start, digits, weekday) }
    return ordinal
  }

  /// Parses digits as a number, which saturates at 999,999,999.
  private mutating func number() -> Int? {
    let start = position
    var number = 0
    while position < end, case let digit = bytes[position], (0x30...0x39).contains(digit) {
      number = min(number * 10 + Int(digit - 0x30), 999_999_999)
      position += 1
    }
    return position > start ? number : nil
  }
}

extension CronParser {
  /// The byte at the position; `nil` at the end of the text.
  var byte: UInt8? { position < end ? bytes[position] : nil }

  func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
  func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  mutating func skipBlanks() {
    while position < end, isBlank(bytes[position]) { position += 1 }
  }

  private mutating func skipPrefix() {
    guard end - position >= 5, bytes[position + 4] == UInt8(ascii: ":"), bytes[position] | 0x20 == UInt8(ascii: "c"),
      bytes[position + 1] | 0x20 == UInt8(ascii: "r"), bytes[position + 2] | 0x20 == UInt8(ascii: "o"),
      bytes[position + 3] | 0x20 == UInt8(ascii: "n")
    else { return }
    position += 5
  }

  /// Returns the end of the field at a position.
  func fieldEnd(_ start: Int) -> Int {
    var index = start
    while index < end, !isBlank(bytes[index]) { index += 1 }
    return index
  }

  /// Returns the number of fields from the position to the end, at most eight.
  func countOfFields() -> Int {
    var count = 0
    var index = position
    while index < end, count < 8 {
      count += 1
      index = fieldEnd(index)
      while index < end, isBlank(bytes[index]) { index += 1 }
    }
    return count
  }

  /// Returns where a field begins, counted from 0 at the position.
  func start(ofField number: Int) -> Int {
    var index = position
    for _ in 0..<number {
      index = fieldEnd(index)
      while index < end, isBlank(bytes[index]) { index += 1 }
    }
    return index
  }

  /// Returns whether the sixth field is the name of a command, not a day of the week.
  func endsWithCommand() -> Bool {
    let start = start(ofField: 5)
    guard start < end else { return false }
    if "/.~$\"'([{".utf8.contains(bytes[start]) { return true }
    let word = bytes[start..<fieldEnd(start)].prefix(16).prefix { isLetter($0) }
    guard word.count > 1 else { return false }
    let first = word.startIndex
    let field = CronField.dayOfWeek
    if word.count > 2, field.number(named: word[first], word[first + 1], word[first + 2]) != nil { return false }
    return Spelling.nearest(to: String(decoding: word, as: UTF8.self), among: field.names) == nil
  }
}
