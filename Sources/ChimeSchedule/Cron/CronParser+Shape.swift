extension CronParser {
  /// The longest text without a prefix that can count as cron, in bytes.
  private static let longestShape = 512

  /// Returns whether a text without a prefix is meant as cron. Leading blanks must be skipped.
  ///
  /// Such a text has at least five fields, or at least two and a star. Its first three consist of numbers and cron's
  /// signs. No phrase and no calendar expression begins like this. The parser reports errors within the fields.
  static func looksLikeCron(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first, isSign(first, field: 0), text.count <= longestShape else { return false }
    var field = 0
    var dashes = 0
    var hasStar = false
    var previous: UInt8 = 0x20
    var beforePrevious: UInt8 = 0x20
    for byte in text {
      defer { (previous, beforePrevious) = (byte, previous) }
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        // "10 - 22 August" is a range of days.
        if previous == UInt8(ascii: "-"), beforePrevious == 0x20 { return false }
        if previous != 0x20, !(0x09...0x0D).contains(previous) {
          field += 1
          dashes = 0
        }
        continue
      }
      if byte == UInt8(ascii: "*") { hasStar = true }
      if byte == UInt8(ascii: "-") { dashes += 1 }
      if byte == UInt8(ascii: ",") { dashes = 0 }
      if field > 4 { continue }
      // No cron item has two dashes, but dates do.
      guard isSign(byte, field: field), dashes < 2 else { return false }
    }
    let count = previous == 0x20 || (0x09...0x0D).contains(previous) ? field : field + 1
    return count >= 5 || count >= 2 && hasStar
  }

  /// Returns whether a byte may occur in a field, counted from 0, of an expression with or without seconds.
  private static func isSign(_ byte: UInt8, field: Int) -> Bool {
    if (0x30...0x39).contains(byte) || "*/,-".utf8.contains(byte) { return true }
    switch field {
    case 0, 1: return false
    case 2: return "?LlWw".utf8.contains(byte)
    default: return byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || (0x61...0x7A).contains(byte | 0x20)
    }
  }
}
