/// A SolarWord is a word of the solar dialect. These words also distinguish it from a phrase.
enum SolarWord: Sendable, Hashable {
  /// An event by itself: `sunrise`, `dawn`.
  case event(SolarEvent)
  /// The kind of dawn or dusk, as degrees below the horizon: `civil`, `nautical`, `astronomical`.
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

  /// The words of events, for correcting misspelled ones.
  static let names = ["sunrise", "sunset", "dawn", "dusk", "civil", "nautical", "astronomical", "solar"]

  /// Returns whether a text contains a word of the sun, misspelled or not.
  static func isNamed(in bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).lowercased().split { !$0.isLetter }.contains {
      table[String($0)] != nil || Spelling.nearest(to: String($0), among: names) != nil
    }
  }

  /// Returns whether a text is of the solar dialect.
  ///
  /// Such a text begins with a solar word, or contains an event or `before` before the first bound. After `starting`,
  /// `until` and `except` such a word belongs to the bound (a calendar may be called `sunset`). `noon` without `solar`
  /// is twelve o'clock.
  static func mark(_ text: ArraySlice<UInt8>) -> Bool {
    var position = text.startIndex
    var isFirst = true
    var followsSolar = false
    while position < text.endIndex {
      // Words with characters beyond ASCII never match.
      let start = position
      var letters: UInt64 = 0
      var isPlain = true
      while position < text.endIndex, gap(text, position) == 0 {
        isPlain = isPlain && text[position] < 0x80
        if position - start < 8 { letters = letters << 8 | UInt64(text[position] | 0x20) }
        position += 1
      }
      guard position > start else {
        position += gap(text, position)
        continue
      }
      let known = isPlain ? signs[letters] : nil
      let word = known?.length == position - start ? known?.sign : nil
      switch word {
      case .bound: return false
      case .event: return true
      case .noon where followsSolar: return true
      case .depth where isFirst, .solar where isFirst: return true
      default: followsSolar = word == .solar
      }
      isFirst = false
    }
    return false
  }

  /// Returns the length in bytes of a separator at a position; 0 at a letter. Of the characters beyond ASCII only the
  /// spaces and the dash that phrases accept are separators.
  private static func gap(_ text: ArraySlice<UInt8>, _ position: Int) -> Int {
    let byte = text[position]
    guard byte >= 0x80 else { return (0x61...0x7A).contains(byte | 0x20) ? 0 : 1 }
    let left = text.endIndex - position
    if byte == 0xC2 { return left > 1 && text[position + 1] == 0xA0 ? 2 : 0 }
    guard byte == 0xE2, left > 2, text[position + 1] == 0x80 else { return 0 }
    return text[position + 2] == 0xAF || text[position + 2] == 0x93 ? 3 : 0
  }

  private enum Sign { case bound, event, noon, depth, solar }

  /// The words by their first eight letters in lower case. This distinguishes them without making a string.
  private static let signs: [UInt64: (sign: Sign, length: Int)] = {
    var signs: [UInt64: (sign: Sign, length: Int)] = [:]
    for (words, sign) in [
      (["starting", "until", "till", "except"], Sign.bound),
      (["sunrise", "sunset", "sunup", "sundown", "dawn", "dusk", "before"], .event), (["noon", "midday"], .noon),
      (["civil", "nautical", "astronomical"], .depth), (["solar"], .solar),
    ] {
      for word in words { signs[word.utf8.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }] = (sign, word.utf8.count) }
    }
    return signs
  }()
}
