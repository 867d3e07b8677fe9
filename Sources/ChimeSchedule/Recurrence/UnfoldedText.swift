/// An UnfoldedText is text with its folded lines joined (RFC 5545 section 3.1). A line break and the white space after
/// it disappear, unless a property begins there, as in indented rules.
struct UnfoldedText {
  let bytes: [UInt8]
  /// The original position of each byte; empty if nothing was folded.
  private let places: [Int]

  init(_ text: [UInt8]) {
    guard Self.isFolded(text) else {
      bytes = text
      places = []
      return
    }
    var kept: [UInt8] = []
    var places: [Int] = []
    var index = 0
    while index < text.count {
      if text[index] == 0x0A || text[index] == 0x0D, let end = Self.endOfFold(in: text, at: index) {
        index = end
        continue
      }
      kept.append(text[index])
      places.append(index)
      index += 1
    }
    places.append(text.count)
    bytes = kept
    self.places = places
  }

  /// Returns the fault with its positions in the original text.
  func located(_ fault: Fault) -> Fault {
    guard !places.isEmpty else { return fault }
    var fault = fault
    fault.range = located(fault.range)
    if let repair = fault.repair {
      fault.repair = .init(located(repair.range), repair.replacement, shown: repair.shown)
    }
    return fault
  }

  private func located(_ range: Range<Int>) -> Range<Int> {
    let start = places[min(range.lowerBound, places.count - 1)]
    guard !range.isEmpty else { return start..<start }
    return start..<max(start, places[min(range.upperBound - 1, places.count - 1)] + 1)
  }

  private static func isFolded(_ text: [UInt8]) -> Bool {
    var wasBreak = false
    for byte in text {
      if wasBreak, byte == 0x20 || byte == 0x09 { return true }
      wasBreak = byte == 0x0A
    }
    return false
  }

  /// Returns where the text continues after a fold; `nil` if there is no fold.
  private static func endOfFold(in text: [UInt8], at start: Int) -> Int? {
    var index = start
    if text[index] == 0x0D { index += 1 }
    guard index + 1 < text.count, text[index] == 0x0A, text[index + 1] == 0x20 || text[index + 1] == 0x09 else {
      return nil
    }
    let end = index + 2
    var next = end
    while next < text.count, next < end + 64, text[next] == 0x20 || text[next] == 0x09 { next += 1 }
    // No property begins with another letter.
    guard next < text.count, "DdEeRrTt".utf8.contains(text[next]) else { return end }
    let word = text[next...].prefix(8).map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }
    let begins = RecurrenceReader.Property.allCases.contains { property in
      word.starts(with: property.rawValue.utf8)
        && [UInt8(ascii: ":"), UInt8(ascii: ";")].contains(
          word.count > property.rawValue.utf8.count ? word[property.rawValue.utf8.count] : 0)
    }
    return begins ? nil : end
  }
}
