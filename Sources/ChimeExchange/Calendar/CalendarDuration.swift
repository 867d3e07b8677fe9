/// A CalendarDuration is a DURATION: its days are calendar days, the rest is elapsed time.
///
///     CalendarDuration("-P1DT15M")   // a day and a quarter of an hour earlier
///
/// Source: RFC 5545 section 3.3.6.
struct CalendarDuration: Sendable, Hashable {
  /// Both parts are limited to a hundred years, so that sums of a few cannot overflow.
  var days: Int64
  var seconds: Int64

  static let zero = CalendarDuration(days: 0, seconds: 0)
  private static let mostSeconds: Int64 = 36_525 * 86_400

  init(days: Int64, seconds: Int64) {
    self.days = days
    self.seconds = seconds
  }

  /// Parses weeks, days, hours, minutes and seconds, in this order, each at most once, with an optional `+` or `-`.
  init?(_ value: some StringProtocol) {
    var bytes = Array(value.utf8.prefix(64))[...]
    var sign: Int64 = 1
    if bytes.first == UInt8(ascii: "-") { sign = -1 }
    if bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    guard bytes.popFirst() == UInt8(ascii: "P"), !bytes.isEmpty else { return nil }
    var days: Int64 = 0
    var seconds: Int64 = 0
    var units: ArraySlice<(letter: Character, size: Int64)> = [("W", 7), ("D", 1)]
    var isTime = false
    while let byte = bytes.first {
      if byte == UInt8(ascii: "T"), !isTime {
        isTime = true
        units = [("H", 3_600), ("M", 60), ("S", 1)]
        bytes.removeFirst()
        guard !bytes.isEmpty else { return nil }
        continue
      }
      let number = bytes.prefix { (0x30...0x39).contains($0) }
      bytes = bytes[number.endIndex...]
      guard let count = Int64(String(decoding: number, as: UTF8.self)), count <= Self.mostSeconds,
        let letter = bytes.popFirst(), let unit = units.firstIndex(where: { $0.letter.asciiValue == letter })
      else { return nil }
      if isTime { seconds += count * units[unit].size } else { days += count * units[unit].size }
      units = units[(unit + 1)...]
    }
    guard seconds <= Self.mostSeconds, days * 86_400 <= Self.mostSeconds else { return nil }
    self.init(days: sign * days, seconds: sign * seconds)
  }

  static func + (left: CalendarDuration, right: CalendarDuration) -> CalendarDuration {
    CalendarDuration(days: left.days + right.days, seconds: left.seconds + right.seconds)
  }

  /// The text, such as `-PT15M` or `P1D`. Days and seconds of different signs become elapsed time.
  var text: String {
    if days == 0, seconds == 0 { return "PT0S" }
    if days.signum() * seconds.signum() < 0 {
      return CalendarDuration(days: 0, seconds: days * 86_400 + seconds).text
    }
    var text = days < 0 || seconds < 0 ? "-P" : "P"
    if days != 0 { text += "\(days.magnitude)D" }
    let rest = seconds.magnitude
    guard rest > 0 else { return text }
    text += "T"
    if rest >= 3_600 { text += "\(rest / 3_600)H" }
    if rest / 60 % 60 > 0 { text += "\(rest / 60 % 60)M" }
    if rest % 60 > 0 { text += "\(rest % 60)S" }
    return text
  }
}
