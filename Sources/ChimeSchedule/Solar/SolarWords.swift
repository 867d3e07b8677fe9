/// The words by which the solar dialect is told from a phrase, and read.
enum SolarWord: Sendable, Hashable {
  /// `sunrise`, `dawn`: an event by itself.
  case event(SolarEvent)
  /// `civil`, `nautical`, `astronomical`: which dawn or dusk, as degrees below the horizon.
  case depth(Int)
  /// `solar`, before `noon`.
  case solar

  init?(_ bytes: ArraySlice<UInt8>) {
    guard (4...12).contains(bytes.count) else { return nil }
    let lowered = String(
      decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    guard let word = SolarWord.table[lowered] else { return nil }
    self = word
  }

  static let table: [String: SolarWord] = [
    "sunrise": .event(.sunrise), "sunup": .event(.sunrise), "sunset": .event(.sunset), "sundown": .event(.sunset),
    "dawn": .event(.dawn), "dusk": .event(.dusk),
    "civil": .depth(6), "nautical": .depth(12), "astronomical": .depth(18), "solar": .solar,
  ]

  /// The words of events, for finding what a misspelt one was meant to be.
  static let names = ["sunrise", "sunset", "dawn", "dusk", "civil", "nautical", "astronomical", "solar"]

  /// Whether a text is of the solar dialect: it begins with one of its words, or an event or `before` stands in it
  /// before the first bound. After `starting`, `until` and `except` such a word belongs to the bound (a calendar may be called
  /// `sunset`), and `noon` without `solar` is always the clock's.
  static func mark(_ text: ArraySlice<UInt8>) -> Bool {
    var position = text.startIndex
    var isFirst = true
    var followsSolar = false
    while position < text.endIndex {
      let start = position
      while position < text.endIndex, (0x61...0x7A).contains(text[position] | 0x20) { position += 1 }
      guard position > start else {
        // Words beyond ASCII are none of these, and neither are their ends.
        if text[position] >= 0x80 {
          while position < text.endIndex, text[position] >= 0x80 || (0x61...0x7A).contains(text[position] | 0x20) {
            position += 1
          }
        } else {
          position += 1
        }
        continue
      }
      let word = text[start..<position]
      switch Keyword(word) {
      case .starting, .until, .except: return false
      case .noon where followsSolar: return true
      default: break
      }
      followsSolar = false
      if word.count == 6, word.elementsEqual("before".utf8, by: { $0 | 0x20 == $1 }) { return true }
      switch SolarWord(word) {
      case .event: return true
      case .depth where isFirst: return true
      case .solar:
        if isFirst { return true }
        followsSolar = true
      default: break
      }
      isFirst = false
    }
    return false
  }
}
