/// A QuietSpan is a weekly span of wall-clock time: from one time of day to another, on some weekdays.
///
/// The weekday is that of its start; the span may pass midnight. Its end is exclusive.
///
///     try QuietSpan("weekdays 22:00-7:00").description   // "mon-fri 22:00-07:00"
public struct QuietSpan: Hashable, Sendable, Codable, CustomStringConvertible {
  public let days: WeekdaySet
  /// The minute of the day, 0…1 439.
  public let start: Int
  /// The minute of the day, 1…1 440; on the next day if not later than `start`.
  public let end: Int

  init(days: WeekdaySet, start: Int, end: Int) {
    self.days = days
    self.start = start
    self.end = end
  }

  /// Parses optional days and two times of day: `22:00-07:00`, `mon-fri 22:00-07:00`, `sat,sun 23:00-09:00`.
  ///
  /// Days are weekdays or their first three letters, `weekdays` or `weekends`. Ranges may wrap around the weekend
  /// (`fri-mon`). `00:00-24:00` is a whole day.
  public init(_ text: String) throws(FormatError) {
    var reader = QuietSpanReader(bytes: Array(text.utf8))
    do throws(Fault) {
      self = try reader.read()
    } catch {
      throw FormatError(error, in: reader.bytes)
    }
  }

  /// The length in minutes: 1…1 440.
  var length: Int { end > start ? end - start : end + Self.minutesOfDay - start }

  static let minutesOfDay = 1_440

  /// The canonical form: days, in ranges from three on, then the two times.
  public var description: String {
    let times = "\(Self.text(start))-\(Self.text(end))"
    return days == .everyDay ? times : "\(Self.text(days)) \(times)"
  }

  private static func text(_ minute: Int) -> String { "\(padded(minute / 60, 2)):\(padded(minute % 60, 2))" }

  private static func text(_ days: WeekdaySet) -> String {
    var runs: [[Weekday]] = []
    for day in Weekday.allCases where days.contains(day) {
      if runs.last?.last?.following == day { runs[runs.count - 1].append(day) } else { runs.append([day]) }
    }
    return runs.map { run in
      guard run.count > 2, let first = run.first, let last = run.last else {
        return run.map(\.abbreviation).joined(separator: ",")
      }
      return "\(first.abbreviation)-\(last.abbreviation)"
    }.joined(separator: ",")
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode(String.self))
    } catch let error as FormatError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}

/// A QuietSpanReader parses the text of a span.
private struct QuietSpanReader {
  let bytes: [UInt8]
  var position = 0

  /// The byte at the position, with letters in lower case.
  private var next: UInt8? {
    guard position < bytes.count else { return nil }
    return (0x41...0x5A).contains(bytes[position]) ? bytes[position] | 0x20 : bytes[position]
  }

  mutating func read() throws(Fault) -> QuietSpan {
    skipSpace()
    var days = WeekdaySet.everyDay
    if let byte = next, isLetter(byte) { days = try readDays() }
    skipSpace()
    let begin = position
    let start = try time(upTo: 1_439)
    skipSpace()
    guard skip("-") else { throw fault(position..<position, "the end is missing", "- and a time of day") }
    skipSpace()
    let end = try time(upTo: 1_440)
    let times = begin..<position
    skipSpace()
    guard position == bytes.count else {
      throw fault(position..<bytes.count, "this is not allowed in a span", "its end")
    }
    guard start != end else {
      throw Fault(
        range: times, problem: "a span must not end when it begins", repair: .init(times, "00:00-24:00"))
    }
    // Midnight as an end is the end of the day.
    return QuietSpan(days: days, start: start, end: end == 0 ? 1_440 : end)
  }

  private mutating func readDays() throws(Fault) -> WeekdaySet {
    var days: WeekdaySet = []
    repeat {
      skipSpace()
      let (first, range) = try day()
      skipSpace()
      guard next == UInt8(ascii: "-") else {
        days.formUnion(first)
        continue
      }
      position += 1
      skipSpace()
      let (last, end) = try day()
      guard let from = first.single, let to = last.single else {
        throw fault(range.lowerBound..<end.upperBound, "this is not a range of days", "two weekdays, such as mon-fri")
      }
      days.formUnion(WeekdaySet(from: from, through: to))
    } while skip(",")
    return days
  }

  /// Parses a word for days.
  private mutating func day() throws(Fault) -> (WeekdaySet, Range<Int>) {
    let start = position
    while let byte = next, isLetter(byte) { position += 1 }
    let range = start..<position
    let word = String(decoding: bytes[range], as: UTF8.self).lowercased()
    switch word {
    case "weekdays", "weekday": return (.weekdays, range)
    case "weekends", "weekend": return (.weekends, range)
    case "daily": return (.everyDay, range)
    default: break
    }
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    if word.utf8.count >= 3, let index = names.firstIndex(where: { $0.hasPrefix(word) }),
      let day = Weekday(rawValue: index + 1)
    {
      return (WeekdaySet(day), range)
    }
    throw fault(range, word.isEmpty ? "a day is missing" : "\"\(word)\" is not a weekday", "mon, tue, … or weekdays")
  }

  /// Parses `7`, `07`, `7:30` or `22:00` as the minute of the day.
  private mutating func time(upTo limit: Int) throws(Fault) -> Int {
    let start = position
    let expected = "a time of day such as 22:00"
    guard let hour = number(), hour.digits <= 2 else {
      throw fault(
        start..<position, position == bytes.count ? "a time is missing" : "this is not a time of day", expected)
    }
    var minute = 0
    if skip(":") {
      guard let read = number(), read.digits == 2, read.value < 60 else {
        throw fault(start..<position, "this is not a time of day", expected)
      }
      minute = read.value
    }
    let total = hour.value * 60 + minute
    guard total <= limit else {
      throw fault(start..<position, "this is not a time of day", limit == 1_440 ? "00:00 to 24:00" : "00:00 to 23:59")
    }
    return total
  }

  /// Parses at most four digits.
  private mutating func number() -> (value: Int, digits: Int)? {
    var value = 0
    var digits = 0
    while digits < 4, let byte = next, (0x30...0x39).contains(byte) {
      value = value * 10 + Int(byte - 0x30)
      digits += 1
      position += 1
    }
    return digits == 0 ? nil : (value, digits)
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() { while next == 0x20 || next == 0x09 { position += 1 } }

  private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private func fault(_ range: Range<Int>, _ problem: String, _ expected: String) -> Fault {
    Fault(range: range, problem: problem, expected: expected)
  }
}

extension WeekdaySet {
  /// The day of a set with exactly one day.
  fileprivate var single: Weekday? { Weekday.allCases.first { self == WeekdaySet($0) } }
}
