extension CronSchedule {
  /// The canonical form, `cron: 30 8 * * 1-5`: numbers instead of names, each field in its shortest spelling.
  ///
  /// A star means more than its numbers: it decides how a job runs across a change of offset, and how the two day
  /// fields combine. So numbers never become `*` if that changes the meaning. If a star is required, the field that it
  /// makes shorter gets it, or else the first field that can have one.
  var canonical: String {
    var text = Array("cron: ".utf8)
    text.reserveCapacity(48)
    if seconds != 1 { text += CronField.second.shortest(seconds) + " ".utf8 }
    let time = CronField.pair(
      (.minute, minutes, []), (.hour, hours, []), hasStar: runsByRealTime)
    let day = CronField.pair(
      (.dayOfMonth, days.dates, days.specialDates), (.dayOfWeek, days.weekdays, days.specialWeekdays),
      hasStar: days.needsBoth)
    text += time.0 + " ".utf8 + time.1 + " ".utf8
    text += day.0 + " ".utf8 + CronField.month.shortest(days.months) + " ".utf8 + day.1
    return String(decoding: text, as: UTF8.self)
  }
}

extension CronDays {
  /// `15W`, `LW`, `L-3`, each after a comma.
  fileprivate var specialDates: [UInt8] {
    guard datesFromEnd | nearest | nearestFromEnd != 0 else { return [] }
    var text: [UInt8] = []
    for date in 1...31 where nearest >> UInt64(date) & 1 != 0 { text += ",\(date)W".utf8 }
    for distance in 0...30 where nearestFromEnd >> UInt64(distance) & 1 != 0 {
      text += (distance == 0 ? ",LW" : ",L-\(distance)W").utf8
    }
    for distance in 0...30 where datesFromEnd >> UInt64(distance) & 1 != 0 {
      text += (distance == 0 ? ",L" : ",L-\(distance)").utf8
    }
    return text
  }

  /// `1#2`, `5L`, each after a comma.
  fileprivate var specialWeekdays: [UInt8] {
    guard ordinals != 0 else { return [] }
    var text: [UInt8] = []
    for bit in 0..<35 where ordinals >> UInt64(bit) & 1 != 0 { text += ",\(bit % 7)#\(bit / 7 + 1)".utf8 }
    for weekday in 0..<7 where ordinals >> UInt64(35 + weekday) & 1 != 0 { text += ",\(weekday)L".utf8 }
    return text
  }
}

extension CronField {
  typealias Part = (field: CronField, numbers: UInt64, specials: [UInt8])

  /// Returns two fields of which one must begin with a star, or neither may.
  fileprivate static func pair(_ first: Part, _ second: Part, hasStar: Bool) -> ([UInt8], [UInt8]) {
    func text(_ part: Part, _ numbers: [UInt8]) -> [UInt8] {
      numbers.isEmpty ? Array(part.specials.dropFirst()) : numbers + part.specials
    }
    let plain = (first.field.plain(first.numbers), second.field.plain(second.numbers))
    guard hasStar else { return (text(first, plain.0), text(second, plain.1)) }
    let starred = (first.field.starred(first.numbers), second.field.starred(second.numbers))
    // If both spellings have the same length, `*/30` reads better than `0,30`, but `1,15` better than a step through
    // the month.
    let spare = first.field == .minute ? 0 : 1
    var takesStar = (false, false)
    if let starred = starred.0 { takesStar.0 = starred.count + spare <= plain.0.count }
    if let starred = starred.1 { takesStar.1 = starred.count + spare <= plain.1.count }
    if !takesStar.0, !takesStar.1 {
      let cost = (
        starred.0.map { $0.count - plain.0.count } ?? .max, starred.1.map { $0.count - plain.1.count } ?? .max
      )
      takesStar.0 = cost.0 <= cost.1
      takesStar.1 = cost.0 > cost.1
    }
    return (
      text(first, takesStar.0 ? starred.0 ?? plain.0 : plain.0),
      text(second, takesStar.1 ? starred.1 ?? plain.1 : plain.1)
    )
  }

  /// Returns the shortest spelling of a field in which a star has no special meaning.
  fileprivate func shortest(_ numbers: UInt64) -> [UInt8] {
    let plain = plain(numbers)
    guard let starred = starred(numbers), starred.count < plain.count else { return plain }
    return starred
  }

  /// Returns a list of numbers and runs of three or more, or one range with a step if that is shorter.
  fileprivate func plain(_ numbers: UInt64) -> [UInt8] {
    let text = CronField.list(numbers)
    guard self == .dayOfWeek, numbers & 1 != 0 else { return text }
    // Sunday may also end the week.
    let atEnd = CronField.list(numbers & ~1 | 1 << 7)
    return atEnd.count < text.count ? atEnd : text
  }

  private static func list(_ numbers: UInt64) -> [UInt8] {
    var text: [UInt8] = []
    var left = numbers
    while left != 0 {
      let first = left.trailingZeroBitCount
      let length = (~(left >> UInt64(first))).trailingZeroBitCount
      if !text.isEmpty { text.append(UInt8(ascii: ",")) }
      append(first, to: &text)
      if length > 2 {
        text.append(UInt8(ascii: "-"))
        append(first + length - 1, to: &text)
        left &= ~(((1 << UInt64(length)) - 1) << UInt64(first))
      } else {
        left &= left - 1
      }
    }
    guard numbers.nonzeroBitCount > 2 else { return text }
    let first = numbers.trailingZeroBitCount
    let last = 63 - numbers.leadingZeroBitCount
    let step = (numbers & (numbers - 1)).trailingZeroBitCount - first
    guard step > 1, progression(from: first, through: last, by: step) == numbers else { return text }
    var range: [UInt8] = []
    append(first, to: &range)
    range.append(UInt8(ascii: "-"))
    append(last, to: &range)
    range.append(UInt8(ascii: "/"))
    append(step, to: &range)
    return range.count < text.count ? range : text
  }

  /// Returns the numbers with a star at the beginning: `*`, `*/5`, or the smallest step that fits and a list of the
  /// rest. Returns `nil` if the field lacks its lowest number, which a star always includes.
  fileprivate func starred(_ numbers: UInt64) -> [UInt8]? {
    let low = range.lowerBound
    let high = range.upperBound
    guard numbers >> UInt64(low) & 1 != 0 else { return nil }
    for step in 1...high - low + 1 {
      var starred = CronField.progression(from: low, through: high, by: step)
      if self == .dayOfWeek { starred = (starred | starred >> 7) & CronDays.everyWeekday }
      guard starred & ~numbers == 0 else { continue }
      if step == 1 { return [UInt8(ascii: "*")] }
      var text = Array("*/".utf8)
      CronField.append(step, to: &text)
      let rest = numbers & ~starred
      return rest == 0 ? text : text + ",".utf8 + plain(rest)
    }
    return nil
  }

  private static func progression(from first: Int, through last: Int, by step: Int) -> UInt64 {
    var numbers: UInt64 = 0
    for number in stride(from: first, through: last, by: step) { numbers |= 1 << UInt64(number) }
    return numbers
  }

  private static func append(_ number: Int, to text: inout [UInt8]) {
    if number > 9 { text.append(UInt8(truncatingIfNeeded: 0x30 + number / 10)) }
    text.append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
  }
}
