/// Writing values as TOML basic strings and arrays.
enum TOMLText {
  /// Whether a terminal would obey it rather than show it: control characters, and what turns the line around.
  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || (0x202A...0x202E).contains(scalar.value)
      || (0x2066...0x2069).contains(scalar.value)
  }

  /// In one line that any terminal can show; the parser quotes the file as it is.
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

  /// As a literal string of several lines; nil where one line says it as well, or where that cannot say it.
  static func lines(_ text: String) -> String? {
    let (end, quote) = (UInt8(ascii: "\n"), UInt8(ascii: "'"))
    // By bytes: as characters, quotes that something joins are none, and would end the string all the same.
    var quotes = 0
    for byte in text.utf8 where quotes < 3 { quotes = byte == quote ? quotes + 1 : 0 }
    guard text.utf8.contains(end), text.utf8.first != end, text.utf8.last != quote, quotes < 3,
      text.unicodeScalars.allSatisfy({ $0 == "\n" || $0 == "\t" || !isHarmful($0) })
    else { return nil }
    return "'''\n\(text)'''"
  }

  /// A key as it stands before its value: in quotes where it has other letters than a bare one may.
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
