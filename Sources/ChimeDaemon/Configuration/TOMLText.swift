/// Writes values as TOML strings and arrays.
enum TOMLText {
  /// Returns whether a terminal would act on the character: control characters and bidirectional overrides.
  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || (0x202A...0x202E).contains(scalar.value)
      || (0x2066...0x2069).contains(scalar.value)
  }

  /// Returns the text as one line that is safe for any terminal. The parser's messages quote the file verbatim.
  static func harmless(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmful($0) ? "\u{FFFD}" : $0 }))
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case let scalar where isHarmful(scalar):
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns a multi-line literal string; nil if the text has one line or cannot be written so.
  static func lines(_ text: String) -> String? {
    let (end, quote) = (UInt8(ascii: "\n"), UInt8(ascii: "'"))
    // Check bytes, because a quote with a combining mark is another character but still ends the string.
    var quotes = 0
    for byte in text.utf8 where quotes < 3 { quotes = byte == quote ? quotes + 1 : 0 }
    guard text.utf8.contains(end), text.utf8.first != end, text.utf8.last != quote, quotes < 3,
      text.unicodeScalars.allSatisfy({ $0 == "\n" || $0 == "\t" || !isHarmful($0) })
    else { return nil }
    return "'''\n\(text)'''"
  }

  /// Returns a key, quoted unless it can be bare.
  static func key(_ name: String) -> String {
    let isBare =
      !name.isEmpty
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
    return isBare ? name : quoted(name)
  }

  static func array(_ texts: [String]) -> String { "[" + texts.map(quoted).joined(separator: ", ") + "]" }
}
