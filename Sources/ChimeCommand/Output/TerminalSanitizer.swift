/// Makes text that others wrote fit for a terminal: on one line, and nothing in it acts on what stands around it.
///
/// Control characters become their pictures (␛), and characters that turn the direction of writing or are invisible are
/// written out as `\u{202E}`. Letters of every script, right-to-left ones too, stay as they are.
///
///     TerminalSanitizer.line("a\u{1B}[31mb")   // "a␛[31mb"
enum TerminalSanitizer {
  static func line(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(text) }
    var result = String.UnicodeScalarView()
    // By character: a cluster is judged as one, and its scalars each.
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
    // Joiners within a cluster make emoji and the letters of many scripts; tags make the flags of regions.
    case 0x200C, 0x200D, 0xE0020...0xE007F: if inSequence { result.append(scalar) }
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
      default: result.append(scalar)
      }
    }
  }

  /// Each line made harmless, the breaks between lines kept.
  static func lines(_ text: String) -> [String] {
    text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line($0) }
  }

  /// A field of a tab-separated line: tabs and line breaks are spaces, other controls are made visible.
  static func field(_ text: String) -> String {
    var spaced = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { spaced.append((0x09...0x0D).contains(scalar.value) ? " " : scalar) }
    return line(String(spaced))
  }
}
