/// CalendarText encodes and decodes the escapes of iCalendar.
enum CalendarText {
  /// Decodes TEXT: `\n` and `\N` are line feeds, `\,`, `\;` and `\\` stand for the character after the backslash. Any
  /// other backslash is literal.
  ///
  /// Source: RFC 5545 section 3.3.11.
  static func unescaped(_ value: String) -> String {
    guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
    return String(decoding: unescaped(Array(value.utf8)[...]), as: UTF8.self)
  }

  /// Splits a list of TEXT at commas without a backslash.
  static func list(_ value: String) -> [String] {
    let bytes = Array(value.utf8)
    var items: [String] = []
    var start = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: ",") {
        items.append(String(decoding: unescaped(bytes[start..<index]), as: UTF8.self))
        start = index + 1
      } else if bytes[index] == UInt8(ascii: "\\") {
        index += 1
      }
      index += 1
    }
    items.append(String(decoding: unescaped(bytes[start...]), as: UTF8.self))
    return items
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    decoded(bytes, after: UInt8(ascii: "\\")) { byte in
      switch byte {
      case UInt8(ascii: "n"), UInt8(ascii: "N"): 0x0A
      case UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: ";"): byte
      default: nil
      }
    }
  }

  /// Replaces each `escape` and the byte after it by what `meaning` returns for that byte; nil leaves both.
  private static func decoded(
    _ bytes: ArraySlice<UInt8>, after escape: UInt8, _ meaning: (UInt8) -> UInt8?
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == escape, let next = rest.popFirst() else {
        result.append(byte)
        continue
      }
      if let plain = meaning(next) { result.append(plain) } else { result += [byte, next] }
    }
    return result
  }

  /// Encodes text as TEXT.
  static func escaped(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x0A: result += "\\n".utf8
      case 0x0D: break
      case UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: ";"): result += [UInt8(ascii: "\\"), byte]
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Decodes a parameter value: `^n` is a line feed, `^^` is `^`, `^'` is a quotation mark. Any other `^` is literal.
  ///
  /// Source: RFC 6868 section 3.
  static func circumflexDecoded(_ bytes: ArraySlice<UInt8>) -> String {
    let result = decoded(bytes, after: UInt8(ascii: "^")) { byte in
      switch byte {
      case UInt8(ascii: "n"): 0x0A
      case UInt8(ascii: "^"): byte
      case UInt8(ascii: "'"): UInt8(ascii: "\"")
      default: nil
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
