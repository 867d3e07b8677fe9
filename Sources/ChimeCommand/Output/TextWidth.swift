/// The width of text on a terminal, in columns.
///
/// A Swift character is an extended grapheme cluster: a letter with its combining marks, or an emoji of several
/// scalars. A character is as wide as its widest scalar.
///
/// Source: Unicode Standard Annex 11 (East Asian Width) and 29 (clusters), Unicode Technical Standard 51 (emoji).
enum TextWidth {
  static func of(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if scalars.dropFirst().isEmpty { return of(first) }
    // VARIATION SELECTOR-16 selects the emoji form; two regional indicators form one flag.
    if scalars.contains(where: { $0.value == 0xFE0F || regionalIndicators.contains($0.value) }) { return 2 }
    return scalars.map { of($0) }.max() ?? 0
  }

  private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x20...0x7E, 0xA0...0x2FF: return scalar.value == 0xAD ? 0 : 1
    case 0..<0x20, 0x7F..<0xA0: return 0
    // Hangul vowels and final consonants join the letter before them.
    case 0x1160...0x11FF: return 0
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: return 0
    default: break
    }
    return scalar.properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
  }

  private static func isWide(_ value: UInt32) -> Bool {
    guard value >= 0x1100 else { return false }
    var low = 0
    var high = wide.count
    while low < high {
      let middle = (low + high) / 2
      if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wide.count && wide[low].contains(value)
  }

  /// The blocks of wide and fullwidth characters; emoji have a property of their own.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul initial consonants
    0x2329...0x232A,  // angle brackets
    0x2E80...0x303E,  // CJK radicals, punctuation
    0x3041...0x33FF,  // kana, bopomofo, Hangul letters, CJK symbols
    0x3400...0x4DBF,  // CJK extension A
    0x4E00...0x9FFF,  // CJK
    0xA000...0xA4CF,  // Yi
    0xA960...0xA97F,  // Hangul extended A
    0xAC00...0xD7A3,  // Hangul syllables
    0xF900...0xFAFF,  // CJK compatibility
    0xFE10...0xFE19,  // vertical forms
    0xFE30...0xFE6F,  // CJK compatibility forms, small forms
    0xFF01...0xFF60,  // fullwidth forms
    0xFFE0...0xFFE6,  // fullwidth signs
    0x16FE0...0x18DFF,  // Tangut, Khitan
    0x1AFF0...0x1B2FF,  // kana extensions, Nushu
    0x1F200...0x1F265,  // enclosed ideographs
    0x20000...0x3FFFD,  // CJK extensions B and on
  ]

  /// Truncates text to `width` columns, with `…` at the cut.
  ///
  ///     TextWidth.truncate("日本語のテキスト", to: 7)   // "日本語…"
  static func truncate(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    guard width > 0 else { return "" }
    var result = ""
    var used = 0
    // By character: none is to be cut.
    for character in text {
      let columns = of(character)
      if used + columns > width - 1 { break }
      result.append(character)
      used += columns
    }
    return result + "…"
  }

  /// Pads text with trailing spaces to `width` columns.
  static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - of(text)))
  }

  /// Wraps text between words into lines of at most `width` columns; a longer word stands alone. Never empty.
  static func wrap(_ text: String, to width: Int, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
      if line != margin, of(line) + 1 + of(word) > width {
        lines.append(line)
        line = margin
      }
      line += line == margin ? String(word) : " " + word
    }
    return lines + [line]
  }
}
