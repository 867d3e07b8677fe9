extension CronParser {
  func text(_ range: Range<Int>, limit: Int = 20) -> String {
    excerpt(String(decoding: bytes[range].prefix(limit * 4 + 4), as: UTF8.self), limit: limit)
  }

  /// Returns the rest of the list item at a position.
  private func item(_ start: Int) -> Range<Int> {
    var index = start
    while index < end, !isBlank(bytes[index]), bytes[index] != UInt8(ascii: ",") { index += 1 }
    return start..<index
  }

  func outOfRange(_ field: CronField, _ range: Range<Int>) -> Fault {
    var repair: Fault.Repair?
    // The end of the day or hour is the start of the next.
    let number = text(range)
    if field == .hour && number == "24" || (field == .minute || field == .second) && number == "60" {
      repair = .init(range, "0")
    }
    let bounds = field.range
    return Fault(
      range: range,
      problem: "\"\(number)\" is out of range: \(field.name) goes from \(bounds.lowerBound) to \(bounds.upperBound)",
      expected: field.allowed, repair: repair)
  }

  /// Returns the fault for text that is neither a number nor a name of the field.
  func noValue(_ field: CronField) -> Fault {
    let rest = item(position)
    guard !rest.isEmpty else {
      let after = position > 0 && bytes[position - 1] == UInt8(ascii: ",") || byte == UInt8(ascii: ",")
      let comma = byte == UInt8(ascii: ",") ? position : position - 1
      return Fault(
        range: rest, problem: "\(field.name) is incomplete", expected: field.allowed,
        repair: after && comma >= 0 ? .init(comma..<comma + 1, "", shown: shownWithout(comma)) : nil)
    }
    var index = rest.lowerBound
    while index < rest.upperBound, isLetter(bytes[index]) { index += 1 }
    let word = rest.lowerBound..<index
    guard !word.isEmpty else {
      let sign = rest.lowerBound..<rest.lowerBound + 1
      return Fault(
        range: sign, problem: "\"\(text(rest))\" is not allowed in \(field.name)", expected: field.allowed)
    }
    let name = text(word)
    if field == .dayOfWeek, name.lowercased() == "l" {
      return Fault(
        range: word, problem: "L needs a day of the week before it", expected: "5L or friL for the last Friday")
    }
    let lowered = name.lowercased()
    let nearest =
      word.count > 9
      ? nil
      : field.names.first { lowered.hasPrefix($0) && (lowered.count > 4) }
        ?? Spelling.nearest(to: lowered, among: field.names)
    return Fault(
      range: word, problem: "\"\(name)\" is no \(field.noun)", expected: field.allowed,
      repair: nearest.map { .init(word, $0) })
  }

  /// Returns the field without the byte at an index, for the message.
  private func shownWithout(_ index: Int) -> String {
    var start = index
    while start > 0, !isBlank(bytes[start - 1]) { start -= 1 }
    return text(start..<index, limit: 12) + text(index + 1..<fieldEnd(index), limit: 12)
  }

  /// Returns the fault for text after a complete item.
  func unexpected(_ field: CronField) -> Fault {
    let rest = item(position)
    return Fault(
      range: position..<min(position + 1, end), problem: "\"\(text(rest))\" is not allowed in \(field.name)",
      expected: "a comma, or a blank before the next field")
  }

  /// Returns the fault for a descending range. Debian's cron takes it as the empty set, which is never intended.
  func reversed(_ field: CronField, _ range: Range<Int>, _ first: Int, _ last: Int) -> Fault {
    let bounds = field.range
    func run(_ first: Int, _ last: Int) -> String { first == last ? "\(first)" : "\(first)-\(last)" }
    // Sunday ends the week as 7.
    let mended =
      field == .dayOfWeek
      ? last == 0 ? run(first, 7) : first == 7 ? run(0, last) : "\(run(first, 7)),\(run(1, last))"
      : "\(run(first, bounds.upperBound)),\(run(bounds.lowerBound, last))"
    let hasStep = range.upperBound < end && bytes[range.upperBound] == UInt8(ascii: "/")
    return Fault(
      range: range, problem: "the range \(text(range)) runs backwards, so it would be empty",
      expected: "the smaller number first", repair: hasStep ? nil : .init(range, mended))
  }

  /// Returns the fault for `5/15`. Some crons read it as `5-59/15`; Debian's refuses it.
  func stepWithoutRange(_ field: CronField, _ start: Int, _ first: Int) -> Fault {
    let mended = "\(text(start..<position))-\(field.range.upperBound)"
    return Fault(
      range: start..<item(start).upperBound, problem: "a step needs a range or * before it",
      expected: "\(mended)/2",
      repair: .init(start..<position, mended, shown: mended + text(position..<item(position).upperBound)))
  }

  func noStep(_ field: CronField, _ start: Int) -> Fault {
    let rest = item(start)
    guard start < position else {
      return Fault(range: rest, problem: "the step is missing after the slash", expected: "a number, as in */2")
    }
    return Fault(
      range: start..<position, problem: "a step of 0 never advances", expected: "a step of 1 or more",
      repair: .init(start..<position, "1"))
  }

  func noOrdinal(_ start: Int, _ digits: Int, _ weekday: Int) -> Fault {
    let rest = item(start)
    let day = text(start..<digits - 1)
    let isLast = rest.upperBound - digits == 2 && bytes[digits] == UInt8(ascii: "-") && bytes[digits + 1] == 0x31
    return Fault(
      range: digits..<max(rest.upperBound, digits),
      problem: "\"\(text(digits..<rest.upperBound))\" is not a number from 1 to 5",
      expected: "1 to 5 after #, or \(day)L for the last", repair: isLast ? .init(rest, "\(day)L") : nil)
  }

  func distanceFromEnd(_ start: Int) -> Fault {
    let rest = item(start)
    return Fault(
      range: rest, problem: "\"\(text(rest))\" is not a number of days before the last of the month",
      expected: "L, or L-1 to L-30")
  }

  func trailing(after what: String) -> Fault {
    Fault(
      range: position..<fieldEnd(position), problem: "\"\(text(position..<fieldEnd(position)))\" follows \(what)",
      expected: "the end", repair: .init(position..<end, "", shown: text(0..<position).trimmed))
  }

  func unknownShorthand(_ range: Range<Int>) -> Fault {
    let words = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]
    let word = text(range)
    if word.lowercased() == "@reboot" {
      return Fault(
        range: range, problem: "@reboot means the start of the machine, which is not a time",
        expected: "one of \(words.joined(separator: ", "))")
    }
    let nearest = Spelling.nearest(to: String(word.dropFirst()), among: words.map { String($0.dropFirst()) })
    return Fault(
      range: range, problem: "\"\(word)\" is not known", expected: "one of \(words.joined(separator: ", "))",
      repair: nearest.map { .init(range, "@\($0)") })
  }

  /// Returns the fault for a wrong number of fields: neither five nor six.
  func wrong(count: Int) -> Fault {
    let form = "five fields (minute, hour, day of month, month, day of week), or six with the second first"
    guard count > 0 else {
      return Fault(range: position..<position, problem: "the expression is missing", expected: form)
    }
    guard count >= 5 else {
      let missing: CronField? = CronField(rawValue: count + 1)
      let last = fieldEnd(start(ofField: count - 1))
      let name = missing?.name ?? "one"
      let problem =
        switch count {
        case 4: "there are 4 fields, and \(name) is missing"
        case 1: "there is 1 field, and \(name) and the rest are missing"
        default: "there are \(count) fields, and \(name) and the rest are missing"
        }
      return Fault(
        range: last..<last, problem: problem, expected: form,
        repair: count == 4 ? .init(last..<last, " *", shown: text(position..<last, limit: 40) + " *") : nil)
    }
    let command = start(ofField: 5)
    let last = fieldEnd(start(ofField: 4))
    if count == 6 || endsWithCommand() {
      return Fault(
        range: command..<fieldEnd(command),
        problem: "\"\(text(command..<fieldEnd(command)))\" is a command, not a field",
        expected: "only the times", repair: .init(last..<end, "", shown: text(position..<last, limit: 40)))
    }
    let seventh = start(ofField: 6)
    return Fault(
      range: seventh..<fieldEnd(seventh), problem: "there are more than six fields", expected: form)
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = Substring(self)
    while text.utf8.last == 0x20 { text.removeLast() }
    return String(text)
  }
}
