import ChimeWords

/// Splits a calendar into messages that the daemon accepts.
///
/// Lines are unfolded, because a fold may split a character, which JSON could not carry. Events with the same UID stay
/// together, since one can override another. Each part includes the calendar's time zones.
enum CalendarParts {
  /// The weight limit of a part: a message holds 1 MiB, and the request around the text is small.
  static let heaviest = 1_000_000
  /// The length limit of a line; the longest text of a reminder is 16 KiB.
  static let longestLine = 65_536

  struct Line {
    var bytes: ArraySlice<UInt8>
    var number: Int
    var weight: Int

    init(_ bytes: ArraySlice<UInt8>, number: Int) {
      self.bytes = bytes
      self.number = number
      weight = CalendarParts.weight(bytes) + 2
    }
  }

  /// Returns the number of bytes in a JSON string.
  static func weight(_ bytes: some Sequence<UInt8>) -> Int {
    bytes.reduce(0) {
      $0
        + ($1 >= 0x80
          ? 1 : $1 == UInt8(ascii: "\\") || $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "/") ? 2 : $1 < 0x20 ? 6 : 1)
    }
  }

  static func looksLikeCalendar(_ bytes: [UInt8]) -> Bool {
    let text = bytes.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }.prefix(15)
    return text.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }.elementsEqual("BEGIN:VCALENDAR".utf8)
  }

  static func split(_ bytes: [UInt8], name: String) throws -> [ImportPart] {
    let lines = unfolded(bytes)
    if lines.reduce(0, { $0 + $1.weight }) <= heaviest { return [part(lines[...])] }
    var parts: [ImportPart] = []
    var pending: [Line] = []
    var weight = 0
    for calendar in calendars(lines) {
      let frame = calendar.frame.reduce(0) { $0 + $1.weight }
      var isOpen = false
      func close() {
        if isOpen, let end = calendar.end { pending.append(end) }
        isOpen = false
      }
      for group in calendar.groups {
        let added = group.reduce(0) { $0 + $1.weight }
        guard frame + added <= heaviest else {
          let line = group.first?.number ?? 1
          throw Failure.failed(localized("%1, line %2: this event is longer than a message may be (1 MiB)", name, line))
        }
        if weight + added + (isOpen ? 0 : frame) > heaviest {
          close()
          parts.append(part(pending[...]))
          pending = []
          weight = 0
        }
        if !isOpen {
          pending += calendar.frame
          weight += frame
          isOpen = true
        }
        pending += group
        weight += added
      }
      close()
    }
    if !pending.isEmpty { parts.append(part(pending[...])) }
    return parts
  }

  /// A calendar: the frame that every part needs, and its events by UID.
  private struct Calendar {
    /// `BEGIN:VCALENDAR`, properties and time zones.
    var frame: [Line] = []
    var groups: [[Line]] = []
    /// `END:VCALENDAR`.
    var end: Line?
  }

  private static func calendars(_ lines: [Line]) -> [Calendar] {
    var calendars: [Calendar] = []
    var calendar = Calendar()
    var component: [Line] = []
    var uid: [UInt8]?
    var isZone = false
    var byUID: [[UInt8]: Int] = [:]
    var depth = 0
    for line in lines {
      let begins = starts(line, with: "BEGIN:")
      let ends = starts(line, with: "END:")
      if begins { depth += 1 }
      switch (depth, begins, ends) {
      case (1, false, true):
        calendar.end = line
        calendars.append(calendar)
        calendar = Calendar()
        byUID = [:]
      case (0, _, _), (1, _, _): calendar.frame.append(line)
      default:
        if begins, depth == 2 {
          component = []
          uid = nil
          isZone = starts(line, with: "BEGIN:VTIMEZONE")
        }
        component.append(line)
        if depth == 2, uid == nil, starts(line, with: "UID:") { uid = Array(line.bytes) }
        guard ends, depth == 2 else { break }
        if isZone {
          calendar.frame += component
        } else if let uid, let known = byUID[uid] {
          calendar.groups[known] += component
        } else {
          if let uid { byUID[uid] = calendar.groups.count }
          calendar.groups.append(component)
        }
      }
      if ends { depth = max(0, depth - 1) }
    }
    // Send a truncated calendar as it is, so that the daemon reports it.
    if !calendar.frame.isEmpty || depth > 0 {
      if depth > 1 { calendar.groups.append(component) }
      calendars.append(calendar)
    }
    return calendars
  }

  private static func starts(_ line: Line, with word: String) -> Bool {
    line.bytes.count >= word.utf8.count
      && zip(line.bytes, word.utf8).allSatisfy { ((0x61...0x7A).contains($0) ? $0 - 0x20 : $0) == $1 }
  }

  private static func part(_ lines: ArraySlice<Line>) -> ImportPart {
    var text: [UInt8] = []
    for line in lines {
      text += line.bytes
      text.append(0x0A)
    }
    return ImportPart(text: String(decoding: text, as: UTF8.self), numbers: lines.map(\.number))
  }

  private static func unfolded(_ bytes: [UInt8]) -> [Line] {
    var lines: [Line] = []
    var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    var joined: [UInt8] = []
    var start = 1
    var number = 0
    func finish() {
      guard !joined.isEmpty else { return }
      var line = joined.prefix(longestLine)
      // Do not cut within a character.
      if line.count < joined.count { while let last = line.last, last >= 0x80 { line.removeLast() } }
      lines.append(Line(line, number: start))
    }
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      var line = rest[..<end]
      if line.last == 0x0D { line.removeLast() }
      if let first = line.first, first == 0x20 || first == 0x09, number > 1 {
        joined += line.dropFirst()
      } else {
        finish()
        joined = Array(line)
        start = number
      }
      rest = rest[min(end + 1, rest.endIndex)...]
    }
    finish()
    return lines
  }
}
