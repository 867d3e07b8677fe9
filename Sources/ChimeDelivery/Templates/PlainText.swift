import ChimeCore

/// Making text that came from elsewhere fit to be kept and shown.
enum PlainText {
  /// At most `bytes` bytes of UTF-8, cut between characters, with `…` where something is missing.
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
    // One character may be longer than all of the room (a letter under a heap of accents): cut inside it.
    var kept = ""
    for scalar in text.unicodeScalars {
      guard kept.utf8.count + UTF8.width(scalar) <= room else { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept + mark
  }

  /// Without control characters; line ends become `\n` where `lines` are wanted and spaces where not, tabs spaces.
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

  /// The beginning of what came back from outside, as an attempt keeps it: printable, at most
  /// `Attempt.answerLimit` bytes. Bytes that are no UTF-8 become U+FFFD. Nil when there is nothing.
  static func excerpt(_ bytes: some Collection<UInt8>) -> String? {
    let text = withoutControls(String(decoding: bytes.prefix(Attempt.answerLimit), as: UTF8.self), lines: true)
    let clipped = clipped(text, bytes: Attempt.answerLimit)
    return clipped.isEmpty ? nil : clipped
  }

  /// One line of a program's or a library's complaint, short enough for a record.
  static func sentence(_ text: String) -> String {
    let words = withoutControls(text, lines: false).split(separator: " ", omittingEmptySubsequences: true)
    return clipped(words.joined(separator: " "), bytes: 300)
  }
}
