import ChimeCore

/// Prepares foreign text for storage and display.
enum PlainText {
  /// Returns at most `bytes` bytes of UTF-8, cut between characters, with `…` in place of the rest.
  ///
  ///     PlainText.clipped("Ελλάδα", bytes: 9)   // "Ελλ…"
  static func clipped(_ text: String, bytes: Int) -> String {
    guard text.utf8.count > bytes else { return text }
    let mark = "…"
    let room = max(0, bytes - mark.utf8.count)
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      guard text.utf8.distance(from: text.startIndex, to: next) <= room else { break }
      end = next
    }
    if end > text.startIndex { return text[..<end] + mark }
    // A single character can exceed the limit (a letter with many accents), so it is cut between its scalars.
    var kept = ""
    for scalar in text.unicodeScalars {
      guard kept.utf8.count + UTF8.width(scalar) <= room else { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept + mark
  }

  /// Removes control characters. Line ends become `\n` if `lines` is true, otherwise spaces; tabs become spaces.
  static func withoutControls(_ text: String, lines: Bool) -> String {
    var result = String.UnicodeScalarView()
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      defer { previous = scalar }
      switch scalar {
      case "\r": result.append(lines ? "\n" : " ")
      case "\n" where previous == "\r": continue
      case "\n", "\u{2028}", "\u{2029}", "\u{85}": result.append(lines ? "\n" : " ")
      case "\t": result.append(" ")
      default: if scalar.properties.generalCategory != .control { result.append(scalar) }
      }
    }
    return String(result)
  }

  /// Returns the printable start of an answer for an attempt's record, at most `Attempt.answerLimit` bytes. Invalid
  /// UTF-8 becomes U+FFFD. Nil if nothing is left.
  static func excerpt(_ bytes: some Collection<UInt8>) -> String? {
    let text = withoutControls(String(decoding: bytes.prefix(Attempt.answerLimit), as: UTF8.self), lines: true)
    let clipped = clipped(text, bytes: Attempt.answerLimit)
    return clipped.isEmpty ? nil : clipped
  }

  /// Returns an error message of a program or library as one line of at most 300 bytes.
  static func sentence(_ text: String) -> String {
    let words = withoutControls(text, lines: false).split(separator: " ", omittingEmptySubsequences: true)
    return clipped(words.joined(separator: " "), bytes: 300)
  }
}
