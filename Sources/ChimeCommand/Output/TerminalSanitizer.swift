/// Makes untrusted text safe for a terminal: one line, without control sequences.
///
/// Control characters become their pictures (␛). Invisible characters and those that change the writing direction
/// become escapes such as `\u{202E}`. Letters of all scripts, including right-to-left ones, stay as they are.
///
///     TerminalSanitizer.line("a\u{1B}[31mb")   // "a␛[31mb"
enum TerminalSanitizer {
  static func line(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(text) }
    var result = String.UnicodeScalarView()
    // By character: a scalar's treatment depends on whether it is alone in its grapheme cluster.
    for character in text {
      let isSequence = character.unicodeScalars.count > 1
      // A cluster may carry any number of marks; a screen shows a few.
      for scalar in character.unicodeScalars.prefix(16) { append(scalar, to: &result, inSequence: isSequence) }
    }
    return String(result)
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout String.UnicodeScalarView, inSequence: Bool) {
    switch scalar.value {
    case 0x0A: result.append("␤")
    case 0..<0x20: if let picture = Unicode.Scalar(0x2400 + scalar.value) { result.append(picture) }
    case 0x7F: result.append("␡")
    // Within a cluster, joiners make emoji and letters of many scripts, and tags make regional flags.
    case 0x200C, 0x200D, 0xE0020...0xE007F: if inSequence { result.append(scalar) }
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
      default: result.append(scalar)
      }
    }
  }

  /// Sanitizes each line and keeps the line breaks.
  static func lines(_ text: String) -> [String] {
    text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line($0) }
  }

  /// Sanitizes a field of a tab-separated line: tabs and line breaks become spaces.
  static func field(_ text: String) -> String {
    var spaced = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { spaced.append((0x09...0x0D).contains(scalar.value) ? " " : scalar) }
    return line(String(spaced))
  }
}
